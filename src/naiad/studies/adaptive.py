"""Adaptive Runge-Kutta on the continuous equations: the control beside which variational methods are shown."""

from typing import Any

import jax
import numpy as np

import naiad as nd
from naiad.compiler import execute
from naiad.errors import RunError
from naiad.studies.progress import Progress


def adaptive_run(
    system: nd.LagrangianSystem, state: nd.State, *, t1: float, rtol: float, atol: float, progress: Progress
) -> tuple[np.ndarray, nd.State]:
    """The times of all accepted steps of SciPy's RK45 on the entries of g and mu, and the states there, stacked."""
    from scipy.integrate import RK45

    leaves, tree = jax.tree.flatten(state)
    ends = np.cumsum([np.size(leaf) for leaf in leaves])[:-1]

    def unravel(y: np.ndarray) -> nd.State:
        parts = np.split(y, ends, axis=-1)
        return jax.tree.unflatten(
            tree, [part.reshape(*y.shape[:-1], *np.shape(leaf)) for part, leaf in zip(parts, leaves, strict=True)]
        )

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate(
            [np.ravel(leaf) for leaf in jax.tree.leaves(execute(_slope, system, unravel(y), t, parameters=(0,)))]
        )

    start = np.concatenate([np.ravel(leaf) for leaf in leaves])
    solver = RK45(slope, 0.0, start, t1, rtol=rtol, atol=atol)
    times, rows = [0.0], [start]
    while solver.status == "running":
        message = solver.step()
        if solver.status == "failed" or not np.all(np.isfinite(solver.y)):
            raise RunError(f"rk45 stopped at t = {solver.t:g} s of {t1:g} s: {message or 'not finite'}")
        times.append(float(solver.t))
        rows.append(solver.y)
        progress(solver.t / t1)
    return np.array(times), unravel(np.array(rows))


def _slope(system: nd.LagrangianSystem, state: nd.State, t: Any) -> nd.State:
    rates = system.equations(state, t)
    return nd.State(system.group.tangent(state.g, rates.xi), rates.mu)
