"""Discrete Lagrangians: the action of one step, its derivatives, and the virtual work of the forces along it.

The step runs from g at time t to g tau(h xi) at t + h. `action` is L_d(g, xi, t, h); `work` is the pair (F^-, F^+) with
the virtual work F^- . eta_k + F^+ . eta_{k+1}, in the body frames of the two nodes.
"""

import abc
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics import LagrangianSystem, Scalar, left_gradient, pull_back
from naiad.numerics import Module
from naiad.numerics.arguments import checked_throughout
from naiad.retractions import AbstractRetraction

Covector = Float[Array, " n"]
Work = tuple[Covector, Covector]


class Slopes(NamedTuple):
    """The derivatives of a discrete Lagrangian, split between the nodes.

    The legs are (dtau^-1_{h xi})* kinetic - minus at the left node and (dtau^-1_{-h xi})* kinetic + plus at the right
    one. By autodiff kinetic = D_xi L_d / h and all of D_g L_d is in minus. Where ell is taken at the nodes the part of
    D_xi L_d that moves the right node cancels the same part of D_g L_d, and plus is the slope of ell there.
    """

    kinetic: Covector
    minus: Covector
    plus: Covector


class AbstractRule(Module):
    """A discrete Lagrangian built from a system's Lagrangian and forces.

    `by_action` says that its slopes are those of its action, by automatic differentiation.
    """

    by_action: ClassVar[bool] = False

    @abc.abstractmethod
    def order(self, system: LagrangianSystem) -> int:
        """The order of the discrete Lagrangian."""

    @abc.abstractmethod
    def symmetric(self, system: LagrangianSystem) -> bool:
        """Whether it equals its adjoint."""

    @abc.abstractmethod
    def action(
        self, system: LagrangianSystem, tau: AbstractRetraction, g: Any, xi: Covector, t: Scalar, h: Scalar
    ) -> Scalar:
        """L_d(g, xi, t, h)."""

    @abc.abstractmethod
    def slopes(
        self, system: LagrangianSystem, tau: AbstractRetraction, g: Any, xi: Covector, t: Scalar, h: Scalar
    ) -> Slopes:
        """The derivatives of L_d."""

    @abc.abstractmethod
    def work(
        self, system: LagrangianSystem, tau: AbstractRetraction, g: Any, xi: Covector, t: Scalar, h: Scalar
    ) -> Work:
        """(F^-, F^+)."""


@checked_throughout
def slopes_by_autodiff(
    rule: AbstractRule,
    system: LagrangianSystem,
    tau: AbstractRetraction,
    g: Any,
    xi: Covector,
    t: Scalar,
    h: Scalar,
) -> Slopes:
    """D_xi L_d / h, T*L_g D_g L_d and nothing at the right node, for any discrete Lagrangian."""
    by_g, by_xi = jax.grad(lambda g, xi: rule.action(system, tau, g, xi, t, h), argnums=(0, 1))(g, xi)
    return Slopes(by_xi / h, pull_back(system.group, g, by_g), jnp.zeros_like(xi))


def _node_slope(system: LagrangianSystem, g: Any, xi: Covector, t: Scalar) -> Covector:
    """T*L_g d ell / dg."""
    return left_gradient(system.group, lambda x: system.lagrangian(x, xi, t), g)


def _force(system: LagrangianSystem, g: Any, xi: Covector, t: Scalar) -> Covector:
    return jnp.zeros_like(xi) if system.total_force is None else system.total_force(g, xi, t)


def _end(system: LagrangianSystem, tau: AbstractRetraction, g: Any, xi: Covector, h: Scalar) -> Any:
    return system.group.compose(g, tau.tau(system.group, h * xi))


class Left(AbstractRule):
    """L_d = h ell(g_k, xi, t_k): first order, one-sided."""

    def order(self, system):
        return 1

    def symmetric(self, system):
        return False

    def action(self, system, tau, g, xi, t, h):
        return h * system.lagrangian(g, xi, t)

    def slopes(self, system, tau, g, xi, t, h):
        return Slopes(system.legendre(g, xi, t), h * _node_slope(system, g, xi, t), jnp.zeros_like(xi))

    def work(self, system, tau, g, xi, t, h):
        return h * _force(system, g, xi, t), jnp.zeros_like(xi)


class Right(AbstractRule):
    """L_d = h ell(g_{k+1}, xi, t_{k+1}): first order, the adjoint of `Left`."""

    def order(self, system):
        return 1

    def symmetric(self, system):
        return False

    def action(self, system, tau, g, xi, t, h):
        return h * system.lagrangian(_end(system, tau, g, xi, h), xi, t + h)

    def slopes(self, system, tau, g, xi, t, h):
        end = _end(system, tau, g, xi, h)
        return Slopes(system.legendre(end, xi, t + h), jnp.zeros_like(xi), h * _node_slope(system, end, xi, t + h))

    def work(self, system, tau, g, xi, t, h):
        return jnp.zeros_like(xi), h * _force(system, _end(system, tau, g, xi, h), xi, t + h)


class Trapezoid(AbstractRule):
    """L_d = h/2 (ell(g_k, xi, t_k) + ell(g_{k+1}, xi, t_{k+1})): second order, symmetric; explicit in a potential."""

    def order(self, system):
        return 2

    def symmetric(self, system):
        return True

    def action(self, system, tau, g, xi, t, h):
        end = _end(system, tau, g, xi, h)
        return 0.5 * h * (system.lagrangian(g, xi, t) + system.lagrangian(end, xi, t + h))

    def slopes(self, system, tau, g, xi, t, h):
        end = _end(system, tau, g, xi, h)
        kinetic = 0.5 * (system.legendre(g, xi, t) + system.legendre(end, xi, t + h))
        minus, plus = _node_slope(system, g, xi, t), _node_slope(system, end, xi, t + h)
        return Slopes(kinetic, 0.5 * h * minus, 0.5 * h * plus)

    def work(self, system, tau, g, xi, t, h):
        end = _end(system, tau, g, xi, h)
        return 0.5 * h * _force(system, g, xi, t), 0.5 * h * _force(system, end, xi, t + h)


class Midpoint(AbstractRule):
    """L_d = h ell(g_k f^(1/2), xi, t_k + h/2), f^(1/2) the root of f = tau(h xi): second order, symmetric."""

    by_action = True

    def order(self, system):
        return 2

    def symmetric(self, system):
        return True

    def action(self, system, tau, g, xi, t, h):
        half = tau.tau(system.group, tau.half(system.group, h * xi))
        return h * system.lagrangian(system.group.compose(g, half), xi, t + 0.5 * h)

    def slopes(self, system, tau, g, xi, t, h):
        return slopes_by_autodiff(self, system, tau, g, xi, t, h)

    def work(self, system, tau, g, xi, t, h):
        group = system.group
        half = tau.tau(group, tau.half(group, h * xi))
        force = 0.5 * h * _force(system, group.compose(g, half), xi, t + 0.5 * h)
        return group.Ad_dual(group.inverse(half), force), group.Ad_dual(half, force)


class Implicit(AbstractRule):
    """`Midpoint`, with what a system declares stiff taken between both ends of a step, so that its fastest waves do not
    bind h [stern2009]: the elastic energy of a string in `StringVariational`. Of a Lagrangian that declares nothing
    stiff every part is taken half-way, as `Midpoint` does."""

    def order(self, system):
        return 2

    def symmetric(self, system):
        return True

    def action(self, system, tau, g, xi, t, h):
        return Midpoint().action(system, tau, g, xi, t, h)

    def slopes(self, system, tau, g, xi, t, h):
        return Midpoint().slopes(system, tau, g, xi, t, h)

    def work(self, system, tau, g, xi, t, h):
        return Midpoint().work(system, tau, g, xi, t, h)


class Own(AbstractRule):
    """The system's own discrete Lagrangian; its forces by the trapezoid."""

    by_action = True

    def order(self, system):
        return system.discrete_order

    def symmetric(self, system):
        return system.discrete_symmetric

    def action(self, system, tau, g, xi, t, h):
        return system.discrete_lagrangian(g, xi, t, h, tau)

    def slopes(self, system, tau, g, xi, t, h):
        return slopes_by_autodiff(self, system, tau, g, xi, t, h)

    def work(self, system, tau, g, xi, t, h):
        return Trapezoid().work(system, tau, g, xi, t, h)


class AdjointRule(AbstractRule):
    """L_d*(g_k, g_{k+1}, h) = -L_d(g_{k+1}, g_k, -h): its map is the inverse of the step by -h."""

    rule: AbstractRule

    def order(self, system):
        return self.rule.order(system)

    def symmetric(self, system):
        return self.rule.symmetric(system)

    def action(self, system, tau, g, xi, t, h):
        return -self.rule.action(system, tau, _end(system, tau, g, xi, h), xi, t + h, -h)

    def slopes(self, system, tau, g, xi, t, h):
        return slopes_by_autodiff(self, system, tau, g, xi, t, h)

    def work(self, system, tau, g, xi, t, h):
        minus, plus = self.rule.work(system, tau, _end(system, tau, g, xi, h), xi, t + h, -h)
        return -plus, -minus
