"""The three-link fish of the paper: poses for its two angles."""

from typing import Any

import numpy as np

A, B, C = 10.0, 1.0, 2.0
LENGTH = A + C
DENSITY = 1.0 / np.pi


def poses(theta1: Any, theta2: Any, xp: Any = np) -> Any:
    """B1, B2, B3 with B3 at the origin [kanso2005, eq. (7.1)]."""
    outer = [
        xp.stack([theta, sign * LENGTH * (1.0 + xp.cos(theta)), sign * LENGTH * xp.sin(theta)])
        for sign, theta in ((1.0, xp.asarray(theta1)), (-1.0, xp.asarray(theta2)))
    ]
    return xp.stack([*outer, xp.zeros(3)])
