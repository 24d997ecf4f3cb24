"""Thrusters fixed to a body."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.forces.force import AbstractForce, Motion, Wrench
from naiad.forces.signals import AbstractSignal, signal
from naiad.numerics import cross
from naiad.numerics.checks import finite, floats, namespace, unit_axis


class Thrusters(AbstractForce):
    """The wrench sum_i T_i(t) (r_i x d_i, d_i) of thrusters at the points r_i that push along the directions d_i, both
    in the body frame.

    `points` and `directions` have a row for each thruster (one row may be given as three numbers); directions need not
    be of length one. `thrust` is a number for each, in N, or a function of time that gives them.
    """

    points: Float[Array | np.ndarray, "n 3"]
    directions: Float[Array | np.ndarray, "n 3"]
    thrust: AbstractSignal

    def __init__(self, points: Any, directions: Any, thrust: Any):
        self.points = _rows("points", points)
        rows = _rows("directions", directions)
        self.directions = namespace(rows).stack(
            [unit_axis(f"Thrusters: directions[{i}]", row) for i, row in enumerate(rows)]
        )
        count = len(self.points)
        if len(self.directions) != count:
            raise InputError(
                f"Thrusters: {count} points but {len(self.directions)} directions; expected one direction each."
            )
        self.thrust = signal("Thrusters: thrust", thrust, count)

    def __call__(self, motion: Motion) -> Wrench:
        forces = self.thrust(motion.t)[:, None] * jnp.asarray(self.directions)
        torque = cross(jnp.asarray(self.points).T, forces.T)
        return jnp.sum(jnp.concatenate([torque, forces.T]), axis=1)


def _rows(name: str, value: Any) -> Any:
    array = floats(f"Thrusters: {name}", value)
    array = array[None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] != 3 or not len(array) or not finite(array):
        raise InputError(f"Thrusters: {name} = {value!r}; expected three finite numbers for each thruster.")
    return array
