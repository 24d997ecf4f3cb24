"""What a run gives back: labelled arrays, and what follows from them."""

import functools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from naiad import io
from naiad.compiler import execute_rows
from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.mechanics import (
    Joints,
    Label,
    LagrangianSystem,
    Picture,
    State,
    has_symmetry,
    keeps_energy,
    power,
    split_rows,
    units_of,
)
from naiad.mechanics.inertia_shapes import inertia_shapes
from naiad.mechanics.labels import TIME, along_time, coordinates, fitted, labels
from naiad.numerics.arguments import checked
from naiad.simulation import observables
from naiad.simulation.attitude import converted_attitude
from naiad.simulation.energy_scale import energy_scale, may_be_rounding
from naiad.simulation.joints import labelled_joints
from naiad.simulation.monitor import Monitor
from naiad.simulation.outcome import Outcome
from naiad.simulation.parameters import parameters
from naiad.simulation.record import Columns, monitor_of, stacked_states
from naiad.simulation.work import integral_over_time, quadrature_error

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

BATCH = 8192
DERIVED = {
    "mu": Label(("component",), "momentum in the body frame"),
    "xi": Label(("component",), "velocity in the body frame"),
    "energy": Label((), "energy", "J"),
    "work": Label((), "work done on the system", "J"),
    "momentum": Label(("generator",), "momentum of the symmetry"),
    "group_error": Label((), "distance from the group", "1"),
}
SEEN = {"x": Label(("body", "axis"), "position", "m")}


class Trajectory:
    """A motion. `record` holds what was saved (nodes along `time`, crossings along `crossing`, outputs with their own
    cadence along `output_time`); velocities, energy, momentum and so on are computed from it when they are first asked
    for.
    """

    @checked
    def __init__(self, system: LagrangianSystem, method: AbstractMethod, record: "Columns | xr.Dataset"):
        self.system = system
        self.method = method
        self._rows = record

    @classmethod
    def unchecked(
        cls, system: LagrangianSystem, method: AbstractMethod, record: "Columns | xr.Dataset"
    ) -> "Trajectory":
        """The same from code that knows its arguments to fit."""
        new = object.__new__(cls)
        vars(new).update(system=system, method=method, _rows=record)
        return new

    @property
    def attrs(self) -> dict[str, Any]:
        """Where the run stands."""
        return self._rows.attrs

    @functools.cached_property
    def record(self) -> "xr.Dataset":
        """What was saved."""
        return self._rows.dataset() if isinstance(self._rows, Columns) else self._rows

    def _values(self, name: str) -> np.ndarray:
        return self._rows.values(name) if isinstance(self._rows, Columns) else self._rows[name].to_numpy()

    def _dims(self) -> dict[str, tuple[str, ...]]:
        if isinstance(self._rows, Columns):
            return {name: dims for name, (dims, _) in self._rows.arrays.items()}
        return {str(name): tuple(map(str, each.dims)) for name, each in self._rows.variables.items()}

    @property
    def outcome(self) -> Outcome:
        """How the run ended."""
        return Outcome[self.attrs["outcome"]]

    @property
    def ending(self) -> str:
        """What happened at the end and what to do."""
        return self.outcome.told(self.system, self.method)

    @property
    def statistics(self) -> dict[str, float]:
        """Steps taken, Newton iterations, largest residual and largest round-off correction of g, over every step."""
        return {"steps": self.attrs["steps"], **self.attrs["statistics"]}

    @functools.cached_property
    def monitors(self) -> dict[str, Monitor]:
        """The running statistics that were asked for, over every step."""
        return {name: monitor_of(numbers) for name, numbers in self.attrs["monitors"].items()}

    @property
    def t(self) -> "xr.DataArray":
        """The times of the saved nodes."""
        return self.record["time"]

    @functools.cached_property
    def states(self) -> State:
        """The saved states, stacked along the first axis; g is the identity where only momenta were followed."""
        return stacked_states(self.system.group, self._values, followed=self.attrs.get("reconstruct", True))

    @property
    def g(self) -> Any:
        """The saved configurations, stacked."""
        self._needs_configurations("g")
        return self.states.g

    @property
    def mu(self) -> "xr.DataArray":
        """The momenta at the saved nodes, in the body frame."""
        return self._labelled("mu", self.states.mu)

    @functools.cached_property
    def xi(self) -> "xr.DataArray":
        """The velocities at the saved nodes, from the momenta, in the body frame."""
        return self._labelled("xi", self._at_nodes(observables.velocity, self.system))

    @functools.cached_property
    def energy(self) -> "xr.DataArray":
        """The energy at the saved nodes, from the momenta. Where its first value is round-off, the attribute `scale` is
        what changes are divided by instead: the largest kinetic energy plus the range of the potential."""
        energy = self._at_nodes(observables.energy, self.system)
        found = self._labelled("energy", energy)
        if not may_be_rounding(energy):
            return found
        scale = energy_scale(energy, np.asarray(self.states.mu), self.xi.to_numpy())
        return found if scale is None else found.assign_attrs(scale=scale)

    @functools.cached_property
    def work(self) -> "xr.DataArray":
        """The work done on the system since the start by forces, friction and what depends on time: the integral of
        <F, xi> - d ell/dt by the cubic spline through its values at the saved nodes. Not a number in a heat bath, whose
        noise does work that is not known. The attribute `quadrature_error` says about how far it is off [J]; for less,
        save more often, or see `naiad.diagnostics.work`."""
        times = self._values("time")
        if self.attrs.get("noise") is not None:
            return self._labelled("work", np.full(len(times), np.nan))
        if keeps_energy(self.system):
            return self._labelled("work", np.zeros(len(times)))
        rate = self._at_nodes(_power, self.system)
        found = self._labelled("work", integral_over_time(times, rate, times))
        return found.assign_attrs(quadrature_error=quadrature_error(times, rate))

    @functools.cached_property
    def momentum(self) -> "xr.DataArray":
        """The momentum of the system's declared symmetry, or of left translations: Ad*_{g^-1} mu, in space."""
        self._needs_configurations("momentum in space")
        return self._labelled("momentum", self._at_nodes(observables.noether, self.system))

    @functools.cached_property
    def group_error(self) -> "xr.DataArray":
        """How far the saved configurations are off the group (orthogonality error)."""
        self._needs_configurations("group error")
        return self._labelled("group_error", self._at_nodes(observables.group_error, self.system))

    @property
    def final(self) -> State:
        """The last saved state."""
        return jax.tree.map(lambda leaf: leaf[-1], self.states)

    @functools.cached_property
    def dataset(self) -> "xr.Dataset":
        """Everything along time: configurations, momenta, velocities, energy, the work done where that is not constant,
        outputs, the momentum of a symmetry, what a system gives as its `picture`; and in `run` what `load` needs to go
        on."""
        saved = self.record.drop_dims(["crossing", "output_time"], errors="ignore").drop_attrs(deep=False)
        velocities = split_rows(self.system.group, self.xi.to_numpy())
        named = dict(zip(self.system.group.names.velocity, velocities, strict=True))
        full = saved.assign(along_time(self.system, named)).assign(energy=self.energy)
        if self.attrs.get("noise") is not None:
            full["energy"].attrs["changes"] = "heat"
        elif np.any(self.work):
            full = full.assign(work_done=self.work)
        full = full.assign_attrs(run={**self.attrs, "sections": [], **parameters(self.system, self.method)})
        if has_symmetry(self.system) and self.attrs.get("reconstruct", True):
            full = full.assign(momentum=self.momentum)
        return self._pictured(full, self.system.picture or Picture())

    def _pictured(self, full: "xr.Dataset", picture: Picture) -> "xr.Dataset":
        """The dataset with what a picture shows besides; it is no run to go on with where that replaces its states."""
        if picture.shapes is None and self.attrs.get("reconstruct", True):
            picture = picture._replace(shapes=inertia_shapes(self.system, *self._first()))
        full = full.assign_attrs(picture.attributes)
        if picture.seen is None or not self.attrs.get("reconstruct", True):
            return full
        seen = self._at_nodes(_seen, picture.seen)
        replaced = [name for name in seen if name in full]
        full, shown = full.drop_vars(replaced), {}
        sizes = {str(dim): size for dim, size in full.sizes.items()}
        for name, rows in seen.items():
            known = (self.system.labels.get(name), SEEN.get(name))
            fits = next((each for each in known if each and len(each.dims) == rows.ndim - 1), None)
            label = fitted(name, fits and fits.renamed(units_of(self.system)), rows.shape[1:], sizes)
            shown[name] = (("time", *label.dims), rows, label.attributes)
        full = full.assign(shown)
        full = full.assign_coords(coordinates(full.sizes, picture.names))
        return full.assign_attrs(run=None) if replaced else full

    def _first(self) -> tuple[Any, float]:
        """The first saved configuration, and when."""
        return jax.tree.map(lambda leaf: leaf[0], self.states.g), float(self._values("time")[0])

    @checked
    def attitude(self, form: str = "quaternion", name: str | None = None) -> "xr.DataArray":
        """The attitude at the saved nodes as a unit "quaternion" (w, x, y, z, without jumps of sign), as "euler" angles
        (yaw, pitch, roll about z, y, x, each in the turned frame) or as a rotation "vector" (axis times angle) [rad].

        `name` says which, where there are several (`R1`, `R2`); bodies of one name come together.
        """
        self._needs_configurations("attitude")
        return converted_attitude(self.record, labels(self.system), form, name)

    @checked
    def joints(self, form: str = "vector") -> "xr.Dataset":
        """The joints of connected bodies at the saved nodes: `turn`, that of each body from its rest in its parent's
        frame, as a rotation "vector" [rad] or a "quaternion"; `rate`, its angular velocity relative to the parent, in
        its own frame; of hinges also `angle`, which goes on beyond a whole turn (by the rates, where nodes are more
        than half a turn apart), and `angle_rate`, along `hinge`, the number of the body. Body 0 is the root, whose turn
        is its attitude. `joint` says the kinds.
        """
        self._needs_configurations("joints")
        known = getattr(self.system, "joints", None)
        if not isinstance(known, Joints):
            raise InputError(
                f"{type(self.system).__name__} has no joints; ConnectedBodies has. Attitudes are in run.attitude()."
            )
        Q, rates = self._at_nodes(_joint_motion, (self.system, known.motion))
        found = labelled_joints(known, self.t, Q, rates, form, units_of(self.system).named("rad/s"))
        picture = self.system.picture
        return found if picture is None else found.assign_coords(coordinates(found.sizes, picture.names))

    @functools.cached_property
    def crossings(self) -> dict[str, "xr.Dataset"]:
        """The located crossings of each section: `crossing_time`, and the state there."""
        if not self.attrs["sections"]:
            return {}
        import xarray as xr

        dims = {name: dims for name, dims in self._dims().items() if name.startswith("crossing_")}
        names, number = self.attrs["sections"], self._values("crossing_section")
        rows = {name.removeprefix("crossing_"): (dims[name], self._values(name)) for name in dims}
        del rows["section"]
        known = {name: label.attributes for name, label in labels(self.system).items()}
        known["time"] = TIME.renamed(units_of(self.system)).attributes
        sizes = {dim: size for along, x in rows.values() for dim, size in zip(along, x.shape, strict=True)}
        axes = coordinates(sizes)
        found = {}
        for index, name in enumerate(names):
            mine = number == index if len(names) > 1 else slice(None)
            found[name] = xr.Dataset({key: (along, x[mine], known[key]) for key, (along, x) in rows.items()}, axes)
        return found

    @checked
    def evaluate(self, observable: Callable[[State, Any], Any]) -> np.ndarray:
        """An observable f(state, t) at every saved node, stacked."""
        return self._at_nodes(_observed, observable)

    def _needs_configurations(self, what: str) -> None:
        if not self.attrs.get("reconstruct", True):
            raise InputError(
                f"This run followed the momentum alone, so it has no {what}; run it with reconstruct=True."
            )

    def _at_nodes(self, function: Callable[..., Any], first: Any) -> Any:
        times = self._values("time")
        pieces = [
            execute_rows(
                function,
                first,
                jax.tree.map(lambda x, i=i: x[i : i + BATCH], self.states),
                times[i : i + BATCH],
                parameters=(0,),
            )
            for i in range(0, len(times), BATCH)
        ]
        return jax.tree.map(lambda *rows: np.concatenate(rows), *pieces)

    @checked
    def plot(self, variables: str | Sequence[str] | None = None, **options: Any) -> Any:
        """An overview figure: velocities, errors, outputs and the path; or `variables`, by name: any of the dataset,
        outputs with their own cadence too, "energy_error", "momentum_error" and "path" (see `naiad.viz.plot`)."""
        from naiad import viz

        known, shown = labels(self.system), self.dataset
        outputs = [
            str(name)
            for name in self.record.data_vars
            if name not in known and "crossing" not in self.record[name].dims
        ]
        apart = [name for name in outputs if name not in shown]
        shown = shown.assign({name: self.record[name] for name in apart})
        return viz.plot(shown, variables=variables, outputs=outputs, **options)

    @checked
    def animate(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """The motion as one HTML page that opens in any browser, or as a film for talks, `x.gif` or `x.mp4` (see
        `naiad.viz.animate`); the path of the file."""
        from naiad import viz
        from naiad.viz.titles import how, in_words

        words: dict[str, Any] = {"title": in_words(type(self.system).__name__)}
        words["subtitle"] = how(self.method, self.attrs["dt"], units_of(self.system).time)
        return viz.animate(self.dataset, path, **words | options)

    @checked
    def live(self, path: str | os.PathLike[str], **options: Any) -> None:
        """A web page that computes this motion as it shows it, from the first saved state on, with the step of the run:
        see `naiad.live`, of which the options are; `controls` are its sliders."""
        from naiad.viz.live import live

        start = State(*jax.tree.map(lambda leaf: leaf[0], self.states))
        given: dict[str, Any] = {"dt": self.attrs["dt"]} | options
        if "methods" not in given:
            given.setdefault("method", self.method)
        if self.attrs["t"] > self.attrs["t0"]:
            given.setdefault("span", min(self.attrs["t"] - self.attrs["t0"], 20000 * self.attrs["dt"]))
        live(self.system, start, path, **given)

    @checked
    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the run as a Zarr directory; `load` reads it back bit by bit."""
        io.check_directory(path)
        known = parameters(self.system, self.method) | (self._rows.origin if isinstance(self._rows, Columns) else {})
        io.write(self.record.assign_attrs(known), path, overwrite=overwrite)

    @checked
    def to_dataframe(self, *, every: int = 1) -> "pd.DataFrame":
        """The `dataset` as a table of pandas: a row for each (or each `every`-th) saved time, a column for each number,
        named as in `Omega_x` or `R_x_y`."""
        return io.to_dataframe(self.dataset.isel(time=slice(None, None, _stride(every))))

    @checked
    def to_csv(self, path: str | os.PathLike[str], *, every: int = 1, overwrite: bool = False) -> None:
        """The table of `to_dataframe` as a text file, with all digits."""
        io.write_csv(self.dataset.isel(time=slice(None, None, _stride(every))), path, overwrite=overwrite)

    @checked
    def to_netcdf(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """The `dataset` as a netCDF file (version 3, which every tool reads)."""
        io.write_netcdf(self.dataset, path, overwrite=overwrite)

    def __repr__(self) -> str:
        units = units_of(self.system)
        span = f"t = {float(self._values('time')[0]):g} .. {units.of_time(self.attrs['t'])}"
        if self.outcome is not Outcome.COMPLETED and "t1" in self.attrs:
            span += f" of {units.of_time(self.attrs['t1'])}"
        steps, end = self.attrs["steps"], self.outcome.name.lower()
        return f"Trajectory({type(self.system).__name__}, {span}, {steps} steps, {end})"

    def _repr_html_(self) -> str:
        from naiad import viz

        return viz.card(self)

    def _labelled(self, name: str, values: Any) -> "xr.DataArray":
        import xarray as xr

        label = DERIVED[name].renamed(units_of(self.system))
        dims = ("time", *label.dims)
        return xr.DataArray(values, {"time": self.t}, dims, name, label.attributes)


def _stride(every: int) -> int:
    if every < 1:
        raise InputError(f"every = {every!r}; expected a whole number above 0.")
    return every


def _observed(observable: Callable[[State, Any], Any], state: State, t: Any) -> Any:
    return observable(state, t)


def _seen(seen: Callable[[Any, Any], Any], state: State, t: Any) -> Any:
    return seen(state.g, t)


def _power(system: LagrangianSystem, state: State, t: Any) -> Any:
    return power(system, state, t)


def _joint_motion(given: Any, state: State, t: Any) -> Any:
    system, motion = given
    return motion(state.g, system.velocity(state.g, state.mu, t))


def _group_error(system: LagrangianSystem, state: State, t: Any) -> Any:
    return system.group.error(state.g)
