"""Ellipsoids in an ideal fluid: any axes, spheroids, spheres."""

import math
from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.hydro.carlson import rd, rd_difference
from naiad.hydro.frames import Inertia
from naiad.hydro.shape import AbstractShape
from naiad.numerics.checks import positive, positives

THIN = 1e-100
"""The thickness, relative to the largest axis, that stands for none: its square is still a number."""


class Ellipsoid(AbstractShape):
    """An ellipsoid with the semi-axes `axes` = (a, b, c) along e_1, e_2, e_3, the origin at its centre.

    One of them may be zero: a disc, which has no volume but moves the fluid before it. With

        gamma_a = a b c int_0^inf dt / ((a^2 + t) D),   G_a = a b c int_0^inf dt / ((b^2 + t) (c^2 + t) D),
        D = sqrt((a^2 + t) (b^2 + t) (c^2 + t)),

    the added mass along e_1 and the added moment about it are, rho V being the displaced mass,

        rho V gamma_a / (gamma_b + gamma_c),   (rho V / 5) (b^2 - c^2)^2 G_a / (gamma_a + 2 (gamma_b - c^2 G_a))

    (c the shorter of the two) [lamb1932, arts. 114, 115]. This is [lee2009, eqs. (6), (7)], by gamma_a + gamma_b +
    gamma_c = 2 and gamma_c - gamma_b = (b^2 - c^2) G_a freed of the 0/0 of spheres, needles and discs.
    """

    axes: Any

    def __post_init__(self):
        axes = positives("axes", self.axes, 3, zeros=1)
        if np.min(axes[axes > 0]) < THIN * np.max(axes):
            raise InputError(f"axes = {self.axes!r}; expected a ratio of at most {1 / THIN:g} (or one axis of 0).")

    @property
    def volume(self) -> float:
        return 4.0 / 3.0 * math.pi * math.prod(map(float, self.axes))

    @property
    def centre(self) -> np.ndarray:
        return np.zeros(3)

    def added_inertia(self, density: float) -> Inertia:
        return positive("density", density) * np.diag(_of_unit_density(np.asarray(self.axes, dtype=float)))

    def inertia(self, density: float) -> Inertia:
        mass = self.displaced_mass(density)
        a2, b2, c2 = np.square(np.asarray(self.axes, dtype=float))
        return mass * np.diag([0.2 * (b2 + c2), 0.2 * (c2 + a2), 0.2 * (a2 + b2), 1.0, 1.0, 1.0])


class Spheroid(AbstractShape):
    """An ellipsoid of revolution about e_1: semi-axis `polar` along it, `equatorial` across. Prolate where polar is the
    larger, oblate where it is the smaller; a disc for polar = 0."""

    polar: float
    equatorial: float

    def __post_init__(self):
        positive("polar", self.polar, zero=True)
        positive("equatorial", self.equatorial)

    @property
    def volume(self) -> float:
        return self._ellipsoid.volume

    @property
    def centre(self) -> np.ndarray:
        return np.zeros(3)

    def added_inertia(self, density: float) -> Inertia:
        return self._ellipsoid.added_inertia(density)

    def inertia(self, density: float) -> Inertia:
        return self._ellipsoid.inertia(density)

    @property
    def _ellipsoid(self) -> Ellipsoid:
        return Ellipsoid((self.polar, self.equatorial, self.equatorial))


class Sphere(AbstractShape):
    """A sphere about the origin: its added mass is half of the displaced mass, and turning it moves no ideal fluid."""

    radius: float

    def __post_init__(self):
        positive("radius", self.radius)

    @property
    def volume(self) -> float:
        return 4.0 / 3.0 * math.pi * float(self.radius) ** 3

    @property
    def centre(self) -> np.ndarray:
        return np.zeros(3)

    def added_inertia(self, density: float) -> Inertia:
        return self.displaced_mass(density) * np.diag([0.0, 0.0, 0.0, 0.5, 0.5, 0.5])

    def inertia(self, density: float) -> Inertia:
        moment = 0.4 * float(self.radius) ** 2
        return self.displaced_mass(density) * np.diag([moment, moment, moment, 1.0, 1.0, 1.0])


def _of_unit_density(axes: np.ndarray) -> np.ndarray:
    """The six added inertias of an ellipsoid in a fluid of density 1, computed at a size near 1: a power of two, so
    that differences of the axes keep their digits."""
    size = 2.0 ** math.frexp(float(np.max(axes)))[1]
    a, b, c = (float(axis) for axis in np.maximum(axes / size, THIN))
    moments, masses = np.array([_about_and_along(*order) for order in ((a, b, c), (b, c, a), (c, a, b))]).T
    if not np.all(axes):  # a disc: exactly nothing where it cuts the fluid
        moments, masses = np.where(axes > 0, moments, 0.0), np.where(axes > 0, 0.0, masses)
    return np.concatenate([size**5 * moments, size**3 * masses])


def _about_and_along(a: float, b: float, c: float) -> tuple[float, float]:
    """The added moment about the first axis and the added mass along it, the integrals without their factor a b c."""
    b, c = max(b, c), min(b, c)
    gammas = [2.0 / 3.0 * rd(y * y, z * z, x * x) for x, y, z in ((a, b, c), (b, c, a), (c, a, b))]
    G = 2.0 / 3.0 * rd_difference(a * a, b * b, c * c)
    squares = ((b - c) * (b + c)) ** 2
    moment = squares * G / (gammas[0] + 2.0 * (gammas[1] - c * c * G))
    mass = gammas[0] / (gammas[1] + gammas[2])
    return 4.0 / 15.0 * math.pi * (a * b * c) * moment, 4.0 / 3.0 * math.pi * (a * b * c) * mass
