"""Prints the tables of README.md as Markdown: all of them, or those named.

python -m benchmarks.compiler [NAME ...]
"""

import importlib
import sys

from benchmarks.compare import cores
from naiad.compiler.backends.llvm.machine import processor

TABLES = {
    "start": ("First simulation in a fresh process", "benchmarks.bench_start"),
    "fixed": ("Fixed costs", "benchmarks.fixed"),
    "steps": ("Steps: compiled and on XLA", "benchmarks.bench_step"),
    "unknowns": ("Steps by the number of unknowns", "benchmarks.unknowns"),
    "flv": ("Fast Lie-Verlet against C", "benchmarks.flv"),
    "kirchhoff": ("The Cayley step by automatic differentiation", "benchmarks.kirchhoff"),
    "connected": ("Three connected ellipsoids", "benchmarks.connected"),
    "tree": ("Chains and trees of bodies", "benchmarks.tree"),
    "string": ("Strings", "benchmarks.string"),
    "elastica": ("A string beside PyElastica", "benchmarks.elastica"),
    "long": ("Long runs", "benchmarks.long_run"),
    "section": ("A Poincare section", "benchmarks.section"),
    "planets": ("The outer solar system", "benchmarks.planets"),
    "planar": ("Added inertia of three coupled ellipses", "benchmarks.planar"),
    "spatial": ("Bodies coupled in space", "benchmarks.spatial"),
    "added": ("Added mass of hulls beside Capytaine", "benchmarks.added_mass"),
    "meshes": ("The added inertia of a mesh", "benchmarks.meshes"),
    "robots": ("Reading a robot", "benchmarks.robots"),
    "gaits": ("Gaits of the three-link fish", "benchmarks.gaits"),
    "gradient": ("The derivative of a run", "benchmarks.gradient"),
    "mujoco": ("A free body beside MuJoCo", "benchmarks.mujoco_body"),
}


def main() -> None:
    """Measure and print."""
    unknown = set(sys.argv[1:]) - set(TABLES)
    if unknown:
        sys.exit(f"no such table: {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    print(f"Processor: {processor().name}, {cores()} cores.\n", flush=True)
    for name in sys.argv[1:] or TABLES:
        title, module = TABLES[name]
        print(f"## {title}\n\n{importlib.import_module(module).report()}\n", flush=True)


if __name__ == "__main__":
    main()
