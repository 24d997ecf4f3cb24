"""A vehicle whose hull is a mesh."""

from typing import Any

import numpy as np

import naiad as nd
from naiad import hydro
from naiad.diagnostics import Energy, watched_run
from naiad.errors import InputError
from naiad.hydro.facets import ringed
from naiad.hydro.meshes.files import UNITS
from naiad.hydro.meshes.telling import telling
from naiad.studies.live import LivePage
from naiad.studies.methods import GENERAL, method
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study, Table

AROUND = 24
STATIONS = ((-1.0, 0.0), (-0.97, 0.06), (-0.85, 0.12), (-0.65, 0.17), (-0.4, 0.2), (0.0, 0.2), (0.4, 0.2), (0.65, 0.19))
BOW = ((0.82, 0.16), (0.93, 0.1), (0.98, 0.05), (1.0, 0.0))


class MeshVehicle(Study, name="mesh-vehicle"):
    """A vehicle from CAD: its added inertia from the triangles of its hull, and how it moves.

    The hull is read from `file`, whose numbers are in `unit`; without one it is a torpedo with a flat back, longer and
    finer behind. The flow around it gives all 36 numbers of its added inertia with an estimate of their error, and
    buoyancy acts where the volume is. The vehicle has the mass of the water that it displaces unless `mass` is given,
    and its weight acts `below` the centre of the volume. Thrown ahead with a little turn, it swings about that: the
    Munk moment turns it across, its weight holds it upright. The energy stays, as the water is ideal.
    """

    file: str = parameter("", help="the hull: an STL, OBJ, PLY or GLB file; a torpedo of 2 m if not given")
    unit: str = parameter(
        "m", choices={name: f"{size:g} m" for name, size in UNITS.items()}, help="what the file is in"
    )
    simplify: int | None = parameter(
        None, at_least=20, help="triangles that a finer file is simplified to (as it is if not given)"
    )
    density: float = parameter(1025.0, unit="kg/m^3", above=0.0, help="density of the water")
    tolerance: float = parameter(0.02, at_least=1e-4, at_most=0.5, help="relative error of the added inertia")
    mass: float | None = parameter(
        None, unit="kg", above=0.0, help="mass of the vehicle (that of its water if not given)"
    )
    below: float = parameter(0.02, unit="m", help="how far the centre of mass is below that of the volume")
    gravity: float = parameter(9.81, unit="m/s^2", at_least=0.0, help="acceleration of gravity, along -z")
    v0: Vector = parameter((1.5, 0.0, 0.0), unit="m/s", size=3, help="initial velocity in the body")
    Omega0: Vector = parameter((0.3, 0.1, 0.05), unit="rad/s", size=3, help="initial angular velocity in the body")
    method: str = parameter("cay", choices=GENERAL, help="integrator")
    dt: float = parameter(0.01, unit="s", above=0.0, help="time step")
    t1: float = parameter(20.0, unit="s", above=0.0, help="duration")

    def validate(self) -> None:
        if self.t1 < self.dt:
            raise InputError(f"t1 = {self.t1:g} is less than a step of dt = {self.dt:g}")

    def hull(self) -> hydro.Mesh:
        """The mesh, checked."""
        if self.file:
            return hydro.Mesh.read(self.file, self.unit, self.tolerance, self.simplify)
        return hydro.Mesh(*torpedo(), tolerance=self.tolerance)

    def body(self, hull: hydro.Mesh) -> nd.models.SubmergedBody:
        """The vehicle in the water."""
        mass = hull.displaced_mass(self.density) if self.mass is None else self.mass
        J = hydro.mass_properties(hull.inertia(mass / hull.volume)).inertia
        dry = hydro.rigid_inertia(mass, J, hull.centre - [0.0, 0.0, self.below])
        return nd.models.SubmergedBody.from_shape(hull, self.density, dry, gravity=(0.0, 0.0, -self.gravity))

    def live(self) -> LivePage:
        body = self.body(self.hull())
        speeds = {name: (-2.0, 2.0) for name in ("v0", "Omega0")}
        return LivePage(
            lambda study: (body, body.state(Omega=study.Omega0, v=study.v0)),
            speeds,
            {f"{self.method}: {GENERAL[self.method]}": method(self.method)},
            self.dt,
            self.t1,
        )

    def run(self, progress: Progress) -> Findings:
        hull = self.hull()
        with telling(lambda at: progress.says(str(at))):
            body = self.body(hull)
        run, errors = watched_run(
            body,
            body.state(Omega=self.Omega0, v=self.v0),
            t1=self.t1,
            dt=self.dt,
            method=method(self.method),
            save_every=1,
            progress=progress,
            invariants={"energy": Energy(body)},
        )
        results: dict[str, Any] = {
            "volume": hull.volume,
            "centre": hull.centre,
            "added": hull.added_inertia(self.density),
            "added_error": hull.added_error,
            "displaced": hull.displaced_mass(self.density),
            "mass": float(body.dry[3, 3]),
            "triangles": len(hull.triangles),
            "solved_on": hull.solution.triangles,
            "x": run.final.g.x,
            "R": run.final.g.R,
            "v": run.xi.to_numpy()[-1, 3:],
            **errors,
            "steps": run.statistics["steps"],
        }
        tables = {"the added inertia about the origin [kg m^2, kg m, kg]": lambda: _table(results["added"])}
        return Findings(results, lambda: run.dataset, figures(hull, run), notes=_NOTES, tables=tables, units=_UNITS)


def torpedo() -> tuple[np.ndarray, np.ndarray]:
    """A hull of 2 m along x with a flat back: rings of vertices between a point at each end."""
    stations = (*STATIONS, *BOW)
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    y, z = np.cos(angle), np.minimum(np.sin(angle), 0.7)
    rings = [np.column_stack([np.full(AROUND, x), r * y, r * z]) for x, r in stations[1:-1]]
    return ringed(rings, (stations[0][0], 0.0, 0.0), (stations[-1][0], 0.0, 0.0))


def figures(hull: hydro.Mesh, run: nd.Trajectory) -> dict:
    """The hull along its way, the hull, and the motion over time."""
    from naiad import viz
    from naiad.viz.snapshots import snapshots
    from naiad.viz.surfaces import mesh_picture

    def angles() -> Any:
        R = run.states.g.R
        series = {
            "roll": np.unwrap(np.arctan2(R[:, 2, 1], R[:, 2, 2])),
            "pitch": np.arcsin(np.clip(-R[:, 2, 0], -1.0, 1.0)),
            "yaw": np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0])),
        }
        series = {name: np.rad2deg(values) for name, values in series.items()}
        return viz.errors_over_time(run.t, series, "angle [degrees]", title="How the vehicle lies")

    return {
        "way": lambda: snapshots(run.dataset, title="The hull on its way"),
        "overview": lambda: viz.plot(run.dataset),
        "hull": lambda: mesh_picture(hull),
        "angles": angles,
    }


def _table(added: np.ndarray) -> Table:
    scale = np.abs(added).max()
    names = ("turn x", "turn y", "turn z", "x", "y", "z")
    rows = [
        (name, *(f"{0.0 if abs(value) < 1e-12 * scale else value:.5g}" for value in row))
        for name, row in zip(names, added, strict=True)
    ]
    return Table(("", *names), tuple(rows))


_UNITS = {"volume": "m^3", "centre": "m", "displaced": "kg", "mass": "kg", "x": "m", "v": "m/s"}

_NOTES = (
    "`added` is the added inertia, 6 x 6, angular first, about the origin of the hull's frame; `added_error` estimates "
    "its relative error, that of facets of a smooth hull included. `triangles` are those of the hull, `solved_on` "
    "those that the flow was solved on. `x` is where the origin of the hull's frame is at t1."
)
