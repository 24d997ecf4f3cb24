"""The mechanical connection of a kinetic energy on a group and its shapes, and its curvature.

For w . K(s) w / 2, w = (xi, v), the momentum of the group in the body frame is K_gg xi + K_gs v = mu, so that
xi = K_gg^-1 mu - A(s) v with the local connection A = K_gg^-1 K_gs; K_gg is the locked inertia [marsden1992, chapter
3].
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.groups import AbstractGroup
from naiad.numerics import solve

Matrix = Float[Array, "n n"]


def connection_of(K: Matrix, d: int) -> Float[Array, "d m"]:
    """A = K_gg^-1 K_gs; d is the dimension of the group."""
    return solve(K[:d, :d], K[:d, d:])


def curvature_of(
    frame: AbstractGroup, K: Matrix, slopes: Float[Array, "m n n"], shape: AbstractGroup | None = None
) -> Float[Array, "m m d"]:
    """F_ab = d_a A_b - d_b A_a - [A_a, A_b], a vector of the algebra for each pair of shape velocities; on a group of
    shapes that do not commute, less A [e_a, e_b], the derivatives being left-trivialised."""
    d = frame.dim
    A = connection_of(K, d)
    dA = jax.vmap(lambda dK: solve(K[:d, :d], dK[:d, d:] - dK[:d, :d] @ A))(slopes)  # dA[a, :, b] = d_a A_b
    bracket = jax.vmap(lambda x: jax.vmap(lambda y: frame.ad(x, y))(A.T))(A.T)
    F = jnp.swapaxes(dA, 1, 2) - jnp.transpose(dA, (2, 0, 1)) - bracket
    if shape is None:
        return F
    axes = jnp.eye(shape.dim)
    return F - jax.vmap(lambda x: jax.vmap(lambda y: A @ shape.ad(x, y))(axes))(axes)
