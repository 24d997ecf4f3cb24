"""Bodies in an ideal fluid: against Newton and Euler, balances of momentum, currents, and known steady motions."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import naiad as nd
from naiad.diagnostics import Energy, relative_drift
from naiad.groups import Pose
from naiad.hydro import Assembly, Ellipsoid, EllipticCylinder, Sphere, Spheroid, mass_properties, moved, rigid_inertia
from naiad.models import Drag, KirchhoffBody, SubmergedBody, Thrusters

DOWN = np.array([0.0, 0.0, 9.81])
TURNED = np.asarray(nd.SO3().random(np.random.default_rng(5)))
HULL = Assembly(Spheroid(1.2, 0.3), Ellipsoid((0.2, 0.02, 0.3)).placed(x=(-1.0, 0.0, 0.3)))
ADDED = HULL.added_inertia(1000.0)
DRY = rigid_inertia(440.0, (30.0, 110.0, 115.0), (0.05, 0.01, 0.06))
DRAG = Drag(linear=(9, 40, 40, 30, 80, 80), quadratic=(2, 60, 60, 20, 300, 300), centre=(-0.2, 0.0, 0.0))
THRUST = Thrusters(
    [[-1.2, 0.2, 0], [-1.2, -0.2, 0]], [[1, 0, 0], [1, 0, 0.1]], lambda t: (60.0 + 30 * jnp.sin(t), 70.0)
)


def stream(t):
    return jnp.stack([0.5 + 0.3 * jnp.sin(1.3 * t), 0.2 * t, -0.1 * jnp.cos(t)])


def stream_and_slope(t):
    value = np.array([0.5 + 0.3 * np.sin(1.3 * t), 0.2 * t, -0.1 * np.cos(t)])
    return value, np.array([0.39 * np.cos(1.3 * t), 0.2, 0.1 * np.sin(t)])


def body(**options):
    return SubmergedBody.from_shape(HULL, 1000.0, DRY, gravity=DOWN, **options)


def start(system, **state):
    usual = {"R": TURNED, "x": (1.0, -2.0, 3.0), "Omega": (0.4, -0.2, 0.3), "v": (1.0, 0.3, -0.2)}
    return system.state(**usual | state)


def end_of(system, state, dt, steps, method=None):
    method = nd.Variational() if method is None else method
    return nd.simulate(system, state, t1=dt * steps, dt=dt, save_every=steps, method=method, engine="compiled").final


def coadjoint(xi, mu):
    return np.concatenate([np.cross(mu[:3], xi[:3]) + np.cross(mu[3:], xi[3:]), np.cross(mu[3:], xi[:3])])


def newton_and_euler(t, y):
    """The dry body by Newton and Euler, under the reaction of the water's own impulse, weight, buoyancy, drag and
    thrust; written for velocities, with nothing of the model but its data."""
    R, xi = y[:9].reshape(3, 3), y[12:]
    Omega, v = xi[:3], xi[3:]
    U, slope = stream_and_slope(t)
    mass, centre, _ = mass_properties(DRY)
    water, rate = R.T @ U, R.T @ slope - np.cross(Omega, R.T @ U)
    relative = xi - np.concatenate([np.zeros(3), water])
    weight, lift = mass * R.T @ DOWN, -1000.0 * HULL.volume * R.T @ (DOWN - slope)
    wrench = np.concatenate([np.cross(centre, weight) + np.cross(HULL.centre, lift), weight + lift])
    arm = np.array([-0.2, 0.0, 0.0])
    there = np.concatenate([Omega, relative[3:] + np.cross(Omega, arm)])
    drag = -np.array([9, 40, 40, 30, 80, 80]) * there - np.array([2, 60, 60, 20, 300, 300]) * np.abs(there) * there
    wrench += drag + np.concatenate([np.cross(arm, drag[3:]), np.zeros(3)])
    pushes = (60 + 30 * np.sin(t)) * np.array([1.0, 0, 0]), 70.0 * np.array([1.0, 0, 0.1]) / np.sqrt(1.01)
    for place, push in zip(([-1.2, 0.2, 0], [-1.2, -0.2, 0]), pushes, strict=True):
        wrench += np.concatenate([np.cross(place, push), push])
    right = coadjoint(xi, DRY @ xi) + coadjoint(relative, ADDED @ relative) + ADDED[:, 3:] @ rate + wrench
    skew = np.array([[0, -Omega[2], Omega[1]], [Omega[2], 0, -Omega[0]], [-Omega[1], Omega[0], 0]])
    return np.concatenate([(R @ skew).ravel(), R @ v, np.linalg.solve(DRY + ADDED, right)])


FORCED = body(current=stream, forces=(DRAG, THRUST))


@functools.cache
def exact():
    y = np.concatenate([TURNED.ravel(), [1.0, -2.0, 3.0, 0.4, -0.2, 0.3, 1.0, 0.3, -0.2]])
    return solve_ivp(newton_and_euler, (0.0, 1.0), y, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


def test_with_everything_its_equations_are_newtons_and_eulers():
    end = nd.diagnostics.reference(FORCED, start(FORCED), t1=1.0)
    np.testing.assert_allclose(end.g.R.ravel(), exact()[:9], atol=1e-11)
    np.testing.assert_allclose(end.g.x, exact()[9:12], atol=1e-11)
    np.testing.assert_allclose(FORCED.velocity(end.g, end.mu, 1.0), exact()[12:], atol=1e-11)


@pytest.mark.parametrize("method", [nd.Variational(), nd.Variational(nd.Exponential(), nd.Midpoint())])
def test_forces_leave_a_method_of_second_order_what_it_is(method):
    ends = [end_of(FORCED, start(FORCED), 1.0 / steps, steps, method) for steps in (80, 160)]
    coarse, fine = (
        (np.linalg.norm(end.g.R.ravel() - exact()[:9]), np.linalg.norm(end.g.x - exact()[9:12])) for end in ends
    )
    np.testing.assert_allclose(np.log2(coarse) - np.log2(fine), 2.0, atol=0.1)
    assert max(fine) < 1e-3


@pytest.mark.long
def test_smooth_forces_leave_a_method_of_fourth_order_what_it_is():
    """Without |v| v, which has a kink in its second derivative where a component changes sign."""
    smooth = body(current=stream, forces=(Drag(DRAG.linear, centre=DRAG.centre), THRUST))
    method = nd.VPRK("gauss2", nd.Exponential())
    measured = nd.diagnostics.convergence(smooth, method, start(smooth), t1=1.0, steps=(20, 40, 80))
    assert measured.order == pytest.approx(4.0, abs=0.1)


def test_momentum_is_in_balance_with_the_net_weight():
    """In still water p in space grows by h (m - m_d) gravity a step, exactly, and level momenta do not change."""
    still = body()
    run, finer = (nd.simulate(still, start(still), t1=5.0, dt=dt) for dt in (0.01, 0.005))
    net = (440.0 - 1000.0 * HULL.volume) * DOWN
    p = np.einsum("nij,nj->ni", run.states.g.R, run.states.mu[:, 3:])
    np.testing.assert_allclose(p - p[0], run.t.to_numpy()[:, None] * net, atol=1e-12 * np.linalg.norm(p[0]))
    assert nd.diagnostics.momentum_error(run).max() < 1e-12
    assert float(run.momentum[0, 0]) == pytest.approx(1093.0191779, rel=1e-9)  # about the vertical
    ratio = nd.diagnostics.energy_error(run).max() / nd.diagnostics.energy_error(finer).max()
    assert ratio == pytest.approx(4.0, rel=0.02)


@pytest.mark.long
def test_the_energy_does_not_drift_over_ten_million_steps():
    """A bottom-heavy neutral vehicle that swings and spins: the energy swings by 8e-4 of itself, without a slope. Over
    a million steps neighbouring motions, which are chaos, seem to have slopes of up to 5e-6, of both signs."""
    dry = rigid_inertia(1000.0 * HULL.volume, (30.0, 110.0, 115.0), HULL.centre + np.array([0.0, 0.0, 0.06]))
    swinging = SubmergedBody.from_shape(HULL, 1000.0, dry, gravity=DOWN)
    state, watched = start(swinging), {"energy": Energy(swinging)}
    run = nd.simulate(swinging, state, t1=1e5, dt=0.01, save_every=1_000_000, monitors=watched)
    energy, first = run.monitors["energy"], float(run.energy[0])
    assert abs(relative_drift(energy, 1e5, first)) < 3e-6
    assert (energy.max - energy.min) / first < 1e-3
    assert nd.diagnostics.momentum_error(run).max() < 1e-8  # kg m^2/s, of a body that goes 80 km


def test_a_homogeneous_body_of_the_waters_density_is_a_kirchhoff_body():
    free = KirchhoffBody.ellipsoid((8.0, 1.5, 2.0), density=1.0)
    heavy = SubmergedBody.from_shape(Ellipsoid((8.0, 1.5, 2.0)), 1.0, gravity=DOWN)
    motion = {"R": TURNED, "Omega": (0.2, 0.1, 0.5), "v": (1.0, 0.0, 0.0)}
    ends = [end_of(each, each.state(**motion), 0.01, 300) for each in (free, heavy)]
    np.testing.assert_allclose(ends[0].mu, ends[1].mu, rtol=1e-12)
    np.testing.assert_allclose(ends[0].g.R, ends[1].g.R, atol=1e-13)
    np.testing.assert_allclose(ends[0].g.x, ends[1].g.x, atol=1e-12)


def test_the_ellipsoid_of_the_thesis():
    found = np.diag(KirchhoffBody.ellipsoid((2.0, 1.0, 0.5), density=1.0).K)
    np.testing.assert_allclose(found, (1.4726, 7.0306, 4.7969, 4.7190, 5.8566, 10.5476), atol=5e-5)


def test_the_motion_does_not_depend_on_the_frame_of_description():
    """The same body seen from a point and axes of its own choice: g there is g here times the change of frame."""
    x, Q = np.array([0.3, -0.2, 0.5]), np.asarray(nd.SO3().random(np.random.default_rng(8)))
    here = body(forces=(DRAG,), current=(0.3, 0.1, 0.2))
    there = SubmergedBody(
        moved(here.dry, x=x, R=Q),
        moved(here.added, x=x, R=Q),
        displaced=here.displaced,
        buoyancy_centre=x + Q @ here.buoyancy_centre,
        gravity=DOWN,
        current=(0.3, 0.1, 0.2),
        forces=Drag(DRAG.linear, DRAG.quadratic, centre=x + Q @ DRAG.centre, R=Q),
    )
    state = start(here)
    xi = np.array([0.4, -0.2, 0.3, 1.0, 0.3, -0.2])
    R = TURNED @ Q.T
    moved_state = there.state(R=R, x=state.g.x - R @ x, Omega=Q @ xi[:3], v=Q @ xi[3:] + np.cross(x, Q @ xi[:3]))
    first = nd.diagnostics.reference(here, state, t1=2.0)
    second = nd.diagnostics.reference(there, moved_state, t1=2.0)
    np.testing.assert_allclose(second.g.R @ Q, first.g.R, atol=1e-10)
    np.testing.assert_allclose(second.g.x + second.g.R @ x, first.g.x, atol=1e-10)


def test_a_steady_current_carries_the_motion_of_still_water_along():
    U = np.array([0.7, -0.4, 0.2])
    still, flowing = body(forces=(DRAG, THRUST)), body(forces=(DRAG, THRUST), current=U)
    state = start(still)
    carried = start(flowing, v=np.array([1.0, 0.3, -0.2]) + TURNED.T @ U)
    first = nd.diagnostics.reference(still, state, t1=2.0)
    second = nd.diagnostics.reference(flowing, carried, t1=2.0)
    np.testing.assert_allclose(second.g.R, first.g.R, atol=1e-10)
    np.testing.assert_allclose(second.g.x - 2.0 * U, first.g.x, atol=1e-10)


def test_a_neutral_body_at_rest_in_the_water_stays_so_however_the_water_moves():
    """Its velocity is the water's, and its momentum K_dry (0, R^T U) grows as the water's velocity does."""
    neutral = SubmergedBody.from_shape(HULL, 1000.0, gravity=DOWN, current=stream, forces=DRAG)
    for t in (0.0, 1.7):
        U, slope = stream_and_slope(t)
        state = neutral.state(R=TURNED, x=(1.0, 2.0, 3.0), v=TURNED.T @ U, t=t)
        rates = neutral.equations(state, t)
        np.testing.assert_allclose(rates.xi, [0, 0, 0, *TURNED.T @ U], atol=1e-14)
        np.testing.assert_allclose(rates.mu, neutral.dry[:, 3:] @ TURNED.T @ slope, atol=1e-11)


def test_a_sphere_sinks_at_its_terminal_speed():
    ball = Sphere(0.1)
    dry = ball.inertia(2700.0)
    sinking = SubmergedBody.from_shape(ball, 1000.0, dry, gravity=DOWN, forces=Drag(quadratic=(1, 1, 1, 7, 7, 7)))
    end = end_of(sinking, sinking.state(), 0.02, 1000)
    speed = np.sqrt((2700.0 - 1000.0) * ball.volume * 9.81 / 7.0)
    np.testing.assert_allclose(sinking.velocity(end.g, end.mu), [0, 0, 0, 0, 0, speed], atol=1e-12)
    start_rates = sinking.equations(sinking.state())
    np.testing.assert_allclose(start_rates.mu, [0, 0, 0, 0, 0, 1700.0 * ball.volume * 9.81], atol=1e-13)


def test_thrust_against_linear_drag_gives_a_steady_speed_through_the_water():
    pushed = SubmergedBody.from_shape(
        Spheroid(1.0, 0.2),
        1000.0,
        gravity=DOWN,
        current=(0.0, 0.3, 0.0),
        forces=(Drag(linear=(5000, 5000, 5000, 40, 400, 400)), Thrusters((-1, 0, 0), (1, 0, 0), 60.0)),
    )
    end = end_of(pushed, pushed.state(v=(0.0, 0.3, 0.0)), 0.1, 2500)
    np.testing.assert_allclose(
        end.g.R @ np.asarray(pushed.velocity(end.g, end.mu, 250.0))[3:], (1.5, 0.3, 0.0), atol=1e-9
    )


def test_engines_agree():
    state = start(FORCED)
    runs = [nd.simulate(FORCED, state, t1=1.0, dt=0.02, engine=engine) for engine in ("compiled", "xla")]
    np.testing.assert_allclose(runs[0].final.mu, runs[1].final.mu, rtol=1e-11)
    np.testing.assert_allclose(runs[0].final.g.x, runs[1].final.g.x, atol=1e-12)


def test_forces_and_symmetry_are_there_only_where_they_are():
    still, flowing = body(), body(current=(0.1, 0.0, 0.0))
    assert still.force is None
    assert still.symmetry is not None
    assert flowing.symmetry is None
    assert FORCED.symmetry is None
    wrench = FORCED.external_force(Pose(np.eye(3), np.zeros(3)), np.zeros(6))
    assert wrench.dtype == float


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KirchhoffBody.ellipsoid((1.0, -1.0, 1.0), density=1.0), "axes = .*expected 3 finite numbers above 0"),
        (lambda: KirchhoffBody.ellipsoid((1.0, 1.0, 1.0), density=-1.0), "density = -1.0; expected"),
        (lambda: KirchhoffBody.from_matrix(np.diag([1, 1, 1, 1, 1, -1])), "K is not positive definite"),
        (lambda: KirchhoffBody.from_shape(EllipticCylinder(1.0, 2.0), 1.0), "expected a shape of space"),
        (lambda: KirchhoffBody.from_shape("torpedo", 1.0), "shape = 'torpedo'; expected a shape"),
        (lambda: KirchhoffBody.from_shape(HULL, 1000.0, DRY), "weight and buoyancy do not cancel. Take SubmergedBody"),
        (
            lambda: KirchhoffBody.from_shape(Sphere(1.0), 1.0, moved(Sphere(1.0).inertia(1.0), x=(0, 0, 0.01))),
            r"A mass of .* at \[0.0, 0.0, 0.01\] displaces",
        ),
        (lambda: SubmergedBody(np.eye(6), np.eye(6), displaced=-1.0, gravity=DOWN), "displaced = -1.0; expected"),
        (
            lambda: SubmergedBody(np.eye(6), -np.eye(6), displaced=1, gravity=DOWN),
            "added has the eigenvalue -1; the kinetic",
        ),
        (
            lambda: SubmergedBody(np.diag([1, 1, 1, 1, 1, 2]), np.eye(6), displaced=1, gravity=DOWN),
            "not that of a rigid",
        ),
        (
            lambda: SubmergedBody(
                rigid_inertia(1.0, (0, 0, 0)), Sphere(1.0).added_inertia(1.0), displaced=1, gravity=DOWN
            ),
            r"The inertia dry \+ added is not positive definite",
        ),
        (lambda: body(current=(1.0, 2.0)), r"current = \(1.0, 2.0\); expected 3 finite numbers, or a function of time"),
        (lambda: body(forces=4), "4 is no force"),
        (lambda: SubmergedBody.from_shape(HULL, 1000.0, gravity=9.81), "gravity = 9.81; expected 3 finite numbers"),
    ],
)
def test_bad_bodies_are_refused(make, message):
    with pytest.raises(nd.InputError, match=message):
        make()
