"""Where crossings are located, and which steps are looked at."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.errors import RunWarning
from naiad.simulation.section import Level

BODY = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0))
STATE = BODY.state(Pi=(2.0, -0.4, -0.9), p=(4.4, -0.2, -1.1))


def third_p(state, t):
    return state.mu[5]


METHOD = nd.Splitting(8, "top")


def crossings(dt):
    """Every node of a run, and the times and momenta at the crossings."""
    sections = {"s": nd.Section(third_p, 0)}
    run = nd.simulate(BODY, STATE, t1=20.0, dt=dt, method=METHOD, sections=sections, save_every=1, reconstruct=False)
    found = run.crossings["s"]
    return run.states.mu, found["time"].to_numpy(), np.hstack([found["Pi"], found["p"]])


def test_a_crossing_is_where_the_method_itself_comes_to():
    """A step from the node before by the fraction that was found ends there: the short way along the equations of
    motion that follows a first landing changes little beside the error of the step."""
    nodes, times, momenta = crossings(0.25)
    assert len(times) > 4
    np.testing.assert_allclose(momenta[:, 5], 0.0, atol=1e-14)
    apart, own = [], []
    for time, there in zip(times, momenta, strict=True):
        k = int(time / 0.25)
        start, left = nd.State(STATE.g, nodes[k]), time - 0.25 * k
        once, often = (nd.diagnostics.march(BODY, METHOD, start, dt=left / n, steps=n).mu for n in (1, 8))
        apart.append(np.max(np.abs(there - once)))
        own.append(np.max(np.abs(once - often)))
    assert max(apart) < 0.05 * max(own) < 1e-9


def test_crossings_have_the_order_of_the_method_down_to_round_off():
    _, exact, states = crossings(0.02)
    errors = []
    for dt in (0.2, 0.1, 0.05):
        _, times, momenta = crossings(dt)
        errors.append(np.max(np.abs(momenta - states)))
        np.testing.assert_allclose(times, exact, rtol=0, atol=10 * errors[-1])
    assert np.log2(errors[0] / errors[1]) == pytest.approx(8, abs=0.2)
    assert errors[2] < 3e-12


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("lowest", "looked_at"), [(-0.01, True), (0.01, True), (0.3, False)])
def test_a_turning_point_is_looked_at_where_the_tangents_reach_the_surface(sign, lowest, looked_at):
    """A parabola (t - 0.4)^2 + lowest over a step from 0 to 1: its tangents meet 0.24 below it."""
    before, after = (Level(sign * ((t - 0.4) ** 2 + lowest), sign * 2 * (t - 0.4)) for t in (0.0, 1.0))
    assert bool(nd.Section(third_p, pairs=True).met(before, after, 1.0)) == looked_at
    assert not nd.Section(third_p).met(before, after, 1.0)


def test_a_section_that_is_no_number_where_runs_begin_is_refused():
    """Of many runs one is enough."""
    sections = {"s": nd.Section(lambda state, t: (state.mu[5] + 2.0) ** 0.5)}
    below = nd.State(STATE.g, STATE.mu - 2.0)
    assert len(nd.simulate(BODY, STATE, t1=0.2, dt=0.1, sections=sections).crossings["s"]["time"]) == 0
    with pytest.raises(nd.InputError, match=r"sections\['s'\] is NaN at the initial state; expected a number"):
        nd.simulate(BODY, below, t1=1.0, dt=0.1, sections=sections)
    with pytest.raises(nd.InputError, match=r"sections\['s'\] is NaN at the initial state"):
        nd.simulate_many(BODY, [STATE, below], t1=1.0, dt=0.1, sections=sections)


@pytest.mark.parametrize("pairs", [False, True])
def test_a_section_that_is_no_number_on_the_way_is_told_of(pairs, tmp_path):
    """The motion is computed to its end, and the crossings that were seen are kept; of many runs, too, and of one that
    goes on from a file."""
    sections = {"s": nd.Section(lambda state, t: jnp.sqrt(0.52 - t) - 0.5, direction=-1, pairs=pairs)}
    with pytest.warns(RunWarning, match=r"KirchhoffBody: sections\['s'\] was NaN at 5 of the nodes, and crossings"):
        run = nd.simulate(BODY, STATE, t1=1.0, dt=0.1, sections=sections, out=tmp_path / "run.zarr")
    assert run.outcome == nd.Outcome.COMPLETED
    np.testing.assert_allclose(run.crossings["s"]["time"], [0.27], atol=1e-12)
    with pytest.warns(RunWarning, match="was NaN at 15 of the nodes"):
        nd.resume(tmp_path / "run.zarr", BODY, t1=2.0, sections=sections)
    with pytest.warns(RunWarning, match="was NaN at 6 of the nodes"):  # that where it begins, too
        nd.resume(run, t1=1.5, sections=sections)
    with pytest.warns(RunWarning, match=r"was NaN at 10 of the nodes of 2 of 3 runs, and crossings"):
        many = nd.simulate_many(BODY, [STATE] * 3, t1=[1.0, 1.0, 0.5], dt=0.1, sections=sections)
    assert [len(each.crossings["s"]["time"]) for each in many] == [1, 1, 1]


class Waves(NamedTuple):
    """Sines of the time."""

    sizes: Any
    rates: Any
    phases: Any

    def __call__(self, t, derivative=0):
        angles = np.multiply.outer(t, self.rates) + self.phases + derivative * np.pi / 2
        return np.sin(angles) @ (self.sizes * self.rates**derivative)

    def section(self, **options):
        """Where they are together zero."""
        return nd.Section(lambda state, t: jnp.sum(self.sizes * jnp.sin(self.rates * t + self.phases)), **options)

    def zeros(self, t0, t1):
        """All of them, by halving."""
        t = np.linspace(t0, t1, 301)
        values = self(t)
        low, high = (t[ends][values[:-1] * values[1:] < 0] for ends in (slice(-1), slice(1, None)))
        for _ in range(60):
            middle = 0.5 * (low + high)
            left = self(low) * self(middle) <= 0
            low, high = np.where(left, low, middle), np.where(left, middle, high)
        return low


@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_both_crossings_of_a_step_are_found_where_the_function_bends_to_one_side(direction):
    """Of a function that is drawn and just comes across; what is found besides is a crossing too, in the wanted
    direction. In a single run, and in many that go side by side."""
    rng, dt, steps, pairs = np.random.default_rng(1), 0.9, 1000, 0
    sizes, rates, phases = rng.uniform(0.2, 1.0, 4), rng.uniform(0.5, 3.5, 4), rng.uniform(0.0, 6.3, 4)
    waves = Waves(np.append(sizes, 0.5 * sum(sizes)), np.append(rates, 0.0), np.append(phases, np.pi / 2))
    options = {"dt": dt, "sections": {"s": waves.section(direction=direction, pairs=True)}, "save_every": 10**6}
    run = nd.simulate(BODY, STATE, t1=dt * steps, reconstruct=False, **options)
    found = run.crossings["s"]["time"].to_numpy()
    ends = dt * np.array([steps, 7, steps // 2])
    many = nd.simulate_many(BODY, [STATE] * 3, t1=ends, reconstruct=False, progress=False, **options)
    for each, end in zip(many, ends, strict=True):
        np.testing.assert_allclose(each.crossings["s"]["time"], found[found <= end], rtol=0, atol=1e-11)
    assert np.all(np.diff(found) > 0)
    np.testing.assert_allclose(waves(found), 0.0, atol=1e-11)
    assert np.all(waves(found, 1) * direction >= 0)
    for k in range(steps):
        t = np.linspace(k * dt, (k + 1) * dt, 50)
        zeros = waves.zeros(t[0], t[-1])
        wanted = zeros[waves(zeros, 1) * direction >= 0]
        here = found[(found > t[0]) & (found <= t[-1])]
        bends = waves(t, 2)
        if len(zeros) == 1 or (len(zeros) == 2 and np.all(bends * bends[0] > 0)):
            np.testing.assert_allclose(here, wanted, rtol=0, atol=1e-9)
            pairs += len(zeros) == 2
        assert len(here) <= len(wanted)
    assert pairs > 10


def test_crossings_that_lie_near_each_other():
    """The function comes more steeply than it goes, so far beyond the surface, from either side."""
    beyond = np.array([1e-4, 1e-9, 1e-13, -1e-13, -1e-6, -0.05])

    def function(state, t):
        _, far, side = state.g.x
        return side * ((t - 0.43) ** 2 * jnp.exp(0.43 - t) - far)

    rest = [BODY.state(x=(0.0, far, side)) for side in (1.0, -1.0) for far in beyond]
    sections = {"s": nd.Section(function, 0, pairs=True)}
    runs = nd.simulate_many(BODY, rest, t1=1.0, dt=1.0, sections=sections, progress=False)
    found = [run.crossings["s"]["time"].to_numpy() for run in runs]
    assert [len(times) for times in found] == 2 * [2, 2, 2, 0, 0, 0]
    for times, far in zip(found[:3] + found[6:9], 2 * list(beyond[:3]), strict=True):
        apart = 2 * np.sqrt(far)
        np.testing.assert_allclose(times[1] - times[0], apart, rtol=max(apart, 1e-17 / far))
