"""The vector space R^n."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups.group import AbstractGroup, Names
from naiad.numerics.module import static

Vector = Float[Array, " n"]


class Rn(AbstractGroup):
    """R^n with addition; an element is an array (n,), and the action translates points."""

    n: int = static()

    free = True

    def __init__(self, n: int):
        if n < 1:
            raise InputError(f"Rn({n!r}): the dimension must be a positive integer; give for example Rn(3)")
        self.n = int(n)

    @property
    def dim(self) -> int:
        return self.n

    @property
    def names(self) -> Names:
        return Names(("q",), ("v",), ("p",))

    def identity(self) -> Vector:
        return jnp.zeros(self.n)

    def compose(self, g: Vector, f: Vector) -> Vector:
        return jnp.add(g, f)

    def inverse(self, g: Vector) -> Vector:
        return jnp.negative(g)

    def hat(self, x: Vector) -> Vector:
        return jnp.asarray(x)

    def vee(self, X: Vector) -> Vector:
        return jnp.asarray(X)

    def Ad(self, g: Vector, x: Vector) -> Vector:
        return jnp.asarray(x)

    def ad(self, x: Vector, y: Vector) -> Vector:
        return jnp.zeros_like(y)

    def expm1(self, x: Vector) -> Vector:
        return jnp.asarray(x)

    def advance(self, g: Vector, d: Vector) -> Vector:
        return jnp.add(g, d)

    def Ad_change(self, d: Vector, x: Vector) -> Vector:
        return jnp.zeros_like(x)

    def tangent(self, g: Vector, x: Vector) -> Vector:
        return jnp.asarray(x)

    def log(self, g: Vector) -> Vector:
        return jnp.asarray(g)

    def act(self, g: Vector, v: Vector) -> Vector:
        return jnp.add(g, v)

    def split(self, x: Vector) -> tuple[Vector]:
        return (jnp.asarray(x),)

    def error(self, g: Vector) -> Float[Array, ""]:
        return jnp.zeros(())

    def renormalise(self, g: Vector) -> Vector:
        return jnp.asarray(g)

    def random(self, rng: np.random.Generator) -> np.ndarray:
        return rng.standard_normal(self.n)
