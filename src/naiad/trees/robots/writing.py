"""Trees of bodies written as URDF."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from naiad.errors import InputError
from naiad.files import whole_file
from naiad.numerics.arguments import checked_throughout
from naiad.trees.robots.robot import Geometry, Inertial, Joint, Link, Pose, Robot, angles_of, matrix, row

if TYPE_CHECKING:
    from naiad.trees.connected_bodies import ConnectedBodies

KINDS = {"hinge": "revolute", "ball": "ball", "fixed": "fixed"}


@checked_throughout
def write_urdf(bodies: "ConnectedBodies", path: str | os.PathLike[str]) -> Path:
    """Write connected bodies as a URDF file, and return its path.

    Bodies that were read from a file are written as they were read: links that are welded, shapes, meshes by their
    path. Of others the inertias are written, which must be those of dry bodies, as URDF has no added inertia, and
    spheres; of springs and dampers of a hinge what acts about its axis.
    """
    robot = bodies.robot if bodies.robot is not None else _described(bodies)
    file = Path(path)
    element = _robot(robot, file)
    ElementTree.indent(element)
    text = ElementTree.tostring(element, encoding="unicode") + "\n"
    with whole_file(file) as aside:
        aside.write_text(f'<?xml version="1.0"?>\n{text}', encoding="utf-8")
    return file


def _described(bodies: "ConnectedBodies") -> Robot:
    """The robot of a tree that was not read from a file."""
    tree = bodies.tree
    if tree.pinned:
        raise InputError("The root is pinned in space, which URDF cannot say; expected a tree that floats.")
    links = []
    for i, parent in enumerate(tree.parents):
        name, M, J = f"body{i}", np.asarray(tree.M[i]), np.asarray(tree.J[i])
        mass = float(np.trace(M)) / 3.0
        if tree.D is not None or np.abs(M - mass * np.eye(3)).max() > 1e-9 * mass:
            raise InputError(
                f"Body {i} has a mass that is not the same in all directions: added inertia, for which URDF has no "
                "place. Write a dry tree (fluid=0), and give water= when it is read."
            )
        joint = None
        if i:
            kind: Any = {"hinge": "hinge", "ball": "ball", "weld": "fixed"}[tree.joints[i]]
            numbers: dict[str, Any] = {word: _number(bodies, word, i, kind) for word in ("stiffness", "damping")}
            before = np.zeros(3) if parent == 0 else -np.asarray(tree.own[parent])
            pose = Pose.of(np.asarray(tree.other[i]) + before, np.asarray(tree.rest[i]))
            axis = row(np.asarray(tree.axis[i])) if kind == "hinge" else (0.0, 0.0, 1.0)
            joint = Joint(f"joint{i}", kind, parent, pose, axis=axis, **numbers)
        centre = row(np.zeros(3) if i == 0 else -np.asarray(tree.own[i]))  # the frame of a link is at its joint
        shapes: tuple[Geometry, ...] = ()
        if bodies.shapes is not None and np.ptp(bodies.shapes[i]) == 0.0:
            shapes = (Geometry("sphere", (float(bodies.shapes[i][0]),), Pose(centre)),)
        links.append(Link(name, Inertial(mass, centre, matrix(J)), shapes, shapes, joint))
    return Robot("naiad", tuple(links))


def _number(bodies: "ConnectedBodies", word: str, body: int, kind: str) -> float:
    """A number of a joint from its matrix."""
    matrices = getattr(bodies, word)
    if matrices is None or kind == "fixed":
        return 0.0
    K = np.asarray(matrices[body])
    if kind == "hinge":
        axis = np.asarray(bodies.tree.axis[body])
        return float(axis @ K @ axis)
    if np.abs(K - K[0, 0] * np.eye(3)).max() > 1e-12 * np.abs(K).max():
        raise InputError(f"{word}[{body}] is not the same about all axes of a ball joint; URDF has one number for it.")
    return float(K[0, 0])


def _robot(robot: Robot, file: Path) -> ElementTree.Element:
    element = ElementTree.Element("robot", name=robot.name)
    for link in robot.links:
        own = ElementTree.SubElement(element, "link", name=link.name)
        if link.inertial is not None:
            _inertial(own, link.inertial, link.name)
        for tag, shapes in (("visual", link.visual), ("collision", link.collision)):
            for shape in shapes:
                _geometry(ElementTree.SubElement(own, tag), shape, link.name, file)
    for link in robot.links:
        if link.joint is not None:
            _joint(element, link.joint, link.name, robot)
    return element


def _inertial(link: ElementTree.Element, inertial: Inertial, name: str) -> None:
    if inertial.added is not None:
        raise InputError(f"link {name!r} has added inertia from its file, for which URDF has no place.")
    element = ElementTree.SubElement(link, "inertial")
    _origin(element, Pose(inertial.centre))
    ElementTree.SubElement(element, "mass", value=repr(inertial.mass))
    J = inertial.inertia
    entries = {f"i{a}{b}": repr(J[i][j]) for i, a in enumerate("xyz") for j, b in enumerate("xyz") if j >= i}
    ElementTree.SubElement(element, "inertia", entries)


def _geometry(element: ElementTree.Element, shape: Geometry, name: str, file: Path) -> None:
    _origin(element, shape.pose)
    inside = ElementTree.SubElement(element, "geometry")
    if shape.kind == "box":
        ElementTree.SubElement(inside, "box", size=_words(shape.size))
    elif shape.kind in ("cylinder", "capsule"):
        ElementTree.SubElement(inside, shape.kind, radius=repr(shape.size[0]), length=repr(shape.size[1]))
    elif shape.kind == "sphere":
        ElementTree.SubElement(inside, "sphere", radius=repr(shape.size[0]))
    elif shape.kind == "mesh" and shape.file is not None:
        path = os.path.relpath(shape.file, file.resolve().parent)
        ElementTree.SubElement(inside, "mesh", filename=path, scale=_words(shape.size))
    else:
        raise InputError(f"link {name!r} has a shape of kind {shape.kind!r}, which URDF has not.")


def _joint(robot: ElementTree.Element, joint: Joint, name: str, whole: Robot) -> None:
    kind = "continuous" if joint.kind == "hinge" and joint.lower is None else KINDS[joint.kind]
    element = ElementTree.SubElement(robot, "joint", name=joint.name, type=kind)
    if np.any(joint.at):
        raise InputError(f"joint {joint.name!r} is not at the origin of its link, as URDF has it.")
    ElementTree.SubElement(element, "parent", link=whole.links[joint.parent].name)
    ElementTree.SubElement(element, "child", link=name)
    _origin(element, joint.pose)
    if joint.kind == "hinge":
        ElementTree.SubElement(element, "axis", xyz=_words(joint.axis))
    limits = {word: getattr(joint, word) for word in ("lower", "upper", "effort", "velocity")}
    limits = {word: repr(value) for word, value in limits.items() if value is not None}
    if limits:
        ElementTree.SubElement(element, "limit", limits)
    acting = {"damping": joint.damping, "friction": joint.friction, "spring_stiffness": joint.stiffness}
    if any(acting.values()):
        ElementTree.SubElement(element, "dynamics", {word: repr(value) for word, value in acting.items() if value})


def _origin(element: ElementTree.Element, pose: Pose) -> None:
    if pose != Pose():
        angles = angles_of(np.array(pose.R))
        ElementTree.SubElement(element, "origin", xyz=_words(pose.x), rpy=_words(tuple(angles.tolist())))


def _words(values: tuple[float, ...]) -> str:
    return " ".join(repr(value) for value in values)
