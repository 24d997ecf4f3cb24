"""Two circles by images: dipoles in each, reflected in the other by the circle theorem until they vanish."""

import numpy as np


def added_masses(radii: tuple[float, float], distance: float, density: float) -> np.ndarray:
    """The 4 x 4 matrix for (v_x, v_y) of each circle, the second at `distance` along e_1 from the first.

    A circle of radius a with velocity U makes the dipole -U a^2 / (z - c). In a circle of radius b about 0 the image of
    m/(z - d) is -conj(m) (b/d)^2 / (z - b^2/d). By Green, the momentum of the fluid at circle i is
    -2 pi rho m_i - rho pi a_i^2 U_i, where m_i is the sum of the dipoles inside.
    """
    M = np.zeros((4, 4))
    centres = (0.0, distance)
    for mover in range(2):
        for axis, velocity in enumerate((1.0, 1.0j)):
            inside = [0.0j, 0.0j]
            where, m, at = mover, -velocity * radii[mover] ** 2, centres[mover]
            while abs(m) > 1e-18 * radii[mover] ** 2:
                inside[where] += m
                other = 1 - where
                d = at - centres[other]
                m, at = -np.conj(m) * (radii[other] / d) ** 2, centres[other] + radii[other] ** 2 / d
                where = other
            for circle in range(2):
                own = velocity * radii[circle] ** 2 if circle == mover else 0.0
                momentum = -density * np.pi * (2.0 * inside[circle] + own)
                M[2 * circle : 2 * circle + 2, 2 * mover + axis] = momentum.real, momentum.imag
    return M
