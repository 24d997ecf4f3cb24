"""A string of finite elements with what hangs on it, as a Lagrangian system whose energies are sums over elements."""

import abc
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.groups import SO3, AbstractGroup, Power, Product, Rn
from naiad.mechanics.state import Scalar
from naiad.mechanics.string_motion import velocity
from naiad.mechanics.string_parts import Span, Tip, Vector
from naiad.mechanics.system import LagrangianSystem
from naiad.numerics import Chain


class StringSystem(LagrangianSystem):
    """ell = T - V of N elements on a line, T and V being sums over elements and over the two ends of the string.

    g = (q, s, R): the nodes after the guide way, in space; the length s of string on the reel, if it is `reeled`; the
    attitude of the body at the end, if it is `turning`. A subclass has `elements`, the number N, and gives the energies
    of an element, numbered from the guide way, and of the ends. All kinetic energies are quadratic in the rates. They
    may have

    - `stiff_potential(index, at, t)`: the part of an element's energy that an implicit-explicit step takes implicitly;
    - `reel_force(g, speed, t)`: the generalised force on s;
    - `guide(t)`: the place of the guide way, where the string begins (the origin if not given).

    A length of string on a reel that does not turn is `locked_at`.
    """

    needs = ("elements",)
    if TYPE_CHECKING:
        elements: ClassVar[int]

    reeled: ClassVar[bool] = False
    turning: ClassVar[bool] = False
    reel_force: ClassVar[Any] = None
    guide: ClassVar[Any] = None
    locked_at: ClassVar[Any] = 0.0
    definite = True

    @abc.abstractmethod
    def element_kinetic(self, index: Scalar, at: Span, rate: Span) -> Float[Array, ""]:
        """T of an element."""

    @abc.abstractmethod
    def element_potential(self, index: Scalar, at: Span, t: Scalar) -> Float[Array, ""]:
        """V of an element, without the stiff part."""

    @abc.abstractmethod
    def stiff_potential(self, index: Scalar, at: Span, t: Scalar) -> Float[Array, ""]:
        """The stiff part of V of an element: its elastic energy."""

    @abc.abstractmethod
    def tip_kinetic(self, at: Tip, rate: Tip) -> Float[Array, ""]:
        """T of the reel and of the body."""

    @abc.abstractmethod
    def tip_potential(self, at: Tip, t: Scalar) -> Float[Array, ""]:
        """V of the reel and of the body."""

    @property
    def group(self) -> AbstractGroup:
        """R^{3 N}, times R for a reel, times SO(3) for a body."""
        return Product(q=Power(Rn(3), self.elements), **self.ends)

    @property
    def ends(self) -> dict[str, AbstractGroup]:
        """The factors of the group after the nodes."""
        found: dict[str, AbstractGroup] = {"s": Rn(1)} if self.reeled else {}
        return found | ({"R": SO3()} if self.turning else {})

    @property
    def tip_group(self) -> Product:
        """The group of the last node, of the reel and of the body."""
        return Product(q=Rn(3), **self.ends)

    @property
    def structure(self) -> Chain:
        """Each node is coupled to its neighbours, and to the reel and the body."""
        return Chain(3, border=sum(factor.dim for factor in self.ends.values()))

    def start(self, t: Scalar) -> Vector:
        """Where the string begins."""
        return jnp.zeros(3) if self.guide is None else self.guide(t)

    def start_rate(self, t: Scalar, h: Scalar = 0.0) -> Vector:
        """The velocity of the guide way, or its mean over a step of h."""
        if self.guide is None:
            return jnp.zeros(3)
        if isinstance(h, float) and h == 0.0:
            return jax.jvp(self.guide, (jnp.asarray(t, float),), (jnp.ones(()),))[1]
        return (self.guide(t + h) - self.guide(t)) / h

    def wound(self, g: Any) -> Any:
        """The length on the reel."""
        return jnp.reshape(g.s, ()) if self.reeled else self.locked_at

    def tip_element(self, g: Any) -> Any:
        """The element of `tip_group` in a configuration, or in a change of one."""
        return self.tip_group.element([jnp.asarray(g.q)[-1], *(getattr(g, name) for name in self.ends)])

    def tip_place(self, element: Any) -> Tip:
        """What an element of `tip_group` says."""
        return Tip(element.q, self.wound(element), element.R if self.turning else None)

    def tip_rate(self, change: Any) -> Tip:
        """What a rate of change of such an element says; a locked reel has none."""
        return Tip(change.q, jnp.reshape(change.s, ()) if self.reeled else 0.0, change.R if self.turning else None)

    def kinetic_energy(self, g: Any, rate: Any, begin: tuple[Vector, Vector]) -> Float[Array, ""]:
        """T at a configuration, for rates of change in the ambient space (R' a matrix); `begin` are place and velocity
        of the guide way."""
        s, tip = self.wound(g), self.tip_rate(self.tip_element(rate))

        def element(carry, each):
            total, near, near_rate = carry
            index, far, far_rate = each
            T = self.element_kinetic(index, Span(near, far, s), Span(near_rate, far_rate, tip.s))
            return (total + T, far, far_rate), None

        each = (self.numbers(), jnp.asarray(g.q), jnp.asarray(rate.q))
        return jax.lax.scan(element, (self.tip_kinetic(self.tip_place(self.tip_element(g)), tip), *begin), each)[0][0]

    def potential(self, g: Any, t: Scalar) -> Float[Array, ""]:
        """V."""
        return self.smooth_potential(g, t) + self.elastic_energy(g, t)

    def smooth_potential(self, g: Any, t: Scalar) -> Float[Array, ""]:
        """V without the stiff part."""
        return self.tip_potential(self.tip_place(self.tip_element(g)), t) + jnp.sum(
            self._each(self.element_potential, g, t)
        )

    def elastic_energies(self, g: Any, t: Scalar = 0.0) -> Float[Array, " N"]:
        """The stiff part of V, of each element."""
        return self._each(self.stiff_potential, g, t)

    def elastic_energy(self, g: Any, t: Scalar = 0.0) -> Float[Array, ""]:
        """The stiff part of V."""
        return jnp.sum(self.elastic_energies(g, t))

    def lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """T - V."""
        begin = self.start(t), self.start_rate(t)
        return self.kinetic_energy(g, self.group.tangent(g, xi), begin) - self.potential(g, t)

    def velocity(self, g: Any, mu: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """The inverse of the inertia applied to mu, in O(N)."""
        return velocity(self, g, mu, t)

    def pictured(self, g: Any, t: Scalar) -> dict[str, Any]:
        """Where the string begins, the elastic energy of each element, and the place of what hangs at the end."""
        return {"guide": self.start(t), "elastic": self.elastic_energies(g, t), "x": self.body_place(g)}

    def body_place(self, g: Any) -> Vector:
        """Where a picture shows what hangs at the end: there, if not given."""
        return jnp.asarray(g.q)[-1]

    @property
    def force(self) -> Any:
        """What acts on the reel; none if nothing does."""
        return self._force if self.reeled and self.reel_force is not None else None

    def admissible(self, g: Any) -> Any:
        """Whether a step may start from a configuration."""
        return jnp.ones((), bool)

    def numbers(self) -> Float[Array, " N"]:
        """The numbers of the elements, from the guide way."""
        return jnp.arange(self.elements, dtype=float)

    def split(self, vector: Float[Array, " n"]) -> tuple[Float[Array, "N 3"], Float[Array, " m"]]:
        """The parts of a vector of the algebra or its dual: a row for each node, and what belongs to the ends."""
        size = 3 * self.elements
        return jnp.reshape(vector[:size], (self.elements, 3)), vector[size:]

    def _each(self, energy: Any, g: Any, t: Scalar) -> Float[Array, " N"]:
        s = self.wound(g)

        def element(near, each):
            index, far = each
            return far, energy(index, Span(near, far, s), t)

        return jax.lax.scan(element, self.start(t), (self.numbers(), jnp.asarray(g.q)))[1]

    def _force(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, " n"]:
        place = 3 * self.elements
        force = jnp.reshape(self.reel_force(g, xi[place], t), (1,))
        return jnp.concatenate([jnp.zeros(place), force, jnp.zeros(self.group.dim - place - 1)])
