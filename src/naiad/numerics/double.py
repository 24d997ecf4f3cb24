"""Double precision without touching JAX's global switch, and numbers of other precisions refused."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import core

from naiad.errors import InputError

P = ParamSpec("P")
T = TypeVar("T")
_ARRAYS = (np.ndarray, np.generic, jax.Array)


def double(function: Callable[P, T]) -> Callable[P, T]:
    """Run `function` with 64-bit JAX types, whatever the caller's setting, and leave that setting as it was.

    Where that setting is 32 bits, arrays come back as NumPy's: JAX would go on with them in 32 bits, and call the
    product of two of them float64.
    """

    @functools.wraps(function)
    def in_double(*args: P.args, **kwargs: P.kwargs) -> T:
        if jax.config.jax_enable_x64:  # ty: ignore[missing-attribute]
            return function(*args, **kwargs)
        with jax.enable_x64(True):
            result = function(*args, **kwargs)
        return _of_numpy(result) if any(map(_is_known, jax.tree.leaves(result))) else result

    return in_double


def _is_known(value: Any) -> bool:
    """Whether it is an array of JAX's with numbers in it: no tracer, and no key of a random generator."""
    if isinstance(value, (np.ndarray, core.Tracer)) or not isinstance(value, jax.Array):
        return False
    return not jnp.issubdtype(value.dtype, jax.dtypes.extended)


def _of_numpy(tree: Any) -> Any:
    """The same tree with NumPy's arrays; dictionaries keep their order, which JAX would not."""

    def converted(value: Any) -> Any:
        if type(value) is dict:
            return {key: _of_numpy(entry) for key, entry in value.items()}
        return np.array(value) if _is_known(value) else value

    return jax.tree.map(converted, tree, is_leaf=lambda value: type(value) is dict)


def check_double(name: str, value: Any) -> None:
    """Raise an `InputError` if value is, or has among its entries, numbers of another precision, or complex ones.

    Such a number is not the one that was meant: 0.1 in float32 is 0.10000000149. Integers are exact.
    """
    if isinstance(value, _ARRAYS):
        if value.dtype != np.float64 and jnp.issubdtype(value.dtype, np.inexact):
            raise InputError(
                f"{name} is {value.dtype}; naiad computes in float64. Give a Python number or a NumPy array of "
                "float64, or make the JAX array inside `with jax.enable_x64():`."
            )
    elif isinstance(value, (list, tuple)):
        for entry in value:
            check_double(name, entry)
