"""First and second derivatives of a Lagrange function, direction by direction in a loop."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend import core
from jaxtyping import Array, Float

from naiad.compiler.front.jaxprs import operations_of

Row = tuple[Any, Any, Any]
LONG = 8000  # operations of a gradient, whose derivative is not written out for each part of z


class Derivatives(NamedTuple):
    """Of L(z, y), linear in the multipliers y: `equations` is its gradient in y. Rows are those of z: `second`
    derivatives in z, with y scaled by the curvature, `first` derivatives of the equations, and the slope of L where
    y = 0."""

    equations: Any
    second: Any
    first: Any
    slope: Any


class Directional:
    """The derivatives along single unknowns. One derivative of the gradient in z and y has Hessian and Jacobian. Where
    that is long there is code for it once, for all parts of z, whose rows are kept."""

    def __init__(
        self,
        function: Callable[[Any, Any], Any],
        z: Float[Array, " z"],
        y: Float[Array, " y"],
        curvature: Any,
    ):
        self._size, self._bent = z.size, curvature * y
        traced = jax.make_jaxpr(lambda z: jax.grad(function, argnums=(0, 1))(z, self._bent))(z)
        gradient = core.jaxpr_as_fun(traced)  # which is differentiated sooner than the function
        self._by_z, self.equations = gradient(z)
        self._along = jax.jit(lambda direction: jax.jvp(gradient, (z,), (direction,))[1])  # traced once for all parts
        self._rows = None
        if operations_of(traced.jaxpr) > LONG:
            self._rows = jax.lax.map(self._row(0, z.size), jnp.arange(z.size))

    def along(self, begin: int, size: int) -> Callable[[Any], Row]:
        """The rows of `Derivatives` for an index in a part of z."""
        rows = self._rows
        if rows is None:
            return self._row(begin, size)
        return lambda index: jax.tree.map(lambda array: array[begin + index], rows)

    def _row(self, begin: int, size: int) -> Callable[[Any], Row]:
        """The same, differentiated there: what does not depend on that part is no code."""
        before, behind = jnp.zeros(begin), jnp.zeros(self._size - begin - size)

        def row(index: Any) -> Row:
            direction = jnp.concatenate([before, unit(index, size), behind])
            second, first = self._along(direction)
            return second, first, self._by_z[begin + index] - first @ self._bent

        return row


def derivatives(
    function: Callable[[Any, Any], Any],
    z: Float[Array, " z"],
    y: Float[Array, " y"],
    curvature: Any,
) -> Derivatives:
    """The derivatives of a function of z and y along all unknowns."""
    found = Directional(function, z, y, curvature)
    return Derivatives(found.equations, *jax.lax.map(found.along(0, z.size), jnp.arange(z.size)))


def unit(index: Any, size: int) -> Float[Array, " size"]:
    """The unit vector of an index, zero where that is outside."""
    return jnp.where(jnp.arange(size) == index, 1.0, 0.0)
