"""The moving picture of a fish: its links in space, and the streamlines around it, seen from its base."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from naiad.hydro import Ellipse, PlanarBodies
from naiad.locomotion import Swimmer, link_poses, link_velocities
from naiad.studies.fish.motion import SAMPLES, FishMotion
from naiad.studies.flow.planar_flow import Superposed, flow_around
from naiad.studies.progress import Progress

if TYPE_CHECKING:
    import xarray as xr

FRAMES = SAMPLES
"""Of a period; a page draws what lies between them by interpolation."""

CELLS = 110


class PeriodicFlow(NamedTuple):
    """The stream function psi[time, y, x] during a period, in the frame of the base, continued into the links."""

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
    z = x + 1j * y[:, None]
    bodies = PlanarBodies([ellipse] * poses.shape[1])
    psi = np.empty((len(shown), *z.shape), np.float32)
    with threadpool_limits(1, "blas"):
        for k in range(len(shown)):
            progress.part(k, len(shown), f"streamlines {k + 1} of {len(shown)}")(0.0)
            psi[k] = continued_stream_function(flow_around(bodies, poses[k], Xi[k], coupled=coupled), z)
    return PeriodicFlow(motion.times[shown], x, y, psi)


def continued_stream_function(flow: Superposed, z: np.ndarray) -> np.ndarray:
    """psi at places z, and within an ellipse its continuation across the outline, smooth as far as the foci: lines of
    equal psi on a grid end at an outline as they should, where a picture of the ellipse covers what is inside."""
    total = np.zeros(z.shape, complex)
    for each in flow.flows:
        for field, pose in zip(each.fields, each.poses, strict=True):
            total += field.complex_potential((z - complex(*pose[1:])) * np.exp(-1j * pose[0]))
    return np.imag(total)


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
