"""The flow outside a curve from its values on the curve, at any distance.

An analytic function that is zero at infinity has, for z outside and any c inside,

    w(z) = int w dzeta/(zeta - z) / ((z - c) int dzeta/((zeta - z) (zeta - c))),

and with the trapezoidal rule for both integrals their errors near the curve cancel [barnett2015]: the
formula is as accurate at the curve as far away, as long as the values are resolved. So must 1/(zeta - c) be, which in a
slender body needs twice the nodes: the values are taken at more of them.
"""

import dataclasses

import numpy as np
from jaxtyping import Complex, Float

from naiad.hydro.curve import AbstractCurve, CurvePoints
from naiad.hydro.fourier import antiderivative, derivative, refined
from naiad.hydro.inside import point_inside

REFINEMENT = 3
PIECE = 1 << 19
"""Numbers in a matrix of points and nodes that are worked on at a time."""


@dataclasses.dataclass(frozen=True, eq=False)
class OuterField:
    """w = phi + i psi outside a curve, by its values on it and those of w'."""

    outline: CurvePoints
    values: Complex[np.ndarray, " n"]
    slopes: Complex[np.ndarray, " n"]

    def complex_potential(self, z: Complex[np.ndarray, " m"]) -> Complex[np.ndarray, " m"]:
        return _outside(self.outline, self.values, z)

    def complex_velocity(self, z: Complex[np.ndarray, " m"]) -> Complex[np.ndarray, " m"]:
        return _outside(self.outline, self.slopes, z)


def outer_field(curve: AbstractCurve, values: Complex[np.ndarray, " n"]) -> OuterField:
    """The field with these values of w at equal steps of the curve's parameter."""
    more = REFINEMENT * len(values)
    outline = curve.sample(more)
    return OuterField(outline, refined(values, more), refined(derivative(values), more) / outline.dz)


def boundary_values(outline: CurvePoints, density: Float[np.ndarray, "n k"]) -> Complex[np.ndarray, "n k"]:
    """w on the curve, from the fluid, of sources with a density per dt and no total: with Q its integral over t,

    w(z) = (1/2 pi) int Q dzeta/(z - zeta) = (1/2 pi) int (Q(zeta) - Q(z)) dzeta/(z - zeta),

    because dzeta/(z - zeta) has no integral for z outside; the last integrand is smooth up to the curve.
    """
    n = len(outline.z)
    Q = antiderivative(density)
    apart = outline.z[:, None] - outline.z
    np.fill_diagonal(apart, 1.0)
    kernel = outline.dz / apart
    np.fill_diagonal(kernel, 0.0)
    return (kernel @ Q - np.sum(kernel, axis=1)[:, None] * Q - (density - np.mean(density, axis=0))) / n


def _outside(outline: CurvePoints, values: np.ndarray, z: np.ndarray) -> np.ndarray:
    c = point_inside(outline)
    found = np.empty(len(z), dtype=complex)
    step = max(1, PIECE // len(values))
    for first in range(0, len(z), step):
        here = z[first : first + step, None]
        apart = outline.z - here
        nearest = np.argmin(np.abs(apart), axis=1)[:, None]
        on_node = np.take_along_axis(apart, nearest, axis=1)[:, 0] == 0.0
        weights = outline.dz / np.where(apart == 0.0, 1.0, apart)
        mean = (weights @ values) / (weights @ (1.0 / (outline.z - c))) / (here[:, 0] - c)
        found[first : first + step] = np.where(on_node, values[nearest[:, 0]], mean)
    return found
