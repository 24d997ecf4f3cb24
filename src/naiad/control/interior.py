"""The interior-point method: Newton's method on the optimality conditions with a barrier that goes to zero.

Primal-dual, with a filter for the line search [waechter2006]; slacks for inequalities along the path, bounds of
controls and constants kept strictly. Several problems of the same form run together, each with its own barrier, filter
and end.
"""

import enum
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from naiad.control.iterate import Iterate, Numbers, chosen, stacked
from naiad.control.newton import Linearised, evaluated, linearised
from naiad.control.problem import Problem
from naiad.control.riccati import Change
from naiad.control.step import Gaps, Step, merged, newton_step, with_rows

BOUNDARY = 0.99  # the part of the way to a bound that a step may go
SMALLEST_STEP = 2.0**-12
HALVINGS = 4  # of the range in which a share of the curvature is looked for


class Status(enum.StrEnum):
    """How the method ended."""

    SOLVED = "solved"
    INFEASIBLE = "infeasible"
    LIMIT = "iteration limit"
    STALLED = "stalled"


class Rules(NamedTuple):
    """When to stop, how large the barrier is in the beginning, and `halvings` as in `newton_step`."""

    tolerance: float
    iterations: int
    barrier: float
    halvings: int = 0


class Measured(NamedTuple):
    """The equations at an iterate: the cost, what is missed (the sum and the largest), and the inequalities."""

    cost: np.ndarray
    missed: np.ndarray
    largest: np.ndarray
    path: np.ndarray


class Ended(NamedTuple):
    """Iterates at the end, with how and after how many iterations each ended, its cost, and its errors."""

    at: Iterate
    status: list[Status]
    iterations: np.ndarray
    cost: np.ndarray
    primal: np.ndarray
    dual: np.ndarray
    history: list[dict[str, np.ndarray]]


def ended(
    problem: Problem,
    at: Iterate,
    numbers: Numbers,
    rules: Rules,
    tell: Callable[[int, dict[str, np.ndarray]], None] | None = None,
) -> Ended:
    """The method from iterates to its end; where that is no optimum, once more from the beginning, with a
    share of the curvature wherever all of it is too much."""
    first = Method(problem, at, numbers, rules).run(tell)
    failed = np.flatnonzero([status is not Status.SOLVED for status in first.status])
    if not failed.size:
        return first
    careful = Method(problem, chosen(at, failed), chosen(numbers, failed), rules._replace(halvings=HALVINGS))
    again = careful.run(tell)
    status = list(first.status)
    for k, row in enumerate(failed):
        status[row] = again.status[k]
    count, cost, primal, dual = (np.array(each) for each in (first.iterations, first.cost, first.primal, first.dual))
    count[failed] += again.iterations
    cost[failed], primal[failed], dual[failed] = again.cost, again.primal, again.dual
    rows = [entry | {"problem": failed[entry["problem"]]} for entry in again.history]
    return Ended(with_rows(first.at, failed, again.at), status, count, cost, primal, dual, [*first.history, *rows])


class Method:
    """The method on problems of one form; `run` takes it to its end."""

    def __init__(self, problem: Problem, at: Iterate, numbers: Numbers, rules: Rules):
        self.problem, self.at, self.numbers, self.rules = problem, at, numbers, rules
        P = at.problems
        self.bounded = bool(at.rho.size or any(np.isfinite(each).any() for each in numbers[2:]))
        self.barrier = np.full(P, rules.barrier if self.bounded else 0.0)
        self.shift, self.failures = np.zeros(P), np.zeros(P, int)
        self.filters: list[list[tuple[float, float]]] = [[] for _ in range(P)]
        self.measured = self._measure(at)

    def _measure(self, at: Iterate) -> Measured:
        with np.errstate(all="ignore"):
            starts, steps, end_cost, conditions = evaluated(self.problem, at, self.numbers)
            parts = (starts, steps.balance, steps.psi, steps.momentum, steps.path + at.slack, conditions)
            misses = [np.abs(part).reshape(at.problems, -1) for part in parts]
            missed = np.sum([miss.sum(axis=1) for miss in misses], axis=0)
            largest = np.max([miss.max(axis=1, initial=0.0) for miss in misses], axis=0)
            return Measured(steps.cost.sum(axis=1) + end_cost, missed, largest, steps.path)

    def run(self, tell: Callable[[int, dict[str, np.ndarray]], None] | None = None) -> Ended:
        """Iterate until every problem has come to its end."""
        ended: dict[int, tuple[Any, ...]] = {}
        rows, history = np.arange(self.at.problems), []
        for iteration in range(self.rules.iterations + 1):
            found, dual, gaps = self._newton_matrix()
            errors = {
                "cost": self.measured.cost,
                "primal": self.measured.largest,
                "dual": dual,
                "barrier": self.barrier,
                "problem": rows,
            }
            history.append(errors)
            if tell is not None:
                tell(iteration, errors)
            done = self._status(dual, gaps, iteration)
            if any(done):
                for k in np.flatnonzero([status is not None for status in done]):
                    values = (self.measured.cost[k], self.measured.largest[k], dual[k])
                    ended[int(rows[k])] = (chosen(self.at, k), done[k], iteration, *values)
                going = np.flatnonzero([status is None for status in done])
                if not going.size:
                    break
                rows, found = rows[going], chosen(found, going)
                self._keep(going)
            change, x_end, pivot = newton_step(
                self.problem, self.at, self.numbers, found, self.barrier, self.shift, self.rules.halvings
            )
            self._advance(found, change, x_end, pivot > 0)
        results = [ended[k] for k in sorted(ended)]
        at, status, *numbers = zip(*results, strict=True)
        iterations, cost, primal, dual = map(np.array, numbers)
        return Ended(stacked(list(at)), list(status), iterations, cost, primal, dual, history)

    def _keep(self, going: np.ndarray) -> None:
        """Go on with these problems only."""
        self.at, self.numbers, self.measured = (chosen(each, going) for each in (self.at, self.numbers, self.measured))
        self.barrier, self.shift, self.failures = self.barrier[going], self.shift[going], self.failures[going]
        self.filters = [self.filters[k] for k in going]

    def _newton_matrix(self) -> tuple[Linearised, np.ndarray, Gaps]:
        """The blocks at the iterate with a barrier that fits it, and the dual errors."""
        ones = np.ones(self.at.problems)
        found = linearised(self.problem, self.at, self.numbers, self.barrier, ones)
        dual, gaps = self._dual_error(found), Gaps.of(self.at, self.numbers)
        if self.bounded:
            changed = self._lower_barrier(dual, gaps)
            if changed and self.at.rho.size:
                found = linearised(self.problem, self.at, self.numbers, self.barrier, ones)
        return found, dual, gaps

    def _lower_barrier(self, dual: np.ndarray, gaps: Gaps) -> bool:
        """Lower the barrier where the problem with the present one is solved well enough [waechter2006, eq. (7)]."""
        changed = False
        for k in range(self.at.problems):
            while self.barrier[k] > self.rules.tolerance / 10.0:
                error = max(dual[k], self.measured.largest[k], self._complementarity(gaps, self.barrier[k])[k])
                if error > 10.0 * self.barrier[k]:
                    break
                lower = min(0.2 * self.barrier[k], self.barrier[k] ** 1.5)
                self.barrier[k] = max(self.rules.tolerance / 10.0, lower)
                self.filters[k].clear()
                changed = True
        return changed

    def _complementarity(self, gaps: Gaps, barrier: Any) -> np.ndarray:
        at = self.at
        products = [at.rho * at.slack]
        for multiplier, gap in zip((at.low, at.high, at.least, at.most), gaps, strict=True):
            products.append(np.where(np.isfinite(gap), multiplier * np.where(np.isfinite(gap), gap, 0.0), barrier))
        return np.max([np.abs(p - barrier).reshape(at.problems, -1).max(axis=1, initial=0.0) for p in products], axis=0)

    def _dual_error(self, found: Linearised) -> np.ndarray:
        """The largest entry of the gradient of the Lagrange function, relative to large multipliers."""
        at, n, c, own = self.at, self.problem.group.dim, self.problem.constants, self.problem.control_size
        P = at.problems
        dual, end = found.steps.dual, found.ends.dual
        by_U, by_eta, by_theta, by_K = np.split(dual, (own, own + n, own + n + c), axis=2)
        parts = [
            by_U + (at.high - at.low).reshape(P, at.steps, -1),
            by_eta[:, 1:] - at.lam[:, :-1],
            by_K,
            at.sigma[:, 1:, -1] + at.gamma[:, :-1],
            end[:, :n] - at.lam[:, -1],
            end[:, n + c :] - at.gamma[:, -1],
            by_theta.sum(axis=1) + end[:, n : n + c] + self._by_start(found) + at.most - at.least,
        ]
        largest = np.max([np.abs(part).reshape(P, -1).max(axis=1, initial=0.0) for part in parts], axis=0)
        sizes = [np.abs(each).reshape(P, -1) for each in (at.lam, at.gamma, at.nu, at.rho, at.low, at.high)]
        mean = sum(size.sum(axis=1) for size in sizes) / max(1, sum(size.shape[1] for size in sizes))
        return largest / np.maximum(1.0, mean / 100.0)

    def _by_start(self, found: Linearised) -> np.ndarray:
        """The slope in the constants by which the first node moves with them."""
        n, c, own = self.problem.group.dim, self.problem.constants, self.problem.control_size
        by_eta, by_m = found.steps.dual[:, 0, own : own + n], -self.at.sigma[:, 0, -1]
        slopes = found.starts.slopes
        return np.einsum("pcx,px->pc", slopes[..., :n], by_eta) + np.einsum("pcx,px->pc", slopes[..., n + c :], by_m)

    def _status(self, dual: np.ndarray, gaps: Gaps, iteration: int) -> list[Status | None]:
        tolerance = self.rules.tolerance
        error = np.maximum(np.maximum(dual, self.measured.largest), self._complementarity(gaps, 0.0))
        late = iteration >= self.rules.iterations
        found: list[Status | None] = []
        for k in range(self.at.problems):
            missed = self.measured.largest[k]
            if error[k] <= tolerance:
                found.append(Status.SOLVED)
            elif late or self.failures[k] > 8 or not np.isfinite(missed):
                far = not missed <= max(1e-6, 10.0 * tolerance)
                found.append(Status.INFEASIBLE if far else (Status.LIMIT if late else Status.STALLED))
            else:
                found.append(None)
        return found

    def _advance(self, found: Linearised, change: Change, x_end: np.ndarray, possible: np.ndarray) -> None:
        """Go along Newton's step as far as the bounds and the filter allow; where that is nowhere, shift the next."""
        at = self.at
        step = Step.of(self.problem, at, self.numbers, found, change, x_end, self.barrier, self.measured.path)
        whole, dual = step.longest(at, Gaps.of(at, self.numbers), np.minimum(BOUNDARY, 1.0 - self.barrier))
        taken, looking = np.zeros(at.problems), possible.copy()
        length = np.where(possible, whole, 0.0)
        new, measured = at, self.measured
        while looking.any():
            trial = step.taken(self.problem, at, length * looking, dual * looking)
            result = self._measure(trial)
            good = looking & self._accepts(trial, result)
            new, measured = (merged(good, a, b) for a, b in ((trial, new), (result, measured)))
            taken[good] = length[good]
            length = np.where(looking & ~good, 0.5 * length, length)
            looking &= ~good & (length > SMALLEST_STEP * whole)
        for k in np.flatnonzero(taken > 0):
            if self.measured.missed[k] > self.rules.tolerance:
                self.filters[k].append((self.measured.missed[k], self._objective(at, self.measured)[k]))
        still = taken == 0.0
        self.failures = np.where(still, self.failures + 1, 0)
        self.shift = np.where(
            still, np.maximum(10.0 * self.shift, 1e-4), np.where(self.shift > 1e-8, self.shift / 10, 0)
        )
        self.at, self.measured = new, measured

    def _objective(self, at: Iterate, measured: Measured) -> np.ndarray:
        """The cost with the barrier."""
        gaps = Gaps.of(at, self.numbers)
        logs = np.zeros(at.problems)
        with np.errstate(all="ignore"):
            for gap in (at.slack, *gaps):
                logs += np.where(np.isfinite(gap), np.log(gap), 0.0).reshape(at.problems, -1).sum(axis=1)
        return measured.cost - self.barrier * logs

    def _accepts(self, trial: Iterate, result: Measured) -> np.ndarray:
        """Whether the filter takes a trial: less is missed, or it costs less, than at the iterate and all before."""
        before, after = self._objective(self.at, self.measured), self._objective(trial, result)
        rounding = 1e-13 * (1.0 + np.abs(before))
        good = np.isfinite(after) & np.isfinite(result.missed)
        for k in np.flatnonzero(good):
            entries = [*self.filters[k], (self.measured.missed[k], before[k])]
            level = 0.1 * self.rules.tolerance
            good[k] = all(
                result.missed[k] <= max((1.0 - 1e-5) * missed, level * (missed <= level))
                or after[k] <= objective - 1e-5 * missed + 10.0 * rounding[k]
                for missed, objective in entries
            )
        return good
