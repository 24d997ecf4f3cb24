"""The best gait of a swimmer."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from naiad.errors import InputError
from naiad.hydro import AbstractCurve
from naiad.locomotion.ascent import Climb, Task, climb
from naiad.locomotion.checks import check_free
from naiad.locomotion.clearance import Clearance
from naiad.locomotion.gait import AbstractGait, FourierGait
from naiad.locomotion.loop import loop
from naiad.locomotion.objectives import OBJECTIVES, Score, score
from naiad.locomotion.reconstruction import STEPS
from naiad.locomotion.spline import FEWEST, SplineGait
from naiad.locomotion.swimmer import Swimmer
from naiad.numerics import check_double
from naiad.numerics.arguments import checked
from naiad.numerics.checks import generator

SAME = 1e-5
"""Starts whose values differ by less, relatively, have found the same gait."""


class OptimalGait(NamedTuple):
    """The best gait that was found, its value and its displacement of a period; and what each start led to."""

    gait: Any
    value: float
    g: Any
    starts: tuple[Climb, ...]

    @property
    def converged(self) -> bool:
        """Whether the best gait is a maximum."""
        return self.best.converged

    @property
    def best(self) -> Climb:
        """The start that led furthest."""
        return max(self.starts, key=lambda start: (start.converged, start.value))

    @property
    def agreeing(self) -> int:
        """How many starts found a maximum of this value."""
        return sum(start.converged and abs(start.value - self.value) <= SAME * self.value for start in self.starts)

    @property
    def spread(self) -> float:
        """The relative difference between the best and the worst of the maxima found."""
        found = [start.value for start in self.starts if start.converged] or [self.value]
        return (max(found) - min(found)) / max(found)


@checked
def optimise_gait(
    swimmer: Swimmer,
    start: AbstractGait | None = None,
    *,
    objective: str = "displacement",
    bound: Any = 1.0,
    harmonics: int = 3,
    points: int | None = None,
    starts: int = 4,
    seed: int = 0,
    steps: int | None = None,
    iterations: int = 300,
    curves: Sequence[AbstractCurve] | None = None,
    gap: float = 0.0,
    progress: Callable[[float], None] | None = None,
) -> OptimalGait:
    """The gait with the largest `objective`, one of `OBJECTIVES`, among those with |theta_a| <= bound at all times.

    Gaits are Fourier series with so many `harmonics`, or quintic splines through so many `points`, or of the form of
    `start`, which is then the first one. They go once around in a period, and do not turn unless turning is the
    objective. Other starts are random ellipses (`seed`), which are made as good as ellipses can be first. `bound` is a
    number, or one for each angle; `curves` are the outlines of the links, which then keep at least the distance `gap`
    from each other. `steps` of the integration are chosen by the form if not given.
    """
    limits = _checked(swimmer, objective, bound, harmonics, points, starts)
    if start is not None and not isinstance(start, FourierGait | SplineGait):
        raise InputError(f"start is a {type(start).__name__}; expected a FourierGait or a SplineGait.")
    form, size = _form(start, harmonics, points)
    clearance = None if curves is None else Clearance.of(swimmer.links, curves, gap)
    finest = max(32, 12 * size) if steps is None else steps
    task = Task(swimmer, objective, limits, finest, 16 + 16 * size, iterations, clearance)
    ellipses = task._replace(count=48, steps=max(32, finest // 2) if steps is None else steps)
    found: list[Climb] = []
    for k in range(starts):
        report = _reporter(progress, k, starts)
        if start is not None and k == 0:
            found.append(climb(task, start, report))
            continue
        ellipse = climb(ellipses, _ellipse(limits, seed + k, start), report)
        reached = climb(task, form(ellipse.gait), report)
        found.append(reached._replace(history=np.concatenate([ellipse.history, reached.history])))
    return _completed(swimmer, objective, found, max(STEPS, 2 * finest))


def _reporter(progress: Callable[[float], None] | None, k: int, starts: int) -> Callable[[], None]:
    """Each call brings the progress of start k nearer to its end: how many there will be is not known."""
    if progress is None:
        return lambda: None
    calls = itertools.count(1)
    return lambda: progress((k + 1.0 - 0.97 ** next(calls)) / starts)


def _completed(swimmer: Swimmer, objective: str, found: Sequence[Climb], steps: int) -> OptimalGait:
    drawn = OptimalGait(None, 0.0, None, tuple(found)).best
    final: Score = score(swimmer, drawn.gait, objective, steps)
    return OptimalGait(drawn.gait, final.value, final.g, tuple(found))


def _form(start: Any, harmonics: int, points: int | None) -> tuple[Callable[[FourierGait], Any], int]:
    """How an ellipse becomes a gait of the form that is sought, and its number of harmonics or a like one."""
    if isinstance(start, SplineGait):
        points = len(start.points)
    if isinstance(start, FourierGait):
        harmonics, points = len(start.cosines), None
    if points is not None:
        return lambda ellipse: SplineGait(loop(ellipse, points).theta, ellipse.period), -(-points // 3)
    more = ((0, harmonics - 1), (0, 0))

    def longer(ellipse: FourierGait) -> FourierGait:
        return FourierGait(ellipse.mean, np.pad(ellipse.cosines, more), np.pad(ellipse.sines, more), ellipse.period)

    return longer, harmonics


def _ellipse(bound: np.ndarray, seed: int, start: Any) -> FourierGait:
    """A random ellipse that fills half of the bounds."""
    mean, cosine, sine = generator(seed).normal(size=(3, len(bound)))
    reach = np.abs(0.3 * mean) + np.hypot(cosine, sine)
    scale = 0.5 * bound / np.max(reach)
    period = 2.0 * np.pi if start is None else start.period
    return FourierGait.of(0.3 * mean * scale, [cosine * scale], [sine * scale], period)


def _checked(
    swimmer: Swimmer, objective: str, bound: Any, harmonics: int, points: int | None, starts: int
) -> np.ndarray:
    check_free(swimmer)
    if objective not in OBJECTIVES:
        raise InputError(f"objective = {objective!r}; expected one of {', '.join(OBJECTIVES)}.")
    if swimmer.angle_count < 2:
        raise InputError("A swimmer with one hinge comes back to where it was; expected at least two.")
    check_double("bound", bound)
    limits = np.asarray(bound, float)
    if limits.shape not in ((), (swimmer.angle_count,)) or not np.all(np.isfinite(limits) & (limits > 0.0)):
        raise InputError(
            f"bound = {bound!r}; expected a finite number above 0, or one for each of {swimmer.angle_count} angles."
        )
    for name, value, least in (("harmonics", harmonics, 1), ("points", points, FEWEST), ("starts", starts, 1)):
        if value is not None and value < least:
            raise InputError(f"{name} = {value!r}; expected a whole number of at least {least}.")
    return np.broadcast_to(limits, swimmer.angle_count).copy()
