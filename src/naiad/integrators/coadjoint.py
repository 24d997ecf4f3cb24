"""Steps along a coadjoint orbit: mu_{k+1} = Ad*_{exp(Theta)} mu_k and g_{k+1} = g_k exp(Theta), for any vector Theta.

Whatever Theta, the momentum in space Ad*_{g^-1} mu and every Casimir are kept.
"""

from typing import Any, NamedTuple

import jax
from jaxtyping import Array, Float

from naiad.integrators.method import move
from naiad.mechanics import EulerPoincareSystem, State

Vector = Float[Array, " n"]


class Prediction(NamedTuple):
    """h xi + (h^2/2) xi', with which a step is of second order, and bend = (h^2/2) <mu', xi'>."""

    Theta: Vector
    bend: Float[Array, ""]


def predict(system: EulerPoincareSystem, state: State, h: Any) -> Prediction:
    """The prediction at a state; xi' = (d xi/d mu) mu' and mu' = ad*_xi mu."""

    def velocity(mu):
        return system.velocity(state.g, mu)

    xi = velocity(state.mu)
    rate = system.group.ad_dual(xi, state.mu)
    _, acceleration = jax.jvp(velocity, (state.mu,), (rate,))
    return Prediction(h * xi + 0.5 * h**2 * acceleration, 0.5 * h**2 * rate @ acceleration)


def coadjoint_step(
    system: EulerPoincareSystem, state: State, Theta: Vector, *, renormalise: bool
) -> tuple[State, Float[Array, ""]]:
    """The state after a step by Theta, and the round-off correction of g."""
    group = system.group
    increment = group.expm1(Theta)
    g, correction = move(group, state.g, increment, renormalise=renormalise)
    return State(g, group.Ad_dual_advance(increment, state.mu)), correction


def energy_after(system: EulerPoincareSystem, state: State, Theta: Vector) -> Float[Array, ""]:
    """The energy of Ad*_{exp(Theta)} mu."""
    group = system.group
    return system.energy(State(state.g, group.Ad_dual_advance(group.expm1(Theta), state.mu)))
