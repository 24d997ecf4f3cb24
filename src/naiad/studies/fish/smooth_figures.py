"""The figures of the fish that bends smoothly: all three along their ways, their paths, and how they bend."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from naiad.locomotion import BendingSwimmer
from naiad.locomotion.abstract_swimmer import AbstractSwimmer
from naiad.studies.fish.motion import FishMotion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POSTURES = 7
NAMES = {"hinged": "hinged links", "cloth": "cloth over the joints", "wave": "wave of curvature"}


def along(motions: Mapping[str, FishMotion], outlines: Mapping[str, list[np.ndarray]], title: str) -> "Figure":
    """Each fish in a column, at equal times one below the other, with the path of its middle so far."""
    from naiad import viz
    from naiad.viz.style import FAINT, dress

    shown = np.linspace(0, len(motions["hinged"].times) - 1, POSTURES).round().astype(int)
    every = np.concatenate([each[shown].reshape(-1, 2) for links in outlines.values() for each in links])
    # a row for the tallest posture, less the drift that is drawn anyway
    tall = max(np.ptp(np.concatenate([each[k, :, 1] for each in outlines[name]])) for name in motions for k in shown)
    with viz.house():
        figure = viz.new_figure(9.6, 6.4, title)
        for ax, (name, motion) in zip(figure.subplots(1, 3, sharex=True, sharey=True), motions.items(), strict=True):
            colour = viz.PALETTE[list(motions).index(name)]
            for row, k in enumerate(shown):
                down = -1.1 * row * tall
                ax.plot(motion.poses[: k + 1, 1], motion.poses[: k + 1, 2] + down, color=FAINT, linewidth=0.9)
                for each in outlines[name]:
                    ax.fill(each[k, :, 0], each[k, :, 1] + down, facecolor=colour, alpha=0.85, linewidth=0.0)
            dress(ax, "x [m]", "")
            ax.set_title(f"{NAMES[name]}: {motion.distance:.1f} m", fontsize=9)
            ax.set_aspect("equal")
            ax.set_xlim(every[:, 0].min() - 3.0, every[:, 0].max() + 3.0)
            ax.set_yticks(-1.1 * tall * np.arange(POSTURES), [f"{motion.times[k]:.2f}" for k in shown])
        figure.axes[0].set_ylabel("time [s]; y to the scale of x")
    return figure


def paths(motions: Mapping[str, FishMotion], title: str) -> "Figure":
    """The paths of the middles to scale, and how they turn."""
    from naiad import viz
    from naiad.viz.style import PALETTE, dress

    with viz.house():
        figure = viz.new_figure(8.4, 3.6, title)
        left, right = figure.subplots(1, 2)
        for colour, (name, motion) in zip(PALETTE, motions.items(), strict=False):
            left.plot(motion.poses[:, 1], motion.poses[:, 2], color=colour, label=NAMES[name])
            left.plot(*motion.poses[-1, 1:], "o", color=colour, markersize=3.5)
            right.plot(motion.times, motion.poses[:, 0], color=colour)
        dress(left, "x [m]", "y [m]")
        dress(right, "time [s]", "β [rad]")
        left.set_aspect("equal", adjustable="datalim")
        left.legend(loc="best")
    return figure


def bends(fish: Mapping[str, AbstractSwimmer], motions: Mapping[str, FishMotion]) -> "Figure":
    """The outlines of the smooth fish over a period, seen from their middle, later ones darker."""
    from naiad import viz
    from naiad.viz.style import PALETTE, dress

    smooth = {name: each for name, each in fish.items() if isinstance(each, BendingSwimmer)}
    with viz.house():
        figure = viz.new_figure(8.4, 3.4, "Outlines over a period, seen from the middle")
        for ax, (name, swimmer) in zip(figure.subplots(1, 2, sharey=True), smooth.items(), strict=True):
            shown = np.linspace(0, len(motions[name].times) - 1, 13).round().astype(int)[:-1]
            for k, outline in enumerate(swimmer.outlines(motions[name].theta[shown], np.zeros((len(shown), 3)))):
                closed = np.concatenate([outline, outline[:1]])
                colour = PALETTE[list(fish).index(name)]
                ax.plot(*closed.T, color=colour, linewidth=0.9, alpha=0.25 + 0.7 * k / len(shown))
            dress(ax, "x [m]", "y [m]" if ax is figure.axes[0] else "")
            ax.set_title(NAMES[name], fontsize=9)
            ax.set_aspect("equal")
    return figure
