"""What sheets do to each other, by pairs: which there are, and the poses that they see each other at.

A plane adds the images of all bodies: there the relative R is improper.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from naiad.groups.se3 import Pose
from naiad.hydro.spatial.kernel import kernel
from naiad.hydro.spatial.plane import Plane
from naiad.hydro.spatial.sheet import AbstractSheet


class Pair(NamedTuple):
    """Two bodies, by number, the second perhaps an image. `sign` is that of the vortices of the second, `share` that of
    their energy in the whole: half for a body and its own image."""

    first: int
    second: int
    image: bool
    sign: float
    share: float


def pairs(count: int, plane: Plane | None) -> list[Pair]:
    """All pairs of bodies, and of bodies with images."""
    found = [Pair(i, j, False, 1.0, 1.0) for i in range(count) for j in range(i + 1, count)]
    if plane is not None:
        sign = -plane.sign  # vortices are axial vectors
        found += [Pair(i, j, True, sign, 0.5 if i == j else 1.0) for i in range(count) for j in range(i, count)]
    return found


def relative(pair: Pair, poses: Pose, plane: Plane | None) -> Pose:
    """The pose of the second in the frame of the first."""
    R, x = poses.R[pair.second], poses.x[pair.second]
    if pair.image:
        assert plane is not None
        R, x = plane.mirror() @ R, plane.mirrored(x)
    back = poses.R[pair.first].T
    return Pose._make([back @ R, back @ (x - poses.x[pair.first])])


class Coupled(NamedTuple):
    """A pair at its relative pose, with the kernel between its sites."""

    pair: Pair
    at: Pose
    kernel: Any


def coupled(sheets: Sequence[AbstractSheet], plane: Plane | None, poses: Pose) -> list[Coupled]:
    """All pairs at these poses of the bodies."""
    found = []
    for pair in pairs(len(sheets), plane):
        at = relative(pair, poses, plane)
        found.append(Coupled(pair, at, kernel(sheets[pair.first], sheets[pair.second], at, np)))
    return found


def wrenches(at: Pose, by_turn: np.ndarray, by_x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives by turns and shifts of the first and of the second along their own axes, (columns, columns, 6) each,
    from those by turns of the second and by x. An image turns the other way."""
    handed = np.sign(np.linalg.det(at.R))
    torque = -handed * by_turn @ at.R.T - np.cross(at.x, by_x)
    return np.concatenate([torque, -by_x], axis=2), np.concatenate([by_turn, by_x @ at.R], axis=2)
