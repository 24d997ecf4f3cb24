"""Fewer triangles for nearly the same body, of the same volume."""

from typing import NamedTuple

import numpy as np

from naiad.errors import InputError
from naiad.hydro.meshes.surface import Surface

CHEAPEST = 0.3
"""The share of the edges that may go in one round."""

TURN = 0.3
"""The cosine of the angle that the normal of a triangle may turn by in a round."""

ROUNDS = 10
"""In which edges are looked for that have nothing in common."""

LEAST = 20
"""Triangles of a piece that are left as they are."""

STIFF = 1e-6
"""What holds a new vertex to the middle of its edge where the planes around leave it free, relative to these."""


class Quadrics(NamedTuple):
    """At each vertex, the sum over planes of area times squared distance, x . A x - 2 b . x + c."""

    A: np.ndarray
    b: np.ndarray
    c: np.ndarray


def simplified(surface: Surface, most: int) -> Surface:
    """A surface with `most` triangles or fewer, of the same volume.

    Edges are drawn together to one vertex, those first for which it can lie nearest to the planes of the triangles that
    were there [garland1997], at a place that changes no volume [lindstrom1998]; many at once, whose triangles have no
    vertex in common.
    """
    if most < LEAST:
        raise InputError(f"simplify = {most!r}; expected {LEAST} triangles or more.")
    at, size = surface.vertices.mean(axis=0), float(np.ptp(surface.vertices, axis=0).max())
    surface = Surface.given((surface.vertices - at) / size, surface.triangles)
    planes = _quadrics(surface)
    while len(surface.triangles) > most:
        chosen, places = _cheapest(surface, planes, (len(surface.triangles) - most + 1) // 2)
        if not len(chosen):
            raise InputError(
                f"The mesh cannot be simplified to {most} triangles without folds, only to {len(surface.triangles)}; "
                "give a larger number."
            )
        surface, planes = _collapsed(surface, planes, chosen, places)
    return Surface.given(at + size * surface.vertices, surface.triangles)


def _quadrics(surface: Surface) -> Quadrics:
    n, area = surface.normals, surface.areas
    level = np.einsum("ti,ti->t", n, surface.corners[:, 0])
    count = len(surface.vertices)
    found = Quadrics(np.zeros((count, 3, 3)), np.zeros((count, 3)), np.zeros(count))
    for corner in surface.triangles.T:
        np.add.at(found.A, corner, area[:, None, None] * n[:, :, None] * n[:, None])
        np.add.at(found.b, corner, (area * level)[:, None] * n)
        np.add.at(found.c, corner, area * level**2)
    return found


def _cheapest(surface: Surface, planes: Quadrics, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges that go, whose triangles have no vertex in common, and the places of what they become."""
    import scipy.sparse

    x, (ends, _) = surface.vertices, surface.edges
    places, cost = _places(surface, planes)
    count = len(x)
    links = scipy.sparse.coo_matrix((np.ones(len(ends), dtype=np.int32), ends.T), (count, count)).tocsr()
    links = links + links.T
    common = np.asarray((links @ links)[ends[:, 0], ends[:, 1]]).ravel()
    piece = surface.pieces.indices
    large = np.bincount(piece[surface.triangles[:, 0]], minlength=piece.max() + 1) > LEAST
    possible = np.flatnonzero((common == 2) & large[piece[ends[:, 0]]] & np.isfinite(cost))
    order = possible[np.argsort(cost[possible], kind="stable")][: max(1, int(CHEAPEST * len(ends)))]
    edge, triangle = _around(surface, ends[order])
    folds = np.zeros(len(order), dtype=bool)
    folds[edge[_folded(surface, ends[order][edge], places[order][edge], triangle)]] = True
    taken = order[_apart(~folds, edge, surface.triangles[triangle])[:most]]
    return taken, places[taken]


def _apart(possible: np.ndarray, edge: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Edges, numbered from the cheapest, that have no vertex of their triangles in common; `corners` are those of the
    triangles of `edge`. Each round takes those that are cheaper than all that they have one in common with."""
    taken, blocked = np.zeros(len(possible), dtype=bool), np.zeros(corners.max(initial=0) + 1, dtype=bool)
    for _ in range(ROUNDS):
        left = possible[edge]
        edge, corners = edge[left], corners[left]
        first = np.full(len(blocked), len(possible))
        np.minimum.at(first, corners, edge[:, None])
        now = possible.copy()
        now[edge[(first[corners] != edge[:, None]).any(axis=1)]] = False
        taken |= now
        blocked[corners[now[edge]]] = True
        possible = possible.copy()
        possible[edge[blocked[corners].any(axis=1)]] = False
    return np.flatnonzero(taken)


def _places(surface: Surface, planes: Quadrics) -> tuple[np.ndarray, np.ndarray]:
    """For each edge where its vertex would be, and at what cost: that of its quadric, on the plane of equal volume."""
    x, (ends, sides) = surface.vertices, surface.edges
    a, b, c = surface.corners.swapaxes(0, 1)
    across, volume = np.zeros((len(x), 3)), np.zeros(len(x))
    for corner, following, last in zip(surface.triangles.T, (b, c, a), (c, a, b), strict=True):
        np.add.at(across, corner, np.cross(following, last))
        np.add.at(volume, corner, np.einsum("ti,ti->t", a, np.cross(b, c)))
    u, v = ends.T
    p, q = (surface.triangles[of].sum(axis=1) - u - v for of in sides.T)  # the corners beside the edge
    U, V, P, Q = (x[each] for each in (u, v, p, q))
    g = across[u] + across[v] - np.cross(V, P) - np.cross(Q, V) - np.cross(P, U) - np.cross(U, Q)
    both = np.einsum("ei,ei->e", np.cross(U, V), P - Q)  # beside the edge: counted twice
    A, level, constant = (each[u] + each[v] for each in planes)
    middle, length = 0.5 * (U + V), np.linalg.norm(V - U, axis=1)
    stiff = STIFF * np.trace(A, axis1=1, axis2=2)
    B = A + stiff[:, None, None] * np.eye(3)
    free, along = np.linalg.solve(B, np.stack([level - np.einsum("eij,ej->ei", A, middle), g], axis=2)).transpose(
        2, 0, 1
    )
    missing = volume[u] + volume[v] - both - np.einsum("ei,ei->e", g, middle + free)
    shift = free + (missing / np.einsum("ei,ei->e", g, along))[:, None] * along
    place = middle + shift
    cost = np.einsum("ei,eij,ej->e", place, A, place) - 2.0 * np.einsum("ei,ei->e", level, place) + constant
    cost = np.maximum(cost, 0.0) + stiff * (np.sum(shift**2, axis=1) + 0.25 * length**2)
    return place, np.where(np.linalg.norm(shift, axis=1) < length, cost, np.inf)


def _around(surface: Surface, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of an edge and a triangle that has one of its ends, or both."""
    import scipy.sparse

    rows = np.repeat(np.arange(len(surface.triangles)), 3)
    of_vertex = scipy.sparse.csr_matrix((np.ones(len(rows)), (surface.triangles.ravel(), rows)))
    of_edge = (of_vertex[ends[:, 0]] + of_vertex[ends[:, 1]]).tocoo()
    return of_edge.row, of_edge.col


def _folded(surface: Surface, ends: np.ndarray, place: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    """Which triangles would be turned too far with both ends of an edge at a new place; not those that vanish."""
    corners = surface.triangles[triangle]
    moves = (corners == ends[:, :1]) | (corners == ends[:, 1:])
    y = np.where(moves[:, :, None], place[:, None], surface.vertices[corners])
    normal = np.cross(y[:, 1] - y[:, 0], y[:, 2] - y[:, 0])
    turn = np.einsum("ti,ti->t", normal, surface.normals[triangle])
    return (moves.sum(axis=1) == 1) & ~(turn > TURN * np.linalg.norm(normal, axis=1))


def _collapsed(surface: Surface, planes: Quadrics, chosen: np.ndarray, places: np.ndarray) -> tuple[Surface, Quadrics]:
    kept, gone = surface.edges[0][chosen].T
    vertices, number = surface.vertices.copy(), np.arange(len(surface.vertices))
    vertices[kept] = places
    number[gone] = kept
    for each in planes:
        each[kept] += each[gone]
    triangles = number[surface.triangles]
    left = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
    used, triangles = np.unique(triangles[left], return_inverse=True)
    return Surface.given(vertices[used], triangles.reshape(-1, 3)), Quadrics._make(each[used] for each in planes)
