"""The flow around moving bodies of space, anywhere in the fluid."""

import dataclasses
import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from naiad.compiler import compile
from naiad.errors import InputError
from naiad.groups.se3 import Pose
from naiad.hydro.meshes import triangle
from naiad.hydro.spatial.plane import Plane
from naiad.hydro.spatial.sheet import AbstractSheet, SmoothSheet
from naiad.hydro.spatial.smooth import on_grid
from naiad.numerics import check_double

GRIDS = (16, 32, 64, 128)
"""Points from pole to pole that an ellipsoid's sheet is summed at, the more the nearer it is."""
DIGITS = 14.0
"""Minus the logarithm of the error that is aimed at."""
CHUNK = 64
AT_ONCE = 2**21


@dataclasses.dataclass(frozen=True, eq=False)
class SpatialFlow:
    """Potential and velocity of a flow at rest at infinity, where the potential is zero.

    Points are arrays whose last axis is (x, y, z); inside a body and beyond the plane values are NaN. Beside an
    ellipsoid they have six digits, fewer where it is nearer than a tenth of its largest semi-axis (a hundredth at a
    fiftieth); beside a mesh they are those of its dipoles, exactly.
    """

    sheets: tuple[AbstractSheet, ...]
    poses: Pose
    plane: Plane | None
    psi: tuple[Float[np.ndarray, " f"], ...]

    def potential(self, points: Any) -> np.ndarray:
        """phi, the velocity being its gradient."""
        return self._at(points)[..., 0]

    def velocity(self, points: Any) -> np.ndarray:
        """(u, v, w) in space."""
        return self._at(points)[..., 1:]

    def _at(self, points: Any) -> np.ndarray:
        check_double("points", points)
        array = np.asarray(points, dtype=float)
        if array.shape[-1:] != (3,):
            raise InputError(f"points of shape {array.shape}; expected (x, y, z) along the last axis.")
        x = array.reshape(-1, 3)
        wet = np.all(np.isfinite(x), axis=1)
        if self.plane is not None:
            rounding = 1e-12 * (1.0 + np.abs(x).sum(axis=1))
            wet &= x @ self.plane.normal >= self.plane.height - rounding
        total = np.full((len(x), 4), np.nan)
        total[wet] = self._sum(x[wet])
        if self.plane is not None:
            image = self._sum(self.plane.mirrored(x[wet]))
            total[wet, 0] += self.plane.sign * image[:, 0]
            total[wet, 1:] += self.plane.sign * image[:, 1:] @ self.plane.mirror()
        return total.reshape(*array.shape[:-1], 4)

    def _sum(self, x: np.ndarray) -> np.ndarray:
        """Potential and velocity of all sheets; NaN inside a body."""
        total = np.zeros((len(x), 4))
        for sheet, psi, R, at in zip(self.sheets, self.psi, self.poses.R, self.poses.x, strict=True):
            seen = (x - at) @ R
            found = _smooth(sheet, psi, seen) if isinstance(sheet, SmoothSheet) else _facets(sheet, psi, seen)
            total[:, 0] += found[:, 0]
            total[:, 1:] += found[:, 1:] @ R.T
        return total


def _smooth(sheet: SmoothSheet, psi: np.ndarray, x: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(sheet.axes, axis=1)
    n = (x - sheet.centre) @ (sheet.axes / lengths[:, None] ** 2).T
    level = np.linalg.norm(n, axis=1)
    steep = np.linalg.norm(n / lengths, axis=1)
    distance = (level - 1.0) * level / np.where(steep > 0.0, steep, 1.0)
    needed = 0.5 * DIGITS / np.log1p(np.maximum(distance, 1e-9) / lengths.max())
    found = np.full((len(x), 4), np.nan)
    below = 0.0
    for count in GRIDS:
        here = (level >= 1.0) & (needed > below) & ((needed <= count) | (count == GRIDS[-1]))
        if here.any():
            found[here] = _of_points(*on_grid(sheet, psi, count), x[here])
        below = count
    return found


def _of_points(y: np.ndarray, dipoles: np.ndarray, vortices: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Of dipoles (vectors) the potential, of vortices the velocity."""
    found, rows = np.empty((len(x), 4)), max(1, AT_ONCE // len(y))
    for first in range(0, len(x), rows):
        here = slice(first, first + rows)
        r = [x[here, None, c] - y[:, c] for c in range(3)]
        over = 1.0 / (r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
        cube = over * np.sqrt(over) * (0.25 / np.pi)
        found[here, 0] = -sum(np.sum(cube * each * dipoles[:, c], axis=1) for c, each in enumerate(r))
        pull = [(cube * each) @ vortices for each in r]  # sum r_c gamma / (4 pi R^3)
        for c in range(3):
            i, j = (c + 1) % 3, (c + 2) % 3
            found[here, 1 + c] = pull[j][:, i] - pull[i][:, j]
    return found


def _facets(sheet: Any, psi: np.ndarray, x: np.ndarray) -> np.ndarray:
    corners, values = sheet.corners, psi[sheet.triangles]
    more = -len(corners) % CHUNK
    corners = np.concatenate([corners, np.repeat(corners[:1], more, axis=0)])
    values = np.concatenate([values, np.zeros((more, 3))])
    weights = np.concatenate([np.ones(len(sheet.triangles)), np.zeros(more)])
    found = np.zeros((len(x), 5))
    for first in range(0, len(corners), CHUNK):
        part = slice(first, first + CHUNK)
        given = corners[part], values[part], weights[part]
        found += _sheet_of_triangles().batch(x, *given, shared=(1, 2, 3))
    found[np.abs(found[:, 4]) > 0.5 * 4.0 * math.pi] = np.nan
    return found[:, :4] / (4.0 * np.pi)


@functools.cache
def _sheet_of_triangles() -> Any:
    return compile(_of_triangles)


def _of_triangles(x: Any, corners: Any, values: Any, weights: Any) -> Any:
    """4 pi times the potential and the velocity of dipoles that are linear in triangles, with values at their corners,
    and the solid angle of the triangles."""

    def add(total, one):
        v, psi, weight = one
        n, area = triangle.normal(v)
        opposite = jnp.stack([v[2] - v[1], v[0] - v[2], v[1] - v[0]])
        found = triangle.potentials(x, v, n)
        slopes = jnp.cross(n, opposite) / (2.0 * area)
        foot = x - found.height * n
        shares = 1.0 / 3.0 + slopes @ (foot - (v[0] + v[1] + v[2]) / 3.0)
        layer = psi @ (shares * found.angle - found.height * (slopes @ found.edges))
        gamma = psi @ opposite / (2.0 * area)
        u = jnp.cross(gamma, found.edges + n * found.angle)
        return total + jnp.concatenate([jnp.stack([-layer]), u, jnp.stack([weight * found.angle])]), None

    return jax.lax.scan(add, jnp.zeros(5), (corners, values, weights))[0]
