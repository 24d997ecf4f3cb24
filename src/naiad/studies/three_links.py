"""The geometry of the three-link fish: two ellipses hinged to a third [kanso2005, section 7]."""

from typing import NamedTuple

import numpy as np

from naiad.hydro import Ellipse, PlanarBodies


class ThreeLinks(NamedTuple):
    """Semi-axes a and b of each link, and the distance c from its tip to the hinge. B3 is the middle one."""

    a: float
    b: float
    c: float

    @property
    def length(self) -> float:
        """From the middle of a link to its hinge."""
        return self.a + self.c

    @property
    def signs(self) -> np.ndarray:
        """On which side of B3 the links B1 and B2 are."""
        return np.array([1.0, -1.0])

    def bodies(self, density: float, points: int | None, boundary: str) -> PlanarBodies:
        """The three ellipses in a fluid."""
        return PlanarBodies([Ellipse(self.a, self.b)] * 3, density, points=points, boundary=boundary)

    def poses(self, theta: np.ndarray) -> np.ndarray:
        """(beta, x, y) of B1, B2 and B3 in the frame of B3 [kanso2005, eq. (7.1)]."""
        lever = self.signs * self.length
        outer = np.stack([theta, lever * (1.0 + np.cos(theta)), lever * np.sin(theta)], axis=1)
        return np.concatenate([outer, np.zeros((1, 3))])

    def velocities(self, theta: np.ndarray, rates: np.ndarray, xi3: np.ndarray) -> np.ndarray:
        """(Omega, v_x, v_y) of each link in its own frame, xi_alpha = zeta_alpha + Ad_{x_alpha^-1} xi3 with
        zeta_alpha = (1, 0, +-l) theta_alpha'."""
        rows = []
        for (beta, x, y), sign, rate in zip(self.poses(theta)[:2], self.signs, rates, strict=True):
            Omega, carried = xi3[0], complex(xi3[1], xi3[2]) + 1j * xi3[0] * complex(x, y)
            v = carried * np.exp(-1j * beta) + 1j * sign * self.length * rate
            rows.append([Omega + rate, v.real, v.imag])
        return np.array([*rows, xi3])
