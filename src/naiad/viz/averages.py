"""Averages as they settle."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from naiad.numerics.arguments import checked_throughout
from naiad.viz.style import FAINT, colours, dress, house, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@checked_throughout
def averages(
    time: ArrayLike,
    batches: Mapping[str, ArrayLike],
    ylabel: str,
    *,
    expected: float | None = None,
    title: str | None = None,
) -> "Figure":
    """The average of the batches so far against the time at which each ends, a line for each label with its standard
    error as a band; `expected` is a dashed line."""
    time = np.asarray(time, float)
    count = np.arange(1, len(time) + 1)
    with house():
        figure = new_figure(6.4, 3.4)
        ax = figure.add_subplot()
        for (label, values), colour in zip(batches.items(), colours(len(batches)), strict=True):
            batch = np.asarray(values, float)
            mean = np.cumsum(batch) / count
            scatter = np.array([np.std(batch[:n], ddof=1) if n > 1 else np.nan for n in count])
            error = scatter / np.sqrt(count)
            ax.plot(time, mean, color=colour, label=label)
            ax.fill_between(time, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0)
        if expected is not None:
            ax.axhline(expected, color=FAINT, linestyle="--", linewidth=0.9, label="expected")
        dress(ax, "time [s]", ylabel, title)
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        return figure
