"""Gaits: their loops on maps of the curvature, the paths they make, and how an optimiser came to them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from naiad.numerics.arguments import checked_throughout
from naiad.viz.style import FAINT, INK, PALETTE, colours, dress, house, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Loops = Mapping[str, np.ndarray]
"""The name of a gait -> the angles (theta_1, theta_2) along it, rows."""

PARTS = {"F Ω": "1/rad", "F x": "m/rad²", "F y": "m/rad²"}


@checked_throughout
def curvature_maps(
    first: np.ndarray, second: np.ndarray, F: np.ndarray, loops: Loops, *, title: str | None = None
) -> "Figure":
    """The components of F[first, second] = (Omega, x, y) in colour, 0 white with a line, and loops with their sense."""
    with house():
        figure = new_figure(11.4, 4.2, title)
        for ax, (name, unit), values in zip(figure.subplots(1, 3), PARTS.items(), np.moveaxis(F, 2, 0), strict=True):
            largest = float(np.nanmax(np.abs(values))) or 1.0
            image = ax.pcolormesh(
                first, second, values.T, cmap="RdBu_r", vmin=-largest, vmax=largest, shading="gouraud", rasterized=True
            )
            ax.contour(first, second, values.T, levels=[0.0], colors=FAINT, linewidths=0.7)
            draw_loops(ax, loops)
            dress(ax, "θ₁ [rad]", "θ₂ [rad]", f"{name} [{unit}]")
            ax.grid(False)
            ax.set_aspect("equal")
            figure.colorbar(image, ax=ax, shrink=0.82)
            ax.set(xlim=(first[0], first[-1]), ylim=(second[0], second[-1]))
        if len(loops) > 1:
            handles, labels = figure.axes[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower left", ncols=len(loops))
    return figure


def draw_loops(ax: "Axes", loops: Loops) -> None:
    """Closed curves with an arrow each."""
    shades = (INK, *PALETTE[2:])
    for (name, theta), colour in zip(loops.items(), shades, strict=False):
        closed = np.concatenate([theta, theta[:1]])
        ax.plot(*closed.T, color=colour, linewidth=1.6, label=name)
        k = len(theta) // 8
        ax.annotate(
            "",
            theta[k + max(1, len(theta) // 60)],
            theta[k],
            arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.6, "mutation_scale": 14},
        )


@checked_throughout
def gait_paths(
    paths: Mapping[str, np.ndarray], outlines: Mapping[str, Sequence[Sequence[np.ndarray]]], *, title: str | None = None
) -> "Figure":
    """The path of the base in the plane under each gait, rows (x, y), and the bodies at some times, as outlines."""
    with house():
        shape = sum(_height(paths[name], outlines[name]) for name in paths)
        figure = new_figure(9.0, float(np.clip(8.2 * shape + 1.0 + 0.5 * len(paths), 3.2, 10.0)), title)
        axes = np.atleast_1d(figure.subplots(len(paths), 1))
        for ax, (name, path), colour in zip(axes, paths.items(), colours(len(paths)), strict=True):
            for k, bodies in enumerate(outlines[name]):
                shade = 0.88 - 0.5 * k / max(len(outlines[name]) - 1, 1)
                for outline in bodies:
                    ax.fill(*outline.T, facecolor=str(shade), edgecolor=INK, linewidth=0.5, zorder=2)
            ax.plot(*path.T, color=colour, zorder=3)
            dress(ax, "x [m]", "y [m]", name)
            ax.set_aspect("equal")
    return figure


@checked_throughout
def climbs(histories: Sequence[np.ndarray], ylabel: str, *, reference: float | None = None) -> "Figure":
    """The value after each iteration, a line for each start."""
    with house():
        figure = new_figure(6.4, 3.8)
        ax = figure.add_subplot()
        for k, (history, colour) in enumerate(zip(histories, colours(len(histories)), strict=True)):
            ax.plot(np.arange(len(history)), history, color=colour, label=f"start {k + 1}")
            ax.plot(len(history) - 1, history[-1], "o", color=colour, markersize=4)
        if reference is not None:
            ax.axhline(reference, color=FAINT, linestyle="--", linewidth=0.9)
            ax.annotate("the paper's gait", (1.0, reference), xycoords=("axes fraction", "data"), xytext=(-4, 4),
                        textcoords="offset points", ha="right", fontsize=8, color=FAINT)  # fmt: skip
        dress(ax, "iteration", ylabel)
        ends = [history[-1] for history in histories] + ([] if reference is None else [reference])
        top = max(1.0, float(np.max(ends)))
        ax.set_ylim(0.0, 1.25 * float(np.max(ends)) if np.max(ends) > 0 else top)
        ax.legend(loc="lower right")
    return figure


def _height(path: np.ndarray, outlines: Sequence[Sequence[np.ndarray]]) -> float:
    """The height of a picture over its width."""
    points = np.concatenate([path, *(outline for bodies in outlines for outline in bodies)])
    width, height = np.ptp(points, axis=0)
    return float(height / (width or 1.0))
