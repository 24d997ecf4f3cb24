"""A spectral Nystrom method for the flow outside a smooth curve.

The potential is that of sources of density sigma on the curve, and with n into the fluid

    sigma/2 + int K'(t, tau) sigma = d phi/dn,    K' = n(t) . (z(t) - z(tau)) / (2 pi |z(t) - z(tau)|^2),

where K' is smooth, so that the trapezoidal rule converges like exp(-c N) [kress2014, section 12.2]. Densities and
normal velocities are per dt (multiplied by |z'|): they are as smooth as the curve, which |z'| of a slender one is not.
"""

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Complex, Float

from naiad.errors import InputError
from naiad.hydro.boundary import Boundary, Field, Level, normal_motion
from naiad.hydro.crossing import crosses_itself
from naiad.hydro.curve import AbstractCurve, CurvePoints, Ellipse
from naiad.hydro.ellipse_field import ellipse_field, inside_ellipse
from naiad.hydro.fourier import interpolation, tail
from naiad.hydro.inside import inside
from naiad.hydro.outer_field import boundary_values, outer_field

SIZES = (32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
COARSENINGS = (8, 6, 4, 3, 2)
SMALLEST = 16
RESOLVED, UNRESOLVED = 1e-16, 0.05


@dataclasses.dataclass(frozen=True, eq=False)
class Points:
    """Point sources at zeta, for the trapezoidal rule with the weight 2 pi / n."""

    zeta: Complex[np.ndarray, " n"]

    def potential(self, z: Any, xp: Any) -> Any:
        dx, dy = self._apart(z)
        return xp.log(dx * dx + dy * dy) * (0.5 / len(self.zeta))

    def normal_velocity(self, z: Any, normal: Any, xp: Any) -> Any:
        dx, dy = self._apart(z)
        return (normal.real * dx + normal.imag * dy) / ((dx * dx + dy * dy) * len(self.zeta))

    def velocity(self, z: Any) -> Any:
        return 1.0 / ((z - self.zeta) * len(self.zeta))

    def gradient(self, z: Any) -> Any:
        return -1.0 / ((z - self.zeta) ** 2 * len(self.zeta))

    def _apart(self, z: Any) -> tuple[Any, Any]:
        return z.real - np.real(self.zeta), z.imag - np.imag(self.zeta)


def nystrom(curve: AbstractCurve, points: int | None = None) -> Boundary:
    """The body of this outline; without `points`, with as many as resolve the curve to round-off (at most 1024)."""
    if points is not None and (points < SMALLEST or points % 2):
        raise InputError(f"points = {points}; expected an even number, {SMALLEST} or more.")
    size = _enough(curve) if points is None else points
    outline = curve.sample(size)
    inner = self_interaction(outline)
    error = flux_lost(inner)
    if not error < UNRESOLVED:
        raise InputError(
            "The curve crosses itself; expected the outline of one body."
            if crosses_itself(curve)
            else f"{size} points are too few for this curve: flux is lost, {error:.2g} of it; give more."
        )
    return _boundary(curve, outline, inner)


def flux_lost(inner: Float[np.ndarray, "n n"]) -> float:
    """The error of the trapezoidal rule: of the flux of a source on a curve half goes in and half out, by Gauss."""
    return float(np.max(np.abs(np.sum(inner, axis=0) - 1.0)))


def self_interaction(outline: CurvePoints) -> Float[np.ndarray, "n n"]:
    """1/2 + K' on one curve, by the trapezoidal rule; the limit of K' on the diagonal is the curvature's."""
    normal = -1j * outline.dz
    with np.errstate(divide="ignore", invalid="ignore"):
        matrix = Points(outline.z).normal_velocity(outline.z[:, None], normal[:, None], np)
    np.fill_diagonal(matrix, 0.5 + 0.5 * (outline.ddz / outline.dz).imag / len(outline.z))
    return matrix


def _enough(curve: AbstractCurve) -> int:
    """The first size whose error is at round-off if errors fall exponentially, from the error at the size before."""
    for size, following in pairwise(SIZES):
        error = flux_lost(self_interaction(curve.sample(size)))
        if error < 0.5 and error ** (following / size) < RESOLVED:
            return following
    return SIZES[-1]


def _boundary(curve: AbstractCurve, outline: CurvePoints, inner: Float[np.ndarray, "n n"]) -> Boundary:
    inverse = np.linalg.inv(inner)
    normal = -1j * outline.dz
    motion = normal_motion(outline.z, normal)
    density = inverse @ motion
    potential = np.real(boundary_values(outline, density))
    step = 2.0 * np.pi / len(outline.z)
    radius = np.max(np.abs(outline.z))
    scale = np.array([radius, radius, radius**2, radius, radius, radius**2, radius, radius])
    shape = np.concatenate([outline.z[:, None], outline.dz[:, None], density, potential], axis=1) / scale

    def level(every: int) -> Level:
        size = len(outline.z) // every
        A = inner if every == 1 else np.linalg.inv(inverse[::every] @ interpolation(len(outline.z), size))
        weight = step * every
        z = outline.z[::every]
        return Level(
            z,
            normal[::every],
            Points(z),
            A,
            A @ density[::every],
            weight * motion[::every],
            weight * potential[::every],
        )

    sizes = [len(outline.z) // every for every in COARSENINGS if len(outline.z) % (2 * every) == 0]
    coarse = [size for size in sizes if size >= SMALLEST and tail(shape, size) < 1e-13]
    levels = [level(len(outline.z) // size) for size in coarse] + [level(1)]
    return Boundary(
        curve,
        -step * motion.T @ potential,
        tuple(levels),
        field=lambda s: field(curve, boundary_values(outline, s[:, None])[:, 0]),
        holds=lambda z: inside_ellipse(curve, z) if isinstance(curve, Ellipse) else inside(outline, z),
    )


def field(curve: AbstractCurve, values: Complex[np.ndarray, " n"]) -> Field:
    """The flow with these values of w at equal steps of the curve's parameter."""
    return ellipse_field(curve, values) if isinstance(curve, Ellipse) else outer_field(curve, values)
