"""The work-precision diagram."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOOR = 2e-13
"""What the reference cannot tell from zero."""
MARKERS, LINES = "osD^vP*X", ("-", "--", ":")


def work_precision(rows: Sequence[tuple[str, float, float]]) -> "Figure":
    """CPU time against error: methods of order up to two on the left, those of higher order on the right."""
    from naiad import viz

    curves = {name: _curve(rows, name) for name in dict.fromkeys(name for name, _, _ in rows)}
    high = [name for name, curve in curves.items() if slope(*curve) >= 3.0]
    sides = {"order 1 and 2": [name for name in curves if name not in high], "higher order": high}
    sides = {title: names for title, names in sides.items() if names}
    with viz.house():
        figure = viz.new_figure(5.6 * len(sides), 4.4)
        axes = figure.subplots(1, len(sides), sharex=True, sharey=True, squeeze=False)[0]
        for ax, (title, names) in zip(axes, sides.items(), strict=True):
            for number, name in enumerate(names):
                _line(ax, *curves[name], name, number)
            ax.set(xscale="log", yscale="log", xlabel="relative error at the end", ylabel="CPU time [s]")
            ax.set_title(title)
            ax.grid(True, color="#E4E4E4", linewidth=0.6)
            ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        axes[0].invert_xaxis()
        return figure


def slope(error: np.ndarray, seconds: np.ndarray) -> float:
    """The order that the errors above the floor show: how fast they fall as the time grows."""
    good = np.isfinite(error) & (error > 100 * FLOOR) & (error < 0.1)
    if np.count_nonzero(good) < 2:
        return np.inf
    return float(-np.polyfit(np.log(seconds[good]), np.log(error[good]), 1)[0])


def _curve(rows: Sequence[tuple[str, float, float]], name: str) -> tuple[np.ndarray, np.ndarray]:
    error, seconds = np.array([(e, s) for n, e, s in rows if n == name]).T
    order = np.argsort(seconds)
    return error[order], seconds[order]


def _line(ax: Any, error: np.ndarray, seconds: np.ndarray, name: str, number: int) -> None:
    from naiad import viz

    colour = viz.PALETTE[number % len(viz.PALETTE)]
    style, marker = LINES[number // len(viz.PALETTE) % 3], MARKERS[number % 8]
    shown = np.where((error < 3.0) & (error > FLOOR), error, np.nan)
    ax.plot(shown, seconds, color=colour, linestyle=style, marker=marker, markersize=3.5, label=name)
