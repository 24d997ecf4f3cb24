"""The fish with torques: the corrected equations, what is conserved, energy balance, gaits, locking, release."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import make_interp_spline
from scipy.linalg import block_diag

import naiad as nd
from naiad.compiler import execute
from naiad.forces.signals import Constant
from naiad.groups.se2 import PlanarPose
from naiad.hydro import Ellipse, PlanarBodies
from naiad.locomotion import FORWARD, DrivenSwimmer, GivenGait, reconstruct, tabulated, three_link_fish
from naiad.locomotion.planar import homogeneous
from tests.locomotion.joint_equations import accelerations, pose, rates_of_change

NEUTRAL, ARM = 1.0 / np.pi, 12.0
MOMENTUM = np.array([100.0, 50.0, 20.0])
METHOD = nd.Composition(nd.Variational(quadrature=nd.Midpoint()), 4)
ADDED = PlanarBodies([Ellipse(10.0, 1.0)], NEUTRAL).added_inertia()
DRY = block_diag(*[NEUTRAL * homogeneous(Ellipse(10.0, 1.0))] * 3)


def pushed(theta, rates, t):
    xp = jnp if isinstance(theta, jax.Array) else np
    return 800.0 * xp.stack([xp.sin(t) - 0.3 * theta[0], xp.cos(2.0 * t) - 0.1 * rates[1]])


HINGES = {"torque": pushed, "stiffness": 500.0, "rest": (0.1, 0.2), "damping": (100.0, 50.0)}


def alone(theta):
    return DRY + block_diag(*[ADDED] * 3), np.zeros((2, 9, 9))


def coupled(theta):
    """M and dM/dtheta by boundary elements, the links placed by (7.1)."""
    bodies = PlanarBodies([Ellipse(10.0, 1.0)] * 3, NEUTRAL)
    places = np.array([pose(theta[0], 1.0, ARM), pose(theta[1], -1.0, ARM), np.zeros(3)])
    M, dM = bodies.added_inertia_with_derivative(places)
    slopes = [np.imag(pose(angle + 1e-30j, s, ARM)) / 1e-30 for angle, s in zip(theta, (1.0, -1.0), strict=True)]
    return DRY + M, np.stack([dM[:, :, a] @ slope for a, slope in enumerate(slopes)])


@pytest.fixture(scope="module")
def table():
    return tabulated(three_link_fish(density=NEUTRAL, coupled=True), -1.1, 1.1)


def swimmers(table):
    return {"alone": (three_link_fish(density=NEUTRAL), alone), "coupled": (table, coupled)}


def equations(system, state, t):
    return system.equations(state, t)


@pytest.mark.parametrize("hydro", ["alone", "coupled"])
def test_equations_are_those_of_the_paper_corrected(table, hydro):
    swimmer, inertia = swimmers(table)[hydro]
    system, rng = DrivenSwimmer(swimmer, torque=pushed), np.random.default_rng(3)
    for _ in range(3):
        theta, v = rng.uniform(-1.0, 1.0, 2), rng.standard_normal(5)
        state = system.start(theta, v[3:], xi=v[:3])
        rates = execute(equations, system, state, 0.7, parameters=(0,))
        K, slopes = swimmer.inertias_with_slopes(theta)
        change = np.linalg.solve(K[0], rates.mu - np.einsum("a,aij,j->i", v[3:], slopes[0], v))
        expected = accelerations(*inertia(theta), theta, v, pushed(theta, v[3:], 0.7), ARM)
        np.testing.assert_allclose(rates.xi, v, atol=1e-9)
        np.testing.assert_allclose(change, expected, rtol=0, atol=1e-7 if hydro == "coupled" else 1e-11)


def test_motion_against_another_integrator_of_the_papers_equations():
    system = DrivenSwimmer(three_link_fish(density=NEUTRAL), torque=pushed)
    state = system.start(
        (0.6, -0.4), (0.3, 0.5), momentum=MOMENTUM, pose=PlanarPose(np.array(0.4), np.array([2.0, 1.0]))
    )
    v = np.asarray(system.velocity(state.g, state.mu))
    start = np.concatenate([[0.4, 2.0, 1.0], [0.6, -0.4], v])
    exact = solve_ivp(rates_of_change(alone, pushed, ARM), (0.0, 3.0), start, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    run = nd.simulate(system, state, t1=3.0, dt=0.005, method=METHOD)
    found = np.concatenate([[run.final.g.g.beta], run.final.g.g.x, run.final.g.theta, run.xi.to_numpy()[-1]])
    np.testing.assert_allclose(found, exact, rtol=0, atol=2e-9)
    np.testing.assert_allclose(run.momentum, np.tile(MOMENTUM, (601, 1)), rtol=0, atol=1e-10)


def test_momentum_over_many_steps_whatever_the_hinges_do():
    system = DrivenSwimmer(three_link_fish(density=NEUTRAL), **HINGES)
    for J in (MOMENTUM, np.zeros(3)):
        run = nd.simulate(system, system.start((0.5, 0.2), (0.2, 0.0), momentum=J), t1=200.0, dt=0.01, method=METHOD)
        assert not run.outcome.failed
        assert np.max(np.abs(run.momentum.to_numpy() - J)) < 1e-8  # torques of 800, places of 100 m, 20000 steps
        assert np.max(np.abs(run.momentum.to_numpy()[:, 1:] - J[1:])) < 1e-9


def test_energy_changes_by_the_work_of_the_torques_less_what_the_dampers_take():
    system = DrivenSwimmer(three_link_fish(density=NEUTRAL), **HINGES)
    run = nd.simulate(system, system.start((0.5, 0.2), momentum=MOMENTUM), t1=4.0, dt=0.01, method=METHOD)
    power = run.evaluate(nd.double(system.power))
    driven, damped = make_interp_spline(run.t.to_numpy(), power, 7).antiderivative()(4.0)
    assert driven - damped == pytest.approx(float(run.energy[-1] - run.energy[0]), abs=1e-7)
    assert abs(driven) > 50.0
    assert damped > 10.0


def torques_of(swimmer, gait):
    """The torques that make a fish follow a gait from rest, from K and its slopes alone."""

    def momenta(t):
        shape = gait.motion(t)
        K = swimmer.inertia(shape.theta)
        xi = nd.numerics.solve(K[:3, :3], -K[:3, 3:] @ shape.rates)
        v = jnp.concatenate([xi, shape.rates])
        slope = jax.grad(lambda theta: 0.5 * v @ swimmer.inertia(theta) @ v)(shape.theta)
        return K[3:] @ v, slope

    def torque(t):
        (_, slope), (change, _) = jax.jvp(momenta, (jnp.asarray(t, float),), (jnp.ones(()),))
        return change - slope  # d/dt of the momentum of the angles, less dT/dtheta

    return torque


@pytest.mark.parametrize(
    ("hydro", "expected"),
    [
        ("alone", (0.0, 18.7740855457, -5.6133635601)),
        pytest.param("coupled", None, marks=pytest.mark.long),
    ],
)
def test_torques_of_a_gait_make_the_motion_of_the_gait(table, hydro, expected):
    swimmer = swimmers(table)[hydro][0]
    torque = torques_of(swimmer, FORWARD)
    if hydro == "alone":
        np.testing.assert_allclose(nd.double(torque)(1.0), (4462.3868215905, -4824.3342998776), rtol=0, atol=1e-8)
    system = DrivenSwimmer(swimmer, torque=torque)
    first = FORWARD.motion(0.0)
    run = nd.simulate(
        system, system.start(first.theta, first.rates), t1=2.0 * np.pi, dt=2.0 * np.pi / 1000, method=METHOD
    )
    gait = reconstruct(swimmer, FORWARD, [0.0, 2.0 * np.pi])
    pose = np.array([run.final.g.g.beta, *run.final.g.g.x])
    np.testing.assert_allclose(pose, [gait.g.beta[-1], *gait.g.x[-1]], rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.final.g.theta, first.theta, rtol=0, atol=1e-7)
    if expected is not None:
        np.testing.assert_allclose(pose, expected, rtol=0, atol=1e-6)


def test_locking_the_shape_stops_a_fish_that_began_at_rest():
    fish = three_link_fish(density=NEUTRAL)
    moving = fish.start((0.5, -0.8), (1.0, 0.7))
    assert np.linalg.norm(fish.velocity(moving.g, moving.mu)[:3]) > 1.0
    stopped = fish.locked(moving)
    np.testing.assert_allclose(fish.velocity(stopped.g, stopped.mu), np.zeros(5), atol=1e-14)


def test_locking_keeps_the_momentum_and_loses_energy():
    fish = three_link_fish(density=NEUTRAL)
    pose = PlanarPose(np.array(0.7), np.array([3.0, -2.0]))
    moving = fish.start((0.5, -0.8), (1.0, 0.7), momentum=MOMENTUM, pose=pose)
    locked = fish.locked(moving)
    np.testing.assert_allclose(fish.noether(moving), MOMENTUM, rtol=1e-13)
    np.testing.assert_allclose(fish.noether(locked), MOMENTUM, rtol=1e-13)
    velocity = np.asarray(fish.velocity(locked.g, locked.mu))
    np.testing.assert_allclose(velocity[3:], 0.0, atol=1e-14)
    still = GivenGait(lambda t: jnp.array([0.5, -0.8]) + 0.0 * t)
    on = reconstruct(fish, still, [0.0, 1.0], start=pose, momentum=MOMENTUM)
    np.testing.assert_allclose(velocity[:3], on.xi[0], atol=1e-12)
    assert float(fish.energy(locked)) < float(fish.energy(moving))


def test_free_hinges_keep_energy_and_a_fish_at_rest_stays_there():
    system = DrivenSwimmer(three_link_fish(density=NEUTRAL), torque=pushed).released()
    assert system.force is None
    rest = nd.simulate(system, system.start((0.5, -0.8)), t1=1.0, dt=0.01, method=METHOD)
    np.testing.assert_allclose(rest.final.g.theta, (0.5, -0.8), atol=1e-15)
    run = nd.simulate(system, system.start((0.5, -0.8), (0.2, 0.3), momentum=MOMENTUM), t1=20.0, dt=0.02, method=METHOD)
    assert np.ptp(run.energy.to_numpy()) < 1e-8 * float(run.energy[0])


def test_torques_may_be_numbers_or_functions_of_time_or_of_the_shape():
    fish = three_link_fish(density=NEUTRAL)
    at = (np.array([0.3, 0.1]), np.array([1.0, 2.0]), 0.5)
    for given, expected in (
        ((3.0, 4.0), (3.0, 4.0)),
        (Constant(np.array([3.0, 4.0])), (3.0, 4.0)),
        (lambda t: (t, 2.0 * t), (0.5, 1.0)),
        (lambda theta, rates, t: theta * t - rates, (-0.85, -1.95)),
    ):
        torque = DrivenSwimmer(fish, torque=given).torque
        assert torque is not None
        np.testing.assert_allclose(nd.double(torque)(*at), expected, rtol=1e-15)


def test_states_from_velocity_and_momentum_agree():
    fish, pose = three_link_fish(density=NEUTRAL), PlanarPose(np.array(0.7), np.array([3.0, -2.0]))
    one = fish.start((0.5, -0.8), (1.0, 0.7), momentum=MOMENTUM, pose=pose)
    xi = np.asarray(fish.velocity(one.g, one.mu))
    np.testing.assert_allclose(xi[3:], (1.0, 0.7), rtol=1e-13)
    other = fish.start((0.5, -0.8), (1.0, 0.7), xi=xi[:3], pose=pose)
    np.testing.assert_allclose(one.mu, other.mu, rtol=0, atol=1e-12 * np.abs(one.mu).max())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda fish: DrivenSwimmer(three_link_fish(coupled=True)), "tabulated"),
        (lambda fish: DrivenSwimmer(fish, torque=(1.0, 2.0, 3.0)), "expected 2 finite numbers"),
        (lambda fish: DrivenSwimmer(fish, torque=lambda a, b: a), "of t or of"),
        (lambda fish: DrivenSwimmer(fish, torque=lambda a, b, t: t), "expected \\(2,\\)"),
        (lambda fish: DrivenSwimmer(fish, stiffness=-1.0), "stiffness"),
        (lambda fish: DrivenSwimmer(fish, rest=(1.0, 2.0, 3.0)), "rest"),
        (lambda fish: fish.start(rates=(1.0,)), "rates"),
        (lambda fish: fish.start(momentum=(1.0, 0.0, 0.0), xi=(1.0, 0.0, 0.0)), "both momentum and xi"),
    ],
)
def test_input(make, words):
    with pytest.raises(nd.InputError, match=words):
        make(three_link_fish())
