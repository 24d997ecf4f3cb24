"""Powers of a group: many copies, held in stacked arrays."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups.group import AbstractGroup, Names
from naiad.numerics.module import static

Vector = Float[Array, " dim"]


class Power(AbstractGroup):
    """The direct product of `count` copies of a group, as in Power(SO3(), 10).

    An element has the base's leaves stacked on axis 0; a vector of the algebra is the concatenation of the copies'
    vectors; `split` gives components stacked on axis 0.
    """

    base: AbstractGroup
    count: int = static()

    def __init__(self, base: AbstractGroup, count: int):
        if count < 1:
            raise InputError(
                f"Power({base!r}, {count!r}): the count must be a positive integer, as in Power(SO3(), 10)"
            )
        self.base, self.count = base, int(count)

    @property
    def dim(self) -> int:
        return self.count * self.base.dim

    @property
    def free(self) -> bool:
        """As its base is."""
        return self.base.free

    @property
    def names(self) -> Names:
        return self.base.names

    def stack(self, x: Vector) -> Float[Array, "count n"]:
        """The vectors of the copies in x, as rows."""
        return jnp.reshape(x, (self.count, self.base.dim))

    def identity(self) -> Any:
        return jax.vmap(lambda _: self.base.identity())(jnp.arange(self.count))

    def compose(self, g: Any, f: Any) -> Any:
        return jax.vmap(self.base.compose)(g, f)

    def inverse(self, g: Any) -> Any:
        return jax.vmap(self.base.inverse)(g)

    def hat(self, x: Vector) -> Any:
        return jax.vmap(self.base.hat)(self.stack(x))

    def vee(self, X: Any) -> Vector:
        return jax.vmap(self.base.vee)(X).reshape(-1)

    def Ad(self, g: Any, x: Vector) -> Vector:
        return jax.vmap(self.base.Ad)(g, self.stack(x)).reshape(-1)

    def ad(self, x: Vector, y: Vector) -> Vector:
        return jax.vmap(self.base.ad)(self.stack(x), self.stack(y)).reshape(-1)

    def expm1(self, x: Vector) -> Any:
        return jax.vmap(self.base.expm1)(self.stack(x))

    def advance(self, g: Any, d: Any) -> Any:
        return jax.vmap(self.base.advance)(g, d)

    def Ad_change(self, d: Any, x: Vector) -> Vector:
        return jax.vmap(self.base.Ad_change)(d, self.stack(x)).reshape(-1)

    def tangent(self, g: Any, x: Vector) -> Any:
        return jax.vmap(self.base.tangent)(g, self.stack(x))

    def log(self, g: Any) -> Vector:
        return jax.vmap(self.base.log)(g).reshape(-1)

    def act(self, g: Any, v: Any) -> Any:
        return jax.vmap(self.base.act)(g, v)

    def split(self, x: Vector) -> tuple[Array, ...]:
        return jax.vmap(self.base.split)(self.stack(x))

    def error(self, g: Any) -> Float[Array, ""]:
        return jnp.sqrt(jnp.sum(jax.vmap(self.base.error)(g) ** 2))

    def spin(self, x: Vector) -> Float[Array, ""]:
        return jnp.max(jax.vmap(self.base.spin)(self.stack(x)))

    def versine(self, g: Any, f: Any) -> Float[Array, ""]:
        return jnp.max(jax.vmap(self.base.versine)(g, f))

    def rotations(self, g: Any) -> tuple[Any, ...]:
        return self.base.rotations(g)

    def renormalise(self, g: Any) -> Any:
        return jax.vmap(self.base.renormalise)(g)

    def random(self, rng: np.random.Generator) -> Any:
        copies = [self.base.random(rng) for _ in range(self.count)]
        return jax.tree.map(lambda *leaves: np.stack(leaves), *copies)
