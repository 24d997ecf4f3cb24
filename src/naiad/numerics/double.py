"""Double precision without touching JAX's global switch."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import jax

P = ParamSpec("P")
T = TypeVar("T")


def double(function: Callable[P, T]) -> Callable[P, T]:
    """Run `function` with 64-bit JAX types, whatever the caller's setting, and leave that setting as it was."""

    @functools.wraps(function)
    def in_double(*args: P.args, **kwargs: P.kwargs) -> T:
        with jax.enable_x64(True):
            return function(*args, **kwargs)

    return in_double
