"""What makes triangles the surface of a body, and what is said of those that are none."""

import functools
from typing import Any, NamedTuple

import numpy as np

from naiad.compiler import compile
from naiad.errors import InputError
from naiad.hydro.meshes import triangle
from naiad.hydro.meshes.surface import Surface

SAME = 1e-9
"""Vertices that are closer than this, relative to the size of the body, are one."""

SLIVER = 1e-3
"""Area over squared radius of a triangle below which it is told."""

CHUNK = 64
"""Triangles whose solid angles are summed in one call."""


class Sound(NamedTuple):
    """A surface that can be computed with, and what was done to get it."""

    surface: Surface
    notes: tuple[str, ...]


def sound(vertices: np.ndarray, triangles: np.ndarray) -> Sound:
    """The surface of one body, or an `InputError` that says which triangles are wrong."""
    surface, notes = closed(vertices, triangles)
    for step in (_outward, _wet):
        surface, said = step(surface)
        notes += said
    radii = np.linalg.norm(surface.corners - surface.centroids[:, None], axis=2).max(axis=1)
    slivers = surface.areas / radii**2 < SLIVER
    if slivers.any():
        notes.append(f"{_count(slivers, 'triangle')} almost without width")
    return Sound(surface, tuple(notes))


def closed(vertices: np.ndarray, triangles: np.ndarray) -> tuple[Surface, list[str]]:
    """The surface with every edge in two triangles that run through it in opposite ways, or an `InputError`."""
    notes = []
    size = float(np.ptp(vertices, axis=0).max())
    vertices, triangles = _merged(vertices, triangles, SAME * size)
    surface = Surface.given(vertices, triangles)
    twice = (triangles == np.roll(triangles, 1, axis=1)).any(axis=1)
    empty = twice | (surface.areas < 1e-14 * size**2)
    if empty.any():
        notes.append(f"{_count(empty, 'triangle')} without area left out")
        surface = Surface.given(vertices, triangles[~empty])
    if not len(surface.triangles):
        raise InputError("The mesh has no triangle with an area; expected the closed surface of a body.")
    _check_edges(surface)
    return surface, notes


def _merged(vertices: np.ndarray, triangles: np.ndarray, distance: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices at one place made one, and those of no triangle left out."""
    from scipy.spatial import KDTree

    pairs = KDTree(vertices).query_pairs(distance, output_type="ndarray")
    if len(pairs):
        import scipy.sparse

        links = scipy.sparse.coo_matrix((np.ones(len(pairs)), pairs.T), (len(vertices),) * 2)
        _, number = scipy.sparse.csgraph.connected_components(links, directed=False)
        _, first = np.unique(number, return_index=True)
        vertices, triangles = vertices[first], number[triangles]
    used, triangles = np.unique(triangles, return_inverse=True)
    return vertices[used], triangles.reshape(-1, 3)


def _check_edges(surface: Surface) -> None:
    """Every edge belongs to two triangles that run through it in opposite ways."""
    ends = surface.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    _, edge, count = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True, return_counts=True)
    beside = count[edge.ravel()]
    of = np.repeat(np.arange(len(surface.triangles)), 3)
    if (beside == 1).any():
        raise InputError(
            f"The mesh is open: {_count(beside == 1, 'edge')} with one triangle only, at {_where(of[beside == 1])}; "
            "expected a closed surface. Fill the holes in the program that made it."
        )
    if (beside > 2).any():
        raise InputError(
            f"The mesh is no surface: {int((count > 2).sum())} edges have more than two triangles, at "
            f"{_where(of[beside > 2])}; join the parts into one solid, or remove faces that lie there twice."
        )
    _, way, count = np.unique(ends, axis=0, return_inverse=True, return_counts=True)
    turned = count[way.ravel()] > 1
    if turned.any():
        raise InputError(
            f"Neighbouring triangles of the mesh face opposite ways, at {_where(of[turned])}; turn them so that all "
            "are counterclockwise seen from outside."
        )


def _outward(surface: Surface) -> tuple[Surface, list[str]]:
    """The triangles counterclockwise from outside: there the solid angle of the whole surface of a body, walls of
    cavities among it, is half the sphere. It is minus that on shells that are inside out."""
    rounds, of = winding(surface, surface.centroids), _shell_of(surface)
    wrong = np.abs(np.abs(rounds) - 0.5) > 0.1
    inward = rounds < 0.0
    shells = np.bincount(of)
    turned = np.bincount(of, inward, len(shells)) == shells
    wrong |= inward & ~turned[of]  # a shell that is neither
    if wrong.any():
        raise InputError(
            f"The mesh passes through itself: {_count(wrong, 'triangle')} inside another part, as {_where(wrong)}; "
            "unite the parts into one solid."
        )
    if not turned.any():
        return surface, []
    triangles = np.where(turned[of][:, None], surface.triangles[:, ::-1], surface.triangles)
    some = "" if turned.all() else f"{int(turned.sum())} of {len(turned)} shells "
    return Surface.given(surface.vertices, triangles), [f"{some}inside out: turned over"]


def _wet(surface: Surface) -> tuple[Surface, list[str]]:
    """Without cavities, and without what is in them."""
    of, notes = _shell_of(surface), []
    v = surface.corners - surface.vertices.mean(axis=0)
    hollow = np.bincount(of, np.einsum("ti,ti->t", v[:, 0], np.cross(v[:, 1], v[:, 2]))) < 0.0
    if hollow.any():
        surface = _part(surface, ~hollow[of])
        notes.append(
            f"{int(hollow.sum())} {'cavity' if hollow.sum() == 1 else 'cavities'} left out: no water gets there"
        )
        of = _shell_of(surface)
        shut = np.bincount(of, winding(surface, surface.centroids) > 1.0) > 0.0 if of.max() else np.zeros(1, dtype=bool)
        if shut.any():
            surface = _part(surface, ~shut[of])
            notes.append(f"{_count(shut, 'shell')} inside of cavities left out")
    pieces = int(_shell_of(surface).max()) + 1
    if pieces > 1:
        notes.append(f"{pieces} separate pieces, which move as one body")
    return surface, notes


def _shell_of(surface: Surface) -> np.ndarray:
    """The number of the connected part of the surface that each triangle belongs to."""
    return surface.pieces.indices[surface.triangles[:, 0]]


def _part(surface: Surface, chosen: np.ndarray) -> Surface:
    return Surface.given(*_merged(surface.vertices, surface.triangles[chosen], 0.0))


def winding(surface: Surface, points: np.ndarray) -> np.ndarray:
    """How often the surface goes round each point: 1 inside, 0 outside, 1/2 on it."""
    total = np.zeros(len(points))
    nothing = np.repeat(surface.corners[:1, :1], 3, axis=1)  # a triangle without area
    corners = np.concatenate([surface.corners, np.repeat(nothing, -len(surface.corners) % CHUNK, axis=0)])
    for first in range(0, len(corners), CHUNK):
        total -= _angle().batch(points, corners[first : first + CHUNK], shared=(1,))
    return total / (4.0 * np.pi)


@functools.cache
def _angle() -> Any:
    return compile(triangle.solid_angle)


def _count(chosen: np.ndarray, thing: str) -> str:
    number = int(np.sum(chosen))
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _where(chosen: np.ndarray) -> str:
    """The first few triangles, by number."""
    numbers = np.unique(np.flatnonzero(chosen) if chosen.dtype == bool else chosen)
    named = ", ".join(map(str, numbers[:5]))
    return f"triangle{'' if len(numbers) == 1 else 's'} {named}{', ...' if len(numbers) > 5 else ''} (counted from 0)"
