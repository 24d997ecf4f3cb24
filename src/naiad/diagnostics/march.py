"""Many steps in one compiled call, for any number of them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics import double


@double
def march(
    system: LagrangianSystem, method: AbstractMethod, state: State, *, dt: float, steps: int, t0: float = 0.0
) -> State:
    """The state after `steps` steps of dt (which may be negative); compiled once for a system and a method."""
    end = _march(
        system,
        method,
        jax.tree.map(jnp.asarray, state),
        jnp.asarray(t0, float),
        jnp.asarray(dt, float),
        jnp.asarray(steps),
    )
    return jax.tree.map(np.asarray, end)


@eqx.filter_jit
def _march(system, method, state, t0, h, steps):
    carry = method.init(system, state, t0, h)
    carry = jax.lax.fori_loop(0, steps, lambda k, carry: method.step(system, carry, t0 + k * h, h), carry)
    return method.state(system, carry)
