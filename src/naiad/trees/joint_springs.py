"""Springs and dampers in the joints of a tree of bodies."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.numerics.checks import friction_matrix, matrix_for_each, namespace
from naiad.trees.tree import Tree

Matrices = Float[Array, "N 3 3"]
Rows = Float[Array, "N 3"]


def joint_matrices(name: str, values: Any, count: int, *, root: bool) -> Any:
    """Return a symmetric positive semidefinite matrix for the joint of each body to its parent; None without values.

    The values are a number, a diagonal or a matrix for all joints or for each body (see `matrix_for_each`). A free root
    (`root` false) has no joint: its matrix is zero.
    """
    if values is None:
        return None
    matrices = matrix_for_each(
        name, values, count, lambda name, each: friction_matrix(name, each, 3), number="a number"
    )
    return matrices if root else namespace(matrices).concatenate([np.zeros((1, 3, 3)), matrices[1:]])


def parent_attitudes(tree: Tree, g: Any) -> Matrices:
    """R of each body's parent; the identity for the root."""
    above = jnp.asarray(g.R)[np.maximum(tree.parents, 0)]
    return above.at[0].set(jnp.eye(3))


def relative_velocities(tree: Tree, g: Any, xi: Float[Array, " n"]) -> Rows:
    """Omega_i - R_i^T R_p Omega_p, in the frame of body i; the root's own for the root."""
    Omega = jnp.reshape(xi[: 3 * tree.count], (tree.count, 3))
    above = jnp.einsum("nij,nj->ni", parent_attitudes(tree, g), Omega[np.maximum(tree.parents, 0)]).at[0].set(0.0)
    return Omega - jnp.einsum("nji,nj->ni", jnp.asarray(g.R), above)


def turns(tree: Tree, g: Any) -> Matrices:
    """Q_i = rest_i^T R_p^T R_i, the turn of each body from its rest in its parent's frame; of the root in space."""
    return jnp.einsum("nji,nkj,nkl->nil", jnp.asarray(tree.rest), parent_attitudes(tree, g), jnp.asarray(g.R))


def spring_energy(tree: Tree, g: Any, stiffness: Matrices) -> Float[Array, ""]:
    """sum_i tr((I - Q_i) (tr(K_i)/2 I - K_i)), Q_i = rest_i^T R_p^T R_i: theta . K theta / 2 for a small turn theta,
    (1 - cos(theta)) n . K n about an axis n; smooth for every turn."""
    Q = turns(tree, g)
    half = 0.5 * jnp.trace(stiffness, axis1=1, axis2=2)[:, None, None] * jnp.eye(3) - stiffness
    return jnp.sum((jnp.eye(3) - Q) * jnp.swapaxes(half, 1, 2))


def with_reactions(tree: Tree, g: Any, torques: Rows) -> Rows:
    """The torque on each body, in its frame: its own joint's, less those of the joints of its children."""
    in_space = jnp.einsum("nij,nj->ni", jnp.asarray(g.R), torques)
    parents = np.asarray(tree.parents[1:], int)
    total = in_space.at[parents].add(-in_space[1:])
    return jnp.einsum("nji,nj->ni", jnp.asarray(g.R), total)
