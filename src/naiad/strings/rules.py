"""The discrete Lagrangians of a string: what an element, the ends, and the potentials at the nodes give to a step.

With the displacements D = g_{k+1} - g_k in the ambient space, L_d = h T(g*, D/h) - h (V_k + V_{k+1})/2, g* being g_k
(first order where T depends on g) or half-way (symmetric, second order); the elastic energy may be taken between both
ends instead, so that the step is not bound by the fastest wave.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.integrators.rules import AbstractRule, Implicit, Left, Midpoint
from naiad.mechanics import Scalar
from naiad.numerics import Module, static
from naiad.strings.kinetic import Form
from naiad.strings.parts import Span, Tip
from naiad.strings.system import StringSystem


class Rule(Module):
    """Where in a step the inertia is taken (0: at its start), which part of the forces acts at its start, and whether
    the elastic energy is taken between its ends."""

    place: float = static()
    force: float = static()
    implicit: bool = static()

    @property
    def symmetric(self) -> bool:
        """Whether the discrete Lagrangian is its own adjoint, whatever T."""
        return self.place == 0.5

    def linear(self, system: StringSystem) -> bool:
        """Whether the equations of the nodes are linear once the ends are known, each with the same couplings in all
        directions."""
        return not self.implicit and system.element_force is None and system.constraint is None

    def element_mean(
        self, system: StringSystem, index: Scalar, at: Span, rate: Span, t: Scalar, h: Scalar
    ) -> Float[Array, ""]:
        """The part of L_d / h that is not a potential at the nodes, of an element."""
        T = system.element_kinetic(index, moved(at, rate, self.place * h), rate)
        return T - self.stiff_between(system, at, moved(at, rate, h)) if self.implicit else T

    def stiff_between(self, system: StringSystem, at: Span, end: Span) -> Float[Array, ""]:
        """The stiff part of V of an element for a step between two places."""
        return system.stiff_between(at.length, at.s, end.length, end.s)

    def element_slopes(
        self, system: StringSystem, index: Scalar, at: Span, rate: Span, t: Scalar, h: Scalar
    ) -> tuple[Span, Span]:
        """Of that mean, D_g at constant rates, and the momenta at the start of the step, D_r - h D_g = - D_{g_k} L_d:
        what cancels between the two is left out."""
        form, by_s, by_speed = self.forms(system, index, at.s, rate.s, h)
        x, y, d = rate.near, rate.far, at.near - at.far
        whole = form.after(self.place * h)
        by_way = whole.by_way(x, y, d)
        by_place = Span(by_way, -by_way, by_s.value(x, y, d))
        legs = Span(*form.legs(self.place, h, x, y, d), moved(by_speed, by_s, -h).value(x, y, d))
        if not self.implicit:
            return by_place, legs
        end = moved(at, rate, h)
        by_start, by_end = jax.grad(self.stiff_between, argnums=(1, 2))(system, at, end)
        by_place = jax.tree.map(lambda T, a, b: T - (a + b), by_place, by_start, by_end)
        return by_place, moved(legs, by_start, h)

    def forms(self, system: StringSystem, index: Scalar, s: Any, speed: Any, h: Scalar) -> tuple[Form, Form, Form]:
        """T of an element where it is taken in a step that begins with s; and the derivatives in s and s', with the way
        at its start."""

        def form(s, speed):
            return system.kinetic_form(index, s + self.place * h * speed, speed)

        def whole(s, speed):
            return form(s, speed).after(self.place * h)

        s, speed, one = jnp.asarray(s, float), jnp.asarray(speed, float), jnp.ones(())
        by_s = jax.jvp(lambda s: whole(s, speed), (s,), (one,))[1]
        return form(s, speed), by_s, jax.jvp(lambda speed: whole(s, speed), (speed,), (one,))[1]

    def by_speed(
        self, system: StringSystem, index: Scalar, s: Any, speed: Any, h: Scalar
    ) -> tuple[Form, Form, Form, Form]:
        """T of an element where it is taken in a step, and what it makes of the momentum of s at the start, D_{s'} - h
        D_s; and the derivatives of both in s'."""

        def forms(speed):
            form, by_s, by_speed = self.forms(system, index, s, speed, h)
            return form, moved(by_speed, by_s, -h)

        values, slopes = jax.jvp(forms, (jnp.asarray(speed, float),), (jnp.ones(()),))
        return *values, *slopes

    def tip_mean(self, system: StringSystem, at: Tip, rate: Tip, t: Scalar, h: Scalar) -> Float[Array, ""]:
        """The same of the ends. Of the attitude it has the rate alone, on which T depends."""
        middle = moved(at._replace(R=None), rate._replace(R=None, frame=None), self.place * h)
        T = system.tip_kinetic(middle, rate)
        return T - system.inner_energy(middle, t + 0.5 * h) if self.implicit else T

    def element_potential(self, system: StringSystem, index: Scalar, at: Span, t: Scalar) -> Float[Array, ""]:
        """The potential of an element at the nodes of time."""
        smooth = system.element_potential(index, at, t)
        return smooth if self.implicit else smooth + system.stiff_potential(index, at, t)

    def tip_potential(self, system: StringSystem, at: Tip, t: Scalar) -> Float[Array, ""]:
        """That of the ends."""
        smooth = system.tip_potential(at, t)
        return smooth if self.implicit else smooth + system.inner_energy(at, t)


RULES: dict[type[AbstractRule], Rule] = {
    Left: Rule(0.0, 1.0, False),
    Midpoint: Rule(0.5, 0.5, False),
    Implicit: Rule(0.5, 0.5, True),
}
"""What the rules of the general integrator are for a string: `Left` is that of [lee2010, eq. (34)]."""


def element_rule(name: str, rule: AbstractRule) -> Rule:
    """The discrete Lagrangian of a string by a rule; `name` is who asks."""
    if type(rule) not in RULES:
        raise InputError(f"{name}: rule = {rule!r}; expected Left(), Midpoint() or Implicit().")
    return RULES[type(rule)]


def moved(at: Any, rate: Any, time: Scalar) -> Any:
    """at + time rate."""
    return jax.tree.map(lambda x, v: x + time * v, at, rate)
