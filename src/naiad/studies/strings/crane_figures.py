"""The figures of a crane: how the payload swings, where the cable is, what the hoist does."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from naiad.studies.strings.crane import Move

SHOTS = 24


def swings(moves: "dict[str, Move]") -> "Figure":
    """Trolley, and swing of the payload, over time."""
    from naiad import viz
    from naiad.viz.style import colours, dress
    from naiad.viz.thinning import thin

    with viz.house():
        figure = viz.new_figure(7.2, 5.0)
        above, below = figure.subplots(2, 1, sharex=True)
        for (name, move), colour in zip(moves.items(), colours(len(moves)), strict=True):
            above.plot(*thin(move.times, move.observed[:, 2]), color=colour, label=name)
            below.plot(*thin(move.times, move.swing), color=colour, label=name)
            below.axvline(move.last, color=colour, linestyle=":", linewidth=1.0)
        dress(above, "", "trolley [m]")
        dress(below, "time [s] (dotted: the trolley has stopped)", "swing [degrees]")
        above.legend(loc="lower right")
        return figure


def snapshots(moves: "dict[str, Move]") -> "Figure":
    """The cable at even times, a panel for each move."""
    from naiad import viz
    from naiad.viz.style import colours, dress

    with viz.house():
        figure = viz.new_figure(max(4.0, 3.0 * len(moves)), 2.8)
        panels = np.atleast_1d(figure.subplots(1, len(moves), sharex=True, sharey=True))
        for ax, (name, move), colour in zip(panels, moves.items(), colours(len(moves)), strict=True):
            chosen = np.linspace(0, len(move.times) - 1, SHOTS).astype(int)
            nodes = move.nodes
            for node in chosen:
                ax.plot(*nodes[node][:, (0, 2)].T, color="#999999", linewidth=0.8)
            ax.plot(*nodes[:, -1][:, (0, 2)].T, color=colour, linewidth=1.2)
            ax.plot(*nodes[chosen, -1][:, (0, 2)].T, "o", color=colour, markersize=3)
            ax.set_aspect("equal")
            ax.set_title(name)
            dress(ax, "x [m]", "z, down [m]" if ax is panels[0] else "")
        panels[0].invert_yaxis()
        return figure


def hoist(moves: "dict[str, Move]") -> "Figure":
    """The length outside, the tension at the trolley, and the moment on the drum."""
    from naiad import viz
    from naiad.viz.style import colours, dress
    from naiad.viz.thinning import thin

    with viz.house():
        figure = viz.new_figure(7.2, 6.0)
        first, second, third = figure.subplots(3, 1, sharex=True)
        for (name, move), colour in zip(moves.items(), colours(len(moves)), strict=True):
            first.plot(*thin(move.times, move.observed[:, 3]), color=colour, label=name)
            second.plot(*thin(move.times, move.observed[:, 4] / 1e3), color=colour)
            third.plot(*thin(move.times, move.moment() / 1e3), color=colour)
        dress(first, "", "cable outside [m]")
        dress(second, "", "tension [kN]")
        dress(third, "time [s]", "moment [kN m]")
        first.legend(loc="upper right")
        return figure
