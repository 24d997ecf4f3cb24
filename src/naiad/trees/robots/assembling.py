"""From the description of a robot to connected bodies."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from naiad.errors import InputError
from naiad.hydro import AbstractShape, moved, rigid_inertia
from naiad.numerics.checks import positive
from naiad.trees.robots.robot import Geometry, Link, Pose, Robot
from naiad.trees.robots.shapes import shape_of
from naiad.trees.submerged import NO_WATER, Water, submerged, water_around

if TYPE_CHECKING:
    from naiad.trees.connected_bodies import ConnectedBodies

Wet = Literal["collision", "visual"]


def assembled(robot: Robot, *, water: float | None, wet: Wet, gravity: Any) -> "ConnectedBodies":
    """The connected bodies of a robot: links that are welded together are one body, in the frame of the first."""
    from naiad.trees.connected_bodies import ConnectedBodies  # which holds the robot

    if wet not in ("collision", "visual"):
        raise InputError(f"wet = {wet!r}; expected 'collision' or 'visual': the shapes of the links that are in water.")
    density = 0.0 if water is None else float(positive("water", water, zero=True))
    leaders = robot.leaders
    number = {leader: body for body, leader in enumerate(leaders)}
    places = _places(robot)
    parts: list[list[int]] = [[] for _ in leaders]
    for i, (leader, _) in enumerate(places):
        parts[number[leader]].append(i)
    dry = [sum((_dry(robot.links[i], places[i][1]) for i in own), start=np.zeros((6, 6))) for own in parts]
    shapes = [_geometries(robot, own, places, wet) for own in parts]
    known: dict[tuple[Geometry, ...], tuple[AbstractShape | None, Water]] = {(): (None, NO_WATER)}
    solids, around = [], []
    for body, own in enumerate(parts):
        link = robot.links[leaders[body]]
        if shapes[body] not in known:
            known[shapes[body]] = _wet(link.name, shapes[body], density)
        shape, found = known[shapes[body]]
        solids.append(shape)
        around.append(_given_water(robot, own, places, found))
        _check_inertia(link, dry[body] + around[-1].added)
    robot = robot._replace(notes=robot.notes + _dry_notes(robot, around, wet)) if density else robot
    joints = [robot.links[i].joint for i in leaders]
    above = [places[joint.parent] if joint is not None else (0, Pose()) for joint in joints]
    poses = [
        pose.then(joint.pose) if joint is not None else Pose() for joint, (_, pose) in zip(joints, above, strict=True)
    ]
    own = np.array([(0.0, 0.0, 0.0) if joint is None else joint.at for joint in joints])
    rest = np.array([pose.R for pose in poses])
    other = np.array([pose.x for pose in poses]) + np.einsum("nij,nj->ni", rest, own)
    axes = np.array([(0.0, 0.0, 1.0) if joint is None else joint.axis for joint in joints])
    tree, weight, drawn = submerged(
        [-1, *(number[leader] for leader, _ in above[1:])],
        np.stack(dry),
        around,
        solids,
        gravity=gravity,
        own=own,
        other=other,
        joints=[joint.kind for joint in joints[1:] if joint is not None],
        axis=axes,
        rest=rest,
    )
    acting: dict[str, Any] = {}
    for name in ("stiffness", "damping"):
        values = np.array([0.0 if joint is None else getattr(joint, name) for joint in joints])
        if np.any(values):
            acting[name] = np.stack([_along(joint, value) for joint, value in zip(joints, values, strict=True)])
    bodies = ConnectedBodies(tree, weight=weight, **acting)
    return bodies.replaced(solids=drawn, robot=robot)


def _places(robot: Robot) -> list[tuple[int, Pose]]:
    """Of each link the first one of its body, and its pose in that one's frame."""
    found: list[tuple[int, Pose]] = []
    for i, link in enumerate(robot.links):
        if link.joint is None or link.joint.kind != "fixed":
            found.append((i, Pose()))
        else:
            leader, pose = found[link.joint.parent]
            found.append((leader, pose.then(link.joint.pose)))
    return found


def _dry(link: Link, pose: Pose) -> np.ndarray:
    """The inertia of a link in the frame of its body."""
    if link.inertial is None:
        return np.zeros((6, 6))
    own = link.inertial
    try:
        K = rigid_inertia(own.mass, np.array(own.inertia), own.centre)
    except InputError as error:
        raise InputError(f"link {link.name!r}: {error}") from None
    return K if pose == Pose() else moved(K, x=pose.x, R=np.array(pose.R))


def _given_water(robot: Robot, own: list[int], places: list[tuple[int, Pose]], found: Water) -> Water:
    """With the added inertias that the file gives in place of those of the shapes."""
    given = [(robot.links[i].inertial, places[i][1]) for i in own]
    known = [(inertial.added, pose) for inertial, pose in given if inertial is not None and inertial.added is not None]
    if not known:
        return found
    added = sum((moved(np.array(K), x=pose.x, R=np.array(pose.R)) for K, pose in known), start=np.zeros((6, 6)))
    return found._replace(added=added)


def _dry_notes(robot: Robot, around: list[Water], wet: Wet) -> tuple[str, ...]:
    """Which bodies no water acts on, or an `InputError` where it acts on none."""
    dry = [name for name, water in zip(robot.bodies, around, strict=True) if not np.any(water.added)]
    if len(dry) == len(around):
        other = "visual" if wet == "collision" else "collision"
        raise InputError(
            f"There is water, but no link of {robot.name!r} has a {wet} shape or an added inertia; give wet={other!r} "
            "if that is where its shapes are, or no water."
        )
    return tuple(f"link {name!r} has no {wet} shape: no water acts on it" for name in dry)


def _geometries(robot: Robot, own: list[int], places: list[tuple[int, Pose]], wet: Wet) -> tuple[Geometry, ...]:
    """The shapes of the links of a body, in its frame."""
    parts = []
    for i in own:
        link, pose = robot.links[i], places[i][1]
        for each in link.collision if wet == "collision" else link.visual:
            parts.append(each._replace(pose=pose.then(each.pose)))
    return tuple(parts)


def _wet(name: str, parts: tuple[Geometry, ...], density: float) -> tuple[AbstractShape, Water]:
    """The shape of a body, and what the water is to it."""
    try:
        shape = shape_of(list(parts))
        return shape, water_around(shape, density) if density else NO_WATER
    except InputError as error:
        raise InputError(f"link {name!r}: {error}") from None


def _check_inertia(link: Link, K: np.ndarray) -> None:
    if not np.any(K):
        raise InputError(f"link {link.name!r} has no inertia and cannot move by itself; give it one, or a fixed joint.")
    scale = np.sqrt(np.maximum(np.diag(K), 0.0))
    if np.any(scale == 0.0) or np.linalg.eigvalsh(K / np.outer(scale, scale))[0] < 1e-13:
        raise InputError(
            f"link {link.name!r} has directions without inertia, in the water or dry; give it a mass and moments."
        )


def _along(joint: Any, value: float) -> np.ndarray:
    """A number of a joint as a matrix: along the axis of a hinge."""
    if joint is None or joint.kind == "ball":
        return value * np.eye(3)
    return value * np.outer(joint.axis, joint.axis)
