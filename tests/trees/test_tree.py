"""Trees of bodies: kinematics and inertia against autodiff, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.compiler import execute
from naiad.trees import Tree, motion
from tests.trees.trees import EIGHT, FIVE, Bodies, HeavyBodies, mixed_tree, random_state, random_tree


@pytest.mark.parametrize("root", ["free", "pinned"])
def test_kinematics(root):
    tree = random_tree(EIGHT, root=root)
    rng = np.random.default_rng(0)
    g, xi = tree.group.random(rng), rng.normal(size=tree.group.dim)
    with jax.enable_x64(True):
        rates = jax.jvp(tree.centres, (g,), (tree.group.tangent(g, jnp.asarray(xi)),))[1]
        np.testing.assert_allclose(tree.velocities(g, xi), rates, atol=1e-14)
        centres = np.asarray(tree.centres(g))
    for i, parent in enumerate(EIGHT):
        joint = centres[i] + g.R[i] @ tree.own[i]
        anchor = centres[parent] + g.R[parent] @ tree.other[i] if i else tree.other[0] if root == "pinned" else g.x
        np.testing.assert_allclose(joint, anchor, atol=1e-14)


@pytest.mark.parametrize("root", ["free", "pinned"])
def test_the_velocity_of_a_momentum_inverts_the_inertia(root):
    system = Bodies(random_tree(FIVE, root=root))
    rng = np.random.default_rng(1)
    g, xi = system.group.random(rng), rng.normal(size=system.group.dim)
    with jax.enable_x64(True):
        momentum = np.asarray(system.legendre(g, xi))
    found = execute(motion, system.tree, g, momentum, parameters=(0,)).xi
    np.testing.assert_allclose(found, xi, atol=2e-14)


@pytest.mark.long
def test_the_motion_that_joints_allow_minimises_the_energy_of_a_momentum():
    """(I, -N^T; N, 0) (xi, lambda) = (mu, 0), by a dense solve; what the joints pass on is N^T lambda."""
    tree = mixed_tree()
    system = Bodies(tree)
    g = random_state(system).g
    mu = np.random.default_rng(5).normal(size=tree.group.dim)
    with jax.enable_x64(True):
        normal = np.asarray(system.constraint_jacobian(g, 0.0))
        inertia = np.asarray(jax.hessian(system.lagrangian, argnums=1)(g, jnp.zeros(tree.group.dim), 0.0))
    found = execute(motion, tree, g, mu, parameters=(0,))
    m = len(normal)
    whole = np.block([[inertia, -normal.T], [normal, np.zeros((m, m))]])
    dense = np.linalg.solve(whole, np.concatenate([mu, np.zeros(m)]))
    np.testing.assert_allclose(found.xi, dense[: mu.size], atol=1e-14)
    passed = found.passed.copy()
    for i, parent in enumerate(tree.parents[1:], 1):
        passed[parent] -= found.passed[i]
    pulled = np.einsum("nji,nj->ni", g.R, passed).reshape(-1)
    np.testing.assert_allclose(pulled, (normal.T @ dense[mu.size :])[: pulled.size], atol=1e-13)
    assert np.abs(pulled).max() > 0.1


def test_momenta_of_rigid_motions():
    system = Bodies(random_tree((-1, 0)))
    state = system.state(g=system.group.random(np.random.default_rng(2)), xi=np.arange(1.0, 10.0))
    by_autodiff = nd.LagrangianSystem.noether(system, state)
    np.testing.assert_allclose(np.asarray(system.noether(state)), np.asarray(by_autodiff), atol=1e-12)
    assert HeavyBodies(system.tree, np.ones(2)).symmetry is None


def built(**changes):
    """A tree of three bodies with something else in it."""
    about = {
        "parents": (-1, 0, 1),
        "J": [np.ones(3)],
        "M": 1.0,
        "own": np.zeros((3, 3)),
        "other": np.zeros((3, 3)),
    }
    about |= changes
    return Tree(about.pop("parents"), about.pop("J"), about.pop("M"), **about)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parents": (-1, 0, 7)}, r"parents\[2\] = 7: there is no such body"),
        ({"parents": (-1, -1, 1)}, "2 roots .bodies 0, 1 have parent -1.; a tree is connected"),
        ({"parents": (-1, 2, 1)}, "cycle, 1 -> 2 -> 1"),
        ({"parents": (1, -1, 0)}, "must have a smaller number than its children"),
        ({"parents": (-1, 0.5, 1)}, "each of them a whole number"),
        ({"parents": ()}, "one whole number for each body"),
        ({"M": (1.0, -1.0, 1.0)}, r"M\[1\] is not positive definite .smallest eigenvalue -1"),
        ({"J": np.stack([np.eye(3), np.eye(3), np.diag((1.0, 1.0, 0.0))])}, r"J\[2\] is not positive definite"),
        ({"J": np.stack([np.eye(3) + np.eye(3, k=1)] * 3)}, r"J\[0\] is not symmetric"),
        ({"J": np.ones(4)}, r"J has shape .4,.; expected a row of three numbers"),
        ({"J": "heavy"}, "J = 'heavy' is not an array of numbers"),
        ({"M": (1.0, np.nan, 1.0)}, "M holds NaN"),
        ({"own": np.zeros((2, 3))}, r"own has shape .2, 3.; expected .3, 3."),
        ({"own": np.ones((3, 3))}, "a free root has no joint"),
        ({"joints": "spring"}, "'spring'; expected 'ball', 'hinge', 'weld'"),
        ({"joints": ("ball",)}, "joints has 1 entries; expected one word for all joints, or 2"),
        ({"joints": "hinge"}, "body 1 has a hinge, but no axis was given"),
        ({"joints": "hinge", "axis": np.zeros(3)}, r"axis\[1\] = .* is not a direction"),
        ({"rest": np.ones((3, 3, 3))}, r"rest\[0\] is not a rotation"),
        ({"root": "fixed"}, "root = 'fixed'; expected one of 'free', 'pinned'"),
    ],
)
def test_bad_trees(changes, message):
    with pytest.raises(nd.InputError, match=message):
        built(**changes)


def test_a_start_off_a_hinge_is_refused():
    system = Bodies(built(joints=("hinge", "weld"), axis=(0.0, 0.0, 1.0)))
    R = np.stack([np.eye(3)] * 3)
    R[1] = ((1.0, 0.0, 0.0), (0.0, 0.8, -0.6), (0.0, 0.6, 0.8))
    R[2] = R[1]
    with pytest.raises(nd.InputError, match="violates the constraint"):
        system.state(R=R)
