"""The first node of the discretised problem, where it depends on unknown parameters."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.control.problem import Problem


class Start(NamedTuple):
    """Increments x = (eta, theta, m) of the first node: those that it misses, and their rows in those of the constants:
    x = miss + slopes^T dtheta."""

    miss: Any
    slopes: Any


def start_values(problem: Problem, g: Any, m: Any, theta: Float[Array, " c"]) -> Float[Array, " x"]:
    """The increments by which the first node misses the one of the parameters."""
    state = problem.begin(problem.parameters(theta))
    return jnp.concatenate([problem.difference(g, state.g), jnp.zeros_like(theta), state.mu - m])


def start_blocks(problem: Problem, g: Any, m: Any, theta: Float[Array, " c"]) -> Start:
    """The increments and their derivatives in the constants."""

    def along(direction):
        moved = jax.jvp(lambda theta: start_values(problem, g, m, theta), (theta,), (direction,))[1]
        n = problem.group.dim
        return moved.at[n : n + theta.size].set(direction)

    return Start(start_values(problem, g, m, theta), jax.lax.map(along, jnp.eye(theta.size)))


def given(problem: Problem, problems: int) -> Start:
    """The blocks of a first node that is given: only the constants move."""
    n, c = problem.group.dim, problem.constants
    slopes = np.concatenate([np.zeros((c, n)), np.eye(c), np.zeros((c, n))], axis=1)
    return Start(np.zeros((problems, 2 * n + c)), np.repeat(slopes[None], problems, axis=0))
