"""The first node of the discretised problem, where it depends on unknown parameters."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.control.problem import Problem
from naiad.control.riccati import Barrier, Sizes, Value, inverted
from naiad.mechanics import State


class Start(NamedTuple):
    """Increments x = (eta, theta, m) of the first node: those that it misses, and their rows in those of the constants:
    x = miss + slopes^T dtheta."""

    miss: Any
    slopes: Any


class First(NamedTuple):
    """The smallest pivot of all."""

    pivot: Any


def start_values(problem: Problem, at: State, theta: Float[Array, " c"]) -> Float[Array, " x"]:
    """The increments by which the first node misses the one of the parameters."""
    state = problem.begin(problem.parameters(theta))
    mu = state.mu / problem.units.momentum
    return jnp.concatenate([problem.difference(at.g, state.g), jnp.zeros_like(theta), mu - at.mu])


def start_blocks(problem: Problem, at: State, theta: Float[Array, " c"]) -> Start:
    """The increments and their derivatives in the constants."""

    def along(direction):
        moved = jax.jvp(lambda theta: start_values(problem, at, theta), (theta,), (direction,))[1]
        n = problem.group.dim
        return moved.at[n : n + theta.size].set(direction)

    return Start(start_values(problem, at, theta), jax.lax.map(along, jnp.eye(theta.size)))


def given(problem: Problem) -> Start:
    """The blocks of a first node that is given: only the constants move."""
    n, c = problem.group.dim, problem.constants
    return Start(jnp.zeros(2 * n + c), jnp.concatenate([jnp.zeros((c, n)), jnp.eye(c), jnp.zeros((c, n))], axis=1))


def begun(sizes: Sizes, to_go: Value, start: Start, at: Barrier) -> tuple[Any, First]:
    """The increments of the first node, with the best constants, and the smallest pivot with theirs; what is added to
    the diagonal of the controls is added to theirs."""
    n, x, by = sizes.state, start.miss, start.slopes
    if not by.shape[0]:
        return x, First(to_go.pivot)
    V, v = to_go.V[:, :n], to_go.V[:, n]
    lower, inverses, pivot = inverted(by @ V @ by.T + at.shift * jnp.eye(by.shape[0]))
    best = lower.T @ (inverses * (lower @ (by @ (v + V @ x))))
    return x - by.T @ best, First(jnp.minimum(to_go.pivot, pivot))
