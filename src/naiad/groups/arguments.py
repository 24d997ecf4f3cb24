"""What was wrong with the arguments of a method of a group, said in one line where the method fails."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import core

from naiad.errors import InputError, NaiadError
from naiad.numerics.arguments import shown

ELEMENTS, VECTORS = ("g", "f", "d"), ("x", "y", "mu")
"""The names that parameters for elements, and for vectors of the algebra or its dual, have in every group."""


def explained_arguments(method: Callable[..., Any]) -> Callable[..., Any]:
    """Where a method of a group fails because of its arguments, say which and what was expected.

    Nothing is looked at unless it fails; what JAX traces fails as it does.
    """

    @functools.wraps(method)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except (NaiadError, TypeError, ValueError, LookupError, AttributeError) as error:
            wrong = _wrong(self, method, args, kwargs, error)
            if wrong is None:
                raise
        raise InputError(wrong)

    return called


def _wrong(
    group: Any, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> str | None:
    if any(isinstance(leaf, core.Tracer) for leaf in jax.tree.leaves((args, kwargs))):
        return None
    own = inspect.signature(method)
    name = f"{type(group).__name__}.{getattr(method, '__name__', 'method')}"
    try:
        given = own.bind(group, *args, **kwargs).arguments
    except TypeError as mismatch:
        return f"{name}: {mismatch}; it takes {', '.join(list(own.parameters)[1:]) or 'nothing'}."
    for key, value in list(given.items())[1:]:
        expected = _expected(group, key, value)
        if expected is not None:
            return f"{name}: {key} = {shown(value)}; expected {expected}."
    if isinstance(error, NaiadError) or given.keys() - {"self"} <= {*ELEMENTS, *VECTORS}:
        return None
    first = str(error).strip().splitlines() or [type(error).__name__]
    return f"{name}: {first[0]}"


def _expected(group: Any, key: str, value: Any) -> str | None:
    """What an argument should be, if it is not."""
    if key in VECTORS:
        return None if _shape(value) == (group.dim,) else f"{group.dim} numbers, an array of shape ({group.dim},)"
    if key not in ELEMENTS:
        return None if _shape(value) is not None else "an array of numbers"
    with jax.enable_x64(True):
        element = jax.eval_shape(group.identity)
    leaves, structure = jax.tree.flatten(value)
    shapes = [leaf.shape for leaf in jax.tree.leaves(element)]
    if structure == jax.tree.structure(element) and [_shape(leaf) for leaf in leaves] == shapes:
        return None
    parts = ", ".join(f"{part}: {shape}" for part, shape in zip(group.names.element, shapes, strict=True))
    return f"an element of the group, as its exp, identity and random give (arrays of shapes {parts})"


def _shape(value: Any) -> tuple[int, ...] | None:
    """The shape of an array of real numbers, or of what can be made into one; None if it is none."""
    try:
        array = np.asarray(value)
    except Exception:  # what a sequence is made of may be anybody's code
        return None
    return array.shape if array.dtype.kind in "biuf" else None
