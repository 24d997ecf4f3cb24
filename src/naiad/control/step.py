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
    curvature: np.ndarray,
) -> tuple[Change, np.ndarray, np.ndarray]:
    """The change of every step, the increments of the last nodes, and whether there are such.

    Where a pivot is not positive it is computed again: without the curvature of the equations (Gauss-Newton), then with
    ever larger shifts of the controls' diagonal.
    """
    change, x, pivot = swept(problem, found, barriers(at, numbers, barrier, shift))
    possible = pivot > 0
    wrong = np.flatnonzero(~possible & (shift < LARGEST_SHIFT))
    if wrong.size:
        part, own, strength, shifts = (chosen(each, wrong) for each in (at, numbers, barrier, shift))
        if curvature[0]:
            harder = linearised(problem, part, own, strength, np.zeros(wrong.size))
        else:
            harder, shifts = chosen(found, wrong), np.maximum(10.0 * shifts, 1e-6)
        again = newton_step(problem, part, own, harder, strength, shifts, np.zeros(wrong.size))
        for whole, rows in zip(jax.tree.leaves((change, x, possible)), jax.tree.leaves(again), strict=True):
            whole[wrong] = rows
    return change, x, possible


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
