"""The added inertia of a mesh: an ellipsoid of 1,280 and of 5,120 triangles, checked, solved and judged.

python -m benchmarks.meshes
"""

import os
import subprocess
import sys
import time

from benchmarks.compare import table
from naiad import hydro
from naiad.compiler.backends.llvm.machine import processor
from tests.hydro import surfaces

AXES, ROUNDS = (2.0, 1.0, 0.5), 3
GOALS = {3: 1.0, 4: 4.0}
"""Seconds, by how often the twenty triangles of an icosahedron are cut in four."""


def report() -> str:
    """The table of README.md, from a process that keeps nothing of what was solved before."""
    command = [sys.executable, "-m", "benchmarks.meshes", "here"]
    fresh = {**os.environ, "NAIAD_CACHE_DIR": ""}
    return subprocess.run(command, env=fresh, check=True, capture_output=True, text=True).stdout.rstrip()


def here() -> str:
    """The least of some rounds in this process: seconds that pass, and of CPU, all threads together."""
    hydro.Mesh(*surfaces.ellipsoid(2, *AXES)).solution  # noqa: B018 - compiles
    rows = []
    for level, goal in GOALS.items():
        hull, times = surfaces.ellipsoid(level, *AXES), []
        for _ in range(ROUNDS):
            start = time.perf_counter(), time.process_time()
            hydro.Mesh(*hull).added_inertia(1.0)
            times.append((time.perf_counter() - start[0], time.process_time() - start[1]))
        wall, cpu = map(min, zip(*times, strict=True))
        said = f"{goal:g} s: {'met' if wall <= goal else 'missed'}"
        rows.append([f"{len(hull[1]):,} triangles", f"{wall:.2g}", f"{cpu:.2g}", said])
    return f"{processor().name}\n\n" + table(["", "wall, s", "CPU, s", "goal"], rows)


if __name__ == "__main__":
    print(here() if sys.argv[1:] == ["here"] else report())
