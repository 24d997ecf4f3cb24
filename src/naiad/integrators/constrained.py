"""The variational step of a system with holonomic constraints."""

from typing import TYPE_CHECKING

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.integrators.method import StepInfo, velocity_floor
from naiad.mechanics import LagrangianSystem, Scalar, State

if TYPE_CHECKING:
    from naiad.integrators.variational import Variational


def constrained_step(
    method: "Variational",
    system: LagrangianSystem,
    state: State,
    guess: Float[Array, " n"],
    t: Scalar,
    h: Scalar,
) -> tuple[State, Float[Array, " n"], StepInfo]:
    """One step on the constraint phi(g, t) = 0, with G its left-trivialised derivative.

    mu_minus(g_k, xi_k) = mu_k + G_k^T lambda with phi(g_{k+1}) = 0, then mu_{k+1} = mu_plus + G_{k+1}^T lambda' with
    the velocity at the node along the constraint: RATTLE on a group [marsden2001, section 3.5].
    """
    n, floor = guess.size, velocity_floor(system.group, state.g, h)
    normal = system.constraint_jacobian(state.g, t)

    def pushed(multipliers):
        return State(state.g, state.mu + normal.T @ multipliers)

    def residual(unknowns):
        xi, multipliers = unknowns[:n], unknowns[n:]
        end = system.group.compose(state.g, method.retraction.tau(system.group, h * xi))
        balance = method.legs(system, state.g, xi, t, h).mu_minus - pushed(multipliers).mu
        return jnp.concatenate([balance, jnp.atleast_1d(system.constraint(end, t + h)) / h])

    root = method.newton.root(residual, jnp.concatenate([guess, jnp.zeros(normal.shape[0])]), floor=floor)
    xi = root.x[:n]
    landed, miss, correction = method.land(system, pushed(root.x[n:]), xi, t, h)
    normal_end = system.constraint_jacobian(landed.g, t + h)

    def tangent_residual(unknowns):
        velocity, multipliers = unknowns[:n], unknowns[n:]
        balance = system.legendre(landed.g, velocity, t + h) - landed.mu - normal_end.T @ multipliers
        return jnp.concatenate([balance, system.constraint_rate(landed.g, velocity, t + h)])

    tangent = method.newton.root(tangent_residual, jnp.concatenate([xi, jnp.zeros(normal.shape[0])]), floor=floor)
    new = State(landed.g, landed.mu + normal_end.T @ tangent.x[n:])
    return new, xi, StepInfo(root.iterations + tangent.iterations, miss, root.converged & tangent.converged, correction)
