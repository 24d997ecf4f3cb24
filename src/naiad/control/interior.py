"""The interior-point method: Newton's method on the optimality conditions with a barrier that goes to zero.

Primal-dual, with a filter for the line search [waechter2006]; slacks for inequalities along the path, bounds of
controls and constants kept strictly.
"""

import enum
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from naiad.compiler import execute_rows
from naiad.compiler.cores import available, one_core
from naiad.control.direction import directed
from naiad.control.ending import Errors
from naiad.control.geodesic import Route
from naiad.control.iterate import Iterate, Numbers, Packed
from naiad.control.kernels import kernels
from naiad.control.measures import Measured
from naiad.control.newton import NewtonTables
from naiad.control.problem import Problem

BOUNDARY = 0.99  # the part of the way to a bound that a step may go
SMALLEST_STEP = 2.0**-12
HALVINGS = 4  # of the range in which a share of the curvature is looked for
FEWEST = 1e-5  # of what is missed: the least decrease of it, or of the cost, that a filter takes

Tell = Callable[[int, dict[str, float]], None]


class Status(enum.StrEnum):
    """How the method ended."""

    SOLVED = "solved"
    INFEASIBLE = "infeasible"
    LIMIT = "iteration limit"
    STALLED = "stalled"
    BEYOND = "beyond the limit"


class Rules(NamedTuple):
    """When to stop, how large the barrier is in the beginning, `halvings` as in `directed`, and whether the errors at
    the end are wanted where it ends for its number of iterations."""

    tolerance: float
    iterations: int
    barrier: float
    halvings: int = 0
    checked: bool = True


class Ended(NamedTuple):
    """The problem in the units in which it was solved, the iterate at the end, how and after how many iterations the
    method ended, the cost, the errors, and both with the barrier in each iteration."""

    problem: Problem
    packed: Packed
    status: Status
    iterations: int
    cost: float
    primal: float
    dual: float
    history: list[dict[str, float]]

    @property
    def at(self) -> Iterate:
        """The iterate at the end."""
        return self.packed.iterate

    def beyond(self, numbers: Numbers) -> np.ndarray:
        """Of each node, whether it is beyond the limit of the system."""
        problem, at = self.problem, self.at
        if problem.system.limit is None:
            return np.zeros(len(at.m), bool)
        h = problem.length(at.theta, numbers.step)
        given = np.repeat(at.theta[None], len(at.m), axis=0), at.g, numbers.begin + h * np.arange(len(at.m))
        return ~(execute_rows(_limit, problem, *given, np.full(len(at.m), h), parameters=()) > 0.0)

    def followed(self, again: "Ended") -> "Ended":
        """Another end, with the iterations before it."""
        iterations, history = self.iterations + again.iterations, [*self.history, *again.history]
        return again._replace(iterations=iterations, history=history)


def _limit(problem: Problem, theta: Any, g: Any, t: Any, h: Any) -> Any:
    return problem.known(theta).limit(g, t, h)


def ended(problem: Problem, at: Iterate | Route, numbers: Numbers, rules: Rules, tell: Tell | None = None) -> Ended:
    """The method from an iterate to its end; where that is no optimum, once more from the beginning, with a share of
    the curvature wherever all of it is too much."""
    first = finished(problem, at, numbers, rules, tell)
    if first.status is not Status.SOLVED:
        first = first.followed(finished(problem, at, numbers, rules._replace(halvings=HALVINGS), tell))
    if first.status is Status.SOLVED and first.beyond(numbers).any():
        return first._replace(status=Status.BEYOND)
    return first


def finished(problem: Problem, at: Iterate | Route, numbers: Numbers, rules: Rules, tell: Tell | None = None) -> Ended:
    """The method from an iterate to its end; where that is no optimum, perhaps because parts with a short way to go are
    moved much farther by others, in coarser units, and from there in those that fit the motion."""
    first, fine = Method(problem, at, numbers, rules).run(tell), problem.units
    coarse = fine.coarse()
    if first.status is Status.SOLVED or all(map(np.array_equal, coarse, fine)):
        return first
    rough = Method(problem.replaced(units=coarse), at, numbers, rules).run(tell)
    if rough.status is not Status.SOLVED:
        return first
    units, rough = fine.between(coarse, problem.group, rough.at.g), first.followed(rough)
    if np.array_equal(units.place, coarse.place):
        return rough
    return rough.followed(Method(problem.replaced(units=units), rough.at, numbers, rules).run(tell))


def all_ended(
    begun: Sequence[tuple[Problem, Iterate | Route, Numbers]], rules: Rules, tell: Tell | None = None
) -> list[Ended]:
    """The method from many iterates of problems of one form, on all cores; it tells of the first."""

    def run(each: tuple[Problem, Iterate | Route, Numbers]) -> Ended:
        with one_core():
            return ended(*each, rules)

    cores = min(available(), len(begun) - 1)
    if cores < 2:
        return [ended(*each, rules, tell if k == 0 else None) for k, each in enumerate(begun)]
    kernels(begun[0][0])  # which are made once, before all
    pool = ThreadPoolExecutor(cores, thread_name_prefix="naiad-control")
    try:
        others = [pool.submit(run, each) for each in begun[1:]]
        return [ended(*begun[0], rules, tell), *(each.result() for each in others)]
    finally:
        pool.shutdown(cancel_futures=True)


class Method:
    """The method on a problem; `run` takes it to its end."""

    def __init__(self, problem: Problem, at: Iterate | Route, numbers: Numbers, rules: Rules):
        self.newton, self.rules = NewtonTables.of(problem, at, numbers), rules
        self.bounded = problem.path is not None or numbers.bounded
        self.barrier = rules.barrier if self.bounded else 0.0
        self.shift, self.failures = 0.0, 0
        self.filter: list[tuple[float, float]] = []
        self.measured, self.moved = self.newton.measure(), True

    def run(self, tell: Tell | None = None) -> Ended:
        """Iterate until it has come to its end."""
        history = []
        for iteration in range(self.rules.iterations + 1):
            last = iteration == self.rules.iterations
            wanted = self.rules.checked or not last
            errors = self._errors() if wanted else Errors(*[math.nan] * 3)
            cost, largest = self.newton.problem.units.cost * self.measured.cost, self.measured.largest
            history.append({"cost": cost, "primal": largest, "dual": errors.dual, "barrier": self.barrier})
            if tell is not None:
                tell(iteration, history[-1])
            status = self._status(errors, last)
            if status is not None:
                packed = self.newton.packed()
                self.newton.release()
                return Ended(self.newton.problem, packed, status, iteration, cost, largest, errors.dual, history)
            self._advance()
        raise AssertionError("the last iteration has a status")

    def _errors(self) -> Errors:
        """The errors at the iterate, which was the last trial, after which the barrier fits it."""
        if self.moved:
            self.errors = self.newton.errors(self.barrier)
        if self.bounded:
            self._lower_barrier(self.errors)
        return self.errors

    def _lower_barrier(self, errors: Errors) -> None:
        """Lower the barrier while the problem with the present one is solved well enough [waechter2006, eq. (7)]."""
        least = self.rules.tolerance / 10.0
        while self.barrier > least:
            error = max(errors.dual, self.measured.largest, errors.centrality(self.barrier))
            if error > 10.0 * self.barrier:
                break
            self.barrier = max(least, min(0.2 * self.barrier, self.barrier**1.5))
            self.filter.clear()

    def _status(self, errors: Errors, late: bool) -> Status | None:
        tolerance, missed = self.rules.tolerance, self.measured.largest
        if errors.dual <= tolerance and missed <= tolerance and errors.centrality(0.0) <= tolerance:
            return Status.SOLVED
        if not (late or self.failures > 8 or not math.isfinite(missed)):
            return None
        if late and math.isfinite(missed):
            return Status.LIMIT
        lost = not math.isfinite(self.measured.cost + errors.dual)
        return Status.STALLED if lost or missed <= max(1e-6, 10.0 * tolerance) else Status.INFEASIBLE

    def _advance(self) -> None:
        """Go along Newton's step as far as the bounds and the filter allow; where that is nowhere, shift the next."""
        newton, part = self.newton, min(BOUNDARY, 1.0 - self.barrier)
        newton.linearise(self.barrier)
        self.moved = False
        if directed(newton, self.barrier, self.shift, self.rules.halvings):
            primal, dual = newton.direct(self.bounded)
            whole, dual = min(1.0, part * primal), min(1.0, part * dual)
            self.moved = self._searched(whole, dual)
        if self.moved:
            self.failures, self.shift = 0, self.shift / 10.0 if self.shift > 1e-8 else 0.0
        else:
            self.failures, self.shift = self.failures + 1, max(10.0 * self.shift, 1e-4)

    def _searched(self, whole: float, dual: float) -> bool:
        """Take the longest of the halves of a step that the filter takes; whether there is one."""
        before, length = self._objective(self.measured), whole
        while True:
            trial = self.newton.tried(length, dual)
            if self._accepts(before, trial):
                break
            length *= 0.5
            if not length > SMALLEST_STEP * whole:
                return False
        self.newton.take()
        if self.measured.missed > self.rules.tolerance:
            self.filter.append((self.measured.missed, before))
        self.measured = trial
        return True

    def _objective(self, measured: Measured) -> float:
        """The cost with the barrier."""
        return measured.cost - self.barrier * measured.logs

    def _accepts(self, before: float, trial: Measured) -> bool:
        """Whether the filter takes a trial: less is missed, or it costs less, than at the iterate and all before."""
        after, level = self._objective(trial), 0.1 * self.rules.tolerance
        rounding = 1e-12 * (1.0 + abs(before))
        return (
            math.isfinite(after)
            and math.isfinite(trial.missed)
            and all(
                trial.missed <= max((1.0 - FEWEST) * missed, level if missed <= level else 0.0)
                or after <= objective - FEWEST * missed + rounding
                for missed, objective in (*self.filter, (self.measured.missed, before))
            )
        )
