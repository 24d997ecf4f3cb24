"""The parts of a string: what an element knows, and what the ends know."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

Vector = Float[Array, "3"]


class Span(NamedTuple):
    """The ends of an element and the length s of string on the reel; or their rates."""

    near: Vector
    far: Vector
    s: Any

    @property
    def length(self) -> Float[Array, ""]:
        """The distance of the ends."""
        way = self.far - self.near
        return jnp.sqrt(jnp.dot(way, way))

    def flat(self) -> Float[Array, "7"]:
        """The numbers."""
        return jnp.concatenate([self.near, self.far, jnp.reshape(jnp.asarray(self.s, float), (1,))])

    @classmethod
    def of(cls, numbers: Float[Array, "7"]) -> "Span":
        """The inverse of `flat`."""
        return cls(numbers[:3], numbers[3:6], numbers[6])


class Tip(NamedTuple):
    """The end of the string, the length s on the reel, the attitude of the body (None if it has none), the guide way
    (None if it rests at the origin) and the ways from there to the nodes inside (None if nothing stretches there); or
    their rates, R' being the matrix, in space or in the `frame` that is given with it."""

    q: Vector
    s: Any
    R: Any
    start: Any = None
    w: Any = None
    frame: Any = None


def pairs(first: Any, rows: Any) -> tuple[Any, Any]:
    """The values at both ends of each element."""
    rows = jnp.asarray(rows)
    return jnp.concatenate([first[None], rows[:-1]]), rows
