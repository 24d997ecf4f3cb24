"""States of Kirchhoff's equations with given integrals, on a plane of section."""

from typing import NamedTuple

import numpy as np

from naiad.errors import InputError

AXES = {"px": 0, "py": 1, "pz": 2}
PLASTIC = 1.32471795724474602596
"""The plastic number: multiples of its first two inverse powers fill the unit square evenly."""


class LevelSet(NamedTuple):
    """The momenta (Pi, p) with p_axis = 0, |p| = p_norm, Pi.p = pi_dot_p and mu . K^-1 mu / 2 = energy.

    p = |p| u(phi) lies on a circle. Pi = (Pi.p/|p|) u + y_1 e_axis x u + y_2 e_axis, where y lies on an ellipse, the
    level line of a quadratic function: two angles are coordinates.
    """

    K: np.ndarray
    axis: int
    pi_dot_p: float
    p_norm: float
    energy: float

    def least_energy(self, phi: float) -> float:
        """The least energy of all Pi at an angle phi of p; the level set has a point there if it is not above
        `energy`."""
        return self._ellipse(phi)[0]

    def momentum(self, phi: float, theta: np.ndarray | float) -> np.ndarray | None:
        """(Pi, p) at two angles (rows of them for an array theta), or None where there is none."""
        least, centre, plane, shape = self._ellipse(phi)
        if least > self.energy:
            return None
        radius = np.sqrt(2.0 * (self.energy - least))
        y = np.linalg.solve(shape.T, radius * np.stack([np.cos(theta), np.sin(theta)]))
        return centre + (plane @ y).T

    def rate(self, mu: np.ndarray) -> float:
        """p_axis', with p' = p x Omega."""
        Omega = np.linalg.solve(self.K, mu)[:3]
        return float(np.cross(mu[3:], Omega)[self.axis])

    def spread(self, count: int, direction: int) -> np.ndarray:
        """`count` momenta spread over the angles, the same every time; those that cross in the direction (0: all)."""
        found: list[np.ndarray] = []
        steps = np.array([1.0 / PLASTIC, 1.0 / PLASTIC**2])
        for number in range(1000 + 200 * count):
            mu = self.momentum(*(2.0 * np.pi * ((0.5 + number * steps) % 1.0)))
            if mu is not None and direction * self.rate(mu) >= 0.0:
                found.append(mu)
            if len(found) == count:
                return np.array(found)
        least = min(self.least_energy(phi) for phi in np.linspace(0.0, 2.0 * np.pi, 721))
        raise InputError(
            f"no states with energy {self.energy:g}, |p| = {self.p_norm:g} and Pi.p = {self.pi_dot_p:g} were found on "
            f"the section: there the least energy is {least:.6g}; give an energy well above it"
        )

    def _ellipse(self, phi: float) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """The least energy at phi, the momentum there, the plane of y, and the Cholesky factor of the energy in it."""
        first, second, normal = np.roll(np.eye(3), 2 - self.axis, axis=0)
        along = np.cos(phi) * first + np.sin(phi) * second
        base = np.concatenate([self.pi_dot_p / self.p_norm * along, self.p_norm * along])
        plane = np.zeros((6, 2))
        plane[:3] = np.stack([np.cross(normal, along), normal], axis=1)
        inverse = np.linalg.inv(self.K)
        form = plane.T @ inverse @ plane
        centre = base - plane @ np.linalg.solve(form, plane.T @ inverse @ base)
        return float(0.5 * centre @ inverse @ centre), centre, plane, np.linalg.cholesky(form)
