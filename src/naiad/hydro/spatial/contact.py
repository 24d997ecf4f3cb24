"""How far bodies are apart, and those that are not, or too near for the points on them."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from naiad.errors import InputError
from naiad.groups.se3 import Pose
from naiad.hydro.spatial.alike import Alike, meetings
from naiad.hydro.spatial.kernel import BLOCK
from naiad.hydro.spatial.pairs import Pair, relative
from naiad.hydro.spatial.pairs import pairs as all_pairs
from naiad.hydro.spatial.plane import Plane
from naiad.hydro.spatial.sheet import AbstractSheet, SmoothSheet

HALVINGS = 52
MANY, NEAREST = 600, 64
"""Of more points only the nearest are looked at."""
UNRESOLVED = 0.02
"""The flux error beyond which bodies are too near for their points."""


def gap(groups: Sequence[Alike], plane: Plane | None, poses: Pose) -> Any:
    """The smallest distance between two bodies, or of one from the plane; infinite for one body alone. For JAX to
    trace."""
    found = [jnp.full(1, jnp.inf)]
    for pairs in meetings(groups, None):
        one, other = groups[pairs.one], groups[pairs.other]
        at = pairs.poses(poses, None)
        found.append(pairs.each(lambda i, j, at, a=one, b=other: _gap(a.sheet(i), b.sheet(j), at, jnp), at))
    if plane is not None:
        for group in groups:
            R, x = (jnp.asarray(part)[np.asarray(group.bodies)] for part in poses)
            found.append(group.each(lambda sheet, R, x: _height(sheet, R, x, plane, jnp), R, x))
    return jnp.min(jnp.concatenate(found))


def known_gap(sheets: Sequence[AbstractSheet], plane: Plane | None, poses: Pose) -> float:
    """The same of poses that are known."""
    found = [_gap(*_two(sheets, pair), relative(pair, poses, None), np) for pair in all_pairs(len(sheets), None)]
    if plane is not None:
        found += [_height(sheet, poses.R[k], poses.x[k], plane, np) for k, sheet in enumerate(sheets)]
    return float(min(found, default=np.inf))


def _two(sheets: Sequence[AbstractSheet], pair: Pair) -> tuple[AbstractSheet, AbstractSheet]:
    return sheets[pair.first], sheets[pair.second]


def _gap(one: Any, other: Any, at: Pose, xp: Any) -> Any:
    if isinstance(one, SmoothSheet) and isinstance(other, SmoothSheet):
        return _between(one.axes, other.axes @ at.R.T, at.R @ other.centre + at.x - one.centre, xp)
    if isinstance(one, SmoothSheet):
        return _outside(one, (other.corners @ at.R.T + at.x).reshape(-1, 3), xp)
    if isinstance(other, SmoothSheet):
        return _outside(other, ((one.corners - at.x) @ at.R).reshape(-1, 3), xp)
    x, y = one.points[:, 0], other.points[:, 0] @ at.R.T + at.x
    sizes = [0.5 * xp.sqrt(3.0 * xp.sqrt(xp.sum(sheet.areas**2, axis=1))) for sheet in (one, other)]
    square = sum((x[:, c, None] - y[None, :, c]) ** 2 for c in range(3))
    return xp.min(xp.sqrt(square) - sizes[0][:, None] - sizes[1])


def _between(axes: Any, others: Any, r: Any, xp: Any) -> Any:
    """The distance of two ellipsoids along the line of their centres: by the factor s at which both, scaled by it,
    touch, s^2 = max over u of u (1 - u) r . ((1 - u) A + u B)^-1 r [perram1985]. That of spheres is exact."""
    A, B = axes.T @ axes, others.T @ others

    def rate(u):
        X = _solved((1.0 - u) * A + u * B, r, xp)
        return (1.0 - 2.0 * u) * (r @ X) - u * (1.0 - u) * (X @ (B - A) @ X), u * (1.0 - u) * (r @ X)

    def halve(_, ends):
        low, high = ends
        u = 0.5 * (low + high)
        rising = rate(u)[0] > 0.0
        return xp.where(rising, u, low), xp.where(rising, high, u)

    ends = xp.asarray(0.0), xp.asarray(1.0)
    if xp is np:
        for k in range(HALVINGS):
            ends = halve(k, ends)
    else:
        ends = jax.lax.stop_gradient(jax.lax.fori_loop(0, HALVINGS, halve, jax.tree.map(jnp.asarray, ends)))
    square = rate(0.5 * (ends[0] + ends[1]))[1]
    return xp.sqrt(r @ r) * (1.0 - 1.0 / xp.sqrt(square))


def _solved(A: Any, b: Any, xp: Any) -> Any:
    """By Cramer's rule, for which NumPy is slow."""
    if xp is np:
        return np.linalg.solve(A, b)
    x, y, z = A[:, 0], A[:, 1], A[:, 2]
    yz = xp.cross(y, z)
    return xp.stack([b @ yz, x @ xp.cross(b, z), x @ xp.cross(y, b)]) / (x @ yz)


def _outside(sheet: SmoothSheet, x: Any, xp: Any) -> Any:
    """The smallest distance of points from an ellipsoid, to first order in it."""
    lengths = xp.sum(xp.asarray(sheet.axes) ** 2, axis=1)
    seen = (x - sheet.centre) @ sheet.axes.T / lengths  # n where x = A n
    level = xp.sqrt(xp.sum(seen**2, axis=1))
    steep = xp.sqrt(xp.sum(seen**2 / lengths, axis=1))
    return xp.min((level - 1.0) * level / steep)


def _height(sheet: Any, R: Any, x: Any, plane: Plane, xp: Any) -> Any:
    n = xp.asarray(plane.normal)
    down = n @ R  # the normal in the body frame
    height = n @ x - plane.height
    if isinstance(sheet, SmoothSheet):
        reach = sheet.axes @ down
        return height + down @ sheet.centre - xp.sqrt(reach @ reach)
    return height + xp.min(sheet.corners @ down)


def flux_errors(
    sheets: Sequence[AbstractSheet], plane: Plane | None, poses: Pose
) -> dict[tuple[int, int, bool], float]:
    """For each pair, by the numbers of its bodies and whether the second is an image, the largest flux through one of a
    unit source at a point of the other, by the points on it. It is 0 outside, 1 inside."""
    found = {}
    for pair in all_pairs(len(sheets), plane):
        at = relative(pair, poses, plane)
        one, other = sheets[pair.first], sheets[pair.second]
        x, y = one.points[:, 0], other.points[:, 0] @ at.R.T + at.x
        if max(len(x), len(y)) > MANY:
            x, y = _nearest(x, y)
        found[pair.first, pair.second, pair.image] = max(_flux(one, y), _flux(other, (x - at.x) @ at.R))
    return found


def _nearest(x: Any, y: Any) -> Any:
    """Of either the points that are nearest to the other ones, where errors are largest."""
    square = np.sum(x**2, axis=1)[:, None] + np.sum(y**2, axis=1) - 2.0 * x @ y.T
    return tuple(points[np.argsort(square.min(axis=axis))[:NEAREST]] for points, axis in ((x, 1), (y, 0)))


def _flux(sheet: AbstractSheet, x: Any) -> float:
    worst, rows = 0.0, max(1, BLOCK // len(sheet.points))
    for first in range(0, len(x), rows):
        total = np.zeros(len(x[first : first + rows]))
        for k in range(sheet.points.shape[1]):
            r = [x[first : first + rows, None, c] - sheet.points[None, :, k, c] for c in range(3)]
            over = 1.0 / (r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
            over *= np.sqrt(over)
            total += sum((over * each) @ sheet.areas[:, c] for c, each in enumerate(r))
        worst = max(worst, float(np.max(np.abs(total))))
    return worst / (4.0 * np.pi)


def check_apart(
    sheets: Sequence[AbstractSheet], plane: Plane | None, poses: Pose
) -> dict[tuple[int, int, bool], float]:
    """The flux errors, or an `InputError` for bodies that touch or overlap, or are too near for their points."""
    if plane is not None:
        for k, sheet in enumerate(sheets):
            if not _height(sheet, poses.R[k], poses.x[k], plane, np) > 0.0:
                raise InputError(f"Body {k + 1} touches the plane, or is beyond it; move it into the fluid.")
    found = all_pairs(len(sheets), None)
    with np.errstate(divide="ignore", invalid="ignore"):  # centres at one place
        touching = [not _gap(*_two(sheets, pair), relative(pair, poses, None), np) > 0.0 for pair in found]
    errors = {} if any(touching) else flux_errors(sheets, plane, poses)
    for pair, touches in zip(found, touching, strict=True):
        facets = not all(isinstance(sheets[k], SmoothSheet) for k in (pair.first, pair.second))
        if touches or (facets and errors[pair.first, pair.second, False] > 0.5):  # one within the other
            raise InputError(
                f"Bodies {pair.first + 1} and {pair.second + 1} touch or overlap at these poses; move them apart."
            )
    for (i, j, image), error in errors.items():
        if error > UNRESOLVED:
            what = f"Body {i + 1} and the plane" if image else f"Bodies {i + 1} and {j + 1}"
            raise InputError(
                f"{what} are too near each other for the points on them (flux error {error:.2g}); give more `points` "
                "(or a mesh of more triangles), or move them apart."
            )
    return errors
