"""A retraction of its own for each factor of a product."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups.group import AbstractGroup
from naiad.groups.product import Product
from naiad.numerics.module import static
from naiad.retractions.retraction import AbstractRetraction

Vector = Float[Array, " dim"]


class PerFactor(AbstractRetraction):
    """The product of retractions, as in PerFactor(R=Cayley(), x=Exponential()) for Product(R=SO3(), x=Rn(3))."""

    labels: tuple[str, ...] = static()
    retractions: tuple[AbstractRetraction, ...]

    def __init__(self, **retractions: AbstractRetraction):
        if not retractions:
            raise InputError("PerFactor(): no maps were given; name one for each factor, as in PerFactor(R=Cayley())")
        self.labels, self.retractions = tuple(retractions), tuple(retractions.values())

    def increment(self, group: Product, x: Vector) -> Any:
        return group.element(self._each("increment", group, group.parts(x)))

    def inverse(self, group: Product, f: Any) -> Vector:
        return jnp.concatenate(self._each("inverse", group, f))

    def half(self, group: Product, x: Vector) -> Vector:
        return jnp.concatenate(self._each("half", group, group.parts(x)))

    def dtau(self, group: Product, x: Vector, y: Vector) -> Vector:
        return jnp.concatenate(self._each("dtau", group, group.parts(x), group.parts(y)))

    def dtau_inv(self, group: Product, x: Vector, y: Vector) -> Vector:
        return jnp.concatenate(self._each("dtau_inv", group, group.parts(x), group.parts(y)))

    def check(self, group: AbstractGroup) -> None:
        if not isinstance(group, Product) or set(group.labels) != set(self.labels):
            given = f"the factors {', '.join(group.labels)}" if isinstance(group, Product) else f"no factors: {group!r}"
            raise InputError(
                f"PerFactor has maps for the factors {', '.join(self.labels)}, but the group has {given}; "
                "give exactly one map for each factor of a Product, by its name"
            )
        self._each("check", group)

    def _each(self, method: str, group: Product, *arguments: Sequence[Any]) -> list[Any]:
        by_label = dict(zip(self.labels, self.retractions, strict=True))
        own = zip(group.labels, group.factors, *arguments, strict=True)
        return [getattr(by_label[label], method)(*rest) for label, *rest in own]
