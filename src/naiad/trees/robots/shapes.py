"""The shapes of links: exact ones where there are, meshes for the rest."""

import functools
from pathlib import Path

import numpy as np

from naiad.hydro import AbstractShape, Assembly, Ellipsoid, Mesh, Sphere
from naiad.hydro.facets import ringed
from naiad.hydro.meshes.surface import Surface
from naiad.trees.robots.robot import Geometry

SECTORS = 32
"""Around a cylinder."""


def shape_of(parts: list[Geometry]) -> AbstractShape:
    """The shape of a body of these parts, one or more."""
    placed = [_alone(part).placed(part.pose.x, np.array(part.pose.R)) for part in parts]
    return placed[0] if len(placed) == 1 else Assembly(*placed)


def _alone(part: Geometry) -> AbstractShape:
    """In its own frame."""
    if part.file is not None:
        return _read(part.file, Path(part.file).stat().st_mtime_ns if Path(part.file).is_file() else 0, part.size)
    if part.mesh is not None:
        return Mesh(np.array(part.mesh.vertices), np.array(part.mesh.triangles))
    return _primitive(part.kind, part.size)


@functools.lru_cache(maxsize=64)
def _read(file: str, changed: int, scale: tuple[float, ...]) -> Mesh:
    """From a file that was last changed then."""
    whole = Mesh.read(file, unit="m")
    vertices, triangles = whole.vertices * scale, whole.triangles
    return Mesh(vertices, triangles if np.prod(scale) > 0 else triangles[:, ::-1])


@functools.lru_cache(maxsize=256)
def _primitive(kind: str, size: tuple[float, ...]) -> AbstractShape:
    if kind == "sphere":
        return Sphere(size[0])
    if kind == "ellipsoid":
        return Ellipsoid(size)
    if kind == "box":
        return Mesh(*box(size))
    if kind == "cylinder":
        radius, half = size[0], 0.5 * size[1]
        return Mesh(*turned([(0.0, -half), (radius, -half), (radius, half), (0.0, half)]))
    return Mesh(*capsule(*size))


def box(sides: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Twelve triangles about the origin."""
    vertices = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * sides
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return vertices, np.array([corners for a, b, c, d in faces for corners in ((a, b, c), (a, c, d))])


def capsule(radius: float, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Along e_3, as much larger than its vertices would be on it as gives the volume."""
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, SECTORS // 2 + 2)
    ends = np.where(angles > 0, 0.5 * length, -0.5 * length)
    target, r = np.pi * radius**2 * (length + 4.0 / 3.0 * radius), radius
    while True:
        vertices, triangles = turned(list(zip(r * np.cos(angles), r * np.sin(angles) + ends, strict=True)))
        volume = Surface.given(vertices, triangles).volume
        if abs(volume - target) < 1e-12 * target:
            return vertices, triangles
        r *= (target / volume) ** (1.0 / 3.0)  # the volume grows faster than r^2, slower than r^3


def turned(profile: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """The surface of a body of revolution about e_3, from its profile (radius, height), whose ends are on the axis."""
    angle = 2.0 * np.pi * np.arange(SECTORS) / SECTORS
    wider = np.sqrt(angle[1] / np.sin(angle[1]))  # the polygon has the area of the circle
    inner = profile[1:-1]
    rings = [
        np.column_stack([wider * r * np.cos(angle), wider * r * np.sin(angle), np.full(SECTORS, z)]) for r, z in inner
    ]
    return ringed(rings, (0.0, 0.0, profile[0][1]), (0.0, 0.0, profile[-1][1]))
