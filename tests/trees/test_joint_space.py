"""Trees in the coordinates of their joints: the bodies' own energies, velocities and forces."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError
from naiad.mechanics import left_velocity
from naiad.trees import JointSpace
from tests.trees.trees import Bodies, DampedBodies, mixed_tree


@pytest.fixture(params=["free", "pinned", "hinge"])
def space(request):
    """Eight bodies with balls, hinges and welds, and every kind of root."""
    return JointSpace(DampedBodies(mixed_tree(root=request.param), 0.7))


def random_motion(space, seed=5):
    rng = np.random.default_rng(seed)
    return space.group.random(rng), rng.normal(size=space.group.dim)


def test_a_motion_of_the_joints_is_one_of_the_bodies_that_the_joints_allow(space):
    g, xi = random_motion(space)
    with jax.enable_x64(True):
        whole, velocity = space.spread(g, xi)
        tree = space.bodies.tree
        ahead = left_velocity(
            tree.group, lambda s: space.spread(space.group.compose(g, space.group.exp(s * xi)), xi)[0]
        )
        assert np.allclose(velocity, ahead, atol=1e-12)
        assert np.allclose(tree.constraint(whole), 0.0, atol=1e-14)
        assert np.allclose(space.bodies.constraint_rate(whole, velocity, 0.0), 0.0, atol=1e-12)
        freedoms = 6 if not tree.pinned else 3 if tree.joints[0] == "pinned" else 1
        assert space.group.dim == freedoms + 4 + 3  # four hinges and a ball joint


def test_forces_have_the_power_that_they_have_on_the_bodies(space):
    g, xi = random_motion(space)
    other = np.random.default_rng(6).normal(size=space.group.dim)
    with jax.enable_x64(True):
        acting = space.bodies.force(*space.spread(g, xi), 0.3)
        power = acting @ space.spread(g, other)[1]
        assert np.allclose(space.force(g, xi, 0.3) @ other, power, rtol=1e-12)


def pendulum(**about):
    rods = nd.Tree(
        (-1, 0),
        J=[(0.1, 0.08, 0.01), (0.2, 0.15, 0.01)],
        M=[(1, 1, 1), (2, 2, 2)],
        own=((0, 0, 0.5), (0, 0, 0.4)),
        other=((0.1, 0, 0), (0, 0, -0.5)),
        joints="hinge",
        root="hinge",
        axis=(0, 1, 0),
    )
    return nd.models.ConnectedBodies(rods, weight=nd.models.Weight((0, 0, -9.81), (1.0, 2.0)), **about)


def test_a_double_pendulum_moves_as_its_bodies_do():
    """Against the constrained equations of the absolute attitudes, at a state."""
    bodies = pendulum(damping=0.3)
    arm = JointSpace(bodies)
    q, v = np.array([0.7, -1.1]), np.array([0.4, 1.3])
    state = bodies.joint_state(turns=q[:, None] * (0, 1, 0), rates=v[:, None] * (0, 1, 0))
    with jax.enable_x64(True):
        own = arm.state(q=q, q_v=v)
        assert np.allclose(arm.unreduced(own).mu, state.mu, rtol=1e-13)
        assert np.allclose(arm.energy(own), bodies.energy(state), rtol=1e-13)
        rates = arm.equations(own)
        frame = jax.jacfwd(lambda v: arm.spread(own.g, v)[1])(jnp.asarray(v))

        def momenta(s):
            moved = arm.group.compose(own.g, arm.group.exp(s * rates.xi))
            return arm.unreduced(nd.State(moved, own.mu + s * rates.mu)).mu

        change = jax.jvp(momenta, (0.0,), (1.0,))[1]
        wanted = bodies.equations(state).mu
        assert np.allclose(frame.T @ change, frame.T @ wanted, rtol=1e-10)  # multipliers do no work


def test_the_momentum_about_the_axis_of_the_root_is_conserved():
    bodies = Bodies(pendulum().tree)
    state = bodies.state(R_Omega=((0, 0.7, 0), (0, -1.5, 0)))
    run = nd.simulate(bodies, state, t1=1.0, dt=0.02)
    assert np.max(np.abs(np.asarray(run.final.g.R)[1] - np.eye(3))) > 0.5
    assert nd.diagnostics.momentum_error(run).max() < 1e-13


def test_directions_of_torques():
    arm = JointSpace(pendulum())
    assert np.array_equal(arm.torques(1), [[0.0], [1.0]])
    assert np.array_equal(arm.torques(1, 0), [[0.0, 1.0], [1.0, 0.0]])
    mixed = JointSpace(Bodies(mixed_tree()))
    assert mixed.torques(2).shape == (13, 3)
    for wrong in ((0,), (3,), (8,), (1, 1), ()):
        with pytest.raises(InputError, match="torques"):
            mixed.torques(*wrong)
