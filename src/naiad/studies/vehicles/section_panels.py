"""One section of many orbits by one method and step: a panel of the figures."""

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import naiad as nd
from naiad.diagnostics import Energy, relative_drift
from naiad.numerics import Module, static
from naiad.studies.methods import method
from naiad.studies.progress import Progress
from naiad.studies.vehicles.vehicle import CASIMIRS, casimir_sizes

TRIAL_SECONDS = 0.5
MOST_TRIALS = 8
AGREEMENT = 0.05  # of the step of a trial and the one that it gives
FIRST_STEPS = 2000  # of a run that compiles all there is, the search for crossings too


class Coordinate(Module):
    """A component of (Pi, p)."""

    index: int = static()

    def __call__(self, state: nd.State, t: Any) -> Any:
        return state.mu[self.index]


class Panel(NamedTuple):
    """The crossings of all orbits (which orbit, when, where), what they kept, the CPU time, and how they ended."""

    method: str
    dt: float
    orbit: np.ndarray
    t: np.ndarray
    mu: np.ndarray
    energy_error_max: float
    energy_drift: float
    casimir_error_max: float
    seconds: float
    stopped: str

    def row(self) -> dict[str, Any]:
        """Its line in a table."""
        names = ("method", "dt", "energy_error_max", "energy_drift", "casimir_error_max", "seconds", "stopped")
        return {"crossings": len(self.t)} | {name: getattr(self, name) for name in names}


class Sections(NamedTuple):
    """What all panels share: the body, the states that orbits start from, the section, and the duration."""

    body: nd.models.KirchhoffBody
    starts: np.ndarray
    section: nd.Section
    t1: float

    def panel(self, name: str, dt: float, progress: Progress) -> Panel:
        """All orbits by the method of this name; an orbit that cannot go on ends there, and the panel says so."""
        self._compile(name, dt)  # so that the time is that of the steps
        before = time.process_time()
        runs = self._simulate(name, dt, self.t1, progress.part(0, 1, f"{name}, dt = {dt:g}"))
        seconds = time.process_time() - before
        points = [run.crossings["section"] for run in runs]
        counts = [each.sizes["crossing"] for each in points]
        watched = [(run.monitors, float(run.energy[0])) for run in runs]
        return Panel(
            name,
            dt,
            np.repeat(np.arange(len(runs)), counts),
            np.concatenate([each["time"].to_numpy() for each in points]),
            np.concatenate([np.hstack([each["Pi"].to_numpy(), each["p"].to_numpy()]) for each in points]),
            max(_reach(m["energy"], E) / abs(E) for m, E in watched),
            max((relative_drift(m["energy"], self.t1, E) for m, E in watched), key=abs),
            max(_casimir_error(run.monitors, start) for run, start in zip(runs, self.starts, strict=True)),
            seconds,
            "; ".join(_ending(number, run) for number, run in enumerate(runs) if run.outcome.failed),
        )

    def step_for(self, name: str, dt: float, seconds: float) -> float:
        """Return the step with which the method takes this CPU time for the panel.

        What a step costs depends on the step: crossings are rarer between short steps, and Newton's method needs fewer
        iterations. So the trial is repeated at the step that it gave, until both agree.
        """
        for number in range(MOST_TRIALS):
            cost, failed = self._cost_of_a_step(name, dt)
            if failed and number:
                break  # the panel says that it stopped
            tried, dt = dt, self.t1 * cost / seconds
            if abs(dt - tried) <= AGREEMENT * tried:
                break
        return dt

    def _cost_of_a_step(self, name: str, dt: float) -> tuple[float, bool]:
        """Return the CPU time of a step of all orbits with steps of dt, and whether an orbit could not go on.

        The time before the first step is left out: it is also in a run of `FIRST_STEPS`, which is subtracted.
        """
        self._compile(name, dt)
        before, _, failed = self._trial(name, dt, FIRST_STEPS)
        steps, taken, cost = FIRST_STEPS, 0.0, before / FIRST_STEPS
        while taken < TRIAL_SECONDS and not failed:
            steps *= 2
            taken, most, failed = self._trial(name, dt, steps)
            cost = (taken - before) / (steps - FIRST_STEPS) if not failed else taken / most
        return cost, failed

    def _trial(self, name: str, dt: float, steps: int) -> tuple[float, float, bool]:
        """Return the CPU time, the most steps that an orbit took, and whether an orbit could not go on."""
        before = time.process_time()
        runs = self._simulate(name, dt, steps * dt)
        taken = time.process_time() - before
        return taken, max(1, *(run.statistics["steps"] for run in runs)), any(run.outcome.failed for run in runs)

    def _compile(self, name: str, dt: float) -> None:
        self._simulate(name, dt, FIRST_STEPS * dt)

    def _simulate(self, name: str, dt: float, t1: float, progress: Progress | None = None) -> nd.Ensemble:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*runs could not go on")  # the panel says so itself
            return nd.simulate_many(
                self.body,
                [self.body.state(mu=start) for start in self.starts],
                t1=t1,
                dt=dt,
                method=method(name),
                save_every=max(1, round(t1 / dt)),
                sections={"section": self.section},
                monitors={"energy": Energy(self.body), **CASIMIRS},
                reconstruct=False,
                progress=progress if progress is not None else False,
            )


def _reach(monitor: nd.simulation.Monitor, start: float) -> float:
    """How far a scalar goes from its start."""
    return float(max(monitor.max - start, start - monitor.min))


def _casimir_error(monitors: Mapping[str, nd.simulation.Monitor], start: np.ndarray) -> float:
    """The larger of the changes of the Casimirs, each relative to its size."""
    values = (float(start[:3] @ start[3:]), float(start[3:] @ start[3:]))
    each = zip(CASIMIRS, values, casimir_sizes(start), strict=True)
    return max(_reach(monitors[name], value) / size for name, value, size in each)


def _ending(number: int, run: nd.Trajectory) -> str:
    return f"orbit {number} stopped at t = {run.attrs['t']:g} s: {run.ending}"


def columns(panels: Sequence[Panel]) -> dict[str, Any]:
    """The points of all panels along `crossing`, with the panel and the orbit that each belongs to."""
    mu = np.concatenate([panel.mu for panel in panels])
    return {
        "panel": ("crossing", np.repeat(np.arange(len(panels)), [len(panel.t) for panel in panels])),
        "orbit": ("crossing", np.concatenate([panel.orbit for panel in panels])),
        "t": ("crossing", np.concatenate([panel.t for panel in panels]), {"units": "s"}),
        "Pi": (("crossing", "axis"), mu[:, :3], {"units": "kg m^2/s"}),
        "p": (("crossing", "axis"), mu[:, 3:], {"units": "kg m/s"}),
        "method": ("panels", np.array([panel.method for panel in panels])),
        "dt": ("panels", np.array([panel.dt for panel in panels]), {"units": "s"}),
    }
