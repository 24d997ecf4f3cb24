"""Newton's step of the interior-point method, for one step of the motion: its direction, how far it may go, and the
iterate at its end."""

from typing import Any, NamedTuple

import jax.numpy as jnp

from naiad.control.blocks import Kept
from naiad.control.interval import Interval
from naiad.control.measures import gaps
from naiad.control.problem import Problem
from naiad.control.riccati import Bounded, Change


class Weights(NamedTuple):
    """The barrier, and the curvature as in `blocks`."""

    barrier: Any
    curvature: Any


class Lengths(NamedTuple):
    """How far to go: along the step, and in the multipliers of inequalities."""

    primal: Any
    dual: Any


class Step(NamedTuple):
    """Increments of everything that an iterate has; of the multipliers of equations, their new values. Those of both
    nodes come first."""

    eta: Any
    m: Any
    eta_next: Any
    m_next: Any
    theta: Any
    K: Any
    U: Any
    sigma: Any
    lam: Any
    gamma: Any
    rho: Any
    slack: Any
    low: Any
    high: Any


def bounded(problem: Problem, at: Interval) -> Bounded:
    """What bounds add to Newton's equations."""
    (low, high), part = gaps(at), problem.units.part
    stiff, push = part * (at.low / low + at.high / high), part * (1.0 / high - 1.0 / low)
    return Bounded(stiff.reshape(-1), push.reshape(-1))


def stepped(problem: Problem, at: Interval, weights: Weights, kept: Kept, change: Change) -> tuple[Step, Lengths]:
    """The step, from what the sweeps give, and how far it may go for the slacks and the bounds, and for their
    multipliers."""
    n, c, inner = problem.group.dim, problem.constants, problem.inner_size
    y, barrier = jnp.concatenate([change.x, change.U, jnp.ones(1)]), weights.barrier
    response = y @ kept.response
    equations = jnp.concatenate([change.costate[:n], change.costate[n + c :]])
    bent = kept.slope + response[inner:] + kept.leading @ equations
    slack = -(kept.path + at.slack) - y @ kept.paths
    (low, high), U = gaps(at), change.U.reshape(at.U.shape)
    found = Step(
        eta=change.x[:n],
        m=change.x[n + c :],
        eta_next=change.after[:n],
        m_next=change.after[n + c :],
        theta=change.x[n : n + c],
        K=response[:inner].reshape(at.K.shape),
        U=U,
        sigma=-(kept.inverse @ bent).reshape(at.K.shape),
        lam=change.costate[:n],
        gamma=change.costate[n + c :],
        rho=(barrier - at.rho * slack) / at.slack - at.rho,
        slack=slack,
        low=(barrier - at.low * U) / low - at.low,
        high=(barrier + at.high * U) / high - at.high,
    )
    primal = ((at.slack, found.slack), (low, U), (high, -U))
    dual = ((at.rho, found.rho), (at.low, found.low), (at.high, found.high))
    return found, Lengths(limit(primal), limit(dual))


def limit(pairs: Any) -> Any:
    """The multiple of changes at which the first of positive values is zero."""
    found = jnp.full((), jnp.inf)
    for value, change in pairs:
        falls = change < 0.0
        found = jnp.min(jnp.where(falls, -value / jnp.where(falls, change, 1.0), jnp.inf), initial=found)
    return found


def taken(problem: Problem, at: Interval, step: Step, lengths: Lengths) -> Interval:
    """The iterate at the end of a step; multipliers of increments of a node are those from where it is then:
    (dcay^-1_{-eta})* lam."""
    primal, dual = lengths

    def along(start: Any, change: Any) -> Any:
        return start + primal * change

    def towards(start: Any, end: Any) -> Any:
        return start + primal * (end - start)

    group, eta_next = problem.group, primal * step.eta_next
    return at._replace(
        g=group.renormalise(problem.moved(at.g, primal * step.eta)),
        m=along(at.m, step.m),
        g_next=group.renormalise(problem.moved(at.g_next, eta_next)),
        m_next=along(at.m_next, step.m_next),
        theta=along(at.theta, step.theta),
        K=along(at.K, step.K),
        U=along(at.U, step.U),
        sigma=towards(at.sigma, step.sigma),
        lam=problem.carried(eta_next, towards(at.lam, step.lam)),
        gamma=towards(at.gamma, step.gamma),
        rho=at.rho + dual * step.rho,
        slack=along(at.slack, step.slack),
        low=at.low + dual * step.low,
        high=at.high + dual * step.high,
    )
