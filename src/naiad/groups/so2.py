"""Rotations of the plane."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.groups.group import AbstractGroup, Names

Angle = Float[Array, ""]


def rotation(beta: Angle) -> Float[Array, "2 2"]:
    """The rotation matrix of the plane by the angle beta."""
    c, s = jnp.cos(beta), jnp.sin(beta)
    return jnp.stack([c, -s, s, c]).reshape(2, 2)


class SO2(AbstractGroup):
    """SO(2); an element is the angle beta, a scalar that is not wrapped, so that whole turns are counted."""

    free = True

    @property
    def dim(self) -> int:
        return 1

    @property
    def names(self) -> Names:
        return Names(("beta",), ("Omega",), ("Pi",))

    def identity(self) -> Angle:
        return jnp.zeros(())

    def compose(self, g: Angle, f: Angle) -> Angle:
        return jnp.add(g, f)

    def inverse(self, g: Angle) -> Angle:
        return jnp.negative(g)

    def hat(self, x: Float[Array, "1"]) -> Float[Array, "2 2"]:
        zero = jnp.zeros_like(x[0])
        return jnp.stack([zero, -x[0], x[0], zero]).reshape(2, 2)

    def vee(self, X: Float[Array, "2 2"]) -> Float[Array, "1"]:
        return 0.5 * jnp.stack([X[1, 0] - X[0, 1]])

    def Ad(self, g: Angle, x: Float[Array, "1"]) -> Float[Array, "1"]:
        return jnp.asarray(x)

    def ad(self, x: Float[Array, "1"], y: Float[Array, "1"]) -> Float[Array, "1"]:
        return jnp.zeros_like(y)

    def expm1(self, x: Float[Array, "1"]) -> Angle:
        return jnp.asarray(x)[0]

    def advance(self, g: Angle, d: Angle) -> Angle:
        return jnp.add(g, d)

    def Ad_change(self, d: Angle, x: Float[Array, "1"]) -> Float[Array, "1"]:
        return jnp.zeros_like(x)

    def tangent(self, g: Angle, x: Float[Array, "1"]) -> Float[Array, ""]:
        return jnp.asarray(x)[0]

    def log(self, g: Angle) -> Float[Array, "1"]:
        return jnp.reshape(g, (1,))

    def act(self, g: Angle, v: Float[Array, "2"]) -> Float[Array, "2"]:
        return rotation(g) @ v

    def split(self, x: Float[Array, "1"]) -> tuple[Float[Array, ""]]:
        return (jnp.asarray(x)[0],)

    def error(self, g: Angle) -> Float[Array, ""]:
        return jnp.zeros(())

    def spin(self, x: Float[Array, "1"]) -> Float[Array, ""]:
        return jnp.abs(x[0])

    def versine(self, g: Angle, f: Angle) -> Float[Array, ""]:
        return 1.0 - jnp.cos(f - g)

    def renormalise(self, g: Angle) -> Angle:
        return jnp.asarray(g)

    def random(self, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(rng.uniform(-np.pi, np.pi))
