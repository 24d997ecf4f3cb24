"""Gaits: shapes that change periodically in time."""

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import AbstractGroup
from naiad.mechanics import Scalar
from naiad.numerics import Module, check_double, static


class ShapeMotion(NamedTuple):
    """The angles at a time, with their first and second derivatives; on a group of shapes the rates theta^-1 theta' and
    their derivatives."""

    theta: Any
    rates: Float[Array, " m"]
    accelerations: Float[Array, " m"]


class AbstractGait(Module):
    """theta(t), with the period `period`; the numbers of a subclass are its fields, so that gaits can be swept and
    differentiated. Shapes are vectors of angles, unless the subclass has a `group` of shapes (see `Links.shape`)."""

    needs = ("period",)
    group = None
    if TYPE_CHECKING:

        @property
        def period(self) -> Any: ...

    @abc.abstractmethod
    def __call__(self, t: Scalar) -> Any:
        """The angles at t."""

    def motion(self, t: Scalar) -> ShapeMotion:
        """theta, theta' and theta'' at t."""
        t, one = jnp.asarray(t, float), jnp.ones(())

        def rates(t):
            return jax.jvp(lambda s: self._from(t, s), (t,), (one,))[1]

        return ShapeMotion(self(t), *jax.jvp(rates, (t,), (one,)))

    def _from(self, t: Scalar, s: Scalar) -> Float[Array, " m"]:
        """Where the shape is at s, seen from that at t, in coordinates of the algebra."""
        if self.group is None:
            return self(s)
        return self.group.log(self.group.compose(self.group.inverse(self(t)), self(s)))


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
        for name, value in (("mean", mean), ("cosines", cosines), ("sines", sines), ("period", period)):
            check_double(name, value)
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
    """The gait of a plain function theta(t) with this period; of elements of a `group` of shapes, if it is given."""

    function: Callable[..., Any] = static()
    period: Any = 2.0 * np.pi
    group: Any = None

    def __call__(self, t: Scalar) -> Any:
        return jax.tree.map(jnp.asarray, self.function(t)) if self.group is not None else jnp.asarray(self.function(t))


class ExponentialGait(AbstractGait):
    """theta(t) = exp(coordinates(t)) on a `group` of shapes: the angles of hinges as they are, then the rotation vector
    of each ball joint. `coordinates` is any gait of so many numbers, such as a `FourierGait`."""

    coordinates: AbstractGait
    group: Any = None

    def __post_init__(self):
        if not isinstance(self.group, AbstractGroup):
            raise InputError(f"group = {self.group!r}; expected the group of shapes, swimmer.links.shape.")

    @property
    def period(self) -> Any:
        """That of the coordinates."""
        return self.coordinates.period

    def __call__(self, t: Scalar) -> Any:
        return self.group.exp(self.coordinates(t))


FORWARD = FourierGait.of([0.0, 0.0], [[-1.0, 0.0]], [[0.0, 1.0]])
"""The gait of a three-link fish that swims ahead: theta = (-cos t, sin t) [kanso2005, section 7.3]."""

TURNING = FourierGait.of([1.0, -1.0], [[-1.0, 0.0]], [[0.0, 1.0]])
"""The gait that turns it: theta = (1 - cos t, -1 + sin t) [kanso2005, section 7.3]."""
