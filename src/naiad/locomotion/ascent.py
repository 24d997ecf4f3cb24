"""Uphill from one gait: sequential quadratic programming with exact derivatives, within bounds at all times."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from naiad.errors import InputError
from naiad.locomotion.clearance import Clearance
from naiad.locomotion.gait import AbstractGait, FourierGait
from naiad.locomotion.loop import Bounded, Loop, Peaks, followed, joined, loop, once_around, peaks, winding, within
from naiad.locomotion.numbers import numbers, with_numbers
from naiad.locomotion.objectives import Score, score
from naiad.locomotion.swimmer import Swimmer
from naiad.numerics import double

ROUNDS = 12
AGREED = 1e-7
FINER = 4
FAR = 1.5
"""No number of a bounded series or spline is as large, relative to the bound; a step that went astray might be."""


class Task(NamedTuple):
    """What is to be improved, and within which bounds."""

    swimmer: Swimmer
    objective: str
    bound: Float[np.ndarray, " m"]
    steps: int
    count: int
    iterations: int
    clearance: Clearance | None


class Climb(NamedTuple):
    """Where one start led to. `history` has the value after each iteration; `ending` says in words how it ended."""

    gait: Any
    value: float
    converged: bool
    ending: str
    history: Float[np.ndarray, " i"]


def climb(task: Task, gait: AbstractGait, report: Callable[[], None]) -> Climb:
    """The gait made better until it is best among its neighbours.

    The bounds hold at some times first. Each further round adds the times at which the gait then goes beyond them, and
    begins where the last one ended, until nothing changes; the gait found is drawn in by what is left beyond them.
    """
    watched, history, last = Peaks(np.zeros(0), np.zeros(0, int)), [], np.nan
    step = float(gait.period) / task.count
    for _ in range(ROUNDS):
        gait, message, values = _round(task, gait, watched, report)
        history += values
        found = peaks(loop(gait, FINER * task.count))
        over = -float(np.min(followed(gait, found, task.bound, step).values, initial=0.0))
        value = values[-1]
        inside = with_numbers(gait, _vector(gait) / (1.0 + over))
        if not np.isfinite(value) or over > 1.0:
            return Climb(inside, value, False, f"it left the bounds: {message}", np.array(history))
        if over < AGREED and abs(value - last) <= AGREED * abs(value):
            return _ended(task, inside, history)
        watched, last = joined(watched, found, 0.5 * step), value
        gait = gait if _has_score(task, gait) else inside
    return Climb(inside, last, False, f"not settled after {ROUNDS} rounds: {message}", np.array(history))


def _has_score(task: Task, gait: AbstractGait) -> bool:
    """Whether the gait stays where the inertia is known: a table may end at the bounds."""
    try:
        score(task.swimmer, gait, task.objective, task.steps)
    except InputError:
        return False
    return True


def _ended(task: Task, gait: AbstractGait, history: list[float]) -> Climb:
    found = score(task.swimmer, gait, task.objective, task.steps)
    ring = loop(gait, FINER * task.count)
    turns = round(abs(winding(ring)))
    if task.clearance is not None and np.min(task.clearance.distances(ring.theta)) <= 0.0:
        return Climb(
            gait, found.value, False, "its links touch between the times that were looked at", np.array(history)
        )
    if turns != 1:
        return Climb(gait, found.value, False, f"it goes round {turns} times a period", np.array(history))
    return Climb(gait, found.value, True, "a maximum", np.array(history))


def _round(
    task: Task, gait: AbstractGait, watched: Peaks, report: Callable[[], None]
) -> tuple[AbstractGait, str, list[float]]:
    from scipy.optimize import minimize

    start = _vector(gait)
    at = _Remembered(task, gait, watched)
    scale = at(start).score.value or 1.0
    pinned = at(start).ring
    values, far = [at(start).score.value], FAR * float(np.max(task.bound))

    def pin(ring: Loop) -> Bounded:
        """Of all series that differ by a shift of time, the one that lies beside the start of this round."""
        direction = pinned.rates / (np.sum(pinned.rates**2) or 1.0)
        change = ring.theta - pinned.theta
        slopes = np.einsum("sm,smp->p", direction, ring.theta_slopes)
        return Bounded(np.sum(direction * change, keepdims=True).ravel(), slopes[None])

    def equal(p: np.ndarray) -> Bounded:
        now, kept = at(p), [Bounded(np.zeros(0), np.zeros((0, len(p))))]
        if task.objective != "turning":
            kept.append(Bounded(now.score.turn, now.score.turn_slopes))
        if isinstance(gait, FourierGait):
            kept.append(pin(now.ring))
        return Bounded(*(np.concatenate(each) for each in zip(*kept, strict=True)))

    def remember(p: np.ndarray) -> None:
        values.append(at(p).score.value)
        report()

    found = minimize(
        lambda p: (-at(p).score.value / scale, -at(p).score.slopes / scale),
        start,
        jac=True,
        method="SLSQP",
        bounds=[(-far, far)] * len(start),
        constraints=[
            {"type": "ineq", "fun": lambda p: at(p).bounds.values, "jac": lambda p: at(p).bounds.slopes},
            {"type": "eq", "fun": lambda p: equal(p).values, "jac": lambda p: equal(p).slopes},
        ],
        options={"maxiter": task.iterations, "ftol": 1e-11},
        callback=remember,
    )
    values.append(at(found.x).score.value)
    return with_numbers(gait, found.x), str(found.message), values


class _Point(NamedTuple):
    score: Score
    ring: Loop
    bounds: Bounded


class _Remembered:
    """Value, loop and bounds of a gait, computed once for each vector of numbers in turn."""

    def __init__(self, task: Task, gait: AbstractGait, watched: Peaks):
        self.task, self.gait, self.watched = task, gait, watched
        self.key, self.point = b"", None

    def __call__(self, p: np.ndarray) -> _Point:
        if self.point is None or p.tobytes() != self.key:
            task, gait = self.task, with_numbers(self.gait, np.asarray(p, float))
            ring = loop(gait, task.count)
            limits = [within(ring, task.bound), once_around(ring, float(np.max(task.bound)))]
            limits.append(followed(gait, self.watched, task.bound, ring.period / task.count))
            if task.clearance is not None:
                limits.append(task.clearance.along(loop(gait, FINER * task.count)))
            bounds = Bounded(*(np.concatenate(each) for each in zip(*limits, strict=True)))
            self.key, self.point = p.tobytes(), _Point(self._score(gait), ring, bounds)
        return self.point

    def _score(self, gait: AbstractGait) -> Score:
        """A step may lead to where links touch or a table ends: that is worse than any start, and the step is cut."""
        try:
            return score(self.task.swimmer, gait, self.task.objective, self.task.steps)
        except InputError:
            if self.point is None:
                raise
            last = self.point.score
            return last._replace(value=-abs(last.value), slopes=0.0 * last.slopes)


@double
def _vector(gait: AbstractGait) -> np.ndarray:
    return np.asarray(numbers(gait))
