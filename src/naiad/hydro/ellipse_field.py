"""The flow outside an ellipse from its values on it: a power series of the map to the outside of the unit circle.

With z = (a + b)/2 zeta + (a - b)/2 / zeta the ellipse is zeta = e^{it}, and an analytic function that is zero at
infinity is w = sum_k c_k zeta^-k, k > 0, up to the ellipse: the c_k are the Fourier coefficients of its values there.
"""

import dataclasses

import numpy as np
from jaxtyping import Bool, Complex

from naiad.hydro.curve import Ellipse

NEGLIGIBLE = 1e-17


@dataclasses.dataclass(frozen=True, eq=False)
class EllipseField:
    """A field by its coefficients c_1, c_2, ..."""

    ellipse: Ellipse
    coefficients: Complex[np.ndarray, " n"]

    def complex_potential(self, z: Complex[np.ndarray, " m"]) -> Complex[np.ndarray, " m"]:
        return _series(self.coefficients, 1.0 / _mapped(self.ellipse, z)[0])

    def complex_velocity(self, z: Complex[np.ndarray, " m"]) -> Complex[np.ndarray, " m"]:
        zeta, root = _mapped(self.ellipse, z)
        slopes = np.arange(1, len(self.coefficients) + 1) * self.coefficients
        return -_series(slopes, 1.0 / zeta) / root


def ellipse_field(ellipse: Ellipse, values: Complex[np.ndarray, " n"]) -> EllipseField:
    """The field with these values of w at t = 2 pi k / n."""
    coefficients = np.fft.ifft(values)[1 : (len(values) + 1) // 2]
    told = np.flatnonzero(np.abs(coefficients) > NEGLIGIBLE * np.max(np.abs(coefficients)))
    return EllipseField(ellipse, coefficients[: told[-1] + 1 if len(told) else 1])


def inside_ellipse(ellipse: Ellipse, z: Complex[np.ndarray, " m"]) -> Bool[np.ndarray, " m"]:
    """Whether points lie inside; a point on the ellipse (to 1e-13 of the size) does not."""
    x, y = np.real(z) / ellipse.a, np.imag(z) / ellipse.b
    slope = 2.0 * np.hypot(x / ellipse.a, y / ellipse.b)
    return x * x + y * y - 1.0 < -2e-13 * max(ellipse.a, ellipse.b) * slope


def _mapped(ellipse: Ellipse, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """zeta, and the root sqrt(z^2 - a^2 + b^2) = zeta dz/dzeta; its cut joins the foci, inside the ellipse."""
    turn = 1.0 if ellipse.a >= ellipse.b else 1.0j
    focus = np.sqrt(abs(ellipse.a**2 - ellipse.b**2))
    along = z / turn
    root = turn * np.sqrt(along - focus) * np.sqrt(along + focus)
    return (z + root) / (ellipse.a + ellipse.b), root


def _series(coefficients: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """sum_k c_k inverse^k, by Horner."""
    total = np.zeros_like(inverse)
    for c in coefficients[::-1]:
        total = (total + c) * inverse
    return total
