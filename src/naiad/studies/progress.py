"""How far a study has come: a function of a fraction that can be handed on in parts."""

from collections.abc import Callable
from dataclasses import dataclass


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
        self.report(self.start + self.span * min(max(fraction, 0.0), 1.0), self.label)

    def part(self, index: int, count: int, label: str = "") -> "Progress":
        """The progress of stage `index` out of `count` equal ones."""
        span = self.span / count
        return Progress(self.report, self.start + index * span, span, label or self.label)
