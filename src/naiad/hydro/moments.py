"""Moments of inertia that a body can have."""

from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.numerics.arguments import checked_throughout

ROUNDING = 1e-9


@checked_throughout
def check_moments(name: str, J: Any, remedy: str = "") -> None:
    """Raise an `InputError` if no distribution of mass has the inertia J, a symmetric 3 x 3 matrix: the largest
    principal moment is at most the sum of the others, and equal to it for a flat body."""
    low, middle, high = np.linalg.eigvalsh(J)
    if high > (low + middle) * (1.0 + ROUNDING):
        raise InputError(
            f"{name} has the principal moments {low:.6g}, {middle:.6g}, {high:.6g}: no body has them, as the largest "
            f"is at most the sum of the others. Correct them{remedy}."
        )
