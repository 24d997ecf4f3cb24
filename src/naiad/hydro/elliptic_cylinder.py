"""The elliptic cylinder across its axis: an ellipse in the plane."""

import math

import numpy as np

from naiad.hydro.frames import Inertia
from naiad.hydro.shape import AbstractShape
from naiad.numerics.checks import positive, positives


class EllipticCylinder(AbstractShape):
    """A cylinder whose section is the ellipse with semi-axes a along e_1 and b along e_2, for a unit of its length.

    In a fluid of density rho the added masses are rho pi b^2 along e_1 and rho pi a^2 along e_2, and the added moment
    rho pi (a^2 - b^2)^2 / 8. The circle (a = b) and the flat plate (one of them zero) are nothing special. Matrices are
    3 x 3, for (Omega, v_x, v_y).
    """

    a: float
    b: float

    def __post_init__(self):
        positives("(a, b)", (self.a, self.b), 2, zeros=1)

    @property
    def volume(self) -> float:
        """The area of the section."""
        return math.pi * float(self.a) * float(self.b)

    @property
    def centre(self) -> np.ndarray:
        return np.zeros(2)

    def added_inertia(self, density: float) -> Inertia:
        a, b = float(self.a), float(self.b)
        moment = ((a - b) * (a + b)) ** 2 / 8.0
        return positive("density", density) * math.pi * np.diag([moment, b * b, a * a])

    def inertia(self, density: float) -> Inertia:
        a, b = float(self.a), float(self.b)
        return self.displaced_mass(density) * np.diag([0.25 * (a * a + b * b), 1.0, 1.0])
