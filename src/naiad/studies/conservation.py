"""What the studies watch over every step of a run: how far invariants move from where they began."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp

import naiad as nd
from naiad.errors import RunError
from naiad.numerics import double
from naiad.studies.progress import Progress

Observable = Callable[[nd.State, Any], Any]


@double
def relative_monitor(observable: Observable, state: nd.State) -> Observable:
    """|f(t) - f(0)| / |f(0)|, with the Euclidean norm; absolute where f(0) = 0."""
    start = jnp.asarray(observable(state, 0.0))
    scale = float(jnp.sqrt(jnp.sum(start**2))) or 1.0

    def change(state: nd.State, t: Any) -> Any:
        return jnp.sqrt(jnp.sum((observable(state, t) - start) ** 2)) / scale

    return change


def relative_drift(monitor: nd.simulation.Monitor, duration: float, start: float) -> float:
    """What the line through a scalar's values at every step rises over the duration, relative to its start."""
    return monitor.slope * duration / (abs(start) or 1.0)


def watched_run(
    system: nd.LagrangianSystem,
    state: nd.State,
    *,
    t1: float,
    dt: float,
    method: Any,
    progress: Progress,
    invariants: Mapping[str, Observable],
    observables: Mapping[str, Observable] | None = None,
) -> tuple[nd.Trajectory, dict[str, float]]:
    """A run, and NAME_error_max of each invariant and of the distance from the group, over every step.

    `observables` are monitored as they are, in `run.monitors`.
    """
    watched = {name: relative_monitor(f, state) for name, f in invariants.items()}
    watched["orthogonality"] = lambda state, t: system.group.error(state.g)
    monitors = {**watched, **(observables or {})}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a failed run is an error here
        run = nd.simulate(system, state, t1=t1, dt=dt, method=method, progress=progress, monitors=monitors)
    if run.outcome.failed:
        raise RunError(f"the run stopped at t = {run.record.attrs['t']:g} s of {t1:g} s: {run.outcome.remedy}")
    return run, {f"{name}_error_max": run.monitors[name].largest for name in watched}
