"""The ends of the discretised problem: the goal, the cost and the conditions of the last node, the first node where
that is unknown, and the constants with their bounds."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.control.derivatives import derivatives
from naiad.control.first_node import Start, given, start_blocks, start_values
from naiad.control.measures import Duals, Measured, finite_logs
from naiad.control.problem import Problem
from naiad.control.riccati import Sizes, Value
from naiad.control.step import Lengths, Weights, limit
from naiad.mechanics import State

CONDITION_SLACK = 1e-6  # see `end_blocks`
SHORTENED = 0.5  # the part of a free duration by which a step may shorten it: of next to none nothing is learnt
NO_PIVOT = 1e300  # larger than any, and finite: costs to go are mixed


class End(NamedTuple):
    """The last node of an iterate: when the motion begins, its index, h (or its part of a free duration), the goal, the
    bounds of the constants; configuration, momentum, constants, the multipliers of the conditions there and of the
    bounds; and the first node, where that is unknown."""

    begin: Any
    k: Any
    step: Any
    goal: Any
    lower: Any
    upper: Any
    g: Any
    m: Any
    theta: Any
    nu: Any
    least: Any
    most: Any
    start: Any

    @property
    def gaps(self) -> tuple[Any, Any]:
        """The distances of the constants to their bounds."""
        return self.theta - self.lower, self.upper - self.theta


class EndBlocks(NamedTuple):
    """The conditions of the end and their derivatives in rows of x = (eta, theta, m), and the gradient of the Lagrange
    function."""

    miss: Any
    slopes: Any
    dual: Any


class EndStep(NamedTuple):
    """Increments of everything that an end has; of the multipliers of conditions, their new values."""

    eta: Any
    m: Any
    theta: Any
    nu: Any
    least: Any
    most: Any
    start: Any


class Errors(NamedTuple):
    """The largest entry of the gradient of the Lagrange function, relative to large multipliers, and the least and the
    largest product of a multiplier of a bound or an inequality and its gap."""

    dual: Any
    least: Any
    most: Any

    def centrality(self, barrier: float) -> float:
        """How far products are from a barrier."""
        return max(self.most - barrier, barrier - self.least, 0.0)


def conditions(problem: Problem, end: End, x: Float[Array, " x"]) -> Float[Array, " r"]:
    """What must vanish at the end: the difference from the goal, and what the user asks for."""
    state, t, theta = _at(problem, end, x)
    parts = []
    if problem.reaching:
        parts += [problem.difference(end.goal.g, state.g), state.mu - end.goal.mu]
    if problem.ending is not None:
        parts.append(problem.at_end(problem.ending, problem.outside(state), t, theta) / problem.units.ending)
    return jnp.concatenate([*parts, jnp.zeros(0)])


def end_cost(problem: Problem, end: End, x: Float[Array, " x"]) -> Any:
    """The cost of the end."""
    state, t, theta = _at(problem, end, x)
    if problem.end_cost is None:
        return jnp.zeros(())
    return problem.at_end(problem.end_cost, problem.outside(state), t, theta) / problem.units.cost


def end_tried(problem: Problem, end: End, step: EndStep, lengths: Lengths, steps: Measured) -> tuple[End, Measured]:
    """The ends after so much of a step, and what the whole iterate is there, whose steps are given."""
    primal, dual = lengths

    def moved(g: Any, eta: Any) -> Any:
        return problem.group.renormalise(problem.moved(g, primal * eta))

    start = end.start
    if problem.begin is not None:
        start = State(moved(start.g, step.start[0]), start.mu + primal * step.start[1])
    trial = end._replace(
        g=moved(end.g, step.eta),
        m=end.m + primal * step.m,
        theta=end.theta + primal * step.theta,
        nu=end.nu + primal * (step.nu - end.nu),
        least=end.least + dual * step.least,
        most=end.most + dual * step.most,
        start=start,
    )
    none = jnp.zeros(problem.state_size)
    misses = [conditions(problem, trial, none)]
    if problem.begin is not None:
        misses.append(start_values(problem, start, trial.theta))
    sizes = jnp.abs(jnp.concatenate(misses))
    return trial, Measured(
        steps.cost + end_cost(problem, trial, none),
        steps.missed + jnp.sum(sizes),
        jnp.max(sizes, initial=steps.largest),
        steps.logs + finite_logs(*trial.gaps),
    )


def end_blocks(problem: Problem, end: End, weights: Weights, steps: Duals) -> tuple[EndBlocks, Value, Start, Errors]:
    """The blocks of the ends, the cost to go at the last node, and the errors of the whole iterate, whose steps are
    given. A condition r = 0 with the multiplier nu stands as nu . r + r . S r / 2, S being diagonal and 1 /
    CONDITION_SLACK times the `shares`, and the new multiplier is nu + S r: exact in the limit of the iteration."""
    n, sizes, none = problem.group.dim, Sizes.of(problem), jnp.zeros(problem.group.dim)

    def lagrange(x, nu):
        return end_cost(problem, end, x) + nu @ conditions(problem, end, x)

    miss, second, slopes, slope = derivatives(lagrange, jnp.zeros(sizes.state), end.nu, weights.curvature)
    dual = slope + slopes @ end.nu
    below, above = end.gaps
    stiff = jnp.concatenate([none, end.least / below + end.most / above, none])
    push = jnp.concatenate([none, weights.barrier / above - weights.barrier / below, none])
    stiffness = problem.units.shares(problem.reaching, end.nu.size) / CONDITION_SLACK
    V = second + (stiffness * slopes) @ slopes.T
    V = 0.5 * (V + V.T) + jnp.diag(stiff)
    v = slope + slopes @ (end.nu + stiffness * miss) + push
    to_go = sizes.spread(V, v, jnp.zeros((sizes.state, sizes.control)))
    first = given(problem) if problem.begin is None else start_blocks(problem, end.start, end.theta)
    last = jnp.concatenate([dual[:n], dual[-n:]]) - steps.last
    by_theta = steps.by_theta + dual[n:-n] + _nodes(problem, first.slopes) @ steps.first + end.most - end.least
    largest = jnp.max(jnp.abs(jnp.concatenate([last, by_theta])), initial=steps.own)
    mean = (steps.size + jnp.sum(jnp.abs(end.nu))) / (steps.count + end.nu.size)
    products = [(jnp.isfinite(gap), multiplier * gap) for multiplier, gap in ((end.least, below), (end.most, above))]
    least, most = steps.least, steps.most
    for there, product in products:
        least = jnp.min(jnp.where(there, product, jnp.inf), initial=least)
        most = jnp.max(jnp.where(there, product, -jnp.inf), initial=most)
    errors = Errors(largest / jnp.maximum(1.0, mean / 100.0), least, most)
    return EndBlocks(miss, slopes, dual), Value(to_go, jnp.full((), NO_PIVOT)), first, errors


def end_stepped(
    problem: Problem, end: End, weights: Weights, blocks: EndBlocks, first: Any, last: Any
) -> tuple[EndStep, Lengths]:
    """The step of the ends, from the increments of the first and the last node, and how far it may go for the bounds of
    the constants and the duration, and for the multipliers."""
    n, c = problem.group.dim, problem.constants
    (below, above), theta = end.gaps, last[n : n + c]
    stiffness = problem.units.shares(problem.reaching, end.nu.size) / CONDITION_SLACK
    found = EndStep(
        eta=last[:n],
        m=last[n + c :],
        theta=theta,
        nu=end.nu + stiffness * (blocks.miss + last @ blocks.slopes),
        least=(weights.barrier - end.least * theta) / below - end.least,
        most=(weights.barrier + end.most * theta) / above - end.most,
        start=() if problem.begin is None else (first[:n], first[n + c :]),
    )
    primal, dual = [(below, theta), (above, -theta)], ((end.least, found.least), (end.most, found.most))
    if problem.free_time:
        primal.append((SHORTENED * end.theta[:1], theta[:1]))
    return found, Lengths(limit(primal), limit(dual))


def _nodes(problem: Problem, slopes: Float[Array, "c x"]) -> Float[Array, "c y"]:
    """The columns of configuration and momentum."""
    n = problem.group.dim
    return jnp.concatenate([slopes[:, :n], slopes[:, slopes.shape[1] - n :]], axis=1)


def _at(problem: Problem, end: End, x: Float[Array, " x"]) -> tuple[State, Any, Any]:
    n = problem.group.dim
    theta = end.theta + x[n : n + problem.constants]
    state = State(problem.moved(end.g, x[:n]), end.m + x[n + problem.constants :])
    return state, end.begin + end.k * problem.length(theta, end.step), theta
