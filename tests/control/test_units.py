"""Problems of any size: the same motions as in other units."""

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from tests.control.test_mpc import QUARTER

SMALL = 1e-6  # kg m^2, of something that lies in a hand
LARGE = 1e7  # of something that men live in


def body(size):
    return nd.models.RigidBody(J=size * np.array([1.0, 2.0, 3.0]))


def slow(g, xi, u, t):
    return jnp.stack([xi[2] - 1.1])


def turn(size, order, **options):
    system = body(size)
    options = {"bounds": 8.0 * size, "path": slow, **options}
    return nd.control.solve(system, system.state(), system.state(R=QUARTER), 2.0, 12, order=order, **options)


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_a_body_of_any_size_turns_as_one_of_a_kilogramme_does(size, order):
    plan, same = turn(1.0, order, tolerance=1e-10), turn(size, order, tolerance=1e-10)
    assert same.solved
    assert same.cost == pytest.approx(size**2 * plan.cost, rel=1e-6)
    assert same.history["cost"][-1] == same.cost
    close = {"rtol": 1e-4, "atol": 1e-4}
    np.testing.assert_allclose(same.states.g, plan.states.g, **close)
    np.testing.assert_allclose(same.states.mu / size, plan.states.mu, **close)
    np.testing.assert_allclose(same.u / size, plan.u, **close)
    np.testing.assert_allclose(same.costates.g / size**2, plan.costates.g, **close)
    np.testing.assert_allclose(same.costates.mu / size, plan.costates.mu, **close)
    np.testing.assert_allclose(same.path_multipliers / size**2, plan.path_multipliers, **close)
    np.testing.assert_allclose(np.array(same.bound_multipliers) / size, plan.bound_multipliers, **close)
    ends = np.array([size**2] * 3 + [size] * 3)
    np.testing.assert_allclose(same.end_multipliers / ends, plan.end_multipliers, **close)


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_a_guess_a_sensitivity_and_a_plan_carried_out_are_those_of_the_size(size):
    plan = turn(size, 2, path=None)
    again = turn(size, 2, path=None, guess=plan)
    assert again.solved
    assert again.iterations <= plan.iterations
    assert again.cost == pytest.approx(plan.cost, rel=1e-6)
    other = turn(1.2 * size, 4, path=None, guess=plan)
    assert other.solved
    assert other.cost == pytest.approx(turn(1.2 * size, 4, path=None).cost, rel=1e-6)
    change = nd.control.sensitivity(plan, lambda system, scale: system.replaced(J=scale[0] * system.J), (1.0,))
    assert change.cost[0] == pytest.approx(2.0 * plan.cost, rel=1e-4)
    np.testing.assert_allclose(change.u[0] / size, plan.u / size, atol=1e-3)
    np.testing.assert_allclose(change.mu[0] / size, plan.states.mu / size, atol=1e-3)
    follower = nd.control.steered(plan)
    run = nd.simulate(follower, plan.problem.system.state(), t1=2.0, dt=follower.length, method=follower.method)
    np.testing.assert_allclose(run.final.g, QUARTER, atol=1e-5)


@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_ends_and_starts_that_depend_on_parameters_are_those_of_the_size(size):
    """A cart of the mass m is thrown: the momentum with which it begins is unknown, that at the end costs."""

    class Cart(nd.LagrangianSystem):
        m: float
        group = nd.Rn(1)

        def lagrangian(self, x, v, t):
            return 0.5 * self.m * v @ v

    def thrown(m):
        return nd.control.solve(
            Cart(m),
            lambda theta: nd.State(jnp.zeros(1), m * theta),
            None,
            1.0,
            10,
            order=2,
            theta=(0.1,),
            ending=lambda state, t, theta: state.g - 1.0,
            end_cost=lambda state, t, theta: 0.5 * (state.mu @ state.mu + m**2 * theta @ theta),
        )

    plan, same = thrown(1.0), thrown(size)
    assert same.solved
    assert same.theta == pytest.approx(plan.theta, rel=1e-5)
    assert same.cost == pytest.approx(size**2 * plan.cost, rel=1e-6)


def test_a_loop_of_something_small_ends_where_it_should():
    small = body(SMALL)
    steer = nd.control.MPC(small, small.state(R=QUARTER), 2.0, 10, bounds=4.0 * SMALL)
    run = steer.run(small.state(), 30, plant=body(1.1 * SMALL), substeps=2)
    assert np.abs(run.states.g[-1] - QUARTER).max() < 0.01
    assert np.abs(run.u).max() < 4.0 * SMALL


@pytest.mark.parametrize("weight", [1e-8, 1e8])
def test_a_cost_in_any_unit_has_the_same_optimum(weight):
    class Weighed(nd.numerics.Module):
        weight: float

        def __call__(self, g, xi, u, t):
            return 0.5 * self.weight * u @ u

    plain, other = turn(1.0, 2), turn(1.0, 2, cost=Weighed(weight))
    assert other.solved
    assert other.cost / weight == pytest.approx(plain.cost, rel=1e-6)
    np.testing.assert_allclose(other.u, plain.u, atol=1e-3)


@pytest.mark.parametrize("order", [2, 4])
def test_controls_in_any_unit_have_the_same_effect(order):
    """Rotors whose torque grows with the square of their speed, a thousand turns a minute for one newton metre."""
    system = body(1.0)

    def driven(unit):
        def rotors(g, u, t):
            return (u / unit) * jnp.sqrt((u / unit) ** 2 + 1e-4)

        goal = system.state(R=QUARTER)
        return nd.control.solve(
            system, system.state(), goal, 2.0, 12, order=order, actuation=rotors, controls=3, bounds=2.5 * unit
        )

    plain, fast = driven(1.0), driven(1000.0)
    assert plain.solved
    assert fast.solved
    assert fast.cost == pytest.approx(1e6 * plain.cost, rel=1e-4)
    np.testing.assert_allclose(fast.u / 1000.0, plain.u, atol=0.01)


def test_what_a_small_body_cannot_reach_is_said():
    weak = turn(SMALL, 2, bounds=0.5 * SMALL, path=None)
    assert weak.status is nd.control.Status.INFEASIBLE
    assert "the goal's R[2] is missed by" in weak.message
