"""Torques that act in the joints of connected bodies, functions of configuration, velocity and time."""

import abc
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.mechanics import Scalar
from naiad.numerics import Module, static

Rows = Float[Array, "N 3"]


class AbstractJointTorque(Module):
    """tau(g, xi, t): row i is the torque of the parent on body i, in the frame of body i.

    The parent feels the reaction. Row 0 acts at the pin of a pinned root; a free root has no joint, and its row is
    left out.
    """

    @abc.abstractmethod
    def __call__(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Rows:
        """The torques at a configuration, a velocity and a time."""


class GivenTorque(AbstractJointTorque):
    """The torques of a plain function tau(g, xi, t)."""

    function: Callable[..., Any] = static()

    def __call__(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Rows:
        return self.function(g, xi, t)


def as_torque(value: Any) -> AbstractJointTorque | None:
    """The torques of a function or of what is one already, or an `InputError`."""
    if value is None or isinstance(value, AbstractJointTorque):
        return value
    if not callable(value):
        raise InputError(f"torque = {value!r}; expected a function tau(g, xi, t) of a torque for each body, in rows.")
    return GivenTorque(value)


class TravellingWave(AbstractJointTorque):
    """tau_i = amplitude_i sin(2 pi (frequency t - i / wavelength)) axis in each joint i > 0: a wave from head to tail.

    `amplitude` [N m] has one number for each body, the root's zero; `wavelength` is counted in bodies; `axis` is in the
    frames of the bodies, one for all or one for each.
    """

    amplitude: Float[Array | np.ndarray, " N"]
    frequency: float
    wavelength: float
    axis: Float[Array | np.ndarray, "*N 3"]

    def __call__(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Rows:
        place = jnp.arange(len(self.amplitude), dtype=float)
        phase = 2.0 * jnp.pi * (self.frequency * t - place / self.wavelength)
        return (jnp.asarray(self.amplitude) * jnp.sin(phase))[:, None] * jnp.asarray(self.axis)
