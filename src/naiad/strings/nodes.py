"""Sums over the elements of a string at its nodes.

Loops run from the guide way on and carry nothing from an element to the next but data of the node between them, so that
a processor may treat several elements at once.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


class Nodes(NamedTuple):
    """A value at each node: those before the elements, of which the first is the guide way, and the last."""

    before: Float[Array, "N ..."]
    last: Float[Array, "..."]

    @property
    def rows(self) -> Float[Array, "N ..."]:
        """The values at the nodes after the elements."""
        return jnp.concatenate([self.before[1:], self.last[None]])

    def followed_by(self, ends: Float[Array, " m"]) -> Float[Array, " n"]:
        """All numbers of the rows, then those of the ends."""
        return jnp.concatenate([self.before[1:].reshape(-1), self.last, ends])


def to_nodes(
    element: Callable[[Any, Any], tuple[Any, Any, Any, Any]], begin: Any, each: Any, first: Any
) -> tuple[Any, Any, Any]:
    """What elements give to their nodes, summed there: at the nodes before the elements, the first of which has `first`
    beside, and at the last; and other results, stacked.

    `element(near, one)` takes the data of its near node (`begin` for the guide way) and its own, and returns the data
    of its far node, what it gives to the near and to the far node, and other results.
    """

    def step(carry, one):
        near, pending = carry
        far, to_near, to_far, other = element(near, one)
        return (far, to_far), (jax.tree.map(jnp.add, pending, to_near), other)

    (_, last), (before, other) = jax.lax.scan(step, (begin, first), each)
    return before, last, other
