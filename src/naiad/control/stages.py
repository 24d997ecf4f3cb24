"""The blocks of steps with several stages: derivatives of one stage and of the frame, which do not depend on their
number, put together by the tableau; the linear algebra of a step in NumPy, for all steps at once."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute_rows
from naiad.control.blocks import Kept
from naiad.control.derivatives import derivatives
from naiad.control.interval import Interval, Values
from naiad.control.problem import Problem
from naiad.control.riccati import Sizes, Swept
from naiad.control.transcription import GaussSteps


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
    return steps.frame(problem.group, x, pi, tau, gamma) + lam @ problem.passed(at.g, at.g_next, eta, x)


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


def _stage_derivatives(problem: Problem, at: Stage, curvature: Any) -> Any:
    return derivatives(lambda z, y: stage_lagrange(problem, at, z, y), *_stage_unknowns(problem, at), curvature)


def _frame_derivatives(problem: Problem, at: Frame, curvature: Any) -> Any:
    return derivatives(lambda z, y: frame_lagrange(problem, at, z, y), *_frame_unknowns(problem, at), curvature)


def _stage_values(problem: Problem, at: Stage) -> Any:
    z, y = _stage_unknowns(problem, at)
    cost = stage_lagrange(problem, at, z, jnp.zeros_like(y))
    return cost, jax.grad(lambda z, y: stage_lagrange(problem, at, z, y), argnums=(0, 1))(z, y)


def _frame_values(problem: Problem, at: Frame) -> Any:
    return jax.grad(lambda z, y: frame_lagrange(problem, at, z, y), argnums=(0, 1))(*_frame_unknowns(problem, at))


class Assembly:
    """How the unknowns of stages and frame are made of those of steps; rows are steps."""

    def __init__(self, problem: Problem, at: Interval):
        steps = problem.steps
        assert isinstance(steps, GaussSteps)
        self.problem, self.at = problem, at
        self.a, self.b, self.c = map(np.asarray, steps.method.tableau)
        self.s, self.rows = len(self.b), len(at.K)

    @property
    def _places(self) -> np.ndarray:
        return np.cumsum(_stage_sizes(self.problem))[:-1]

    def stages(self) -> Stage:
        """The stages of all steps."""
        at, s, rows = self.at, self.s, self.rows
        own = (at.begin, at.k, at.step, at.g, at.theta)
        begin, k, step, g, theta = jax.tree.map(lambda a: np.repeat(a, s, axis=0), own)
        inc, dinc = at.K[:, :-1], at.sigma[:, :-1]
        own = (at.U, self._charted(inc), inc, -np.repeat(at.sigma[:, -1:], s, axis=1), self._charted(dinc), dinc)
        u, Theta, inc, zeta, dTheta, dinc = (np.ascontiguousarray(array).reshape(rows * s, -1) for array in own)
        rho = at.rho.reshape(rows * s, at.rho.shape[1] // s)
        b, c = np.tile(self.b, rows), np.tile(self.c, rows)
        return Stage(begin, k, step, g, theta, b, c, u, Theta, inc, zeta, dTheta, dinc, rho)

    def frames(self) -> Frame:
        """The frames of all steps."""
        at = self.at
        x, pi = np.einsum("i,kin->kn", self.b, at.K[:, :-1]), np.ascontiguousarray(at.K[:, -1])
        return Frame(at.g, at.g_next, x, pi, np.ascontiguousarray(at.sigma[:, -1]), at.lam, at.gamma)

    def _charted(self, increments: np.ndarray) -> np.ndarray:
        return np.einsum("ji,kin->kjn", self.a, increments)

    def equations(self, stage: np.ndarray, frame: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inner equations less the momentum that comes in, those of the next node, and the inequalities."""
        n, at = self.problem.group.dim, self.at
        stage = stage.reshape(self.rows, self.s, -1)
        by_zeta, by_chart, by_inc, path = np.split(stage, (n, 2 * n, 3 * n), axis=2)
        balance = by_inc + np.einsum("ji,kjn->kin", self.a, by_chart) - self.b[:, None] * at.K[:, -1:]
        last = frame[:, :n] - by_zeta.sum(axis=1) - at.m
        after = frame[:, n:].copy()
        after[:, n:] -= at.m_next
        return (
            np.concatenate([balance.reshape(self.rows, -1), last], axis=1),
            after,
            path.reshape(self.rows, at.rho.shape[1]),
        )

    def spread(self, stage: np.ndarray, frame: np.ndarray) -> np.ndarray:
        """Rows of the unknowns of stages, (steps, stages, z, ...), and of frames as rows of z = (eta, theta, U, K)."""
        n, nu = self.problem.group.dim, self.problem.controls
        eta, theta, u, chart, inc = np.split(stage, self._places, axis=2)
        frame_eta, x, pi = np.split(frame, 3, axis=1)
        rest = stage.shape[3:]
        inner = inc + np.einsum("ji,kjn...->kin...", self.a, chart) + np.einsum("i,kn...->kin...", self.b, x)
        return np.concatenate(
            [
                eta.sum(axis=1) + frame_eta,
                theta.sum(axis=1),
                u.reshape(self.rows, self.s * nu, *rest),
                inner.reshape(self.rows, self.s * n, *rest),
                pi,
            ],
            axis=1,
        )

    def second(self, stage: np.ndarray, frame: np.ndarray) -> np.ndarray:
        """Second derivatives in z, from those of stages and frames."""
        return self.spread(self._columns(stage), self._frame_columns(frame))

    def _columns(self, stage: np.ndarray) -> np.ndarray:
        """The columns of each stage in the places of z."""
        n, nu, c, s = self.problem.group.dim, self.problem.controls, self.problem.constants, self.s
        size = s * nu + n + c + (s + 1) * n
        found = np.zeros((*stage.shape[:3], size))
        eta, theta, u, chart, inc = np.split(stage, self._places, axis=3)
        first = s * nu + n + c
        found[..., : n + c] = np.concatenate([eta, theta], axis=3)
        for j in range(s):
            found[:, j, :, n + c + j * nu : n + c + (j + 1) * nu] = u[:, j]
            for i in range(s):
                place = slice(first + i * n, first + (i + 1) * n)
                found[:, j, :, place] = self.a[j, i] * chart[:, j] + (inc[:, j] if i == j else 0.0)
        return found

    def _frame_columns(self, frame: np.ndarray) -> np.ndarray:
        nu, c, s = self.problem.controls, self.problem.constants, self.s
        eta, x, pi = np.split(frame, 3, axis=2)
        none = np.zeros((*frame.shape[:2], c))
        inner = [each * x for each in self.b]
        return np.concatenate([eta, none, np.zeros((*frame.shape[:2], s * nu)), *inner, pi], axis=2)

    def first(self, stage: np.ndarray, frame: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Derivatives of inner equations, those of the next node, and the inequalities; rows are z."""
        n, s = self.problem.group.dim, self.s
        by_zeta, by_chart, by_inc, path = np.split(stage, (n, 2 * n, 3 * n), axis=3)
        z, q = stage.shape[2], path.shape[3]
        inner = np.zeros((self.rows, s, z, (s + 1) * n))
        paths = np.zeros((self.rows, s, z, s * q))
        for j in range(s):
            for i in range(s):
                inner[:, j, :, i * n : (i + 1) * n] = self.a[j, i] * by_chart[:, j] + (by_inc[:, j] if i == j else 0.0)
            inner[:, j, :, s * n :] = -by_zeta[:, j]
            paths[:, j, :, j * q : (j + 1) * q] = path[:, j]
        frame_inner = np.concatenate([np.zeros((*frame.shape[:2], s * n)), frame[..., :n]], axis=2)
        found = self.spread(inner, frame_inner)
        for i in range(s):
            found[:, -n:, i * n : (i + 1) * n] -= self.b[i] * np.eye(n)
        none = np.zeros((self.rows, s, z, 2 * n))
        leads = self.spread(none, frame[..., n:])
        return found, leads, self.spread(paths, np.zeros((*frame.shape[:2], s * q)))


def staged_values(problem: Problem, at: Interval) -> Values:
    """The equations of steps, in rows."""
    made = Assembly(problem, at)
    n = problem.group.dim
    cost, (stage_dual, stage) = execute_rows(_stage_values, problem, made.stages(), parameters=())
    frame_dual, frame = execute_rows(_frame_values, problem, made.frames(), parameters=())
    balance, after, path = made.equations(stage, frame)
    dual = made.spread(stage_dual.reshape(made.rows, made.s, -1), frame_dual)
    dual[:, -n:] -= np.einsum("i,kin->kn", made.b, at.sigma[:, :-1])
    return Values(cost.reshape(made.rows, -1).sum(axis=1), balance, after[:, :n], after[:, n:], path, dual)


def staged_blocks(problem: Problem, at: Interval, barrier: np.ndarray, curvature: np.ndarray) -> tuple[Swept, Kept]:
    """The blocks of steps, in rows."""
    made = Assembly(problem, at)
    rows, s = made.rows, made.s
    stage = execute_rows(_stage_derivatives, problem, made.stages(), np.repeat(curvature, s), parameters=())
    frame = execute_rows(_frame_derivatives, problem, made.frames(), curvature, parameters=())
    stage = stage._replace(**{key: value.reshape(rows, s, *value.shape[1:]) for key, value in stage._asdict().items()})
    second, slope = made.second(stage.second, frame.second), made.spread(stage.slope, frame.slope)
    equations, first = made.equations(stage.equations, frame.equations), made.first(stage.first, frame.first)
    return condensed(problem, at, second, first, slope, equations, barrier)


def condensed(
    problem: Problem,
    at: Interval,
    second: np.ndarray,
    first: tuple[np.ndarray, np.ndarray, np.ndarray],
    slope: np.ndarray,
    equations: tuple[np.ndarray, np.ndarray, np.ndarray],
    barrier: np.ndarray,
) -> tuple[Swept, Kept]:
    """The blocks from the derivatives in z = (eta, theta, U, K), rows being steps: K is eliminated."""
    n, inner, c, own = problem.group.dim, problem.inner_size, problem.constants, problem.control_size
    x, plain, nx, rows = n + c, n + c + own, 2 * n + c, len(slope)
    ny = nx + own
    (balance, leads, paths), (miss, after, path) = first, equations
    if path.shape[1]:
        weight = at.rho / at.slack
        second = second + (paths * weight[:, None]) @ paths.transpose(0, 2, 1)
        push = barrier[:, None] / at.slack + weight * (path + at.slack)
        slope = slope + (paths @ push[..., None])[..., 0]
    right = np.zeros((rows, inner, ny + 1 + inner))
    right[:, :, :x], right[:, :, nx:ny] = (-part.transpose(0, 2, 1) for part in (balance[:, :x], balance[:, x:plain]))
    right[:, -n:, x:nx] = np.eye(n)
    right[:, :, ny] = -miss
    right[:, :, ny + 1 :] = np.eye(inner)
    E = np.linalg.solve(balance[:, plain:].transpose(0, 2, 1), right).transpose(0, 2, 1)
    by_y = E[:, : ny + 1]

    def of(array: np.ndarray) -> np.ndarray:
        found = by_y @ array[:, plain:]
        found[:, :x] += array[:, :x]
        found[:, nx:ny] += array[:, x:plain]
        return found

    bend, lead = of(second), of(leads)
    H = bend[:, :, plain:] @ by_y[:, :ny].transpose(0, 2, 1)
    H[:, :, :x] += bend[:, :, :x]
    H[:, :, nx:] += bend[:, :, x:plain]
    lead[:, ny] += after
    of_slope = H[:, ny] + of(slope[..., None])[:, :ny, 0]
    swept = swept_rows(Sizes.of(problem), lead, H[:, :ny], of_slope)
    response = np.concatenate([by_y, bend[:, :, plain:]], axis=2)
    inverse = np.ascontiguousarray(E[:, ny + 1 :])
    return swept, Kept(response, of(paths), inverse, slope[:, plain:], leads[:, plain:], path)


def swept_rows(sizes: Sizes, lead: np.ndarray, H: np.ndarray, slope: np.ndarray) -> Swept:
    """What the sweeps need, from where steps lead to, (eta, m) by (x, U, 1), and the model of the cost in (x, U)."""
    nx, ny, n = sizes.state, sizes.state + sizes.control, lead.shape[2] // 2

    def spread(by_y: np.ndarray, one: np.ndarray) -> np.ndarray:
        found = np.zeros((*by_y.shape[:2], sizes.columns))
        found[..., :nx], found[..., nx], found[..., sizes.columns - sizes.control :] = (
            by_y[..., :nx],
            one,
            by_y[..., nx:],
        )
        return found

    leads = spread(lead[:, :ny].transpose(0, 2, 1), lead[:, ny])
    same = np.zeros((len(lead), nx + 1 - 2 * n, sizes.columns))
    same[:, :-1, n : nx - n], same[:, -1, nx] = np.eye(nx - 2 * n), 1.0
    constants, one = same[:, :-1], same[:, -1:]
    return Swept(np.concatenate([leads[:, :n], constants, leads[:, n:], one], axis=1), spread(H, slope))
