"""A robot as files describe it: links, joints, inertias and shapes, all as plain numbers."""

from typing import Literal, NamedTuple

import numpy as np

from naiad.hydro import Facets

Row = tuple[float, float, float]
Matrix = tuple[Row, Row, Row]

UNTURNED: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Pose(NamedTuple):
    """A place x and an attitude R in another frame."""

    x: Row = (0.0, 0.0, 0.0)
    R: Matrix = UNTURNED

    @classmethod
    def of(cls, x: np.ndarray, R: np.ndarray) -> "Pose":
        """Of arrays."""
        return cls(row(x), matrix(R))

    def then(self, other: "Pose") -> "Pose":
        """The pose of what has the pose `other` in the frame that has this one."""
        R = np.array(self.R)
        return Pose.of(np.array(self.x) + R @ other.x, R @ np.array(other.R))

    def inverse(self) -> "Pose":
        """The pose of the outer frame in the inner one."""
        back = np.array(self.R).T
        return Pose.of(-back @ self.x, back)


class Geometry(NamedTuple):
    """A shape of a link: "box" (sides), "cylinder" and "capsule" (radius, length along z, without the caps), "sphere"
    (radius), "ellipsoid" (semi-axes), or "mesh": a file with a scale, or its facets."""

    kind: str
    size: tuple[float, ...]
    pose: Pose = Pose()
    file: str | None = None
    mesh: Facets | None = None


class Inertial(NamedTuple):
    """Mass, its centre, and the inertia about it, in the axes of the link; and added inertia that the file gives, 6 x 6
    in rows, angular first, about the origin of the link."""

    mass: float
    centre: Row
    inertia: Matrix
    added: tuple[tuple[float, ...], ...] | None = None


JointKind = Literal["hinge", "ball", "fixed"]


class Joint(NamedTuple):
    """The joint of a link to its parent: `pose` is that of the link in the parent's frame when the joint is at zero,
    and `at` where the joint lies in the link's own frame.

    Limits [rad], effort [N m], speed [rad/s] and friction [N m] are what the file says: they do not act.
    """

    name: str
    kind: JointKind
    parent: int
    pose: Pose = Pose()
    at: Row = (0.0, 0.0, 0.0)
    axis: Row = (0.0, 0.0, 1.0)
    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    velocity: float | None = None
    friction: float = 0.0
    damping: float = 0.0
    stiffness: float = 0.0

    @property
    def notes(self) -> list[str]:
        """What does not act."""
        limited = any(each is not None for each in (self.lower, self.upper, self.effort, self.velocity))
        welded = self.kind == "fixed" and (self.damping or self.stiffness)
        words = [("limits do", limited), ("friction does", self.friction), ("spring and damper do", welded)]
        return [f"joint {self.name!r}: its {what} not act" for what, there in words if there]


class Link(NamedTuple):
    """A link with its shapes and its joint; the root has none."""

    name: str
    inertial: Inertial | None = None
    collision: tuple[Geometry, ...] = ()
    visual: tuple[Geometry, ...] = ()
    joint: Joint | None = None


class Robot(NamedTuple):
    """Links, every parent before its children, the root first, and what was read that does not act."""

    name: str
    links: tuple[Link, ...]
    notes: tuple[str, ...] = ()

    @property
    def leaders(self) -> tuple[int, ...]:
        """Of each body, the number of the link that gives it its name and frame: those welded to it follow."""
        return tuple(i for i, link in enumerate(self.links) if link.joint is None or link.joint.kind != "fixed")

    @property
    def bodies(self) -> tuple[str, ...]:
        """The names of the bodies."""
        return tuple(self.links[i].name for i in self.leaders)

    @property
    def limits(self) -> np.ndarray:
        """The lower and the upper limit of each body's joint [rad], infinite where there is none: they do not act."""
        joints = [self.links[i].joint for i in self.leaders]
        low = [-np.inf if joint is None or joint.lower is None else joint.lower for joint in joints]
        high = [np.inf if joint is None or joint.upper is None else joint.upper for joint in joints]
        return np.array([low, high]).T


def row(values: np.ndarray) -> Row:
    """Three numbers."""
    a, b, c = np.asarray(values, float).tolist()
    return a, b, c


def matrix(values: np.ndarray) -> Matrix:
    """Three rows."""
    a, b, c = (row(each) for each in np.asarray(values, float))
    return a, b, c


def symmetric(values: np.ndarray) -> Matrix:
    """Three rows, without a skew part that is rounding."""
    return matrix(0.5 * (values + values.T))


def roll_pitch_yaw(angles: np.ndarray) -> np.ndarray:
    """The attitude of turns about the fixed axes x, y, z: R = R_z R_y R_x."""
    (a, b, c), (u, v, w) = np.cos(angles), np.sin(angles)
    return np.array(
        [
            [c * b, c * v * u - w * a, c * v * a + w * u],
            [w * b, w * v * u + c * a, w * v * a - c * u],
            [-v, b * u, b * a],
        ]
    )


def of_quaternion(q: np.ndarray) -> np.ndarray:
    """The attitude of a quaternion (w, x, y, z) other than zero."""
    w, x, y, z = np.asarray(q, float) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def angles_of(R: np.ndarray) -> np.ndarray:
    """Roll, pitch and yaw of an attitude; where the pitch is a right angle the roll is zero."""
    across = np.hypot(R[0, 0], R[1, 0])
    pitch = np.arctan2(-R[2, 0], across)
    if across < 1e-12:
        return np.array([0.0, pitch, np.arctan2(-R[0, 1], R[1, 1])])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])
