"""Torques at the hinges of a swimmer: functions of the angles, their rates and time."""

import abc
import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.forces.signals import AbstractSignal, signal
from naiad.mechanics import Scalar
from naiad.numerics import Module, static

Angles = Float[Array, " m"]


class AbstractHingeTorque(Module):
    """tau(theta, theta', t), a number for each angle: positive where it does work when the angle grows. The numbers of
    a subclass are its fields, so that they can be swept."""

    @abc.abstractmethod
    def __call__(self, theta: Angles, rates: Angles, t: Scalar) -> Angles:
        """The torques at a shape, its rates and a time."""


class GivenHingeTorque(AbstractHingeTorque):
    """The torques of a plain function tau(theta, theta', t)."""

    function: Callable[..., Any] = static()

    def __call__(self, theta: Angles, rates: Angles, t: Scalar) -> Angles:
        return jnp.asarray(self.function(theta, rates, t))


class TimedTorque(AbstractHingeTorque):
    """Torques that depend on time alone, or not even on that."""

    signal: AbstractSignal

    def __call__(self, theta: Angles, rates: Angles, t: Scalar) -> Angles:
        return self.signal(t)


class HarmonicTorque(AbstractHingeTorque):
    """tau_a = mean_a + amplitude_a sin(2 pi frequency t + phase_a), the frequency in Hz."""

    mean: Any
    amplitude: Any
    frequency: Any
    phase: Any

    def __call__(self, theta: Angles, rates: Angles, t: Scalar) -> Angles:
        angle = 2.0 * jnp.pi * self.frequency * t + jnp.asarray(self.phase)
        return jnp.asarray(self.mean) + jnp.asarray(self.amplitude) * jnp.sin(angle)


def hinge_torque(value: Any, joints: int) -> AbstractHingeTorque | None:
    """Torques as users give them: numbers, a function of t, a function of (theta, theta', t), or none."""
    if value is None:
        return None
    if not callable(value) or isinstance(value, AbstractSignal) or _arguments(value) == 1:
        return TimedTorque(signal("torque", value, joints))
    made = value if isinstance(value, AbstractHingeTorque) else GivenHingeTorque(value)
    with jax.enable_x64(True):
        shape = jax.eval_shape(made, jnp.zeros(joints), jnp.zeros(joints), 0.0).shape
    if shape != (joints,):
        raise InputError(
            f"torque is a function whose value has shape {shape}; expected ({joints},), one for each angle."
        )
    return made


def _arguments(function: Callable[..., Any]) -> int:
    """How many arguments a function must be given."""
    given = inspect.signature(function).parameters.values()
    found = sum(
        each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) and each.default is each.empty for each in given
    )
    if found not in (1, 3):
        raise InputError(
            f"torque is a function of {found} arguments; expected a function of t or of (theta, rates, t)."
        )
    return found
