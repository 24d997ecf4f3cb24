"""Routh reduction: the shape alone, at a given momentum of an Abelian symmetry."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SO2, AbstractGroup, Power, Product, Rn
from naiad.mechanics.features import refuse_features
from naiad.mechanics.lagrange_poincare import LagrangePoincareSystem
from naiad.mechanics.state import Scalar, State
from naiad.mechanics.system import LagrangianSystem
from naiad.numerics import Module, Newton, is_definite
from naiad.numerics.checks import vector

Momentum = Float[Array | np.ndarray, " d"]
Action = Callable[[Float[Array, " d"]], Float[Array, ""]]


class RouthSystem(LagrangianSystem):
    """The motion of the shape of `whole` at the momentum `mu` of its Abelian symmetry, by the Routhian

        R(s, v, t) = ell(xi, s, v, t) - mu . xi,   xi such that d ell/d xi = mu.

    For kinetic less potential energy it is v . (K_ss - A^T I A) v / 2 + mu . A v - V_mu(s): the energy of the change of
    shape, a gyroscopic term whose force is the curvature, and the amended potential [marsden2000].

    `Variational` steps it with the discrete Routhian of its rule, R_d = L_d - mu . dtheta, dtheta being the turn of the
    step that has the momentum mu [jalnapurkar2006]: the shape moves exactly as in the unreduced steps.
    `naiad.diagnostics.phases` gives the turn back.
    """

    whole: LagrangePoincareSystem
    mu: Momentum

    derives = ("lagrangian",)
    limit_words = (
        "The locked inertia is singular at this shape, so the momentum does not say how the system turns; take another "
        "shape, or the unreduced system."
    )

    def __init__(self, whole: LagrangePoincareSystem, mu: Any):
        base = whole.base
        if not _commutes(base):
            raise InputError(
                f"RouthSystem: the symmetry group {base!r} does not commute; expected R^n, SO(2) or products of these. "
                "Step the whole system by Variational, which is reduced in itself."
            )
        honours = frozenset({"time", "linear", "discrete_lagrangian"})
        refuse_features("RouthSystem", honours, whole, "Expected a Lagrangian alone; step the whole system.")
        self.whole = whole
        self.mu = vector("mu", mu, base.dim)

    @property
    def group(self) -> AbstractGroup:
        return self.whole.shape

    @property
    def discrete_lagrangian(self) -> Any:
        """The discrete Routhian of the whole system's own discrete Lagrangian, if it has one."""
        return None if self.whole.discrete_lagrangian is None else self._own

    @property
    def discrete_order(self) -> int:
        return self.whole.discrete_order

    @property
    def discrete_symmetric(self) -> bool:
        return self.whole.discrete_symmetric

    def discretised(self, rule: Any) -> Any:
        """The discrete Routhian of the discrete Lagrangian that the rule makes of the whole system."""
        return DiscreteRouthian(self.whole.discretised(rule))

    def turning(self, s: Any, v: Float[Array, " m"], t: Scalar = 0.0) -> Float[Array, " d"]:
        """xi with the momentum mu. NaN where none is found."""

        def miss(xi):
            return jax.grad(self.whole.reduced_lagrangian)(xi, s, v, t) - self.mu

        root = Newton().root(miss, jnp.zeros(self.whole.base.dim))
        return jnp.where(root.converged, root.x, jnp.nan)

    def lagrangian(self, g: Any, xi: Float[Array, " m"], t: Scalar) -> Float[Array, ""]:
        """The Routhian R(s, v, t)."""
        turning = self.turning(g, xi, t)
        return self.whole.reduced_lagrangian(turning, g, xi, t) - self.mu @ turning

    def legendre(self, g: Any, xi: Float[Array, " m"], t: Scalar = 0.0) -> Float[Array, " m"]:
        """p = d ell/dv: xi is where R is stationary in it."""
        return jax.grad(self.whole.reduced_lagrangian, argnums=2)(self.turning(g, xi, t), g, xi, t)

    def velocity(self, g: Any, mu: Float[Array, " m"], t: Scalar = 0.0) -> Float[Array, " m"]:
        """v of both momenta of the whole system."""
        lifted = self.lifted(State(g, mu))
        return self.whole.velocity(lifted.g, lifted.mu, t)[self.whole.base.dim :]

    def energy(self, state: State, t: Scalar = 0.0) -> Float[Array, ""]:
        """That of the whole system."""
        return self.whole.energy(self.lifted(state), t)

    def limit(self, g: Any, t: Scalar, h: Scalar) -> Float[Array, ""]:
        """Above zero where the locked inertia is positive definite."""
        return jnp.where(is_definite(self.whole.locked_inertia(g, t)), 1.0, -1.0)

    def lifted(self, state: State, g: Any = None) -> State:
        """The state of the whole system, at g (the identity if not given)."""
        return State(self.whole.at(state.g, g), jnp.concatenate([jnp.asarray(self.mu), state.mu]))

    def reduced(self, state: State) -> State:
        """The shape of a state of the whole system, with its momentum."""
        return State(state.g[1], state.mu[self.whole.base.dim :])

    def _own(self, s: Any, v: Float[Array, " m"], t: Scalar, h: Scalar, tau: Any) -> Float[Array, ""]:
        def action(xi):
            return self.whole.discrete_lagrangian(self.whole.at(s), jnp.concatenate([xi, v]), t, h, tau)

        return _routhian(self, action, tau, h)


class DiscreteRouthian(Module):
    """R_d = L_d - mu . dtheta for the discrete Lagrangian L_d of a rule on the whole system: a rule itself."""

    rule: Any

    def order(self, system: RouthSystem) -> int:
        """That of L_d."""
        return self.rule.order(system.whole)

    def symmetric(self, system: RouthSystem) -> bool:
        """As L_d."""
        return self.rule.symmetric(system.whole)

    def action(self, system: RouthSystem, tau: Any, g: Any, xi: Float[Array, " m"], t: Scalar, h: Scalar) -> Any:
        """R_d(s, v, t, h)."""
        return _routhian(system, step_action(system.whole, self.rule, tau, g, xi, t, h), tau, h)

    def slopes(self, system: RouthSystem, tau: Any, g: Any, xi: Float[Array, " m"], t: Scalar, h: Scalar) -> Any:
        """Those of L_d along the shape: R_d is stationary in the turn."""
        whole = system.whole
        turn = step_turn(whole.base, step_action(whole, self.rule, tau, g, xi, t, h), tau, system.mu, h)
        slopes = self.rule.slopes(whole, tau, whole.at(g), jnp.concatenate([turn, xi]), t, h)
        return type(slopes)(*(each[whole.base.dim :] for each in slopes))


def step_action(
    whole: LagrangePoincareSystem, rule: Any, tau: Any, s: Any, v: Float[Array, " m"], t: Scalar, h: Scalar
) -> Action:
    """xi -> L_d of the step that moves the shape s by v and turns with xi."""
    return lambda xi: rule.action(whole, tau, whole.at(s), jnp.concatenate([xi, v]), t, h)


def step_turn(base: AbstractGroup, action: Action, tau: Any, mu: Momentum, h: Scalar) -> Float[Array, " d"]:
    """xi of the step whose momentum at its left node is mu: (dtau^-1_{h xi})* D_xi L_d / h = mu. NaN where there is
    none. At mu = 0 it is the discrete mechanical connection, applied to the change of shape."""

    def miss(xi):
        return tau.dtau_inv_dual(base, h * xi, jax.grad(action)(xi) / h) - mu

    root = Newton().root(miss, jnp.zeros(base.dim))
    return jnp.where(root.converged, root.x, jnp.nan)


def _routhian(system: RouthSystem, action: Action, tau: Any, h: Scalar) -> Float[Array, ""]:
    base = system.whole.base
    xi = step_turn(base, action, tau, system.mu, h)
    return action(xi) - system.mu @ base.log(tau.tau(base, h * xi))


def _commutes(group: AbstractGroup) -> bool:
    if isinstance(group, Product):
        return all(map(_commutes, group.factors))
    return _commutes(group.base) if isinstance(group, Power) else isinstance(group, Rn | SO2)
