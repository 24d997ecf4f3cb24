"""Model predictive control."""

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError

BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def test_a_loop_with_one_iteration_a_sample_ends_where_the_plan_ends():
    """A horizon that moves along with a goal at its end comes to rest there, though the plant is heavier by a tenth,
    which without feedback would end 0.15 short."""
    goal = BODY.state(R=QUARTER)
    steer = nd.control.MPC(BODY, goal, 2.0, 10, bounds=6.0)
    plant = nd.models.RigidBody((1.1, 2.2, 3.3))
    run = steer.run(BODY.state(), 30, plant=plant, substeps=2)
    assert np.all(run.iterations[1:] == 1)
    assert np.abs(run.u).max() < 6.0
    assert np.abs(run.states.g[-1] - QUARTER).max() < 0.01
    assert np.abs(run.states.mu[-1]).max() < 0.05
    assert run.seconds.shape == (30,)
    assert run.missed.max() < 4e-3


def test_a_plan_that_cannot_reach_its_goal_says_by_how_much():
    """A quarter turn in 2 s takes more than a twentieth of a newton metre."""
    weak = nd.control.MPC(BODY, BODY.state(R=QUARTER), 2.0, 10, bounds=0.05)
    assert weak.run(BODY.state(), 3).missed.min() > 0.1


@pytest.mark.parametrize(
    "state", [None, np.zeros(3), nd.State(np.eye(3), np.zeros(2)), nd.State(np.eye(3), np.full(3, np.nan))]
)
def test_what_is_no_state_is_refused(state):
    steer = nd.control.MPC(BODY, BODY.state(R=QUARTER), 2.0, 10)
    with pytest.raises(InputError, match="expected a State of RigidBody of finite numbers"):
        steer(state)


class Cart(nd.LagrangianSystem):
    """A mass on a line that is pulled to and fro as time goes."""

    group = nd.Rn(1)

    def lagrangian(self, g, xi, t):
        return 0.5 * xi @ xi + 2.0 * jnp.sin(3.0 * t) * g[0]


def test_a_loop_follows_what_moves_in_time():
    """The horizon moves along with the clock: what is to be followed, and what pulls, are those of the time of a
    sample, also where the clock does not begin at zero."""
    cart = Cart()

    def cost(g, xi, u, t):
        return 50.0 * (g[0] - jnp.cos(t)) ** 2 + 1e-4 * u @ u

    steer = nd.control.MPC(cart, None, 1.0, 10, cost=cost)
    run = steer.run(cart.state(np.array([np.cos(2.0)]), np.array([-np.sin(2.0)])), 25, t0=2.0)
    np.testing.assert_allclose(run.t[[0, -1]], [2.0, 4.5])
    off = np.abs(run.states.g[:, 0] - np.cos(run.t))
    assert off.max() < 0.01
