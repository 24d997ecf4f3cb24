"""The driver: what is saved, watched, located, resumed, and what is refused."""

import math
import os
import signal
import threading
import time
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.compiler.telling import making
from naiad.diagnostics import march
from naiad.errors import InputError
from naiad.simulation import bar
from tests.verification.problems import PROBLEMS

BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
START = BODY.state(Pi=(0.7, 0.8, -1.5))
PENDULUM, PENDULUM_START = PROBLEMS["driven-pendulum"].system, PROBLEMS["driven-pendulum"].state


class Cliff(nd.LagrangianSystem):
    """A potential with an edge beyond which it is not a number."""

    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v + jnp.sqrt(1.0 - q[0])


def run(**options):
    return nd.simulate(BODY, START, **({"t1": 1.0, "dt": 0.01} | options))


def test_every_mth_node_and_the_last_are_saved_with_their_states():
    saved = run(save_every=7)
    np.testing.assert_allclose(saved.t, [*np.arange(0, 100, 7) * 0.01, 1.0], atol=1e-15)
    every = run(save_every=1)
    assert len(every.t) == 101
    at = [*range(0, 100, 7), 100]
    np.testing.assert_array_equal(saved.states.mu, every.states.mu[at])
    np.testing.assert_array_equal(saved.g, every.g[at])
    marched = march(BODY, nd.Variational(), START, dt=0.01, steps=100)
    np.testing.assert_allclose(saved.final.mu, marched.mu, rtol=0, atol=1e-14)


def test_runs_longer_than_a_chunk_equal_one_loop():
    long = run(t1=30.0, save_every=1)
    assert len(long.t) == 3001
    np.testing.assert_allclose(long.final.mu, march(BODY, nd.Variational(), START, dt=0.01, steps=3000).mu, atol=1e-15)
    assert len(run(t1=30.0).t) == 1001


def test_last_step_is_shortened_to_land_on_t1():
    saved = run(t1=1.0, dt=0.3, save_every=1)
    np.testing.assert_allclose(saved.t, [0.0, 0.3, 0.6, 0.9, 1.0], atol=1e-15)
    before = march(BODY, nd.Variational(), START, dt=0.3, steps=3)
    np.testing.assert_allclose(
        saved.final.mu, march(BODY, nd.Variational(), before, dt=0.1, steps=1, t0=0.9).mu, atol=1e-14
    )
    assert saved.statistics["steps"] == 4


def test_time_reaches_the_lagrangian_from_t0():
    late = nd.simulate(PENDULUM, PENDULUM_START, t0=0.7, t1=1.7, dt=0.1)
    end = march(PENDULUM, nd.Variational(), PENDULUM_START, dt=0.1, steps=10, t0=0.7)
    np.testing.assert_allclose(late.final.mu, end.mu, atol=1e-14)
    assert float(late.t[-1]) == pytest.approx(1.7)


def test_monitors_see_every_step_and_outputs_the_saved_ones():
    def observable(state, t):
        return state.mu[0] + 0.5 * t

    sparse = run(t1=10.0, save_every=250, monitors={"first": observable}, outputs={"first": observable})
    dense = run(t1=10.0, save_every=1)
    values = dense.states.mu[:, 0] + 0.5 * dense.t.to_numpy()
    monitor = sparse.monitors["first"]
    assert float(monitor.max) == pytest.approx(values.max(), rel=1e-15)
    assert float(monitor.min) == pytest.approx(values.min(), rel=1e-15)
    assert monitor.largest == pytest.approx(np.abs(values).max(), rel=1e-15)
    assert float(monitor.mean) == pytest.approx(values.mean(), rel=1e-13)
    assert monitor.slope == pytest.approx(np.polyfit(dense.t, values, 1)[0], rel=1e-11)
    np.testing.assert_allclose(sparse.record["first"], values[::250], atol=1e-15)


def test_outputs_have_a_cadence_of_their_own(tmp_path):
    """States at some nodes and outputs at others, from one run: over several chunks, on disk, and gone on with."""

    def observable(state, t):
        return jnp.stack([state.mu[0], t])

    options: dict[str, Any] = {"save_every": 250, "output_every": 3, "outputs": {"seen": observable}}
    apart = run(t1=30.005, **options)
    dense = run(t1=30.005, save_every=1, outputs={"seen": observable})
    at = [*range(0, 3000, 3), 3000, 3001]
    assert apart.record["seen"].dims == ("output_time", "seen_0")
    np.testing.assert_array_equal(apart.record["output_time"], dense.t[at])
    np.testing.assert_array_equal(apart.record["seen"], dense.record["seen"].to_numpy()[at])
    np.testing.assert_array_equal(apart.t, dense.t[[*range(0, 3001, 250), 3001]])
    assert "seen" not in apart.dataset
    disk = run(t1=30.005, **options, out=tmp_path / "run.zarr")
    np.testing.assert_array_equal(disk.record["seen"], apart.record["seen"])
    loaded = nd.load(tmp_path / "run.zarr", BODY, nd.Variational())
    np.testing.assert_array_equal(loaded.record["output_time"], apart.record["output_time"])
    onward = nd.resume(run(t1=10.0), t1=30.0, **options)
    np.testing.assert_array_equal(onward.record["seen"], dense.record["seen"].to_numpy()[[1000, *range(1002, 3001, 3)]])


def test_a_run_that_must_come_to_its_end_raises(tmp_path):
    options = {"t1": 5.0, "dt": 0.01, "throw": True}
    with pytest.raises(nd.RunError, match=r"the run stopped at t = 0\.\d+ s of 5 s: .*smaller dt"):
        nd.simulate(Cliff(), Cliff().state(v=[2.0]), out=tmp_path / "run.zarr", **options)
    kept = nd.load(tmp_path / "run.zarr", Cliff(), nd.Variational())
    assert kept.outcome.failed
    fine = nd.simulate(Cliff(), Cliff().state(v=[2.0]), t1=0.1, dt=0.01)
    with pytest.raises(nd.RunError, match=r"the run stopped at t = 0\.\d+ s of 5 s"):
        nd.resume(fine, t1=5.0, throw=True)
    edge = nd.Section(lambda state, t: state.g[0] - 0.5, terminal=True)
    stopped = nd.simulate(Cliff(), Cliff().state(v=[2.0]), sections={"edge": edge}, **options)
    assert stopped.outcome is nd.Outcome.EVENT


def test_properties_are_those_of_the_states():
    saved = run(save_every=10)
    np.testing.assert_allclose(saved.xi, saved.states.mu / np.array([1.0, 2.0, 3.0]), rtol=1e-14)
    energy = 0.5 * np.sum(saved.states.mu**2 / np.array([1.0, 2.0, 3.0]), axis=1)
    np.testing.assert_allclose(saved.energy, energy, rtol=1e-14)
    np.testing.assert_allclose(saved.momentum, np.einsum("tij,tj->ti", saved.g, saved.states.mu), rtol=1e-13)
    assert saved.dataset["Omega"].dims[0] == "time"
    assert set(saved.dataset.data_vars) == {"R", "Pi", "Omega", "energy", "momentum"}
    assert repr(saved) == "Trajectory(RigidBody, t = 0 .. 1 s, 100 steps, completed)"
    assert 1.0 <= saved.statistics["newton_iterations_mean"] < 1.1  # a good guess, and two where it begins
    assert 0 < saved.statistics["residual_max"] < 1e-14


def exact_crossings(component, direction, t1):
    """When a component of Pi passes zero, by DOP853 and its own event location."""
    from scipy.integrate import solve_ivp

    def euler(t, Pi):
        return np.cross(Pi, Pi / np.array([1.0, 2.0, 3.0]))

    def event(t, Pi):
        return Pi[component]

    event.direction = direction
    return solve_ivp(euler, (0, t1), [0.7, 0.8, -1.5], "DOP853", rtol=1e-12, atol=1e-12, events=event).t_events[0]


@pytest.mark.parametrize("direction", [1, -1, 0])
def test_crossings_are_located_at_the_methods_own_order(direction):
    section = nd.Section(lambda state, t: state.mu[0], direction)
    exact = exact_crossings(0, direction, 25.0)
    assert len(exact) >= 1
    errors = []
    for dt in (0.1, 0.05):
        crossings = run(t1=25.0, dt=dt, sections={"first": section}).crossings["first"]
        np.testing.assert_allclose(crossings["Pi"].to_numpy()[:, 0], 0.0, atol=3e-15)
        errors.append(np.max(np.abs(crossings["time"].to_numpy() - exact)))
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_a_terminal_section_stops_the_run_at_the_crossing():
    stopped = run(t1=10.0, sections={"first": nd.Section(lambda state, t: state.mu[0], 0, terminal=True)})
    assert stopped.outcome is nd.Outcome.EVENT
    assert not stopped.outcome.failed
    crossing = stopped.crossings["first"]
    assert len(crossing["time"]) == 1
    when = float(crossing["time"][0])
    assert stopped.record.attrs["t"] <= when <= stopped.record.attrs["t"] + 0.01
    assert float(stopped.t[-1]) <= when


def test_two_sections_come_back_in_order_of_time():
    sections = {"x": nd.Section(lambda s, t: s.mu[0], 0), "y": nd.Section(lambda s, t: s.mu[1], 0)}
    found = run(t1=20.0, sections=sections)
    times = found.record["crossing_time"].to_numpy()
    assert np.all(np.diff(times) > 0)
    for component, name in enumerate(sections):
        np.testing.assert_allclose(found.crossings[name]["time"], exact_crossings(component, 0, 20.0), atol=1e-2)
        assert len(found.crossings[name]["time"]) > 1
    np.testing.assert_allclose(found.crossings["y"]["Pi"].to_numpy()[:, 1], 0.0, atol=3e-15)


def test_resuming_is_bitwise_as_if_it_had_not_stopped(tmp_path):
    options = {"dt": 0.1, "save_every": 1, "method": nd.Composition(nd.Variational(), 4)}
    whole = nd.simulate(PENDULUM, PENDULUM_START, t1=8.0, **options)
    first = nd.simulate(PENDULUM, PENDULUM_START, t1=3.0, **options)
    first.save(tmp_path / "first.zarr")
    loaded = nd.load(tmp_path / "first.zarr", PENDULUM, options["method"])
    second = nd.resume(loaded, t1=8.0, save_every=1)
    np.testing.assert_array_equal(second.states.mu, whole.states.mu[30:])
    np.testing.assert_array_equal(second.g, whole.g[30:])
    np.testing.assert_array_equal(second.t, whole.t[30:])
    with pytest.raises(nd.InputError, match=r"t1 = 1 is not after the end of the run, t = 3"):
        nd.resume(first, t1=1.0)


def test_saving_and_loading_is_bitwise(tmp_path):
    sections = {"x": nd.Section(lambda s, t: s.mu[0], 0)}
    before = run(t1=10.0, sections=sections, monitors={"energy": BODY.energy})
    before.save(tmp_path / "run.zarr")
    after = nd.load(tmp_path / "run.zarr", BODY, nd.Variational())
    np.testing.assert_array_equal(after.states.mu, before.states.mu)
    np.testing.assert_array_equal(after.crossings["x"]["R"], before.crossings["x"]["R"])
    assert after.monitors["energy"] == before.monitors["energy"]
    assert after.statistics == before.statistics
    vehicle = PROBLEMS["vehicle"].system
    with pytest.raises(nd.InputError, match=r"made with the system RigidBody, but KirchhoffBody was given"):
        nd.load(tmp_path / "run.zarr", vehicle, nd.Variational())
    with pytest.raises(nd.InputError, match=r"made with the method Variational, but RK4 was given"):
        nd.load(tmp_path / "run.zarr", BODY, nd.RK4())


def test_a_run_written_as_it_goes_equals_one_in_memory(tmp_path):
    sections = {"x": nd.Section(lambda s, t: s.mu[0], 0)}
    memory = run(t1=30.0, save_every=2, sections=sections)
    disk = run(t1=30.0, save_every=2, sections=sections, out=tmp_path / "run.zarr")
    np.testing.assert_array_equal(disk.states.mu, memory.states.mu)
    np.testing.assert_array_equal(disk.crossings["x"]["time"], memory.crossings["x"]["time"])
    assert disk.statistics == memory.statistics
    with pytest.raises(nd.InputError, match="exists"):
        run(out=tmp_path / "run.zarr")


def test_a_run_that_cannot_go_on_keeps_what_it_has_and_says_so(tmp_path):
    with pytest.warns(RuntimeWarning, match=r"Cliff stopped at t = 0\.\d+ s, after \d+ steps: .*smaller dt"):
        broken = nd.simulate(Cliff(), Cliff().state(v=[2.0]), t1=5.0, dt=0.01, save_every=1, out=tmp_path / "run.zarr")
    assert broken.outcome.failed
    assert 20 < broken.statistics["steps"] < 100
    assert len(broken.t) == broken.statistics["steps"] + 1
    assert np.all(np.isfinite(broken.states.mu))
    assert np.all(broken.g < 1.0)


def test_newton_that_finds_no_root_is_an_outcome():
    with pytest.warns(RuntimeWarning, match="Newton's method did not converge"):
        broken = nd.simulate(BODY, START, t1=10.0, dt=5.0, method=nd.Variational(newton=nd.Newton(max_iterations=1)))
    assert broken.outcome is nd.Outcome.NEWTON_FAILED
    assert broken.statistics["steps"] == 0
    np.testing.assert_array_equal(broken.final.mu, START.mu)


def test_an_interrupted_run_returns_what_it_has(python_hears_ctrl_c):
    run(t1=0.1)  # compile first, so that the interrupt meets the loop
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    stopped = run(t1=1e6)
    assert stopped.outcome is nd.Outcome.INTERRUPTED
    assert 0 < stopped.statistics["steps"] < 1e8
    assert float(stopped.t[-1]) <= stopped.record.attrs["t"]


def test_progress_is_told_to_a_function():
    told = []
    run(t1=20.0, progress=told.append)
    assert told[0] == 0.0
    assert told[-1] == 1.0
    assert told == sorted(told)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dt": 0.0}, r"dt = 0; expected a step above 0 s"),
        ({"dt": -0.1}, r"dt = -0\.1; expected a step above 0 s"),
        ({"dt": math.nan}, "dt = nan; expected a number"),
        ({"t1": -1.0}, r"t1 = -1 lies before t0 = 0"),
        ({"t1": 1e30}, r"dt = 0\.01 is too small"),
        ({"t1": "soon"}, "t1 = 'soon'; expected a number"),
        ({"save_every": 0}, r"save_every = 0; expected a whole number of steps"),
        ({"save_every": 2.5}, r"save_every = 2\.5"),
        ({"output_every": 0}, r"output_every = 0; expected a whole number of steps"),
        ({"output_every": 2}, r"output_every = 2 is for `outputs`, and none are given; leave it out"),
        (
            {"t1": 1e7, "outputs": {"t": lambda state, t: t}, "output_every": 1},
            r"rows of outputs would take 7\.5 GiB of memory; save fewer \(output_every=4\)",
        ),
        (
            {"t1": 1e9, "dt": 1e-3, "save_every": 1},
            r"GiB of memory; save fewer \(save_every=\d+\), or.*out='run\.zarr'",
        ),
        ({"method": nd.Cayley()}, r"method = Cayley\(\); expected a method"),
        ({"method": nd.RK4}, r"expected a method or None. Give an instance of it: RK4\("),
        (
            {"method": nd.Variational(nd.PerFactor(R=nd.Cayley()))},
            r"PerFactor has maps for the factors R, but the group has no factors",
        ),
    ],
)
def test_bad_input_is_refused_with_one_message(options, message):
    with pytest.raises(nd.InputError, match=message):
        run(**options)


def test_a_method_that_does_not_live_on_the_group_is_refused():
    vehicle = PROBLEMS["vehicle"]
    with pytest.raises(nd.InputError, match=r"Skew was given SE3\(\), but it lives on SO3, SOn"):
        nd.simulate(vehicle.system, vehicle.state, t1=1.0, dt=0.1, method=nd.Variational(nd.Skew()))


def test_numbers_that_are_not_double_or_not_finite_are_refused():
    class Top(nd.LagrangianSystem):
        J: Any
        group = nd.SO3()

        def lagrangian(self, R, Omega, t):
            return 0.5 * Omega @ self.J @ Omega

    with pytest.raises(nd.InputError, match=r"Top: argument 1 is float32; naiad computes in float64.*NumPy array"):
        nd.simulate(Top(jnp.eye(3)), START, t1=1.0, dt=0.1)
    with pytest.raises(nd.InputError, match=r"Top\.J holds NaN"):
        nd.simulate(Top(np.full((3, 3), np.nan)), START, t1=1.0, dt=0.1)
    with pytest.raises(nd.InputError, match="expected a LagrangianSystem"):
        nd.simulate("body", START, t1=1.0, dt=0.1)


def test_jax_settings_are_left_alone():
    assert not jax.config.jax_enable_x64
    run()
    assert not jax.config.jax_enable_x64
    assert jnp.ones(1).dtype == np.float32
    assert nd.SO3().exp(np.ones(3)).dtype == np.float64


@pytest.mark.parametrize("steps", [-1, 2**31, 2**70])
def test_propagate_takes_steps_that_can_be_taken(steps):
    with pytest.raises(nd.InputError, match=rf"propagate: steps = {steps}; expected a whole number from 0 to"):
        nd.propagate(BODY, BODY.state(Omega=(0.1, 0.2, 0.3)), dt=0.05, steps=steps)


@pytest.mark.parametrize("options", [{"dt": np.float32(0.05)}, {"dt": 0.05, "t0": np.float32(0.1)}])
def test_propagate_takes_no_other_precision(options):
    """0.05 in float32 is another number."""
    with pytest.raises(nd.InputError, match=f"propagate: {list(options)[-1]} is float32; naiad computes in float64"):
        nd.propagate(BODY, BODY.state(Omega=(0.1, 0.2, 0.3)), **options, steps=2)


def test_propagate_can_be_batched():
    with jax.enable_x64(True):
        momenta = np.random.default_rng(0).standard_normal((5, 3))
        batch = jax.vmap(lambda Pi: nd.propagate(BODY, nd.State(jnp.eye(3), Pi), dt=0.05, steps=10).mu)(momenta)
    single = march(BODY, nd.Variational(), nd.State(np.eye(3), momenta[3]), dt=0.05, steps=10).mu
    np.testing.assert_allclose(batch[3], single, atol=1e-15)


VEHICLE = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0))


@pytest.mark.long
def test_the_momentum_alone_moves_as_it_does_with_the_configuration():
    state = VEHICLE.state(Pi=(2.0, -0.4, -0.9), p=(4.4, -0.2, -1.1))
    options = {"t1": 20.0, "dt": 0.1, "sections": {"p_z": nd.Section(lambda s, t: s.mu[5])}, "save_every": 7}
    for method in (nd.Variational(), nd.Splitting(4), nd.RK4()):
        whole, alone = (
            nd.simulate(VEHICLE, state, method=method, reconstruct=each, **options) for each in (True, False)
        )
        np.testing.assert_allclose(alone.mu, whole.mu, rtol=0, atol=3e-13)
        np.testing.assert_allclose(alone.energy, whole.energy, rtol=1e-13)
        np.testing.assert_allclose(alone.crossings["p_z"]["time"], whole.crossings["p_z"]["time"], atol=1e-12)
        assert "R" not in alone.dataset
        assert "R" in whole.dataset
    with pytest.raises(InputError, match="followed the momentum alone, so it has no momentum in space"):
        _ = alone.momentum
    longer = nd.resume(alone, t1=40.0)
    assert "x" not in longer.dataset


def test_only_a_momentum_that_moves_by_itself_can_be_followed_alone():
    top = upright_top()
    with pytest.raises(InputError, match="reconstruct=False is for an EulerPoincareSystem"):
        nd.simulate(*top, t1=1.0, dt=0.1, reconstruct=False)


def upright_top():
    class Top(nd.LagrangianSystem):
        group = nd.SO3()

        def lagrangian(self, R, Omega, t):
            return 0.5 * Omega @ Omega - R[2, 2]

    system = Top()
    return system, system.state(Omega=(0.1, 0.0, 1.0))


@pytest.mark.long
def test_pairs_within_a_step_are_found():
    """A level just below the maxima of p_z on a torus is crossed twice within long steps."""
    body = nd.models.KirchhoffBody((1.4726, 7.0306, 4.7969), (4.7190, 5.8566, 10.5476))
    state = body.state(Pi=(0.0, 3.807047861195724, 1.0), p=(5.2, 0.0, 0.0))

    def crossings(dt, method, pairs):
        section = nd.Section(lambda s, t: s.mu[5] - 5.1, 0, pairs=pairs)
        run = nd.simulate(body, state, t1=100.0, dt=dt, method=method, sections={"s": section}, reconstruct=False)
        return run.crossings["s"]["time"].to_numpy()

    exact = crossings(0.002, nd.RK4(), False)
    assert len(exact) == 24
    assert len(crossings(0.5, nd.Splitting(6, "top"), False)) == 16
    np.testing.assert_allclose(crossings(0.5, nd.Splitting(6, "top"), True), exact, rtol=0, atol=1e-6)


def test_a_section_cannot_stop_at_pairs():
    with pytest.raises(InputError, match="pairs and terminal are both asked for"):
        nd.Section(lambda s, t: s.mu[0], terminal=True, pairs=True)


def test_a_bar_says_what_is_done(monkeypatch):
    """It appears after a while by itself, and says "compiling" as long as code is made."""
    monkeypatch.setattr(bar, "PATIENCE", 0.0)
    plan = SimpleNamespace(first=0, last=10)
    with bar.Bar(plan, shown=True) as shown:
        wait_until(lambda: shown._bar is not None)
        assert shown._bar.tasks[0].description == "simulating"
        with making():
            assert shown._bar.tasks[0].description == "compiling"
        shown.update(4)
        assert (shown._bar.tasks[0].description, shown._bar.tasks[0].completed) == ("simulating", 4)
    with bar.Bar(plan, shown=False) as hidden:
        time.sleep(0.05)
        assert hidden._bar is None


def wait_until(condition):
    for _ in range(500):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come")


@pytest.mark.parametrize(
    "name", ["Pi", "R", "Omega", "axis", "time", "energy", "momentum", "crossing_time", "a b", "/"]
)
def test_an_output_with_the_name_of_something_else_is_refused(name):
    """It would take the place of the momentum, or be lost under the coordinate of that name."""
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    with pytest.raises(nd.InputError, match=f"outputs: {name!r}"):
        nd.simulate(body, body.state(Omega=(1.0, 0.0, 0.0)), t1=1.0, dt=0.1, outputs={name: lambda state, t: t})
