"""Reading a robot: a URDF of a chain of 30 links with shapes, dry.

python -m benchmarks.robots
"""

import tempfile
import time
from pathlib import Path

import naiad as nd
from benchmarks.compare import table

LINKS, ROUNDS, GOAL_MS = 30, 20, 50.0
LINK = """
<link name="link{i}">
  <inertial><origin xyz="0 0 0.01" rpy="0 0.1 0"/><mass value="1.2"/>
    <inertia ixx="0.01" iyy="0.012" izz="0.008" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><box size="0.3 {width} 0.1"/></geometry></visual>
  <collision><origin xyz="0 0 0.1" rpy="0 0.3 0"/>
    <geometry><cylinder radius="{radius}" length="0.3"/></geometry></collision>
</link>"""
JOINT = """
<joint name="joint{i}" type="revolute"><parent link="link{before}"/><child link="link{i}"/>
  <origin xyz="0.35 0 0" rpy="0 0 0.1"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="10" velocity="2"/>
  <dynamics damping="0.1"/></joint>"""


def chain(count: int, different: bool) -> str:
    """The text of the file."""
    radii = [0.05 + 0.001 * i * different for i in range(count)]
    links = [LINK.format(i=i, width=2.0 * r, radius=r) for i, r in enumerate(radii)]
    joints = [JOINT.format(i=i, before=i - 1) for i in range(1, count)]
    return f'<robot name="chain">{"".join(links + joints)}</robot>'


def report() -> str:
    """CPU milliseconds, the least of some rounds."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for different, name in ((False, "one shape"), (True, "all shapes different")):
            file = Path(folder) / f"{different}.urdf"
            file.write_text(chain(LINKS, different))
            nd.trees.read_urdf(file)
            times = []
            for _ in range(ROUNDS):
                start = time.process_time()
                nd.trees.read_urdf(file)
                times.append(1e3 * (time.process_time() - start))
            goal = f"{GOAL_MS:g}: {'met' if min(times) <= GOAL_MS else 'missed'}"
            rows.append([f"{LINKS} links, {name}", min(times), goal])
    return table(["", "ms of CPU", "goal"], rows)


if __name__ == "__main__":
    print(report())
