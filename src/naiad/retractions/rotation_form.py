"""The form that every analytic map tau from so(3) to SO(3) takes, with coefficients that are functions of |x|^2."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.numerics.vectors import cross, hat

Scalar = Float[Array, ""] | float
Vector = Float[Array, "3"]


def increment(x: Vector, c1: Scalar, c2: Scalar) -> Float[Array, "3 3"]:
    """tau(x) - I = c1 hat(x) + c2 hat(x)^2 [bourabee2007, eq. (5.4.1)]."""
    X = hat(x)
    return c1 * X + c2 * (X @ X)


def dtau(x: Vector, y: Vector, c1: Scalar, c2: Scalar, c3: Scalar) -> Vector:
    """dtau_x y = c1 y + c2 x cross y + c3 (x.y) x [bourabee2007, lemma 5.4.2]."""
    return c1 * y + c2 * cross(x, y) + c3 * jnp.dot(x, y) * x


def dtau_inv(x: Vector, y: Vector, a1: Scalar, a3: Scalar) -> Vector:
    """dtau_x^-1 y = a1 y - x cross y / 2 + a3 (x.y) x, a1 = c1 / (2 c2) [bourabee2007, lemma 5.4.3]."""
    return a1 * y - 0.5 * cross(x, y) + a3 * jnp.dot(x, y) * x
