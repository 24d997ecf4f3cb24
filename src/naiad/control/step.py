"""Newton's step of the interior-point method: its direction, how far it may go, and the iterate at its end."""

from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.control.iterate import Iterate, Numbers, chosen
from naiad.control.newton import Barriers, Linearised, linearised, moved, swept
from naiad.control.problem import Problem
from naiad.control.riccati import Change

LARGEST_SHIFT = 1e8


class Gaps(NamedTuple):
    """The distances to the bounds of controls and constants."""

    low: Any
    high: Any
    least: Any
    most: Any

    @classmethod
    def of(cls, at: Iterate, numbers: Numbers) -> "Gaps":
        """Of an iterate."""
        return cls(
            at.U - numbers.lower[:, None, None],
            numbers.upper[:, None, None] - at.U,
            at.theta - numbers.least,
            numbers.most - at.theta,
        )


def newton_step(
    problem: Problem,
    at: Iterate,
    numbers: Numbers,
    found: Linearised,
    barrier: np.ndarray,
    shift: np.ndarray,
    halvings: int,
) -> tuple[Change, np.ndarray, np.ndarray]:
    """The change of every step, the increments of the last nodes, and the smallest pivots, which are positive where
    there are such.

    Where they are not, the curvature of the equations is left out (Gauss-Newton), or a share of it, found by so many
    `halvings`, that leaves them positive: it is slower from afar, and faster away from a saddle. Where that does not
    help, the controls' diagonal is shifted more and more.
    """
    step = swept(problem, found, barriers(at, numbers, barrier, shift))
    wrong = np.flatnonzero(~(step[2] > 0))
    if not wrong.size:
        return step
    at, numbers, found, barrier, shift = (chosen(each, wrong) for each in (at, numbers, found, barrier, shift))
    plain = linearised(problem, at, numbers, barrier, np.zeros(wrong.size))
    bounds = barriers(at, numbers, barrier, shift)
    best = swept(problem, plain, bounds)
    least, most = np.zeros(wrong.size), np.where(best[2] > 0, 1.0, 0.0)
    for _ in range(halvings):
        share = 0.5 * (least + most)
        tried = swept(problem, _mixed(plain, found, share), bounds)
        good = tried[2] > 0
        best = merged(good, tried, best)
        least, most = np.where(good, share, least), np.where(good, most, share)
    while (still := np.flatnonzero(~(best[2] > 0) & (shift < LARGEST_SHIFT))).size:
        shift[still] = np.maximum(10.0 * shift[still], 1e-6)
        bounds = barriers(chosen(at, still), chosen(numbers, still), barrier[still], shift[still])
        best = with_rows(best, still, swept(problem, chosen(plain, still), bounds))
    return with_rows(step, wrong, best)


def _mixed(one: Linearised, other: Linearised, share: np.ndarray) -> Linearised:
    """Between the blocks of two curvatures, on which they depend linearly."""
    return jax.tree.map(lambda a, b: a + share.reshape(-1, *[1] * (a.ndim - 1)) * (b - a), one, other)


def merged(rows: np.ndarray, one: Any, other: Any) -> Any:
    """The rows of the one where they are chosen, of the other elsewhere."""
    if rows.all():
        return one
    return jax.tree.map(lambda a, b: np.where(rows.reshape(-1, *[1] * (a.ndim - 1)), a, b), one, other)


def with_rows(whole: Any, rows: np.ndarray, part: Any) -> Any:
    """With these rows replaced."""

    def replaced(array: np.ndarray, new: np.ndarray) -> np.ndarray:
        array = np.array(array)
        array[rows] = new
        return array

    return jax.tree.map(replaced, whole, part)


def barriers(at: Iterate, numbers: Numbers, barrier: np.ndarray, shift: np.ndarray) -> Barriers:
    """What bounds add to Newton's equations, and a shift of the controls' diagonal."""
    gaps, shape = Gaps.of(at, numbers), (at.problems, at.steps, -1)
    at_U, at_theta = barrier[:, None, None, None], barrier[:, None]
    diagonal = at.low / gaps.low + at.high / gaps.high + shift[:, None, None, None]
    return Barriers(
        diagonal.reshape(shape),
        (at_U / gaps.high - at_U / gaps.low).reshape(shape),
        at.least / gaps.least + at.most / gaps.most,
        at_theta / gaps.most - at_theta / gaps.least,
    )


class Step(NamedTuple):
    """Increments of everything that an iterate has; of the multipliers of equations, their new values."""

    eta: Any
    m: Any
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
    least: Any
    most: Any
    nu: Any

    @classmethod
    def of(
        cls,
        problem: Problem,
        at: Iterate,
        numbers: Numbers,
        found: Linearised,
        change: Change,
        x_end: np.ndarray,
        barrier: np.ndarray,
        path: np.ndarray,
    ) -> "Step":
        """From what the sweeps give."""
        n, c = problem.group.dim, problem.constants
        nodes = np.concatenate([change.x, x_end[:, None]], axis=1)
        y = np.concatenate([change.U, change.x, np.ones((*change.x.shape[:2], 1))], axis=2)
        slack = -(path + at.slack) - np.einsum("pky,pkyc->pkc", y, found.steps.path)
        at_U, at_theta = barrier[:, None, None, None], barrier[:, None]
        gaps, U, theta = Gaps.of(at, numbers), change.U.reshape(at.U.shape), x_end[:, n : n + c]
        with np.errstate(invalid="ignore"):  # slack 0 of none
            rho = (barrier[:, None, None] - at.rho * slack) / at.slack - at.rho
        conditions = found.ends.miss + np.einsum("px,pxr->pr", x_end, found.ends.slopes)
        return cls(
            eta=nodes[..., :n],
            m=nodes[..., n + c :],
            theta=theta,
            K=change.K.reshape(at.K.shape),
            U=U,
            sigma=change.sigma.reshape(at.K.shape),
            lam=change.costate[..., :n],
            gamma=change.costate[..., n + c :],
            rho=rho,
            slack=slack,
            low=(at_U - at.low * U) / gaps.low - at.low,
            high=(at_U + at.high * U) / gaps.high - at.high,
            least=(at_theta - at.least * theta) / gaps.least - at.least,
            most=(at_theta + at.most * theta) / gaps.most - at.most,
            nu=at.nu + conditions / found.ends.slack[:, None],
        )

    def longest(self, at: Iterate, gaps: Gaps, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far the step may go for the bounds and the slacks, and for their multipliers: this part of the way."""
        primal = ((at.slack, self.slack), (gaps.low, self.U), (gaps.high, -self.U))
        primal += ((gaps.least, self.theta), (gaps.most, -self.theta))
        dual = ((at.rho, self.rho), (at.low, self.low), (at.high, self.high))
        dual += ((at.least, self.least), (at.most, self.most))
        return _within(primal, part), _within(dual, part)

    def taken(self, problem: Problem, at: Iterate, length: np.ndarray, dual: np.ndarray) -> Iterate:
        """The iterate after `length` of the step, and `dual` of it in the multipliers of inequalities."""

        def along(name: str, far: np.ndarray) -> np.ndarray:
            start, change = getattr(at, name), getattr(self, name)
            return start + far.reshape(-1, *[1] * (start.ndim - 1)) * change

        def towards(name: str) -> np.ndarray:
            start = getattr(at, name)
            return start + length.reshape(-1, *[1] * (start.ndim - 1)) * (getattr(self, name) - start)

        lam = np.concatenate([np.zeros_like(at.lam[:, :1]), towards("lam")], axis=1)
        g, lam = moved(problem, at.g, length[:, None, None] * self.eta, lam)
        primal = {name: along(name, length) for name in ("m", "theta", "K", "U", "slack")}
        others = {name: along(name, dual) for name in ("rho", "low", "high", "least", "most")}
        equations = {name: towards(name) for name in ("sigma", "gamma", "nu")}
        return Iterate(g=g, lam=lam[:, 1:], **primal, **others, **equations)


def _within(pairs: Any, part: np.ndarray) -> np.ndarray:
    """The largest multiple up to one of changes that leaves `1 - part` of every positive value."""
    found = np.ones_like(part)
    for value, change in pairs:
        with np.errstate(all="ignore"):
            limits = np.where(change < 0.0, -value / change, np.inf).reshape(len(part), -1)
        found = np.minimum(found, part * limits.min(axis=1, initial=np.inf))
    return found
