"""What a step adds to the errors of an iterate, and the sums over all steps."""

from typing import Any, NamedTuple

import jax.numpy as jnp

from naiad.control.interval import Interval, Values
from naiad.control.problem import Problem
from naiad.control.riccati import Sizes


class Measured(NamedTuple):
    """The cost of a step, what its equations miss (the sum and the largest), and the logarithms of slacks and gaps."""

    cost: Any
    missed: Any
    largest: Any
    logs: Any


class Duals(NamedTuple):
    """The gradient of the Lagrange function: the largest slope in the step's own unknowns, the slopes in its `first`
    node (configuration and momentum), what they are at its `last` one by the multipliers, where they must agree with
    those of the next step, and the slopes in the constants; the sum of the sizes of all multipliers, and how many there
    are; the least and the largest product of a multiplier and what it belongs to.

    Of several steps, one after the other, `own` has the largest difference at the nodes between them too."""

    own: Any
    first: Any
    last: Any
    by_theta: Any
    size: Any
    count: Any
    least: Any
    most: Any


def gaps(at: Interval) -> tuple[Any, Any]:
    """The distances of the controls to their bounds."""
    return at.U - at.lower, at.upper - at.U


def finite_logs(*gaps: Any, weights: Any = 1.0) -> Any:
    """The weighted sum of the logarithms of gaps, of those that there are."""
    return sum(jnp.sum(weights * jnp.where(jnp.isfinite(gap), jnp.log(gap), 0.0)) for gap in gaps)


def measured(problem: Problem, at: Interval, values: Values) -> Measured:
    """Of the equations at an iterate."""
    parts = (values.balance, values.psi, values.momentum, values.path + at.slack)
    misses = jnp.abs(jnp.concatenate(parts))
    logs = finite_logs(at.slack) + finite_logs(*gaps(at), weights=problem.units.part)
    return Measured(values.cost, jnp.sum(misses), jnp.max(misses), logs)


def duals(problem: Problem, at: Interval, dual: Any) -> Duals:
    """Of the gradient of a step."""
    n, c, own = problem.group.dim, problem.constants, problem.control_size
    by_eta, by_theta, by_U, by_K = jnp.split(dual, (n, n + c, n + c + own))
    by_U = by_U.reshape(at.U.shape) / problem.units.part + at.high - at.low
    largest = jnp.max(jnp.abs(jnp.concatenate([by_U.reshape(-1), by_K])))
    pairs = ((at.rho, at.slack), *zip((at.low, at.high), gaps(at), strict=True))
    least, most = jnp.full((), jnp.inf), jnp.full((), -jnp.inf)
    for multiplier, gap in pairs:
        there = jnp.isfinite(gap)
        product = multiplier * jnp.where(there, gap, 0.0)
        least = jnp.min(jnp.where(there, product, jnp.inf), initial=least)
        most = jnp.max(jnp.where(there, product, -jnp.inf), initial=most)
    multipliers = (at.lam, at.gamma, at.rho, at.low, at.high)
    size, count = sum(jnp.sum(jnp.abs(each)) for each in multipliers), sum(each.size for each in multipliers)
    first, last = jnp.concatenate([by_eta, -at.sigma[-1]]), jnp.concatenate([at.lam, at.gamma])
    return Duals(largest, first, last, by_theta, size, jnp.full((), float(count)), least, most)


def summed(_: Sizes, before: Measured, step: Measured) -> tuple[Measured]:
    """Of a step and all before it."""
    both = Measured(*(one + other for one, other in zip(before, step, strict=True)))
    return (both._replace(largest=jnp.maximum(before.largest, step.largest)),)


def joined(_: Sizes, before: Duals, step: Duals) -> tuple[Duals]:
    """Of a step and all before it, if there are any."""
    going = before.count > 0.0
    between = jnp.max(jnp.abs(jnp.where(going, step.first - before.last, 0.0)))
    return (
        Duals(
            own=jnp.maximum(jnp.maximum(before.own, step.own), between),
            first=jnp.where(going, before.first, step.first),
            last=step.last,
            by_theta=before.by_theta + step.by_theta,
            size=before.size + step.size,
            count=before.count + step.count,
            least=jnp.minimum(before.least, step.least),
            most=jnp.maximum(before.most, step.most),
        ),
    )
