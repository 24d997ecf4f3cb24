"""A gait as a vector: all its numbers but the period, on which what a gait reaches does not depend."""

from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.locomotion.gait import AbstractGait

Gait = TypeVar("Gait", bound=AbstractGait)


def numbers(gait: AbstractGait) -> Float[Array, " p"]:
    """The numbers of a gait, field after field."""
    leaves = jax.tree.leaves(gait.replaced(period=None))
    return jnp.concatenate([jnp.zeros(0), *(jnp.ravel(jnp.asarray(leaf, float)) for leaf in leaves)])


def with_numbers(gait: Gait, vector: Any) -> Gait:
    """The gait of the same form and period that has these numbers."""
    leaves, tree = jax.tree.flatten(gait.replaced(period=None))
    ends = np.cumsum([0, *(np.size(leaf) for leaf in leaves)])
    parts = [vector[i:j].reshape(np.shape(leaf)) for leaf, i, j in zip(leaves, ends, ends[1:], strict=False)]
    return jax.tree.unflatten(tree, parts).replaced(period=gait.period)
