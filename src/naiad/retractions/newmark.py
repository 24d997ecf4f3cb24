"""The map behind the variational form of the Lie-Newmark method."""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.groups.group import AbstractGroup
from naiad.groups.so3 import SO3, quaternion
from naiad.retractions import rotation_form
from naiad.retractions.retraction import AbstractSimpleRetraction

Rotation = Float[Array, "3 3"]
Vector = Float[Array, "3"]


class Newmark(AbstractSimpleRetraction):
    """tau(x) = I + c1 hat(x) + hat(x)^2 / 2, c1 = sqrt(1 - |x|^2/4), and dtau_x^-1 y = c1 y - x cross y / 2.

    NEW of [bourabee2007, section 5.5]. The quaternion of tau(x) is (c1, x/2), so |x| = 2 sin(theta/2), below 2.
    """

    groups: ClassVar[tuple[type[AbstractGroup], ...]] = (SO3,)

    def _increment(self, group: SO3, x: Vector) -> Rotation:
        return rotation_form.increment(x, _half_cosine(x), 0.5)

    def _inverse(self, group: SO3, f: Rotation) -> Vector:
        return 2.0 * quaternion(f)[1:]

    def _half(self, group: SO3, x: Vector) -> Vector:
        """y = x sin(theta/4) / sin(theta/2) = x / (2 cos(theta/4))."""
        return x / jnp.sqrt(2.0 * (1.0 + _half_cosine(x)))

    def _dtau(self, group: SO3, x: Vector, y: Vector) -> Vector:
        c = _half_cosine(x)
        return rotation_form.dtau(x, y, c, 0.5, 0.25 / c)

    def _dtau_inv(self, group: SO3, x: Vector, y: Vector) -> Vector:
        return rotation_form.dtau_inv(x, y, _half_cosine(x), 0.0)


def _half_cosine(x: Vector) -> Float[Array, ""]:
    """cos(theta/2) where sin(theta/2) = |x|/2."""
    return jnp.sqrt(1.0 - 0.25 * jnp.dot(x, x))
