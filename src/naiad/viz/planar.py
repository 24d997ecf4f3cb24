"""Bodies of the plane in a fluid: their outlines, their inertia, the streamlines around them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from naiad.numerics.arguments import checked_throughout
from naiad.viz.style import FAINT, INK, PALETTE, dress, house, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Outlines = Mapping[str, np.ndarray]
"""The name of each body -> its outline, rows (x, y)."""


@checked_throughout
def inertia_picture(outlines: Outlines, M: np.ndarray, *, title: str | None = None) -> "Figure":
    """The bodies, and under them their added inertia: numbers, coloured by M_ij / sqrt(M_ii M_jj)."""
    size = np.sqrt(np.maximum(np.abs(np.diag(M)), 1e-300))
    names = [f"{body} {part}" for body in outlines for part in ("Ω", "vx", "vy")]
    with house():
        figure = new_figure(7.6, 8.4, title)
        top, bottom = figure.subplots(2, 1, height_ratios=[1.0, 4.0])
        draw_outlines(top, outlines)
        low, high = top.get_ylim()
        top.set_ylim(low - 2.0, high + 2.0)
        top.locator_params(axis="y", nbins=3)
        dress(top, "x [m]", "y [m]")
        image = bottom.imshow(M / np.outer(size, size), cmap="RdBu_r", vmin=-1.0, vmax=1.0)
        figure.colorbar(image, ax=bottom, label="M_ij / √(M_ii M_jj)", shrink=0.85)
        for (i, j), value in np.ndenumerate(M):
            strong = abs(value) > 0.6 * size[i] * size[j]
            shown = f"{value:.4g}" if abs(value) > 1e-9 * np.max(size) ** 2 else "0"
            bottom.text(j, i, shown, ha="center", va="center", fontsize=6.5, color="white" if strong else INK)
        bottom.set_xticks(range(len(M)), names)
        bottom.set_yticks(range(len(M)), names)
        bottom.tick_params(length=0, labelsize=8)
        for edge in np.arange(2.5, len(M) - 1, 3.0):
            bottom.axhline(edge, color=FAINT, linewidth=0.8)
            bottom.axvline(edge, color=FAINT, linewidth=0.8)
    return figure


@checked_throughout
def streamlines(
    x: np.ndarray,
    y: np.ndarray,
    psi: np.ndarray,
    outlines: Outlines,
    arrows: tuple[np.ndarray, np.ndarray],
    *,
    title: str | None = None,
    vortices: tuple[np.ndarray, np.ndarray] | None = None,
) -> "Figure":
    """Lines of equal stream function psi[y, x], the bodies, and arrows (places, velocities) as complex numbers; of
    vortices the places in rows and the strengths, whose sign their colour tells."""
    finite = psi[np.isfinite(psi)]
    if vortices is None:
        levels = (float(np.max(np.abs(finite), initial=0.0)) or 1.0) * np.linspace(-1.0, 1.0, 64)
    else:  # psi has no bound at a vortex
        low, high = np.quantile(finite, (0.002, 0.998))
        levels = np.linspace(low, high, 48)
    shape = np.ptp(y) / np.ptp(x)
    with house():
        figure = new_figure(7.6, max(3.0, 7.0 * shape + 0.8), title)
        ax = figure.add_subplot()
        ax.contour(x, y, psi, levels=levels, colors=PALETTE[0], linewidths=0.7, linestyles="solid")
        draw_outlines(ax, outlines)
        if vortices is not None:
            draw_vortices(ax, *vortices)
        places, velocities = arrows
        scale = 0.12 * np.ptp(x) / (np.max(np.abs(velocities)) or 1.0)
        for place, velocity in zip(places, scale * velocities, strict=True):
            if abs(velocity) > 0.02 * np.ptp(x):
                end = place + velocity
                ax.annotate(
                    "",
                    (end.real, end.imag),
                    (place.real, place.imag),
                    arrowprops={"arrowstyle": "-|>", "color": PALETTE[1], "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0},
                )
        dress(ax, "x [m]", "y [m]")
        ax.grid(False)
        ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    return figure


@checked_throughout
def boundary_convergence(
    points: Mapping[str, Sequence[int]], errors: Mapping[str, Sequence[float]], *, title: str | None = None
) -> "Figure":
    """Errors of boundary methods against their points a body, both logarithmic."""
    with house():
        figure = new_figure(6.0, 4.0, title)
        ax = figure.add_subplot()
        for (name, counts), colour, shape in zip(points.items(), PALETTE, "osD^vP*X", strict=False):
            shown = np.maximum(errors[name], 1e-16)
            ax.loglog(counts, shown, marker=shape, markersize=4, color=colour)
            end = (float(counts[-1]), float(shown[-1]))
            ax.annotate(name, end, xytext=(6, 4), textcoords="offset points", color=colour, fontsize=9)
        dress(ax, "points a body", "relative error")
        ax.margins(x=0.12)
        every = sorted({count for counts in points.values() for count in counts})
        shown = [25 * 2**k for k in range(12) if every[0] <= 25 * 2**k <= every[-1]]
        ax.set_xticks(shown, [str(count) for count in shown])
        ax.set_xticks([], minor=True)
    return figure


@checked_throughout
def planar_paths(
    outlines: Sequence[np.ndarray], paths: Mapping[str, np.ndarray], marks: np.ndarray, *, title: str | None = None
) -> "Figure":
    """Paths by name, rows (x, y), with points at the rows `marks`, and a body's outlines there, the last one the
    darkest."""
    everything = np.concatenate([*outlines, *paths.values()])
    wide, high = np.ptp(everything, axis=0)
    with house():
        figure = new_figure(7.6, float(np.clip(7.0 * high / wide + 1.2, 3.0, 10.0)), title)
        ax = figure.add_subplot()
        for k, outline in enumerate(outlines):
            shade = 0.12 + 0.5 * (k + 1) / len(outlines)
            ax.fill(*outline.T, facecolor=INK, alpha=0.35 * shade, edgecolor="none", zorder=1)
            ax.plot(*np.append(outline, outline[:1], axis=0).T, color=INK, alpha=shade, linewidth=0.9, zorder=2)
        for (name, path), colour in zip(
            paths.items(), [INK, *PALETTE * (1 + len(paths) // len(PALETTE))], strict=False
        ):
            ax.plot(*path.T, color=colour, linewidth=1.2, label=name, zorder=3)
            ax.plot(*path[marks].T, linestyle="none", marker="o", markersize=3.0, color=colour, zorder=4)
            ax.plot(*path[-1], marker="o", markersize=6.0, color=colour, zorder=4)
        dress(ax, "x [m]", "y [m]")
        ax.set_aspect("equal")
        ax.margins(0.05)
        ax.legend(loc="best", frameon=False, fontsize=8)
    return figure


def draw_vortices(ax: "Axes", places: np.ndarray, strengths: np.ndarray) -> None:
    """Vortices as spots, those that turn counterclockwise in one colour and the others in another."""
    for (x, y), strength in zip(places, strengths, strict=True):
        colour = PALETTE[1] if strength > 0 else PALETTE[2]
        ax.plot(x, y, marker="o", markersize=6.5, color=colour, markeredgecolor="white", zorder=5)


def draw_outlines(ax: "Axes", outlines: Outlines) -> None:
    """Bodies filled and named, in true proportion."""
    for name, outline in outlines.items():
        ax.fill(*outline.T, facecolor="#D9D9D9", edgecolor=INK, linewidth=0.9, zorder=3)
        x, y = np.mean(outline, axis=0)
        ax.text(x, y, name, ha="center", va="center", fontsize=7.5, color=INK, zorder=4)
    ax.set_aspect("equal")
