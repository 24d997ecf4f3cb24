"""The outer solar system on 5 September 1994, 0 h, relative to the sun [hairer2006, section I.2.4].

Distances in AU, velocities in AU/day, masses relative to the sun's; the sun's mass includes the inner planets.
"""

import numpy as np

G = 2.95912208286e-4
"""AU^3 / (sun's mass day^2)."""

NAMES = ("Sun", "Jupiter", "Saturn", "Uranus", "Neptune", "Pluto")

MASSES = np.array(
    [1.00000597682, 0.000954786104043, 0.000285583733151, 0.0000437273164546, 0.0000517759138449, 1.0 / 1.3e8]
)

POSITIONS = np.array(
    [
        [0.0, 0.0, 0.0],
        [-3.5023653, -3.8169847, -1.5507963],
        [9.0755314, -3.0458353, -1.6483708],
        [8.3101420, -16.2901086, -7.2521278],
        [11.4707666, -25.7294829, -10.8169456],
        [-15.5387357, -25.2225594, -3.1902382],
    ]
)

VELOCITIES = np.array(
    [
        [0.0, 0.0, 0.0],
        [0.00565429, -0.00412490, -0.00190589],
        [0.00168318, 0.00483525, 0.00192462],
        [0.00354178, 0.00137102, 0.00055029],
        [0.00288930, 0.00114527, 0.00039677],
        [0.00276725, -0.00170702, -0.00136504],
    ]
)


def semi_major_axes(positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """1 / (2/r - v^2/mu) of each planet's osculating ellipse about the sun (negative if it escapes), in AU."""
    r, v = (values[..., 1:, :] - values[..., :1, :] for values in (positions, velocities))
    mu = G * (MASSES[0] + MASSES[1:])
    return 1.0 / (2.0 / np.linalg.norm(r, axis=-1) - np.sum(v**2, axis=-1) / mu)
