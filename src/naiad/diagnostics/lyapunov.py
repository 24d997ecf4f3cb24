"""The largest Lyapunov exponent of a discrete motion."""

import jax
import jax.numpy as jnp

from naiad.diagnostics.tangent import coordinates, displaced, one_step
from naiad.integrators import AbstractMethod, Variational
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics import double


@double
def lyapunov_exponent(
    system: LagrangianSystem,
    state: State,
    *,
    dt: float,
    steps: int,
    method: AbstractMethod | None = None,
    transient: int = 0,
) -> float:
    """The mean growth rate of a tangent vector carried along by the derivative of each step [benettin1980], in 1/s.

    The first `transient` steps turn the vector into the fastest direction and do not count.
    """
    method, group = Variational() if method is None else method, system.group
    size = 2 * group.dim

    def body(carried, k):
        now, tangent = carried
        flow = one_step(system, method, k * dt, dt)
        ahead = flow(now)
        _, grown = jax.jvp(
            lambda z: coordinates(group, ahead, flow(displaced(group, now, z))), (jnp.zeros(size),), (tangent,)
        )
        length = jnp.sqrt(grown @ grown)
        return (ahead, grown / length), jnp.log(length)

    start = (jax.tree.map(jnp.asarray, state), jnp.ones(size) / jnp.sqrt(size))
    logs = jax.jit(lambda c: jax.lax.scan(body, c, jnp.arange(transient + steps))[1])(start)
    return float(jnp.sum(logs[transient:]) / (steps * dt))
