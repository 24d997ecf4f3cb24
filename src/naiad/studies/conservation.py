"""What the studies watch over every step of a run: how far invariants move from where they began."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.compiler import execute
from naiad.numerics import Module
from naiad.studies.progress import Progress
from naiad.studies.whole_run import whole_run

Observable = Callable[[nd.State, Any], Any]


class Energy(Module):
    """The energy of a system, as an observable."""

    system: nd.LagrangianSystem

    def __call__(self, state: nd.State, t: Any) -> Any:
        return self.system.energy(state, t)


class SpaceMomentum(Module):
    """The momentum in space of a system, as an observable."""

    system: nd.LagrangianSystem

    def __call__(self, state: nd.State, t: Any) -> Any:
        return self.system.momentum(state)


class RelativeChange(Module):
    """|f(t) - f(0)| / |f(0)|, with the Euclidean norm; absolute where f(0) = 0.

    Its numbers are fields, so that runs from many states share one program.
    """

    observable: Observable
    start: np.ndarray
    scale: float

    @classmethod
    def since(cls, observable: Observable, state: nd.State) -> Self:
        """The change since a state."""
        start = np.asarray(execute(_observed, observable, state, 0.0, parameters=(0,)))
        return cls(observable, start, float(np.linalg.norm(start)) or 1.0)

    def __call__(self, state: nd.State, t: Any) -> Any:
        return jnp.sqrt(jnp.sum((self.observable(state, t) - self.start) ** 2)) / self.scale


def _observed(observable: Observable, state: nd.State, t: Any) -> Any:
    return observable(state, t)


def relative_drift(monitor: nd.simulation.Monitor, duration: float, start: float) -> float:
    """What the line through a scalar's values at every step rises over the duration, relative to its start."""
    return monitor.slope * duration / (abs(start) or 1.0)


def watched_run(
    system: nd.LagrangianSystem,
    state: nd.State,
    *,
    t0: float = 0.0,
    t1: float,
    dt: float,
    method: Any,
    progress: Progress,
    invariants: Mapping[str, Observable],
    observables: Mapping[str, Observable] | None = None,
    save_every: int | None = None,
) -> tuple[nd.Trajectory, dict[str, float]]:
    """A run, and NAME_error_max of each invariant and of the distance from the group, over every step.

    `observables` are monitored as they are, in `run.monitors`.
    """
    watched: dict[str, Observable] = {name: RelativeChange.since(f, state) for name, f in invariants.items()}
    watched["orthogonality"] = lambda state, t: system.group.error(state.g)
    monitors = {**watched, **(observables or {})}
    options: dict[str, Any] = {"progress": progress, "monitors": monitors, "save_every": save_every}
    run = whole_run(nd.simulate, system, state, t0=t0, t1=t1, dt=dt, method=method, **options)
    return run, {f"{name}_error_max": run.monitors[name].largest for name in watched}
