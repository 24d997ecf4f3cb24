"""The interior-point method: NewtonTables's method on the optimality conditions with a barrier that goes to zero.

Primal-dual, with a filter for the line search [waechter2006]; slacks for inequalities along the path, bounds of
controls and constants kept strictly. Several problems of the same form run together, each with its own barrier, filter
and end.
"""

import enum
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.control.constants import Bounds
from naiad.control.direction import directed
from naiad.control.iterate import Iterate, Numbers, chosen
from naiad.control.measures import Duals
from naiad.control.newton import NewtonTables, Totals
from naiad.control.problem import Problem

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
    """When to stop, how large the barrier is in the beginning, `halvings` as in `directed`, and whether the errors at
    the end are wanted where it ends for its number of iterations."""

    tolerance: float
    iterations: int
    barrier: float
    halvings: int = 0
    checked: bool = True


class Products(NamedTuple):
    """The least and the largest product of a multiplier of a bound or an inequality and its gap, of each problem."""

    least: np.ndarray
    most: np.ndarray

    def error(self, barrier: float) -> np.ndarray:
        """How far products are from a barrier."""
        return np.maximum(np.maximum(self.most - barrier, barrier - self.least), 0.0)


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
    first = Method(NewtonTables.of(problem, at, numbers), at, rules).run(tell)
    failed = np.flatnonzero([status is not Status.SOLVED for status in first.status])
    if not failed.size:
        return first
    at, numbers = chosen(at, failed), chosen(numbers, failed)
    again = Method(NewtonTables.of(problem, at, numbers), at, rules._replace(halvings=HALVINGS)).run(tell)
    status = list(first.status)
    for k, row in enumerate(failed):
        status[row] = again.status[k]
    count, cost, primal, dual = (np.array(each) for each in (first.iterations, first.cost, first.primal, first.dual))
    count[failed] += again.iterations
    cost[failed], primal[failed], dual[failed] = again.cost, again.primal, again.dual
    rows = [entry | {"problem": failed[entry["problem"]]} for entry in again.history]
    return Ended(_with_rows(first.at, failed, again.at), status, count, cost, primal, dual, [*first.history, *rows])


def _in_order(parts: list[tuple[np.ndarray, Iterate]]) -> Iterate:
    """Iterates of some problems each, with their numbers, as one."""
    if len(parts) == 1:
        return parts[0][1]
    order = np.argsort(np.concatenate([rows for rows, _ in parts]))
    return jax.tree.map(lambda *arrays: np.concatenate(arrays)[order], *(at for _, at in parts))


def _with_rows(whole: Any, rows: np.ndarray, part: Any) -> Any:
    """With these rows replaced."""

    def replaced(array: np.ndarray, new: np.ndarray) -> np.ndarray:
        array = np.array(array)
        array[rows] = new
        return array

    return jax.tree.map(replaced, whole, part)


class Method:
    """The method on problems of one form; `run` takes it to its end."""

    def __init__(self, newton: NewtonTables, at: Iterate, rules: Rules):
        self.newton, self.rules = newton, rules
        self.least, self.most, self.constants = at.least, at.most, bool(at.least.shape[1])
        P, numbers = newton.P, newton.numbers
        self.bounded = bool(at.rho.size or any(np.isfinite(each).any() for each in numbers[2:6]))
        self.barrier = np.full(P, rules.barrier if self.bounded else 0.0)
        self.shift, self.failures = np.zeros(P), np.zeros(P, int)
        self.filters: list[list[tuple[float, float]]] = [[] for _ in range(P)]
        with np.errstate(all="ignore"):
            self.measured = newton.measure()

    def run(self, tell: Callable[[int, dict[str, np.ndarray]], None] | None = None) -> Ended:
        """Iterate until every problem has come to its end."""
        count = self.newton.P
        parts: list[tuple[np.ndarray, Iterate]] = []
        ends: dict[int, tuple[Any, ...]] = {}
        rows, history = np.arange(count), []
        for iteration in range(self.rules.iterations + 1):
            if not self.rules.checked and iteration == self.rules.iterations:
                none = np.full(self.newton.P, np.nan)
                dual, products = none, Products(none, none)
            else:
                dual, products = self._newton_matrix()
            errors = {
                "cost": self.measured.cost,
                "primal": self.measured.largest,
                "dual": dual,
                "barrier": self.barrier.copy(),
                "problem": rows,
            }
            history.append(errors)
            if tell is not None:
                tell(iteration, errors)
            done = self._status(dual, products, iteration)
            if any(status is not None for status in done):
                over = np.flatnonzero([status is not None for status in done])
                at = self.newton.iterate(self.least, self.most)
                parts.append((rows[over], at if over.size == len(rows) else chosen(at, over)))
                for k in over:
                    ends[int(rows[k])] = (done[k], iteration, self.measured.cost[k], self.measured.largest[k], dual[k])
                going = np.flatnonzero([status is None for status in done])
                if not going.size:
                    break
                rows = rows[going]
                self._keep(going)
            with np.errstate(all="ignore"):
                self._advance()
        self.newton.release()
        status, *numbers = zip(*(ends[k] for k in range(count)), strict=True)
        iterations, cost, primal, dual = map(np.array, numbers)
        return Ended(_in_order(parts), list(status), iterations, cost, primal, dual, history)

    def _keep(self, going: np.ndarray) -> None:
        """Go on with these problems only."""
        if going.size == self.newton.P:
            return
        self.newton = self.newton.chosen(going)
        self.least, self.most, self.measured = chosen((self.least, self.most, self.measured), going)
        self.barrier, self.shift, self.failures = self.barrier[going], self.shift[going], self.failures[going]
        self.filters = [self.filters[k] for k in going]

    def _newton_matrix(self) -> tuple[np.ndarray, Products]:
        """The dual errors, and the products of multipliers and what they belong to, at the iterate, whose blocks are
        those of a barrier that fits it."""
        ones = np.ones(self.newton.P)
        self.newton.linearise(self.barrier, ones)
        gradient = self.newton.gradient()
        dual, products = self._dual_error(gradient), self._products(gradient)
        if self.bounded and self._lower_barrier(dual, products):
            if self.newton.has_path:
                self.newton.linearise(self.barrier, ones)
            else:
                self.newton.weigh(self.barrier, ones)
        return dual, products

    def _lower_barrier(self, dual: np.ndarray, products: Products) -> bool:
        """Lower the barrier where the problem with the present one is solved well enough [waechter2006, eq. (7)]."""
        changed = False
        for k in range(self.newton.P):
            while self.barrier[k] > self.rules.tolerance / 10.0:
                error = max(dual[k], self.measured.largest[k], products.error(self.barrier[k])[k])
                if error > 10.0 * self.barrier[k]:
                    break
                lower = min(0.2 * self.barrier[k], self.barrier[k] ** 1.5)
                self.barrier[k] = max(self.rules.tolerance / 10.0, lower)
                self.filters[k].clear()
                changed = True
        return changed

    def _products(self, gradient: Duals) -> Products:
        smallest, largest = gradient.least[..., 0].min(axis=1), gradient.most[..., 0].max(axis=1)
        if self.constants:
            for multiplier, gap in zip((self.least, self.most), self._gaps(self.newton.theta), strict=True):
                there = np.isfinite(gap)
                product = multiplier * np.where(there, gap, 0.0)
                smallest = np.minimum(smallest, np.where(there, product, np.inf).min(axis=1))
                largest = np.maximum(largest, np.where(there, product, -np.inf).max(axis=1))
        return Products(smallest, largest)

    def _gaps(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The distances of the constants to their bounds."""
        numbers = self.newton.numbers
        return theta - numbers.least, numbers.most - theta

    def _dual_error(self, gradient: Duals) -> np.ndarray:
        """The largest entry of the gradient of the Lagrange function, relative to large multipliers."""
        newton, end = self.newton, self.newton.ends.dual
        n, c = newton.problem.group.dim, newton.problem.constants
        parts = [gradient.own, gradient.first[:, 1:] - gradient.last[:, :-1]]
        if c:
            by_theta = gradient.by_theta.sum(axis=1) + end[:, n : n + c] + self._by_start(gradient)
            parts.append(by_theta + self.most - self.least)
            end = np.concatenate([end[:, :n], end[:, n + c :]], axis=1)
        parts.append(end - gradient.last[:, -1])
        sizes = [np.abs(part).reshape(newton.P, -1).max(axis=1, initial=0.0) for part in parts]
        mean = (gradient.size[..., 0].sum(axis=1) + np.abs(newton.nu).sum(axis=1)) / max(1, newton.multipliers)
        return functools.reduce(np.maximum, sizes) / np.maximum(1.0, mean / 100.0)

    def _by_start(self, gradient: Duals) -> np.ndarray:
        """The slope in the constants by which the first node moves with them."""
        n, c, slopes = self.newton.problem.group.dim, self.newton.problem.constants, self.newton.starts.slopes
        nodes = np.concatenate([slopes[..., :n], slopes[..., n + c :]], axis=2)
        return np.einsum("pcx,px->pc", nodes, gradient.first[:, 0])

    def _status(self, dual: np.ndarray, products: Products, iteration: int) -> list[Status | None]:
        tolerance = self.rules.tolerance
        error = np.maximum(np.maximum(dual, self.measured.largest), products.error(0.0))
        late = iteration >= self.rules.iterations
        found: list[Status | None] = []
        for k in range(self.newton.P):
            missed = self.measured.largest[k]
            if error[k] <= tolerance:
                found.append(Status.SOLVED)
            elif late or self.failures[k] > 8 or not np.isfinite(missed):
                far = not missed <= max(1e-6, 10.0 * tolerance)
                found.append(Status.INFEASIBLE if far else (Status.LIMIT if late else Status.STALLED))
            else:
                found.append(None)
        return found

    def _advance(self) -> None:
        """Go along Newton's step as far as the bounds and the filter allow; where that is nowhere, shift the next."""
        newton, part = self.newton, np.minimum(BOUNDARY, 1.0 - self.barrier)
        theta, bounds, change = newton.theta, None, None
        if self.constants:
            bounds = Bounds(*self._gaps(theta), self.least, self.most, self.barrier[:, None])
        possible = directed(newton, self.barrier, self.shift, bounds, self.rules.halvings) > 0
        primal, dual = newton.direct()
        if bounds is not None:
            change = bounds.step(newton.x_end[:, newton.places])
            primal, dual = (np.minimum(a, b) for a, b in zip((primal, dual), bounds.limits(change), strict=True))
        whole, dual = np.minimum(1.0, part * primal), np.minimum(1.0, part * dual)
        nu = newton.conditions()
        taken, looking = np.zeros(newton.P), possible.copy()
        length = np.where(possible, whole, 0.0)
        before, measured = self._objective(self.measured, theta), self.measured
        while looking.any():
            ahead = length * looking
            towards = newton.nu + ahead[:, None] * (nu - newton.nu)
            result = newton.tried(ahead, dual * looking, towards)
            there = theta if change is None else theta + ahead[:, None] * change.theta
            good = looking & self._accepts(before, result, there)
            newton.take(good, towards)
            if change is not None:
                far = np.where(good, dual, 0.0)[:, None]
                self.least, self.most = self.least + far * change.least, self.most + far * change.most
            measured = result if good.all() else Totals(*map(np.where, [good] * 4, result, measured))
            taken[good] = length[good]
            length = np.where(looking & ~good, 0.5 * length, length)
            looking &= ~good & (length > SMALLEST_STEP * whole)
        for k in range(newton.P):
            if taken[k] > 0 and self.measured.missed[k] > self.rules.tolerance:
                self.filters[k].append((self.measured.missed[k], before[k]))
        still = taken == 0.0
        self.failures = np.where(still, self.failures + 1, 0)
        self.shift = np.where(
            still, np.maximum(10.0 * self.shift, 1e-4), np.where(self.shift > 1e-8, self.shift / 10, 0)
        )
        self.measured = measured

    def _objective(self, measured: Totals, theta: np.ndarray) -> np.ndarray:
        """The cost with the barrier."""
        logs = measured.logs
        for gap in self._gaps(theta) if self.constants else ():
            logs = logs + np.where(np.isfinite(gap), np.log(gap), 0.0).sum(axis=1)
        return measured.cost - self.barrier * logs

    def _accepts(self, before: np.ndarray, result: Totals, theta: np.ndarray) -> np.ndarray:
        """Whether the filter takes a trial: less is missed, or it costs less, than at the iterate and all before."""
        after = self._objective(result, theta)
        rounding = 1e-13 * (1.0 + np.abs(before))
        good = np.isfinite(after) & np.isfinite(result.missed)
        level = 0.1 * self.rules.tolerance
        for k in range(len(good)):
            for missed, objective in (*self.filters[k], (self.measured.missed[k], before[k])):
                less = result.missed[k] <= max((1.0 - 1e-5) * missed, level * (missed <= level))
                good[k] &= less or after[k] <= objective - 1e-5 * missed + 10.0 * rounding[k]
        return good
