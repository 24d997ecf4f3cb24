"""Drag by coefficients."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.forces.force import AbstractForce, Motion, Wrench
from naiad.hydro import rotation_matrix
from naiad.numerics import cross
from naiad.numerics.checks import finite, floats, friction_matrix, is_known, namespace, vector


class Drag(AbstractForce):
    """- D xi_r - Q (|xi_r| xi_r), element by element, xi_r = (Omega, v) relative to the water, angular first.

    `linear` is D and `quadratic` is Q: six numbers, one an axis, or a 6 x 6 matrix. They hold about the point `centre`
    and along the axes `R` (columns, in the body frame), where the drag is then moved from: a fin is a `Drag` at its
    place. D may not give energy (D + D^T has no negative eigenvalue), nor the diagonal of Q; what a full Q does off
    its diagonal is the caller's.
    """

    linear: Float[Array | np.ndarray, "6 6"]
    quadratic: Float[Array | np.ndarray, "6 6"]
    centre: Float[Array | np.ndarray, "3"]
    R: Float[Array | np.ndarray, "3 3"]

    def __init__(self, linear: Any = None, quadratic: Any = None, *, centre: Any = (0.0, 0.0, 0.0), R: Any = None):
        if linear is None and quadratic is None:
            raise InputError("Drag has no coefficients; give `linear`, `quadratic` or both.")
        self.linear = _coefficients("linear", linear)
        self.quadratic = _coefficients("quadratic", quadratic)
        friction_matrix("Drag: linear + linear^T", self.linear + self.linear.T, 6)
        if is_known(self.quadratic) and np.min(np.diag(self.quadratic)) < 0:
            raise InputError("Drag: quadratic has a negative coefficient on its diagonal; drag must not give energy.")
        self.centre = vector("Drag: centre", centre)
        self.R = np.eye(3) if R is None else rotation_matrix("Drag: R", R)

    def __call__(self, motion: Motion) -> Wrench:
        R = jnp.asarray(self.R)
        there = motion.through_water + cross(motion.Omega, jnp.asarray(self.centre))
        twist = jnp.concatenate([motion.Omega @ R, there @ R])
        wrench = -(jnp.asarray(self.linear) @ twist + jnp.asarray(self.quadratic) @ (jnp.abs(twist) * twist))
        force = R @ wrench[3:]
        return jnp.concatenate([R @ wrench[:3] + cross(jnp.asarray(self.centre), force), force])


def _coefficients(name: str, value: Any) -> Any:
    array = np.zeros(6) if value is None else floats(f"Drag: {name}", value)
    array = namespace(array).diag(array) if array.shape == (6,) else array
    if array.shape != (6, 6) or not finite(array):
        raise InputError(f"Drag: {name} = {value!r}; expected six finite numbers, angular first, or a 6 x 6 matrix.")
    return array
