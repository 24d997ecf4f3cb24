"""Left-trivialised derivatives on a group."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.groups import AbstractGroup
from naiad.numerics.arguments import checked_throughout


@checked_throughout
def left_gradient(group: AbstractGroup, function: Callable[[Any], Float[Array, ""]], g: Any) -> Float[Array, " n"]:
    """T*L_g D function(g): the covector whose pairing with eta is d/ds function(g exp(s eta)) at s = 0."""
    return pull_back(group, g, jax.grad(function)(g))


@checked_throughout
def pull_back(group: AbstractGroup, g: Any, gradient: Any) -> Float[Array, " n"]:
    """T*L_g of an ambient gradient at g."""
    (covector,) = jax.linear_transpose(lambda eta: group.tangent(g, eta), jnp.zeros(group.dim))(gradient)
    return covector


@checked_throughout
def left_jacobian(group: AbstractGroup, function: Callable[[Any], Float[Array, " m"]], g: Any) -> Float[Array, "m n"]:
    """The matrix of eta -> d/ds function(g exp(s eta)) at s = 0."""

    def directional(eta):
        return jax.jvp(function, (g,), (group.tangent(g, eta),))[1]

    return jax.vmap(directional, out_axes=1)(jnp.eye(group.dim))


@checked_throughout
def left_velocity(group: AbstractGroup, curve: Callable[[Float[Array, ""]], Any]) -> Float[Array, " n"]:
    """g^-1 g' at s = 0 of a curve s -> g(s)."""
    start = curve(jnp.zeros(()))

    def coordinates(s):
        return group.log(group.compose(group.inverse(start), curve(s)))

    return jax.jvp(coordinates, (jnp.zeros(()),), (jnp.ones(()),))[1]
