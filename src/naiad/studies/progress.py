"""How far a study has come: a function of a fraction that can be handed on in parts."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from naiad import interrupts

LONG = 60.0  # seconds to go from which on it is worth to say so
PATIENCE = 2.0  # seconds in which a rate is measured
UNITS = {"year": 365.25 * 86400.0, "day": 86400.0, "hour": 3600.0, "minute": 60.0, "second": 1.0}


def _nowhere(fraction: float, label: str) -> None:
    pass


@dataclass(frozen=True)
class Progress:
    """Call it with the fraction done, from 0 to 1; `part` gives the same for one stage of several.

    for i, method in enumerate(methods):
        compare(method, progress.part(i, len(methods), label=method))
    """

    report: Callable[[float, str], None] = _nowhere
    start: float = 0.0
    span: float = 1.0
    label: str = ""

    def __call__(self, fraction: float) -> None:
        interrupts.check()
        self.report(self.start + self.span * min(max(fraction, 0.0), 1.0), self.label)

    def says(self, label: str) -> None:
        """What is done after all of it, such as the drawing of a figure."""
        interrupts.check()
        self.report(self.start + self.span, label)

    def part(self, index: int, count: int, label: str = "") -> "Progress":
        """The progress of stage `index` out of `count` equal ones."""
        span = self.span / count
        return Progress(self.report, self.start + index * span, span, label or self.label)


class Forecast:
    """Told the fraction done, it says once how long the rest will take at this rate, if that is long."""

    def __init__(self, say: Callable[[str], None]):
        self._say = say
        self._first: tuple[float, float] | None = None
        self._said = False

    def __call__(self, fraction: float) -> None:
        now = time.monotonic()
        if self._first is None:
            if fraction > 0.0:  # before that it was compiled
                self._first = now, fraction
            return
        since, start = self._first
        if self._said or fraction <= start or now - since < PATIENCE:
            return
        left = (1.0 - fraction) * (now - since) / (fraction - start)
        if left > LONG:
            self._said = True
            self._say(f"about {in_time_units(left)} to go at this rate")


def in_time_units(seconds: float) -> str:
    """A duration in words, with two digits: "3.2 hours"."""
    unit, size = next(((unit, size) for unit, size in UNITS.items() if seconds >= size), ("second", 1.0))
    return f"{seconds / size:.2g} {unit}s"
