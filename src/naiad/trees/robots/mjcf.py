"""Robots in MuJoCo's files, which MuJoCo itself reads."""

import importlib
import os
from pathlib import Path
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


@checked_throughout
def read_mjcf(
    path: str | os.PathLike[str], *, water: float | None = None, wet: Wet = "collision", gravity: Any = None
) -> "ConnectedBodies":
    """The robot of a MuJoCo file (`pip install mujoco`) as `ConnectedBodies` that float freely: as `read_urdf`, with
    MuJoCo's own reading of defaults, classes and compiler options.

    There must be one tree of bodies, with a free joint at its root; every other body has one hinge, one ball joint, or
    none, and is then welded to its parent. "collision" shapes are those that may touch others, "visual" those that do
    not. Slides, several joints in one body, equalities and tendons are refused by name; limits, friction, armatures and
    actuators do not act.
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

    for count, what in ((model.neq, "equality constraints"), (model.ntendon, "tendons")):
        if count:
            raise InputError(f"{file}: {what} are not there; leave them out.")
    names = [name_of(mujoco.mjtObj.mjOBJ_BODY, i, "body") for i in range(model.nbody)]
    parents = model.body_parentid
    roots = [i for i in range(1, model.nbody) if parents[i] == 0]
    if len(roots) != 1:
        raise InputError(f"{file}: {len(roots)} bodies stand in the world; expected one, the root of a tree.")
    links, notes = [], []
    for i in range(1, model.nbody):
        where = f"{file}: body {names[i]!r}"
        joints = range(model.body_jntadr[i], model.body_jntadr[i] + model.body_jntnum[i])
        kinds = [int(model.jnt_type[j]) for j in joints]
        if i == roots[0]:
            if kinds != [FREE]:
                raise InputError(f"{where} is the root, and has no free joint; naiad's trees float: give it one.")
            joint = None
        else:
            joint = _joint(mujoco, model, i, kinds, where, name_of)
            notes += _notes(model, joint, i)
        collision, visual = _shapes(model, i, where)
        links.append(Link(names[i], _inertial(model, i), collision, visual, joint))
    if model.nu:
        notes.append(f"{model.nu} actuators do not act: give torques")
    return Robot(file.stem, tuple(links), tuple(notes))


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


def _notes(model: Any, joint: Joint, body: int) -> list[str]:
    """What does not act."""
    limited = joint.kind != "fixed" and bool(model.jnt_limited[model.body_jntadr[body]])
    armature = joint.kind != "fixed" and float(np.ravel(model.dof_armature[model.body_dofadr[body]])[0]) > 0
    words = [("limits", limited), ("friction", joint.friction > 0), ("armature", armature)]
    return [f"joint {joint.name!r}: its {word} do not act" for word, there in words if there]


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
