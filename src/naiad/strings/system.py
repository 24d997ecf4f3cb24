"""A string of finite elements with what hangs on it, as a Lagrangian system whose energies are sums over elements."""

import abc
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.groups import SO3, AbstractGroup, Power, Product, Rn
from naiad.mechanics.labels import Label, place
from naiad.mechanics.picture import Picture
from naiad.mechanics.power import power
from naiad.mechanics.state import Scalar
from naiad.mechanics.system import LagrangianSystem
from naiad.numerics import Chain, Module, solve
from naiad.strings.elimination import Piece, eliminate, substitute
from naiad.strings.kinetic import Form
from naiad.strings.parts import Span, Tip, Vector, pairs


class StringSystem(LagrangianSystem):
    """ell = T - V of N elements on a line, T and V being sums over elements and over the two ends of the string.

    g = (q, s, w, R): the nodes after the guide way, in space; the length s of string on the reel, if it is `reeled`;
    the ways from the guide way to the nodes inside, if the string stretches there; the attitude of the body at the end,
    if it is `turning`. A subclass has `elements`, the number N, and gives the energies
    of an element, numbered from the guide way, and of the ends. All kinetic energies are quadratic in the rates. They
    may have

    - `stiff_potential(index, at, t)`: the part of an element's energy that an implicit-explicit step takes implicitly;
    - `reel_force(g, rates, t)`: the generalised force on s and w for their rates;
    - `element_force(index, at, rate, t)`: the generalised force of an element on its nodes and on s, a `Span`;
    - `tip_force(at, x, t)`: that on the ends, for a velocity x of `tip_group`, the torque in the body frame;
    - `joint_potential(index, before, at, after, s, t)`: an energy of the three nodes around the near node of an
      element, which is taken explicitly; the node before the guide way is the guide way itself;
    - `guide(t)`: the place of the guide way, where the string begins (the origin if not given);
    - `prescribed(t)`: the length s on a reel that is driven; one that does not turn has the length `locked_at`;
    - `link_length(s)`: the length that each element keeps with s on the reel, if it does not stretch;
    - `inner`: how many nodes there are inside; `drum(t)`, the way to the first of them where it is not free;
      `inner_energy(at, t)`, the stiff part of V there.
    """

    needs = ("elements",)
    if TYPE_CHECKING:
        elements: ClassVar[int]

    derives = ("lagrangian", "force", "constraint")
    reeled: ClassVar[bool] = False
    turning: ClassVar[bool] = False
    reel_force: ClassVar[Any] = None
    element_force: ClassVar[Any] = None
    tip_force: ClassVar[Any] = None
    joint_potential: ClassVar[Any] = None
    guide: ClassVar[Any] = None
    prescribed: ClassVar[Any] = None
    link_length: ClassVar[Any] = None
    locked_at: ClassVar[Any] = 0.0
    inner: ClassVar[int] = 0
    drum: ClassVar[Any] = None
    definite = True

    @abc.abstractmethod
    def kinetic_form(self, index: Scalar, s: Any, speed: Any) -> Form:
        """T of an element, which depends on its place by the way from node to node."""

    def element_kinetic(self, index: Scalar, at: Span, rate: Span) -> Float[Array, ""]:
        """Its value."""
        return self.kinetic_form(index, at.s, rate.s).value(rate.near, rate.far, at.near - at.far)

    def kinetic_momenta(self, index: Scalar, at: Span, rate: Span) -> Span:
        """Its derivatives in the rates."""
        return jax.grad(self.element_kinetic, argnums=2)(index, at, rate)

    @abc.abstractmethod
    def element_potential(self, index: Scalar, at: Span, t: Scalar) -> Float[Array, ""]:
        """V of an element, without the stiff part."""

    @abc.abstractmethod
    def stiff_potential(self, index: Scalar, at: Span, t: Scalar) -> Float[Array, ""]:
        """The stiff part of V of an element: its elastic energy."""

    @abc.abstractmethod
    def stiff_between(self, length: Any, s: Any, end_length: Any, end_s: Any) -> Float[Array, ""]:
        """The stiff part of V of an element for a step between two of its lengths, with s on the reel at each."""

    @abc.abstractmethod
    def tip_kinetic(self, at: Tip, rate: Tip) -> Float[Array, ""]:
        """T of the reel and of the body."""

    @abc.abstractmethod
    def tip_potential(self, at: Tip, t: Scalar) -> Float[Array, ""]:
        """V of the reel and of the body, without the stiff part."""

    def inner_energy(self, at: Tip, t: Scalar) -> Any:
        """The stiff part of V inside: none, if not given."""
        return 0.0

    labels: ClassVar[Any] = {
        **place("q", "nodes", ("node", "axis")),
        **place("s", "length on the reel", ("component",)),
        **place("w", "ways from the guide way to the nodes inside", ("inner",)),
        "guide": Label(("axis",), "guide way", "m"),
        "elastic": Label(("node",), "elastic energy of the element before each node", "J"),
        "x": Label(("axis",), "position of the body", "m"),
    }

    @property
    def group(self) -> Product:
        """R^{3 N}, times R for a reel, times R^M for what stretches on it, times SO(3) for a body."""
        return Product(q=Power(Rn(3), self.elements), **self.ends)

    @property
    def ends(self) -> dict[str, AbstractGroup]:
        """The factors of the group after the nodes."""
        found: dict[str, AbstractGroup] = {"s": Rn(1)} if self.reeled else {}
        if free := self.inner - (self.drum is not None and self.inner > 0):
            found["w"] = Rn(free)
        return found | ({"R": SO3()} if self.turning else {})

    @property
    def reel_dim(self) -> int:
        """How many numbers say what is on the reel: s and the free nodes inside."""
        return sum(factor.dim for name, factor in self.ends.items() if name != "R")

    @property
    def tip_group(self) -> Product:
        """The group of the last node, of the reel and of the body."""
        return Product(q=Rn(3), **self.ends)

    @property
    def structure(self) -> Chain:
        """Each node is coupled to its neighbours, and to the reel and the body."""
        return Chain(3, border=sum(factor.dim for factor in self.ends.values()))

    def outlet(self, t: Scalar) -> Vector:
        """Where the string begins."""
        return jnp.zeros(3) if self.guide is None else self.guide(t)

    def outlet_rate(self, t: Scalar, h: Scalar = 0.0) -> Vector:
        """The velocity of the guide way, or its mean over a step of h."""
        return jnp.zeros(3) if self.guide is None else _mean_rate(self.guide, t, h)

    def wound(self, g: Any, t: Scalar = 0.0) -> Any:
        """The length on the reel."""
        if self.reeled:
            return jnp.reshape(g.s, ())
        return self.locked_at if self.prescribed is None else self.prescribed(t)

    def reel_speed(self, ends: Float[Array, " m"], t: Scalar, h: Scalar = 0.0) -> Any:
        """s' of velocities of the ends; its mean over a step of h where it is prescribed."""
        if self.reeled:
            return ends[0]
        return 0.0 if self.prescribed is None else _mean_rate(self.prescribed, t, h)

    def inside(self, g: Any, t: Scalar = 0.0) -> Any:
        """The ways to the nodes inside; None if nothing stretches there."""
        if not self.inner:
            return None
        free = jnp.asarray(g.w) if "w" in self.ends else jnp.zeros(0)
        return free if self.drum is None else jnp.append(self.drum(t), free)

    def inside_rate(self, free: Float[Array, " m"], t: Scalar, h: Scalar = 0.0) -> Any:
        """Their rates, given those of the nodes that are free; that of one which is driven is its mean over a step of
        h."""
        if not self.inner:
            return None
        return free if self.drum is None else jnp.append(_mean_rate(self.drum, t, h), free)

    def tip_element(self, g: Any) -> Any:
        """The element of `tip_group` in a configuration, or in a change of one."""
        return self.tip_group.element([jnp.asarray(g.q)[-1], *(getattr(g, name) for name in self.ends)])

    def tip_place(self, element: Any, t: Scalar = 0.0) -> Tip:
        """What an element of `tip_group` says."""
        start = None if self.guide is None else self.outlet(t)
        R = element.R if self.turning else None
        return Tip(element.q, self.wound(element, t), R, start, self.inside(element, t))

    def tip_rate(self, change: Any, t: Scalar = 0.0, h: Scalar = 0.0) -> Tip:
        """What a rate of change of such an element says; what is given as a function of time has its mean rate over a
        step of h."""
        speed = self.reel_speed(jnp.reshape(change.s, (1,)) if self.reeled else jnp.zeros(0), t, h)
        start = None if self.guide is None else self.outlet_rate(t, h)
        inside = self.inside_rate(change.w if "w" in self.ends else jnp.zeros(0), t, h)
        return Tip(change.q, speed, change.R if self.turning else None, start, inside)

    def kinetic_energy(self, g: Any, rate: Any, t: Scalar) -> Float[Array, ""]:
        """T at a configuration, for rates of change in the ambient space (R' a matrix)."""
        s, tip = self.wound(g, t), self.tip_rate(self.tip_element(rate), t)

        def element(carry, each):
            total, near, near_rate = carry
            index, far, far_rate = each
            T = self.element_kinetic(index, Span(near, far, s), Span(near_rate, far_rate, tip.s))
            return (total + T, far, far_rate), None

        ends = self.tip_kinetic(self.tip_place(self.tip_element(g), t), tip)
        each = (self.numbers(), jnp.asarray(g.q), jnp.asarray(rate.q))
        return jax.lax.scan(element, (ends, self.outlet(t), self.outlet_rate(t)), each)[0][0]

    def potential(self, g: Any, t: Scalar) -> Float[Array, ""]:
        """V."""
        return self.smooth_potential(g, t) + self.elastic_energy(g, t)

    def smooth_potential(self, g: Any, t: Scalar) -> Float[Array, ""]:
        """V without the stiff part."""
        ends = self.tip_potential(self.tip_place(self.tip_element(g), t), t)
        return ends + self.joint_energy(g, t) + jnp.sum(self._each(self.element_potential, g, t))

    def joint_energy(self, g: Any, t: Scalar = 0.0) -> Any:
        """The energy of the joints between elements."""
        if self.joint_potential is None:
            return 0.0
        s = self.wound(g, t)

        def joint(carry, each):
            total, before, at = carry
            index, after = each
            return (total + self.joint_potential(index, before, at, after, s, t), at, after), None

        start = self.outlet(t)
        return jax.lax.scan(joint, (jnp.zeros(()), start, start), (self.numbers(), jnp.asarray(g.q)))[0][0]

    def elastic_energies(self, g: Any, t: Scalar = 0.0) -> Float[Array, " N"]:
        """The stiff part of V, of each element."""
        return self._each(self.stiff_potential, g, t)

    def elastic_energy(self, g: Any, t: Scalar = 0.0) -> Float[Array, ""]:
        """The stiff part of V."""
        inner = self.inner_energy(self.tip_place(self.tip_element(g), t), t)
        return jnp.sum(self.elastic_energies(g, t)) + inner

    def lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """T - V."""
        return self.kinetic_energy(g, self.group.tangent(g, xi), t) - self.potential(g, t)

    def velocity(self, g: Any, mu: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """xi with d ell/d xi = mu, in O(N): the nodes are eliminated up to the last, then the ends are solved for."""
        rows, ends = self.split(jnp.asarray(mu))
        s = self.wound(g, t)
        speed = 0.0 if self.reeled else self.reel_speed(jnp.zeros(0), t)

        def pieces(index, near, far):
            def momentum(rate):
                at = Span(near[0], far[0], s)
                return self.kinetic_momenta(index, at, Span.of(rate)).flat()

            rate = Span(near[2], jnp.zeros(3), speed).flat()
            target = jnp.concatenate([jnp.zeros(3), far[1], jnp.zeros(1)])
            return Piece(momentum(rate) - target, jax.jacfwd(momentum)(rate))

        zero = jnp.zeros_like(rows)
        begin, each = (self.outlet(t), jnp.zeros(3), self.outlet_rate(t)), (jnp.asarray(g.q), rows, zero)
        factors, last = eliminate(pieces, begin, (self.numbers(), each), scalar=True, border=self.reeled)
        group, at = self.tip_group, self.tip_element(g)

        def kinetic(x):
            return self.tip_kinetic(self.tip_place(at, t), self.tip_rate(group.tangent(at, x), t))

        nothing = jnp.zeros(group.dim)
        matrix, right = last.equations(group.dim)
        own = jnp.concatenate([jnp.zeros(3), ends]) - jax.grad(kinetic)(nothing)
        x = solve(matrix + jax.hessian(kinetic)(nothing), right + own)
        found, _, _ = substitute(factors, x[:3], x[3] if self.reeled else 0.0, zero)
        return jnp.concatenate([found.reshape(-1), x[3:]])

    @property
    def picture(self) -> Picture:
        """The string, in the colours of its elastic energy."""
        return Picture(seen=StringParts(self))

    def body_place(self, g: Any) -> Vector:
        """The place of what hangs at the end: there, if not given."""
        return jnp.asarray(g.q)[-1]

    @property
    def force(self) -> Any:
        """What acts on nodes, reel and body; none if nothing does."""
        given = (self.reel_force if self.reeled else None, self.element_force, self.tip_force)
        return None if all(each is None for each in given) else self.forces

    @property
    def uneven(self) -> bool:
        """Whether a one-sided discrete Lagrangian is of first order: T depends on s, or there are forces."""
        return self.reeled or self.prescribed is not None or self.force is not None

    def forces(
        self, g: Any, xi: Float[Array, " n"], t: Scalar, given: tuple[Vector, Any] | None = None
    ) -> Float[Array, " n"]:
        """The generalised force at a configuration and a velocity; `given` are the velocity of the guide way and s', if
        they are not those at t."""
        rows, ends = self.split(xi)
        outlet_rate, speed = (self.outlet_rate(t), self.reel_speed(ends, t)) if given is None else given
        total = jnp.zeros(3 + ends.size)
        if self.tip_force is not None:
            place = self.tip_place(self.tip_element(g), t)
            total = total + self.tip_force(place, jnp.concatenate([rows[-1], ends]), t)
        if self.reeled and self.reel_force is not None:
            on_reel = slice(3, 3 + self.reel_dim)
            total = total.at[on_reel].add(self.reel_force(g, ends[: self.reel_dim], t))
        if self.element_force is None:
            return jnp.concatenate([jnp.zeros(rows.size - 3), total])
        s = self.wound(g, t)

        def element(carry, each):
            index, near, far, near_rate, far_rate = each
            force = self.element_force(index, Span(near, far, s), Span(near_rate, far_rate, speed), t)
            return (force.near, carry[1] + force.s), carry[0] + force.far

        each = (self.numbers(), *pairs(self.outlet(t), g.q), *pairs(outlet_rate, rows))
        (_, on_reel), on_nodes = jax.lax.scan(element, (total[:3], jnp.zeros(())), each, reverse=True)
        ends = total[3:].at[0].add(on_reel) if self.reeled else total[3:]
        return jnp.concatenate([on_nodes.reshape(-1), ends])

    @property
    def constraint(self) -> Any:
        """(|d|^2 - l(s)^2)/2 of each element, if it keeps its length."""
        return None if self.link_length is None else self.links

    def power(self, state: Any, t: Scalar = 0.0) -> Float[Array, ""]:
        """F . xi - d ell/dt - lambda . d(constraint)/dt: the rate at which forces, a guide way that moves and a reel
        that is driven change E (see `naiad.mechanics.power`)."""
        return power(self, state, t)

    def admissible(self, g: Any, t: Scalar = 0.0) -> Any:
        """Whether a step may start from a configuration at t."""
        return jnp.ones((), bool)

    def numbers(self) -> Float[Array, " N"]:
        """The numbers of the elements, from the guide way."""
        return jnp.arange(self.elements, dtype=float)

    def split(self, vector: Float[Array, " n"]) -> tuple[Float[Array, "N 3"], Float[Array, " m"]]:
        """The parts of a vector of the algebra or its dual: a row for each node, and what belongs to the ends."""
        size = 3 * self.elements
        return jnp.reshape(vector[:size], (self.elements, 3)), vector[size:]

    def links(self, g: Any, t: Scalar = 0.0) -> Float[Array, " N"]:
        """(|d|^2 - l(s)^2)/2 of each element that should keep its length."""
        near, far = pairs(self.outlet(t), g.q)
        return 0.5 * (jnp.sum((far - near) ** 2, axis=1) - self.link_length(self.wound(g, t)) ** 2)

    def _each(self, energy: Any, g: Any, t: Scalar) -> Float[Array, " N"]:
        s = self.wound(g, t)

        def element(near, each):
            index, far = each
            return far, energy(index, Span(near, far, s), t)

        return jax.lax.scan(element, self.outlet(t), (self.numbers(), jnp.asarray(g.q)))[1]


def _mean_rate(function: Any, t: Scalar, h: Scalar) -> Any:
    """The rate of a function of time, or its mean over a step of h."""
    if isinstance(h, float) and h == 0.0:
        return jax.jvp(function, (jnp.asarray(t, float),), (jnp.ones(()),))[1]
    return (function(t + h) - function(t)) / h


class StringParts(Module):
    """What a drawing shows of a string besides its nodes: where it begins, the elastic energy of each element, and the
    place of what hangs at the end."""

    system: StringSystem

    def __call__(self, g: Any, t: Scalar) -> dict[str, Any]:
        system = self.system
        return {"guide": system.outlet(t), "elastic": system.elastic_energies(g, t), "x": system.body_place(g)}
