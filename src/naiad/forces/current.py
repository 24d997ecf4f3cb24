"""The velocity of the fluid around a string: a current, or the wind."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.forces.signals import AbstractSignal, signal
from naiad.mechanics import Scalar
from naiad.numerics import Module, static
from naiad.numerics.arguments import checked_throughout, required_arguments

Vector = Float[Array, "3"]


class Current(Module):
    """U(x, t): the same everywhere, or a plain function of place and time."""

    everywhere: AbstractSignal | None
    function: Callable[..., Any] | None = static(default=None)

    def __call__(self, x: Vector, t: Scalar) -> Vector:
        if self.everywhere is not None:
            return self.everywhere(t)
        assert self.function is not None
        return jnp.asarray(self.function(x, t))


class Here(AbstractSignal):
    """A current at a place, as a function of time."""

    current: Current
    x: Vector

    def __call__(self, t: Scalar) -> Vector:
        return self.current(self.x, t)


@checked_throughout
def as_current(value: Any) -> Current:
    """A current from three numbers, a function U(t) or a function U(x, t); or an `InputError`."""
    if not callable(value) or isinstance(value, AbstractSignal) or required_arguments(value) == 1:
        return Current(signal("current", value, 3))
    if required_arguments(value) != 2:
        raise InputError("current is a function that needs other than one or two arguments; expected U(t) or U(x, t).")
    with jax.enable_x64(True):
        shape = jax.eval_shape(lambda x: jnp.asarray(value(x, 0.0)), jnp.zeros(3)).shape
    if shape != (3,):
        raise InputError(f"current is a function whose value has shape {shape}; expected (3,), in m/s.")
    return Current(None, value)
