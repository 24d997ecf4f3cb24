"""What a run keeps, watched over every step: how far invariants move from where they began."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute
from naiad.diagnostics.fitting import fitting
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics import Module
from naiad.numerics.arguments import checked
from naiad.simulation import Monitor, Trajectory, simulate
from naiad.simulation.energy_scale import SEEN

Observable = Callable[[State, Any], Any]


class Energy(Module):
    """The energy of a system, as an observable."""

    system: LagrangianSystem

    def __call__(self, state: State, t: Any) -> Any:
        return self.system.energy(state, t)


class SpaceMomentum(Module):
    """The momentum in space of a system, as an observable."""

    system: LagrangianSystem

    def __call__(self, state: State, t: Any) -> Any:
        return self.system.momentum(state)


class RelativeChange(Module):
    """|f(t) - f(0)| / |f(0)|, with the Euclidean norm; absolute where f(0) = 0.

    Its numbers are fields, so that runs from many states share one program.
    """

    observable: Observable
    start: np.ndarray
    scale: float

    @classmethod
    def since(cls, observable: Observable, state: State, t: float = 0.0) -> Self:
        """The change since a state."""
        start = np.asarray(execute(_observed, observable, state, t, parameters=(0,)))
        return cls(observable, start, float(np.linalg.norm(start)) or 1.0)

    def __call__(self, state: State, t: Any) -> Any:
        return jnp.sqrt(jnp.sum((self.observable(state, t) - self.start) ** 2)) / self.scale


def _observed(observable: Observable, state: State, t: Any) -> Any:
    return observable(state, t)


@checked
def relative_drift(monitor: Monitor, duration: float, start: float) -> float:
    """What the line through a scalar's values at every step rises over the duration, relative to its start."""
    return monitor.slope * duration / (abs(start) or 1.0)


@checked
def watched_run(
    system: LagrangianSystem,
    state: State,
    *,
    invariants: Mapping[str, Observable],
    t1: float,
    dt: float,
    t0: float = 0.0,
    method: AbstractMethod | None = None,
    observables: Mapping[str, Observable] | None = None,
    save_every: int | None = None,
    progress: bool | Callable[[float], None] | None = None,
) -> tuple[Trajectory, dict[str, float]]:
    """A run to t1, and NAME_error_max of each invariant: its largest change over every step, relative to its first
    value, absolute where that is 0; `orthogonality_error_max` is the largest distance from the group. An `Energy` that
    begins at round-off is relative to the `scale` of `run.energy`.

    `observables` are monitored as they are, in `run.monitors`. A run that cannot go on raises a `RunError`.
    """
    state = fitting(system, state, t0=t0)
    watched: dict[str, Observable] = {name: RelativeChange.since(f, state, t0) for name, f in invariants.items()}
    watched["orthogonality"] = lambda state, t: system.group.error(state.g)
    run = simulate(
        system,
        state,
        t0=t0,
        t1=t1,
        dt=dt,
        method=method,
        monitors={**watched, **(observables or {})},
        save_every=save_every,
        progress=progress,
        throw=True,
    )
    return run, {f"{name}_error_max": _largest_change(run, name, change) for name, change in watched.items()}


def _largest_change(run: Trajectory, name: str, change: Observable) -> float:
    """The largest value of a monitor; of an energy that begins at round-off, relative to its scale instead."""
    largest = run.monitors[name].largest
    if not (isinstance(change, RelativeChange) and isinstance(change.observable, Energy)):
        return largest
    if largest <= SEEN and np.any(change.start):
        return largest
    scale = run.energy.attrs.get("scale")
    return largest if scale is None else largest * change.scale / scale
