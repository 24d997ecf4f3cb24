"""Robots in SDF, with the added mass of their links where the file has it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from naiad.errors import InputError
from naiad.hydro import angular_first
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import semidefinite_inertia
from naiad.trees.robots.assembling import Wet, assembled
from naiad.trees.robots.links import only_shape, read_links
from naiad.trees.robots.order import ordered
from naiad.trees.robots.robot import (
    Geometry,
    Inertial,
    Joint,
    JointKind,
    Pose,
    Robot,
    of_quaternion,
    roll_pitch_yaw,
    row,
    symmetric,
)
from naiad.trees.robots.xml import attribute, child, number, numbers, parsed, resolved

if TYPE_CHECKING:
    from naiad.trees.connected_bodies import ConnectedBodies

KINDS: dict[str, JointKind] = {"revolute": "hinge", "continuous": "hinge", "ball": "ball", "fixed": "fixed"}
AXES = "xyzpqr"


@checked_throughout
def read_sdf(
    path: str | os.PathLike[str], *, water: float | None = None, wet: Wet = "collision", gravity: Any = None
) -> "ConnectedBodies":
    """The model of an SDF file as `ConnectedBodies` that float freely: as `read_urdf`, and a link with
    <fluid_added_mass> has that in place of what its shapes would give. It is about the origin of the link, as SDF has
    it since 1.10."""
    return assembled(sdf_robot(path), water=water, wet=wet, gravity=gravity)


def sdf_robot(path: str | os.PathLike[str]) -> Robot:
    """The description of the one model in an SDF file."""
    file, folder = str(path), Path(path).resolve().parent
    models = parsed(path, ("sdf",)).findall(".//model")
    if len(models) != 1:
        raise InputError(f"{file}: there are {len(models)} models in it; expected one.")
    (model,) = models
    links = read_links(model, file, folder, _inertial, _geometry)
    poses = {
        name: _pose(element, f"{file}: link {name!r}", ("", "__model__"))
        for name, element in zip(links, model.findall("link"), strict=True)
    }
    joints, notes = {}, []
    for element in model.findall("joint"):
        name = attribute(element, "name", file)
        where = f"{file}: joint {name!r}"
        if name in joints:
            raise InputError(f"{file}: two joints have the name {name!r}.")
        parent, below = (_text(child(element, end, where)) for end in ("parent", "child"))
        if parent == "world":
            raise InputError(f"{where} fixes the base to the world; naiad's trees float: leave it out.")
        joints[name] = ((parent, below), element)
    order = ordered(file, list(links), {name: ends for name, (ends, _) in joints.items()})
    number_of = {name: i for i, name in enumerate(order)}
    own: dict[str, Joint] = {}
    for name, ((parent, below), element) in joints.items():
        between = poses[parent].inverse().then(poses[below])
        own[below] = _joint(element, name, number_of[parent], between, f"{file}: joint {name!r}", below)
        notes += own[below].notes
    found = [links[name]._replace(joint=own.get(name)) for name in order]
    return Robot(model.get("name") or Path(path).stem, tuple(found), tuple(notes))


def _inertial(element: ElementTree.Element, where: str) -> Inertial:
    if element.get("auto", "false") not in ("false", "0"):
        raise InputError(f"{where}: its inertia is to be found from its shapes (auto); give the numbers.")
    pose = _pose(element, f"{where}, inertial", ("",))
    mass = number(_text(child(element, "mass", where)), f"{where}: mass", least=0.0)
    given = child(element, "inertia", where)
    J = np.zeros((3, 3))
    for i, a in enumerate("xyz"):
        for j, b in enumerate("xyz"):
            if j >= i:
                J[i, j] = J[j, i] = number(given.findtext(f"i{a}{b}", "0"), f"{where}: i{a}{b}")
    R, added = np.array(pose.R), element.find("fluid_added_mass")
    whole = None if added is None else tuple(map(tuple, _added(added, where).tolist()))
    return Inertial(mass, pose.x, symmetric(R @ J @ R.T), whole)


def _added(element: ElementTree.Element, where: str) -> np.ndarray:
    """The 21 numbers as a angular first."""
    K = np.zeros((6, 6))
    for i, a in enumerate(AXES):
        for j, b in enumerate(AXES):
            if j >= i:
                K[i, j] = K[j, i] = number(element.findtext(f"{a}{b}", "0"), f"{where}: fluid_added_mass {a}{b}")
    return semidefinite_inertia(f"{where}: fluid_added_mass", angular_first(K), 6)


def _geometry(element: ElementTree.Element, where: str, folder: Path) -> Geometry:
    shape, pose = only_shape(element, where), _pose(element, where, ("",))
    if shape.tag == "mesh":
        scale = tuple(numbers(shape.findtext("scale", "1 1 1"), 3, f"{where}: scale").tolist())
        if 0.0 in scale:
            raise InputError(f"{where}: scale = {shape.findtext('scale')!r}; expected three numbers other than zero.")
        return Geometry("mesh", scale, pose, resolved(_text(child(shape, "uri", where)), folder, where))
    sizes = {"box": ("size",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}
    sizes |= {"sphere": ("radius",), "ellipsoid": ("radii",)}
    if shape.tag not in sizes:
        raise InputError(f"{where}: a shape <{shape.tag}>; expected {', '.join(sizes)} or mesh.")
    values: list[float] = []
    for name in sizes[shape.tag]:
        count = 3 if name in ("size", "radii") else 1
        values += numbers(_text(child(shape, name, where)), count, f"{where}: {name}").tolist()
    if min(values) <= 0:
        raise InputError(f"{where}: a {shape.tag} of {values}; expected lengths above zero.")
    return Geometry(shape.tag, tuple(values), pose)


def _joint(element: ElementTree.Element, name: str, parent: int, between: Pose, where: str, below: str) -> Joint:
    kind = attribute(element, "type", where)
    if kind not in KINDS:
        raise InputError(f"{where} is of type {kind!r}, which is not there; expected one of {', '.join(KINDS)}.")
    own = _pose(element, where, ("", below))
    about: dict[str, Any] = {}
    if KINDS[kind] == "hinge":
        axis = child(element, "axis", where)
        xyz = child(axis, "xyz", where)
        if xyz.get("expressed_in", "") not in ("", name):
            raise InputError(f"{where}: its axis is expressed in {xyz.get('expressed_in')!r}; expected its own frame.")
        direction = np.array(own.R) @ numbers(_text(xyz), 3, f"{where}: axis")
        if not np.linalg.norm(direction) > 0:
            raise InputError(f"{where}: axis = {_text(xyz)!r}; expected a direction.")
        about["axis"] = row(direction / np.linalg.norm(direction))
        words = (
            ("dynamics/damping", "damping"),
            ("dynamics/friction", "friction"),
            ("dynamics/spring_stiffness", "stiffness"),
        )
        for path, word in words:
            about[word] = number(axis.findtext(path, "0"), f"{where}: {path}", least=0.0)
        if number(axis.findtext("dynamics/spring_reference", "0"), f"{where}: spring_reference"):
            raise InputError(f"{where}: its spring rests at spring_reference; expected 0, the joint's own zero.")
        for path, word in (
            ("limit/lower", "lower"),
            ("limit/upper", "upper"),
            ("limit/effort", "effort"),
            ("limit/velocity", "velocity"),
        ):
            text = axis.findtext(path)
            if text is not None and kind == "revolute" and text.strip().lower() not in ("inf", "-inf"):
                value = number(text, f"{where}: {path}")
                about |= {word: value} if abs(value) < 1e15 else {}
    return Joint(name, KINDS[kind], parent, between, own.x, **about)


def _pose(element: ElementTree.Element, where: str, allowed: tuple[str, ...]) -> Pose:
    """The pose inside an element; relative to what is allowed only."""
    given = element.find("pose")
    if given is None:
        return Pose()
    if given.get("relative_to", "") not in allowed:
        raise InputError(f"{where}: its pose is relative to {given.get('relative_to')!r}; expected the usual frame.")
    if given.get("rotation_format", "euler_rpy") == "quat_xyzw":
        seven = numbers(given.text, 7, f"{where}: pose")
        if not np.any(seven[3:]):
            raise InputError(f"{where}: pose = {given.text!r}; expected a quaternion other than zero.")
        return Pose.of(seven[:3], of_quaternion(seven[[6, 3, 4, 5]]))
    values = numbers(given.text, 6, f"{where}: pose")
    turn = np.deg2rad(values[3:]) if given.get("degrees", "false") in ("true", "1") else values[3:]
    return Pose.of(values[:3], roll_pitch_yaw(turn))


def _text(element: ElementTree.Element) -> str:
    return (element.text or "").strip()
