"""Poincare sections of a live page: they fill point by point, and orbits begin where the reader clicks."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from naiad.simulation import Section


class SectionPlot(NamedTuple):
    """A surface of section, and the picture of its crossings.

    `x` and `y` are functions of state and time (or of system, state and time) that say where a crossing is drawn, and
    `labels` what they are. `start(system, x, y)`, which may take controls by their names after these, is the state from
    which an orbit begins at a point of the picture; NaN where there is none. `orbits` are points where orbits begin
    when the page opens, `frame` is (left, right, bottom, top) of the picture (what is met, if not given).
    """

    section: Section
    x: Callable[..., Any]
    y: Callable[..., Any]
    labels: tuple[str, str] = ("x", "y")
    start: Callable[..., Any] | None = None
    orbits: Sequence[tuple[float, float]] = ()
    frame: tuple[float, float, float, float] | None = None
