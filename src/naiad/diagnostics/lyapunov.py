"""The largest Lyapunov exponent of a discrete motion."""

from typing import Any

import jax
import jax.numpy as jnp

from naiad.compiler import execute
from naiad.diagnostics.fitting import check_steps, fitting
from naiad.diagnostics.tangent import one_step, pushed
from naiad.errors import InputError
from naiad.integrators import AbstractMethod, default_method
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics.arguments import checked


@checked
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

    The first `transient` steps turn the vector into the fastest direction and do not count. Each step is one from a
    fresh start, which for `FastLieVerlet` is the method that starts it.
    """
    method = default_method(system) if method is None else method
    check_steps("lyapunov_exponent", steps)
    if transient < 0:
        raise InputError(f"lyapunov_exponent: transient = {transient}; expected a number of steps, 0 or more.")
    state = fitting(system, state, method, dt=dt)
    growth = execute(_growth, system, method, state, float(dt), transient, transient + steps, parameters=(0,))
    return float(growth / (steps * dt))


def _growth(system: LagrangianSystem, method: AbstractMethod, state: State, h: Any, first: Any, last: Any) -> Any:
    """The sum of the logarithms of the growth over the steps from `first` to `last`."""
    size = 2 * system.group.dim

    def body(k, carried):
        now, tangent, total = carried
        ahead, grown = pushed(system.group, one_step(system, method, k * h, h), now, tangent)
        length = jnp.sqrt(grown @ grown)
        return ahead, grown / length, total + jnp.where(k < first, 0.0, jnp.log(length))

    start = (state, jnp.ones(size) / jnp.sqrt(size), jnp.zeros(()))
    return jax.lax.fori_loop(0, last, body, start)[2]
