"""A plane that bounds the fluid, by images."""

from typing import Any

import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.numerics import Module, static
from naiad.numerics.checks import vector

KINDS = {"wall": 1.0, "surface": -1.0}


class Plane(Module):
    """The plane normal . x = height; the fluid is where normal . x is larger.

    `kind` is "wall", through which nothing flows, or "surface", a free surface in its limit of high frequency: the
    potential is zero there, as it is for motions that are over before gravity makes waves of them. For water under a
    surface at the height z = 0 the normal, which points into it, is (0, 0, -1).
    """

    normal: Float[Array | np.ndarray, "3"]
    height: float
    kind: str = static()

    def __init__(self, normal: Any = (0.0, 0.0, 1.0), height: float = 0.0, kind: str = "wall"):
        normal = vector("normal", normal)
        length = float(np.linalg.norm(normal))
        if not length > 0.0:
            raise InputError("normal = (0, 0, 0); expected the direction from the plane into the fluid.")
        if kind not in KINDS:
            raise InputError(f"kind = {kind!r}; expected one of {', '.join(KINDS)}.")
        self.normal = normal / length
        self.height = float(vector("height", [height], 1)[0])
        self.kind = kind

    @property
    def sign(self) -> float:
        """That of the dipoles of an image."""
        return KINDS[self.kind]

    def mirrored(self, x: Any, xp: Any = np) -> Any:
        """The image of points, rows."""
        n = xp.asarray(self.normal)
        return x - 2.0 * (x @ n - self.height)[..., None] * n

    def mirror(self, xp: Any = np) -> Any:
        """1 - 2 n n^T."""
        n = xp.asarray(self.normal)
        return xp.eye(3) - 2.0 * n[:, None] * n
