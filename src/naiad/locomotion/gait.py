"""Gaits: shapes that change periodically in time."""

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.mechanics import Scalar
from naiad.numerics import Module, static


class ShapeMotion(NamedTuple):
    """The angles at a time, with their first and second derivatives."""

    theta: Float[Array, " m"]
    rates: Float[Array, " m"]
    accelerations: Float[Array, " m"]


class AbstractGait(Module):
    """theta(t), with the period `period`; the numbers of a subclass are its fields, so that gaits can be swept and
    differentiated."""

    needs = ("period",)
    if TYPE_CHECKING:
        period: Any

    @abc.abstractmethod
    def __call__(self, t: Scalar) -> Float[Array, " m"]:
        """The angles at t."""

    def motion(self, t: Scalar) -> ShapeMotion:
        """theta, theta' and theta'' at t."""
        t, one = jnp.asarray(t, float), jnp.ones(())

        def rates(t):
            return jax.jvp(self.__call__, (t,), (one,))[1]

        theta, velocity = jax.jvp(self.__call__, (t,), (one,))
        return ShapeMotion(theta, velocity, jax.jvp(rates, (t,), (one,))[1])


class FourierGait(AbstractGait):
    """theta(t) = mean + sum_k cosines_k cos(2 pi k t / period) + sines_k sin(2 pi k t / period), k = 1, 2, ..., rows.

    `mean` has a number for each angle, `cosines` and `sines` rows of so many.
    """

    mean: Any
    cosines: Any
    sines: Any
    period: Any = 2.0 * np.pi

    @classmethod
    def of(cls, mean: Any, cosines: Any, sines: Any, period: float = 2.0 * np.pi) -> "FourierGait":
        """The gait with these coefficients, checked."""
        arrays = [np.asarray(value, float) for value in (mean, cosines, sines)]
        middle, cos, sin = np.atleast_1d(arrays[0]), np.atleast_2d(arrays[1]), np.atleast_2d(arrays[2])
        if middle.ndim != 1 or cos.shape != sin.shape or cos.shape[1:] != middle.shape:
            raise InputError(
                f"A gait with mean, cosines and sines of shapes {middle.shape}, {cos.shape}, {sin.shape}; expected a "
                "number for each angle, and as many rows of cosines as of sines, each with a number for each angle."
            )
        if not all(np.all(np.isfinite(each)) for each in (middle, cos, sin)):
            raise InputError("A gait with coefficients that are NaN or infinite; expected finite numbers.")
        if not (np.isfinite(period) and period > 0):
            raise InputError(f"A gait with the period {period!r}; expected a finite number above 0.")
        return cls(middle, cos, sin, float(period))

    def __call__(self, t: Scalar) -> Float[Array, " m"]:
        cosines, sines = jnp.asarray(self.cosines), jnp.asarray(self.sines)
        phase = jnp.arange(1, cosines.shape[0] + 1) * (2.0 * jnp.pi * t / self.period)
        return jnp.asarray(self.mean) + jnp.cos(phase) @ cosines + jnp.sin(phase) @ sines


class GivenGait(AbstractGait):
    """The gait of a plain function theta(t) with this period."""

    function: Callable[..., Any] = static()
    period: Any = 2.0 * np.pi

    def __call__(self, t: Scalar) -> Float[Array, " m"]:
        return jnp.asarray(self.function(t))


FORWARD = FourierGait.of([0.0, 0.0], [[-1.0, 0.0]], [[0.0, 1.0]])
TURNING = FourierGait.of([1.0, -1.0], [[-1.0, 0.0]], [[0.0, 1.0]])
