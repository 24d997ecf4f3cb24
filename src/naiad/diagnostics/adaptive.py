"""Adaptive Runge-Kutta on the continuous equations: the control beside which variational methods are shown."""

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from naiad import interrupts
from naiad.compiler import execute
from naiad.diagnostics.fitting import fitting
from naiad.errors import InputError, RunError
from naiad.mechanics import LagrangianSystem, State, units_of
from naiad.numerics.arguments import checked


@checked
def adaptive_run(
    system: LagrangianSystem,
    state: State,
    *,
    t1: float,
    tolerance: float = 1e-6,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, State]:
    """The times from 0 to t1 of all accepted steps of SciPy's RK45 on the entries of g and mu, and the states there,
    stacked; `tolerance` is the relative and the absolute one of a step."""
    from scipy.integrate import RK45

    if not 0 < tolerance < math.inf or not t1 > 0:
        raise InputError(f"adaptive_run: t1 = {t1:g}, tolerance = {tolerance:g}; expected finite numbers above 0.")
    state = fitting(system, state, t1=t1)
    leaves, tree = jax.tree.flatten(state)
    ends = np.cumsum([np.size(leaf) for leaf in leaves])[:-1]

    def unravel(y: np.ndarray) -> State:
        parts = np.split(y, ends, axis=-1)
        return jax.tree.unflatten(
            tree, [part.reshape(*y.shape[:-1], *np.shape(leaf)) for part, leaf in zip(parts, leaves, strict=True)]
        )

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate(
            [np.ravel(leaf) for leaf in jax.tree.leaves(execute(_slope, system, unravel(y), t, parameters=(0,)))]
        )

    start = np.concatenate([np.ravel(leaf) for leaf in leaves])
    solver = RK45(slope, 0.0, start, t1, rtol=tolerance, atol=tolerance)
    times, rows = [0.0], [start]
    while solver.status == "running":
        message = solver.step()
        if solver.status == "failed" or not np.all(np.isfinite(solver.y)):
            of_time = units_of(system).of_time
            raise RunError(f"rk45 stopped at t = {of_time(solver.t)} of {of_time(t1)}: {message or 'not finite'}")
        times.append(float(solver.t))
        rows.append(solver.y)
        interrupts.check()
        if progress is not None:
            progress(solver.t / t1)
    return np.array(times), unravel(np.array(rows))


def _slope(system: LagrangianSystem, state: State, t: Any) -> State:
    rates = system.equations(state, t)
    return State(system.group.tangent(state.g, rates.xi), rates.mu)
