"""The sheet of an ellipsoid, without any quadrature on it.

With x = A n, n on the unit sphere and A = diag(a, b, c), the single layer of the ellipsoid keeps the degree of
spherical harmonics Y(n): since int j_l j_l' = 0 for l - l' even and not 0, and pi / (2 (2 l + 1)) for l = l',

    <Y, S Y'> = 1 / ((2 l + 1) a b c) int Y Y' / |A^-1 n|^2 dn   for equal degrees l, else 0,

by Fourier transformation of 1/(4 pi |x - y|). Vortices are - A (n x grad) psi, and n x grad keeps the degree too, so
that W is made of one small block a degree, whatever the axes.
"""

import functools
import math
from typing import Any

import numpy as np

from naiad.hydro.frames import congruence, velocity_there
from naiad.hydro.shape import AbstractShape
from naiad.hydro.spatial.harmonics import harmonics, legendre, sphere, turns
from naiad.hydro.spatial.sheet import SmoothSheet

PANEL = 24
"""Gauss points on each of the panels that the integrals over cos(theta) are cut into, besides those for the degree."""


def smooth_sheet(
    shape: AbstractShape, semi_axes: tuple[float, ...], x: np.ndarray, R: np.ndarray, degree: int, points: int
) -> SmoothSheet:
    """The sheet of an ellipsoid with these semi-axes, its frame at x in that of the body, turned by R."""
    return _sheet(congruence(shape.added_inertia(1.0), velocity_there(x, R)), semi_axes, x, R, degree, points)


def refined(sheet: SmoothSheet, more: int) -> SmoothSheet:
    """Return the sheet of the same ellipsoid with harmonics of `more` degrees, and as many more rows of points."""
    degree, points = math.isqrt(len(sheet.W) + 1) - 1, math.isqrt(len(sheet.points) // 2)
    axes = np.asarray(sheet.axes)
    lengths = np.linalg.norm(axes, axis=1)
    x, R = np.asarray(sheet.centre), (axes / lengths[:, None]).T
    return _sheet(np.asarray(sheet.added), tuple(lengths.tolist()), x, R, degree + more, points + more)


def _sheet(
    added: np.ndarray, semi_axes: tuple[float, ...], x: np.ndarray, R: np.ndarray, degree: int, points: int
) -> SmoothSheet:
    """Of an ellipsoid whose added inertia about the origin of its body is known."""
    W, inverse = (_joined(blocks) for blocks in energy_blocks(semi_axes, degree))
    A, axes = np.asarray(semi_axes), np.asarray(semi_axes)[:, None] * R.T
    n, weights = sphere(points)
    few, few_weights = sphere(4)  # exact for the motions, which are of degrees 1 and 2
    normals = few * (math.prod(A) / A)
    motions = np.concatenate([np.cross(few * A, normals), normals], axis=1)
    there = velocity_there(x, R)
    H = np.zeros((len(W), 6))
    H[:8] = (harmonics(2, few) * few_weights[:, None]).T @ motions @ there
    return SmoothSheet.unchecked(
        points=(n @ axes + x)[:, None],
        W=W,
        inverse=inverse,
        H=H,
        added=added,
        alone=congruence(inverse, H),
        areas=_areas(axes, n) * weights[:, None],
        curls=_curls(axes, degree, n, weights).reshape(-1, len(W)),
        centre=x,
        axes=axes,
    )


def on_grid(sheet: SmoothSheet, psi: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points of a grid on the ellipsoid, the dipoles there (along the normals), and the vortices, with weights."""
    n, weights = sphere(count)
    axes, degree = np.asarray(sheet.axes), math.isqrt(len(psi) + 1) - 1
    strength = (harmonics(degree, n) @ psi) * weights
    vortices = np.einsum("qik,k->qi", _curls(axes, degree, n, weights), psi)
    return n @ axes + np.asarray(sheet.centre), _areas(axes, n) * strength[:, None], vortices


def _areas(axes: np.ndarray, n: np.ndarray) -> np.ndarray:
    """det(A) A^-1 n: the area on the ellipsoid for each on the sphere, along the normal."""
    squares = np.sum(axes**2, axis=1)
    return math.sqrt(math.prod(squares)) * (n @ (axes / squares[:, None]))


def _curls(axes: np.ndarray, degree: int, n: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """- A (n x grad) of all harmonics at n, with weights: (points, 3, functions)."""
    Y = harmonics(degree, n) * weights[:, None]
    found = np.zeros((len(n), 3, Y.shape[1]))
    for l in range(1, degree + 1):  # noqa: E741
        part = slice(l * l - 1, (l + 1) ** 2 - 1)
        for axis, D in zip(axes, turns(l), strict=True):
            found[:, :, part] -= axis[:, None] * (Y[:, part] @ D)[:, None]
    return found


def _joined(blocks: tuple[np.ndarray, ...]) -> np.ndarray:
    """One block a degree, in one matrix."""
    size = sum(len(block) for block in blocks)
    whole = np.zeros((size, size))
    for l, block in enumerate(blocks, start=1):  # noqa: E741
        part = slice(l * l - 1, (l + 1) ** 2 - 1)
        whole[part, part] = block
    return whole


@functools.lru_cache(maxsize=64)
def energy_blocks(axes: tuple[float, ...], degree: int) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """W of each degree, and its inverse."""
    t, w = _panels(axes, degree)
    P, waves = legendre(degree, t), _waves(axes, t, 2 * degree)
    blocks, inverses = [], []
    for l in range(1, degree + 1):  # noqa: E741
        S = _single_layer(P[l, : l + 1], w, waves) / ((2 * l + 1) * math.prod(axes))
        block: Any = sum(a * a * D.T @ S @ D for a, D in zip(axes, turns(l), strict=True))
        blocks.append(0.5 * (block + block.T))
        inverses.append(np.linalg.inv(blocks[-1]))
    return tuple(blocks), tuple(inverses)


def _single_layer(P: np.ndarray, w: np.ndarray, waves: np.ndarray) -> np.ndarray:
    """int Y Y' / |A^-1 n|^2 for the harmonics of one degree, in the order of m."""
    l = len(P) - 1  # noqa: E741
    m = np.arange(-l, l + 1)
    size = np.where(m == 0, 1.0, math.sqrt(2.0))
    both = np.einsum("q,mq,nq,kq->mnk", w, P, P, waves, optimize=True)
    one, other = np.abs(m)[:, None], np.abs(m)[None]
    less, more = both[one, other, np.abs(one - other)], both[one, other, one + other]
    sines = (m[:, None] < 0) & (m[None] < 0)
    same = sines | ((m[:, None] >= 0) & (m[None] >= 0))
    return np.where(same, 0.5 * (less + np.where(sines, -more, more)), 0.0) * size[:, None] * size


def _waves(axes: tuple[float, ...], t: np.ndarray, most: int) -> np.ndarray:
    """int cos(k phi) / |A^-1 n|^2 dphi at t = cos(theta), for k = 0 to `most`: 1/(p + q cos 2 phi), a closed form."""
    a, b, c = axes
    s2 = (1.0 - t) * (1.0 + t)
    p, q = 0.5 * s2 * (1 / a**2 + 1 / b**2) + t * t / c**2, 0.5 * s2 * (1 / a**2 - 1 / b**2)
    root = np.sqrt((s2 / a**2 + t * t / c**2) * (s2 / b**2 + t * t / c**2))
    found = np.zeros((most + 1, len(t)))
    for k in range(0, most + 1, 2):
        found[k] = 2.0 * np.pi / root * (-q / (p + root)) ** (k // 2)
    return found


def _panels(axes: tuple[float, ...], degree: int) -> tuple[np.ndarray, np.ndarray]:
    """A rule for t from -1 to 1 on panels that shrink towards -1, 0 and 1 as far as the flatness of the ellipsoid
    asks."""
    levels = 2 + math.ceil(2.0 * math.log2(max(axes) / min(axes)))
    shares = np.concatenate([[0.0], 0.5 ** np.arange(levels, 0, -1)])
    half = np.concatenate([shares, 1.0 - shares[-2::-1]])  # 0 to 1, fine at both ends
    ends = np.concatenate([-half[:0:-1], half])
    x, w = np.polynomial.legendre.leggauss(degree + PANEL)
    middle, radius = 0.5 * (ends[1:] + ends[:-1]), 0.5 * np.diff(ends)
    return (middle[:, None] + radius[:, None] * x).ravel(), (radius[:, None] * w).ravel()
