"""Work and precision: what accuracy a method gives for its CPU time."""

import itertools
from typing import Any, NamedTuple

import jax
import numpy as np

import naiad as nd
from naiad import diagnostics
from naiad.diagnostics import timed_run
from naiad.errors import InputError
from naiad.integrators import check_method
from naiad.studies.methods import FREE_CHOICES, method
from naiad.studies.parameters import Inertia, Names, Vector, as_matrix, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.studies.vehicles.vehicle import INERTIA, MASS, vehicle

SYSTEMS = {"rigid-body": "the free rigid body", "kirchhoff": "the underwater vehicle"}
STARTS = {"rigid-body": (0.7, 0.8, -1.5), "kirchhoff": (0.0, 3.807047861195724, 1.0)}
ACCURACIES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
THESIS, COMPARED = ("exp", "new", "skew", "cay", "tln", "flv", "kr", "sw-perp"), 1e-3


class Row(NamedTuple):
    """A method at a step: its error at the end, and its CPU time."""

    method: str
    dt: float
    error: float
    seconds: float
    steps: int


class WorkPrecision(Study, name="work-precision"):
    """Work-precision diagram: error against CPU time for every method.

    The error at t1 against a reference by DOP853 is the largest of the relative errors of momentum, attitude and
    position. Methods of order two lie on parallel lines and differ by constant factors; for high accuracy the order
    decides, whatever a step costs.
    """

    paper = "N. Bou-Rabee, Hamilton-Pontryagin Integrators on Lie Groups, Caltech 2007, section 5.7 and Figure 5.7.1"

    system: str = parameter("rigid-body", choices=SYSTEMS, help="what moves")
    methods: Names | None = parameter(None, choices=FREE_CHOICES, help="integrators (all that fit the system)")
    J: Inertia = parameter((1.0, 2.0, 3.0), unit="kg m^2", size=3, help="inertia of the rigid body")
    unphysical: bool = parameter(False, help="take moments of inertia that no body has")
    I: Inertia = parameter(INERTIA, unit="kg m^2", size=3, help="inertia of the vehicle")  # noqa: E741
    M: Inertia = parameter(MASS, unit="kg", size=3, help="mass of the vehicle")
    Pi0: Vector | None = parameter(
        None, unit="kg m^2/s", size=3, help="initial angular momentum (that of the other studies)"
    )
    p0: Vector = parameter((5.2, 0.0, 0.0), unit="kg m/s", size=3, help="initial linear momentum of the vehicle")
    dts: Vector | None = parameter(
        None, unit="s", above=0.0, help="time steps (t1/20, halved nine times); rounded so that they divide t1"
    )
    t1: float = parameter(10.0, unit="s", above=0.0, help="duration")

    def validate(self) -> None:
        if self.methods is not None:
            for name in self.methods:
                check_method(method(name), self._system())
        if self.dts is not None and np.max(self.dts) > self.t1:
            raise InputError(
                f"dts has a step of {np.max(self.dts):g} s, longer than t1 = {self.t1:g} s; give smaller ones"
            )

    def run(self, progress: Progress) -> Findings:
        system, state = self._system(), self._state()
        exact = diagnostics.reference(system, state, t1=self.t1, tolerance=3e-14)
        names = self._names(system)
        rows: list[Row] = []
        for number, name in enumerate(names):
            part = progress.part(number, len(names), name)
            counts = self._step_counts()
            for each, steps in enumerate(counts):
                dt, told = self.t1 / steps, part.part(each, len(counts))
                end = timed_run(system, method(name), state, dt=dt, steps=steps, progress=told)
                error = relative_error(end.state, exact) if end.converged else float("nan")
                rows.append(Row(name, dt, error, end.seconds, steps))
        fastest = {f"{accuracy:g}": ranking(rows, accuracy) for accuracy in ACCURACIES}
        results = {
            "rows": [row._asdict() for row in rows],
            "fastest": {accuracy: order[0][0] if order else None for accuracy, order in fastest.items()},
        }
        return Findings(
            results, lambda: dataset(rows), {"work-precision": lambda: _figure(rows)}, _notes(rows, fastest)
        )

    def _system(self) -> nd.EulerPoincareSystem:
        if self.system == "kirchhoff":
            return vehicle(self.I, self.M, None)
        return nd.models.RigidBody(as_matrix(self.J), unphysical=self.unphysical)

    def _state(self) -> nd.State:
        system = self._system()
        Pi = STARTS[self.system] if self.Pi0 is None else self.Pi0
        return system.state(Pi=Pi, p=self.p0) if self.system == "kirchhoff" else system.state(Pi=Pi)

    def _step_counts(self) -> list[int]:
        if self.dts is None:
            return [20 * 2**k for k in range(10)]
        return [max(1, round(self.t1 / float(dt))) for dt in self.dts]

    def _names(self, system: nd.LagrangianSystem) -> list[str]:
        return [name for name in FREE_CHOICES if _fits(name, system)] if self.methods is None else list(self.methods)


def relative_error(state: nd.State, exact: nd.State) -> float:
    """The largest of the relative errors of the momentum and of each component of the configuration; NaN if it is
    not finite."""
    pairs = zip(jax.tree.leaves(state), jax.tree.leaves(exact), strict=True)
    errors = [float(np.linalg.norm(one - other) / np.linalg.norm(other)) for one, other in pairs]
    return max(errors) if np.all(np.isfinite(errors)) else float("nan")


def ranking(rows: list[Row], accuracy: float) -> list[tuple[str, float]]:
    """The methods that reach an accuracy, with the CPU time that it takes (between steps by the line through the
    logarithms), the fastest first."""
    times = {}
    for name in dict.fromkeys(row.method for row in rows):
        own = sorted((row for row in rows if row.method == name and row.error > 0.0), key=lambda row: row.seconds)
        reached = [row.seconds for row in own if row.error <= accuracy]
        for one, other in itertools.pairwise(own):
            if one.error > accuracy > other.error:
                share = np.log(one.error / accuracy) / np.log(one.error / other.error)
                reached.append(float(one.seconds * (other.seconds / one.seconds) ** share))
        if reached:
            times[name] = min(reached)
    return sorted(times.items(), key=lambda item: item[1])


def dataset(rows: list[Row]) -> Any:
    """The rows as columns."""
    import xarray as xr

    columns = {name: ("row", np.array([getattr(row, name) for row in rows])) for name in Row._fields}
    return xr.Dataset(columns)


def _fits(name: str, system: nd.LagrangianSystem) -> bool:
    try:
        check_method(method(name), system)
    except InputError:
        return False
    return True


def _figure(rows: list[Row]) -> Any:
    from naiad.studies.vehicles.work_figure import work_precision

    return work_precision([(row.method, row.error, row.seconds) for row in rows])


def _notes(rows: list[Row], fastest: dict[str, list[tuple[str, float]]]) -> str:
    """What the diagram says, from its numbers."""
    overall = [
        f"For an error of {accuracy} the fastest are {_times(order[:4])}."
        for accuracy, order in fastest.items()
        if order
    ]
    own = [(name, seconds) for name, seconds in ranking(rows, COMPARED) if name in THESIS]
    thesis = (
        f"Of the methods in the thesis's diagram, for an error of {COMPARED:g}: {_times(own)}. The thesis has FLV "
        "first, then TLN and KR. Its CPU times were those of other machines and other solvers; here every solve is "
        "Newton's method to round-off in compiled code, mostly one or two iterations."
        if own
        else ""
    )
    return "\n\n".join(filter(None, (" ".join(overall), thesis, _HOW)))


def _times(order: list[tuple[str, float]]) -> str:
    return ", ".join(f"`{name}` ({1e6 * seconds:.3g} µs)" for name, seconds in order)


_HOW = (
    "The time is short, so this is about accuracy alone, not about what a method keeps over a long run. `seconds` is "
    "the CPU time of the compiled run, the best of three, without compilation and call. An error that is not a number "
    "is a run whose solver found no root or whose state was not finite. The reference is good to about 1e-13."
)
