"""What flat facets leave out of a smooth body: the first change of its inertia with its surface.

Between two vertices with unit normals n a smooth surface rises above the straight edge e by (n_2 - n_1) . e / 8 in the
middle. If the surface moves outwards by g, the inertia of the fluid changes by

    dM_ab = int g (u_a . u_b - u_a . U_b - U_a . u_b) dA,

u being the fluid's velocities at the surface and U the body's: the energy is the maximum over psi of the integral of
2 grad psi . U - |grad psi|^2 over the fluid, of which only the domain changes.
"""

import numpy as np

from naiad.hydro.meshes.surface import SHARP, Surface

SIDES = ((0, 1), (1, 2), (2, 0))
CHUNK = 256


def unfaceted(given: Surface, cut: Surface, psi: np.ndarray) -> np.ndarray:
    """The change of the inertia, for unit density, if the given surface were smooth except at its sharp edges; psi is
    the potential at the vertices of the surface that was cut out of it."""
    v, n = cut.corners, cut.normals
    U = np.concatenate([np.cross(np.eye(3)[None], cut.centroids[:, None]), np.tile(np.eye(3), (len(v), 1, 1))], axis=1)
    opposite = np.roll(v, -2, axis=1) - np.roll(v, -1, axis=1)
    slopes = np.cross(n[:, None], opposite) / (2.0 * cut.areas[:, None, None])
    along = np.einsum("tki,tka->tai", slopes, psi[cut.triangles])
    u = along + np.einsum("tai,ti,tj->taj", U, n, n)
    mixed = np.einsum("tai,tbi->tab", u, U)
    density = np.einsum("tai,tbi->tab", u, u) - mixed - mixed.swapaxes(1, 2)
    return np.einsum("t,tab->ab", cut.areas * rise(given, cut), density)


def rise(given: Surface, cut: Surface) -> np.ndarray:
    """The height of the smooth surface above each triangle of the cut one: the mean of that at its corners and at the
    middles of its sides, as for polynomials of degree 2, within the given triangle that it lies in."""
    normals, of = corner_normals(given), given.corners
    bent = [np.einsum("ti,ti->t", normals[:, j] - normals[:, i], of[:, j] - of[:, i]) for i, j in SIDES]
    height, origin = np.zeros(len(cut.triangles)), located(given, cut)
    for point in (0.5 * (cut.corners[:, i] + cut.corners[:, j]) for i, j in SIDES):
        share = barycentric(given, origin, point)
        share = np.maximum(share, 0.0) / np.maximum(share, 0.0).sum(axis=1, keepdims=True)
        height += sum(0.5 * b[origin] * share[:, i] * share[:, j] for b, (i, j) in zip(bent, SIDES, strict=True))
    return height / 3.0


def located(given: Surface, cut: Surface) -> np.ndarray:
    """The given triangle that the centroid of each of the cut ones lies in. It is the one it was cut out of, unless it
    shared its area with another in the same plane; then all in that plane are looked at."""
    origin = cut.origin.copy()
    beside = np.flatnonzero(barycentric(given, origin, cut.centroids).min(axis=1) < -1e-9)
    size = np.ptp(given.vertices, axis=0).max()
    for first in range(0, len(beside), CHUNK):
        these = beside[first : first + CHUNK]
        n, x = given.normals, cut.centroids[these]
        heights = np.abs(x @ n.T - np.einsum("ti,ti->t", n, given.centroids))
        along = cut.normals[these] @ n.T
        inside = np.full(heights.shape, -np.inf)
        point, candidate = np.nonzero((heights < 1e-7 * size) & (along > 1.0 - 1e-7))
        inside[point, candidate] = barycentric(given, candidate, x[point]).min(axis=1)
        origin[these] = np.argmax(inside, axis=1)
    return origin


def barycentric(surface: Surface, number: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Where points lie in the planes of these triangles."""
    v, n = surface.corners[number], surface.normals[number]
    shares = [
        np.einsum("ti,ti->t", np.cross(v[:, j] - points, v[:, k] - points), n) for j, k in ((1, 2), (2, 0), (0, 1))
    ]
    return np.stack(shares, axis=1) / (2.0 * surface.areas[number, None])


def corner_normals(surface: Surface) -> np.ndarray:
    """At each corner of a triangle the mean of the normals around the vertex that are not beyond a sharp edge."""
    import scipy.sparse

    v, n = surface.corners, surface.normals
    count = len(v)
    sides = np.stack([v[:, (k + 1) % 3] - v[:, k] for k in range(3)], axis=1)
    sides /= np.linalg.norm(sides, axis=2, keepdims=True)
    angles = np.arccos(np.clip([-np.einsum("ti,ti->t", sides[:, k - 1], sides[:, k]) for k in range(3)], -1.0, 1.0)).T
    corner = np.arange(3 * count)
    at = scipy.sparse.csr_matrix((np.ones(3 * count), (corner, surface.triangles.ravel())))
    pairs = (at @ at.T).tocoo()
    of = pairs.row // 3, pairs.col // 3
    smooth = np.einsum("pi,pi->p", n[of[0]], n[of[1]]) > np.cos(SHARP)
    weights = scipy.sparse.csr_matrix(
        (angles.ravel()[pairs.col[smooth]], (pairs.row[smooth], of[1][smooth])), (3 * count, count)
    )
    mean = weights @ n
    return (mean / np.linalg.norm(mean, axis=1, keepdims=True)).reshape(count, 3, 3)
