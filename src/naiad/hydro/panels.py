"""Hess and Smith's panels: sources of constant density on the sides of a polygon [hess1967].

Normal velocities hold at the midpoint of each side, and the potential is taken there too, as in
[kanso2005, section 7.2].
"""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Complex, Float

from naiad.errors import InputError
from naiad.hydro.boundary import Boundary, Level, normal_motion
from naiad.hydro.crossing import crosses_itself, winds_around
from naiad.hydro.curve import AbstractCurve

FEWEST = 8


@dataclasses.dataclass(frozen=True, eq=False)
class Sides:
    """Sources of density 1 from `start` to `end`: w' = (conj(e)/2 pi) log((z - start)/(z - end)), e their direction."""

    start: Complex[np.ndarray, " n"]
    end: Complex[np.ndarray, " n"]

    @property
    def direction(self) -> Complex[np.ndarray, " n"]:
        return (self.end - self.start) / np.abs(self.end - self.start)

    def potential(self, z: Any, xp: Any) -> Any:
        """Re w; across the side the logarithm of the quotient jumps, and with it Im w only."""
        from_start, from_end = z - self.start, z - self.end
        length = np.abs(self.end - self.start)
        along = self.direction.conj() * from_start * xp.log(from_start / from_end)
        return (along.real + length * (xp.log(xp.abs(from_end)) - 1.0)) / (2.0 * np.pi)

    def normal_velocity(self, z: Any, normal: Any, xp: Any) -> Any:
        return (normal * self._velocity(z, xp)).real

    def velocity(self, z: Any) -> Any:
        return self._velocity(z, np)

    def gradient(self, z: Any) -> Any:
        return self.direction.conj() / (2.0 * np.pi) * (1.0 / (z - self.start) - 1.0 / (z - self.end))

    def _velocity(self, z: Any, xp: Any) -> Any:
        return self.direction.conj() / (2.0 * np.pi) * xp.log((z - self.start) / (z - self.end))


@dataclasses.dataclass(frozen=True, eq=False)
class PanelField:
    """The flow of panels with given densities.

    Logarithms are of (z - zeta)/(z - c) with c in the middle: their cuts lie inside a body that is seen whole from
    there. What the panels spill in total, which is zero for a smooth curve, is in the velocity and the potential and
    not in the stream function.
    """

    sides: Sides
    density: Float[np.ndarray, " n"]

    def complex_potential(self, z: Complex[np.ndarray, " m"]) -> Complex[np.ndarray, " m"]:
        start, end = self.sides.start, self.sides.end
        c, z = np.mean(start), z[:, None]
        parts = (z - start) * np.log((z - start) / (z - c)) - (z - end) * np.log((z - end) / (z - c))
        strength = self.density * np.abs(end - start)
        around = parts @ (self.density * self.sides.direction.conj()) - np.sum(strength)
        return (around + np.sum(strength) * np.log(np.abs(z[:, 0] - c))) / (2.0 * np.pi)

    def complex_velocity(self, z: Complex[np.ndarray, " m"]) -> Complex[np.ndarray, " m"]:
        return self.sides.velocity(z[:, None]) @ self.density


def panels(curve: AbstractCurve, points: int | None = None) -> Boundary:
    """The body whose outline is the polygon with `points` corners on the curve (50 if not given, as in the paper)."""
    count = 50 if points is None else points
    if count < FEWEST:
        raise InputError(f"points = {points}; expected {FEWEST} panels or more.")
    if crosses_itself(curve):
        raise InputError("The curve crosses itself; expected the outline of one body.")
    corners = curve.sample(count).z
    sides = Sides(corners, np.roll(corners, -1))
    z, normal, length = 0.5 * (sides.start + sides.end), -1j * sides.direction, np.abs(sides.end - sides.start)
    A = sides.normal_velocity(z[:, None], normal[:, None], np)
    np.fill_diagonal(A, 0.5)
    P = sides.potential(z[:, None], np)
    motion = normal_motion(z, normal)
    a = length[:, None] * motion
    b = np.linalg.solve(A.T, P.T @ a)
    return Boundary(
        curve,
        -b.T @ motion,
        (Level(z, normal, sides, A, motion, a, b),),
        field=lambda density: PanelField(sides, density),
        holds=lambda points: winds_around(corners, points),
    )
