"""Quantities that may change with time: constants, functions of time, modules with parameters of their own."""

import abc
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.mechanics import Scalar
from naiad.numerics import Module, static
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import finite, floats


class AbstractSignal(Module):
    """A vector as a function of time; the numbers of a subclass are its fields, so that they can be swept."""

    @abc.abstractmethod
    def __call__(self, t: Scalar) -> Float[Array, " n"]:
        """The value at t."""


class Constant(AbstractSignal):
    """The same at all times."""

    value: Any

    def __call__(self, t: Scalar) -> Float[Array, " n"]:
        return jnp.asarray(self.value)


class GivenSignal(AbstractSignal):
    """The signal of a plain function of time."""

    function: Callable[..., Any] = static()

    def __call__(self, t: Scalar) -> Float[Array, " n"]:
        return jnp.asarray(self.function(t))


@checked_throughout
def signal(name: str, value: Any, size: int) -> AbstractSignal:
    """A vector of `size` numbers, or a function t -> such a vector, as a signal; or an `InputError`."""
    if callable(value):
        made = value if isinstance(value, AbstractSignal) else GivenSignal(value)
        with jax.enable_x64(True):
            shape = jax.eval_shape(made, 0.0).shape
        if shape != (size,):
            raise InputError(f"{name} is a function whose value has shape {shape}; expected ({size},).")
        return made
    array = floats(name, value)
    array = array.reshape(1) if array.shape == () and size == 1 else array
    if array.shape != (size,) or not finite(array):
        raise InputError(f"{name} = {value!r}; expected {size} finite numbers, or a function of time that gives them.")
    return Constant(array)
