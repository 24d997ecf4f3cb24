"""Histograms beside the densities that they should have."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from naiad.numerics.arguments import checked_throughout
from naiad.viz.style import PALETTE, dress, house, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BINS = 60


class Distribution(NamedTuple):
    """Samples of a quantity and the density that is expected of it."""

    samples: np.ndarray
    density: Callable[[np.ndarray], np.ndarray]


@checked_throughout
def distributions(quantities: Mapping[str, Distribution], *, title: str | None = None) -> "Figure":
    """A panel for each quantity, by its label: the histogram of its samples, and its density as a line."""
    with house():
        columns = min(len(quantities), 2)
        rows = -(-len(quantities) // columns)
        figure = new_figure(3.4 * columns, 2.5 * rows, title)
        for number, (label, each) in enumerate(quantities.items()):
            ax = figure.add_subplot(rows, columns, number + 1)
            ax.hist(each.samples, BINS, density=True, color=PALETTE[0], alpha=0.35, label="samples")
            at = np.linspace(np.min(each.samples), np.max(each.samples), 400)
            ax.plot(at, each.density(at), color=PALETTE[1], label="Gibbs")
            ax.set_ylim(bottom=0.0)
            dress(ax, label, "density")
            if number == 0:
                ax.legend(loc="upper left", handlelength=1.0)
        return figure
