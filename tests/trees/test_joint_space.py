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
        M=(1, 2),
        own=((0, 0, 0.5), (0, 0, 0.4)),
        other=((0.1, 0, 0), (0, 0, -0.5)),
        joints="hinge",
        root="hinge",
        axis=(0, 1, 0),
    )
    return nd.models.ConnectedBodies(rods, weight=nd.models.Weight((0, 0, -9.81), (1.0, 2.0)), **about)


def test_a_double_pendulum_has_the_energy_and_the_momenta_of_its_bodies():
    bodies = pendulum()
    arm = JointSpace(bodies)
    q, v = np.array([0.7, -1.1]), np.array([0.4, 1.3])
    state = bodies.joint_state(turns=q[:, None] * (0, 1, 0), rates=v[:, None] * (0, 1, 0))
    own = arm.state(q=q, q_v=v)
    with jax.enable_x64(True):
        whole, velocity = arm.spread(own.g, jnp.asarray(v))
        frame = np.stack([arm.spread(own.g, axis)[1] for axis in jnp.eye(2)], axis=1)
        assert np.allclose(whole.R, state.g.R, atol=1e-14)
        assert np.allclose(own.mu, frame.T @ state.mu, rtol=1e-13)
        energy = velocity @ state.mu - bodies.lagrangian(whole, velocity, 0.0)
        assert np.allclose(own.mu @ v - arm.lagrangian(own.g, jnp.asarray(v), 0.0), energy, rtol=1e-13)


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


@pytest.mark.parametrize("damping", [0.3, pytest.param(None, marks=pytest.mark.long)])
@pytest.mark.parametrize("rule", [nd.Trapezoid(), pytest.param(nd.Midpoint(), marks=pytest.mark.long)], ids=str)
def test_a_step_in_the_joints_is_that_of_the_tree(rule, damping):
    """Two discretisations with nothing in common but the nodes: absolute attitudes with constraints, in sweeps, and
    joints, dense."""
    bodies = pendulum(damping=damping)
    arm = JointSpace(bodies)
    start = arm.state(q=(0.7, -1.1), q_v=(0.4, 1.3))
    dense = nd.simulate(arm, start, t1=0.4, dt=0.04, method=nd.Variational(rule=rule), progress=False).final
    swept = nd.simulate(
        bodies, arm.unreduced(start), t1=0.4, dt=0.04, method=nd.TreeVariational(rule=rule), progress=False
    ).final
    with jax.enable_x64(True):
        assert np.allclose(arm.placed(dense.g).R, swept.g.R, atol=1e-13)
    assert np.abs(dense.g.q - start.g.q).max() > 0.3
