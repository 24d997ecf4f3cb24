"""What a retraction is to this library, and how one on simple groups extends to products and powers."""

import abc
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups.group import AbstractGroup, Element
from naiad.groups.power import Power
from naiad.groups.product import Product
from naiad.groups.rn import Rn
from naiad.numerics.linalg import transpose
from naiad.numerics.module import Module

Vector = Float[Array, " dim"]


class AbstractRetraction(Module):
    """A map tau from the algebra to the group near the identity, with tau(0) = e, D tau(0) = 1, tau(-x) = tau(x)^-1.

    dtau is right-trivialised, D tau(x).y = dtau_x(y) tau(x) [bourabee2007, section 4.1], so that
    dtau_x = Ad_{tau(x)} dtau_{-x}.
    """

    @abc.abstractmethod
    def increment(self, group: AbstractGroup, x: Vector) -> Element:
        """tau(x) - e in the ambient space, without cancellation for small x."""

    @abc.abstractmethod
    def inverse(self, group: AbstractGroup, f: Element) -> Vector:
        """The vector x with tau(x) = f, for f near the identity."""

    @abc.abstractmethod
    def half(self, group: AbstractGroup, x: Vector) -> Vector:
        """The vector y with tau(y) tau(y) = tau(x): half of the increment, not of the vector."""

    @abc.abstractmethod
    def dtau(self, group: AbstractGroup, x: Vector, y: Vector) -> Vector:
        """dtau_x(y)."""

    @abc.abstractmethod
    def dtau_inv(self, group: AbstractGroup, x: Vector, y: Vector) -> Vector:
        """dtau_x^-1(y)."""

    @abc.abstractmethod
    def check(self, group: AbstractGroup) -> None:
        """Raise an `InputError` unless the map lives on the group."""

    def tau(self, group: AbstractGroup, x: Vector) -> Element:
        """The group element tau(x)."""
        return jax.tree.map(jnp.add, group.identity(), self.increment(group, x))

    def dtau_dual(self, group: AbstractGroup, x: Vector, mu: Vector) -> Vector:
        """(dtau_x)* mu, defined by <(dtau_x)* mu, y> = <mu, dtau_x(y)>."""
        return transpose(lambda y: self.dtau(group, x, y), mu)

    def dtau_inv_dual(self, group: AbstractGroup, x: Vector, mu: Vector) -> Vector:
        """(dtau_x^-1)* mu, the operator of the discrete Lie-Poisson equation [bourabee2007, eq. (4.6.3)]."""
        return transpose(lambda y: self.dtau_inv(group, x, y), mu)


class AbstractSimpleRetraction(AbstractRetraction):
    """A retraction given on simple groups: the identity on R^n, the same map on every factor of a product or power."""

    groups: ClassVar[tuple[type[AbstractGroup], ...]]
    """The simple groups on which the map lives."""

    def increment(self, group: AbstractGroup, x: Vector) -> Element:
        if isinstance(group, Rn):
            return jnp.asarray(x)
        if isinstance(group, Product):
            return group.element(map(self.increment, group.factors, group.parts(x)))
        if isinstance(group, Power):
            return jax.vmap(lambda own: self.increment(group.base, own))(group.stack(x))
        self.check(group)
        return self._increment(group, x)

    def inverse(self, group: AbstractGroup, f: Element) -> Vector:
        if isinstance(group, Rn):
            return jnp.asarray(f)
        if isinstance(group, Product):
            return jnp.concatenate([self.inverse(*own) for own in zip(group.factors, f, strict=True)])
        if isinstance(group, Power):
            return jax.vmap(lambda own: self.inverse(group.base, own))(f).reshape(-1)
        self.check(group)
        return self._inverse(group, f)

    def half(self, group: AbstractGroup, x: Vector) -> Vector:
        if isinstance(group, Rn):
            return 0.5 * x
        return self._vector("half", group, x)

    def dtau(self, group: AbstractGroup, x: Vector, y: Vector) -> Vector:
        return jnp.asarray(y) if isinstance(group, Rn) else self._vector("dtau", group, x, y)

    def dtau_inv(self, group: AbstractGroup, x: Vector, y: Vector) -> Vector:
        return jnp.asarray(y) if isinstance(group, Rn) else self._vector("dtau_inv", group, x, y)

    def check(self, group: AbstractGroup) -> None:
        if isinstance(group, (*self.groups, Rn)):
            return
        if isinstance(group, Product):
            for factor in group.factors:
                self.check(factor)
        elif isinstance(group, Power):
            self.check(group.base)
        else:
            homes = ", ".join(home.__name__ for home in self.groups)
            raise InputError(
                f"{type(self).__name__} was given {group!r}, but it lives on {homes}, and on products and powers of "
                "these and of Rn; use Exponential() or Cayley() there, or PerFactor to choose a map for each factor"
            )

    def _vector(self, method: str, group: AbstractGroup, *vectors: Vector) -> Vector:
        """A method from vectors to a vector, factor by factor."""
        operation = getattr(self, method)
        if isinstance(group, Product):
            parts = zip(group.factors, *map(group.parts, vectors), strict=True)
            return jnp.concatenate([operation(*own) for own in parts])
        if isinstance(group, Power):
            stacks = map(group.stack, vectors)
            return jax.vmap(lambda *own: operation(group.base, *own))(*stacks).reshape(-1)
        self.check(group)
        return getattr(self, f"_{method}")(group, *vectors)

    @abc.abstractmethod
    def _increment(self, group: Any, x: Vector) -> Element:
        """`increment` on a simple group."""

    @abc.abstractmethod
    def _inverse(self, group: Any, f: Element) -> Vector:
        """`inverse` on a simple group."""

    @abc.abstractmethod
    def _half(self, group: Any, x: Vector) -> Vector:
        """`half` on a simple group."""

    @abc.abstractmethod
    def _dtau(self, group: Any, x: Vector, y: Vector) -> Vector:
        """`dtau` on a simple group."""

    @abc.abstractmethod
    def _dtau_inv(self, group: Any, x: Vector, y: Vector) -> Vector:
        """`dtau_inv` on a simple group."""
