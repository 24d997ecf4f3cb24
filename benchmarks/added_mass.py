"""The added mass of hulls beside Capytaine: no free surface, deep water, the same triangles for both.

python -m benchmarks.added_mass                # needs capytaine, which no extra brings: it wants pandas below 3
"""

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.compare import table
from naiad import hydro
from naiad.compiler.backends.llvm.machine import processor
from tests.hydro import surfaces

AXES = (2.0, 1.0, 0.5)
ROUNDS = 2
LEVELS = (1, 2)
"""Each has four times the triangles of the one before."""
Hull = tuple[np.ndarray, np.ndarray]


def hulls() -> dict[str, tuple[Callable[[int], Hull], np.ndarray | None]]:
    """Triangles of a level, and the inertia where it is known: in closed form, or of the cube to ten digits."""
    return {
        "ellipsoid 2, 1, ½": (
            lambda level: surfaces.ellipsoid(level + 1, *AXES),
            hydro.Ellipsoid(AXES).added_inertia(1.0),
        ),
        "cube": (_cube, np.diag([0.0392614899] * 3 + [0.638415713] * 3)),
        "cylinder with round ends": (lambda level: _sections(level, _capped), None),
        "vehicle: Myring's hull with a sail": (lambda level: _sections(level, _vehicle), None),
    }


def _cube(level: int) -> Hull:
    """The unit cube, whose facets are exact."""
    n = 4 * 2**level
    u, w = np.meshgrid(np.linspace(-0.5, 0.5, n + 1), np.linspace(-0.5, 0.5, n + 1), indexing="ij")
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    a, b, c, d = ((i + p) * (n + 1) + j + q for p, q in ((0, 0), (1, 0), (1, 1), (0, 1)))
    face = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    vertices, triangles = [], []
    for axis in range(3):
        for end in (-0.5, 0.5):
            triangles.append((face if end > 0.0 else face[:, ::-1]) + (n + 1) ** 2 * len(vertices))
            vertices.append(np.roll(np.stack([np.full(u.size, end), u.ravel(), w.ravel()], axis=1), axis, axis=1))
    every, place = np.unique(np.concatenate(vertices), axis=0, return_inverse=True)
    return every, place.ravel()[np.concatenate(triangles)]


def _capped(s: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and the radius of a cylinder of radius ½ and length 2 between hemispheres, by the share s of the arc."""
    quarter, half = 0.25 * np.pi, 1.0
    along = (2.0 * s - 1.0) * (half + quarter)
    turn = np.clip(2.0 * (np.abs(along) - half), 0.0, 0.5 * np.pi)
    x = np.sign(along) * (np.minimum(np.abs(along), half) + 0.5 * np.sin(turn))
    return x, 0.5 * np.cos(turn)


def _vehicle(s: np.ndarray, angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nose, middle and tail [myring1976] of a small survey vehicle of 0.19 m diameter, with a smooth sail on its back;
    points are denser at both ends, where the hull is blunt."""
    nose, middle, tail, diameter, cone = 0.191, 0.654, 0.541, 0.191, 0.436
    x = (nose + middle + tail) * 0.5 * (1.0 - np.cos(np.pi * s))
    front = np.sqrt(np.maximum(1.0 - ((nose - np.minimum(x, nose)) / nose) ** 2, 0.0))
    back = np.maximum(x - nose - middle, 0.0)
    bend = 1.5 * diameter / tail**2 - np.tan(cone) / tail
    cubic = diameter / tail**3 - np.tan(cone) / tail**2
    radius = 0.5 * diameter * front - bend * back**2 + cubic * back**3
    sail = 0.6 * np.exp(-(((x - 0.45) / 0.1) ** 2)) * np.exp(4.0 * (np.sin(angle) - 1.0))
    return x, np.maximum(radius, 0.0) * (1.0 + sail)


def _sections(level: int, profile: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]) -> Hull:
    """Triangles between sections, closed by a vertex at either end."""
    rings, sectors = 10 * 2**level, 8 * 2**level
    s, angle = np.meshgrid(np.arange(1, rings) / rings, 2.0 * np.pi * np.arange(sectors) / sectors, indexing="ij")
    x, r = profile(s, angle)
    ends = [[float(profile(np.array(end), np.zeros(()))[0]), 0.0, 0.0] for end in (0.0, 1.0)]
    vertices = np.concatenate([np.stack([x, r * np.cos(angle), r * np.sin(angle)], axis=-1).reshape(-1, 3), ends])
    i, j = np.meshgrid(np.arange(rings - 2), np.arange(sectors), indexing="ij")
    a, b, c, d = ((i + p) * sectors + (j + q) % sectors for p, q in ((0, 0), (0, 1), (1, 1), (1, 0)))
    sides = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    k, first, last = np.arange(sectors), len(vertices) - 2, len(vertices) - 1
    beside, end = np.roll(k, -1), (rings - 2) * sectors
    caps = [
        np.stack([beside, k, np.full(sectors, first)], axis=1),
        np.stack([end + k, end + beside, np.full(sectors, last)], axis=1),
    ]
    return vertices, np.concatenate([sides, *caps])


def by_naiad(hull: Hull) -> np.ndarray:
    """The inertia on these triangles as they are."""
    return hydro.Mesh(*hull, tolerance=0.5).added_inertia(1.0)


def by_capytaine(hull: Hull, method: str) -> np.ndarray:
    """The same by constant sources on the triangles (`indirect`), or by constant potentials (`direct`)."""
    import capytaine as cpt

    cpt.set_logging("ERROR")
    mesh = cpt.Mesh(hull[0], hull[1].tolist(), auto_check=False)
    body = cpt.FloatingBody(mesh, dofs=cpt.rigid_body_dofs(rotation_center=(0.0, 0.0, 0.0)))
    problems = [
        cpt.RadiationProblem(body=body, radiating_dof=dof, free_surface=np.inf, omega=np.inf, rho=1.0)
        for dof in body.dofs
    ]
    solver = cpt.BEMSolver(method=method)
    rows = [list(solver.solve(problem).added_mass.values()) for problem in problems]
    return hydro.angular_first(np.array(rows))


WAYS: dict[str, Callable[[Hull], np.ndarray]] = {
    "naiad": by_naiad,
    "Capytaine, indirect": lambda hull: by_capytaine(hull, "indirect"),
    "Capytaine, direct": lambda hull: by_capytaine(hull, "direct"),
}


def apart(M: np.ndarray, reference: np.ndarray, volume: float) -> float:
    """The largest energy of a unit motion that M errs by, relative, turns measured at the cube root of the volume."""
    scale = np.repeat([volume ** (-1.0 / 3.0), 1.0], 3)
    both = [np.linalg.norm(scale[:, None] * K * scale, 2) for K in (M - reference, reference)]
    return float(both[0] / both[1])


def seconds(call: Callable[[], Any]) -> tuple[float, np.ndarray]:
    """The least CPU time of some rounds, and what was found."""
    times, found = [], np.zeros(0)
    for _ in range(ROUNDS):
        start = time.process_time()
        found = call()
        times.append(time.process_time() - start)
    return min(times), found


def rows() -> list[list[str]]:
    """For each hull and level time and error of all ways. Where it is not known the reference is what both levels of
    naiad tend to, with the square of the triangles' size; how far that of Capytaine (direct) is from it is told."""
    for way in WAYS.values():
        way(surfaces.ellipsoid(1, *AXES))  # compiles, and tabulates the Green function
    lines = []
    for name, (make, exact) in hulls().items():
        meshes = [make(level) for level in LEVELS]
        found = {way: [seconds(lambda f=f, hull=hull: f(hull)) for hull in meshes] for way, f in WAYS.items()}
        limit = {way: (4.0 * fine - coarse) / 3.0 for way, ((_, coarse), (_, fine)) in found.items()}
        volume = hydro.Mesh(*meshes[-1]).volume
        reference = limit["naiad"] if exact is None else exact
        sure = "known" if exact is not None else f"to {apart(limit['Capytaine, direct'], reference, volume):.1g}"
        for k, hull in enumerate(meshes):
            cells = [f"{each[k][0]:.2f} s, {apart(each[k][1], reference, volume):.1e}" for each in found.values()]
            lines.append([name, str(len(hull[1])), *cells, sure])
    return lines


def report() -> str:
    """The table of README.md, from a process of one thread that keeps nothing of what was solved before."""
    if importlib.util.find_spec("capytaine") is None:
        return "Capytaine is not installed; no extra brings it, since it wants pandas below 3."
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "NAIAD_CACHE_DIR": ""}
    command = [sys.executable, "-m", "benchmarks.added_mass", "here"]
    return subprocess.run(command, env=alone, check=True, capture_output=True, text=True).stdout.rstrip()


def here() -> str:
    """The table, timed in this process."""
    said = f"{processor().name}, Capytaine {version('capytaine')}: CPU seconds of one thread, relative error."
    return said + "\n\n" + table(["hull", "triangles", *WAYS, "reference"], rows())


if __name__ == "__main__":
    print(here() if sys.argv[1:] == ["here"] else report())
