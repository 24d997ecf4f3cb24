"""A high-accuracy reference by an independent route: DOP853 on the continuous equations."""

from typing import Any

import jax
import numpy as np
from jax.flatten_util import ravel_pytree

from naiad.compiler import Engine, execute
from naiad.diagnostics.fitting import fitting
from naiad.errors import InputError, RunError
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics.arguments import checked


@checked
def reference(
    system: LagrangianSystem,
    state: State,
    *,
    t1: float,
    t0: float = 0.0,
    tolerance: float = 1e-13,
    engine: Engine = "xla",
) -> State:
    """The state at t1 by SciPy's DOP853 on the entries of g and mu, from `system.equations`.

    They are evaluated by XLA, so that naiad's compiler has no part in it, or by another `engine`.
    """
    from scipy.integrate import solve_ivp

    if not tolerance > 0:
        raise InputError(f"reference: tolerance = {tolerance:g}; expected a number above 0, such as 1e-13.")
    state = fitting(system, state, t0=t0, t1=t1)
    start, unravel = ravel_pytree(state)
    if engine == "xla":
        by_xla = jax.jit(lambda y, t: _slope((system, state), y, t))

        def slope(t: float, y: np.ndarray) -> np.ndarray:
            return np.asarray(by_xla(y, t))
    else:

        def slope(t: float, y: np.ndarray) -> np.ndarray:
            return execute(_slope, (system, state), y, float(t), parameters=(0,), engine=engine)

    solution = solve_ivp(slope, (t0, t1), np.asarray(start), "DOP853", rtol=tolerance, atol=tolerance)
    if not solution.success:
        raise RunError(f"The reference integration stopped at t = {solution.t[-1]:g}: {solution.message}")
    return jax.tree.map(np.asarray, unravel(solution.y[:, -1]))


def _slope(given: tuple[LagrangianSystem, State], y: Any, t: Any) -> Any:
    """The rates of the entries of a state, in one row as they are."""
    system, state = given
    at = ravel_pytree(state)[1](y)
    rates = system.equations(at, t)
    return ravel_pytree(State(system.group.tangent(at.g, rates.xi), rates.mu))[0]
