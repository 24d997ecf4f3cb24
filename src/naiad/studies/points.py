"""The points that a figure shows, as a table."""

import csv
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.viz.space import BEHIND
from naiad.viz.style import FAINT, GRID

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUIET = (GRID, FAINT)
HEADS = ("panel", "curve", "x", "y", "z")


def points_csv(figure: "Figure") -> str:
    """Every point of every line and scatter of the figure, a row each, as CSV; empty where there are none.

    A panel is called by its title, else by what its upright axis shows. Lines that guide the eye, in the colours of a
    grid, are left out.
    """
    rows = [row for ax in figure.axes for row in _rows(ax)]
    if not rows:
        return ""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([HEADS, *rows])
    return text.getvalue()


def _rows(ax: Any) -> Iterator[tuple[Any, ...]]:
    panel = _flat(ax.get_title(loc="left") or ax.get_title() or ax.get_ylabel())
    lines = [line for line in ax.lines if line.get_transform() == ax.transData and line.get_color() not in QUIET]
    curves = [(line.get_label(), _points_of_line(line)) for line in lines if line.get_label() != BEHIND]
    curves += [(each.get_label(), _points_of_scatter(each)) for each in ax.collections if len(each.get_offsets()) > 1]
    for number, (label, points) in enumerate(curves, start=1):
        name = str(number) if str(label).startswith("_") else _flat(str(label))
        for point in points:
            yield (panel, name, *(f"{value:.12g}" for value in point))


def _points_of_line(line: Any) -> np.ndarray:
    if hasattr(line, "whole"):
        return _finite(line.whole)
    data = line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data(orig=False)
    return _finite(np.stack([np.asarray(each, float) for each in data], axis=1))


def _points_of_scatter(collection: Any) -> np.ndarray:
    in_space = getattr(collection, "_offsets3d", None)
    columns = np.transpose(collection.get_offsets()) if in_space is None else in_space
    return _finite(np.stack([np.asarray(each, float) for each in columns], axis=1))


def _finite(points: np.ndarray) -> np.ndarray:
    return points[np.isfinite(points).all(1)]


def _flat(text: str) -> str:
    return " ".join(text.split())
