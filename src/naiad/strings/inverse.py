"""The inverse dynamics of a reel: the moment that keeps it to its length."""

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.mechanics import Scalar, State

if TYPE_CHECKING:
    from naiad.strings.pendulum import StringPendulum


def moment_for(system: "StringPendulum", state: State, t: Scalar) -> Float[Array, ""]:
    """u = d (p_s' - d ell/ds - F_s): p_s the momentum of s along the motion, F_s the forces on s without the moment,
    with the pull of the links if the string does not stretch."""
    if system.reel is None or system.reeled:
        raise InputError("reel_moment is for a reel that is locked or driven; one that turns has its moment given.")
    free = system.replaced(reel=system.reel.replaced(locked=False, moment=0.0, law_of_moment=None), schedule=None)
    place = 3 * system.elements

    def whole(g: Any, mu: Any, t: Scalar) -> tuple[Any, Float[Array, " n"]]:
        """Configuration and velocity of the same string on a reel that turns."""
        xi, s = system.velocity(g, mu, t), jnp.reshape(jnp.asarray(system.wound(g, t), float), (1,))
        speed = jnp.reshape(jnp.asarray(system.reel_speed(jnp.zeros(0), t), float), (1,))
        parts = {name: getattr(g, name) for name in g._fields}
        element = free.group.element([parts.get(name, s) for name in ("q", *free.ends)])
        return element, jnp.concatenate([xi[:place], speed, xi[place:]])

    def momentum(g, mu, t):
        return free.legendre(*whole(g, mu, t), t)[place]

    t = jnp.asarray(t, float)
    xi, rate, multipliers = system.equations(state, t)
    moving = (system.group.tangent(state.g, xi), rate, jnp.ones(()))
    gained = jax.jvp(momentum, (state.g, jnp.asarray(state.mu), t), moving)[1]
    g, xi = whole(state.g, state.mu, t)
    slope = jax.grad(lambda s: free.lagrangian(g._replace(s=s), xi, t))(g.s)[0]
    force = free.forces(g, xi, t)[place]
    if free.constraint is not None:
        force = force + jnp.dot(multipliers, jax.jacfwd(lambda s: free.links(g._replace(s=s), t))(g.s)[:, 0])
    return system.reel.radius * (gained - slope - force)
