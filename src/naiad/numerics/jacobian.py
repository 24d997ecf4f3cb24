"""Derivatives that are formed as matrices."""

from collections.abc import Callable
from typing import Any

import jax
from jax.custom_derivatives import SymbolicZero
from jaxtyping import Array, Float

Vector = Float[Array, " n"]


def by_matrix(function: Callable[..., Vector], *example: Any) -> Callable[..., Vector]:
    """The same function of arguments like `example`, with its derivative in the first one formed as a matrix, once for
    all directions.

    It pays where the directions are more than the entries of that argument.
    """
    converted, given = jax.closure_convert(function, *example)

    @jax.custom_jvp
    def evaluate(x, *others):
        return converted(x, *others)

    def differentiate(primals, tangents):
        (x, *others), (x_dot, *others_dot) = primals, tangents

        def twice(z):
            value = converted(z, *others)
            return value, value

        matrix, value = jax.jacfwd(twice, has_aux=True)(x)
        change = matrix @ x_dot
        moving = [k for k, tangent in enumerate(others_dot) if not isinstance(tangent, SymbolicZero)]
        if moving:
            change += jax.jvp(
                lambda *values: converted(x, *_with(others, moving, values)),
                tuple(others[k] for k in moving),
                tuple(others_dot[k] for k in moving),
            )[1]
        return value, change

    evaluate.defjvp(differentiate, symbolic_zeros=True)
    return lambda *arguments: evaluate(*arguments, *given)


def _with(values: list[Any], places: list[int], new: tuple[Any, ...]) -> list[Any]:
    replaced = dict(zip(places, new, strict=True))
    return [replaced.get(place, value) for place, value in enumerate(values)]
