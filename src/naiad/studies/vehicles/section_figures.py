"""Sections as figures: one panel, or a grid of methods and steps side by side."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from naiad.studies.vehicles.poincare_section import LevelSet
    from naiad.studies.vehicles.section_panels import Panel

MOST_POINTS = 20_000
NAMES = ("Π_x", "Π_y", "Π_z")


def one_panel(panel: "Panel", level: "LevelSet") -> "Figure":
    """The section of one method and step."""
    from naiad import viz

    with viz.house():
        figure = viz.new_figure(5.6, 5.0)
        ax = figure.add_subplot()
        _draw(ax, panel, level, f"{panel.method}, dt = {panel.dt:.4g} s")
        _label(ax, level, x=True, y=True)
        return figure


def panel_grid(rows: "Sequence[Sequence[Panel]]", level: "LevelSet", timed: bool) -> "Figure":
    """A row for each method, a column for each step or, if `timed`, for each CPU time."""
    from naiad import viz

    count = max(len(row) for row in rows)
    with viz.house():
        figure = viz.new_figure(0.6 + 2.5 * count, 0.4 + 2.3 * len(rows))
        axes = figure.subplots(len(rows), count, sharex=True, sharey=True, squeeze=False)
        for i, row in enumerate(rows):
            for j, panel in enumerate(row):
                spent = f", {panel.seconds:.2g} s" if timed else ""
                _draw(axes[i, j], panel, level, f"{panel.method}, dt = {panel.dt:.3g} s{spent}")
                _label(axes[i, j], level, x=i == len(rows) - 1, y=j == 0)
        return figure


def _draw(ax: Any, panel: "Panel", level: "LevelSet", title: str) -> None:
    from naiad import viz

    across, up = plotted(level)
    # at random: every k-th point of a torus near a resonance would look like something else
    shown = np.random.default_rng(0).permutation(len(panel.t))[:MOST_POINTS]
    viz.section_scatter(panel.mu[shown, across], panel.mu[shown, up], groups=panel.orbit[shown], title=title, ax=ax)
    low, high = extent(level)
    pad = 0.05 * (high - low)
    ax.set(xlim=(low[0] - pad[0], high[0] + pad[0]), ylim=(low[1] - pad[1], high[1] + pad[1]))
    if panel.stopped:
        words = panel.stopped.split(":")[0] if ";" not in panel.stopped else "orbits stopped early"
        ax.text(0.5, 0.02, words, transform=ax.transAxes, ha="center", va="bottom", fontsize=7.5)


def _label(ax: Any, level: "LevelSet", *, x: bool, y: bool) -> None:
    across, up = plotted(level)
    ax.set_xlabel(f"${NAMES[across].replace('Π', chr(92) + 'Pi')}$ [kg m²/s]" if x else "")
    ax.set_ylabel(f"${NAMES[up].replace('Π', chr(92) + 'Pi')}$ [kg m²/s]" if y else "")


def plotted(level: "LevelSet") -> tuple[int, int]:
    """The components of Pi that are shown: for p_z = 0 those along x and z, as in the thesis."""
    return (level.axis + 1) % 3, level.axis


def extent(level: "LevelSet") -> tuple[np.ndarray, np.ndarray]:
    """The least and greatest values of what is shown, on the true level set."""
    angles = np.linspace(0.0, 2.0 * np.pi, 121)
    rings = [level.momentum(phi, angles) for phi in angles]
    shown = np.concatenate([ring for ring in rings if ring is not None])[:, list(plotted(level))]
    return shown.min(axis=0), shown.max(axis=0)
