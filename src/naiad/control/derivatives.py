"""First and second derivatives of a Lagrange function, direction by direction in a loop."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.extend.core
import jax.numpy as jnp
from jaxtyping import Array, Float


class Derivatives(NamedTuple):
    """Of L(z, y), linear in the multipliers y: `equations` is its gradient in y. Rows are those of z: `second`
    derivatives in z, with y scaled by the curvature, `first` derivatives of the equations, `slope` of L at y = 0, and
    `dual` of L."""

    equations: Any
    second: Any
    first: Any
    slope: Any
    dual: Any


def derivatives(
    function: Callable[[Any, Any], Any], z: Float[Array, " z"], y: Float[Array, " y"], curvature: Any
) -> Derivatives:
    """The derivatives of a function of z and y. One derivative of the gradient in both has Hessian and Jacobian."""
    bent = curvature * y
    traced = jax.make_jaxpr(lambda z: jax.grad(function, argnums=(0, 1))(z, bent))(z)
    gradient = jax.extend.core.jaxpr_as_fun(traced)  # which is differentiated sooner than the function
    by_z, equations = gradient(z)

    def along(index):
        second, first = jax.jvp(gradient, (z,), (unit(index, z.size),))[1]
        slope = by_z[index] - first @ bent
        return second, first, slope, slope + first @ y

    return Derivatives(equations, *jax.lax.map(along, jnp.arange(z.size)))


def unit(index: Any, size: int) -> Float[Array, " size"]:
    """The unit vector of an index, zero where that is outside."""
    return jnp.where(jnp.arange(size) == index, 1.0, 0.0)
