"""The figures of the fish in space: how far it swims, where, and how it looks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.locomotion import placed_links, reconstruct
from naiad.studies.fish.motion import GAITS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from naiad.studies.fish.spatial_fish import SpatialFish

SHOWN = 4
"""The most widths among the paths, and the times of the pictures."""
DASHES = {"planar": "-", "limit": "--"}
MEANING = {"planar": "planar fish", "limit": "limit of wide ellipsoids"}


def displacement(results: Mapping[str, Any]) -> "Figure":
    """The distance swum against the width, and the difference from the limit."""
    from naiad import viz
    from naiad.viz.style import FAINT, INK, dress

    widths, off = results["widths"], results["difference_from_limit"]
    swum = np.linalg.norm(results["displacement"][:, 1:], axis=1)
    with viz.house():
        figure = viz.new_figure(8.4, 3.6)
        left, right = figure.subplots(1, 2)
        left.semilogx(widths, swum, marker="o", markersize=4, color=viz.PALETTE[0], label="ellipsoids")
        for name, dash in DASHES.items():
            level = float(np.linalg.norm(results[name][1:]))
            left.axhline(level, color=INK, linestyle=dash, linewidth=0.9, label=MEANING[name])
        left.legend(loc="lower right")
        dress(left, "width w [m]", "net displacement [m]", "How far it swims")
        right.loglog(widths, off, marker="o", markersize=4, color=viz.PALETTE[0], label="ellipsoids")
        line = off[-1] * (widths[-1] / widths) ** 2
        right.loglog(widths, line, color=FAINT, linestyle="--", linewidth=0.9, label="slope -2")
        right.legend(loc="lower left")
        dress(right, "width w [m]", "difference [m]", "Difference from the limit")
        return figure


def paths(columns: Mapping[str, np.ndarray]) -> "Figure":
    """The paths of the middle link in the plane, to scale, for a few widths and for the plane."""
    from naiad import viz
    from naiad.viz.style import INK, dress

    wide = [name for name in columns if name not in DASHES]
    some = wide[: -(-len(wide) // 2)][:SHOWN]  # the paths of wider ones lie on that of the limit
    with viz.house():
        figure = viz.new_figure(7.6, 4.2)
        ax = figure.add_subplot()
        for name, colour in zip(some, viz.PALETTE, strict=False):
            ax.plot(*columns[name][:, 1:].T, color=colour, label=name)
        for name, dash in DASHES.items():
            ax.plot(*columns[name][:, 1:].T, color=INK, linestyle=dash, linewidth=0.9, label=MEANING[name])
        dress(ax, "x [m]", "y [m]", "Path of the middle link")
        ax.set_aspect("equal", adjustable="datalim")
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        return figure


def coupling(results: Mapping[str, Any], columns: Mapping[str, list[np.ndarray]]) -> "Figure":
    """How far fish swim with links alone and coupled, beside those of the plane; and the paths of the widest."""
    from naiad import viz
    from naiad.viz.style import FAINT, dress

    widths = results["widths"]
    with viz.house():
        figure = viz.new_figure(8.6, 3.8)
        left, right = figure.subplots(1, 2)
        for name, key, colour in (("alone", "distance_alone", viz.PALETTE[1]), ("coupled", "distance", viz.PALETTE[0])):
            left.plot(widths, results[key], marker="o", markersize=4, color=colour, label=f"in space, {name}")
            plane = results["planar" if name == "coupled" else "planar_alone"]
            level = float(np.linalg.norm(plane[1:]))
            left.axhline(level, color=colour, linestyle="--", linewidth=0.9, label=f"in the plane, {name}")
            right.plot(*columns[name][-1][:, 1:].T, color=colour, label=name)
        left.legend(loc="best")
        dress(left, "width w [m]", "net displacement [m]", "How far it swims")
        right.axhline(0.0, color=FAINT, linewidth=0.6)
        right.set_aspect("equal", adjustable="datalim")
        right.legend(loc="best")
        dress(right, "x [m]", "y [m]", f"Path of the middle link, w = {float(widths[-1]):g} m")
        return figure


def fish(study: "SpatialFish") -> "Figure":
    """The fish whose width is nearest to its links' half length, at a few times of the first period."""
    from naiad import viz

    width = float(study.shown[np.argmin(np.abs(study.shown - 0.5 * study.a))])
    swimmer = study.fish(width)
    times = np.linspace(0.0, 2.0 * np.pi, SHOWN, endpoint=False)
    motion = reconstruct(swimmer, GAITS[study.gait], times)
    poses = placed_links(swimmer, motion.g, motion.theta)
    titles = [f"w = {width:g} m, t = {t:.3g} s" for t in times]
    return viz.ellipsoid_snapshots(poses.R, poses.x, np.tile([study.a, study.b, width], (3, 1)), titles)
