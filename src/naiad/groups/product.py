"""Direct products of groups."""

import functools
from collections import namedtuple
from collections.abc import Iterable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups.group import AbstractGroup, Names
from naiad.numerics.module import static

Vector = Float[Array, " dim"]


class Product(AbstractGroup):
    """The direct product of named groups, as in Product(R=SO3(), x=Rn(3)).

    An element is a named tuple with a field for each factor; vectors of the algebra are concatenated in that order. The
    space on which it acts is the product of the factors' spaces: `act` takes and gives a tuple of vectors.
    """

    labels: tuple[str, ...] = static()
    factors: tuple[AbstractGroup, ...]

    def __init__(self, **factors: AbstractGroup):
        if not factors:
            raise InputError("Product(): no factors were given; name at least one, as in Product(R=SO3(), x=Rn(3))")
        self.labels = tuple(factors)
        self.factors = tuple(factors.values())
        element_class(self.labels)

    @property
    def dim(self) -> int:
        return sum(factor.dim for factor in self.factors)

    @property
    def free(self) -> bool:
        """As all its factors are."""
        return all(factor.free for factor in self.factors)

    @property
    def names(self) -> Names:
        element, velocity, momentum = [], [], []
        for label, factor in zip(self.labels, self.factors, strict=True):
            own = factor.names
            element += [label] if len(own.element) == 1 else [f"{label}_{name}" for name in own.element]
            velocity += [f"{label}_{name}" for name in own.velocity]
            momentum += [f"{label}_{name}" for name in own.momentum]
        return Names(tuple(element), tuple(velocity), tuple(momentum))

    def element(self, parts: Iterable[Any]) -> Any:
        """The named tuple of one part for each factor."""
        return element_class(self.labels)(*parts)

    def parts(self, x: Vector) -> list[Array]:
        """The vectors of the factors' algebras in x."""
        ends = np.cumsum([factor.dim for factor in self.factors])
        return [jnp.asarray(x)[end - factor.dim : end] for factor, end in zip(self.factors, ends, strict=True)]

    def identity(self) -> Any:
        return self.element(factor.identity() for factor in self.factors)

    def compose(self, g: Any, f: Any) -> Any:
        return self._element("compose", g, f)

    def inverse(self, g: Any) -> Any:
        return self._element("inverse", g)

    def hat(self, x: Vector) -> Any:
        return self._element("hat", self.parts(x))

    def vee(self, X: Any) -> Vector:
        return self._vector("vee", X)

    def Ad(self, g: Any, x: Vector) -> Vector:
        return self._vector("Ad", g, self.parts(x))

    def ad(self, x: Vector, y: Vector) -> Vector:
        return self._vector("ad", self.parts(x), self.parts(y))

    def expm1(self, x: Vector) -> Any:
        return self._element("expm1", self.parts(x))

    def advance(self, g: Any, d: Any) -> Any:
        return self._element("advance", g, d)

    def Ad_change(self, d: Any, x: Vector) -> Vector:
        return self._vector("Ad_change", d, self.parts(x))

    def tangent(self, g: Any, x: Vector) -> Any:
        return self._element("tangent", g, self.parts(x))

    def log(self, g: Any) -> Vector:
        return self._vector("log", g)

    def act(self, g: Any, v: Sequence[Any]) -> Any:
        return self._element("act", g, v)

    def split(self, x: Vector) -> tuple[Array, ...]:
        return tuple(component for split in self._each("split", self.parts(x)) for component in split)

    def error(self, g: Any) -> Float[Array, ""]:
        return jnp.sqrt(sum(error**2 for error in self._each("error", g)))

    def spin(self, x: Vector) -> Float[Array, ""]:
        return functools.reduce(jnp.maximum, self._each("spin", self.parts(x)))

    def versine(self, g: Any, f: Any) -> Float[Array, ""]:
        return functools.reduce(jnp.maximum, self._each("versine", g, f))

    def rotations(self, g: Any) -> tuple[Any, ...]:
        return tuple(R for factor, part in zip(self.factors, g, strict=True) for R in factor.rotations(part))

    def renormalise(self, g: Any) -> Any:
        return self._element("renormalise", g)

    def random(self, rng: np.random.Generator) -> Any:
        return self.element(factor.random(rng) for factor in self.factors)

    def _each(self, method: str, *arguments: Sequence[Any]) -> list[Any]:
        return [getattr(factor, method)(*own) for factor, *own in zip(self.factors, *arguments, strict=True)]

    def _element(self, method: str, *arguments: Sequence[Any]) -> Any:
        return self.element(self._each(method, *arguments))

    def _vector(self, method: str, *arguments: Sequence[Any]) -> Vector:
        return jnp.concatenate(self._each(method, *arguments))


@functools.cache
def element_class(labels: tuple[str, ...]) -> type:
    """The named tuple class with these fields; the same for the same labels, so that pytree structures agree."""
    try:
        base = namedtuple("Element", labels)  # ty: ignore[mismatched-type-name]
    except ValueError as error:
        raise InputError(
            f"Product: {error}; name the factors by plain words, as in Product(R=SO3(), x=Rn(3))"
        ) from None
    return type("Element", (base,), {"__slots__": (), "__reduce__": lambda self: (_restore, (labels, tuple(self)))})


def _restore(labels: tuple[str, ...], parts: tuple[Any, ...]) -> Any:
    return element_class(labels)(*parts)
