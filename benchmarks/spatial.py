"""Bodies coupled in space: the added inertia of two meshes with its derivative, and a step of three ellipsoids.

python -m benchmarks.spatial
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import naiad as nd
from benchmarks.compare import table
from naiad import hydro
from tests.hydro import surfaces

GOAL_MESHES_S, GOAL_STEP_MS = 1.0, 50.0
STEPS, STEP = 40, 0.05
AXES = (2.0, 1.0, 0.5)
PLACES = [(0.0, 0.0, 0.0), (0.0, 2.5, 0.0), (0.0, 0.0, 1.8)]


def seconds(call: Callable[[], Any], rounds: int = 5) -> float:
    """The least CPU time of some rounds."""
    call()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def report() -> str:
    """The tables of README.md, from a process whose linear algebra has one thread."""
    one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.spatial", "here"]
    return subprocess.run(command, env=one_thread, check=True, capture_output=True, text=True).stdout.rstrip()


def inertia_rows() -> list[list[str]]:
    """M alone, and M with dM, of bodies in pairs and threes."""
    meshes = {
        count: hydro.Mesh(*surfaces.ellipsoid(level, 1.0, 0.8, 0.6), tolerance=0.05)
        for level, count in ((2, 320), (3, 1280))
    }
    cases: dict[str, tuple[hydro.SpatialBodies, Any]] = {
        f"two meshes of {count} triangles": (hydro.SpatialBodies([mesh, mesh]), PLACES[:2])
        for count, mesh in meshes.items()
    }
    for degree in (6, 8, 12):
        cases[f"three ellipsoids, degree {degree}"] = (
            hydro.SpatialBodies([hydro.Ellipsoid(AXES)] * 3, degree=degree),
            PLACES,
        )
    rows = []
    for name, (bodies, places) in cases.items():
        one = seconds(lambda bodies=bodies, places=places: bodies.added_inertia(places))
        both = seconds(lambda bodies=bodies, places=places: bodies.added_inertia_with_derivative(places))
        goal = f"{GOAL_MESHES_S:g} s: {'met' if both <= GOAL_MESHES_S else 'missed'}" if "1280" in name else ""
        rows.append([name, f"{1e3 * one:.3g}", f"{1e3 * both:.3g}", goal])
    return rows


def step_rows() -> list[list[str]]:
    """Steps of three ellipsoids, compiled."""
    rows = []
    for degree, points in ((6, 7), (6, 8)):
        bodies = nd.models.SubmergedBodies.from_shapes([hydro.Ellipsoid(AXES)] * 3, 1.0, degree=degree, points=points)
        v, Omega = (
            [(0.5, 0.0, 0.0), (-0.4, 0.1, 0.0), (0.0, 0.1, 0.1)],
            [(0.1, 0.2, 0.3), (0.0, 0.1, 0.0), (0.1, 0.0, 0.0)],
        )
        state = bodies.state(x=PLACES, v=v, Omega=Omega)

        def steps(count: int, bodies: Any = bodies, state: Any = state) -> Any:
            return nd.simulate(bodies, state, t1=count * STEP, dt=STEP, save_every=count)

        took = seconds(lambda steps=steps: steps(STEPS), 3) - seconds(lambda steps=steps: steps(1), 3)
        run = steps(STEPS)
        each = 1e3 * took / (STEPS - 1)
        goal = f"{GOAL_STEP_MS:g} ms: {'met' if each <= GOAL_STEP_MS else 'missed'}"
        kept = float(nd.diagnostics.momentum_error(run).max())
        iterations = run.statistics["newton_iterations_mean"]
        rows.append([f"degree {degree}, {points} points", f"{each:.3g}", f"{iterations:.3g}", f"{kept:.1g}", goal])
    return rows


def here() -> str:
    """The tables, timed in this process."""
    inertias = table(["", "M, ms of CPU", "M and dM", "goal"], inertia_rows())
    return (
        inertias
        + "\n\n"
        + table(["three ellipsoids", "a step, ms of CPU", "iterations", "momentum error", "goal"], step_rows())
    )


if __name__ == "__main__":
    print(here() if sys.argv[1:] == ["here"] else report())
