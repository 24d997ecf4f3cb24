"""The moving picture of a fish: its links in space, and the streamlines around it, seen from its base."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from naiad.hydro import Ellipse, PlanarBodies
from naiad.locomotion import Swimmer, link_poses, link_velocities
from naiad.studies.fish_flow import flow_of, groups, moving
from naiad.studies.fish_motion import SAMPLES, FishMotion
from naiad.studies.progress import Progress

if TYPE_CHECKING:
    import xarray as xr

FRAMES = 32
"""Of a period; a page draws what lies between them by interpolation."""

CELLS = 110
COARSENING = 3
"""A picture needs 5 digits: a third of the nodes that the inertia gets for round-off."""


class PeriodicFlow(NamedTuple):
    """The stream function psi[time, y, x] during a period, in the frame of the base; inside the links it is that of
    their rigid motion, which meets the fluid's at their outlines."""

    times: np.ndarray
    x: np.ndarray
    y: np.ndarray
    psi: np.ndarray


def periodic_flow(
    fish: Swimmer, ellipse: Ellipse, motion: FishMotion, *, coupled: bool, progress: Progress
) -> PeriodicFlow:
    """The flow of the first period of a motion from rest; all others are the same."""
    shown = np.arange(0, SAMPLES, SAMPLES // FRAMES)
    poses = link_poses(fish, motion.theta[shown])
    Xi = link_velocities(fish, motion.theta[shown], np.concatenate([motion.xi, motion.rates], axis=1)[shown])
    x, y = _grid(poses, max(ellipse.a, ellipse.b))
    points = np.stack(np.meshgrid(x, y), axis=-1)
    enough = PlanarBodies([ellipse]).boundaries[0].finest.size
    bodies = PlanarBodies([ellipse] * poses.shape[1], points=enough // COARSENING // 2 * 2)
    psi = np.empty((len(shown), *points.shape[:2]))
    with threadpool_limits(1, "blas"):
        for k in range(len(shown)):
            progress.part(k, len(shown), f"streamlines {k + 1} of {len(shown)}")(0.0)
            psi[k] = whole_stream_function(bodies, poses[k], Xi[k], points, coupled=coupled)
    return PeriodicFlow(motion.times[shown], x, y, psi)


def whole_stream_function(
    bodies: PlanarBodies, poses: np.ndarray, Xi: np.ndarray, points: np.ndarray, *, coupled: bool
) -> np.ndarray:
    """psi at points; inside a body, that of its rigid motion and the constant that makes it continuous."""
    z, total = points[..., 0] + 1j * points[..., 1], np.zeros(points.shape[:-1])
    for group in groups(Xi, coupled=coupled):
        flow = flow_of(bodies, poses, Xi, group)
        psi = flow.stream_function(points)
        for k in group:
            boundary, pose = bodies.boundaries[k], poses[k]
            around = moving(pose, Xi[k], (1.0 + 1e-9) * boundary.curve.sample(64).z)[0]
            on_outline = flow.stream_function(np.stack([np.real(around), np.imag(around)], axis=1))
            inside = np.isnan(psi)
            inside[inside] = boundary.holds((z[inside] - complex(*pose[1:])) * np.exp(-1j * pose[0]))
            psi[inside] = rigid(pose, Xi[k], z[inside]) + np.mean(on_outline - rigid(pose, Xi[k], around))
        total += psi
    return total


def rigid(pose: np.ndarray, xi: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The stream function of a rigid motion, V_x y - V_y x - Omega |x|^2 / 2."""
    V, apart = complex(*xi[1:]) * np.exp(1j * pose[0]), z - complex(*pose[1:])
    return np.imag(np.conj(V) * apart) - 0.5 * xi[0] * np.abs(apart) ** 2


def motion_dataset(motion: FishMotion, poses: np.ndarray, flow: PeriodicFlow, ellipse: Ellipse) -> "xr.Dataset":
    """The poses of the links in space, the angles, and the stream function, as labelled arrays."""
    import xarray as xr

    about = {
        "frame": "that of B3",
        "body": poses.shape[1] - 1,
        "period": float(motion.times[SAMPLES]),
        "units": "m^2/s",
    }
    return xr.Dataset(
        {
            "beta": (("time", "body"), poses[..., 0], {"units": "rad"}),
            "x": (("time", "body", "xy"), poses[..., 1:], {"units": "m"}),
            "theta": (("time", "hinge"), motion.theta, {"units": "rad"}),
            "stream_function": (("phase", "flow_y", "flow_x"), flow.psi, about),
        },
        {
            "time": ("time", motion.times, {"units": "s"}),
            "phase": ("phase", flow.times, {"units": "s"}),
            "flow_x": ("flow_x", flow.x, {"units": "m"}),
            "flow_y": ("flow_y", flow.y, {"units": "m"}),
        },
        {"shapes": [[ellipse.a, ellipse.b]] * poses.shape[1], "bodies": [f"B{k + 1}" for k in range(poses.shape[1])]},
    )


def _grid(poses: np.ndarray, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Square cells around all places of the links."""
    low = np.min(poses[..., 1:], axis=(0, 1)) - 2.5 * size
    high = np.max(poses[..., 1:], axis=(0, 1)) + 2.5 * size
    step = float(np.max(high - low)) / CELLS
    x, y = (np.arange(low[k], high[k] + 0.5 * step, step) for k in range(2))
    return x, y
