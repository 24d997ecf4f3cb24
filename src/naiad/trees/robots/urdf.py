"""Robots in URDF."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from naiad.errors import InputError
from naiad.numerics.arguments import checked_throughout
from naiad.trees.robots.assembling import Wet, assembled
from naiad.trees.robots.elements import Rule, unread
from naiad.trees.robots.links import only_shape, read_links
from naiad.trees.robots.order import ordered
from naiad.trees.robots.robot import (
    Geometry,
    Inertial,
    Joint,
    JointKind,
    Link,
    Pose,
    Robot,
    roll_pitch_yaw,
    row,
    symmetric,
)
from naiad.trees.robots.xml import attribute, child, lengths, limit, mass, number, numbers, parsed, resolved

if TYPE_CHECKING:
    from naiad.trees.connected_bodies import ConnectedBodies

RULES = {
    "robot": Rule(attributes="name", many="link joint", unseen="material version", noted="transmission gazebo sensor"),
    "link": Rule(attributes="name", one="inertial", many="visual collision"),
    "inertial": Rule(one="origin mass inertia", exact=True),
    "origin": Rule(attributes="xyz rpy", exact=True),
    "mass": Rule(attributes="value", exact=True),
    "inertia": Rule(attributes="ixx ixy ixz iyy iyz izz", exact=True),
    "visual": Rule(one="origin geometry", unseen="name material"),
    "collision": Rule(one="origin geometry", unseen="name material verbose"),
    "geometry": Rule(one="box cylinder capsule sphere mesh", exact=True),
    "box": Rule(attributes="size", exact=True),
    "cylinder": Rule(attributes="radius length", exact=True),
    "capsule": Rule(attributes="radius length", exact=True),
    "sphere": Rule(attributes="radius", exact=True),
    "mesh": Rule(attributes="filename scale", exact=True),
    "joint": Rule(
        attributes="name type",
        one="parent child origin axis dynamics limit",
        noted="calibration safety_controller",
        refused={"mimic": "couples it to another joint: joints that are geared together are not there"},
    ),
    "parent": Rule(attributes="link", exact=True),
    "child": Rule(attributes="link", exact=True),
    "axis": Rule(attributes="xyz", exact=True),
    "dynamics": Rule(attributes="damping friction spring_stiffness spring_reference"),
    "limit": Rule(attributes="lower upper effort velocity", noted="acceleration deceleration jerk"),
}
"""The elements of URDF 1.2, and those beside them that naiad reads: capsules, ball joints, springs."""
KINDS: dict[str, JointKind] = {
    "revolute": "hinge",
    "continuous": "hinge",
    "ball": "ball",
    "spherical": "ball",
    "fixed": "fixed",
}
REFUSED = {
    "prismatic": "sliding joints are not there",
    "planar": "planar joints are not there",
    "floating": "only the root floats: leave the link above out, or join it in another way",
}


@checked_throughout
def read_urdf(
    path: str | os.PathLike[str], *, water: float | None = None, wet: Wet = "collision", gravity: Any = None
) -> "ConnectedBodies":
    """The robot of a URDF file as `ConnectedBodies` that float freely, in water of this density [kg/m^3] or dry.

    Its links become bodies, those that are fixed to each other one body; revolute and continuous joints are hinges, and
    `ball` a ball joint. In water each body has the added inertia that its `wet` shapes, "collision" or "visual", would
    have alone, and displaces their volume: `gravity` [m/s^2] pulls at the masses and lifts that. Boxes and cylinders
    are meshes, as those of files are; spheres are exact. Shapes of one body are summed as if each were alone, what
    overlaps twice. Damping and springs (`spring_stiffness` of <dynamics>) act; limits and friction are kept in `robot`,
    and do not. What is not there is refused by name: sliding, planar and mimicking joints, closed loops, a base that is
    fixed to the world. All else that is not read is in `robot.notes`.
    """
    return assembled(urdf_robot(path), water=water, wet=wet, gravity=gravity)


def urdf_robot(path: str | os.PathLike[str]) -> Robot:
    """The description in a URDF file."""
    file, folder = str(path), Path(path).resolve().parent
    root = parsed(path, ("robot",))
    _check_expanded(root, file)
    notes = unread(root, RULES, file, text=False)
    links = read_links(root, file, folder, _inertial, _geometry)
    joints: dict[str, Any] = {}
    for element in root.findall("joint"):
        name = attribute(element, "name", file)
        if name in joints:
            raise InputError(f"{file}: two joints have the name {name!r}.")
        where = f"{file}: joint {name!r}"
        ends = (
            attribute(child(element, "parent", where), "link", where),
            attribute(child(element, "child", where), "link", where),
        )
        joints[name] = (ends, element)
    joints = _without_the_world(links, joints, notes)
    order = ordered(file, list(links), {name: ends for name, (ends, _) in joints.items()})
    number_of = {name: i for i, name in enumerate(order)}
    own: dict[str, Joint] = {}
    refused: list[str] = []
    for name, ((parent, below), element) in joints.items():
        where = f"{file}: joint {name!r}"
        if parent == "world" and element.get("type") == "fixed" and links[parent].inertial is None:
            refused.append(
                f"{where} fixes the base to the world; naiad's trees float or hang on a ball joint: leave the link "
                "'world' out."
            )
            continue
        try:
            own[below] = _joint(element, name, number_of[parent], where, notes)
        except InputError as error:
            refused.append(str(error))
            continue
        notes += own[below].notes
    if refused:
        raise InputError(" ".join([refused[0], *(each.replace(f"{file}: ", "Also ", 1) for each in refused[1:])]))
    found = [links[name]._replace(joint=own.get(name)) for name in order]
    return Robot(root.get("name") or Path(path).stem, tuple(found), tuple(notes))


def _check_expanded(root: ElementTree.Element, file: str) -> None:
    """No macros are left, whose links would be missing."""
    left = next((each.tag for each in root.iter() if "xacro" in each.tag.partition("}")[0]), None)
    if left is not None:
        name = left.rpartition("}")[2]
        raise InputError(f"{file}: there is <xacro:{name}> in it; expand it first (xacro robot.xacro > robot.urdf).")


def _inertial(element: ElementTree.Element, where: str) -> Inertial:
    pose = _pose(element, f"{where}, inertial")
    own = mass(attribute(child(element, "mass", where), "value", where), f"{where}: mass")
    given = child(element, "inertia", where)
    J = np.zeros((3, 3))
    for i, a in enumerate("xyz"):
        for j, b in enumerate("xyz"):
            if j >= i:
                text = given.get(f"i{a}{b}", "0") if i != j else attribute(given, f"i{a}{b}", where)
                J[i, j] = J[j, i] = number(text, f"{where}: i{a}{b}")
    R = np.array(pose.R)
    return Inertial(own, pose.x, symmetric(R @ J @ R.T))


def _geometry(element: ElementTree.Element, where: str, folder: Path) -> Geometry:
    shape, pose = only_shape(element, where), _pose(element, where)
    if shape.tag == "box":
        return Geometry("box", lengths(attribute(shape, "size", where), 3, f"{where}: size"), pose)
    if shape.tag == "cylinder" or shape.tag == "capsule":
        sizes = (lengths(attribute(shape, name, where), 1, f"{where}: {name}")[0] for name in ("radius", "length"))
        return Geometry(shape.tag, tuple(sizes), pose)
    if shape.tag == "sphere":
        return Geometry("sphere", lengths(attribute(shape, "radius", where), 1, f"{where}: radius"), pose)
    if shape.tag == "mesh":
        scale = tuple(numbers(shape.get("scale", "1 1 1"), 3, f"{where}: scale").tolist())
        if 0.0 in scale:
            raise InputError(f"{where}: scale = {shape.get('scale')!r}; expected three numbers other than zero.")
        return Geometry("mesh", scale, pose, resolved(attribute(shape, "filename", where), folder, where))
    raise InputError(f"{where}: a shape <{shape.tag}>; expected box, cylinder, capsule, sphere or mesh.")


def _pose(element: ElementTree.Element, where: str) -> Pose:
    origin = element.find("origin")
    if origin is None:
        return Pose()
    x = numbers(origin.get("xyz", "0 0 0"), 3, f"{where}: xyz")
    angles = numbers(origin.get("rpy", "0 0 0"), 3, f"{where}: rpy")
    return Pose.of(x, roll_pitch_yaw(angles))


def _joint(element: ElementTree.Element, name: str, parent: int, where: str, notes: list[str]) -> Joint:
    kind = attribute(element, "type", where)
    if kind not in KINDS:
        why = REFUSED.get(kind, f"expected one of {', '.join(KINDS)}")
        raise InputError(f"{where} is of type {kind!r}: {why}.")
    dynamics, given_limits = element.find("dynamics"), element.find("limit")
    about: dict[str, Any] = {}
    if KINDS[kind] == "hinge":
        given = element.find("axis")
        text = "1 0 0" if given is None else attribute(given, "xyz", where)
        axis = numbers(text, 3, f"{where}: axis")
        if not np.linalg.norm(axis) > 0:
            raise InputError(f"{where}: axis = {text!r}; expected a direction.")
        about["axis"] = row(axis / np.linalg.norm(axis))
    if dynamics is not None:
        for word, attribute_name in (
            ("damping", "damping"),
            ("friction", "friction"),
            ("stiffness", "spring_stiffness"),
        ):
            about[word] = number(dynamics.get(attribute_name, "0"), f"{where}: {attribute_name}", least=0.0)
        if number(dynamics.get("spring_reference", "0"), f"{where}: spring_reference"):
            raise InputError(f"{where}: its spring rests at spring_reference; expected 0, the joint's own zero.")
    if given_limits is not None:
        words = ("lower", "upper", "effort", "velocity")
        if kind != "revolute" and (given_limits.get("lower") or given_limits.get("upper")):
            words = ("effort", "velocity")
            notes.append(f"joint {name!r}: lower and upper of its <limit> are not read, as it is of type {kind!r}")
        about |= {
            word: limit(given_limits.get(word), f"{where}: {word}") for word in words if word in given_limits.attrib
        }
        if kind == "revolute":
            about = {"lower": 0.0, "upper": 0.0} | about
    return Joint(name, KINDS[kind], parent, _pose(element, where), **about)


def _without_the_world(links: dict[str, Link], joints: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """Without a root of no inertia on which one link floats, as some files have it."""
    for name, ((parent, _), element) in joints.items():
        alone = sum(ends[0] == parent for ends, _ in joints.values()) == 1
        root = all(ends[1] != parent for ends, _ in joints.values())
        if element.get("type") == "floating" and alone and root and parent in links and links[parent].inertial is None:
            del links[parent]
            notes.append(f"link {parent!r} is left out, with joint {name!r}: the robot floats freely")
            return {each: value for each, value in joints.items() if each != name}
    return joints
