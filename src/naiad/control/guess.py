"""Where the iteration begins: along the geodesic from the start to the goal, or at another solution."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute_rows
from naiad.compiler.tables import Fields, OverTables, Table, default_lanes, made_once, numbers_of
from naiad.control.iterate import Iterate, Numbers, chosen
from naiad.control.newton import MOST_SPARE, step_values
from naiad.control.problem import Problem
from naiad.control.solution import Solution, lagrange_weights
from naiad.errors import InputError
from naiad.mechanics import State

ROOM = 1e-2  # the part of the way between two bounds that a first guess keeps from each
SLACK = 1e-2  # the least slack of an inequality in the beginning


def beginning(
    problem: Problem,
    numbers: Numbers,
    start: State,
    T: float,
    theta: np.ndarray,
    N: int,
    sizes: tuple[int, int],
    barrier: float,
    bends: np.ndarray | None = None,
) -> Iterate:
    """The geodesic, bent aside if wanted, with controls as small as their bounds allow, all multipliers of equations
    zero."""
    bends = np.zeros((2, problem.group.dim)) if bends is None else bends
    g, m, x = geodesic(problem, start, numbers.goal, N, T / N, bends)
    U = np.zeros((N, problem.steps.stages, problem.controls))
    return centred(problem, numbers, _afresh(problem, theta, sizes, g, m, x, U, T / N), barrier)


def centred(problem: Problem, numbers: Numbers, at: Iterate, barrier: float) -> Iterate:
    """The iterate with its controls strictly within their bounds, and slacks and multipliers that fit a barrier."""
    U, low, high = _inside(at.U, numbers.lower, numbers.upper, barrier)
    theta, least, most = _inside(at.theta, numbers.least, numbers.most, barrier)
    at = at._replace(U=U, low=low, high=high, theta=theta, least=least, most=most)
    if not at.rho.size:
        return at
    slack = np.maximum(-step_values(problem, at.intervals(numbers)).path, SLACK)
    return at._replace(slack=slack, rho=barrier / slack)


def _inside(values: np.ndarray, lower: np.ndarray, upper: np.ndarray, barrier: float) -> tuple[np.ndarray, ...]:
    """Values strictly within bounds, and the multipliers of both."""
    if not (np.isfinite(lower).any() or np.isfinite(upper).any()):
        return values, np.zeros_like(values), np.zeros_like(values)
    both = np.isfinite(lower) & np.isfinite(upper)
    room = ROOM * np.where(both, np.where(both, upper, 1.0) - np.where(both, lower, 0.0), 1.0)
    values = np.clip(values, lower + room, upper - room)
    return values, barrier / (values - lower), barrier / (upper - values)


class Route(NamedTuple):
    """Where a geodesic leads from and to, two vectors by which it is moved aside in half a sine wave and in a whole
    one, the part of the way that a step is, and the duration."""

    first: Any
    last: Any
    bends: Any
    step: Any
    duration: Any


class Node(NamedTuple):
    """A node of a geodesic, the momentum there, and the vector x of the step g_{k+1} = g_k tau(x) that leads on."""

    g: Any
    mu: Any
    x: Any


class Geodesics:
    """Geodesics of a system with a retraction, `moved`, and the tables of those that were made before."""

    def __init__(self, moved: Any, route: Route):
        self._moved, self._route, self._lanes = moved, Fields.of(route), default_lanes()
        form = Fields.of(np.zeros(()))
        self._over = OverTables(_on_geodesic, moved, self._route, form, lanes=self._lanes, apart=("out0",))
        self._part, self._spare = form, dict[int, list[Any]]()

    def nodes(self, moved: Any, route: Route, N: int) -> Node:
        """All nodes of one."""
        try:
            tables = self._spare[N].pop()
        except LookupError:
            tables = self._tables(N)
        call, shared, given, found = tables
        shared.share(moved, numbers_of(moved))
        given.memory[0] = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(route)])[:, None]
        call()
        nodes = jax.tree.map(np.array, found.rows(N + 1))
        self._spare = {N: [*self._spare.get(N, [])[:MOST_SPARE], tables]}
        return nodes

    def _tables(self, N: int) -> Any:
        groups = -(-(N + 1) // self._lanes)
        shared, given = Table.same(self._moved), Table(self._route, 1, self._lanes, same=True)
        parts = Table(self._part, groups, self._lanes)
        parts.put(np.arange(N + 1)[:, None] / N)
        (found,) = self._over.tables(groups)
        return self._over.over(shared, [given, parts], [found]), shared, given, found


def geodesic(
    problem: Problem, start: State, goal: State, N: int, h: float, bends: np.ndarray
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Configurations g_0 exp(s(t) log(g_0^-1 g_N)) with s from rest to rest, s = 3 t^2 - 2 t^3, the momenta at the
    nodes, which at both ends are those that are given, and the vectors x of the steps g_{k+1} = g_k tau(x); moved aside
    as `Route` says."""
    moved = (problem.system, problem.steps.retraction)
    route = Route(start.g, goal.g, bends, np.asarray(1.0 / N), np.asarray(N * h))
    g, mu, x = made_once(moved, Geodesics, lambda: Geodesics(moved, route)).nodes(moved, route, N)
    mu[0], mu[-1] = start.mu, goal.mu
    return g, mu, x[:-1]


def _on_geodesic(moved: Any, route: Route, part: Any) -> tuple[Node]:
    (system, retraction), group = moved, moved[0].group
    whole = group.log(group.compose(group.inverse(route.first), route.last))
    waves = jnp.pi * jnp.array([1.0, 2.0])

    def node(part):
        aside, ahead = jnp.sin(part * waves) @ route.bends, part**2 * (3.0 - 2.0 * part) * whole
        return group.compose(group.compose(route.first, group.exp(ahead)), group.exp(aside))

    g = node(part)
    speed = (6.0 * part * (1.0 - part) * whole + (jnp.cos(part * waves) * waves) @ route.bends) / route.duration
    x = retraction.inverse(group, group.compose(group.inverse(g), node(jnp.minimum(part + route.step, 1.0))))
    return (Node(g, system.legendre(g, speed, 0.0), x),)


def resampled(
    guess: Solution, problem: Problem, numbers: Numbers, start: State, N: int, sizes: tuple[int, int], barrier: float
) -> Iterate:
    """Another solution as an iterate with N steps, from a start of its own. Of a problem of another form, such as one
    of another order or without inequalities, only the motion and its controls are used."""
    old = guess.iterate
    if (
        old.theta.shape != (problem.constants,)
        or old.U.shape[2] != problem.controls
        or guess.problem.group != problem.group
    ):
        raise InputError(
            f"guess has {old.U.shape[2]} controls and {len(old.theta)} constants on {guess.problem.group!r}; expected "
            f"{problem.controls} and {problem.constants} on {problem.group!r}, those of the problem."
        )
    count = old.K.shape[0]
    place = np.arange(N + 1) * (count / N)
    k = np.minimum(place.astype(int), count - 1)
    part = place - k
    ends = (chosen(old.g, each) for each in (k, k + 1))
    g = execute_rows(_between, problem, *ends, part, parameters=())
    m = _mixed(old.m, k, part)
    for array, first in zip(jax.tree.leaves((g, m)), jax.tree.leaves(start), strict=True):
        array[0] = first
    nearest = np.minimum(((np.arange(N) + 0.5) * (count / N)).astype(int), count - 1)
    times = np.asarray(problem.steps.times)
    within = (np.arange(N)[:, None] + times) * (count / N) - nearest[:, None]
    given = np.asarray(guess.problem.steps.times)
    U = np.einsum("ksj,kju->ksu", lagrange_weights(given, within), old.U[nearest])
    inequalities, conditions = sizes
    form = (
        problem.steps.inner,
        problem.steps.stages * inequalities,
        2 * problem.group.dim * problem.reaching + conditions,
    )
    if form != (old.K.shape[1], old.rho.shape[1], len(old.nu)):
        before, after = (chosen(g, slice(N)), chosen(g, slice(1, None)))
        x = execute_rows(_led, problem, before, after, parameters=())
        return centred(problem, numbers, _afresh(problem, old.theta, sizes, g, m, x, U, guess.T / N), barrier)
    costates = [np.concatenate([each[:1], each]) for each in (old.lam, old.gamma)]
    lam, gamma = (_mixed(each, k, part)[1:] for each in costates)
    at = Iterate(
        g=g,
        m=m,
        theta=old.theta,
        K=problem.steps.rescaled(old.K[nearest], count / N),
        U=U,
        sigma=old.sigma[nearest],
        lam=lam,
        gamma=gamma,
        rho=old.rho[nearest],
        slack=old.slack[nearest],
        low=old.low[nearest],
        high=old.high[nearest],
        least=old.least,
        most=old.most,
        nu=old.nu,
    )
    return centred(problem, numbers, at, barrier)


def _afresh(
    problem: Problem,
    theta: np.ndarray,
    sizes: tuple[int, int],
    g: Any,
    m: np.ndarray,
    x: np.ndarray,
    U: np.ndarray,
    h: float,
) -> Iterate:
    """The iterate of a motion by steps x and its controls, the multipliers of all equations zero."""
    N, n, stages = len(U), problem.group.dim, problem.steps.stages
    inequalities, conditions = sizes
    none, paths = np.zeros((N, n)), np.zeros((N, stages * inequalities))
    return Iterate(
        g=g,
        m=m,
        theta=theta,
        K=problem.steps.guessed(x, 0.5 * (m[:-1] + m[1:]), h),
        U=U,
        sigma=np.zeros((N, problem.steps.inner, n)),
        lam=none,
        gamma=none,
        rho=paths,
        slack=paths,
        low=np.zeros_like(U),
        high=np.zeros_like(U),
        least=np.zeros_like(theta),
        most=np.zeros_like(theta),
        nu=np.zeros(2 * n * problem.reaching + conditions),
    )


def _led(problem: Problem, g: Any, f: Any) -> Any:
    """x of the step f = g tau(x)."""
    return problem.steps.retraction.inverse(problem.group, problem.group.compose(problem.group.inverse(g), f))


def _mixed(rows: np.ndarray, k: np.ndarray, part: np.ndarray) -> np.ndarray:
    return rows[k] + part[:, None] * (rows[k + 1] - rows[k])


def _between(problem: Problem, g: Any, f: Any, part: Any) -> Any:
    return problem.moved(g, part * problem.difference(g, f))
