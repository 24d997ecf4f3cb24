"""Do two ellipsoids overlap?"""

import numpy as np
from numpy.typing import ArrayLike

HALVINGS = 60  # of the interval in which the maximum lies: down to the spacing of numbers


def contact(axes_a: ArrayLike, R_a: ArrayLike, axes_b: ArrayLike, R_b: ArrayLike, apart: ArrayLike) -> float:
    """The contact function of two ellipsoids whose centres are `apart`: below 1 they overlap, at 1 they touch.

    max over 0 < s < 1 of s (1 - s) r . ((1 - s) A + s B)^-1 r, with A = R_a diag(a^2) R_a^T and so B [perram1985]. In
    the frame in which A is the identity and B has the diagonal d, that is the maximum of the concave sum of
    u_i^2 s (1 - s) / (1 - s + s d_i), where the sum of u_i^2 ((1 - s)^2 - s^2 d_i) / (1 - s + s d_i)^2 changes sign.
    """
    halves = [np.asarray(R) * np.asarray(axes, float) for axes, R in ((axes_a, R_a), (axes_b, R_b))]
    V, d, _ = np.linalg.svd(np.linalg.solve(halves[0], halves[1]))
    u = V.T @ np.linalg.solve(halves[0], np.asarray(apart, float))
    terms = list(zip((u**2).tolist(), (d**2).tolist(), strict=True))
    low, high, s = 0.0, 1.0, 0.5
    for _ in range(HALVINGS):
        rises = sum(u2 * ((1.0 - s) ** 2 - s**2 * d) / (1.0 - s + s * d) ** 2 for u2, d in terms) > 0.0
        low, high = (s, high) if rises else (low, s)
        s = 0.5 * (low + high)
    return sum(u2 * s * (1.0 - s) / (1.0 - s + s * d) for u2, d in terms)


def overlapping(axes: np.ndarray, R: np.ndarray, centres: np.ndarray) -> list[tuple[int, int]]:
    """The pairs of ellipsoids that overlap."""
    reach = axes.max(1)
    distance = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    near = np.argwhere(np.triu(distance < reach[:, None] + reach[None], 1))
    return [
        (int(i), int(j)) for i, j in near if contact(axes[i], R[i], axes[j], R[j], centres[j] - centres[i]) < 1.0 - 1e-9
    ]
