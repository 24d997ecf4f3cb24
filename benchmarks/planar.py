"""Added inertia of three coupled ellipses, and a period of the fish that they make: time and error.

python -m benchmarks.planar
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.compare import table
from naiad.hydro import Ellipse, PlanarBodies
from naiad.locomotion import FORWARD, gait_torques, link_poses, reconstruct, three_link_fish

SHAPES = {"straight, (0, 0)": (0.0, 0.0), "bent, (1, -0.5)": (1.0, -0.5), "folded, (2, -1.9)": (2.0, -1.9)}
GOAL_MS, GOAL_ERROR = 15.0, 1e-10
GOAL_PERIOD_S, GOAL_PLACE = 2.0, 1e-7
CURVES = [Ellipse(10.0, 1.0)] * 3


def milliseconds(call: Callable[[], Any], rounds: int = 25) -> float:
    """The least CPU time of some rounds."""
    call()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def report() -> str:
    """The table of README.md, from a process whose linear algebra has one thread."""
    one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.planar", "here"]
    return subprocess.run(command, env=one_thread, check=True, capture_output=True, text=True).stdout.rstrip()


def rows() -> list[list[str]]:
    """One row for each method and shape."""
    found = []
    exact_bodies = PlanarBodies(CURVES, 1 / np.pi, points=320, coupling=320)
    choices = {
        "Nystrom, as many nodes as needed": PlanarBodies(CURVES, 1 / np.pi),
        "Nystrom, 192 nodes": PlanarBodies(CURVES, 1 / np.pi, coupling=192),
        "50 panels": PlanarBodies(CURVES, 1 / np.pi, boundary="panels"),
    }
    for name, bodies in choices.items():
        for shape, theta in SHAPES.items():
            poses = link_poses(three_link_fish(), theta)
            exact = exact_bodies.added_inertia(poses)
            error = np.max(np.abs(bodies.added_inertia(poses) - exact)) / np.max(exact)
            one = milliseconds(lambda bodies=bodies, poses=poses: bodies.added_inertia(poses))
            both = milliseconds(lambda bodies=bodies, poses=poses: bodies.added_inertia_with_derivative(poses))
            met = f"{GOAL_MS:g}: {'met' if one <= GOAL_MS and error <= GOAL_ERROR else 'missed'}"
            goal = met if name.startswith("Nystrom") else ""
            found.append([f"{name}, {shape}", f"{one:.2g}", f"{both:.2g}", f"{error:.1g}", goal])
    return found


def period_rows() -> list[list[str]]:
    """A period of the coupled forward gait in several numbers of steps, and the torques and their work along it."""
    fish, period = three_link_fish(coupled=True), [0.0, 2.0 * np.pi]

    def end(steps: int) -> np.ndarray:
        return reconstruct(fish, FORWARD, period, steps=steps).g.x[-1]

    exact, found = end(256), []
    for steps in (48, 96):
        error = np.linalg.norm(end(steps) - exact) / np.linalg.norm(exact)
        seconds = 1e-3 * milliseconds(lambda steps=steps: end(steps), rounds=5)
        met = f"{GOAL_PERIOD_S:g}: {'met' if seconds <= GOAL_PERIOD_S and error <= GOAL_PLACE else 'missed'}"
        found.append([f"net motion, {steps} steps", f"{seconds:.2g}", f"{error:.1g}", met])
    times = np.linspace(0.0, np.pi, 3)
    work = gait_torques(fish, FORWARD, times)
    error = np.max(np.abs(work.work - (work.kinetic_energy - work.kinetic_energy[0])))
    seconds = 1e-3 * milliseconds(lambda: gait_torques(fish, FORWARD, period), rounds=5)
    return [*found, ["torques and their work", f"{seconds:.2g}", f"{error / work.kinetic_energy[0]:.1g}", ""]]


if __name__ == "__main__":
    if sys.argv[1:] == ["here"]:
        print(table(["", "a matrix, ms", "with all derivatives, ms", "error", "goal"], rows()))
        print("\nA period of the coupled forward gait\n")
        print(table(["", "s", "error", "goal"], period_rows()))
    else:
        print(report())
