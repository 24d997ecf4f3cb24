"""The map from the outside of a circle to that of a smooth outline, by boundary integrals.

A density sigma that leaves the potential inside constant, (K' - 1/2) sigma = 0, is that of a charged conductor. Its
share of the outline is the angle on the circle, d theta/dt = 2 pi sigma / int sigma, and the coefficients of the map
are integrals over the outline: a_-k = (1/2 pi) int z exp(-i k theta) d theta [henrici1986, section 16.6].
"""

import numpy as np
from jaxtyping import Complex

from naiad.errors import InputError
from naiad.hydro.curve import AbstractCurve, CurvePoints, Ellipse
from naiad.hydro.exterior_map import AbstractExteriorMap, EllipseMap, LaurentMap
from naiad.hydro.fourier import antiderivative, refined
from naiad.hydro.inside import point_inside
from naiad.hydro.nystrom import nystrom

FINER, MOST = 16, 400
"""Nodes of the integrals over those of the boundary method; terms of a series."""
NEGLIGIBLE, TOLERATED = 2e-14, 1e-8


def exterior_map(curve: AbstractCurve, points: int | None = None) -> AbstractExteriorMap:
    """The map to the outside of this outline: in closed form for an ellipse, else by a boundary method with so many
    points, or as many as resolve the outline to round-off."""
    return EllipseMap(curve.a, curve.b) if isinstance(curve, Ellipse) else _laurent(curve, points)


def _laurent(curve: AbstractCurve, points: int | None) -> LaurentMap:
    boundary = nystrom(curve, points)
    level = boundary.finest
    n = level.size
    density = np.linalg.solve(level.A - np.eye(n) + 1.0 / n, np.ones(n))
    density = density / np.mean(density)
    fine = curve.sample(FINER * n)
    rate = np.real(refined(density.astype(complex), FINER * n))
    theta = 2.0 * np.pi * np.arange(FINER * n) / (FINER * n) + antiderivative(rate)
    leading = np.mean(fine.z * np.exp(-1j * theta) * rate)
    radius, theta = float(np.abs(leading)), theta + np.angle(leading)
    most = min(MOST, FINER * n // 4)
    alpha = np.array([np.mean(fine.z * np.exp(1j * m * theta) * rate) for m in range(most + 1)])
    alpha = alpha[: _told(alpha[1:], NEGLIGIBLE * radius) + 1]
    on_circle = radius * np.exp(1j * theta)
    error = np.max(np.abs(_mapped(alpha, radius, on_circle) - fine.z)) / radius
    if not error < TOLERATED:
        raise InputError(
            f"The outside of this outline is not that of a circle to better than {error:.1e} with {n} points and "
            f"{len(alpha) - 1} terms; give more points, or an outline that is less slender and less hollow."
        )
    circle = np.exp(2j * np.pi * np.arange(4 * len(alpha) + 16) / (4 * len(alpha) + 16))
    squares = np.fft.fft(np.abs(_mapped(alpha, radius, radius * circle)) ** 2) / len(circle)
    coarse = CurvePoints(*(each[::FINER] for each in fine))
    return LaurentMap(
        radius=radius,
        shift=_rows(alpha[0]),
        terms=_rows(alpha[1:]),
        turning=_rows(np.conj(squares[1 : len(alpha) + 1])),
        fluid=0.5 * (boundary.inertia + boundary.inertia.T),
        body=np.array([0.5 * squares[0].real, -alpha[0].imag, alpha[0].real]),
        inner=_rows(np.asarray(point_inside(coarse))),
        nodes=_rows(coarse.z),
        weights=_rows(coarse.dz),
        values=_rows(on_circle[::FINER] - coarse.z + alpha[0]),
    )


def _mapped(alpha: Complex[np.ndarray, " k"], radius: float, s: Complex[np.ndarray, " n"]) -> np.ndarray:
    """f(s) = s + sum_k alpha_k (R/s)^k."""
    return s + np.polynomial.polynomial.polyval(radius / s, alpha)


def _told(terms: Complex[np.ndarray, " k"], negligible: float) -> int:
    """How many of the terms are told apart from round-off; one at least."""
    large = np.flatnonzero(np.abs(terms) > negligible)
    return int(large[-1]) + 1 if len(large) else 1


def _rows(z: np.ndarray) -> np.ndarray:
    return np.stack([np.real(z), np.imag(z)], axis=-1)
