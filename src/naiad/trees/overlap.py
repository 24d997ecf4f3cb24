"""Do two ellipsoids overlap?"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar


def contact(axes_a: ArrayLike, R_a: ArrayLike, axes_b: ArrayLike, R_b: ArrayLike, apart: ArrayLike) -> float:
    """The contact function of two ellipsoids whose centres are `apart`: below 1 they overlap, at 1 they touch.

    max over 0 < s < 1 of s (1 - s) r . ((1 - s) A + s B)^-1 r, with A = R_a diag(a^2) R_a^T and so B [perram1985].
    """
    A, B = (np.asarray(R) * np.asarray(axes) ** 2 @ np.asarray(R).T for axes, R in ((axes_a, R_a), (axes_b, R_b)))
    r = np.asarray(apart, float)

    def negative(s: float) -> float:
        return -s * (1.0 - s) * float(r @ np.linalg.solve((1.0 - s) * A + s * B, r))

    found: Any = minimize_scalar(negative, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12})
    return -float(found.fun)


def overlapping(axes: np.ndarray, R: np.ndarray, centres: np.ndarray) -> list[tuple[int, int]]:
    """The pairs of ellipsoids that overlap."""
    reach = axes.max(1)
    distance = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    near = np.argwhere(np.triu(distance < reach[:, None] + reach[None], 1))
    return [
        (int(i), int(j)) for i, j in near if contact(axes[i], R[i], axes[j], R[j], centres[j] - centres[i]) < 1.0 - 1e-9
    ]
