"""The motion of the joints of connected bodies, as labelled arrays."""

from typing import TYPE_CHECKING

import numpy as np

from naiad.errors import InputError
from naiad.mechanics import Joints
from naiad.simulation.work import integral_over_time

if TYPE_CHECKING:
    import xarray as xr

TURN = 2.0 * np.pi
FORMS = {"vector": ("body_axis", "xyz", "rad"), "quaternion": ("quaternion", "wxyz", "1")}


def labelled_joints(
    joints: Joints, time: "xr.DataArray", Q: np.ndarray, rates: np.ndarray, form: str, speed: str
) -> "xr.Dataset":
    """Turns and rates of all joints, and the angles of hinges, along time; `speed` is the unit of the rates."""
    import xarray as xr
    from scipy.spatial.transform import Rotation

    if form not in FORMS:
        raise InputError(f"joints: form = {form!r}; expected one of {', '.join(map(repr, FORMS))}.")
    turned = Rotation.from_matrix(Q.reshape(-1, 3, 3))
    vectors = turned.as_rotvec().reshape(*Q.shape[:2], 3)
    values = vectors if form == "vector" else turned.as_quat(canonical=True, scalar_first=True).reshape(*Q.shape[:2], 4)
    dim, marks, units = FORMS[form]
    hinges = [i for i, kind in enumerate(joints.kinds) if kind == "hinge"]
    axes = np.asarray(joints.axes)[hinges]
    speeds = np.einsum("thi,hi->th", rates[:, hinges], axes)
    angles = with_whole_turns(time.to_numpy(), np.einsum("thi,hi->th", vectors[:, hinges], axes), speeds)
    about = {"long_name": "relative angular velocity in the body", "units": speed}
    variables = {
        "turn": (("time", "body", dim), values, {"long_name": f"turn from rest ({form})", "units": units}),
        "rate": (("time", "body", "body_axis"), rates, about),
        "angle": (("time", "hinge"), angles, {"long_name": "angle of the hinge", "units": "rad"}),
        "angle_rate": (("time", "hinge"), speeds, {"long_name": "rate of the hinge", "units": speed}),
    }  # fmt: skip
    coordinates = {
        "time": time, "body_axis": list("xyz"), "hinge": hinges, dim: list(marks),
        "joint": ("body", list(joints.kinds)), "parent": ("body", list(joints.parents)),
    }  # fmt: skip
    return xr.Dataset(variables, coordinates)


def with_whole_turns(time: np.ndarray, angles: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """Angles that go on beyond a turn, from angles within one and their rates, a column for each: from one time to the
    next by the amount that the rates foretell, or, where they change too much in between to do that, by less than half
    a turn."""
    if not angles.size or len(time) < 2:
        return angles
    between, least = np.diff(time)[:, None], np.diff(angles, axis=0)
    least = least - TURN * np.round(least / TURN)
    told = np.diff(np.stack([integral_over_time(time, speed, time) for speed in speeds.T], axis=1), axis=0)
    more = least + TURN * np.round((told - least) / TURN)
    sure = (np.abs(np.diff(speeds, axis=0)) * between < 0.25 * TURN) & (np.abs(more - told) < 0.125 * TURN)
    return angles[0] + np.concatenate([np.zeros((1, angles.shape[1])), np.cumsum(np.where(sure, more, least), axis=0)])
