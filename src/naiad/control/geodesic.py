"""Where the iteration begins without a guess: along the geodesic from the start to the goal."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.control.ending import End
from naiad.control.interval import Interval
from naiad.control.iterate import Numbers
from naiad.control.problem import Problem
from naiad.mechanics import State

ROOM = 1e-2  # the part of the way between two bounds that a first guess keeps from each
SLACK = 1e-2  # the least slack of an inequality in the beginning


class Route(NamedTuple):
    """A first iterate: the state from which a geodesic leads to the goal, two vectors by which it is moved aside in
    half a sine wave and in a whole one, and the duration for its speeds; the controls of each step with the multipliers
    of their bounds, these bounds, the barrier, and the end."""

    first: Any
    bends: Any
    duration: Any
    U: Any
    low: Any
    high: Any
    lower: Any
    upper: Any
    barrier: Any
    end: End

    @classmethod
    def of(
        cls,
        problem: Problem,
        numbers: Numbers,
        start: State,
        T: float,
        theta: np.ndarray,
        N: int,
        conditions: int,
        barrier: float,
        bends: np.ndarray,
    ) -> "Route":
        """That of a problem from a start, in N steps: with controls as small as their bounds allow."""
        if not problem.units.plain:
            numbers, start = problem.units.numbers(numbers), problem.units.state(start)
        U = inside(np.zeros((problem.steps.stages, problem.controls)), numbers.lower, numbers.upper, barrier)
        theta, least, most = inside(theta, numbers.least, numbers.most, barrier)
        goal, nu = numbers.goal, np.zeros(conditions)
        fixed = (numbers.begin, float(N), numbers.step, goal, numbers.least, numbers.most)
        end = End(*fixed, goal.g, goal.mu, theta, nu, least, most, () if problem.begin is None else start)
        return cls(start, bends, T, *U, numbers.lower, numbers.upper, barrier, end)

    def leads(self, start: State, numbers: Numbers, N: int) -> bool:
        """Whether it is the one from this start, with these numbers, in N steps."""
        same = self.first is start and self.end.goal is numbers.goal
        return same and self.steps == N and self.end.begin == numbers.begin

    @property
    def steps(self) -> int:
        """The number of steps."""
        return int(self.end.k)

    def row(self) -> np.ndarray:
        """All of its numbers."""
        return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(self)])


def inside(values: np.ndarray, lower: np.ndarray, upper: np.ndarray, barrier: float) -> tuple[np.ndarray, ...]:
    """Values strictly within bounds, and the multipliers of both."""
    finite = np.isfinite([lower, upper])
    if not finite.any():
        return values, np.zeros(values.shape), np.zeros(values.shape)
    both = finite[0] & finite[1]
    room = ROOM * np.where(both, np.where(both, upper, 1.0) - np.where(both, lower, 0.0), 1.0)
    values = np.clip(values, lower + room, upper - room)
    return values, barrier / (values - lower), barrier / (upper - values)


def along(problem: Problem, route: Route, k: Any) -> tuple[Interval]:
    """Step k on the way g_0 exp(s(t) log(g_0^-1 g_N)), which leads from rest to rest by s = 3 t^2 - 2 t^3, with the
    momenta there, at both ends those that are given; moved aside as `Route` says. All multipliers of equations are
    zero, those of inequalities and their slacks fit the barrier."""
    first, end, group = route.first, route.end, problem.group
    whole = group.log(group.compose(group.inverse(first.g), end.g))
    waves = jnp.pi * jnp.array([1.0, 2.0])

    def node(k):
        part = k / end.k
        aside, ahead = jnp.sin(part * waves) @ route.bends, part**2 * (3.0 - 2.0 * part) * whole
        speed = (6.0 * part * (1.0 - part) * whole + (jnp.cos(part * waves) * waves) @ route.bends) / route.duration
        g = group.compose(group.compose(first.g, group.exp(ahead)), group.exp(aside))
        m = problem.system.legendre(g, speed, 0.0) / problem.units.momentum
        return g, jnp.where(k == 0.0, first.mu, jnp.where(k == end.k, end.m, m))

    nodes = jax.lax.map(node, jnp.stack([k, k + 1.0]))
    (g, m), (g_next, m_next) = (jax.tree.map(lambda a, j=j: a[j], nodes) for j in (0, 1))
    x = problem.steps.retraction.inverse(group, group.compose(group.inverse(g), g_next))
    mean, h = 0.5 * problem.units.momentum * (m + m_next), problem.length(end.theta, end.step)
    K = problem.steps.guessed(x, mean, route.duration / end.k)
    slack = jnp.maximum(-problem.path_values(g, K, route.U, end.begin + k * h, h), SLACK)
    none = jnp.zeros(group.dim)
    return (
        Interval(
            begin=end.begin,
            k=k,
            step=end.step,
            g=g,
            m=m,
            g_next=g_next,
            m_next=m_next,
            theta=end.theta,
            K=K / problem.inner_units,
            U=route.U,
            sigma=jnp.zeros_like(K),
            lam=none,
            gamma=none,
            rho=route.barrier / slack,
            slack=slack,
            low=route.low,
            high=route.high,
            lower=route.lower,
            upper=route.upper,
        ),
    )
