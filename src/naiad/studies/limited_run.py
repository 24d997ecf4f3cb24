"""A run to its end, or to the limit of its system."""

import warnings
from typing import Any

import naiad as nd
from naiad.diagnostics import Energy, RelativeChange
from naiad.errors import RunError, RunWarning
from naiad.integrators import AbstractMethod
from naiad.numerics import Module
from naiad.simulation import Outcome
from naiad.studies.progress import Progress


class Momentum(Module):
    """What the system's symmetry keeps, as an observable."""

    system: nd.LagrangianSystem

    def __call__(self, state: nd.State, t: Any) -> Any:
        return self.system.noether(state)


def limited_run(
    system: nd.LagrangianSystem,
    state: nd.State,
    *,
    t1: float,
    dt: float,
    method: AbstractMethod,
    progress: Progress,
) -> nd.Trajectory:
    """A run with the relative changes of `energy` and `momentum` over every step as its monitors. It may end at the
    limit of the system; where it ends otherwise it raises."""
    watched = {
        "energy": RelativeChange.since(Energy(system), state),
        "momentum": RelativeChange.since(Momentum(system), state),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)  # of the limit: results say how a run ended
        run = nd.simulate(system, state, t1=t1, dt=dt, method=method, monitors=watched, progress=progress)
    if run.outcome not in (Outcome.COMPLETED, Outcome.LIMIT):
        raise RunError(f"the run stopped at t = {run.attrs['t']:g} s of {t1:g} s: {run.ending}")
    return run
