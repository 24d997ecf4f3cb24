"""Steps with several stages: derivatives of one stage, in a loop over them, and of the frame, put together by the
tableau, so that the code does not grow with their number."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.control.derivatives import Row, derivatives
from naiad.control.interval import Interval, Values, misses, values
from naiad.control.problem import Problem


class Stage(NamedTuple):
    """A stage of a step: when the motion begins, the step's index, h (or its part of a free duration) and first node,
    the constants, the stage's weight and time, its controls, chart vector and increment, their displacements and that
    of the first node, and the multipliers of the inequalities."""

    begin: Any
    k: Any
    step: Any
    g: Any
    theta: Any
    b: Any
    c: Any
    u: Any
    Theta: Any
    inc: Any
    zeta: Any
    dTheta: Any
    dinc: Any
    rho: Any


class Frame(NamedTuple):
    """A step without its stages: both nodes, the vector x and the momentum pi, and the multipliers."""

    g: Any
    g_next: Any
    x: Any
    pi: Any
    tau: Any
    lam: Any
    gamma: Any


def stage_lagrange(problem: Problem, at: Stage, z: Any, y: Any) -> Any:
    """The work of a stage, of z = (eta, theta, u, Theta, k) and y = (zeta, dTheta, dk, rho)."""
    n = problem.group.dim
    eta, theta, u, Theta, inc = jnp.split(z, np.cumsum(_stage_sizes(problem))[:-1])
    zeta, dTheta, dinc, rho = jnp.split(y, (n, 2 * n, 3 * n))
    steps: Any = problem.steps
    place, momentum = problem.units.place, problem.units.momentum
    Theta, inc, zeta, dTheta, dinc = place * Theta, place * inc, zeta / momentum, dTheta / momentum, dinc / momentum
    h = problem.length(theta, at.step)
    g, t, system, controlled = problem.moved(at.g, eta), at.begin + at.k * h, problem.known(theta), problem.controlled()
    value = steps.work(system, controlled, g, t, h, at.b, at.c, u, Theta, inc, dTheta, dinc, zeta=zeta)
    if problem.path is None:
        return value
    return value + rho @ steps.stage_path(controlled, problem.group, g, t, h, at.c, u, Theta, inc)


def frame_lagrange(problem: Problem, at: Frame, z: Any, y: Any) -> Any:
    """What a step leads to and its balance, of z = (eta, x, pi) and y = (tau, lam, gamma)."""
    (eta, x, pi), (tau, lam, gamma) = jnp.split(z, 3), jnp.split(y, 3)
    steps: Any = problem.steps
    momentum, x = problem.units.momentum, problem.units.place * x
    value = steps.frame(problem.group, x, momentum * pi, tau / momentum, gamma / momentum)
    return value + lam @ problem.passed(at.g, at.g_next, eta, x)


def _stage_sizes(problem: Problem) -> tuple[int, ...]:
    """Of the parts of z."""
    n = problem.group.dim
    return n, problem.constants, problem.controls, n, n


def _stage_unknowns(problem: Problem, at: Stage) -> tuple[Any, Any]:
    z = jnp.concatenate([jnp.zeros(problem.group.dim), at.theta, at.u, at.Theta, at.inc])
    return z, jnp.concatenate([at.zeta, at.dTheta, at.dinc, at.rho])


def _frame_unknowns(problem: Problem, at: Frame) -> tuple[Any, Any]:
    z = jnp.concatenate([jnp.zeros(problem.group.dim), at.x, at.pi])
    return z, jnp.concatenate([at.tau, at.lam, at.gamma])


class Parts:
    """How the unknowns and equations of a step are made of those of its stages and its frame."""

    def __init__(self, problem: Problem, at: Interval):
        steps: Any = problem.steps
        self.problem, self.at = problem, at
        self.a, self.b, self.c = map(np.asarray, steps.method.tableau)
        self.s, self.n = len(self.b), problem.group.dim

    def over_stages(self, function: Callable[[Stage], Any]) -> Any:
        """What a function gives of every stage."""
        at, inc, dinc = self.at, self.at.K[:-1], self.at.sigma[:-1]

        def of(each: Any) -> Any:
            return function(Stage(at.begin, at.k, at.step, at.g, at.theta, *each))

        zeta, rho = jnp.broadcast_to(-at.sigma[-1], inc.shape), at.rho.reshape(self.s, -1)
        each = (self.b, self.c, at.U, self.a @ inc, inc, zeta, self.a @ dinc, dinc, rho)
        return jax.lax.map(of, jax.tree.map(jnp.asarray, each))

    def frame(self) -> Frame:
        """The frame."""
        at = self.at
        return Frame(at.g, at.g_next, self.b @ at.K[:-1], at.K[-1], at.sigma[-1], at.lam, at.gamma)

    def unknowns(self, stages: Any, frame: Any) -> Any:
        """A row of z = (eta, theta, U, K) from those of stages and the frame, for derivatives."""
        eta, theta, u, chart, inc = jnp.split(stages, np.cumsum(_stage_sizes(self.problem))[:-1], axis=1)
        frame_eta, x, pi = jnp.split(frame, 3)
        K = inc + self.a.T @ chart + self.b[:, None] * x
        parts = (jnp.sum(eta, axis=0) + frame_eta, jnp.sum(theta, axis=0), u.reshape(-1), K.reshape(-1), pi)
        return jnp.concatenate(parts)

    def equations(self, stages: Any, frame: Any) -> Any:
        """A row of y = (sigma, lam, gamma, rho), but for what b_i dk_i . pi adds."""
        n = self.n
        by_zeta, by_chart, by_inc, path = jnp.split(stages, (n, 2 * n, 3 * n), axis=1)
        balance, last = by_inc + self.a.T @ by_chart, frame[:n] - jnp.sum(by_zeta, axis=0)
        return jnp.concatenate([balance.reshape(-1), last, frame[n:], path.reshape(-1)])


class Staged:
    """The derivatives along single unknowns, as those of `Directional`, from matrices of stages and frame."""

    def __init__(self, problem: Problem, at: Interval, curvature: Any):
        self._parts, self._sizes = (parts := Parts(problem, at)), sum(_stage_sizes(problem))

        def of(function: Any, z: Any, y: Any) -> tuple[Any, Any]:
            found = derivatives(function, z, y, curvature)
            return jnp.concatenate([found.second, found.first, found.slope[:, None]], axis=1), found.equations

        def of_stage(at: Stage) -> tuple[Any, Any]:
            return of(lambda z, y: stage_lagrange(problem, at, z, y), *_stage_unknowns(problem, at))

        self._stages, equations = parts.over_stages(of_stage)
        frame = parts.frame()
        self._frame, last = of(lambda z, y: frame_lagrange(problem, frame, z, y), *_frame_unknowns(problem, frame))
        balance = (parts.b[:, None] * at.K[-1]).reshape(-1)
        self.equations = parts.equations(equations, last).at[: balance.size].add(-balance)

    def along(self, begin: int, size: int) -> Callable[[Any], Row]:
        """The rows for an index in a part of z."""
        parts, n = self._parts, self._parts.n
        mixed = jax.tree.map(jnp.asarray, _mixed(parts))

        def row(index: Any) -> Row:
            one, other, own, chart, in_frame, share, less = jax.tree.map(lambda a: a[begin + index], mixed)
            rows = [jax.lax.dynamic_index_in_dim(self._stages, place, 1, keepdims=False) for place in (one, other)]
            stages, frame = own[:, None] * rows[0] + chart[:, None] * rows[1], share * self._frame[in_frame]
            second = parts.unknowns(stages[:, : self._sizes], frame[: 3 * n])
            first = parts.equations(stages[:, self._sizes : -1], frame[3 * n : -1])
            return second, first.at[: less.size].add(-less), jnp.sum(stages[:, -1]) + frame[-1]

        return row


class Mixed(NamedTuple):
    """For each unknown of a step two of a stage, with the weights in every stage, one of the frame with its weight, and
    what the term b_i dk_i . pi takes from the inner equations."""

    one: np.ndarray
    other: np.ndarray
    own: np.ndarray
    chart: np.ndarray
    frame: np.ndarray
    share: np.ndarray
    less: np.ndarray


def _mixed(parts: Parts) -> Mixed:
    s, n, (_, c, nu, *_) = parts.s, parts.n, _stage_sizes(parts.problem)
    size, places = n + c + s * nu + (s + 1) * n, np.cumsum(_stage_sizes(parts.problem))
    one, other, frame = (np.zeros(size, int) for _ in range(3))
    own, chart, share, less = (np.zeros((size, *shape)) for shape in ((s,), (s,), (), (s * n,)))
    one[: n + c], own[: n + c] = np.arange(n + c), 1.0
    frame[:n], share[:n] = np.arange(n), 1.0
    for i in range(s):
        controls = slice(n + c + i * nu, n + c + (i + 1) * nu)
        one[controls], own[controls, i] = places[1] + np.arange(nu), 1.0
        first = n + c + s * nu + i * n
        increments = slice(first, first + n)
        one[increments], own[increments, i] = places[3] + np.arange(n), 1.0
        other[increments], chart[increments] = places[2] + np.arange(n), parts.a[:, i]
        frame[increments], share[increments] = n + np.arange(n), parts.b[i]
        less[-n:, i * n : (i + 1) * n] = parts.b[i] * np.eye(n)
    frame[-n:], share[-n:] = 2 * n + np.arange(n), 1.0
    return Mixed(one, other, own, chart, frame, share, less)


def values_of(problem: Problem, at: Interval) -> Values:
    """The equations of a step, from those of its stages where it has several."""
    if not problem.staged:
        return values(problem, at)
    n, inner, size, parts = problem.group.dim, problem.inner_size, sum(_stage_sizes(problem)), Parts(problem, at)

    def of_stage(at: Stage) -> Any:
        z, y = _stage_unknowns(problem, at)
        cost = stage_lagrange(problem, at, z, jnp.zeros_like(y))
        slopes = jax.grad(lambda z, y: stage_lagrange(problem, at, z, y), argnums=(0, 1))(z, y)
        return jnp.concatenate([cost[None], *slopes])

    stages, frame = parts.over_stages(of_stage), parts.frame()
    slopes = jax.grad(lambda z, y: frame_lagrange(problem, frame, z, y), argnums=(0, 1))
    dual, last = slopes(*_frame_unknowns(problem, frame))
    dual = parts.unknowns(stages[:, 1 : size + 1], dual).at[-n:].add(-parts.b @ at.sigma[:-1])
    balance = (parts.b[:, None] * at.K[-1]).reshape(-1)
    slope = parts.equations(stages[:, size + 1 :], last).at[: inner - n].add(-balance)
    return Values(jnp.sum(stages[:, 0]), *jnp.split(misses(at, slope), (inner, inner + n, inner + 2 * n)), dual)
