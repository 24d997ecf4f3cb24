"""Velocities of several bodies of the plane in the frame of one."""

from typing import Any

import numpy as np


def from_frame(poses: Any, k: int, xp: Any) -> Any:
    """The matrix from velocities written in the frame of body k to those in the bodies' own: Ad_{x^-1} on the diagonal,
    x = g_k^-1 g_i: (Omega, v) -> (Omega, R^T (v + Omega (-y, x)))."""
    rows = []
    for i in range(len(poses)):
        c, s = xp.cos(poses[k][0]), xp.sin(poses[k][0])
        dx, dy = poses[i][1] - poses[k][1], poses[i][2] - poses[k][2]
        x, y = c * dx + s * dy, c * dy - s * dx
        c, s = xp.cos(poses[i][0] - poses[k][0]), xp.sin(poses[i][0] - poses[k][0])
        one, zero = 1.0 + 0.0 * c, 0.0 * c
        block = xp.stack([one, zero, zero, s * x - c * y, c, s, s * y + c * x, -s, c]).reshape(3, 3)
        rows.append(xp.concatenate([block if j == i else np.zeros((3, 3)) for j in range(len(poses))], axis=1))
    return xp.concatenate(rows)
