"""Many steps in one compiled call, for any number of them."""

from typing import Any

import jax

from naiad.compiler import Engine, execute
from naiad.diagnostics.fitting import check_steps, fitting
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics.arguments import checked


@checked
def march(
    system: LagrangianSystem,
    method: AbstractMethod,
    state: State,
    *,
    dt: float,
    steps: int,
    t0: float = 0.0,
    engine: Engine = "auto",
) -> State:
    """The state after `steps` steps of dt (which may be negative); compiled once for a system and a method.

    Its momentum is NaN where the motion comes to the `limit` of the system."""
    check_steps("march", steps, 0)
    state = fitting(system, state, method, dt=dt, t0=t0)
    return execute(_march, system, method, state, float(t0), float(dt), steps, parameters=(0,), engine=engine)


def _march(system: LagrangianSystem, method: AbstractMethod, state: State, t0: Any, h: Any, steps: Any) -> State:
    carry = method.init(system, state, t0, h)

    def onward(k: Any, carry: Any) -> Any:
        moved = method.onward(system, carry, k, t0 + k * h, h)
        return method.bounded(system, moved, t0 + (k + 1) * h, h)

    carry = jax.lax.fori_loop(0, steps, onward, carry)
    return method.state(system, carry)
