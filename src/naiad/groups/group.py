"""What a Lie group is to this library."""

import abc
import inspect
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.groups.arguments import explained_arguments
from naiad.numerics.linalg import transpose
from naiad.numerics.module import Module

Element = Any


class Names(NamedTuple):
    """The symbols of the components of an element, of a velocity, and of a momentum."""

    element: tuple[str, ...]
    velocity: tuple[str, ...]
    momentum: tuple[str, ...]


class AbstractGroup(Module):
    """A Lie group G, its algebra identified with R^dim and the dual with R^dim by the dot product.

    Velocities are left-trivialised: xi = g^-1 g'. An element is an array or a named tuple of arrays.
    """

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        _explain(cls)

    free: ClassVar[Any] = False
    """Whether all numbers make an element, so that no round-off leaves the group."""

    @property
    @abc.abstractmethod
    def dim(self) -> int:
        """The dimension of the algebra."""

    @property
    @abc.abstractmethod
    def names(self) -> Names:
        """The names of the components, in the order of `split` and of the leaves of an element."""

    @abc.abstractmethod
    def identity(self) -> Element:
        """The identity e."""

    @abc.abstractmethod
    def compose(self, g: Element, f: Element) -> Element:
        """The product g f."""

    @abc.abstractmethod
    def inverse(self, g: Element) -> Element:
        """The inverse of g."""

    @abc.abstractmethod
    def hat(self, x: Float[Array, " dim"]) -> Element:
        """The element of the matrix algebra (on S^3: of the quaternions) with coordinates x."""

    @abc.abstractmethod
    def vee(self, X: Element) -> Float[Array, " dim"]:
        """The coordinates of an element of the matrix algebra: vee(hat(x)) = x."""

    @abc.abstractmethod
    def Ad(self, g: Element, x: Float[Array, " dim"]) -> Float[Array, " dim"]:
        """The adjoint action Ad_g x = vee(g hat(x) g^-1)."""

    @abc.abstractmethod
    def ad(self, x: Float[Array, " dim"], y: Float[Array, " dim"]) -> Float[Array, " dim"]:
        """The bracket ad_x y = [x, y]."""

    @abc.abstractmethod
    def expm1(self, x: Float[Array, " dim"]) -> Element:
        """exp(x) - e in the ambient space, without cancellation for small x."""

    @abc.abstractmethod
    def advance(self, g: Element, d: Element) -> Element:
        """g (e + d), for a small difference d from the identity whose digits are kept."""

    @abc.abstractmethod
    def Ad_change(self, d: Element, x: Float[Array, " dim"]) -> Float[Array, " dim"]:
        """Ad_{e + d} x - x, for a small difference d from the identity whose digits are kept."""

    @abc.abstractmethod
    def tangent(self, g: Element, x: Float[Array, " dim"]) -> Element:
        """The velocity g' = d/ds g exp(s x) at s = 0 in the ambient space, shaped as g."""

    @abc.abstractmethod
    def log(self, g: Element) -> Float[Array, " dim"]:
        """The principal logarithm, the inverse of exp near the identity."""

    @abc.abstractmethod
    def act(self, g: Element, v: Any) -> Any:
        """The action of g on a vector v of the space that the group moves; on SE(2) and SE(3) v is a point."""

    @abc.abstractmethod
    def split(self, x: Float[Array, " dim"]) -> tuple[Array, ...]:
        """The components of a vector of the algebra or of its dual, in the order of `names`."""

    @abc.abstractmethod
    def error(self, g: Element) -> Float[Array, ""]:
        """How far g lies from the group: |R^T R - I| (Frobenius), | |q| - 1 |, 0 where nothing constrains g."""

    def rotations(self, g: Element) -> tuple[Any, ...]:
        """The rotation matrices in g, stacked along leading axes, if it has any."""
        return ()

    @abc.abstractmethod
    def renormalise(self, g: Element) -> Element:
        """One Newton step towards the group: squares an error of round-off size away."""

    @abc.abstractmethod
    def random(self, rng: np.random.Generator) -> Element:
        """A random element (NumPy): rotations uniform (Haar), translations standard normal."""

    def spin(self, x: Float[Array, " dim"]) -> Float[Array, ""]:
        """How fast x turns: the angular speed, the largest where several things turn, 0 where nothing does."""
        return jnp.zeros(())

    def versine(self, g: Element, f: Element) -> Float[Array, ""]:
        """1 - cos of the angle between g and f, the largest where several things turn, 0 where nothing does."""
        return jnp.zeros(())

    def exp(self, x: Float[Array, " dim"]) -> Element:
        """The exponential map."""
        return jax.tree.map(jnp.add, self.identity(), self.expm1(jnp.asarray(x, float)))

    def Ad_dual(self, g: Element, mu: Float[Array, " dim"]) -> Float[Array, " dim"]:
        """Ad*_g mu, defined by <Ad*_g mu, x> = <mu, Ad_g x>."""
        return transpose(lambda x: self.Ad(g, x), mu)

    def Ad_dual_advance(self, d: Element, mu: Float[Array, " dim"]) -> Float[Array, " dim"]:
        """Ad*_{e + d} mu, as mu and its change."""
        return mu + transpose(lambda x: self.Ad_change(d, x), mu)

    def ad_dual(self, x: Float[Array, " dim"], mu: Float[Array, " dim"]) -> Float[Array, " dim"]:
        """ad*_x mu, defined by <ad*_x mu, y> = <mu, ad_x y>."""
        return transpose(lambda y: self.ad(x, y), mu)


def _explain(cls: type) -> None:
    """Let the methods of a group that take arguments say which of these is wrong."""
    for name, value in list(vars(cls).items()):
        if inspect.isfunction(value) and not name.startswith("_") and _takes_arguments(value):
            setattr(cls, name, explained_arguments(value))


def _takes_arguments(method: Any) -> bool:
    return len(inspect.signature(method).parameters) > 1


_explain(AbstractGroup)
