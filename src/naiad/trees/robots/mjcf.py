"""Robots in MuJoCo's files, which MuJoCo itself reads."""

import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.errors import InputError
from naiad.hydro import Facets
from naiad.numerics.arguments import checked_throughout
from naiad.trees.robots.assembling import Wet, assembled
from naiad.trees.robots.robot import Geometry, Inertial, Joint, Link, Pose, Robot, of_quaternion, row, symmetric

if TYPE_CHECKING:
    from naiad.trees.connected_bodies import ConnectedBodies

SHAPES = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}
FREE, BALL, SLIDE, HINGE = 0, 1, 2, 3
REFUSED = {
    "neq": "equality constraints are not there; leave them out",
    "ntendon": "tendons are not there; leave them out",
    "nflex": "flexible bodies are not there; leave them out",
    "nmocap": "bodies that are moved from outside (mocap) are not there; leave them out",
}
"""Numbers of the model that must be zero."""
UNREAD = {
    "opt.gravity": "gravity of its <option>: give gravity=",
    "opt.wind": "wind of its <option>",
    "opt.density": "density of its <option>: give water=",
    "opt.viscosity": "viscosity of its <option>",
    "opt.disableflags": "what its <option> switches off",
    "opt.enableflags": "what its <option> switches on",
    "nu": "<actuator>: give torques",
    "nsensor": "<sensor>",
    "nkey": "<keyframe>",
    "nplugin": "<plugin>",
    "npair": "pairs of its <contact>",
    "nexclude": "exclusions of its <contact>",
    "geom_contype": "contacts of its shapes",
    "geom_conaffinity": "contacts of its shapes",
}
"""Numbers of the model that naiad does not act on where they are not zero. Solvers, pictures and data of users have no
effect on a motion; what MuJoCo's compiler does is in the numbers that are read."""
OF_A_BODY = {"body_gravcomp": "gravcomp"}
OF_A_SHAPE = {"geom_fluid": "fluidshape"}
OF_A_JOINT = {"jnt_limited": "limits", "jnt_actfrclimited": "actuatorfrcrange", "jnt_springyield": "springyield"}
OF_A_SPEED = {"dof_frictionloss": "friction", "dof_armature": "armature"}
OF_A_FREE_JOINT = {"dof_damping": "damping", "jnt_stiffness": "stiffness"}
CURVED = {"jnt_stiffnesspoly": "stiffness", "dof_dampingpoly": "damping"}


@checked_throughout
def read_mjcf(
    path: str | os.PathLike[str], *, water: float | None = None, wet: Wet = "collision", gravity: Any = None
) -> "ConnectedBodies":
    """The robot of a MuJoCo file (`pip install mujoco`) as `ConnectedBodies` that float freely: as `read_urdf`, with
    MuJoCo's own reading of defaults, classes and compiler options.

    There must be one tree of bodies, with a free joint at its root; every other body has one hinge, one ball joint, or
    none, and is then welded to its parent. "collision" shapes are those that may touch others, "visual" those that do
    not. Slides, several joints in one body, equalities, tendons, flexible and mocap bodies are refused by name; limits,
    friction, armatures, actuators and all else that does not act is in `robot.notes`.
    """
    return assembled(mjcf_robot(path), water=water, wet=wet, gravity=gravity)


def mjcf_robot(path: str | os.PathLike[str]) -> Robot:
    """The description in a MuJoCo file."""
    file = Path(path)
    try:
        mujoco: Any = importlib.import_module("mujoco")
    except ImportError as error:
        raise InputError(f"{file}: mujoco, which reads it, is not installed; pip install 'naiad[mjcf]'.") from error
    if not file.is_file():
        raise InputError(f"{file}: there is no such file.")
    try:
        model = mujoco.MjModel.from_xml_path(str(file))
    except ValueError as error:
        raise InputError(f"{file}: MuJoCo does not read it ({' '.join(str(error).split())}).") from None

    def name_of(kind: Any, i: int, word: str) -> str:
        return mujoco.mj_id2name(model, kind, i) or f"{word}{i}"

    for word, what in REFUSED.items():
        if getattr(model, word, 0):
            raise InputError(f"{file}: {what}.")
    names = [name_of(mujoco.mjtObj.mjOBJ_BODY, i, "body") for i in range(model.nbody)]
    parents = model.body_parentid
    roots = [i for i in range(1, model.nbody) if parents[i] == 0]
    if len(roots) != 1:
        raise InputError(f"{file}: {len(roots)} bodies stand in the world; expected one, the root of a tree.")
    links, notes = [], [f"{what} is not read" for word, what in UNREAD.items() if _some(model, word)]
    if model.body_geomnum[0]:
        notes.append("shapes that stand in the world are not read")
    if _pose(model.body_pos[roots[0]], model.body_quat[roots[0]]) != Pose():
        notes.append(f"the place of {names[roots[0]]!r} is not read: give it to joint_state")
    for i in range(1, model.nbody):
        where = f"{file}: body {names[i]!r}"
        joints = range(model.body_jntadr[i], model.body_jntadr[i] + model.body_jntnum[i])
        kinds = [int(model.jnt_type[j]) for j in joints]
        if i == roots[0]:
            if kinds != [FREE]:
                raise InputError(f"{where} is the root, and has no free joint; naiad's trees float: give it one.")
            joint = None
            notes += _notes(model, i, names[i], f"the free joint of {names[i]!r}", OF_A_FREE_JOINT)
        else:
            joint = _joint(mujoco, model, i, kinds, where, name_of)
            notes += _notes(model, i, names[i], f"joint {joint.name!r}")
        collision, visual = _shapes(model, i, where)
        links.append(Link(names[i], _inertial(model, i), collision, visual, joint))
    return Robot(file.stem, tuple(links), tuple(dict.fromkeys(notes)))


def _joint(mujoco: Any, model: Any, body: int, kinds: list[int], where: str, name_of: Any) -> Joint:
    parent, pose = int(model.body_parentid[body]) - 1, _pose(model.body_pos[body], model.body_quat[body])
    if not kinds:
        return Joint(f"weld{body}", "fixed", parent, pose)
    j = int(model.body_jntadr[body])
    name = name_of(mujoco.mjtObj.mjOBJ_JOINT, j, "joint")
    if len(kinds) > 1:
        raise InputError(f"{where} has {len(kinds)} joints; expected one: put a body with a mass between them.")
    if kinds[0] not in (BALL, HINGE):
        kind = "slides" if kinds[0] == SLIDE else "is free, below the root"
        raise InputError(f"{where}: joint {name!r} {kind}, which is not there.")
    dof, limited, stiffness = (
        int(model.jnt_dofadr[j]),
        bool(model.jnt_limited[j]),
        float(np.ravel(model.jnt_stiffness[j])[0]),
    )
    q = int(model.jnt_qposadr[j])
    if kinds[0] == HINGE and stiffness and model.qpos_spring[q] != model.qpos0[q]:
        raise InputError(
            f"{where}: the spring of joint {name!r} rests elsewhere (springref); expected the joint's zero."
        )
    about: dict[str, Any] = {"stiffness": stiffness, "damping": float(np.ravel(model.dof_damping[dof])[0])}
    about["friction"] = float(model.dof_frictionloss[dof])
    for word, what in CURVED.items():
        if _some(model, word, dof if word.startswith("dof") else j):
            raise InputError(f"{where}: the {what} of joint {name!r} is not a single number; expected one.")
    if not np.all(np.isfinite(list(about.values()))):
        raise InputError(f"{where}: joint {name!r} has a spring, a damper or a friction that is not finite.")
    if kinds[0] == HINGE:
        about["axis"] = row(model.jnt_axis[j] / np.linalg.norm(model.jnt_axis[j]))
        zero = float(model.qpos0[q])
        about |= (
            {"lower": float(model.jnt_range[j, 0]) - zero, "upper": float(model.jnt_range[j, 1]) - zero}
            if limited
            else {}
        )
    return Joint(name, "hinge" if kinds[0] == HINGE else "ball", parent, pose, row(model.jnt_pos[j]), **about)


def _some(model: Any, word: str, *at: int) -> bool:
    """Whether an array of the model, or a row of it, has a number other than zero; a version may not have it."""
    value: Any = model
    for part in word.split("."):
        value = getattr(value, part, 0)
    return bool(np.any(np.asarray(value)[at]))


def _notes(model: Any, body: int, name: str, joint: str, more: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """What does not act of a body, its shapes, and its joint if it has one; `more` are fields of that."""
    shapes = range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body])
    words = [f"body {name!r}: its {what}" for word, what in OF_A_BODY.items() if _some(model, word, body)]
    words += [
        f"body {name!r}: its {what}" for word, what in OF_A_SHAPE.items() for k in shapes if _some(model, word, k)
    ]
    if model.body_jntnum[body]:
        j, dof = model.body_jntadr[body], model.body_dofadr[body]
        fields = {**OF_A_JOINT, **OF_A_SPEED, **more}
        at = {word: dof if word.startswith("dof") else j for word in fields}
        words += [f"{joint}: its {what}" for word, what in fields.items() if _some(model, word, at[word])]
    return [f"{each} does not act" if not each.endswith("s") else f"{each} do not act" for each in words]


def _inertial(model: Any, body: int) -> Inertial | None:
    if not model.body_mass[body] > 0:
        return None
    pose = _pose(model.body_ipos[body], model.body_iquat[body])
    R = np.array(pose.R)
    return Inertial(float(model.body_mass[body]), pose.x, symmetric((R * model.body_inertia[body]) @ R.T))


def _shapes(model: Any, body: int, where: str) -> tuple[tuple[Geometry, ...], tuple[Geometry, ...]]:
    touching, others = [], []
    for k in range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body]):
        kind, size = int(model.geom_type[k]), model.geom_size[k]
        if kind not in SHAPES:
            raise InputError(f"{where}: a plane or a field of heights moves with it; expected closed shapes.")
        sizes = {
            "sphere": size[:1],
            "capsule": (size[0], 2.0 * size[1]),
            "cylinder": (size[0], 2.0 * size[1]),
            "ellipsoid": size,
            "box": 2.0 * size,
            "mesh": (),
        }[SHAPES[kind]]
        mesh = _mesh(model, int(model.geom_dataid[k])) if SHAPES[kind] == "mesh" else None
        pose = _pose(model.geom_pos[k], model.geom_quat[k])
        shape = Geometry(SHAPES[kind], tuple(float(each) for each in sizes), pose, mesh=mesh)
        (touching if model.geom_contype[k] or model.geom_conaffinity[k] else others).append(shape)
    return tuple(touching), tuple(others)


def _mesh(model: Any, i: int) -> Facets:
    first, count = model.mesh_vertadr[i], model.mesh_vertnum[i]
    vertices = np.asarray(model.mesh_vert[first : first + count], float)
    faces = model.mesh_face[model.mesh_faceadr[i] : model.mesh_faceadr[i] + model.mesh_facenum[i]]
    corners = tuple((x, y, z) for x, y, z in vertices.tolist())
    return Facets(corners, tuple((a, b, c) for a, b, c in faces.tolist()))


def _pose(x: Any, q: Any) -> Pose:
    return Pose.of(np.asarray(x, float), of_quaternion(q))
