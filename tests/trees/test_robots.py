"""Robots read from files and written to them."""

import re
import xml.etree.ElementTree as ET

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError
from naiad.hydro import Ellipsoid, Mesh, Sphere, moved, rigid_inertia
from naiad.models import ConnectedBodies, SubmergedBody
from naiad.trees import Robot, read_mjcf, read_sdf, read_urdf, write_urdf
from naiad.trees.robots.mjcf import mjcf_robot
from naiad.trees.robots.robot import angles_of, roll_pitch_yaw
from naiad.trees.robots.shapes import shape_of
from naiad.trees.robots.urdf import urdf_robot
from tests.hydro.surfaces import box
from tests.trees.robots import EEL, as_mjcf, random_robot

GRAVITY = (0.0, 0.0, -9.81)
INERTIAL = "<inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
SDF = f"""<sdf version="1.9"><model name="m">
  <link name="a"><pose>1 2 3 0 0 1.5707963267948966</pose>{INERTIAL}</link>
  <link name="b"><pose degrees="true">1 3 3 0 0 90</pose>{INERTIAL}
    <collision name="c"><geometry><ellipsoid><radii>0.3 0.2 0.1</radii></ellipsoid></geometry></collision></link>
  <joint name="j" type="revolute"><parent>a</parent><child>b</child><pose>0.25 0 0 0 0 0</pose>
    <axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>inf</upper></limit>
      <dynamics><damping>0.5</damping></dynamics></axis></joint>
</model></sdf>"""


def flat(thing):
    """All leaves of a description."""
    if isinstance(thing, tuple | list):
        return [leaf for each in thing for leaf in flat(each)]
    return [thing]


def same(first: Robot, second: Robot) -> None:
    one, two = flat(first), flat(second)
    assert len(one) == len(two)
    for a, b in zip(one, two, strict=True):
        assert a == pytest.approx(b, rel=1e-12, abs=1e-13) if isinstance(a, float) else a == b


def eel(tmp_path, text=EEL):
    file = tmp_path / "eel.urdf"
    file.write_text(text)
    return file


def test_links_joints_and_inertias_are_those_of_the_file(tmp_path):
    bodies = read_urdf(eel(tmp_path), water=1000.0, gravity=GRAVITY)
    robot = bodies.robot
    assert robot.name == "eel"
    assert robot.bodies == ("head", "tail")
    assert bodies.tree.joints == ("free", "hinge")
    assert np.allclose(robot.limits, [[-np.inf, np.inf], [-0.5, 0.7]])
    assert [note for note in robot.notes] == [
        "joint 'neck': its limits do not act",
        "joint 'neck': its friction does not act",
    ]
    # head and camera as one body, in the frame of the head
    R = roll_pitch_yaw(np.array([0.1, 0.2, 0.3]))
    J = np.array([[0.03, 0.001, 0.0], [0.001, 0.04, -0.002], [0.0, -0.002, 0.05]])
    mount = roll_pitch_yaw(np.array([0.0, 0.5, 0.0]))
    dry = rigid_inertia(4.0, R @ J @ R.T, (0.01, 0.0, -0.02))
    dry = dry + moved(rigid_inertia(0.5, (0.001,) * 3), x=(0.1, 0.0, 0.05), R=mount)
    camera = Sphere(0.03).placed(x=np.array([0.1, 0.0, 0.05]) + mount @ [0.02, 0.0, 0.0])
    added = Sphere(0.1).added_inertia(1000.0) + camera.added_inertia(1000.0)
    tree = bodies.tree
    D = np.zeros((2, 3, 3)) if tree.D is None else tree.D
    found = moved(np.block([[tree.J[0], D[0]], [D[0], tree.M[0]]]), x=tree.at[0])
    assert np.abs(found - dry - added).max() < 1e-12
    assert np.allclose(bodies.weight.mass, [4.5, 3.0])
    assert np.allclose(bodies.weight.displaced, 1000.0 * 4 / 3 * np.pi * np.array([0.1**3 + 0.03**3, 0.09**3]))
    # the joint: in the frame of the head, from that of the camera
    assert np.allclose(tree.other[1] + tree.at[0], np.array([0.1, 0.0, 0.05]) + mount @ [-0.25, 0.0, 0.0])
    assert np.allclose(tree.own[1] + tree.at[1], 0.0)
    assert np.allclose(tree.rest[1], mount @ roll_pitch_yaw(np.array([0.0, -0.5, 0.2])))
    assert np.allclose(tree.axis[1], (0.0, 0.0, 1.0))
    assert np.allclose(bodies.damping[1], np.diag([0.0, 0.0, 0.1]))
    assert np.allclose(bodies.stiffness[1], np.diag([0.0, 0.0, 2.0]))


def test_roll_pitch_and_yaw_are_turns_about_fixed_axes():
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(1)
    for angles in [*rng.uniform(-3.0, 3.0, (20, 3)), (0.3, np.pi / 2, 0.8), (0.1, -np.pi / 2, -0.4)]:
        R = Rotation.from_euler("xyz", angles).as_matrix()
        assert np.abs(roll_pitch_yaw(np.array(angles)) - R).max() < 1e-15
        assert np.abs(roll_pitch_yaw(angles_of(R)) - R).max() < 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_what_is_written_is_read_again(seed, tmp_path):
    robot = random_robot(seed, 7)
    file = tmp_path / "robot.urdf"
    write_urdf(described(robot), file)
    same(without_notes(urdf_robot(file)), robot)


def without_notes(robot: Robot) -> Robot:
    return Robot(robot.name, robot.links)


def described(robot: Robot) -> ConnectedBodies:
    """Dry bodies of a description."""
    from naiad.trees.robots.assembling import assembled

    return assembled(robot, water=None, wet="collision", gravity=None)


def test_a_tree_that_was_made_is_written_and_read(tmp_path):
    own = np.array([[0.0, 0.0, 0.0], [0.5, 0.1, 0.0], [-0.4, 0.0, 0.2]])
    other = np.array([[0.0, 0.0, 0.0], [-0.6, 0.0, 0.1], [0.3, 0.3, 0.3]])
    made = ConnectedBodies.ellipsoids(
        (0.2, 0.2, 0.2),
        (-1, 0, 1),
        own=own,
        other=other,
        fluid=0.0,
        density=1200.0,
        joints=("hinge", "ball"),
        axis=(0.0, 0.6, 0.8),
        damping=(0.0, 0.3, 0.2),
    )
    back = read_urdf(write_urdf(made, tmp_path / "made.urdf"))
    for name in ("J", "M", "own", "other", "rest"):
        assert np.allclose(getattr(back.tree, name), getattr(made.tree, name), atol=1e-12), name
    assert back.tree.joints == made.tree.joints
    assert np.allclose(back.damping[2], made.damping[2])
    assert np.allclose(back.damping[1], 0.3 * np.outer((0, 0.6, 0.8), (0, 0.6, 0.8)))


def test_added_inertia_is_not_written(tmp_path):
    wet = ConnectedBodies.ellipsoids((0.3, 0.2, 0.1), (-1,), own=[[0, 0, 0]], other=[[0, 0, 0]], fluid=1000.0)
    with pytest.raises(InputError, match="URDF has no place"):
        write_urdf(wet, tmp_path / "wet.urdf")


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.long) for k in (2, 3))])
def test_mujoco_finds_the_same_energy(seed, tmp_path):
    import mujoco

    robot = random_robot(seed, 6)
    file = tmp_path / "robot.xml"
    file.write_text(as_mjcf(robot))
    bodies = read_mjcf(file)
    reference = described(robot)
    assert bodies.tree.joints == reference.tree.joints
    for name in ("J", "M", "own", "other", "rest", "at"):
        assert np.allclose(getattr(bodies.tree, name), getattr(reference.tree, name), atol=1e-9), name
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(seed)
    data.qpos[:] = rng.normal(size=model.nq)
    mujoco.mj_normalizeQuat(model, data.qpos)
    data.qvel[:] = rng.normal(size=model.nv)
    mujoco.mj_forward(model, data)
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    mujoco.mj_energyVel(model, data)
    leaders = [i + 1 for i in robot.leaders]
    R = data.xmat[leaders].reshape(-1, 3, 3)
    spins = np.array([_object_velocity(mujoco, model, data, i)[:3] for i in leaders])
    tree = bodies.tree
    at, velocity = data.xpos[1] + R[0] @ tree.at[0], _object_velocity(mujoco, model, data, 1)[3:]
    v = R[0] @ (velocity + np.cross(spins[0], tree.at[0]))
    with jax.enable_x64(True):
        g = tree.group.element((jnp.asarray(R), jnp.asarray(at)))
        xi = jnp.concatenate([jnp.asarray(spins).reshape(-1), jnp.asarray(v)])
        energy = float(tree.kinetic_energy(g, xi))
        places = np.asarray(tree.origins(g))
    assert energy == pytest.approx(data.energy[1], rel=1e-9)
    assert np.abs(places - data.xpos[leaders]).max() < 1e-9


def _object_velocity(mujoco, model, data, body):
    found = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, found, 1)
    return found


@pytest.mark.long
def test_a_tree_moves_as_in_mujoco(tmp_path):
    import mujoco

    robot = random_robot(3, 3)
    file = tmp_path / "robot.xml"
    file.write_text(as_mjcf(robot).replace('<option gravity="0 0 0"/>', '<option gravity="0 0 -1" integrator="RK4"/>'))
    bodies = read_mjcf(file, gravity=(0.0, 0.0, -1.0))
    bodies = bodies.replaced(stiffness=None)  # MuJoCo's springs are linear in the angle
    model = mujoco.MjModel.from_xml_path(str(file))
    model.opt.timestep, model.jnt_stiffness[:] = 1e-3, 0.0
    data = mujoco.MjData(model)
    data.qvel[:6] = [0.1, 0.2, -0.1, 0.3, -0.2, 0.4]
    mujoco.mj_forward(model, data)
    leaders = [i + 1 for i in robot.leaders]
    spin = np.array(data.qvel[3:6])
    rates = np.zeros((bodies.tree.count, 3))
    rates[0] = spin
    R0 = data.xmat[1].reshape(3, 3)
    v = data.qvel[:3] + R0 @ np.cross(spin, bodies.tree.at[0])
    state = bodies.joint_state(None, rates, x=data.xpos[1] + R0 @ bodies.tree.at[0], v=v)
    for _ in range(500):
        mujoco.mj_step(model, data)
    end = nd.simulate(bodies, state, t1=0.5, dt=5e-4).final.g
    assert np.abs(end.R - data.xmat[leaders].reshape(-1, 3, 3)).max() < 2e-6
    assert np.abs(end.R[0] - np.asarray(state.g.R[0])).max() > 0.1


@pytest.mark.parametrize(
    ("kind", "size", "volume", "length"),
    [
        ("box", (1.0, 2.0, 3.0), 6.0, 3.0),
        ("cylinder", (1.0, 3.0), 3.0 * np.pi, 3.0),
        ("capsule", (1.0, 2.0), np.pi * (2.0 + 4.0 / 3.0), 4.0),
    ],
)
def test_shapes_have_their_volume_and_length(kind, size, volume, length):
    shape = shape_of([nd.trees.Geometry(kind, size)]).shape
    assert shape.volume == pytest.approx(volume, rel=1e-11)
    assert np.ptp(shape.vertices[:, 2]) == pytest.approx(length, rel=2e-2)
    np.testing.assert_allclose(shape.centre, np.zeros(3), atol=1e-12)


def test_the_sizes_of_mujocos_shapes(tmp_path):
    file = tmp_path / "robot.xml"
    kinds = {
        "box": "0.1 0.2 0.3",
        "ellipsoid": "0.1 0.2 0.3",
        "cylinder": "0.1 0.2",
        "capsule": "0.1 0.2",
        "sphere": "0.1",
    }
    shapes = "".join(f"<geom type='{kind}' size='{size}'/>" for kind, size in kinds.items())
    file.write_text(f"<mujoco><worldbody><body><freejoint/>{shapes}</body></worldbody></mujoco>")
    (link,) = mjcf_robot(file).links
    found = {shape.kind: shape.size for shape in link.collision}
    assert found == {
        "box": (0.2, 0.4, 0.6),
        "ellipsoid": (0.1, 0.2, 0.3),
        "cylinder": (0.1, 0.4),
        "capsule": (0.1, 0.4),
        "sphere": (0.1,),
    }


@pytest.mark.long
def test_boxes_and_cylinders_have_the_added_mass_of_the_literature():
    unit = shape_of([nd.trees.Geometry("box", (1.0, 1.0, 1.0))]).shape
    assert unit.added_inertia(1.0)[3, 3] == pytest.approx(0.638415713, rel=1.5e-2)
    tin = shape_of([nd.trees.Geometry("cylinder", (1.0, 2.0))]).shape
    assert tin.volume == pytest.approx(2.0 * np.pi, rel=1e-12)
    added = np.diag(tin.added_inertia(1.0))
    assert added[5] == pytest.approx(3.67794776, rel=2e-2)
    assert added[3] == pytest.approx(3.63981147, rel=2e-2)
    pill = shape_of([nd.trees.Geometry("capsule", (1.0, 2.0))]).shape
    assert pill.volume == pytest.approx(np.pi * (2.0 + 4.0 / 3.0), rel=1e-11)


def test_bodies_of_shapes_are_those_of_ellipsoids():
    own, other = np.array([[0, 0, 0], [0.5, 0.1, 0.0]]), np.array([[0, 0, 0], [-0.6, 0.0, 0.1]])
    about = {"own": own, "other": other, "gravity": GRAVITY, "fluid": 900.0}
    one = ConnectedBodies.ellipsoids((0.4, 0.2, 0.1), (-1, 0), **about)
    two = ConnectedBodies.from_shapes(Ellipsoid((0.4, 0.2, 0.1)), (-1, 0), **about)
    assert two.tree.D is None
    for name in ("J", "M", "own", "other"):
        assert np.allclose(getattr(one.tree, name), getattr(two.tree, name), atol=1e-12), name
    assert np.allclose(one.weight.displaced, two.weight.displaced)


def wedge():
    """A mesh without planes of symmetry across its axis."""
    vertices, triangles = box(1.0, 0.4, 0.3)
    vertices[vertices[:, 0] > 0, 1:] *= 0.5
    return Mesh(vertices, triangles, tolerance=0.3)


@pytest.mark.parametrize("make", [lambda: Ellipsoid((0.5, 0.2, 0.1)), pytest.param(wedge, marks=pytest.mark.long)])
def test_one_body_is_a_submerged_body(make):
    shape = make().placed(x=(0.2, 0.1, -0.3), R=roll_pitch_yaw(np.array([0.3, 0.2, 0.1])))
    dry = rigid_inertia(60.0, (2.0, 5.0, 6.0), (0.1, 0.0, -0.25))
    body = SubmergedBody.from_shape(shape, 1000.0, dry, gravity=GRAVITY)
    tree = ConnectedBodies.from_shapes(
        shape, (-1,), own=[[0, 0, 0]], other=[[0, 0, 0]], fluid=1000.0, dry=dry, gravity=GRAVITY
    )
    assert tree.tree.D is not None
    rng, at = np.random.default_rng(0), np.asarray(tree.tree.at[0])
    values = []
    for _ in range(3):
        R, x, xi = nd.SO3().random(rng), rng.normal(size=3), rng.normal(size=6)
        one = body.state(R=R, x=x, xi=xi)
        two = tree.state(R=R[None], R_Omega=xi[None, :3], x=x + R @ at, x_v=R @ (xi[3:] + np.cross(xi[:3], at)))
        values.append([float(system.energy(state)) for system, state in ((body, one), (tree, two))])
    values = np.array(values)
    assert np.allclose(values[:, 0], values[:, 1], rtol=1e-11)


def test_the_added_mass_of_a_file_is_about_the_origin_of_the_link(tmp_path):
    from naiad.hydro.meshes.sdf import inertial

    shape = Ellipsoid((0.5, 0.2, 0.1)).placed(x=(0.3, -0.1, 0.2), R=roll_pitch_yaw(np.array([0.4, 0.1, -0.2])))
    text = inertial(shape, 1025.0, mass=30.0)
    numbers = {word: float(re.search(f"<{word}>(.*)</{word}>", text)[1]) for word in ("xx", "zz", "yr", "rr")}
    K = shape.added_inertia(1025.0)
    assert numbers["xx"] == pytest.approx(K[3, 3], rel=1e-9)
    assert numbers["rr"] == pytest.approx(K[2, 2], rel=1e-9)
    assert numbers["yr"] == pytest.approx(K[4, 2], rel=1e-9)
    file = tmp_path / "model.sdf"
    file.write_text(f'<sdf version="1.10"><model name="m"><link name="a">{text}</link></model></sdf>')
    bodies = read_sdf(file, gravity=GRAVITY)
    tree = bodies.tree
    D = np.zeros((3, 3)) if tree.D is None else tree.D[0]
    found = moved(np.block([[tree.J[0], D], [D, tree.M[0]]]), x=tree.at[0])
    expected = shape.inertia(30.0 / shape.volume) + K
    assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()


def test_sdf_places_links_in_the_frame_of_the_model(tmp_path):
    file = tmp_path / "model.sdf"
    file.write_text(SDF)
    bodies = read_sdf(file, water=1000.0)
    assert bodies.tree.joints == ("free", "hinge")
    assert np.allclose(bodies.tree.own[1], (0.25, 0.0, 0.0))
    assert np.allclose(bodies.tree.other[1], (1.25, 0.0, 0.0))
    assert np.allclose(bodies.tree.rest[1], np.eye(3))
    assert np.allclose(bodies.damping[1], np.diag([0.0, 0.5, 0.0]))
    assert bodies.tree.M[1, 2, 2] == pytest.approx(2.0 + Ellipsoid((0.3, 0.2, 0.1)).added_inertia(1000.0)[5, 5])
    assert np.allclose(bodies.robot.limits[1], (-1.0, np.inf))


def test_meshes_are_scaled_turned_and_found_in_packages(tmp_path):
    import trimesh

    vertices, triangles = box(200.0, 100.0, 50.0)
    folder = tmp_path / "robots" / "eel_description" / "meshes"
    folder.mkdir(parents=True)
    trimesh.Trimesh(vertices, triangles).export(folder / "hull.stl")
    for name in ("package://eel_description/meshes/hull.stl", "../meshes/hull.stl"):
        urdf = folder.parent / "urdf" / "eel.urdf"
        urdf.parent.mkdir(exist_ok=True)
        shape = f'<mesh filename="{name}" scale="0.001 -0.001 0.002"/>'
        urdf.write_text(EEL.replace('<sphere radius="0.09"/>', shape))
        bodies = read_urdf(urdf, water=1000.0, gravity=GRAVITY)
        assert bodies.weight.displaced[1] == pytest.approx(1000.0 * 0.2 * 0.1 * 0.1)


BROKEN = {
    "not XML": (("</robot>", ""), "it is not XML"),
    "no robot": (('<robot name="eel">', "<model>"), "not XML"),
    "xacro without its name": (
        ("<link", '<xacro:property name="m" value="3"/><link'),
        "unbound prefix.*; expand xacro first",
    ),
    "xacro": (
        (
            '<robot name="eel">',
            '<robot name="eel" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:fin side="left"/>',
        ),
        "there is <xacro:fin> in it; expand it first",
    ),
    "prismatic": (('type="revolute"', 'type="prismatic"'), "joint 'neck' is of type 'prismatic': sliding joints"),
    "planar": (('type="revolute"', 'type="planar"'), "'planar'"),
    "floating": (('type="revolute"', 'type="floating"'), "only the root floats"),
    "unknown": (('type="revolute"', 'type="screw"'), "'screw'"),
    "mimic": (("<dynamics", '<mimic joint="mount"/><dynamics'), "joint 'neck': <mimic> couples it to another joint"),
    "mesh": (
        ('<sphere radius="0.09"/>', '<mesh filename="fin.stl"/>'),
        "link 'tail': .*fin.stl: there is no such file",
    ),
    "package": (('<sphere radius="0.09"/>', '<mesh filename="package://a/b.stl"/>'), "package://a/b.stl' is not found"),
    "mass": (('<mass value="3"/>', '<mass value="-3"/>'), "link 'tail': mass = -3"),
    "no number": (('<mass value="3"/>', '<mass value="heavy"/>'), "link 'tail': mass = 'heavy'"),
    "no mass": (('<mass value="3"/>', ""), "link 'tail': there is no <mass>"),
    "negative inertia": (('ixx="0.02"', 'ixx="-0.02"'), "link 'tail': .*eigenvalue"),
    "impossible inertia": (('ixx="0.02"', 'ixx="0.2"'), "link 'tail': "),
    "nan": (('xyz="-0.2 0 0.01"', 'xyz="nan 0 0"'), "link 'tail', collision: xyz = 'nan 0 0'"),
    "two numbers": (('xyz="-0.2 0 0.01"', 'xyz="0 0"'), "expected 3 finite numbers"),
    "axis": (('axis xyz="0 0 2"', 'axis xyz="0 0 0"'), "joint 'neck': axis"),
    "size": (('radius="0.09"', 'radius="-0.09"'), "lengths above zero"),
    "shape": (('<sphere radius="0.09"/>', "<cone/>"), "there is a <cone> in its <geometry>"),
    "no such link": (('<child link="tail"/>', '<child link="fin"/>'), "a link 'fin', which is not there"),
    "loop": (('<child link="camera"/>', '<child link="tail"/>'), "link 'tail' hangs on two joints"),
    "cycle": (
        ('<parent link="head"/>', '<parent link="tail"/>'),
        "link 'camera' is not joined to the root 'head': its joints are a closed loop",
    ),
    "two roots": (('<link name="camera">', '<link name="fin"/><link name="camera">'), "'head', 'fin' have no parent"),
    "twice": (('<link name="camera">', '<link name="head">'), "two links have the name 'head'"),
    "damping": (('damping="0.1"', 'damping="-0.1"'), "joint 'neck': damping = -0.1"),
    "reference": (("spring_stiffness", 'spring_reference="0.1" spring_stiffness'), "spring_reference"),
    "light": (
        (
            '<mass value="3"/><inertia ixx="0.02" iyy="0.03" izz="0.04"/>',
            '<mass value="0"/><inertia ixx="0" iyy="0" izz="0"/>',
        ),
        "link 'tail' has (no inertia|directions)",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_not_there_or_wrong_is_refused_in_one_line(name, tmp_path):
    (old, new), says = BROKEN[name]
    assert old in EEL
    with pytest.raises(InputError, match=says) as raised:
        read_urdf(eel(tmp_path, EEL.replace(old, new, 1)), water=None if name == "light" else 1000.0)
    assert "\n" not in str(raised.value)


def test_links_without_wet_shapes_are_told_and_robots_without_any_refused(tmp_path):
    bare = EEL.replace(
        '<collision><origin xyz="-0.2 0 0.01"/><geometry><sphere radius="0.09"/></geometry></collision>', ""
    )
    assert bare != EEL
    found = read_urdf(eel(tmp_path, bare), water=1000.0)
    assert "link 'tail' has no collision shape: no water acts on it" in found.robot.notes
    assert not any("no water" in note for note in read_urdf(eel(tmp_path, bare)).robot.notes)
    with pytest.raises(
        InputError, match="no link of 'eel' has a visual shape or an added inertia; give wet='collision'"
    ):
        read_urdf(eel(tmp_path, re.sub("<visual>.*?</visual>", "", EEL, flags=re.DOTALL)), water=1000.0, wet="visual")


def test_a_base_that_is_fixed_to_the_world_is_refused_and_one_that_floats_in_it_is_not(tmp_path):
    world = '<link name="world"/><joint name="base" type="{}"><parent link="world"/><child link="head"/></joint>'
    with pytest.raises(InputError, match="joint 'base' fixes the base to the world"):
        read_urdf(eel(tmp_path, EEL.replace("</robot>", world.format("fixed") + "</robot>")))
    worse = EEL.replace('type="revolute"', 'type="prismatic"').replace("</robot>", world.format("fixed") + "</robot>")
    both = r"joint 'neck' is of type 'prismatic'.*\. Also joint 'base' fixes the base to the world"
    with pytest.raises(InputError, match=both):
        read_urdf(eel(tmp_path, worse))
    floating = read_urdf(eel(tmp_path, EEL.replace("</robot>", world.format("floating") + "</robot>")))
    assert floating.robot.bodies == ("head", "tail")


@pytest.mark.parametrize("seed", range(3))
def test_damaged_files_are_read_or_refused_in_one_line(seed, tmp_path):
    rng = np.random.default_rng(seed)
    refused = []
    for _ in range(60):
        text = EEL
        for _ in range(rng.integers(1, 4)):
            at, length = rng.integers(len(text)), rng.integers(0, 12)
            text = text[:at] + str(rng.choice(["", "0", "-", '"', "<", "x", "1e400", " "])) + text[at + length :]
        try:
            read_urdf(eel(tmp_path, text), water=1000.0, gravity=GRAVITY)
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > 30
    assert not any("\n" in line for line in refused)


JUNK = ("", "0", "-1", "1 2", "nan", "1e400", "inf", "x", "0 0 0", "1e-300", "head", "tail", "a", "ball", "world")


@pytest.mark.parametrize(("base", "read"), [(EEL, read_urdf), (SDF, read_sdf)])
def test_files_with_wrong_values_and_lost_parts_are_read_or_refused_in_one_line(base, read, tmp_path):
    rng, refused = np.random.default_rng(1), []
    for _ in range(100):
        root = ET.fromstring(base)
        for _ in range(rng.integers(1, 3)):
            inside = [(outer, inner) for outer in root.iter() for inner in outer] or [(root, root)]
            outer, inner = inside[rng.integers(len(inside))]
            what = rng.integers(4)
            if what == 0 and outer is not inner:
                outer.remove(inner)
            elif what == 1 and inner.attrib:
                inner.set(str(rng.choice(list(inner.attrib))), str(rng.choice(JUNK)))
            elif what == 2:
                inner.text = str(rng.choice(JUNK))
            elif outer is not inner:
                outer.append(inner)
        file = tmp_path / "robot.xml"
        file.write_text(ET.tostring(root, encoding="unicode"))
        try:
            read(file, water=1000.0, gravity=GRAVITY)
        except InputError as error:
            refused.append(str(error))
    assert 20 < len(refused) < 90
    assert not any("\n" in line for line in refused)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<mujoco><worldbody/></mujoco>", "0 bodies stand in the world"),
        ("<mujoco", "MuJoCo does not read it"),
        ("<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>", "no free joint"),
        (
            "<mujoco><worldbody><body><freejoint/><geom size='1'/><body name='b'><joint name='s' type='slide'/>"
            "<geom size='1'/></body></body></worldbody></mujoco>",
            "joint 's' slides",
        ),
        (
            "<mujoco><worldbody><body><freejoint/><geom size='1'/><body name='b'><joint/><joint axis='1 0 0'/>"
            "<geom size='1'/></body></body></worldbody></mujoco>",
            "body 'b' has 2 joints",
        ),
    ],
)
def test_what_mujoco_has_and_naiad_has_not_is_refused(text, says, tmp_path):
    file = tmp_path / "robot.xml"
    file.write_text(text)
    with pytest.raises(InputError, match=says) as raised:
        read_mjcf(file)
    assert "\n" not in str(raised.value)


def test_shapes_of_mujoco_displace_water(tmp_path):
    file = tmp_path / "robot.xml"
    file.write_text(
        "<mujoco><worldbody><body name='a'><freejoint/><geom type='ellipsoid' size='0.3 0.2 0.1' density='1000'/>"
        "<geom size='0.5' contype='0' conaffinity='0' mass='0'/></body></worldbody></mujoco>"
    )
    bodies = read_mjcf(file, water=1000.0, gravity=GRAVITY)
    shape = Ellipsoid((0.3, 0.2, 0.1))
    assert bodies.weight.displaced[0] == pytest.approx(1000.0 * shape.volume)
    assert np.allclose(bodies.tree.M[0], (shape.inertia(1000.0) + shape.added_inertia(1000.0))[3:, 3:])
    assert read_mjcf(file, water=1000.0, wet="visual", gravity=GRAVITY).weight.displaced[0] == pytest.approx(
        1000.0 * np.pi / 6.0
    )
