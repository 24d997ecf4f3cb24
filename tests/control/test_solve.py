"""Optimal control against closed forms and against Pontryagin's equations, converged by shooting elsewhere."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.control.derivatives import derivatives
from naiad.control.doors import limits
from naiad.errors import InputError

UNIT = nd.models.RigidBody((1.0, 1.0, 1.0))
BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
AXIS = np.ones(3) / np.sqrt(3.0)
BODY_COST = 11.383254610319  # rest to rest, 2 rad about (1, 1, 1) in 2 s


def turned(body, angle, axis):
    with jax.enable_x64(True):
        return body.state(R=np.asarray(body.group.exp(angle * jnp.asarray(axis))))


def turn(order, N, **options):
    return nd.control.solve(BODY, BODY.state(), turned(BODY, 2.0, AXIS), 2.0, N, order=order, **options)


@pytest.mark.parametrize(("order", "closest"), [(2, 5e-3), (4, 1e-7)])
def test_least_effort_of_a_sphere_has_its_closed_form(order, closest):
    body = nd.models.RigidBody((2.0, 2.0, 2.0))
    goal, exact = turned(body, 1.5, AXIS), 6.0 * 2.0**2 * 1.5**2 / 3.0**3
    errors = [nd.control.solve(body, body.state(), goal, 3.0, N, order=order).cost - exact for N in (16, 32)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)
    assert 0 < errors[1] < closest * exact


@pytest.mark.parametrize(("order", "closest"), [(2, 7e-3), (4, 4e-7), (6, 2e-10)])
def test_the_optimal_cost_has_its_order_and_an_estimate_of_its_error(order, closest):
    found = turn(order, 32, estimate=True, tolerance=1e-10)
    error = abs(found.cost - BODY_COST)
    assert found.solved
    assert error < closest * BODY_COST
    assert 1 / 3 < found.error_estimate / error < 3


def test_a_plan_is_a_motion_of_the_simulator():
    """The controls of each step, held, lead a simulation along the nodes of the plan."""
    found = turn(2, 8)
    state = BODY.state()
    for k in range(8):
        driven = nd.control.Actuated(BODY, found.u[k, 0])
        state = nd.simulate(driven, state, t1=0.25, dt=0.25, method=nd.Variational()).final
        np.testing.assert_allclose(state.g, found.states.g[k + 1], atol=1e-7)
        np.testing.assert_allclose(state.mu, found.states.mu[k + 1], atol=1e-7)


def test_bounds_of_two_controls_that_can_be_read_in_two_ways_are_refused():
    for bounds in ((1.0, 2.0), [0.25, 3.0]):
        with pytest.raises(InputError, match=r"bounds = .* can be read in two ways: both are from .* Give \(\("):
            limits("bounds", bounds, 2)
    low, high = np.array([(-1.0, -1.0), (0.0, 0.0), (-1.0, -2.0)]), np.array([(2.0, 2.0), (1.0, 1.0), (1.0, 2.0)])
    given = ((-1.0, 2.0), (0.0, 1.0), ((-1.0, -2.0), (1.0, 2.0)))
    for bounds, *expected in zip(given, low, high, strict=True):
        np.testing.assert_array_equal(limits("bounds", bounds, 2), expected)


def test_bounds_are_kept_and_cost():
    found = turn(2, 16, bounds=4.0)
    assert found.solved
    assert np.abs(found.u).max() < 4.0
    assert found.iterations <= 12
    free = turn(2, 16)
    assert found.cost > 1.01 * free.cost
    low, high = found.bound_multipliers
    assert low.min() > 0
    assert high.max() > 0.01  # the bound is felt


def test_an_obstacle_is_kept_out_of():
    """A free particle that must go around a circle."""

    class Particle(nd.LagrangianSystem):
        group = nd.Rn(2)

        def lagrangian(self, x, v, t):
            return 0.5 * v @ v

    def path(g, xi, u, t):
        away = g - jnp.array([0.5, 0.05])
        return jnp.reshape(0.04 - away @ away, (1,))

    particle = Particle()
    start, goal = particle.state(q=(0.0, 0.0)), particle.state(q=(1.0, 0.0))
    straight = nd.control.solve(particle, start, goal, 1.0, 20, order=2)
    around = nd.control.solve(particle, start, goal, 1.0, 20, order=2, path=path)
    assert straight.cost == pytest.approx(6.0, rel=5e-3)
    assert around.solved
    away = np.linalg.norm(around.states.g - np.array([0.5, 0.05]), axis=1)
    assert away[:-1].min() == pytest.approx(0.2, abs=1e-6)
    assert around.cost > 1.05 * straight.cost


def test_least_time_is_found_off_the_axis():
    """90 degrees about the third axis with torques up to 1: 2.42111655250962 s, about the axis alone 2.5066."""
    goal = turned(UNIT, np.pi / 2, (0.0, 0.0, 1.0))
    options = {"bounds": 1.0, "cost": nd.control.elapsed, "free_time": True, "order": 2, "tolerance": 1e-7}
    alone = nd.control.solve(UNIT, UNIT.state(), goal, 2.5, 50, **options)
    best = nd.control.solve(UNIT, UNIT.state(), goal, 2.5, 50, starts=4, **options)
    fine = nd.control.solve(UNIT, UNIT.state(), goal, 2.5, 200, guess=best, **options)
    assert pytest.approx(np.sqrt(2.0 * np.pi), rel=1e-3) == alone.T
    assert abs(fine.T - 2.42111655250962) < 1e-4
    assert fine.cost == pytest.approx(fine.T, rel=1e-9)
    assert np.mean(np.abs(fine.u) > 0.99) > 0.95  # bang-bang


@pytest.mark.parametrize(("order", "N", "closest"), [(2, 200, 1e-4), (4, 50, 1e-4)])
def test_least_fuel_is_a_push_and_a_brake(order, N, closest):
    """A radian in 3 s, torques up to 1: as long as tau (T - tau) = 1 says."""
    found = nd.control.solve(
        UNIT, UNIT.state(), turned(UNIT, 1.0, np.array([0.0, 0.0, 1.0])), 3.0, N, order=order,
        actuation=lambda g, u, t: u[:3] - u[3:], controls=6, cost=lambda g, xi, u, t: jnp.sum(u), bounds=(0.0, 1.0),
    )  # fmt: skip
    assert found.solved
    assert 0 < found.cost - (3.0 - np.sqrt(5.0)) < closest


def test_a_solution_begins_another():
    cold = turn(2, 16)
    warm = turn(2, 24, guess=cold)
    assert warm.solved
    assert warm.iterations <= cold.iterations
    assert warm.cost == pytest.approx(turn(2, 24).cost, rel=1e-9)


def test_many_problems_run_together_and_equal_their_single_runs():
    rng = np.random.default_rng(3)
    goals = [turned(BODY, rng.uniform(0.2, 2.5), axis / np.linalg.norm(axis)) for axis in rng.standard_normal((9, 3))]
    found = nd.control.solve_many(BODY, [BODY.state()] * 9, goals, 2.0, 12, order=2)
    assert all(each.solved for each in found)
    alone = nd.control.solve(BODY, BODY.state(), goals[4], 2.0, 12, order=2)
    assert found[4].cost == pytest.approx(alone.cost, rel=1e-12)
    assert found[4].iterations == alone.iterations


def test_costates_are_the_slopes_of_the_optimal_cost():
    """d cost / d (momentum of the goal) is minus the multiplier of that condition."""
    found = turn(2, 12)
    n, change = 3, 1e-5
    costs = []
    for sign in (-1.0, 1.0):
        goal = turned(BODY, 2.0, AXIS)
        goal = goal._replace(mu=goal.mu + sign * change * np.eye(n)[1])
        costs.append(nd.control.solve(BODY, BODY.state(), goal, 2.0, 12, order=2, tolerance=1e-10).cost)
    assert (costs[1] - costs[0]) / (2 * change) == pytest.approx(-found.end_multipliers[n + 1], rel=1e-4)


def test_what_cannot_be_is_said_in_a_line():
    weak = turn(2, 16, bounds=1.0)
    assert weak.status is nd.control.Status.INFEASIBLE
    assert "the goal's" in weak.message
    assert "wider bounds" in weak.message
    assert "\n" not in weak.message
    aside = nd.control.solve(
        BODY, BODY.state(), turned(BODY, 1.0, (1.0, 0.0, 0.0)), 2.0, 8, order=2, actuation=[[0.0], [0.0], [1.0]]
    )
    assert aside.status is nd.control.Status.INFEASIBLE
    assert "no control moves" in aside.message


class Toppling(nd.LagrangianSystem):
    """Of two freedoms one is so unstable that a step magnifies by far."""

    group = nd.Rn(2)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v + 2e3 * q[0] ** 2


def test_where_everything_is_actuated_nothing_is_said_to_be_out_of_reach():
    system = Toppling()
    weak = nd.control.solve(system, system.state(), system.state(q=(0.5, 0.5)), 4.0, 60, order=2, bounds=0.01)
    assert weak.status is nd.control.Status.INFEASIBLE
    assert "wider bounds" in weak.message


def test_of_the_directions_in_which_nothing_acts_the_one_is_named_that_is_missed():
    still = nd.control.solve(
        BODY, BODY.state(), turned(BODY, 1.0, (0.0, 0.0, 1.0)), 2.0, 8, order=2, actuation=np.zeros((3, 1))
    )
    assert "the goal's R[2] is missed by 1.09; no control moves R[2] there" in still.message
    few = turn(2, 1)
    assert "6 conditions are more than the 3 numbers that are free: take more steps" in few.message


def test_too_few_iterations_are_not_called_infeasible():
    short = turn(2, 12, iterations=1)
    assert short.status is nd.control.Status.LIMIT
    assert short.iterations == 2  # two attempts
    assert "is missed by" in short.message


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cost": lambda g, xi, u, t: jnp.nan * u @ u}, "the cost is no number"),
        ({"cost": lambda g, xi, u, t: jnp.sqrt(u @ u)}, "a derivative is no number"),
        ({"path": lambda g, xi, u, t: jnp.stack([jnp.nan * u[0]])}, r"path\[0\] in step 0 of 4 is no number"),
        ({"cost": lambda g, xi, u, t: -u @ u}, "there may be no least one"),
    ],
)
def test_numbers_that_are_none_are_not_called_infeasible(options, words):
    lost = turn(2, 4, **options)
    assert lost.status in (nd.control.Status.STALLED, nd.control.Status.LIMIT)
    assert re.search(words, lost.message), lost.message


@pytest.mark.parametrize("options", [{}, {"times": (0.5, 1e6)}])
def test_a_free_duration_that_runs_away_is_told(options):
    """Effort alone falls with the duration: there is no least one."""
    away = turn(2, 8, free_time=True, **options)
    assert away.T > 100.0 * turn(2, 8).T
    assert "the cost may fall with the duration for ever; bound it (times)" in away.message
    kept = turn(2, 8, free_time=True, times=(0.5, 10.0))
    assert (kept.solved, kept.message) == (True, "")
    timed = turn(2, 8, free_time=True, cost=lambda g, xi, u, t: 1.0 + u @ u)
    assert (timed.solved, timed.message) == (True, "")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bounds": (1.0, -1.0)}, "the lower bound 1 of number 0 is not below the upper one, -1"),
        ({"bounds": (0.0, 1.0, 2.0, 3.0)}, "expected a number b"),
        ({"actuation": np.ones((2, 1))}, "actuation has 2 rows; expected 3"),
        ({"actuation": lambda g, u, t: u[:2], "controls": 3}, r"actuation gives float64\[2\]; expected an array of"),
        ({"actuation": lambda g, u, t: u}, "needs controls="),
        ({"cost": lambda g, xi, u, t: u}, r"cost gives float64\[3\]; expected one real number"),
        ({"cost": lambda g: 0.0}, "cost failed"),
        ({"path": lambda g, xi, u, t: u[0]}, "expected a vector"),
        ({"path": lambda g, xi, u, t: [u[0]]}, r"path gives a list; expected an array: jnp.stack"),
        ({"cost": lambda g, xi, u, t: jnp.sum(u).astype(jnp.float32)}, r"cost gives float32\[\]"),
        ({"actuation": np.eye(3), "controls": 2}, "controls = 2, but actuation has 3 columns"),
        ({"times": (1.0, 3.0)}, "give free_time=True with them"),
        ({"order": 3}, "order = 3; expected one of 2, 4, 6"),
        ({"method": nd.RK4()}, "control takes Variational"),
        ({"free_time": True, "times": (3.0, 4.0)}, "is not between the times"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"starts": 0}, "starts = 0"),
    ],
)
def test_bad_problems_are_refused(options, words):
    with pytest.raises(InputError, match=words) as caught:
        turn(2, 8, **options) if "order" not in options else turn(options.pop("order"), 8, **options)
    assert "\n" not in str(caught.value)


def test_derivatives_are_those_of_jax():
    def function(z, y):
        return jnp.sin(z[0]) * z[1] ** 2 + y @ jnp.stack([z[0] * z[1], jnp.exp(z[1])])

    with jax.enable_x64(True):
        z, y = jnp.array([0.3, -0.7]), jnp.array([0.2, 1.1])
        found = derivatives(function, z, y, 0.5)
        np.testing.assert_allclose(found.second, jax.hessian(function)(z, 0.5 * y), rtol=1e-13)
        np.testing.assert_allclose(found.first, jax.jacobian(jax.grad(function, 1))(z, y).T, rtol=1e-13)
        np.testing.assert_allclose(found.slope, jax.grad(function)(z, 0.0 * y), rtol=1e-13)
        np.testing.assert_allclose(found.equations, jax.grad(function, 1)(z, y), rtol=1e-13)


@pytest.mark.long
def test_a_saddle_is_left():
    """A docking for which the geodesic leads near a saddle, where steps without curvature get nowhere."""
    body = nd.models.KirchhoffBody((0.5, 1.5, 1.2), (1.0, 2.0, 1.6))
    with jax.enable_x64(True):
        R = np.asarray(nd.SO3().exp(jnp.array((-1.8064, -0.2706, -1.0847))))
    goal = body.state(R=R, x=(0.6793, 4.3024, 3.9326))
    start = body.state(xi=(0.2559, -0.3879, -0.6560, -0.1153, 0.0819, 0.0939))
    found = nd.control.solve(body, start, goal, 5.0, 32, order=2, iterations=60)
    assert found.solved
    assert found.cost == pytest.approx(3.85638, rel=1e-5)  # 4.03 at the saddle


@pytest.mark.long
def test_nearly_all_of_many_random_problems_are_solved():
    """Docking from moving starts to random poses: all are solved with torques and forces, and with wide bounds."""
    rng, count = np.random.default_rng(5), 1000
    body = nd.models.KirchhoffBody((0.5, 1.5, 1.2), (1.0, 2.0, 1.6))
    turns = [np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(count)]
    goals = [body.state(R=Q * np.sign(np.linalg.det(Q)), x=3.0 * rng.standard_normal(3)) for Q in turns]
    starts = [body.state(xi=0.3 * rng.standard_normal(6)) for _ in range(count)]
    for options, least in (({}, 1.0), ({"bounds": 3.0}, 1.0), ({"actuation": np.eye(6)[:, :4]}, 0.99)):
        found = nd.control.solve_many(body, starts, goals, 5.0, 32, order=2, **options)
        assert np.mean([each.solved for each in found]) >= least, options


def test_a_state_that_was_sound_is_looked_at_again_when_a_number_in_it_has_changed():
    """States that were checked are remembered by their numbers, not as the objects that they are."""
    goal = BODY.state(R=np.array(turned(BODY, 1.0, AXIS).g))
    again = nd.control.solve(BODY, BODY.state(), goal, 2.0, 8, order=2)
    assert again.cost == nd.control.solve(BODY, BODY.state(), goal, 2.0, 8, order=2).cost
    goal.g[0, 0] += 1e-3
    with pytest.raises(InputError, match="goal: The configuration is off the group"):
        nd.control.solve(BODY, BODY.state(), goal, 2.0, 8, order=2)
    goal.g[0, 0] = np.nan
    with pytest.raises(InputError, match="goal: The state holds NaN"):
        nd.control.solve(BODY, BODY.state(), goal, 2.0, 8, order=2)


def test_a_seed_that_is_negative_is_refused_with_one_start_too():
    with pytest.raises(InputError, match="seed = -1"):
        turn(2, 8, seed=-1)
