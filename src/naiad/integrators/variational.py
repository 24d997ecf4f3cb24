"""The variational integrator of any Lagrangian, by the legs of its discrete Lagrangian."""

from typing import Any, NamedTuple, TypeGuard

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.integrators.method import AbstractOneStepMethod, StepInfo, velocity_floor
from naiad.integrators.rules import AbstractRule, Own, Trapezoid
from naiad.mechanics import EulerPoincareSystem, LagrangianSystem, Scalar, State, is_euler_poincare
from naiad.mechanics.features import OF_A_STEP, overridden
from naiad.numerics import History, Newton, Root, extrapolate, history, remember, static
from naiad.retractions import AbstractRetraction, Cayley


class Legs(NamedTuple):
    """The parts of the discrete Legendre transforms at (g, xi).

    `kinetic` is (dtau^-1_{h xi})* of the derivative in xi; `minus` and `plus` are what the derivative in g and the
    virtual work of the forces add at the left and the right node.
    """

    kinetic: Float[Array, " n"]
    minus: Float[Array, " n"]
    plus: Float[Array, " n"]

    @property
    def mu_minus(self) -> Float[Array, " n"]:
        """The momentum at the left node."""
        return self.kinetic - self.minus


class Variational(AbstractOneStepMethod):
    """The variational integrator of a discrete Lagrangian L_d(g, xi, t, h), the action of a step from g to g tau(h xi).

    Solve mu_minus(g_k, xi_k) = mu_k for xi_k, then g_{k+1} = g_k tau(h xi_k) and mu_{k+1} = mu_plus(g_k, xi_k), where

        mu_minus = (dtau^-1_{h xi})* D_xi L_d / h - T*L_g D_g L_d - F^-
        mu_plus  = Ad*_{tau(h xi)} (mu_minus + T*L_g D_g L_d + F^-) + F^+

    [bourabee2007, eqs. (4.6.1)-(4.6.3)] for a Lagrangian of xi alone. The form of mu_plus makes the momentum in space
    exact whatever the solver's residual; for an exact dtau^-1 it equals (dtau^-1_{-h xi})* D_xi L_d / h + F^+.

    `rule` is `Left`, `Right`, `Trapezoid` or `Midpoint`; if not given, the system's own discrete Lagrangian if it has
    one, else `Trapezoid`. `renormalise` removes the round-off by which g leaves the group (`settled`).
    """

    retraction: AbstractRetraction = Cayley()
    rule: AbstractRule | None = None
    newton: Newton = Newton()
    renormalise: bool = static(default=True)

    honours = OF_A_STEP

    def check(self, system: LagrangianSystem) -> None:
        self.retraction.check(system.group)

    def order(self, system: LagrangianSystem) -> int:
        return 2 if _reduced(system) and system.total_force is None else self.discrete(system).order(system)

    def symmetric(self, system: LagrangianSystem) -> bool:
        return (_reduced(system) and system.total_force is None) or self.discrete(system).symmetric(system)

    def discrete(self, system: LagrangianSystem) -> AbstractRule:
        """The discrete Lagrangian in use."""
        rule = self.rule
        if rule is None:
            rule = Trapezoid() if system.discrete_lagrangian is None else Own()
        return rule if overridden(type(system)) else system.discretised(rule)

    def legs(self, system: LagrangianSystem, g: Any, xi: Float[Array, " n"], t: Scalar, h: Scalar) -> Legs:
        """The discrete Legendre transforms, by automatic differentiation of the discrete Lagrangian."""
        rule, tau, group = self.discrete(system), self.retraction, system.group
        if _reduced(system):
            zero = jnp.zeros_like(xi)
            kinetic, minus, plus = jax.grad(system.reduced_lagrangian)(xi), zero, zero
        else:
            kinetic, minus, plus = rule.slopes(system, tau, g, xi, t, h)
        if system.total_force is not None:
            work_minus, work_plus = rule.work(system, tau, g, xi, t, h)
            minus, plus = minus + work_minus, plus + work_plus
        return Legs(tau.dtau_inv_dual(group, h * xi, kinetic), minus, plus)

    def pair(self, system: LagrangianSystem, g0: Any, g1: Any, t: Scalar, h: Scalar) -> State:
        """The state at g0 from which the first step lands on g1: a start from two configurations."""
        group = system.group
        xi = self.retraction.inverse(group, group.compose(group.inverse(g0), g1)) / h
        return self.first_step(system, g0, xi, t, h)

    def first_step(self, system: LagrangianSystem, g: Any, xi: Float[Array, " n"], t: Scalar, h: Scalar) -> State:
        """The state at g from which the first step has the velocity xi: a start from the velocity of a step."""
        return State(g, self.legs(system, g, jnp.asarray(xi, float), t, h).mu_minus)

    def step_velocity(self, system: LagrangianSystem, state: State, t: Scalar, h: Scalar) -> Float[Array, " n"]:
        """xi of the step that begins at a state, the inverse of `first_step`; NaN where none is found."""
        if system.constraint is not None:
            raise InputError(
                f"step_velocity needs a system without constraints; {type(system).__name__} has one. Take the "
                "velocities at the nodes, `system.velocity`."
            )
        root = self.root(system, state, system.velocity(state.g, state.mu, t), t, h)
        return jnp.where(root.converged, root.x, jnp.nan)

    def discrete_energy(self, system: LagrangianSystem, state: State, t: Scalar, h: Scalar) -> Float[Array, ""]:
        """E_d = -d/dh L_d(g_k, g_{k+1}, h) of the step that begins at a state [marsden2001, part 4].

        For `Left` that is <ell', xi> - ell(g_k, xi) with the velocity of the step; for `Midpoint` the same at its
        midpoint.
        """
        chord = h * self.step_velocity(system, state, t, h)

        def action(h):
            return self.discrete(system).action(system, self.retraction, state.g, chord / h, t, h)

        return -jax.grad(action)(jnp.asarray(h, float))

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> History:
        """The step velocities of the last few steps; to begin with, the velocity at the node."""
        return history(system.velocity(state.g, state.mu, t))

    def advance(self, system, state, memory, t, h, inputs):
        guess = extrapolate(memory)
        if system.constraint is not None:
            new, xi, info = self._constrained_step(system, state, guess, t, h)
        else:
            new, xi, info = self._free_step(system, state, guess, t, h)
        return new, remember(memory, xi), info

    def _free_step(
        self,
        system: LagrangianSystem,
        state: State,
        guess: Float[Array, " n"],
        t: Scalar,
        h: Scalar,
    ) -> tuple[State, Float[Array, " n"], StepInfo]:
        root = self.root(system, state, guess, t, h)
        new, residual = self.land(system, state, root.x, t, h)
        return new, root.x, StepInfo.solved(root.iterations, residual, root.converged)

    def _constrained_step(
        self,
        system: LagrangianSystem,
        state: State,
        guess: Float[Array, " n"],
        t: Scalar,
        h: Scalar,
    ) -> tuple[State, Float[Array, " n"], StepInfo]:
        """One step on the constraint phi(g, t) = 0, with G its left-trivialised derivative.

        mu_minus(g_k, xi_k) = mu_k + G_k^T lambda with phi(g_{k+1}) = 0, then mu_{k+1} = mu_plus + G_{k+1}^T lambda'
        with the velocity at the node along the constraint: RATTLE on a group [marsden2001, section 3.5].
        """
        n, floor = guess.size, velocity_floor(system.group, state.g, h)
        normal = system.constraint_jacobian(state.g, t)

        def pushed(multipliers):
            return State(state.g, state.mu + normal.T @ multipliers)

        def residual(unknowns):
            xi, multipliers = unknowns[:n], unknowns[n:]
            end = system.group.compose(state.g, self.retraction.tau(system.group, h * xi))
            balance = self.legs(system, state.g, xi, t, h).mu_minus - pushed(multipliers).mu
            return jnp.concatenate([balance, jnp.atleast_1d(system.constraint(end, t + h)) / h])

        root = self.newton.root(residual, jnp.concatenate([guess, jnp.zeros(normal.shape[0])]), floor=floor)
        xi = root.x[:n]
        landed, miss = self.land(system, pushed(root.x[n:]), xi, t, h)
        normal_end = system.constraint_jacobian(landed.g, t + h)

        def tangent_residual(unknowns):
            velocity, multipliers = unknowns[:n], unknowns[n:]
            balance = system.legendre(landed.g, velocity, t + h) - landed.mu - normal_end.T @ multipliers
            return jnp.concatenate([balance, system.constraint_rate(landed.g, velocity, t + h)])

        tangent = self.newton.root(tangent_residual, jnp.concatenate([xi, jnp.zeros(normal.shape[0])]), floor=floor)
        new = State(landed.g, landed.mu + normal_end.T @ tangent.x[n:])
        return (
            new,
            xi,
            StepInfo.solved(root.iterations + tangent.iterations, miss, root.converged & tangent.converged),
        )

    def root(self, system: LagrangianSystem, state: State, guess: Float[Array, " n"], t: Scalar, h: Scalar) -> Root:
        """The solution xi of mu_minus(g, xi) = mu."""

        def mismatch(xi):
            return self.legs(system, state.g, xi, t, h).mu_minus - state.mu

        near = system.near_inertia if self.newton.jacobian == "inertia" else None
        matrix = None if near is None else near(state.g, t)

        def inertia(xi):
            if matrix is not None:
                return matrix @ xi
            return jax.jvp(lambda v: system.legendre(state.g, v, t), (guess,), (xi,))[1]

        floor = 0.0 if _reduced(system) else velocity_floor(system.group, state.g, h)
        return self.newton.root(mismatch, guess, system.structure, inertia, floor)

    def land(
        self, system: LagrangianSystem, state: State, xi: Float[Array, " n"], t: Scalar, h: Scalar
    ) -> tuple[State, Float[Array, ""]]:
        """The state after a step with velocity xi, and the residual of mu_minus = mu."""
        legs = self.legs(system, state.g, xi, t, h)
        increment = self.retraction.increment(system.group, h * xi)
        g = system.group.advance(state.g, increment)
        mu = system.group.Ad_dual_advance(increment, state.mu + legs.minus) + legs.plus
        return State(g, mu), jnp.max(jnp.abs(legs.mu_minus - state.mu))


def _reduced(system: LagrangianSystem) -> TypeGuard[EulerPoincareSystem]:
    """Whether the step acts on mu alone: the Lagrangian and the discrete Lagrangian depend on xi only."""
    return is_euler_poincare(system) and system.discrete_lagrangian is None
