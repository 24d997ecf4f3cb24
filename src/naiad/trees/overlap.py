"""Do two ellipsoids, or two solids with facets, overlap?"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from naiad.hydro.facets import Facets, ellipsoid_facets
from naiad.hydro.meshes.soundness import winding
from naiad.hydro.meshes.surface import Surface
from naiad.models.solid_shape import Solid

FEW = 200
"""Facets of an ellipsoid beside a mesh."""
WITHIN = 0.75
"""Of a turn of the surface about a point: 1 inside, a half on a face."""
HALVINGS = 60  # of the interval in which the maximum lies: down to the spacing of numbers


def contact(axes_a: ArrayLike, R_a: ArrayLike, axes_b: ArrayLike, R_b: ArrayLike, apart: ArrayLike) -> float:
    """The contact function of two ellipsoids whose centres are `apart`: below 1 they overlap, at 1 they touch.

    max over 0 < s < 1 of s (1 - s) r . ((1 - s) A + s B)^-1 r, with A = R_a diag(a^2) R_a^T and so B [perram1985]. In
    the frame in which A is the identity and B has the diagonal d, that is the maximum of the concave sum of
    u_i^2 s (1 - s) / (1 - s + s d_i), where the sum of u_i^2 ((1 - s)^2 - s^2 d_i) / (1 - s + s d_i)^2 changes sign.
    """
    halves = [np.asarray(R) * np.asarray(axes, float) for axes, R in ((axes_a, R_a), (axes_b, R_b))]
    V, d, _ = np.linalg.svd(np.linalg.solve(halves[0], halves[1]))
    u = V.T @ np.linalg.solve(halves[0], np.asarray(apart, float))
    terms = list(zip((u**2).tolist(), (d**2).tolist(), strict=True))
    low, high, s = 0.0, 1.0, 0.5
    for _ in range(HALVINGS):
        rises = sum(u2 * ((1.0 - s) ** 2 - s**2 * d) / (1.0 - s + s * d) ** 2 for u2, d in terms) > 0.0
        low, high = (s, high) if rises else (low, s)
        s = 0.5 * (low + high)
    return sum(u2 * s * (1.0 - s) / (1.0 - s + s * d) for u2, d in terms)


def overlapping(axes: np.ndarray, R: np.ndarray, centres: np.ndarray) -> list[tuple[int, int]]:
    """The pairs of ellipsoids that overlap."""
    reach = axes.max(1)
    distance = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    near = np.argwhere(np.triu(distance < reach[:, None] + reach[None], 1))
    return [
        (int(i), int(j)) for i, j in near if contact(axes[i], R[i], axes[j], R[j], centres[j] - centres[i]) < 1.0 - 1e-9
    ]


def overlapping_solids(solids: Sequence[Solid | None], R: np.ndarray, places: np.ndarray) -> list[tuple[int, int]]:
    """The pairs of solids that overlap, their middles at these places: ellipsoids by `contact`, those with facets if a
    corner of one, or the middle of an edge or a triangle, lies inside the other. None is not there."""
    known = [(i, solid) for i, solid in enumerate(solids) if solid is not None]
    reach = {i: float(np.max(np.linalg.norm(_facets(solid).vertices, axis=1))) for i, solid in known}
    found = []
    for k, (i, one) in enumerate(known):
        for j, other in known[k + 1 :]:
            r = places[j] - places[i]
            if np.linalg.norm(r) >= reach[i] + reach[j]:
                continue
            if one.facets is None and other.facets is None:
                (a, A), (b, B) = (_principal(solid, R[n]) for n, solid in ((i, one), (j, other)))
                touches = contact(a, A, b, B, r) < 1.0 - 1e-9
            else:
                there = R[i].T @ R[j]
                touches = _pierces(one, other, there, R[i].T @ r) or _pierces(other, one, there.T, -R[j].T @ r)
            if touches:
                found.append((i, j))
    return found


def _facets(solid: Solid) -> Facets:
    return ellipsoid_facets(np.asarray(solid.axes), np.zeros(3), FEW) if solid.facets is None else solid.facets


def _principal(solid: Solid, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The semi-axes, and their directions in columns."""
    rows = np.asarray(solid.axes)
    lengths = np.linalg.norm(rows, axis=1)
    return lengths, R @ (rows / lengths[:, None]).T


def _pierces(one: Solid, other: Solid, R: np.ndarray, r: np.ndarray) -> bool:
    """Whether points of the surface of the other, which lies at r, turned by R, are inside the first."""
    facets = _facets(other)
    corners = np.array(facets.vertices)[np.array(facets.triangles)]
    points = np.concatenate([corners, 0.5 * (corners + np.roll(corners, 1, axis=1)), corners.mean(1, keepdims=True)], 1)
    seen = np.unique(points.reshape(-1, 3) @ R.T + r, axis=0)
    if one.facets is None:
        lengths, axes = _principal(one, np.eye(3))
        return bool(np.any(np.sum((seen @ axes / lengths) ** 2, axis=1) < 1.0 - 1e-9))
    vertices = np.array(one.facets.vertices)
    near = seen[np.all((seen > vertices.min(0)) & (seen < vertices.max(0)), axis=1)]
    surface = Surface.given(vertices, np.array(one.facets.triangles))
    return bool(len(near)) and bool(np.max(winding(surface, near)) > WITHIN)
