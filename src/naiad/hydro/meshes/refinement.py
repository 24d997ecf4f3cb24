"""Finer triangles for the same body: cut to a shape and size that a flow can be solved on, and graded to its edges."""

import numpy as np

from naiad.hydro.meshes.surface import Surface

FIRST = 300
"""Triangles of equal sides that would cover the body: what is much larger than these is cut."""

LONG = 2.0
"""Times their side: an edge that is longer is cut."""

SLENDER = 12.0
"""Longest side over height of a triangle that is cut even if it is smaller."""

FLAT = 1e-9
"""Triangles in one plane, to this angle, may share their area in another way."""


def cut(surface: Surface) -> Surface:
    """The same surface with triangles that are neither large nor slender, as far as can be. What lies inside a plane is
    cut only where its rim is not: there the triangles can share their area in another way afterwards."""
    side = np.sqrt(4.0 * surface.areas.sum() / (np.sqrt(3.0) * FIRST))
    while True:
        surface = flipped(surface)
        ends, sides = surface.edges
        length = np.linalg.norm(np.diff(surface.vertices[ends], axis=1)[:, 0], axis=1)
        longest = np.zeros(len(surface.triangles))
        np.maximum.at(longest, sides, length[:, None])
        slender = longest**2 / (2.0 * surface.areas) > SLENDER
        chosen = length > LONG * side
        chosen |= (length > side) & np.any(slender[sides] & (length[:, None] > 0.99 * longest[sides]), axis=1)
        if not chosen.any():
            return surface
        flat = _flat(surface)
        rim = np.zeros(len(surface.triangles), dtype=bool)
        rim[sides[chosen & ~flat]] = True
        surface = split(surface, chosen & ~(flat & rim[sides].any(axis=1)), np.full(len(ends), 0.5))


def _flat(surface: Surface) -> np.ndarray:
    """Which edges lie inside a plane."""
    t, s = surface.normals[surface.edges[1]].swapaxes(0, 1)
    return (np.linalg.norm(np.cross(t, s), axis=1) < FLAT) & (np.einsum("ei,ei->e", t, s) > 0.0)


def refine(surface: Surface, chosen: np.ndarray) -> Surface:
    """The chosen edges cut in two: in the middle, or if they lead to a sharp edge at a quarter from there."""
    ends, _ = surface.edges
    rim = np.zeros(len(surface.vertices), dtype=bool)
    rim[ends[surface.sharp]] = True
    first, second = rim[ends].T
    share = np.where(first == second, 0.5, np.where(first, 0.25, 0.75))
    return split(surface, chosen, share)


def split(surface: Surface, chosen: np.ndarray, share: np.ndarray) -> Surface:
    """The chosen edges cut at this share of their way, and the triangles beside them."""
    ends, sides = surface.edges
    start, end = surface.vertices[ends[chosen]].swapaxes(0, 1)
    new = start + share[chosen, None] * (end - start)
    number = np.full(len(ends), -1)
    number[chosen] = len(surface.vertices) + np.arange(len(new))
    vertices = np.concatenate([surface.vertices, new])
    middle = np.full((len(surface.triangles), 3), -1)  # on the side from corner k to the next
    for way in range(2):
        of = sides[:, way]
        corner = np.argmax(surface.triangles[of] == ends[:, way, None], axis=1)
        middle[of, corner] = number
    cuts = np.sum(middle >= 0, axis=1)
    parts, origins = [surface.triangles[cuts == 0]], [surface.origin[cuts == 0]]
    for count, pieces in ((1, _in_two), (2, _in_three), (3, _in_four)):
        these = cuts == count
        parts += pieces(vertices, surface.triangles[these], middle[these])
        origins += [surface.origin[these]] * (count + 1)
    return Surface(vertices, np.concatenate(parts), np.concatenate(origins))


def _turned(triangles: np.ndarray, middle: np.ndarray, by: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners and middles beginning with the corner `by`."""
    order = (by[:, None] + np.arange(3)) % 3
    return np.take_along_axis(triangles, order, axis=1), np.take_along_axis(middle, order, axis=1)


def _in_two(vertices: np.ndarray, triangles: np.ndarray, middle: np.ndarray) -> list[np.ndarray]:
    t, m = _turned(triangles, middle, np.argmax(middle >= 0, axis=1))
    a, b, c, ab = *t.T, m[:, 0]
    return [np.stack([a, ab, c], axis=1), np.stack([ab, b, c], axis=1)]


def _in_three(vertices: np.ndarray, triangles: np.ndarray, middle: np.ndarray) -> list[np.ndarray]:
    """The corner between both cuts, and the rest along its shorter diagonal."""
    t, m = _turned(triangles, middle, (np.argmax(middle < 0, axis=1) + 2) % 3)  # that side follows the first
    a, b, c = t.T
    ab, ca = m[:, 0], m[:, 2]
    to_c, to_b = (np.linalg.norm(vertices[p] - vertices[q], axis=1) for p, q in ((ab, c), (ca, b)))
    first = to_c < (1.0 - FLAT) * to_b
    return [
        np.stack([a, ab, ca], axis=1),
        np.stack([ab, b, np.where(first, c, ca)], axis=1),
        np.stack([np.where(first, ab, b), c, ca], axis=1),
    ]


def _in_four(vertices: np.ndarray, triangles: np.ndarray, middle: np.ndarray) -> list[np.ndarray]:
    a, b, c = triangles.T
    ab, bc, ca = middle.T
    return [np.stack(piece, axis=1) for piece in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]


def flipped(surface: Surface) -> Surface:
    """Edges inside a plane exchanged for the other diagonal where that has the larger angles, until none is left."""
    for _ in range(100):
        triangles = surface.triangles
        ends, sides = surface.edges
        t, s = sides.T
        over, under = (triangles[of][_opposite(triangles[of], ends)] for of in (t, s))
        a, b, p, q = (surface.vertices[each] for each in (ends[:, 0], ends[:, 1], over, under))
        worse = _flat(surface) & (_angle(a, p, b) + _angle(a, q, b) > np.pi * (1.0 + 1e-9))
        taken = np.zeros(len(triangles), dtype=bool)
        chosen = []
        for edge in np.flatnonzero(worse):
            if not (taken[t[edge]] or taken[s[edge]]):
                taken[t[edge]] = taken[s[edge]] = True
                chosen.append(edge)
        if not chosen:
            return surface
        one, other, p, q = ends[chosen, 0], ends[chosen, 1], over[chosen], under[chosen]
        triangles = triangles.copy()
        triangles[t[chosen]] = np.stack([one, q, p], axis=1)
        triangles[s[chosen]] = np.stack([q, other, p], axis=1)
        surface = Surface(surface.vertices, triangles, surface.origin)
    return surface


def _opposite(triangles: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Which corner is no end of the edge, as a mask."""
    return (triangles != ends[:, :1]) & (triangles != ends[:, 1:])


def _angle(a: np.ndarray, p: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The angle at p between a and b."""
    u, v = a - p, b - p
    return np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.einsum("ei,ei->e", u, v))
