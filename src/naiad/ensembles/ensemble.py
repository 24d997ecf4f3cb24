"""What many runs give back: labelled arrays along `run` and `time`, and what follows from them."""

import collections
import functools
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

import jax
import numpy as np

from naiad import io
from naiad.compiler import execute_rows
from naiad.ensembles.cases import Cases
from naiad.ensembles.family import Family
from naiad.ensembles.job import Job
from naiad.ensembles.table import STANDING, Arrays, ending
from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.io.store import opened
from naiad.mechanics import LagrangianSystem, State, has_symmetry, split_rows, units_of
from naiad.mechanics.functions import with_system
from naiad.mechanics.labels import TIME, coordinates, labels
from naiad.numerics.arguments import checked
from naiad.simulation import observables
from naiad.simulation.checkpoint import origin
from naiad.simulation.monitor import Monitor
from naiad.simulation.outcome import Outcome
from naiad.simulation.record import Columns, bodies_of, stacked_states, standing_attributes
from naiad.simulation.trajectory import BATCH, DERIVED, Trajectory

if TYPE_CHECKING:
    import xarray as xr

RUNS = 4096  # that are held in memory at a time
TIMES = ("time", "output_time", "t", "output_t", "crossing_time")


class Ensemble(Sequence[Trajectory]):
    """Many motions. `ens[k]` is that of run k, a `Trajectory`; `record` has what was saved of all, along `run` and
    `time`, with the parameters of the `cases` as coordinates; velocities, energies, momenta and so on are computed from
    it when they are first asked for.

    A run that ended early has NaN behind its end; `outcomes` counts how the runs ended, and `runs` has that of each.
    """

    @checked
    def __init__(
        self,
        job: Job,
        arrays: Arrays,
        met: Arrays,
        cases: Cases | None = None,
        store: Any = None,
        reduced: "xr.Dataset | None" = None,
    ):
        self._store, self._reduced = store, reduced
        self.job, self.cases = job, cases
        self.arrays, self.met = arrays, met

    def __len__(self) -> int:
        return self.job.size

    @overload
    def __getitem__(self, k: int) -> Trajectory: ...
    @overload
    def __getitem__(self, k: slice) -> list[Trajectory]: ...
    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        if not -len(self) <= k < len(self):
            raise IndexError(f"run {k} of {len(self)}")
        self._needs_runs()
        k = int(k) % len(self)
        return Trajectory(self.system(k), self.method, Row(self, k))

    def __repr__(self) -> str:
        ends = ", ".join(f"{count} {outcome.name.lower()}" for outcome, count in self.outcomes.items())
        return f"Ensemble({type(self.job.program.family.system).__name__}, {len(self)} runs: {ends})"

    def _repr_html_(self) -> str:
        from naiad import viz

        return viz.card(self)

    @property
    def method(self) -> AbstractMethod:
        """The integrator."""
        return self.job.program.method

    @checked
    def system(self, k: int) -> LagrangianSystem:
        """The system of run k."""
        return self.job.program.family.known(None if self.job.own is None else self.job.own[k])

    @property
    def reduced(self) -> "xr.Dataset":
        """The statistics that were asked for instead of the runs."""
        if self._reduced is None:
            raise InputError("No statistics were asked for; give simulate_many some as reduce=.")
        return self._reduced

    def series(self, of: str | Callable[..., Any]) -> np.ndarray:
        """What a reduction is taken of, along run and time."""
        if callable(of):
            return self._at_nodes(of)
        if of in DERIVED and hasattr(Ensemble, of):
            return getattr(self, of).to_numpy()
        if of not in self.arrays or self.arrays[of][0][:2] != ("run", "time"):
            known = [name for name, (dims, _) in self.arrays.items() if dims[:2] == ("run", "time")]
            raise InputError(f"reduce: there is no {of!r} along time; there are {', '.join(known)} and energy, mu, xi.")
        return np.asarray(self.arrays[of][1])

    def for_each(self, function: Callable[..., Any]) -> np.ndarray:
        """function(times, states) of every run."""
        times = np.broadcast_to(self.times("time"), self.states.mu.shape[:2])
        return execute_rows(_called, function, np.array(times), self.states, parameters=(0,), device=self.job.device)

    @property
    def outcomes(self) -> dict[Outcome, int]:
        """How many runs ended in which way."""
        counts = collections.Counter(np.asarray(self.arrays["outcome"][1]).tolist())
        return {Outcome(code): counts[code] for code in sorted(counts)}

    @functools.cached_property
    def runs(self) -> "xr.Dataset":
        """What is known of every run: how and when it ended, and the figures of its solver."""
        known = {name: self.arrays[name][1] for name in STANDING if name in self.arrays}
        units = units_of(self.job.program.family.system)
        about = {name: STANDING[name].renamed(units).attributes for name in known}
        return self._dataset({name: (("run",), np.asarray(x), about[name]) for name, x in known.items()})

    @functools.cached_property
    def monitors(self) -> dict[str, "xr.Dataset"]:
        """The running statistics that were asked for, over every step: count, max, min, mean and so on of each run."""
        names = [name for name in self.arrays if name.startswith("monitor_")]
        columns = {name: np.asarray(self.arrays[name][1]) for name in names}
        return {
            name.removeprefix("monitor_"): self._dataset(
                {field: ("run", values[:, k]) for k, field in enumerate(Monitor._fields)}
            )
            for name, values in columns.items()
        }

    @functools.cached_property
    def record(self) -> "xr.Dataset":
        """What was saved: states and outputs."""
        self._needs_runs()
        series = {name: each for name, each in self.arrays.items() if len(each[0]) > 1 and each[0][1] in self._series}
        if self._store is not None:
            stored = opened(self._store, "the ensemble")[list(series)].drop_attrs(deep=False)
            made = stored.assign_coords(self._coordinates(stored.dims))
            made = made.assign_coords(coordinates(made.sizes, self.bodies))
        else:
            made = self._dataset({name: (*each, self.about.get(name, {})) for name, each in series.items()})
        return made.set_coords([name for name in ("t", "output_t") if name in made])

    @property
    def _series(self) -> dict[str, str]:
        """The dimensions of time, and the name of the times where each run has its own."""
        return {"time": "t", "output_time": "output_t"}

    def times(self, dim: str, k: int | None = None) -> np.ndarray:
        """The times along a dimension, of run k where each has its own."""
        own = self._series[dim]
        if own in self.arrays:
            values = self.arrays[own][1]
            return np.asarray(values if k is None else values[k])
        schedule = self.job.schedule
        every = schedule.save if dim == "time" else schedule.output
        nodes = np.arange(0, schedule.last + 1, every)
        if schedule.rest > 0.0:
            return np.append(schedule.t0 + nodes * schedule.h, schedule.t0 + schedule.last * schedule.h + schedule.rest)
        nodes = nodes if nodes[-1] == schedule.last else np.append(nodes, schedule.last)
        return schedule.t0 + nodes * schedule.h

    @functools.cached_property
    def about(self) -> dict[str, dict[str, str]]:
        """Words and units, by name."""
        known = {name: label.attributes for name, label in labels(self.job.program.family.system).items()}
        crossed = {f"crossing_{name}": each for name, each in known.items()}
        return known | crossed | dict.fromkeys(TIMES, self.time_attributes)

    @property
    def time_attributes(self) -> dict[str, str]:
        """Words and the unit of times."""
        return TIME.renamed(units_of(self.job.program.family.system)).attributes

    @functools.cached_property
    def bodies(self) -> Sequence[str] | None:
        """The names of the bodies."""
        return bodies_of(self.job.program.family.system)

    @functools.cached_property
    def states(self) -> State:
        """The saved states, stacked along run and time; g is the identity where only momenta were followed."""
        self._needs_runs()
        group, followed = self.job.program.family.system.group, self.job.program.reconstruct
        return stacked_states(group, lambda name: np.asarray(self.arrays[name][1]), followed=followed)

    @property
    def mu(self) -> "xr.DataArray":
        """The momenta at the saved nodes, in the body frame."""
        return self._labelled("mu", self.states.mu)

    @functools.cached_property
    def xi(self) -> "xr.DataArray":
        """The velocities at the saved nodes, in the body frame."""
        return self._labelled("xi", self._at_nodes(observables.velocity))

    @functools.cached_property
    def energy(self) -> "xr.DataArray":
        """The energy at the saved nodes."""
        return self._labelled("energy", self._at_nodes(observables.energy))

    @functools.cached_property
    def momentum(self) -> "xr.DataArray":
        """The momentum of the system's declared symmetry, or of left translations, in space."""
        self._needs_configurations("momentum in space")
        return self._labelled("momentum", self._at_nodes(observables.noether))

    @functools.cached_property
    def group_error(self) -> "xr.DataArray":
        """How far the saved configurations are off the group."""
        self._needs_configurations("group error")
        return self._labelled("group_error", self._at_nodes(observables.group_error))

    @functools.cached_property
    def dataset(self) -> "xr.Dataset":
        """Everything along time: what was saved, velocities, energies, and the momentum of a symmetry."""
        system = self.job.program.family.system
        known = labels(system)
        parts = zip(system.group.names.velocity, split_rows(system.group, self.xi.to_numpy()), strict=True)
        full = self.record.assign(
            {name: (("run", "time", *known[name].dims), x, known[name].attributes) for name, x in parts}
        ).assign(energy=self.energy)
        if has_symmetry(system) and self.job.program.reconstruct:
            full = full.assign(momentum=self.momentum)
        return full.assign_coords(coordinates(full.sizes, self.bodies))

    @functools.cached_property
    def crossings(self) -> dict[str, "xr.Dataset"]:
        """The located crossings of each section, those of a run together and in their order: `run`, `time`, and the
        state there, along `crossing`."""
        import xarray as xr

        if not self.met:
            return {}
        number = np.asarray(self.met["crossing_section"][1])
        found = {}
        for index, name in enumerate(self.job.program.sections):
            own = number == index if len(self.job.program.sections) > 1 else slice(None)
            rows = {
                key.removeprefix("crossing_"): (dims, np.asarray(x)[own], self.about.get(key, {}))
                for key, (dims, x) in self.met.items()
                if key != "crossing_section"
            }
            whose = rows["run"][1]
            columns = {} if self.cases is None else self.cases.columns
            given = {name: ("crossing", values[whose]) for name, values in columns.items()}
            found[name] = xr.Dataset(rows, given).set_coords("run")
            found[name] = found[name].assign_coords(coordinates(found[name].sizes, self.bodies))
        return found

    @checked
    def evaluate(self, observable: Callable[..., Any]) -> "xr.DataArray":
        """An observable f(state, t), or f(system, state, t), at every saved node of every run."""
        import xarray as xr

        values = self._at_nodes(observable)
        dims = ("run", "time", *(f"axis_{k}" for k in range(values.ndim - 2)))
        return xr.DataArray(values, self._coordinates(("run", "time")), dims)

    def _needs_runs(self) -> None:
        if self._reduced is not None:
            raise InputError("The runs were not kept, only their statistics (reduce=): they are in ens.reduced.")

    def _needs_configurations(self, what: str) -> None:
        if not self.job.program.reconstruct:
            raise InputError(
                f"These runs followed the momentum alone, so they have no {what}; run them with reconstruct=True."
            )

    def _at_nodes(self, observable: Callable[..., Any]) -> np.ndarray:
        """An observable where there is a saved node, NaN elsewhere."""
        self._needs_runs()
        frames = self.arrays[self.job.program.family.system.group.names.momentum[0]][1].shape[1]
        found: np.ndarray | None = None
        for first in range(0, len(self), RUNS):
            rows = self._at_nodes_of(observable, slice(first, min(first + RUNS, len(self))))
            if found is None:
                found = np.full((len(self), frames, *rows.shape[2:]), np.nan)
            found[first : first + RUNS] = rows
        assert found is not None  # there is at least one run
        return found

    def _at_nodes_of(self, observable: Callable[..., Any], some: slice) -> np.ndarray:
        """The same of some runs."""
        family, own, followed = self.job.program.family, self.job.own, self.job.program.reconstruct
        states = stacked_states(
            family.system.group, lambda name: np.asarray(self.arrays[name][1][some]), followed=followed
        )
        shape = states.mu.shape[:2]
        whose, which = np.nonzero(np.arange(shape[1]) < np.asarray(self.arrays["saved"][1][some])[:, None])
        times = self.times("time") if self.job.schedule.uniform else np.asarray(self.arrays["t"][1][some])
        times = np.broadcast_to(times, shape)
        found: np.ndarray | None = None
        for first in range(0, len(whose), BATCH):
            k, i = whose[first : first + BATCH], which[first : first + BATCH]
            rows = execute_rows(
                _observed,
                (family, observable),
                None if own is None else own[some][k],
                jax.tree.map(lambda leaf, k=k, i=i: leaf[k, i], states),
                times[k, i],
                parameters=(0,),
                device=self.job.device,
            )
            if found is None:
                found = np.full((*shape, *rows.shape[1:]), np.nan)
            found[k, i] = rows
        assert found is not None  # the first node of a run is always saved
        return found

    @checked
    def plot(self, variables: str | Sequence[str] | None = None, **options: Any) -> Any:
        """A figure with the runs as thin lines, and their median with bands of 50 and 90 per cent (see
        `naiad.viz.plot_ensemble`)."""
        from naiad import viz

        return viz.plot_ensemble(self.dataset, variables=variables, **options)

    @checked
    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the `dataset`, and what is known of every run, as a Zarr directory, which `naiad.io.read` and
        `xarray.open_zarr` read."""
        io.check_directory(path)
        io.write(self.dataset.assign(self.runs), path, overwrite=overwrite)

    def _labelled(self, name: str, values: Any) -> "xr.DataArray":
        import xarray as xr

        label = DERIVED[name].renamed(units_of(self.job.program.family.system))
        return xr.DataArray(
            values, self._coordinates(("run", "time")), ("run", "time", *label.dims), name, label.attributes
        )

    def _dataset(self, variables: dict[str, Any]) -> "xr.Dataset":
        import xarray as xr

        made = xr.Dataset(variables)
        made = made.assign_coords(self._coordinates(made.dims))
        return made.assign_coords(coordinates(made.sizes, self.bodies))

    def coordinates(self) -> "dict[str, xr.Variable]":
        """The coordinates of the record: runs, parameters, times that are shared, and axes that have names."""
        import xarray as xr

        sizes = {
            dim: size for dims, values in self.arrays.values() for dim, size in zip(dims, values.shape, strict=True)
        }
        own = {name: x for name, x in self._coordinates(sizes).items() if name not in self.arrays}
        named = coordinates(sizes, self.bodies)
        made = xr.Dataset(coords=own | {name: x for name, x in named.items() if name in sizes})
        return {str(name): each.variable for name, each in made.coords.items()}

    def _coordinates(self, dims: Any) -> dict[str, Any]:
        """The numbers of the runs, their parameters, and the times that they share."""
        given: dict[str, Any] = {"run": np.arange(len(self))}
        given |= {} if self.cases is None else self.cases.coordinates()
        for dim, own in self._series.items():
            if dim in dims and own not in self.arrays:
                given[dim] = (dim,), self.times(dim), self.time_attributes
            elif dim in dims:
                given[own] = ("run", dim), self.times(dim), self.time_attributes
        return given


class Row(Columns):
    """One run of an ensemble, as a `Trajectory` takes it: its arrays, cut to what it has, and where it stands."""

    def __init__(self, ensemble: "Ensemble", k: int):
        self._ensemble, self._k = ensemble, k

    @functools.cached_property
    def arrays(self) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
        """Dimensions and values, by name."""
        known, k = self._ensemble.arrays, self._k
        lengths = {"time": int(known["saved"][1][k])}
        if "outputs_saved" in known:
            lengths["output_time"] = int(known["outputs_saved"][1][k])
        found = {}
        for dim, length in lengths.items():
            found[dim] = (dim,), self._ensemble.times(dim, k)[:length]
            found |= {
                name: (dims[1:], np.asarray(values[k, :length]))
                for name, (dims, values) in known.items()
                if dims[:2] == ("run", dim) and name not in ("t", "output_t")
            }
        return found | self._crossings()

    @functools.cached_property
    def attrs(self) -> dict[str, Any]:
        """Where the run stands."""
        return standing_attributes(self._ensemble.job.plan(self._k), ending(self._ensemble.arrays, self._k))

    @property
    def origin(self) -> dict[str, Any]:
        """By what the run is known again."""
        return origin(self._ensemble.job.plan(self._k))

    @functools.cached_property
    def about(self) -> dict[str, dict[str, str]]:
        """Words and units, by name."""
        return self._ensemble.about

    @functools.cached_property
    def bodies(self) -> Sequence[str] | None:
        """The names of the bodies."""
        return self._ensemble.bodies

    def _crossings(self) -> dict[str, Any]:
        met = self._ensemble.met
        if not met:
            return {}
        own = slice(*np.searchsorted(met["crossing_run"][1], [self._k, self._k + 1]))
        return {name: (dims, np.asarray(x[own])) for name, (dims, x) in met.items() if name != "crossing_run"}


def _called(function: Callable[..., Any], times: Any, states: State) -> Any:
    return function(times, states)


def _observed(given: tuple[Family, Callable[..., Any]], own: Any, state: State, t: Any) -> Any:
    family, observable = given
    return with_system(observable, family.member(own))(state, t)
