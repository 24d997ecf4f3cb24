"""The state of a mechanical system."""

from typing import Any, NamedTuple

from jaxtyping import Array, Float

Scalar = Float[Array, ""] | float
"""A number, traced by JAX or not."""


class State(NamedTuple):
    """A configuration g and the momentum mu = d ell / d xi there, in the body frame (left trivialisation of T*G)."""

    g: Any
    mu: Float[Array, " n"]
