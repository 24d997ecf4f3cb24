"""Averages over long runs in a heat bath, with their standard errors."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import naiad as nd
from naiad.errors import InputError
from naiad.studies.progress import Progress
from naiad.studies.whole_run import whole_run

if TYPE_CHECKING:
    import xarray

METHODS = {
    "euler": ("stochastic variational Euler, friction lagged (the thesis)", nd.StochasticVariational()),
    "implicit": ("the same with the friction of the step's velocity", nd.StochasticVariational(lagged=False)),
    "trapezoid": (
        "by the trapezoid, second order in averages",
        nd.StochasticVariational(rule=nd.Trapezoid(), lagged=False),
    ),
    "midpoint": (
        "by the midpoint, second order in averages, exact for linear forces",
        nd.StochasticVariational(rule=nd.Midpoint(), lagged=False),
    ),
}
CHOICES = {name: words for name, (words, _) in METHODS.items()}
BATCHES = 50
SAMPLES = 20_000


class Equilibrium(NamedTuple):
    """A run after its warm-up, in batches of equal length: the mean of each observable over every step of each."""

    pieces: list[nd.Trajectory]
    batch_means: dict[str, np.ndarray]
    largest: dict[str, float]

    def mean(self, name: str) -> float:
        """The mean over the run."""
        return float(np.mean(self.batch_means[name]))

    def standard_error(self, name: str) -> float:
        """The standard error of the mean, from the scatter of the batches: right if these forget one another."""
        return float(np.std(self.batch_means[name], ddof=1) / np.sqrt(BATCHES))

    @property
    def steps(self) -> int:
        """Steps taken, without the warm-up."""
        return sum(int(piece.statistics["steps"]) for piece in self.pieces)

    @property
    def ends(self) -> list[float]:
        """The times at which the batches end."""
        return [piece.attrs["t"] for piece in self.pieces]

    def samples(self, observable: Callable[[nd.State, Any], Any]) -> np.ndarray:
        """An observable at the saved nodes."""
        return np.concatenate([piece.evaluate(observable)[1:] for piece in self.pieces])

    def dataset(self) -> "xarray.Dataset":
        """The saved nodes, labelled."""
        import xarray as xr

        rest = [piece.dataset.isel(time=slice(1, None)) for piece in self.pieces[1:]]
        last = self.pieces[-1].dataset.attrs["run"]
        return xr.concat([self.pieces[0].dataset, *rest], "time", combine_attrs="override").assign_attrs(run=last)


def normal_density(variance: float) -> Callable[[np.ndarray], np.ndarray]:
    """The density of a normal number of mean 0."""
    return lambda x: np.exp(-(x**2) / (2.0 * variance)) / np.sqrt(2.0 * np.pi * variance)


def check_length(t1: float, dt: float) -> None:
    """Refuse a run that is too short to be cut into batches."""
    if t1 < 2 * BATCHES * dt:
        raise InputError(f"t1={t1:g} with dt={dt:g} is too short for averages; give at least {2 * BATCHES} steps")


def equilibrium(
    system: nd.LagrangianSystem,
    state: nd.State,
    observables: Mapping[str, Callable[[nd.State, Any], Any]],
    *,
    warm_up: float,
    t1: float,
    dt: float,
    method: str,
    seed: int,
    progress: Progress,
) -> Equilibrium:
    """A run of t1 after a warm-up that does not count; the noise goes on from batch to batch."""
    first, steps = round(warm_up / dt), round(t1 / dt)
    every = max(1, steps // SAMPLES)
    ends = first + np.round(np.linspace(0, steps, BATCHES + 1)).astype(int)
    run = whole_run(
        nd.simulate,
        system,
        state,
        t1=ends[0] * dt,
        dt=dt,
        method=METHODS[method][1],
        noise=nd.Noise(seed),
        progress=False,
    )
    pieces = []
    for number, end in enumerate(ends[1:]):
        run = whole_run(
            nd.resume, run, t1=end * dt, save_every=every, monitors=observables, progress=progress.part(number, BATCHES)
        )
        pieces.append(run)
    monitors = {name: [piece.monitors[name] for piece in pieces] for name in observables}
    return Equilibrium(
        pieces,
        {name: np.array([float(each.mean) for each in batch]) for name, batch in monitors.items()},
        {name: max(each.largest for each in batch) for name, batch in monitors.items()},
    )
