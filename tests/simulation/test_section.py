"""Where crossings are located, and which steps are looked at."""

import numpy as np
import pytest

import naiad as nd
from naiad.simulation.section import Level

BODY = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0))
STATE = BODY.state(Pi=(2.0, -0.4, -0.9), p=(4.4, -0.2, -1.1))


def third_p(state, t):
    return state.mu[5]


def crossings(method, dt, *, t1=20.0, reconstruct=False):
    """The run with every node, and the times and momenta at the crossings."""
    run = nd.simulate(
        BODY, STATE, t1=t1, dt=dt, method=method, sections={"s": nd.Section(third_p, 0, pairs=True)}, save_every=1,
        reconstruct=reconstruct,
    )  # fmt: skip
    found = run.crossings["s"]
    return run, found["time"].to_numpy(), np.hstack([found["Pi"], found["p"]])


@pytest.mark.parametrize(("method", "dt"), [(nd.Splitting(6, "top"), 0.25), (nd.FastLieVerlet(), 0.1)])
def test_a_crossing_is_where_the_method_itself_comes_to(method, dt):
    """A step from the node before by the fraction that was found ends there: the short way by another method that
    follows a first landing adds next to nothing, also to a method of low order."""
    run, times, momenta = crossings(method, dt, reconstruct=True)
    nodes = np.floor(times / dt).astype(int)
    ends = []
    for node, time in zip(nodes, times, strict=True):
        start = nd.State(type(run.g)(*(leaf[node] for leaf in run.g)), run.states.mu[node])
        ends.append(nd.diagnostics.march(BODY, method, start, dt=time - run.t.to_numpy()[node], steps=1).mu)
    apart = np.max(np.abs(np.array(ends) - momenta), axis=1)
    assert len(times) > 4
    np.testing.assert_allclose(momenta[:, 5], 0.0, atol=1e-14)
    assert np.max(apart) < (2e-13 if method.order(BODY) == 6 else 2e-5)


def test_crossings_have_the_order_of_the_method_down_to_round_off():
    _, exact, states = crossings(nd.Splitting(8, "top"), 0.02)
    errors = []
    for dt in (0.4, 0.2, 0.1):
        _, times, momenta = crossings(nd.Splitting(8, "top"), dt)
        errors.append(np.max(np.abs(momenta - states)))
        np.testing.assert_allclose(times, exact, rtol=0, atol=10 * errors[-1])
    assert np.log2(errors[0] / errors[1]) == pytest.approx(8, abs=0.8)
    assert errors[2] < 1e-11


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("lowest", "looked_at"), [(-0.01, True), (0.01, True), (0.3, False)])
def test_a_turning_point_is_looked_at_where_the_tangents_reach_the_surface(sign, lowest, looked_at):
    """A parabola (t - 0.4)^2 + lowest over a step from 0 to 1: its tangents meet 0.24 below it."""
    before, after = (Level(sign * ((t - 0.4) ** 2 + lowest), sign * 2 * (t - 0.4)) for t in (0.0, 1.0))
    assert bool(nd.Section(third_p, pairs=True).met(before, after, 1.0)) == looked_at
    assert not nd.Section(third_p).met(before, after, 1.0)
