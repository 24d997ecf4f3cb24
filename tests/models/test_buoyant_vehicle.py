"""The buoyant vehicle: the paper's scheme as printed, known numbers, orders, forces, a current, bad input."""

import jax
import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import KelvinNoether, KelvinNoetherChange, convergence, kelvin_noether_defect, march, reference
from naiad.mechanics import AdvectedSystem
from tests.models.vehicle004 import (
    ADDED,
    BUOYANCY,
    E_Z,
    EXACT_10,
    OMEGA0,
    Q0,
    R_B,
    STATE,
    SURPLUS,
    V0,
    VEHICLE,
    J,
    M,
    printed_kelvin_noether,
    printed_scheme,
    solution,
)

MAPS = {"cay": nd.Cayley(), "exp": nd.Exponential()}
DRAG = nd.models.Drag(linear=(4.0, 5.0, 6.0, 30.0, 40.0, 50.0), quadratic=(1.0, 2.0, 3.0, 60.0, 90.0, 120.0))
THRUSTERS = nd.models.Thrusters(
    points=[(0.2, 0.3, 0.0), (0.0, -0.3, 0.1)], directions=[(1, 0, 0), (0, 1, 1)], thrust=lambda t: (3.0, 2.0 * t)
)


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def vehicle(**options):
    return nd.models.BuoyantVehicle(M, ADDED, J, BUOYANCY, R_B, **options)


def started(system, method, h):
    """The start of the paper: omega_0 and nu_0 are the velocities of the first step."""
    xi = np.concatenate([OMEGA0, V0])
    return jax.tree.map(np.asarray, jax.jit(lambda xi: method.first_step(system, STATE.g, xi, 0.0, h))(xi))


@pytest.mark.parametrize(
    ("map", "t1", "q", "round_off"),
    [
        ("cay", 10, (0.972667562099, 0.999879638189, 8.668060293614), 6e-13),
        ("exp", 100, (9.800388016925, 10.058652432083, 47.749418508792), 4e-12),
    ],
)
def test_the_papers_scheme_reaches_the_known_positions(map, t1, q, round_off):
    method = nd.Variational(MAPS[map], nd.Left())
    end = march(VEHICLE, method, started(VEHICLE, method, 0.01), dt=0.01, steps=100 * t1)
    np.testing.assert_allclose(end.g.q, q, rtol=0, atol=round_off)


@pytest.mark.parametrize("map", MAPS)
def test_the_papers_scheme_is_the_printed_one(map):
    h, steps, method = 0.05, 40, nd.Variational(MAPS[map], nd.Left())
    run = nd.simulate(VEHICLE, started(VEHICLE, method, h), t1=h * steps, dt=h, method=method, save_every=1)
    xi = run.evaluate(lambda s, t: method.step_velocity(VEHICLE, s, t, h))
    value = run.evaluate(KelvinNoether(VEHICLE, E_Z))
    energy = run.evaluate(lambda s, t: method.discrete_energy(VEHICLE, s, t, h))
    for k, (R, q, omega, nu) in enumerate(printed_scheme(map, h, steps)):
        np.testing.assert_allclose(run.g.R[k], R, rtol=0, atol=3e-13)
        np.testing.assert_allclose(run.g.q[k], q, rtol=0, atol=3e-13)
        np.testing.assert_allclose(xi[k], [*omega, *R @ nu], rtol=0, atol=3e-13)
        assert value[k] == pytest.approx(printed_kelvin_noether(map, h, R, q, omega, nu), abs=2e-12)
        kinetic = 0.5 * (omega @ (J * omega) + nu @ ((M + ADDED) * nu))
        assert energy[k] == pytest.approx(kinetic - SURPLUS * q[2] + BUOYANCY * (R @ R_B)[2], abs=2e-12)


def test_the_equations_are_those_of_the_paper():
    for t1, known in ((10.0, EXACT_10), (3.0, None)):
        R, q = solution(t1)
        found = reference(VEHICLE, STATE, t1=t1).g
        np.testing.assert_allclose(found.q, q, rtol=0, atol=2e-11)
        np.testing.assert_allclose(found.R, R, rtol=0, atol=2e-11)
        if known is not None:
            np.testing.assert_allclose(q, known, rtol=0, atol=2e-12)


@pytest.mark.parametrize("map", MAPS)
def test_the_papers_scheme_is_first_order_and_the_symmetric_one_second(map):
    R, q = solution(2.0)
    errors = {}
    for name, rule in (("paper", nd.Left()), ("symmetric", nd.Midpoint())):
        method = nd.Variational(MAPS[map], rule)
        for h in (0.02, 0.01):
            start = started(VEHICLE, method, h) if name == "paper" else STATE
            end = march(VEHICLE, method, start, dt=h, steps=round(2.0 / h)).g
            errors[name, h] = np.abs(end.q - q).max(), np.abs(end.R - R).max()
    for name, order in (("paper", 1), ("symmetric", 2)):
        ratio = np.divide(errors[name, 0.02], errors[name, 0.01])
        np.testing.assert_allclose(np.log2(ratio), order, atol=0.05)


def test_velocities_in_closed_form_are_the_general_ones():
    system = vehicle(current=(0.3, -0.2, 0.1))
    g = system.group.random(np.random.default_rng(1))
    mu = np.array([1.0, -2.0, 0.5, 30.0, -20.0, 10.0])

    @jax.jit
    def velocities(mu):
        reduced = system.reduce(nd.State(g, mu))
        closed = system.velocity(g, mu), *system.reduced_velocity(reduced)
        return closed, (nd.LagrangianSystem.velocity(system, g, mu), *AdvectedSystem.reduced_velocity(system, reduced))

    for closed, general in zip(*velocities(mu), strict=True):
        np.testing.assert_allclose(closed, general, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("map", "rule"), [("exp", nd.Left()), ("cay", nd.Midpoint())], ids=["paper", "symmetric"])
def test_the_reduced_step_gives_the_same_motion_with_forces_and_a_current(map, rule):
    system = vehicle(current=(0.3, -0.2, 0.1), forces=(DRAG, THRUSTERS))
    start = system.state(q=Q0, R_Omega=OMEGA0, q_v=V0)
    full, reduced = (
        march(system, method(MAPS[map], rule), start, dt=0.05, steps=60) for method in (nd.Variational, nd.Reduced)
    )
    for one, other in zip(jax.tree.leaves(full), jax.tree.leaves(reduced), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=4e-12)


@pytest.mark.parametrize(
    "rule", [nd.Left(), pytest.param(nd.Midpoint(), marks=pytest.mark.long)], ids=lambda rule: type(rule).__name__
)
def test_the_kelvin_noether_quantity_is_kept_about_the_vertical_and_in_balance_about_the_others(rule):
    """With a current, nothing but the balance is left."""
    for system, kept in ((vehicle(), True), (vehicle(current=(0.3, -0.2, 0.1)), False)):
        method = nd.Variational(nd.Cayley(), rule)
        start = system.state(q=Q0, R_Omega=OMEGA0, q_v=V0)
        run = nd.simulate(system, start, t1=2.0, dt=0.02, method=method, save_every=1)
        for c0 in (E_Z, np.array([1.0, 0.0, 0.0]), np.array([0.2, -0.7, 0.4])):
            value = run.evaluate(KelvinNoether(system, c0))
            assert np.abs(kelvin_noether_defect(run, c0)).max() < 2e-13
            if kept and c0 is E_Z:
                assert np.ptp(value) < 1e-12
            else:
                assert np.ptp(value) > 0.1


def test_a_reduced_run_has_the_same_balance_and_bad_questions_are_refused():
    run = nd.simulate(VEHICLE, STATE, t1=0.2, dt=0.02, method=nd.Reduced(nd.Cayley(), nd.Left()), save_every=1)
    assert np.abs(kelvin_noether_defect(run, (1.0, 0.0, 0.0))).max() < 2e-13
    with pytest.raises(nd.InputError, match=r"c0 has shape \(2,\); expected \(3,\)"):
        kelvin_noether_defect(run, (1.0, 0.0))
    with pytest.raises(nd.InputError, match="6 nodes of 10 steps were saved; run with save_every=1"):
        kelvin_noether_defect(nd.simulate(VEHICLE, STATE, t1=0.2, dt=0.02, method=run.method, save_every=2), E_Z)
    with pytest.raises(nd.InputError, match="RK4 was given"):
        KelvinNoetherChange.of(VEHICLE, nd.RK4(), E_Z, 0.02)
    with pytest.raises(nd.InputError, match="an AdvectedSystem without forces"):
        KelvinNoetherChange.of(vehicle(forces=DRAG), nd.Variational(), E_Z, 0.02)


@pytest.mark.parametrize("rule", [nd.Left(), nd.Midpoint()], ids=lambda rule: type(rule).__name__)
def test_a_current_carries_the_motion_in_still_water_along(rule):
    """Galilei: in water that moves at u the vehicle moves as in still water, and by u t; with drag as well."""
    u, h, steps = np.array([0.3, -0.2, 0.1]), 0.02, 100
    ends = []
    for current, forces in ((u, DRAG), (0 * u, DRAG)):
        system = vehicle(current=current, forces=forces)
        start = system.state(q=Q0, R_Omega=OMEGA0, q_v=V0 + current)
        ends.append(march(system, nd.Variational(nd.Cayley(), rule), start, dt=h, steps=steps))
    carried, still = ends
    np.testing.assert_allclose(carried.g.q, still.g.q + h * steps * u, rtol=0, atol=1e-13)
    np.testing.assert_allclose(carried.g.R, still.g.R, rtol=0, atol=1e-13)


def test_forces_enter_at_second_order():
    """Drag, thrusters and a current against DOP853 on the equations written out."""
    u = np.array([0.3, -0.2, 0.1])
    system = vehicle(current=u, forces=(DRAG, THRUSTERS))

    def wrench(R, w, relative, t):
        twist = np.concatenate([w, relative])
        drag = -np.diag(DRAG.linear) * twist - np.diag(DRAG.quadratic) * np.abs(twist) * twist
        first, second = np.array([3.0, 0, 0]), 2.0 * t * np.array([0, 1, 1]) / np.sqrt(2)
        torque = np.cross([0.2, 0.3, 0.0], first) + np.cross([0.0, -0.3, 0.1], second)
        return drag + np.concatenate([torque, first + second])

    R, q = solution(1.5, current=u, wrench=wrench)
    start = system.state(q=Q0, R_Omega=OMEGA0, q_v=V0)
    exact = reference(system, start, t1=1.5)
    np.testing.assert_allclose(exact.g.q, q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(exact.g.R, R, rtol=0, atol=1e-11)
    measured = convergence(
        system, nd.Variational(nd.Cayley(), nd.Midpoint()), start, t1=1.5, steps=(40, 80), exact=exact
    )
    assert measured.order == pytest.approx(2.0, abs=0.1)


def test_drag_brings_the_vehicle_to_its_terminal_velocity():
    """Upright and at rest in rotation: W = d v_z."""
    system = vehicle(forces=nd.models.Drag(linear=(1.0, 1.0, 1.0, 40.0, 40.0, 40.0)))
    end = march(system, nd.Variational(), system.state(q_v=(0.5, 0.0, 0.0)), dt=0.1, steps=4000)
    velocity = system.velocity(end.g, end.mu)
    np.testing.assert_allclose(velocity, [0, 0, 0, 0, 0, SURPLUS / 40.0], rtol=0, atol=1e-10)


def test_horizontal_momentum_is_kept_and_the_dataset_knows_what_is_down():
    run = nd.simulate(VEHICLE, STATE, t1=5.0, dt=0.01, method=nd.Variational(nd.Exponential(), nd.Midpoint()))
    np.testing.assert_allclose(run.momentum[:, :2], np.tile(STATE.mu[3:5], (len(run.t), 1)), rtol=1e-14)
    np.testing.assert_allclose(run.mu[:, 5], STATE.mu[5] + SURPLUS * run.t, rtol=1e-13)
    assert run.dataset.attrs["down"] == [0.0, 0.0, 1.0]
    assert run.group_error.max() < 1e-14


def test_gravity_may_point_anywhere():
    """The same motion, turned."""
    turn = np.asarray(nd.SO3().exp(np.array([0.4, 1.1, -0.3])))
    turned = vehicle(gravity=turn @ (0.0, 0.0, 9.81))
    start = turned.state(R=turn, q=turn @ Q0, R_Omega=OMEGA0, q_v=turn @ V0)
    one, other = (
        march(system, nd.Variational(nd.Cayley(), nd.Midpoint()), state, dt=0.05, steps=40)
        for system, state in ((VEHICLE, STATE), (turned, start))
    )
    np.testing.assert_allclose(other.g.q, turn @ one.g.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(other.g.R, turn @ one.g.R, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"m": -1.0}, r"m = -1.0; expected a finite number above 0"),
        ({"m": float("nan")}, "m = nan; expected a number"),
        ({"added_mass": (65.0, -70.0, 75.0)}, r"added_mass has the eigenvalue -70; the kinetic energy"),
        ({"added_mass": np.arange(9.0).reshape(3, 3)}, "added_mass is not symmetric"),
        ({"added_mass": (1.0, 2.0)}, r"added_mass has shape \(2,\); expected 3 numbers"),
        ({"J": (1.0, 1.0, -1.0)}, "J is not positive definite"),
        ({"J": np.eye(2)}, r"J has shape \(2, 2\); expected 3 numbers"),
        ({"buoyancy": -3.0}, r"buoyancy = -3.0; expected a finite number of at least 0"),
        ({"r": (0.0, 1.0)}, r"r = \(0.0, 1.0\); expected 3 finite numbers"),
        ({"gravity": (0.0, 0.0, 0.0)}, "gravity = .* is not a direction"),
        ({"current": "fast"}, "current = 'fast'; expected 3 finite numbers"),
        ({"forces": 3.0}, "3.0 is no force"),
    ],
)
def test_bad_input_is_refused(values, message):
    given = {"m": M, "added_mass": ADDED, "J": J, "buoyancy": BUOYANCY, "r": R_B} | values
    with pytest.raises(nd.InputError, match=message):
        nd.models.BuoyantVehicle(**given)


@pytest.mark.long
@pytest.mark.parametrize("dt", [0.01, 0.05])
def test_energy_does_not_drift_over_a_million_steps(dt):
    """Neutrally buoyant, so that the speed is bounded; the trend is far below the swing, and that of RK4 is not."""
    steps = 1_000_000
    neutral = nd.models.BuoyantVehicle(M, ADDED, J, M * 9.81, R_B)
    start = neutral.state(q=Q0, R_Omega=OMEGA0, q_v=V0)
    watched = {
        "energy": neutral.energy,
        "kelvin_noether": KelvinNoether(neutral, E_Z),
        "orthogonality": lambda s, t: neutral.group.error(s.g),
        "p": lambda s, t: np.sum((s.mu[3:] - start.mu[3:]) ** 2),
    }
    monitors = {}
    for name, method in (("symmetric", nd.Variational(nd.Cayley(), nd.Midpoint())), ("rk4", nd.RK4())):
        run = nd.simulate(neutral, start, t1=dt * steps, dt=dt, method=method, monitors=watched, progress=False)
        monitors[name] = run.monitors
    swing = {name: float(m["energy"].max - m["energy"].min) for name, m in monitors.items()}
    trend = {name: abs(m["energy"].slope) * dt * steps for name, m in monitors.items()}
    assert trend["symmetric"] < 1e-3 * swing["symmetric"]
    assert trend["rk4"] > 0.5 * swing["rk4"]
    kept = monitors["symmetric"]
    assert kept["orthogonality"].max < 1e-13
    assert kept["p"].max == 0.0
    moment = float(np.linalg.norm(V0) * dt * steps * np.linalg.norm(start.mu[3:]))  # of the terms of q x p
    assert float(kept["kelvin_noether"].max - kept["kelvin_noether"].min) < 1e-14 * moment
