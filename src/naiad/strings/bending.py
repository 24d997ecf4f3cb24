"""The stiffness of a string against bending."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.numerics import Module
from naiad.numerics.checks import positive, unit_axis

Vector = Float[Array, "3"]


class Bending(Module):
    """EI |t_2 - t_1|^2/(2 l) where two elements with the tangents t_1 and t_2 meet: EI curvature^2/2 along l.

    `EI` [N m^2] is Young's modulus times the second moment of area. The string is hinged at the guide way; with
    `clamp`, a direction, it leaves it along that: half of an element bends there.
    """

    EI: float
    clamp: Float[Array | np.ndarray, "3"] | None

    def __init__(self, EI: float, clamp: Any = None):
        self.EI = positive("Bending: EI", EI)
        self.clamp = None if clamp is None else unit_axis("Bending: clamp", clamp)

    def energy(self, index: Any, before: Vector, at: Vector, after: Vector, length: Any) -> Float[Array, ""]:
        """That of the near end of an element, between the nodes before and after it."""
        inner = index > 0
        ahead = _unit(after - at)
        first = ahead if self.clamp is None else jnp.asarray(self.clamp)
        behind = jnp.where(inner, _unit(jnp.where(inner, at - before, 1.0)), first)
        change = ahead - behind
        return 0.5 * self.EI * jnp.dot(change, change) / (length * jnp.where(inner, 1.0, 0.5))


def _unit(x: Vector) -> Vector:
    return x / jnp.sqrt(jnp.dot(x, x))
