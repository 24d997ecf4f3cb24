"""The figures of `argon-cluster`."""

from typing import TYPE_CHECKING, Any

import numpy as np

import naiad as nd
from naiad import viz
from naiad.compiler import execute_rows
from naiad.viz.style import dress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from naiad.studies.atoms.argon_cluster import Isomer, Piece, Turn

TOUCH = 1.3
"""Atoms nearer than this, in sigma, are joined by a line."""


def turn_figure(turn: "Turn", hot: "list[Piece]") -> "Figure":
    """A turn without angular momentum: a free vibration, circles of shapes, and a hot cluster."""
    with viz.house():
        figure = viz.new_figure(11.0, 3.6)
        vibration, circle, wild = figure.subplots(1, 3)
        t = turn.run.t.to_numpy()
        vibration.plot(t, turn.angle, color=viz.PALETTE[0], label="the motion")
        vibration.plot(t, turn.by_area, "--", color=viz.PALETTE[1], label="- curvature x area")
        dress(vibration, "time", "turn [rad]", "free vibration on a circle")
        circle.plot(turn.radii, np.degrees(turn.circles), "o", color=viz.PALETTE[0], label="the connection")
        fine = np.linspace(0.0, turn.radii[-1], 200)
        rule = turn.circles_by_area[-1] * (fine / turn.radii[-1]) ** 2
        circle.plot(fine, np.degrees(rule), "--", color=viz.PALETTE[1], label="- curvature x area")
        dress(circle, "radius of the circle of shapes", "turn [deg]", "one circle")
        times = np.concatenate([run.t.to_numpy() for _, run in hot])
        turns = np.concatenate([execute_rows(_vector, (), run.g.R, parameters=(0,)) for _, run in hot])
        for k, colour in zip(range(3), viz.PALETTE, strict=False):
            wild.plot(times, np.degrees(turns[:, k]), color=colour, linewidth=0.7, label="xyz"[k])
        dress(wild, "time", "rotation vector of the frame [deg]", "hot, between isomers")
        for ax in (vibration, circle, wild):
            ax.legend(fontsize="small")
        figure.suptitle("turns without angular momentum")
        return figure


def isomer_figure(
    cluster: nd.models.AtomCluster,
    isomers: "list[Isomer]",
    quenched: tuple[np.ndarray, np.ndarray],
    pieces: "list[Piece]",
) -> "Figure":
    """The lowest isomers, and into which the moving cluster would fall, over time."""
    with viz.house():
        figure = viz.new_figure(9.6, 6.0)
        grid = figure.add_gridspec(2, 2, height_ratios=(1.2, 1.0))
        for k, isomer in enumerate(isomers[:2]):
            ax: Any = figure.add_subplot(grid[0, k], projection="3d")
            _draw_atoms(ax, np.asarray(cluster.jacobi) @ isomer.q, viz.PALETTE[k])
            ax.set_title(f"{isomer.energy:.6f} eps, from {isomer.count} starts")
        ax = figure.add_subplot(grid[1, :])
        times, potential = _potential(cluster, pieces)
        ax.plot(times, potential, color="#B0B0B0", linewidth=0.6, label="potential energy")
        ax.plot(*quenched, ".-", color=viz.PALETTE[0], linewidth=0.8, markersize=3, label="after cooling")
        dress(ax, "time", "energy [eps]")
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
        return figure


def cost_figure(costs: dict[str, list[tuple[float, float, float]]]) -> "Figure":
    """Error against computing time for one unit of time."""
    with viz.house():
        figure = viz.new_figure(5.6, 4.0)
        ax = figure.add_subplot()
        for (name, rows), colour in zip(costs.items(), viz.PALETTE, strict=False):
            dts, cost, error = np.array(rows).T
            ax.loglog(cost / dts * 1e-3, error, "o-", color=colour, label=name)
        dress(ax, "CPU time for t = 1 [ms]", "error of the places at t = 1")
        ax.legend()
        return figure


def _draw_atoms(ax: Any, x: np.ndarray, colour: str) -> None:
    """Spheres and lines, the first atom above the centre."""
    up = x[0] / np.linalg.norm(x[0])
    side = min(x[1:], key=lambda each: abs(each @ up) / np.linalg.norm(each))
    side = (side - (side @ up) * up) / np.linalg.norm(side - (side @ up) * up)
    x = x @ np.stack([side, np.cross(up, side), up], axis=1)
    first, second = np.triu_indices(len(x), 1)
    for i, j in zip(first, second, strict=True):
        if np.linalg.norm(x[i] - x[j]) < TOUCH:
            ax.plot(*x[[i, j]].T, color="#8A8A8A", linewidth=1.2)
    ax.scatter(*x.T, s=420, color=colour, edgecolor="black", depthshade=True)
    ax.set_box_aspect((1, 1, 1))
    size = 0.75 * np.max(np.abs(x))
    ax.set(xlim=(-size, size), ylim=(-size, size), zlim=(-size, size))
    ax.view_init(elev=14, azim=28)
    ax.set_axis_off()


def _potential(cluster: nd.models.AtomCluster, pieces: "list[Piece]") -> tuple[np.ndarray, np.ndarray]:
    times = np.concatenate([run.t.to_numpy() for _, run in pieces])
    values = [execute_rows(_shape_potential, chart, run.g.s, parameters=(0,)) for chart, run in pieces]
    return times, np.concatenate(values)


def _shape_potential(chart: nd.models.ClusterShape, s: Any) -> Any:
    return chart.whole.potential_energy(chart.slice(s))


def _vector(_: Any, R: Any) -> Any:
    return nd.SO3().log(R)
