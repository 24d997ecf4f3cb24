"""Fields of gravity that change with place and time."""

import abc
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.mechanics import Scalar
from naiad.numerics import Module, cross, static
from naiad.numerics.checks import positive, unit_axis

Vector = Float[Array, "3"]


class AbstractField(Module):
    """A potential energy of a unit of mass, phi(x, t) in J/kg."""

    @abc.abstractmethod
    def __call__(self, x: Vector, t: Scalar) -> Float[Array, ""]:
        """phi."""


class GivenField(AbstractField):
    """The field of a plain function of place and time."""

    function: Callable[..., Any] = static()

    def __call__(self, x: Vector, t: Scalar) -> Float[Array, ""]:
        return jnp.asarray(self.function(x, t))


class GravityGradient(AbstractField):
    """What a spacecraft on a circular orbit feels: phi = n^2/2 (|x|^2 - 3 (e . x)^2), x from the spacecraft.

    The axes do not turn; e(t), the direction away from the planet, turns with the orbital `rate` n [rad/s] about
    `normal`, from `radial` at t = 0. Valid for |x| far below the radius of the orbit. Seen from axes that turn along, E
    - n normal . (angular momentum) is conserved.
    """

    rate: float
    normal: Float[Array | np.ndarray, "3"]
    radial: Float[Array | np.ndarray, "3"]

    def __init__(self, rate: float, *, normal: Any = (0.0, 1.0, 0.0), radial: Any = (0.0, 0.0, -1.0)):
        self.rate = positive("GravityGradient: rate", rate)
        self.normal, self.radial = (
            unit_axis("GravityGradient: normal", normal),
            unit_axis("GravityGradient: radial", radial),
        )
        if abs(self.normal @ self.radial) > 1e-12:
            raise InputError("GravityGradient: radial is not in the plane of the orbit; expected it across normal.")

    def outward(self, t: Scalar) -> Vector:
        """e: the direction away from the planet."""
        radial = jnp.asarray(self.radial)
        ahead = cross(jnp.asarray(self.normal), radial)
        return jnp.cos(self.rate * t) * radial + jnp.sin(self.rate * t) * ahead

    def __call__(self, x: Vector, t: Scalar) -> Float[Array, ""]:
        return 0.5 * self.rate**2 * (jnp.dot(x, x) - 3.0 * jnp.dot(self.outward(t), x) ** 2)


def as_field(value: Any) -> AbstractField:
    """A field from a field or a function phi(x, t); or an `InputError`."""
    if not callable(value):
        raise InputError(f"field = {value!r}; expected one such as GravityGradient(...), or a function phi(x, t).")
    made = value if isinstance(value, AbstractField) else GivenField(value)
    with jax.enable_x64(True):
        shape = jax.eval_shape(made, jnp.zeros(3), 0.0).shape
    if shape != ():
        raise InputError(f"field is a function whose value has shape {shape}; expected a number, in J/kg.")
    return made
