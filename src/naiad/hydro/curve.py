"""Closed curves of the plane: the outlines of bodies, as points z = x + i y for a parameter t from 0 to 2 pi."""

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Complex

from naiad.errors import InputError
from naiad.hydro.fourier import derivative
from naiad.numerics import Module
from naiad.numerics.checks import positives
from naiad.numerics.module import static

Plane = Complex[np.ndarray, " n"]


class CurvePoints(NamedTuple):
    """z(t) at equal steps of t, counterclockwise, with z'(t) and z''(t)."""

    z: Plane
    dz: Plane
    ddz: Plane


class AbstractCurve(Module):
    """A closed curve that does not cross itself, in the frame of its body."""

    @abc.abstractmethod
    def sample(self, points: int) -> CurvePoints:
        """The curve at t = 2 pi k / points, counterclockwise."""


class Ellipse(AbstractCurve):
    """z = a cos t + i b sin t: the outline of `EllipticCylinder(a, b)`, the semi-axes a along e_1 and b along e_2."""

    a: float
    b: float

    def __post_init__(self):
        positives("(a, b)", (self.a, self.b), 2)

    def sample(self, points: int) -> CurvePoints:
        t = parameters(points)
        x, y = float(self.a) * np.cos(t), float(self.b) * np.sin(t)
        dx, dy = -float(self.a) * np.sin(t), float(self.b) * np.cos(t)
        return CurvePoints(x + 1j * y, dx + 1j * dy, -x - 1j * y)


class ClosedCurve(AbstractCurve):
    """The curve t -> (x, y) of a function with period 2 pi, smooth as a function of t; derivatives are those of the
    trigonometric polynomial through its points, so that a smooth curve is known to round-off."""

    function: Callable[[float], Any] = static()

    def sample(self, points: int) -> CurvePoints:
        x, y = np.array([_point(self.function, t) for t in parameters(points)]).T
        gap = np.max(np.abs(_point(self.function, 2.0 * np.pi) - [x[0], y[0]]))
        if gap > 1e-9 * np.ptp(np.concatenate([x, y])):
            raise InputError(f"The curve does not close: t = 2 pi is {gap:.3g} away from t = 0; expected one point.")
        z = x + 1j * y
        return _counterclockwise(CurvePoints(z, derivative(z), derivative(z, 2)))


class SplineCurve(AbstractCurve):
    """The periodic quintic spline through `points`, rows (x, y) in order around the body, the last joined to the first.

    Its parameter grows by the square root of each chord, so that curved parts, where points are close, keep their share
    of the nodes. It has four continuous derivatives, so boundary methods converge like a power of the number of nodes,
    not exponentially as on an analytic curve.
    """

    points: Any

    def __post_init__(self):
        try:
            array = np.asarray(self.points, dtype=float)
        except (TypeError, ValueError):
            array = np.zeros(0)
        if array.ndim != 2 or array.shape[-1] != 2 or len(array) < 6 or not np.all(np.isfinite(array)):
            raise InputError(
                f"points of shape {array.shape}; expected at least 6 rows (x, y) of finite numbers, in order."
            )
        if np.min(np.abs(np.diff(array, axis=0, append=array[:1])).sum(axis=1)) == 0.0:
            raise InputError("Two neighbouring points of the curve are the same; leave one out (the curve is closed).")

    def sample(self, points: int) -> CurvePoints:
        from scipy.interpolate import make_interp_spline  # takes a while to load, and few need it

        x, y = np.asarray(self.points, dtype=float).T
        given = np.append(x + 1j * y, x[0] + 1j * y[0])
        length = np.concatenate([[0.0], np.cumsum(np.sqrt(np.abs(np.diff(given))))])
        knots = 2.0 * np.pi * length / length[-1]
        spline = make_interp_spline(knots, np.stack([np.real(given), np.imag(given)], axis=1), k=5, bc_type="periodic")
        values = [spline(parameters(points), nu=order) for order in range(3)]
        return _counterclockwise(CurvePoints(*(value[:, 0] + 1j * value[:, 1] for value in values)))


def parameters(points: int) -> np.ndarray:
    """t = 2 pi k / points."""
    return 2.0 * np.pi * np.arange(points) / points


def _point(function: Callable[[float], Any], t: float) -> np.ndarray:
    try:
        point = np.asarray(function(float(t)), dtype=float)
    except (TypeError, ValueError):
        point = np.zeros(0)
    if point.shape != (2,) or not np.all(np.isfinite(point)):
        raise InputError(f"The curve at t = {t:.6g} is no point; expected two finite numbers (x, y).")
    return point


def _counterclockwise(curve: CurvePoints) -> CurvePoints:
    """The same curve, run through with the body on the left."""
    if np.sum(np.imag(np.conj(curve.z) * curve.dz)) >= 0.0:  # twice the area
        return curve
    z, dz, ddz = (np.roll(values[::-1], 1) for values in curve)
    return CurvePoints(z, -dz, ddz)
