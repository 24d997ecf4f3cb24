"""A run of bodies that the water couples: to its end, or until they nearly touch."""

from typing import Any, NamedTuple

import naiad as nd
from naiad.diagnostics import Energy, RelativeChange
from naiad.errors import RunError
from naiad.integrators import AbstractMethod
from naiad.numerics import Module
from naiad.simulation import Outcome
from naiad.studies.progress import Progress


class CoupledRun(NamedTuple):
    """The run, and the largest relative changes of energy and momentum over every step."""

    run: nd.Trajectory
    energy_error: float
    momentum_error: float

    @property
    def ending(self) -> str:
        """How it ended."""
        return "near contact" if self.run.outcome is Outcome.EVENT else "reached t1"


class Momentum(Module):
    """What the system's symmetry keeps, as an observable."""

    system: nd.models.SubmergedBodies

    def __call__(self, state: nd.State, t: Any) -> Any:
        return self.system.noether(state)


class Nearness(Module):
    """The gap less a smallest one, as the function of a section."""

    system: nd.models.SubmergedBodies
    least: float

    def __call__(self, state: nd.State, t: Any) -> Any:
        return self.system.gap(state.g) - self.least


def coupled_run(
    system: nd.models.SubmergedBodies,
    state: nd.State,
    *,
    t1: float,
    dt: float,
    least: float,
    method: AbstractMethod,
    progress: Progress,
) -> CoupledRun:
    """A run that ends where the gap falls to `least`."""
    watched = {
        "energy": RelativeChange.since(Energy(system), state),
        "momentum": RelativeChange.since(Momentum(system), state),
    }
    section = nd.Section(Nearness(system, least), direction=-1, terminal=True)
    run = nd.simulate(
        system, state, t1=t1, dt=dt, method=method, monitors=watched, sections={"contact": section}, progress=progress
    )
    if run.outcome not in (Outcome.COMPLETED, Outcome.EVENT):
        raise RunError(f"The run ended at t = {float(run.t[-1]):g}: {run.outcome.remedy}")
    return CoupledRun(run, run.monitors["energy"].largest, run.monitors["momentum"].largest)
