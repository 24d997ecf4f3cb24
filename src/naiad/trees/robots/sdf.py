"""Robots in SDF, with the added mass of their links where the file has it."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from naiad.errors import InputError
from naiad.hydro import angular_first
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import semidefinite_inertia
from naiad.trees.robots.assembling import Wet, assembled
from naiad.trees.robots.elements import Rule, boolean, unread
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
from naiad.trees.robots.xml import attribute, child, lengths, limit, mass, number, numbers, parsed, resolved

if TYPE_CHECKING:
    from naiad.trees.connected_bodies import ConnectedBodies

SHAPES = {"box": ("size",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}
SHAPES |= {"sphere": ("radius",), "ellipsoid": ("radii",)}
AXES = "xyzpqr"
ADDED = " ".join(f"{a}{b}" for i, a in enumerate(AXES) for b in AXES[i:])
ELSEWHERE = "is not followed: write what it names into this file"
RULES = {
    "sdf": Rule(attributes="version", one="world model", unseen="light", noted="actor", exact=True),
    "world": Rule(
        many="model",
        unseen="name gui scene light",
        noted="audio wind gravity magnetic_field atmosphere physics frame actor plugin road spherical_coordinates "
        "state",
        refused=dict.fromkeys(("include", "population"), ELSEWHERE)
        | {"joint": "joins models in the world; naiad's trees float: leave it out"},
    ),
    "model": Rule(
        attributes="name",
        one="pose",
        many="link joint",
        unseen="canonical_link",
        noted="frame plugin gripper placement_frame",
        refused={"include": ELSEWHERE},
        flags={"static": False, "self_collide": False, "enable_wind": False, "allow_auto_disable": True},
    ),
    "link": Rule(
        attributes="name",
        one="pose inertial",
        many="collision visual",
        unseen="audio_sink audio_source light projector",
        noted="sensor battery particle_emitter velocity_decay",
        flags={
            "gravity": True,
            "enable_wind": False,
            "self_collide": False,
            "kinematic": False,
            "must_be_base_link": False,
        },
    ),
    "pose": Rule(attributes="relative_to frame rotation_format degrees", exact=True),
    "inertial": Rule(
        attributes="auto", one="mass pose inertia fluid_added_mass", noted="density auto_inertia_params", exact=True
    ),
    "inertia": Rule(one="ixx ixy ixz iyy iyz izz", exact=True),
    "fluid_added_mass": Rule(one=ADDED, exact=True),
    "collision": Rule(
        one="pose geometry", unseen="name", noted="laser_retro max_contacts surface density auto_inertia_params"
    ),
    "visual": Rule(
        one="pose geometry",
        unseen="name cast_shadows laser_retro transparency visibility_flags meta material plugin",
    ),
    "geometry": Rule(
        one=" ".join((*SHAPES, "mesh")),
        refused=dict.fromkeys(
            ("empty", "cone", "heightmap", "image", "plane", "polyline"),
            f"is not read; expected {', '.join(SHAPES)} or mesh",
        ),
        exact=True,
    ),
    **{kind: Rule(one=" ".join(sizes), exact=True) for kind, sizes in SHAPES.items()},
    "mesh": Rule(
        one="uri scale",
        noted="optimization convex_decomposition submesh",
        exact=True,
    ),
    "joint": Rule(
        attributes="name type",
        one="parent child pose axis",
        noted="gearbox_ratio gearbox_reference_body thread_pitch screw_thread_pitch physics sensor",
        refused={"axis2": "is a second axis: joints with two are not there"},
    ),
    "axis": Rule(
        one="xyz dynamics limit use_parent_model_frame",
        noted="initial_position",
        refused={"mimic": "couples it to another joint: joints that are geared together are not there"},
        exact=True,
    ),
    "xyz": Rule(attributes="expressed_in", exact=True),
    "dynamics": Rule(one="damping friction spring_reference spring_stiffness"),
    "limit": Rule(one="lower upper effort velocity", noted="stiffness dissipation"),
}
"""The elements of SDF 1.12, those of older versions that are left out there, and capsules."""
KINDS: dict[str, JointKind] = {"revolute": "hinge", "continuous": "hinge", "ball": "ball", "fixed": "fixed"}


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
    root = parsed(path, ("sdf",))
    models = root.findall(".//model")
    if len(models) != 1:
        raise InputError(f"{file}: there are {len(models)} models in it; expected one.")
    (model,) = models
    if boolean(model.findtext("static", "false"), f"{file}: <static>"):
        raise InputError(f"{file}: its model is static; naiad's trees float: leave <static> out.")
    notes = unread(root, RULES, file, text=True)
    if _pose(model, f"{file}: its model", ("", "world")) != Pose():
        notes.append("its model: <pose> is not read: give the place and the turns of the root to joint_state")
    links = read_links(model, file, folder, _inertial, _geometry)
    poses = {
        name: _pose(element, f"{file}: link {name!r}", ("", "__model__"))
        for name, element in zip(links, model.findall("link"), strict=True)
    }
    joints: dict[str, Any] = {}
    in_model = _version(root, file) < (1, 5)
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
        model_axes = np.array(poses[below].R).T
        where = f"{file}: joint {name!r}"
        own[below] = _joint(element, name, number_of[parent], between, where, below, model_axes, in_model, notes)
        notes += own[below].notes
    found = [links[name]._replace(joint=own.get(name)) for name in order]
    return Robot(model.get("name") or Path(path).stem, tuple(found), tuple(notes))


def _inertial(element: ElementTree.Element, where: str) -> Inertial:
    if boolean(element.get("auto", "false"), f"{where}: auto"):
        raise InputError(f"{where}: its inertia is to be found from its shapes (auto); give the numbers.")
    pose = _pose(element, f"{where}, inertial", ("",))
    own = mass(_text(child(element, "mass", where)), f"{where}: mass")
    given = child(element, "inertia", where)
    J = np.zeros((3, 3))
    for i, a in enumerate("xyz"):
        for j, b in enumerate("xyz"):
            if j >= i:
                text = given.findtext(f"i{a}{b}", "0") if i != j else _text(child(given, f"i{a}{b}", where))
                J[i, j] = J[j, i] = number(text, f"{where}: i{a}{b}")
    R, added = np.array(pose.R), element.find("fluid_added_mass")
    whole = None if added is None else tuple(map(tuple, _added(added, where).tolist()))
    return Inertial(own, pose.x, symmetric(R @ J @ R.T), whole)


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
        if shape.find("submesh") is not None and where.endswith("collision"):
            raise InputError(
                f"{where}: <submesh> takes a part of a file, which is not there; give that part as a file."
            )
        scale = tuple(numbers(shape.findtext("scale", "1 1 1"), 3, f"{where}: scale").tolist())
        if 0.0 in scale:
            raise InputError(f"{where}: scale = {shape.findtext('scale')!r}; expected three numbers other than zero.")
        return Geometry("mesh", scale, pose, resolved(_text(child(shape, "uri", where)), folder, where))
    values: list[float] = []
    for name in SHAPES[shape.tag]:
        count = 3 if name in ("size", "radii") else 1
        values += lengths(_text(child(shape, name, where)), count, f"{where}: {name}")
    return Geometry(shape.tag, tuple(values), pose)


def _joint(
    element: ElementTree.Element,
    name: str,
    parent: int,
    between: Pose,
    where: str,
    below: str,
    model_axes: np.ndarray,
    in_model: bool,
    notes: list[str],
) -> Joint:
    """The joint of a link, whose axis is in its own frame, or in that of the model (`in_model`, or as it says)."""
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
        flag = boolean(axis.findtext("use_parent_model_frame", str(in_model)), f"{where}: use_parent_model_frame")
        direction = (model_axes if flag else np.array(own.R)) @ numbers(_text(xyz), 3, f"{where}: axis")
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
            value = limit(axis.findtext(path), f"{where}: {path}")
            if value is not None and kind != "revolute" and word in ("lower", "upper"):
                notes.append(f"joint {name!r}: {word} of its <limit> is not read, as it is of type {kind!r}")
            elif value is not None:
                about[word] = value
    elif (axis := element.find("axis")) is not None:
        for word in ("dynamics", "limit"):
            if axis.find(word) is not None:
                notes.append(f"joint {name!r}: <{word}> of its <axis> is not read, as it is of type {kind!r}")
    return Joint(name, KINDS[kind], parent, between, own.x, **about)


def _pose(element: ElementTree.Element, where: str, allowed: tuple[str, ...]) -> Pose:
    """The pose inside an element; relative to what is allowed only."""
    given = element.find("pose")
    if given is None:
        return Pose()
    frame = given.get("relative_to") or given.get("frame", "")  # as versions before 1.7 have it
    if frame not in allowed:
        raise InputError(f"{where}: its pose is relative to {frame!r}; expected the usual frame.")
    if given.get("rotation_format", "euler_rpy") == "quat_xyzw":
        seven = numbers(given.text, 7, f"{where}: pose")
        if not np.any(seven[3:]):
            raise InputError(f"{where}: pose = {given.text!r}; expected a quaternion other than zero.")
        return Pose.of(seven[:3], of_quaternion(seven[[6, 3, 4, 5]]))
    values = numbers(given.text, 6, f"{where}: pose")
    turn = np.deg2rad(values[3:]) if given.get("degrees", "false") in ("true", "1") else values[3:]
    return Pose.of(values[:3], roll_pitch_yaw(turn))


def _version(root: ElementTree.Element, file: str) -> tuple[int, ...]:
    """The version of the format, such as (1, 9)."""
    text = attribute(root, "version", file)
    if not re.fullmatch(r"1\.\d+", text, re.ASCII):
        raise InputError(f"{file}: version = {text!r}; expected 1.4 to 1.12.")
    return tuple(map(int, text.split(".")))


def _text(element: ElementTree.Element) -> str:
    return (element.text or "").strip()
