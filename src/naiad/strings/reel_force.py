"""The force with which a reel that is locked or driven keeps to its length: its inverse dynamics."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics import Scalar, State
from naiad.strings.system import StringSystem


def driving_force(system: StringSystem, free: StringSystem, state: State, t: Scalar) -> Float[Array, ""]:
    """p' - d ell/ds - F, p the momentum of s along the motion of `system`, F the forces on s, with the pull of the
    links if the string does not stretch; of the way w_0 for s if it stretches inside. `free` is the same string on a
    reel that turns, on which no moment acts."""
    driven, place = ("w", 3 * system.elements + 1) if system.inner else ("s", 3 * system.elements)

    def whole(g: Any, mu: Any, t: Scalar) -> tuple[Any, Float[Array, " n"]]:
        """Configuration and velocity of the same string on a reel that turns."""
        xi = system.velocity(g, mu, t)
        way = system.inside(g, t) if system.inner else jnp.reshape(jnp.asarray(system.wound(g, t), float), (1,))
        rate = system.inside_rate(jnp.zeros(0), t) if system.inner else system.reel_speed(jnp.zeros(0), t)
        element = free.group.element([way if n == driven else getattr(g, n) for n in ("q", *free.ends)])
        return element, jnp.concatenate([xi[:place], jnp.ravel(jnp.asarray(rate, float)), xi[place:]])

    def momentum(g, mu, t):
        return free.legendre(*whole(g, mu, t), t)[place]

    t = jnp.asarray(t, float)
    xi, rate, multipliers = system.equations(state, t)
    moving = (system.group.tangent(state.g, xi), rate, jnp.ones(()))
    gained = jax.jvp(momentum, (state.g, jnp.asarray(state.mu), t), moving)[1]
    g, xi = whole(state.g, state.mu, t)
    slope = jax.grad(lambda way: free.lagrangian(g._replace(**{driven: way}), xi, t))(getattr(g, driven))[0]
    force = free.forces(g, xi, t)[place]
    if free.constraint is not None:
        force = force + jnp.dot(multipliers, jax.jacfwd(lambda s: free.links(g._replace(s=s), t))(g.s)[:, 0])
    return gained - slope - force
