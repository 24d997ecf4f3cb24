"""The map whose inverse is the skew part of a rotation."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.groups.group import AbstractGroup
from naiad.groups.so3 import SO3
from naiad.groups.son import SOn
from naiad.numerics.linalg import solve
from naiad.numerics.matrix_functions import rotation_square_root, symmetric_square_root
from naiad.retractions import rotation_form
from naiad.retractions.retraction import AbstractSimpleRetraction

Home = SO3 | SOn
Vector = Float[Array, " dim"]
Rotation = Float[Array, "n n"]


class Skew(AbstractSimpleRetraction):
    """tau(x) = X + (I + X^2)^(1/2), X = hat(x), so that tau^-1(F) = (F - F^T)/2 [bourabee2007, theorem 4.6.1].

    dtau_x^-1 y = (Y tau(x) + tau(x)^T Y)/2 [bourabee2007, eq. (4.6.9)]. On SO(3) sin(theta) = |x|; the sines of all
    rotation angles of x must be below 1, and the angles of tau(x) are below pi/2.
    """

    groups: ClassVar[tuple[type[AbstractGroup], ...]] = (SO3, SOn)

    def _increment(self, group: Home, x: Vector) -> Rotation:
        match group:
            case SO3():
                return rotation_form.increment(x, 1.0, 1.0 / (1.0 + _cosine(x)))
            case SOn():
                X, identity = group.hat(x), group.identity()
                square = X @ X
                return X + solve(identity + symmetric_square_root(identity + square), square)

    def _inverse(self, group: Home, f: Rotation) -> Vector:
        return group.vee(f)

    def _half(self, group: Home, x: Vector) -> Vector:
        """On SO(3) y = x sin(theta/2) / sin(theta) = x / sqrt(2 (1 + cos(theta)))."""
        match group:
            case SO3():
                return x / jnp.sqrt(2.0 * (1.0 + _cosine(x)))
            case SOn():
                return group.vee(rotation_square_root(self.tau(group, x)))

    def _dtau(self, group: Home, x: Vector, y: Vector) -> Vector:
        match group:
            case SO3():
                c = _cosine(x)
                return rotation_form.dtau(x, y, 1.0, 1.0 / (1.0 + c), 1.0 / (c * (1.0 + c)))
            case SOn():
                matrix = jax.vmap(lambda e: self._dtau_inv(group, x, e), out_axes=1)(jnp.eye(group.dim))
                return solve(matrix, y)

    def _dtau_inv(self, group: Home, x: Vector, y: Vector) -> Vector:
        match group:
            case SO3():
                a = 0.5 * (1.0 + _cosine(x))
                return rotation_form.dtau_inv(x, y, a, -0.25 / a)
            case SOn():
                F, Y = self.tau(group, x), group.hat(y)
                return group.vee(0.5 * (Y @ F + jnp.transpose(F) @ Y))


def _cosine(x: Float[Array, "3"]) -> Float[Array, ""]:
    """cos(theta) where sin(theta) = |x|."""
    return jnp.sqrt(1.0 - jnp.dot(x, x))
