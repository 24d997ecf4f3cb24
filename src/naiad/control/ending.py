"""The last node of the discretised problem: the goal, and the cost and the conditions of the end."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.control.derivatives import derivatives
from naiad.control.problem import Problem
from naiad.control.step import Weights
from naiad.mechanics import State

CONDITION_SLACK = 1e-6  # the conditions of the end stand as |r|^2 / (2 CONDITION_SLACK), besides their multipliers


class End(NamedTuple):
    """The last node of an iterate: when the motion begins, its index, h (or its part of a free duration),
    configuration, momentum, constants, the multipliers of the conditions there, and the goal."""

    begin: Any
    k: Any
    step: Any
    g: Any
    m: Any
    theta: Any
    nu: Any
    goal: Any


class EndBlocks(NamedTuple):
    """v . x and the second derivatives, the conditions and their derivatives in rows of x = (eta, theta, m), and the
    gradient of the Lagrange function."""

    second: Any
    v: Any
    miss: Any
    slopes: Any
    dual: Any


class EndValues(NamedTuple):
    """The cost of the end, and what the conditions miss."""

    cost: Any
    miss: Any


def conditions(problem: Problem, end: End, x: Float[Array, " x"]) -> Float[Array, " r"]:
    """What must vanish at the end: the difference from the goal, and what the user asks for."""
    state, t, theta = _at(problem, end, x)
    parts = []
    if problem.reaching:
        parts += [problem.difference(end.goal.g, state.g), state.mu - end.goal.mu]
    if problem.ending is not None:
        parts.append(problem.at_end(problem.ending, state, t, theta))
    return jnp.concatenate([*parts, jnp.zeros(0)])


def end_cost(problem: Problem, end: End, x: Float[Array, " x"]) -> Any:
    """The cost of the end."""
    state, t, theta = _at(problem, end, x)
    return jnp.zeros(()) if problem.end_cost is None else problem.at_end(problem.end_cost, state, t, theta)


def end_values(problem: Problem, end: End) -> tuple[EndValues]:
    """The equations of the end."""
    x = jnp.zeros(problem.state_size)
    return (EndValues(end_cost(problem, end, x), conditions(problem, end, x)),)


def end_blocks(problem: Problem, end: End, weights: Weights) -> tuple[EndBlocks]:
    """The blocks of the end. A condition r = 0 with the multiplier nu stands as nu . r + |r|^2 / (2 CONDITION_SLACK),
    and the new multiplier is nu + r / CONDITION_SLACK: exact in the limit of the iteration."""
    x = jnp.zeros(problem.state_size)

    def lagrange(x, nu):
        return end_cost(problem, end, x) + nu @ conditions(problem, end, x)

    miss, second, slopes, slope, dual = derivatives(lagrange, x, end.nu, weights.curvature)
    v = slope + slopes @ (end.nu + miss / CONDITION_SLACK)
    return (EndBlocks(second, v, miss, slopes, dual),)


def _at(problem: Problem, end: End, x: Float[Array, " x"]) -> tuple[State, Any, Any]:
    n = problem.group.dim
    theta = end.theta + x[n : n + problem.constants]
    state = State(problem.moved(end.g, x[:n]), end.m + x[n + problem.constants :])
    return state, end.begin + end.k * problem.length(theta, end.step), theta
