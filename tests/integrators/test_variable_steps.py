"""Steps that a method chooses: what they keep, how they go back, and runs along their own time."""

import functools
import itertools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq

import naiad as nd
from naiad.compiler import execute
from naiad.diagnostics import march, reference


class Planet(nd.LagrangianSystem):
    """Kepler's problem in the plane."""

    group = nd.Rn(2)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v + 1.0 / jnp.sqrt(q @ q)

    def symmetry(self, s, q):
        c, d = jnp.cos(s[0]), jnp.sin(s[0])
        return jnp.stack([c * q[0] - d * q[1], d * q[0] + c * q[1]])


class Driven(nd.LagrangianSystem):
    """A quartic oscillator whose spring changes with time."""

    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - 0.5 * q @ q - 0.25 * (q @ q) ** 2 * (1.0 + 0.3 * jnp.cos(t))


class Dragged(Planet):
    """A planet in a wind that comes and goes."""

    def force(self, q, v, t):
        return 0.05 * jnp.cos(t) * jnp.array([1.0, 0.0]) - 0.01 * v


class Top(nd.LagrangianSystem):
    """A heavy top."""

    group = nd.SO3()
    symmetry_dim = 1

    def lagrangian(self, R, Omega, t):
        return 0.5 * Omega @ (jnp.array([1.0, 1.5, 0.5]) * Omega) - 2.0 * R[2, 2]

    def symmetry(self, s, R):
        return nd.SO3().exp(jnp.array([0.0, 0.0, 1.0]) * s[0]) @ R


PLANET, MIDPOINT = Planet(), nd.Variational(nd.Cayley(), nd.Midpoint())
REVERSIBLE, ENERGY = nd.ReversibleSteps(nd.Variational()), nd.EnergySteps()
TOP = Top()
TILTED = TOP.state(R=np.asarray(nd.SO3().exp(np.array([0.7, 0.0, 0.0]))), Omega=(0.3, 0.2, 3.0))


def far(e: float) -> nd.State:
    """At the far end of the orbit of period 2 pi and eccentricity e."""
    return PLANET.state(q=[1.0 + e, 0.0], v=[0.0, math.sqrt((1.0 - e) / (1.0 + e))])


def kepler(e: float, t: float) -> np.ndarray:
    """The exact position at t, from the far end: Kepler's equation."""
    E = brentq(lambda E: E - e * math.sin(E) - math.pi - t, math.pi + t - 2.0, math.pi + t + 2.0, xtol=1e-15)
    return np.array([e - math.cos(E), -math.sqrt(1.0 - e * e) * math.sin(E)])


def phase_error(run: nd.Trajectory, e: float) -> float:
    """How far the last node is off the exact position at its own time."""
    return float(np.max(np.abs(run.final.g - kepler(e, run.attrs["t"]))))


def _stepped(system: Any, method: Any, carry: Any, h: Any, steps: Any) -> Any:
    step = functools.partial(method.step, system)
    return jax.lax.fori_loop(0, steps, lambda k, carry: step(carry, 0.0, h), carry)


def _begun(system: Any, method: Any, state: Any, h: Any) -> Any:
    return method.init(system, state, 0.0, h)


@pytest.mark.parametrize(
    ("system", "start", "method", "dt", "steps"),
    [
        (PLANET, far(0.99), REVERSIBLE, 0.2, 400),
        (PLANET, far(0.99), nd.ReversibleSteps(MIDPOINT, "force", longest=0.3), 0.2, 400),
        (PLANET, far(0.9), nd.ReversibleSteps(nd.Composition(nd.Variational(), 4), lambda s, t: s.g @ s.g), 0.3, 60),
        (TOP, TILTED, nd.ReversibleSteps(MIDPOINT, "force"), 0.02, 200),
        (PLANET, far(0.6), ENERGY, 0.02, 400),
    ],
)
def test_a_run_goes_back_to_round_off(system, start, method, dt, steps):
    """There, with the velocity turned round, and back: state, density and time. By steps of -dt as well. The energy
    tells h by terms of second order, so that its round-off is larger."""
    small = 1e-8 if isinstance(method, nd.EnergySteps) else 3e-11
    begun = execute(_begun, system, method, start, dt, parameters=(0,))
    there = execute(_stepped, system, method, begun, dt, steps, parameters=(0,))
    sizes = method.figures(there)
    assert sizes["step_max"] > 1.5 * sizes["step_min"] or system is TOP

    def turned(carry):
        """The velocity, the rate of the density and the remembered velocities change their sign."""
        state = carry.state._replace(mu=-carry.state.mu)
        if isinstance(method, nd.EnergySteps):
            return carry._replace(state=state, memory=carry.memory * np.append(-np.ones(system.group.dim), 1.0))
        return carry._replace(state=state, change=-carry.change, memory=jax.tree.map(np.negative, carry.memory))

    back = execute(_stepped, system, method, turned(there), dt, steps, parameters=(0,))
    for one, other in zip(jax.tree.leaves(turned(back).state), jax.tree.leaves(begun.state), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=small)
    assert back.t - there.t == pytest.approx(there.t, abs=small)
    again = execute(_stepped, system, method, there._replace(**_backwards(method, there)), -dt, steps, parameters=(0,))
    np.testing.assert_allclose(again.state.mu, begun.state.mu, rtol=0, atol=small)
    assert abs(again.t) < small


def _backwards(method: Any, carry: Any) -> dict[str, Any]:
    return {"h": -carry.h} if isinstance(method, nd.EnergySteps) else {}


def test_an_orbit_of_eccentricity_099_keeps_its_energy_without_drift():
    method = nd.ReversibleSteps(nd.Variational())
    run = nd.simulate(PLANET, far(0.99), t1=200 * math.pi, dt=0.02, method=method, save_every=1)
    error = np.abs(run.energy.to_numpy() / run.energy.to_numpy()[0] - 1.0)
    parts = np.array_split(error, 10)
    assert np.max(parts[0]) < 0.02
    assert np.max(parts[-1]) < 1.02 * np.max(parts[0])
    assert np.max(np.abs(run.momentum / run.momentum[0] - 1.0)) < 1e-11
    same = 200 * math.pi / run.statistics["steps"]
    plain = nd.simulate(PLANET, far(0.99), t1=200 * math.pi, dt=same, method=nd.Variational(), save_every=1)
    assert np.max(np.abs(plain.energy / plain.energy[0] - 1.0)) > 1.0  # as many steps of one size
    assert run.statistics["step_max"] / run.statistics["step_min"] == pytest.approx(199.0**1.5, rel=0.05)  # r^(3/2)


@pytest.mark.parametrize(
    ("method", "order", "dts"),
    [
        (REVERSIBLE, 2, (0.1, 0.05)),
        (nd.ReversibleSteps(nd.Composition(nd.Variational(), 4)), 4, (0.2, 0.1)),
        (ENERGY, 2, (0.02, 0.01)),
    ],
)
def test_the_order_is_that_of_the_method(method, order, dts):
    e = 0.6
    errors = [phase_error(nd.simulate(PLANET, far(e), t1=6.0, dt=dt, method=method, throw=True), e) for dt in dts]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25), errors


def test_energy_steps_keep_the_energy_at_midpoints_and_the_momentum():
    """By the chords of the saved nodes, without the method's own energy."""
    run = nd.simulate(PLANET, far(0.6), t1=60.0, dt=0.05, method=ENERGY, save_every=1, throw=True)
    q, h = run.g, np.diff(run.t)
    v, middle = np.diff(q, axis=0) / h[:, None], 0.5 * (q[1:] + q[:-1])
    energy = 0.5 * np.sum(v**2, axis=1) - 1.0 / np.linalg.norm(middle, axis=1)
    np.testing.assert_allclose(energy, energy[0], rtol=3e-11)  # the round-off of the differences of times
    assert h.max() / h.min() > 4.0
    assert np.ptp(run.momentum.to_numpy()) < 1e-14
    plain = nd.simulate(PLANET, far(0.6), t1=60.0, dt=0.05, method=MIDPOINT, save_every=1)
    v, middle = np.diff(plain.g, axis=0)[:-1] / 0.05, 0.5 * (plain.g[1:] + plain.g[:-1])[:-1]
    assert np.ptp(0.5 * np.sum(v**2, axis=1) - 1.0 / np.linalg.norm(middle, axis=1)) > 1e-3


def test_energy_steps_of_a_top_keep_its_momentum_and_the_discrete_energy():
    run = nd.simulate(TOP, TILTED, t1=20.0, dt=0.05, method=ENERGY, save_every=1, throw=True)
    assert np.ptp(run.momentum.to_numpy()) < 1e-12
    sizes = np.diff(run.t)
    state_at = [nd.State(run.g[k], run.states.mu[k]) for k in (0, 40, 200)]
    found = [
        float(MIDPOINT.discrete_energy(TOP, state, 0.0, sizes[k]))
        for state, k in zip(state_at, (0, 40, 200), strict=True)
    ]
    np.testing.assert_allclose(found, found[0], rtol=1e-12)
    assert np.ptp(sizes) > 1e-3


def _extended(system: Any, carry: Any, h: Any) -> Any:
    """The carry after a step, and its derivative in left-trivialised increments of (g, t; mu, E) at both ends."""
    group, n = system.group, system.group.dim
    base = ENERGY.step(system, carry, 0.0, h)

    def stepped(z):
        state = nd.State(group.compose(carry.state.g, group.exp(z[:n])), carry.state.mu + z[n + 1 : 2 * n + 1])
        clock = carry.clock._replace(t=carry.clock.t + z[n])
        moved = ENERGY.step(system, carry._replace(state=state, clock=clock, energy=carry.energy + z[-1]), 0.0, h)
        eta = group.log(group.compose(group.inverse(base.state.g), moved.state.g))
        dmu = moved.state.mu - base.state.mu
        return jnp.concatenate([eta, (moved.t - base.t)[None], dmu, (moved.energy - base.energy)[None]])

    return base, jax.jacfwd(stepped)(jnp.zeros(2 * n + 2))


@pytest.mark.parametrize("system", [Driven(), pytest.param(TOP, marks=pytest.mark.long)], ids=["driven", "top"])
def test_energy_steps_are_symplectic_in_extended_phase_space(system):
    """J^T W' J = W for (g, t; mu, -E), E and t being as free as g and mu; W of a group has the bracket's term."""
    group, n = system.group, system.group.dim
    start = TILTED if n == 3 else system.state(q=[1.0], v=[0.4])
    begun = execute(_begun, system, ENERGY, start, 0.05, parameters=(0,))
    carry = execute(_stepped, system, ENERGY, begun, 0.05, 3, parameters=(0,))
    after, J = execute(_extended, system, carry, 0.05, parameters=(0,))

    def form(mu):
        """d(mu . eta - E dt), with <mu, [eta, eta']> from the derivative of eta."""
        W = np.zeros((2 * n + 2, 2 * n + 2))
        W[:n, n + 1 : 2 * n + 1], W[n, 2 * n + 1] = np.eye(n), -1.0
        W -= W.T
        for i, a in enumerate(np.eye(n)):
            for j, b in enumerate(np.eye(n)):
                W[i, j] += float(np.asarray(mu) @ np.asarray(group.ad(a, b)))
        return W

    np.testing.assert_allclose(J.T @ form(after.state.mu) @ J, form(carry.state.mu), atol=1e-9)
    assert abs(J[n, 0]) > 1e-6  # the size of the step does depend on the state


@pytest.mark.parametrize("method", [ENERGY, REVERSIBLE])
def test_a_system_that_depends_on_time_sees_its_own_time(method):
    system = Driven()
    start = system.state(q=[1.0], v=[0.3])
    errors = []
    for dt in (0.02, 0.01):
        run = nd.simulate(system, start, t1=8.0, dt=dt, method=method, throw=True)
        exact = reference(system, start, t1=run.attrs["t"])
        errors.append(math.hypot(*(run.final.mu - exact.mu), *(run.final.g - exact.g)))
    assert errors[1] < 1e-3
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


def test_forces_see_the_time_of_the_steps():
    system = Dragged()
    start = system.state(q=[1.6, 0.0], v=[0.0, 0.5])
    run = nd.simulate(system, start, t1=7.0, dt=0.02, method=REVERSIBLE, throw=True)
    exact = reference(system, start, t1=run.attrs["t"])
    assert np.max(np.abs(run.final.g - exact.g)) < 2e-3
    with pytest.raises(nd.InputError, match="Dragged has a force, which EnergySteps does not honour"):
        nd.simulate(system, start, t1=7.0, dt=0.02, method=ENERGY)


def test_a_close_pass_of_two_bodies_keeps_its_energy():
    pair = nd.models.PointMasses((1.0, 0.5))
    start = pair.state(q=[[-4.0, 0.02, 0.0], [4.0, -0.02, 0.0]], v=[[0.4, 0, 0], [-0.8, 0, 0]])
    method = nd.ReversibleSteps(nd.Variational(), "distance")
    run = nd.simulate(pair, start, t1=10.0, dt=0.05, method=method, save_every=1, throw=True)
    distance = np.linalg.norm(run.g[:, 0] - run.g[:, 1], axis=1)
    assert distance.min() < 0.01
    assert distance[-1] > 5.0
    assert abs(run.energy[-1] / run.energy[0] - 1.0) < 1e-5
    assert np.max(np.abs(run.momentum - run.momentum[0])) < 1e-12
    exact = reference(pair, start, t1=run.attrs["t"])
    assert np.max(np.abs(run.final.g - exact.g)) < 0.05
    plain = nd.simulate(pair, start, t1=10.0, dt=10.0 / run.statistics["steps"], method=nd.Variational())
    assert abs(plain.energy[-1] / plain.energy[0] - 1.0) > 1.0


def test_where_the_energy_equation_has_no_solution_the_run_says_so():
    class Oscillator(nd.LagrangianSystem):
        group = nd.Rn(1)

        def lagrangian(self, q, v, t):
            return 0.5 * v @ v - 0.5 * q @ q

    system = Oscillator()
    start = system.state(q=[1.0], v=[0.3])
    with pytest.warns(nd.RunWarning, match="No step near the last one keeps the discrete energy"):
        run = nd.simulate(system, start, t1=20.0, dt=0.05, method=nd.EnergySteps(nd.Variational()))
    assert run.outcome is nd.Outcome.NEWTON_FAILED
    assert run.attrs["t"] < 2.0
    kept = nd.simulate(system, start, t1=20.0, dt=0.05, method=ENERGY, save_every=1, throw=True)
    np.testing.assert_allclose(np.diff(kept.t), 0.05, rtol=1e-7)  # the step of a linear oscillator is a solution


def test_where_the_energy_does_not_tell_the_step_it_stays():
    class Free(nd.LagrangianSystem):
        group = nd.Rn(2)

        def lagrangian(self, q, v, t):
            return 0.5 * v @ v

    system = Free()
    run = nd.simulate(system, system.state(v=[0.3, 0.1]), t1=20.0, dt=0.05, method=ENERGY, save_every=1, throw=True)
    np.testing.assert_allclose(np.diff(run.t), 0.05, rtol=1e-12)
    assert run.t[-1] == pytest.approx(20.0, abs=1e-13)  # 400 steps, added without loss


def test_bounds_end_a_run_that_would_leave_them():
    with pytest.warns(nd.RunWarning, match="No step near the last one"):
        nd.simulate(PLANET, far(0.6), t1=60.0, dt=0.05, method=nd.EnergySteps(bounds=(0.5, 2.0)))


@pytest.mark.parametrize("method", [REVERSIBLE, ENERGY])
def test_a_run_of_its_own_time_is_saved_resumed_and_observed(method, tmp_path):
    def radius(state, t):
        return jnp.sqrt(state.g @ state.g)

    def late(state, t):
        return t

    options = {
        "dt": 0.05,
        "method": method,
        "save_every": 7,
        "output_every": 5,
        "outputs": {"radius": radius, "late": late},
    }
    told = []
    whole = nd.simulate(PLANET, far(0.6), t1=20.0, progress=told.append, **options)
    assert told[-1] == 1.0
    assert all(a <= b for a, b in itertools.pairwise(told))
    record = whole.record
    assert record.attrs["t"] >= 20.0 > float(record.time[-2])
    np.testing.assert_array_equal(record.late, record.output_time)
    assert record.attrs["outcome"] == "COMPLETED"
    path = tmp_path / "run.zarr"
    nd.simulate(PLANET, far(0.6), t1=8.0, out=path, **options)
    longer = nd.resume(path, PLANET, method, t1=20.0, outputs=options["outputs"])
    for name in record.variables:
        np.testing.assert_array_equal(longer.record[name], record[name])
    np.testing.assert_array_equal(nd.load(path, PLANET, method).states.mu, whole.states.mu)
    first = nd.simulate(PLANET, far(0.6), t1=8.0, dt=0.05, method=method)
    second = nd.resume(first, t1=20.0)
    np.testing.assert_array_equal(second.final.mu, whole.final.mu)
    assert second.attrs["t"] == whole.attrs["t"]
    with pytest.raises(nd.InputError, match="is not after the end of the run"):
        nd.resume(first, t1=7.0)


@pytest.mark.parametrize("method", [REVERSIBLE, ENERGY])
def test_sections_are_located_within_steps_of_any_size(method):
    run = nd.simulate(
        PLANET,
        far(0.6),
        t1=13.0,
        dt=0.01,
        method=method,
        sections={"near": nd.Section(lambda state, t: state.g[1], direction=1)},
    )
    crossings = run.crossings["near"]
    assert crossings.sizes["crossing"] >= 1
    assert np.max(np.abs(crossings["q"].to_numpy()[:, 1])) < 1e-13
    first = float(crossings["time"][0])
    expected = 2.0 * math.pi if crossings["q"].to_numpy()[0, 0] > 0 else math.pi
    assert first == pytest.approx(expected, abs=2e-3)


def test_engines_agree():
    runs = [nd.simulate(PLANET, far(0.6), t1=1.0, dt=0.05, method=ENERGY, engine=each) for each in ("xla", "compiled")]
    np.testing.assert_allclose(runs[0].final.mu, runs[1].final.mu, atol=1e-10)


def test_what_needs_steps_of_one_size_refuses():
    with pytest.raises(
        nd.InputError, match="simulate_many takes steps of one size, and ReversibleSteps chooses its own"
    ):
        nd.simulate_many(PLANET, [far(0.6)], t1=1.0, dt=0.1, method=REVERSIBLE)
    with pytest.raises(nd.InputError, match="takes steps of one size"):
        march(PLANET, ENERGY, far(0.6), dt=0.1, steps=3)
    with pytest.raises(nd.InputError, match="takes steps of one size"):
        nd.live(PLANET, far(0.6), "never.html", dt=0.1, method=ENERGY)
    for outer in (nd.Composition, nd.Symmetrised, nd.Adjoint, nd.Projected, nd.ReversibleSteps):
        with pytest.raises(nd.InputError, match="method"):
            outer(REVERSIBLE)
    with pytest.raises(nd.InputError, match="needs a symmetric method; RKMK is not symmetric"):
        nd.ReversibleSteps(nd.RKMK()).check(PLANET)
    with pytest.raises(nd.InputError, match="expected one of frequency, force, distance"):
        nd.ReversibleSteps(nd.Variational(), "speed")
    with pytest.raises(nd.InputError, match="by 'distance' needs points in space"):
        nd.ReversibleSteps(nd.Variational(), "distance").check(PLANET)
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    with pytest.raises(nd.InputError, match="needs a potential, and RigidBody has none"):
        REVERSIBLE.check(body)
    with pytest.raises(nd.InputError, match=r"an array of shape \(2,\); expected one number"):
        nd.ReversibleSteps(nd.Variational(), lambda state, t: state.g).check(PLANET)
    with pytest.raises(nd.InputError, match="bounds around 1"):
        nd.EnergySteps(bounds=(2.0, 3.0))
    with pytest.raises(nd.InputError, match="seconds above 0"):
        nd.ReversibleSteps(nd.Variational(), longest=-1.0)


def test_a_density_that_falls_to_zero_ends_the_run():
    steep = nd.ReversibleSteps(nd.Variational(), lambda state, t: jnp.exp(3.0 * t))  # rho = 1 - 3 dt/2
    with pytest.warns(nd.RunWarning, match="the step density of ReversibleSteps fell to zero"):
        run = nd.simulate(PLANET, far(0.6), t1=20.0, dt=1.0, method=steep)
    assert run.outcome.failed
