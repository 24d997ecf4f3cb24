"""Averages over long runs in a heat bath, with their standard errors."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from naiad.diagnostics.fitting import fitting
from naiad.errors import InputError
from naiad.integrators import AbstractMethod, StochasticVariational
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics.arguments import checked
from naiad.simulation import Noise, Trajectory, resume, simulate

if TYPE_CHECKING:
    import xarray

BATCHES = 50
SAMPLES = 20_000


class Equilibrium(NamedTuple):
    """A run after its warm-up, in batches of equal length: the mean of each observable over every step of each."""

    pieces: list[Trajectory]
    batch_means: dict[str, np.ndarray]
    largest: dict[str, float]

    def mean(self, name: str) -> float:
        """The mean over the run."""
        return float(np.mean(self.batch_means[name]))

    def standard_error(self, name: str) -> float:
        """The standard error of the mean, from the scatter of the batches: right if these forget one another."""
        return float(np.std(self.batch_means[name], ddof=1) / np.sqrt(len(self.pieces)))

    @property
    def steps(self) -> int:
        """Steps taken, without the warm-up."""
        return sum(int(piece.statistics["steps"]) for piece in self.pieces)

    @property
    def ends(self) -> list[float]:
        """The times at which the batches end."""
        return [piece.attrs["t"] for piece in self.pieces]

    def samples(self, observable: Callable[[State, Any], Any]) -> np.ndarray:
        """An observable at the saved nodes."""
        return np.concatenate([piece.evaluate(observable)[1:] for piece in self.pieces])

    def dataset(self) -> "xarray.Dataset":
        """The saved nodes, labelled."""
        import xarray as xr

        rest = [piece.dataset.isel(time=slice(1, None)) for piece in self.pieces[1:]]
        last = self.pieces[-1].dataset.attrs["run"]
        return xr.concat([self.pieces[0].dataset, *rest], "time", combine_attrs="override").assign_attrs(run=last)


def check_length(t1: float, dt: float, batches: int = BATCHES) -> None:
    """Refuse a run that is too short to be cut into batches."""
    if not t1 >= 2 * batches * dt:
        raise InputError(f"t1={t1:g} with dt={dt:g} is too short for averages; give at least {2 * batches} steps")


@checked
def equilibrium(
    system: LagrangianSystem,
    state: State,
    observables: Mapping[str, Callable[[State, Any], Any]],
    *,
    t1: float,
    dt: float,
    noise: Noise,
    warm_up: float = 0.0,
    method: AbstractMethod | None = None,
    batches: int = BATCHES,
    progress: Callable[[float], None] | None = None,
) -> Equilibrium:
    """Averages of scalar observables over a run of t1 after a warm-up that does not count; the noise goes on from batch
    to batch. `method` is `StochasticVariational()` if not given."""
    method = StochasticVariational() if method is None else method
    state = fitting(system, state, method, noise=True, t1=t1, dt=dt, warm_up=warm_up)
    if not dt > 0 or not warm_up >= 0 or batches < 2:
        raise InputError(
            f"equilibrium: dt = {dt:g}, warm_up = {warm_up:g}, batches = {batches}; expected a step above 0, a warm-up "
            "that is not negative, and at least two batches."
        )
    check_length(t1, dt, batches)
    first, steps = round(warm_up / dt), round(t1 / dt)
    every = max(1, steps // SAMPLES)
    ends = first + np.round(np.linspace(0, steps, batches + 1)).astype(int)
    run = simulate(system, state, t1=ends[0] * dt, dt=dt, method=method, noise=noise, progress=False, throw=True)
    pieces = []
    for number, end in enumerate(ends[1:]):
        told = None if progress is None else lambda fraction, done=number: progress((done + fraction) / batches)
        options: dict[str, Any] = {"save_every": every, "monitors": observables, "throw": True}
        run = resume(run, t1=end * dt, progress=False if told is None else told, **options)
        pieces.append(run)
    monitors = {name: [piece.monitors[name] for piece in pieces] for name in observables}
    return Equilibrium(
        pieces,
        {name: np.array([float(each.mean) for each in batch]) for name, batch in monitors.items()},
        {name: max(each.largest for each in batch) for name, batch in monitors.items()},
    )
