"""A high-accuracy reference by an independent route: DOP853 on the continuous equations."""

import jax
import numpy as np
from jax.flatten_util import ravel_pytree

from naiad.diagnostics.fitting import fitting
from naiad.errors import InputError, RunError
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics.arguments import checked


@checked
def reference(system: LagrangianSystem, state: State, *, t1: float, t0: float = 0.0, tolerance: float = 1e-13) -> State:
    """The state at t1 by SciPy's DOP853 on the entries of g and mu, from `system.equations`."""
    from scipy.integrate import solve_ivp

    if not tolerance > 0:
        raise InputError(f"reference: tolerance = {tolerance:g}; expected a number above 0, such as 1e-13.")
    start, unravel = ravel_pytree(fitting(system, state, t0=t0, t1=t1))

    @jax.jit
    def slope(t, y):
        at = unravel(y)
        rates = system.equations(at, t)
        return ravel_pytree(State(system.group.tangent(at.g, rates.xi), rates.mu))[0]

    solution = solve_ivp(
        lambda t, y: np.asarray(slope(t, y)), (t0, t1), np.asarray(start), "DOP853", rtol=tolerance, atol=tolerance
    )
    if not solution.success:
        raise RunError(f"The reference integration stopped at t = {solution.t[-1]:g}: {solution.message}")
    return jax.tree.map(np.asarray, unravel(solution.y[:, -1]))
