"""Steps as constraints of an optimisation: the discrete Lagrange-d'Alembert principle with multipliers for variations.

The unknowns of a step from g_k are its inner unknowns K (rows of n) and the controls U at its stages, of shape
(stages, nu). The equations of a step are as many inner ones, of which the last is a balance a(g_k, K, U) = m_k, and
what it leads to: g_{k+1} = g_k tau(x(K)) and m_{k+1} = m(g_k, K, U). `principle` is the scalar cost + sigma . a +
gamma . m; its gradient in the multipliers is the equations, so that one derivative of that gradient has Jacobian and
Hessian.
"""

import abc
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.groups import AbstractGroup
from naiad.integrators import VPRK, Trapezoid, Variational
from naiad.mechanics import LagrangianSystem, Scalar, is_euler_poincare
from naiad.numerics import Module
from naiad.retractions import AbstractRetraction

Rows = Float[Array, "inner n"]


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
        """How often a step has controls of its own."""

    @property
    @abc.abstractmethod
    def inner(self) -> int:
        """Rows of inner unknowns."""

    @property
    @abc.abstractmethod
    def times(self) -> tuple[float, ...]:
        """The times of the controls within a step, in steps."""

    @property
    @abc.abstractmethod
    def retraction(self) -> AbstractRetraction:
        """The map by which a step moves."""

    @abc.abstractmethod
    def displacement(self, K: Rows, h: Scalar) -> Float[Array, " n"]:
        """x of g_{k+1} = g_k tau(x)."""

    @abc.abstractmethod
    def guessed(self, x: Float[Array, " n"], m: Float[Array, " n"], h: Scalar) -> Rows:
        """Inner unknowns of a step that moves by x, where the momentum is about m."""

    @abc.abstractmethod
    def rescaled(self, K: np.ndarray, ratio: float) -> np.ndarray:
        """Inner unknowns of steps that are `ratio` times as long."""

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
    rule, as that of any force is. With -sigma and gamma as displacements of the nodes, sigma . a + gamma . m_{k+1} is
    the change of the action, h xi changing by dtau^-1_{h xi} sigma + dtau^-1_{-h xi} gamma, and the work of the forces:
    so it is written, in far fewer operations than by the legs.
    """

    method: Variational

    @property
    def stages(self) -> int:
        return 1

    @property
    def inner(self) -> int:
        return 1

    @property
    def times(self) -> tuple[float, ...]:
        return (0.5,)

    @property
    def retraction(self) -> AbstractRetraction:
        return self.method.retraction

    def displacement(self, K, h):
        return h * K[0]

    def guessed(self, x, m, h):
        return x[None] / h

    def rescaled(self, K, ratio):
        return K

    def principle(self, system, controlled, g, K, U, t, h, sigma, gamma):
        group, tau, xi, u, before = system.group, self.retraction, K[0], U[0], sigma[0]
        rule, f = self.method.discrete(system), tau.tau(group, h * xi)
        end = group.compose(g, f)
        pushed: Any = Pushed(group, lambda g, xi, t: controlled.push(g, u, t))
        acting = [pushed] if system.total_force is None else [pushed, system]
        work = [rule.work(each, tau, g, xi, t, h) for each in acting]
        value = sum(gamma @ right - before @ left for left, right in work)
        turn = tau.dtau_inv(group, h * xi, before) + tau.dtau_inv(group, -h * xi, gamma)
        if is_euler_poincare(system):
            change = jax.jvp(system.reduced_lagrangian, (xi,), (turn,))[1]
        elif isinstance(rule, Trapezoid):
            at_node, at_end = (g, -h * before, t), (end, h * gamma, t + h)
            change = 0.5 * (_change(system, xi, turn, *at_node) + _change(system, xi, turn, *at_end))
        elif rule.by_action:
            action, moved = partial(rule.action, system, tau, t=t, h=h), group.tangent(g, -before)
            change = jax.jvp(action, (g, xi), (moved, turn / h))[1]
        else:
            kinetic, left, right = rule.slopes(system, tau, g, xi, t, h)
            change = turn @ kinetic - before @ left + gamma @ right
        rate = controlled.cost(g, xi, u, t) + controlled.cost(end, xi, u, t + h)
        return 0.5 * h * rate + (value + change)

    def path(self, controlled, group, g, K, U, t, h):
        return controlled.path(g, K[0], U[0], t)


class Pushed(NamedTuple):
    """What a rule needs to know of a system to spread the work of a force."""

    group: AbstractGroup
    total_force: Any


def _change(system: LagrangianSystem, xi: Any, turn: Any, g: Any, moved: Any, t: Scalar) -> Any:
    """The change of the Lagrangian at a node along displacements of g and xi."""
    tangent = system.group.tangent(g, moved)
    return jax.jvp(lambda g, xi: system.lagrangian(g, xi, t), (g, xi), (tangent, turn))[1]


class GaussSteps(AbstractTranscription):
    """Steps of `VPRK` with controls at the stages, so of the degree stages - 1 within a step: with Gauss's tableaux of
    2 and 3 stages the optimal cost is of order 4 and 6.

    Inner unknowns are the increments k_i = h K_i of the slopes, in the notation of `VPRK`, and the momentum pi that is
    dual to x = sum_i b_i k_i. With the action S = sum_j h b_j ell(g_k tau(Theta_j), dtau_{-Theta_j} k_j / h) and
    Theta_j = sum_i a_ji k_i the equations are

        D_{k_i} S = b_i pi,   (dtau^-1_x)* pi - T*L_g D_g S = m_k,   m_{k+1} = (dtau^-1_{-x})* pi,

    and forces add their work. With displacements dk_i, and zeta of the first node, as multipliers they are the discrete
    Lagrange-d'Alembert principle: the stages enter by their `work`, all else by `frame`.
    """

    method: VPRK

    @property
    def stages(self) -> int:
        return len(self.method.tableau.b)

    @property
    def inner(self) -> int:
        return self.stages + 1

    @property
    def times(self) -> tuple[float, ...]:
        return self.method.tableau.c

    @property
    def retraction(self) -> AbstractRetraction:
        return self.method.retraction

    def displacement(self, K, h):
        return jnp.asarray(self.method.tableau.b) @ K[:-1]

    def guessed(self, x, m, h):
        return jnp.concatenate([jnp.tile(x, (self.stages, 1)), m[None]])

    def rescaled(self, K, ratio):
        return np.concatenate([ratio * K[:, :-1], K[:, -1:]], axis=1)

    def principle(self, system, controlled, g, K, U, t, h, sigma, gamma):
        a, b, c = map(jnp.asarray, self.method.tableau)
        k, dk, pi, tau = K[:-1], sigma[:-1], K[-1], sigma[-1]
        value = self.frame(system.group, b @ k, pi, tau, gamma) - (b @ dk) @ pi

        def stage(at):
            return self.work(system, controlled, g, t, h, *at, zeta=-tau)

        return value + jnp.sum(jax.vmap(stage)((b, c, U, a @ k, k, a @ dk, dk)))

    def frame(self, group: AbstractGroup, x: Any, pi: Any, tau: Any, gamma: Any) -> Any:
        """tau . (dtau^-1_x)* pi + gamma . (dtau^-1_{-x})* pi."""
        return pi @ (self.retraction.dtau_inv(group, x, tau) + self.retraction.dtau_inv(group, -x, gamma))

    def work(self, system, controlled, g, t, h, b, c, u, Theta, k, dTheta, dk, *, zeta):
        """The cost of a stage, the change of its action along the displacements, and the work of the forces."""
        group, tau = system.group, self.retraction
        time, reduced = t + c * h, is_euler_poincare(system)

        def lagrangian(moved, Theta, k):
            Xi = tau.dtau(group, -Theta, k) / h
            if reduced:
                return system.reduced_lagrangian(Xi)
            point = group.compose(group.compose(g, tau.tau(group, moved)), tau.tau(group, Theta))
            return system.lagrangian(point, Xi, time)

        change = jax.jvp(lagrangian, (jnp.zeros_like(zeta), Theta, k), (zeta, dTheta, dk))[1]
        point, Xi = group.compose(g, tau.tau(group, Theta)), tau.dtau(group, -Theta, k) / h
        delta = tau.dtau(group, -Theta, dTheta) + group.Ad(tau.tau(group, -Theta), zeta)
        force = controlled.push(point, u, time)
        if system.total_force is not None:
            force = force + system.total_force(point, Xi, time)
        return h * b * (controlled.cost(point, Xi, u, time) + (change + force @ delta))

    def path(self, controlled, group, g, K, U, t, h):
        a, c = jnp.asarray(self.method.tableau.a), jnp.asarray(self.method.tableau.c)

        def stage(at):
            return self.stage_path(controlled, group, g, t, h, *at)

        return jax.vmap(stage)((c, U, a @ K[:-1], K[:-1])).reshape(-1)

    def stage_path(self, controlled, group, g, t, h, c, u, Theta, k):
        """What must not be positive at a stage."""
        tau = self.retraction
        point = group.compose(g, tau.tau(group, Theta))
        return controlled.path(point, tau.dtau(group, -Theta, k) / h, u, t + c * h)
