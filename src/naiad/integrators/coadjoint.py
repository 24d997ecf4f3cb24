"""Steps along a coadjoint orbit: mu_{k+1} = Ad*_{exp(Theta)} mu_k and g_{k+1} = g_k exp(Theta), for any vector Theta.

Whatever Theta, the momentum in space Ad*_{g^-1} mu and every Casimir are kept. A shape space beside the group has a
potential, whose pull -dV at both ends, (h/2) each, is added; no motion of the group turns it.
"""

from typing import Any, NamedTuple

import jax
from jaxtyping import Array, Float

from naiad.integrators.free_motion import pull
from naiad.mechanics import LagrangianSystem, State, is_euler_poincare

Vector = Float[Array, " n"]


class Prediction(NamedTuple):
    """h xi + (h^2/2) xi', with which a step is of second order, and bend = (h^2/2) <mu', xi'>."""

    Theta: Vector
    bend: Float[Array, ""]


def predict(system: LagrangianSystem, state: State, h: Any) -> Prediction:
    """The prediction at a state; xi' = (d xi/d mu) mu' and mu' = ad*_xi mu, and the pull of a shape space."""

    def velocity(mu):
        return system.velocity(state.g, mu)

    xi = velocity(state.mu)
    rate = system.group.ad_dual(xi, state.mu) + pull(system, state.g, 0.0)
    _, acceleration = jax.jvp(velocity, (state.mu,), (rate,))
    return Prediction(h * xi + 0.5 * h**2 * acceleration, 0.5 * h**2 * rate @ acceleration)


def coadjoint_step(system: LagrangianSystem, state: State, Theta: Vector, h: Any) -> State:
    """The state after a step by Theta in the time h."""
    group = system.group
    increment = group.expm1(Theta)
    g = group.advance(state.g, increment)
    kicks = 0.5 * h * (pull(system, state.g, 0.0) + pull(system, g, 0.0))
    return State(g, group.Ad_dual_advance(increment, state.mu) + kicks)


def energy_after(system: LagrangianSystem, state: State, Theta: Vector, h: Any) -> Float[Array, ""]:
    """The energy after a step by Theta in the time h."""
    if is_euler_poincare(system):
        return system.energy(State(state.g, system.group.Ad_dual_advance(system.group.expm1(Theta), state.mu)))
    return system.energy(coadjoint_step(system, state, Theta, h))
