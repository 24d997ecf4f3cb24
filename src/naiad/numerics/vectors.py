"""Vectors of R^3 and the plane as the algebras of rotations.

What a program uses in many places is under `jax.jit`, so that it is traced once; the code that comes out is the same.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


@jax.jit
def cross(x: Float[Array, "3"], y: Float[Array, "3"]) -> Float[Array, "3"]:
    """The cross product x cross y."""
    x1, x2, x3 = x
    y1, y2, y3 = y
    return jnp.stack([x2 * y3 - x3 * y2, x3 * y1 - x1 * y3, x1 * y2 - x2 * y1])


@jax.jit
def hat(x: Float[Array, "3"]) -> Float[Array, "3 3"]:
    """The skew matrix with hat(x) y = x cross y."""
    x1, x2, x3 = x
    zero = jnp.zeros_like(x1)
    return jnp.stack([zero, -x3, x2, x3, zero, -x1, -x2, x1, zero]).reshape(3, 3)


@jax.jit
def vee(X: Float[Array, "3 3"]) -> Float[Array, "3"]:
    """The vector of the skew part of a matrix: vee(hat(x)) = x."""
    return 0.5 * jnp.stack([X[2, 1] - X[1, 2], X[0, 2] - X[2, 0], X[1, 0] - X[0, 1]])


def outer(x: Float[Array, "3"], y: Float[Array, "3"]) -> Float[Array, "3 3"]:
    """x y^T."""
    return x[:, None] * y[None, :]


def times_hat(A: Float[Array, "3 3"], x: Float[Array, "3"]) -> Float[Array, "3 3"]:
    """A hat(x): each row of A crossed with x."""
    return jnp.stack([cross(row, x) for row in A])


def hat_times(x: Float[Array, "3"], A: Float[Array, "3 3"]) -> Float[Array, "3 3"]:
    """hat(x) A: x crossed with each column of A."""
    return jnp.stack([cross(x, column) for column in A.T], axis=1)


def inverse3(A: Float[Array, "3 3"]) -> Float[Array, "3 3"]:
    """The inverse of a 3 x 3 matrix by its cofactors, with one division."""
    x, y, z = A
    columns = jnp.stack([cross(y, z), cross(z, x), cross(x, y)], axis=1)
    return columns * (1.0 / jnp.dot(x, columns[:, 0]))


def quarter_turn(v: Float[Array, "2"]) -> Float[Array, "2"]:
    """J v = e_3 cross v: the vector of the plane turned by a quarter turn."""
    return jnp.stack([-v[1], v[0]])


@jax.custom_jvp
def reciprocal_root(s: Float[Array, "..."]) -> Float[Array, "..."]:
    """1/sqrt(s), the reciprocal of a length from its square, with derivatives that are powers of it: one root and one
    division serve the value and all derivatives."""
    return 1.0 / jnp.sqrt(s)


@reciprocal_root.defjvp
def _reciprocal_root_derivative(at, change):
    root = reciprocal_root(at[0])
    return root, -0.5 * (root * root * root) * change[0]
