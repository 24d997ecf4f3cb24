"""The figures of bodies that the water couples."""

from typing import TYPE_CHECKING, Any

import numpy as np

import naiad as nd
from naiad import hydro

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from naiad.studies.vehicles.near_wall import NearWall
    from naiad.studies.vehicles.passing_spheres import PassingSpheres

TIMES = 6
GRID = 150
RESOLVED, FINER = 0.1, 4
"""The smallest gap whose flow is shown, in the smaller radius, and by what there are more points than usual."""
ROUND = np.linspace(0.0, 2.0 * np.pi, 121)


def passing(study: "PassingSpheres", run: nd.Trajectory, alone: np.ndarray) -> "Figure":
    """The paths of both spheres in the plane of the centres and of the first one's velocity, with those that they would
    take alone, and the water's speed where they are nearest."""
    from naiad import viz
    from naiad.viz.style import FAINT, INK, dress

    along, up = _plane(study)
    x = run.g.x
    flat = np.stack([x @ along, x @ up], axis=-1)
    radii = (study.a, study.b)
    gaps = np.linalg.norm(x[:, 1] - x[:, 0], axis=1) - sum(radii)
    nearest = int(np.argmin(np.where(gaps > RESOLVED * min(radii), gaps, np.inf)))
    with viz.house():
        figure = viz.new_figure(8.6, 4.2)
        left, right = figure.subplots(1, 2, width_ratios=(1.25, 1.0))
        times = np.linspace(0, len(run.t) - 1, TIMES).astype(int)
        straight = x[0] + run.t.to_numpy()[:, None, None] * alone
        for k, (radius, colour) in enumerate(zip(radii, viz.PALETTE, strict=False)):
            left.plot(straight[:, k] @ along, straight[:, k] @ up, color=FAINT, linestyle="--", linewidth=0.9)
            left.plot(*flat[:, k].T, color=colour, label=("first", "second")[k])
            for shade, time in zip(np.linspace(0.25, 1.0, TIMES), times, strict=True):
                circle = flat[time, k, :, None] + radius * np.stack([np.cos(ROUND), np.sin(ROUND)])
                left.plot(*circle, color=colour, linewidth=0.9, alpha=float(shade))
        left.plot([], [], color=FAINT, linestyle="--", linewidth=0.9, label="alone")
        left.set_aspect("equal", adjustable="datalim")
        left.legend(loc="best")
        dress(left, "along [m]", "across [m]", "The paths")
        _speeds(right, study, run, nearest, (along, up), flat[nearest], radii, INK)
        dress(right, "along [m]", "across [m]", f"The water's speed [m/s], t = {float(run.t[nearest]):.3g} s")
        return figure


def _speeds(
    ax: Any,
    study: "PassingSpheres",
    run: nd.Trajectory,
    time: int,
    axes: tuple[np.ndarray, np.ndarray],
    centres: np.ndarray,
    radii: tuple[float, ...],
    ink: str,
) -> None:
    along, up = axes
    g = run.g
    poses = type(g)(g.R[time], g.x[time])
    fluid = hydro.SpatialBodies(study.shapes, degree=study.degree, points=FINER * study.degree)
    flow = fluid.flow(poses, run.xi.to_numpy()[time].reshape(-1, 6))
    margin = 1.6 * max(radii)
    low, high = (centres - margin).min(axis=0), (centres + margin).max(axis=0)
    u, w = np.meshgrid(np.linspace(low[0], high[0], GRID), np.linspace(low[1], high[1], GRID))
    normal = np.cross(along, up)
    origin = normal * float(np.mean(poses.x @ normal))
    velocity = flow.velocity(origin + u[..., None] * along + w[..., None] * up)
    speed = np.linalg.norm(velocity, axis=-1)
    most = float(np.nanpercentile(speed, 99.5))  # nearest to a surface they are not resolved
    shown = ax.pcolormesh(u, w, speed, cmap="viridis", vmin=0.0, vmax=most, shading="nearest", rasterized=True)
    ax.figure.colorbar(shown, ax=ax, shrink=0.85)
    ax.streamplot(u, w, velocity @ along, velocity @ up, color="white", linewidth=0.5, density=0.9, arrowsize=0.6)
    for centre, radius in zip(centres, radii, strict=True):
        ax.fill(*(centre[:, None] + radius * np.stack([np.cos(ROUND), np.sin(ROUND)])), color="0.85", ec=ink, zorder=3)
    ax.set_aspect("equal")


def _plane(study: "PassingSpheres") -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors of the plane that the centres and the relative velocity span."""
    along = study.v1 - study.v2
    along = along if np.linalg.norm(along) > 0.0 else np.asarray(study.x2)
    along = along / np.linalg.norm(along)
    across = study.x2 - (study.x2 @ along) * along
    if np.linalg.norm(across) < 1e-9:
        across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    return along, across / np.linalg.norm(across)


def near_wall(study: "NearWall", run: nd.Trajectory) -> "Figure":
    """The vehicle from the side at a few times, above the plane; and its added inertias against the height."""
    from naiad import viz
    from naiad.viz.style import FAINT, INK, dress

    g = run.g
    with viz.house():
        figure = viz.new_figure(8.6, 3.8)
        left, right = figure.subplots(1, 2, width_ratios=(1.3, 1.0))
        times = np.linspace(0, len(run.t) - 1, TIMES).astype(int)
        for shade, time in zip(np.linspace(0.3, 1.0, TIMES), times, strict=True):
            left.plot(*_outline(np.asarray(study.axes), g.R[time, 0], g.x[time, 0]), color=viz.PALETTE[0], alpha=shade)
        left.plot(g.x[:, 0, 0], g.x[:, 0, 2], color=INK, linewidth=0.9, linestyle="--")
        left.axhspan(-0.25 * study.height, 0.0, color="0.8" if study.plane == "wall" else "0.93", zorder=0)
        left.axhline(0.0, color=INK, linewidth=1.2)
        left.set_ylim(-0.25 * study.height, None)
        left.set_aspect("equal")
        dress(left, "x [m]", "distance from the plane [m]", f"Past a {study.plane}")
        heights, ratios = study.ratios()
        for k, name in ((3, "along x"), (4, "along y"), (5, "along z"), (1, "about y")):
            if np.all(np.isfinite(ratios[:, k])):
                right.plot(heights, ratios[:, k], label=name)
        right.axhline(1.0, color=FAINT, linewidth=0.9, linestyle="--")
        right.legend(loc="best")
        dress(right, "height of the centre [m]", "added inertia over that in open water", "Ground effect")
        return figure


def _outline(axes: np.ndarray, R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """What an ellipsoid looks like along y: the outline of its shadow in the plane (x, z)."""
    A = (R * axes**2) @ R.T
    across = np.stack([np.cos(ROUND), np.zeros_like(ROUND), np.sin(ROUND)])
    reach = np.sqrt(np.einsum("ik,ij,jk->k", across, A, across))
    return (x[:, None] + A @ across / reach)[[0, 2]]


def kept(run: nd.Trajectory) -> "Figure":
    """How far energy and momentum are from where they began, at the saved nodes."""
    from naiad import diagnostics, viz

    errors = {"energy": diagnostics.energy_error(run), "momentum": diagnostics.momentum_error(run)}
    shown = {name: np.maximum(values, 1e-17) for name, values in errors.items()}
    return viz.errors_over_time(run.t, shown, "relative error", log=True, title="What the method keeps")
