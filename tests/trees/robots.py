"""Descriptions of robots for tests."""

import numpy as np

import naiad as nd
from naiad.trees import Geometry, Inertial, Joint, Link, Robot
from naiad.trees.robots.robot import Pose, matrix, row

EEL = """<?xml version="1.0"?>
<robot name="eel">
  <link name="head">
    <inertial>
      <origin xyz="0.01 0 -0.02" rpy="0.1 0.2 0.3"/>
      <mass value="4"/>
      <inertia ixx="0.03" iyy="0.04" izz="0.05" ixy="0.001" ixz="0" iyz="-0.002"/>
    </inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <link name="camera">
    <inertial><mass value="0.5"/><inertia ixx="0.001" iyy="0.001" izz="0.001"/></inertial>
    <collision><origin xyz="0.02 0 0"/><geometry><sphere radius="0.03"/></geometry></collision>
  </link>
  <link name="tail">
    <inertial><origin xyz="-0.2 0 0"/><mass value="3"/><inertia ixx="0.02" iyy="0.03" izz="0.04"/></inertial>
    <collision><origin xyz="-0.2 0 0.01"/><geometry><sphere radius="0.09"/></geometry></collision>
  </link>
  <joint name="mount" type="fixed">
    <parent link="head"/><child link="camera"/><origin xyz="0.1 0 0.05" rpy="0 0.5 0"/>
  </joint>
  <joint name="neck" type="revolute">
    <parent link="camera"/><child link="tail"/>
    <origin xyz="-0.25 0 0" rpy="0 -0.5 0.2"/><axis xyz="0 0 2"/>
    <limit lower="-0.5" upper="0.7" effort="3" velocity="2"/>
    <dynamics damping="0.1" friction="0.3" spring_stiffness="2"/>
  </joint>
</robot>
"""


def random_robot(seed: int, count: int) -> Robot:
    """Links in any order, hinges, ball joints and welds, spheres and boxes anywhere."""
    rng = np.random.default_rng(seed)

    def pose() -> Pose:
        return Pose.of(rng.normal(size=3), nd.SO3().random(rng))

    links = []
    for i in range(count):
        points = rng.normal(size=(8, 3))
        J = np.einsum("ki,ki->", points, points) * np.eye(3) - points.T @ points
        inertial = Inertial(float(rng.uniform(0.5, 3.0)), row(rng.normal(size=3)), matrix(0.05 * (J + J.T)))
        shapes = tuple(
            Geometry("sphere", (float(rng.uniform(0.1, 0.4)),), pose())
            if rng.random() < 0.6
            else Geometry("box", tuple(rng.uniform(0.1, 0.5, 3).tolist()), pose())
            for _ in range(rng.integers(0, 3))
        )
        joint = None
        if i:
            kind = str(rng.choice(["hinge", "ball", "fixed"], p=[0.6, 0.2, 0.2]))
            about = {} if kind == "fixed" else {"damping": float(rng.random()), "stiffness": float(rng.random())}
            if kind == "hinge":
                axis = rng.normal(size=3)
                about |= {"axis": row(axis / np.linalg.norm(axis)), "lower": -1.0, "upper": float(rng.random())}
            joint = Joint(f"joint{i}", kind, int(rng.integers(max(0, i - 3), i)), pose(), **about)
        links.append(Link(f"link{i}", inertial, shapes, shapes[:1], joint))
    return in_branches(Robot("random", tuple(links)))


def in_branches(robot: Robot) -> Robot:
    """The links in the order in which they are read: a branch at a time."""
    order, waiting = [], [0]
    while waiting:
        i = waiting.pop()
        order.append(i)
        waiting += reversed([k for k, link in enumerate(robot.links) if link.joint and link.joint.parent == i])
    number = {old: new for new, old in enumerate(order)}
    links = [robot.links[i] for i in order]
    moved = [
        link if link.joint is None else link._replace(joint=link.joint._replace(parent=number[link.joint.parent]))
        for link in links
    ]
    return Robot(robot.name, tuple(moved), robot.notes)


def as_mjcf(robot: Robot) -> str:
    """The same bodies for MuJoCo, without shapes: written here once more, by other means."""
    from scipy.spatial.transform import Rotation

    def words(values):
        return " ".join(repr(float(value)) for value in values)

    def placed(pose):
        quaternion = Rotation.from_matrix(np.array(pose.R)).as_quat(scalar_first=True)
        return f'pos="{words(pose.x)}" quat="{words(quaternion)}"'

    def body(i):
        link = robot.links[i]
        own, joint = link.inertial, link.joint
        J = np.array(own.inertia)
        six = words([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
        inside = f'<inertial pos="{words(own.centre)}" mass="{own.mass!r}" fullinertia="{six}"/>'
        if joint is None:
            inside += "<freejoint/>"
        elif joint.kind != "fixed":
            acting = f'damping="{joint.damping!r}" stiffness="{joint.stiffness!r}"'
            axis = f'axis="{words(joint.axis)}"' if joint.kind == "hinge" else ""
            inside += f'<joint name="{joint.name}" type="{joint.kind}" pos="{words(joint.at)}" {axis} {acting}/>'
        inside += "".join(body(k) for k, other in enumerate(robot.links) if other.joint and other.joint.parent == i)
        return f'<body name="{link.name}" {placed(joint.pose if joint else Pose())}>{inside}</body>'

    compiler = '<compiler angle="radian" autolimits="true"/><option gravity="0 0 0"/>'
    return f'<mujoco model="random">{compiler}<worldbody>{body(0)}</worldbody></mujoco>'
