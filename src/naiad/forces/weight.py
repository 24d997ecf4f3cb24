"""Gravity and buoyancy of many bodies."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.numerics import Module
from naiad.numerics.checks import finite, floats, is_known


class Weight(Module):
    """V = -sum_i gravity . (m_i (c_i + R_i s_i) - d_i (c_i + R_i r_i)): gravity acts on the mass m_i of a body, at s_i
    in its frame from its centre c_i, buoyancy on the mass d_i of the fluid that it displaces, at r_i.

    `gravity` is a vector [m/s^2] in space; `mass`, `displaced` (none if not given), `lever` (r) and `mass_lever` (s),
    both zero if not given, are for all bodies or one for each.
    """

    gravity: Float[Array | np.ndarray, "3"]
    mass: Float[Array | np.ndarray, " *N"]
    displaced: Float[Array | np.ndarray, " *N"]
    lever: Float[Array | np.ndarray, "*N 3"]
    mass_lever: Float[Array | np.ndarray, "*N 3"] | None

    def __init__(
        self,
        gravity: Any,
        mass: Any,
        displaced: Any = 0.0,
        lever: Any = (0.0, 0.0, 0.0),
        mass_lever: Any = None,
    ):
        self.gravity = _finite("gravity", gravity)
        self.mass, self.displaced = _masses("mass", mass), _masses("displaced", displaced)
        self.lever = _finite("lever", lever)
        self.mass_lever = None if mass_lever is None else _finite("mass_lever", mass_lever)
        arms = self.lever, np.zeros(3) if self.mass_lever is None else self.mass_lever
        if self.gravity.shape != (3,) or any(arm.ndim not in (1, 2) or arm.shape[-1] != 3 for arm in arms):
            raise InputError(
                f"Weight: gravity has shape {self.gravity.shape} and levers {arms[0].shape}, {arms[1].shape}; expected "
                "three numbers, and three for all bodies or for each."
            )

    def fits(self, count: int) -> bool:
        """Whether the numbers are for so many bodies."""
        shapes = [np.shape(self.mass), np.shape(self.displaced), np.shape(self.lever)[:-1]]
        shapes += [] if self.mass_lever is None else [np.shape(self.mass_lever)[:-1]]
        return all(shape in ((), (count,)) for shape in shapes)

    def potential(self, R: Float[Array, "N 3 3"], centres: Float[Array, "N 3"]) -> Float[Array, ""]:
        """V at attitudes and centres."""
        count = len(centres)
        heavy = jnp.broadcast_to(jnp.asarray(self.mass) - jnp.asarray(self.displaced), (count,))
        lift = jnp.broadcast_to(jnp.asarray(self.displaced), (count,))
        arms = jnp.einsum("nij,nj->ni", R, jnp.broadcast_to(jnp.asarray(self.lever), (count, 3)))
        moment = heavy @ centres - lift @ arms
        if self.mass_lever is not None:
            from_centres = jnp.broadcast_to(jnp.asarray(self.mass_lever), (count, 3))
            moment = moment + jnp.einsum("n,nij,nj->i", jnp.broadcast_to(self.mass, (count,)), R, from_centres)
        return -moment @ jnp.asarray(self.gravity)


def _finite(name: str, value: Any) -> Any:
    array = floats(f"Weight: {name}", value)
    if not array.size or not finite(array):
        raise InputError(f"Weight: {name} = {value!r}; expected finite numbers.")
    return array


def _masses(name: str, value: Any) -> Any:
    array = _finite(name, value)
    if array.ndim > 1 or (is_known(array) and np.any(array < 0)):
        raise InputError(f"Weight: {name} = {value!r}; expected masses of at least 0, one for all bodies or for each.")
    return array
