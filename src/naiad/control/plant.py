"""A system with its controls, to be simulated."""

import abc
from typing import TYPE_CHECKING, Any, Self

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.control.doors import force_map
from naiad.control.transcription import Pushed
from naiad.groups import AbstractGroup
from naiad.integrators.rules import AbstractRule
from naiad.mechanics import LagrangianSystem, Scalar
from naiad.numerics.checks import vector


class AbstractActuated(LagrangianSystem):
    """A system on which controls act by a force map push(g, u, t), beside its own forces."""

    needs = ("system", "push", "u")
    if TYPE_CHECKING:
        system: LagrangianSystem
        push: Any
        u: Any

    @abc.abstractmethod
    def acting(self, t: Scalar) -> Float[Array, " nu"]:
        """The controls at a time."""

    @abc.abstractmethod
    def controlled(self, u: Any, t: Scalar) -> Self:
        """The same with other controls u, for a step that begins at t."""

    @property
    def group(self) -> AbstractGroup:
        """That of the system."""
        return self.system.group

    @property
    def discrete_lagrangian(self) -> Any:
        """That of the system."""
        return self.system.discrete_lagrangian

    @property
    def discrete_order(self) -> int:
        """That of the system."""
        return self.system.discrete_order

    @property
    def discrete_symmetric(self) -> bool:
        """As the system says."""
        return self.system.discrete_symmetric

    def discretised(self, rule: Any) -> Any:
        """As the system discretises itself."""
        own = self.system.discretised(rule)
        return rule if own is rule else ActuatedRule(own)

    @property
    def dissipation(self) -> Any:
        """The friction of the system."""
        return getattr(self.system, "dissipation", None)

    @property
    def temperature(self) -> Any:
        """The temperature of the system."""
        return getattr(self.system, "temperature", None)

    @property
    def diffusion(self) -> Any:
        """The random forces of the system."""
        return getattr(self.system, "diffusion", None)

    @property
    def constraint(self) -> Any:
        """The constraint of the system."""
        return self.system.constraint

    @property
    def limit(self) -> Any:
        """The limit of the system."""
        return self.system.limit

    @property
    def limit_words(self) -> str:
        """What the limit of the system means."""
        return self.system.limit_words

    @property
    def near_inertia(self) -> Any:
        """The matrix near the inertia of the system."""
        return self.system.near_inertia

    @property
    def structure(self) -> Any:
        """That of the system."""
        return self.system.structure

    @property
    def picture(self) -> Any:
        """That of the system."""
        return self.system.picture

    @property
    def units(self) -> Any:
        """The units of the system."""
        return self.system.units

    @property
    def definite(self) -> bool:
        """As the system says."""
        return self.system.definite

    @property
    def labels(self) -> Any:
        """Those of the system."""
        return self.system.labels

    def lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """That of the system."""
        return self.system.lagrangian(g, xi, t)

    def legendre(self, g: Any, xi: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """That of the system."""
        return self.system.legendre(g, xi, t)

    def velocity(self, g: Any, mu: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """That of the system."""
        return self.system.velocity(g, mu, t)

    @property
    def force(self) -> Any:
        """The system's own force and push(g, u, t)."""
        return self._force

    def _force(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, " n"]:
        pushed = self.push(g, self.acting(t), t)
        return pushed if self.system.force is None else pushed + self.system.force(g, xi, t)


class ActuatedRule(AbstractRule):
    """The discrete Lagrangian that a system makes of a rule, for what its controls do besides."""

    rule: AbstractRule

    def order(self, system):
        return self.rule.order(system.system)

    def symmetric(self, system):
        return self.rule.symmetric(system.system)

    def action(self, system, tau, g, xi, t, h):
        return self.rule.action(system.system, tau, g, xi, t, h)

    def slopes(self, system, tau, g, xi, t, h):
        return self.rule.slopes(system.system, tau, g, xi, t, h)

    def work(self, system, tau, g, xi, t, h):
        pushed: Any = Pushed(system.group, lambda g, xi, t: system.push(g, system.acting(t), t))
        acting = [pushed] if system.system.total_force is None else [pushed, system.system]
        works = [self.rule.work(each, tau, g, xi, t, h) for each in acting]
        return sum(left for left, _ in works), sum(right for _, right in works)


class Actuated(AbstractActuated):
    """A system on which controls u act by a force map, beside its own forces; u is held until it is replaced.

    `actuation` and `controls` are those of `solve`; the numbers of u are an argument of what is compiled.
    """

    system: LagrangianSystem
    push: Any
    u: Float[Array | np.ndarray, " nu"]

    def __init__(self, system: LagrangianSystem, u: Any, actuation: Any = None, controls: int | None = None):
        self.system = system
        self.push, count = force_map(system, actuation, controls)
        self.u = vector("u", u, count)

    def acting(self, t: Scalar) -> Float[Array, " nu"]:
        """u."""
        return jnp.asarray(self.u)

    def controlled(self, u: Any, t: Scalar) -> Self:
        """The same with other controls."""
        return self.replaced(u=u)
