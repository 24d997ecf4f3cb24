"""Steps as constraints of an optimisation: the discrete Lagrange-d'Alembert principle with multipliers for variations.

The unknowns of a step from g_k are its inner velocities K (of shape (stages, n)) and the controls U at its stages, of
shape (stages, nu). The equations of a step are its inner balance, a(g_k, K, U) = m_k at every stage, and what it leads
to: g_{k+1} = g_k tau(x(K)) and m_{k+1} = m(g_k, K, U). `principle` is the scalar cost + sigma . a + gamma . m; its
gradient in the multipliers is the equations, so that one derivative of that gradient has Jacobian and Hessian.
"""

import abc
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import AbstractGroup
from naiad.integrators import VPRK, Variational
from naiad.mechanics import EulerPoincareSystem, LagrangianSystem, Scalar
from naiad.numerics import Module
from naiad.retractions import AbstractRetraction

Rows = Float[Array, "stages n"]


class Controlled(NamedTuple):
    """What acts and what it costs: the force map push(g, u, t), the cost rate cost(g, xi, u, t), and path(g, xi, u, t)
    <= 0 or None."""

    push: Any
    cost: Any
    path: Any


class AbstractTranscription(Module):
    """How a step of a method becomes equations of an optimisation."""

    @property
    @abc.abstractmethod
    def stages(self) -> int:
        """How often a step has inner velocities and controls of its own."""

    @property
    @abc.abstractmethod
    def times(self) -> tuple[float, ...]:
        """The times of the controls within a step, in steps."""

    @property
    @abc.abstractmethod
    def retraction(self) -> AbstractRetraction:
        """The map by which a step moves, and in which increments of the configurations are measured."""

    @abc.abstractmethod
    def displacement(self, K: Rows, h: Scalar) -> Float[Array, " n"]:
        """x of g_{k+1} = g_k tau(x)."""

    @abc.abstractmethod
    def principle(
        self,
        system: LagrangianSystem,
        controlled: Controlled,
        g: Any,
        K: Rows,
        U: Float[Array, "stages nu"],
        t: Scalar,
        h: Scalar,
        sigma: Rows,
        gamma: Float[Array, " n"],
    ) -> Float[Array, ""]:
        """cost + sigma . a + gamma . m_{k+1}."""

    @abc.abstractmethod
    def path(
        self, controlled: Controlled, group: AbstractGroup, g: Any, K: Rows, U: Any, t: Scalar, h: Scalar
    ) -> Float[Array, " c"]:
        """What must not be positive, at every stage."""


class VariationalSteps(AbstractTranscription):
    """Steps of `Variational` with a control that is constant over each: order 2.

    a is the left leg, m_{k+1} the right one, and the work of the control is spread over both nodes by the method's
    rule, as that of any force is.
    """

    method: Variational

    @property
    def stages(self) -> int:
        return 1

    @property
    def times(self) -> tuple[float, ...]:
        return (0.5,)

    @property
    def retraction(self) -> AbstractRetraction:
        return self.method.retraction

    def displacement(self, K, h):
        return h * K[0]

    def principle(self, system, controlled, g, K, U, t, h, sigma, gamma):
        group, tau, xi, u = system.group, self.retraction, K[0], U[0]
        legs = self.method.legs(system, g, xi, t, h)
        pushed = _Pushed(group, lambda g, xi, t: controlled.push(g, u, t))
        before, after = self.method.discrete(system).work(pushed, tau, g, xi, t, h)
        f = tau.tau(group, h * xi)
        end = group.compose(g, f)
        minus = legs.kinetic - legs.minus - before
        plus = group.Ad_dual(f, legs.kinetic) + legs.plus + after
        rate = controlled.cost(g, xi, u, t) + controlled.cost(end, xi, u, t + h)
        return 0.5 * h * rate + sigma[0] @ minus + gamma @ plus

    def path(self, controlled, group, g, K, U, t, h):
        return controlled.path(g, K[0], U[0], t)


class _Pushed(NamedTuple):
    """What a rule needs to know of a system to spread the work of a force."""

    group: AbstractGroup
    force: Any


class GaussSteps(AbstractTranscription):
    """Steps of `VPRK` with controls at the stages, so of the degree stages - 1 within a step: with Gauss's tableaux of 2
    and 3 stages the optimal cost is of order 4 and 6.

    With displacements sigma of the slopes the inner balance is the discrete Lagrange-d'Alembert principle,

        sigma . a + gamma . m_{k+1} = sum_j h b_j (d ell_j + (F_j + push_j) . delta_j),
        delta_j = dtau_{-Theta_j} dTheta_j + Ad_{tau(-Theta_j)} zeta,   zeta = - sum_i sigma_i,
        dK_i = (dtau^-1_x sigma_i / b_i + dtau^-1_{-x} gamma) / h,   dTheta_i = h sum_j a_ij dK_j,

    d ell_j being the change of ell(g_k tau(Theta_j), dtau_{-Theta_j} K_j) along them, in the notation of `VPRK`.
    """

    method: VPRK

    @property
    def stages(self) -> int:
        return len(self.method.tableau.b)

    @property
    def times(self) -> tuple[float, ...]:
        return self.method.tableau.c

    @property
    def retraction(self) -> AbstractRetraction:
        return self.method.retraction

    def displacement(self, K, h):
        return h * (jnp.asarray(self.method.tableau.b) @ K)

    def principle(self, system, controlled, g, K, U, t, h, sigma, gamma):
        group, tau = system.group, self.retraction
        a, b, c = map(jnp.asarray, self.method.tableau)
        x, zeta = self.displacement(K, h), -jnp.sum(sigma, axis=0)
        arriving = tau.dtau_inv(group, -x, gamma)
        dK = (jax.vmap(lambda each: tau.dtau_inv(group, x, each))(sigma) / b[:, None] + arriving) / h
        reduced = isinstance(system, EulerPoincareSystem)

        def stage(Theta, dTheta, K, dK, u, time):
            def lagrangian(moved, Theta, K):
                Xi = tau.dtau(group, -Theta, K)
                if reduced:
                    return system.reduced_lagrangian(Xi)
                point = group.compose(group.compose(g, tau.tau(group, moved)), tau.tau(group, Theta))
                return system.lagrangian(point, Xi, time)

            change = jax.jvp(lagrangian, (jnp.zeros_like(zeta), Theta, K), (zeta, dTheta, dK))[1]
            point, Xi = group.compose(g, tau.tau(group, Theta)), tau.dtau(group, -Theta, K)
            delta = tau.dtau(group, -Theta, dTheta) + group.Ad(tau.tau(group, -Theta), zeta)
            force = controlled.push(point, u, time)
            if system.force is not None:
                force = force + system.force(point, Xi, time)
            return controlled.cost(point, Xi, u, time) + change + force @ delta

        each = jax.lax.map(lambda at: stage(*at), (h * (a @ K), h * (a @ dK), K, dK, U, t + c * h))
        return h * (b @ each)

    def path(self, controlled, group, g, K, U, t, h):
        a, c, tau = jnp.asarray(self.method.tableau.a), jnp.asarray(self.method.tableau.c), self.retraction

        def stage(Theta, K, u, time):
            point = group.compose(g, tau.tau(group, Theta))
            return controlled.path(point, tau.dtau(group, -Theta, K), u, time)

        return jax.vmap(stage)(h * (a @ K), K, U, t + c * h).reshape(-1)
