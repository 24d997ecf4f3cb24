"""A vehicle near the bottom, or near the surface."""

import contextlib

import numpy as np

import naiad as nd
from naiad import hydro
from naiad.errors import InputError
from naiad.simulation import Outcome
from naiad.studies.limited_run import limited_run
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.studies.vehicles.coupled_methods import CHOICES, coupled_method

LEAST = 0.2
"""The gap at which a run ends, in the smallest semi-axis."""
HEIGHTS, FINER = 14, 3
PLANES = {"wall": "a wall, as the bottom: nothing flows through it", "surface": "a free surface, fast motions"}


class NearWall(Study, name="near-wall"):
    """Ground effect: an ellipsoid that passes a wall, or a free surface, at a small distance.

    A neutral vehicle moves along the bottom. Water that must pass between both is faster there, so that its inertia
    grows as the vehicle comes near (`wall`), or falls (`surface`): a vehicle that goes along a wall is drawn to it,
    one that goes towards it is held back, and its bow turns. The momentum along the plane and that about its normal are
    kept to round-off; that across is not.
    """

    method: str = parameter("midpoint", choices=CHOICES, help="integrator")
    plane: str = parameter("wall", choices=PLANES, help="what bounds the water")
    axes: Vector = parameter((2.0, 0.8, 0.5), unit="m", size=3, above=0.0, help="semi-axes of the vehicle")
    density: float = parameter(1000.0, unit="kg/m^3", above=0.0, help="density of the water, and of the vehicle")
    height: float = parameter(1.2, unit="m", above=0.0, help="distance of its centre from the plane")
    pitch: float = parameter(0.0, unit="rad", help="angle of the bow away from the plane")
    v0: Vector = parameter((1.5, 0.0, 0.0), unit="m/s", size=3, help="initial velocity in the body")
    Omega0: Vector = parameter((0.0, 0.0, 0.0), unit="rad/s", size=3, help="initial angular velocity in the body")
    degree: int = parameter(8, at_least=2, at_most=40, help="degree of the harmonics that couple it to its image")
    dt: float = parameter(0.02, unit="s", above=0.0, help="time step")
    t1: float = parameter(5.0, unit="s", above=0.0, help="duration")

    @property
    def least(self) -> float:
        """The gap at which a run ends."""
        return LEAST * float(np.min(self.axes))

    def validate(self) -> None:
        R = self.attitude()
        gap = self.height - float(np.linalg.norm(self.axes * R[2]))
        if not gap > self.least:
            raise InputError(
                f"height={self.height:g}: {gap:.3g} m are left below the vehicle; expected more than {self.least:.3g} m"
            )

    def attitude(self) -> np.ndarray:
        """That of the start: the bow turned up by the pitch."""
        c, s = np.cos(self.pitch), np.sin(self.pitch)
        return np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])

    def system(self) -> nd.models.SubmergedBodies:
        """The vehicle above the plane z = 0 (for a surface, turn the picture upside down)."""
        plane = hydro.Plane((0.0, 0.0, 1.0), 0.0, self.plane)
        return nd.models.SubmergedBodies.from_shapes(
            [hydro.Ellipsoid(self.axes)], self.density, plane=plane, degree=self.degree, least=self.least
        )

    def ratios(self) -> tuple[np.ndarray, np.ndarray]:
        """Heights, and there the added inertias over those in open water, for motions along and about the axes of a
        level vehicle; at as small heights as finer points resolve."""
        shape, c = hydro.Ellipsoid(self.axes), float(self.axes[2])
        plane = hydro.Plane((0.0, 0.0, 1.0), 0.0, self.plane)
        fluid = hydro.SpatialBodies([shape], plane=plane, degree=self.degree, points=FINER * self.degree)
        open_water = np.diag(shape.added_inertia(1.0))
        heights, found = [], []
        for height in c + np.geomspace(0.15 * c, 6.0 * c, HEIGHTS):
            with contextlib.suppress(InputError):  # too near for the points
                found.append(np.diag(fluid.added_inertia([(0.0, 0.0, height)])))
                heights.append(height)
        return np.array(heights), np.stack(found) / np.where(open_water > 1e-9 * open_water.max(), open_water, np.nan)

    def run(self, progress: Progress) -> Findings:
        system = self.system()
        state = system.state(
            R=self.attitude()[None], x=[(0.0, 0.0, self.height)], v=self.v0[None], Omega=self.Omega0[None]
        )
        M, dM = system.fluid.added_inertia_with_derivative(state.g)
        xi = np.concatenate([self.Omega0, self.v0])
        run = limited_run(
            system,
            state,
            t1=self.t1,
            dt=self.dt,
            method=coupled_method(self.method),
            progress=progress,
        )
        g = run.final.g
        wrench = 0.5 * np.einsum("a,abc,b->c", xi, dM[:, :, 0], xi)
        results = {
            "x": g.x[0],
            "R": g.R[0],
            "v": run.xi.to_numpy()[-1, 3:],
            "Omega": run.xi.to_numpy()[-1, :3],
            "added": M,
            "added_alone": hydro.Ellipsoid(self.axes).added_inertia(self.density),
            "force": float((self.attitude() @ wrench[3:])[2]),
            "pitching_moment": -float(wrench[1]),
            "height_min": float(run.g.x[:, 0, 2].min()),
            "harmonics_error": system.fluid.harmonics_error(run.g),
            "energy": float(run.energy[-1]),
            "energy_error_max": run.monitors["energy"].largest,
            "momentum_error_max": run.monitors["momentum"].largest,
            "ended": "near contact" if run.outcome is Outcome.LIMIT else "reached t1",
            "t": float(run.t[-1]),
            "steps": run.statistics["steps"],
        }
        return Findings(results, lambda: run.dataset, self._figures(run), notes=_NOTES, units=_UNITS)

    def _figures(self, run: nd.Trajectory) -> dict:
        from naiad.studies.vehicles import coupled_figures as figures

        return {
            "near-wall": lambda: figures.near_wall(self, run),
            "invariants": lambda: figures.kept(run),
            "overview": lambda: run.plot(),
        }


_UNITS = {
    "x": "m",
    "v": "m/s",
    "Omega": "rad/s",
    "force": "N",
    "pitching_moment": "N m",
    "height_min": "m",
    "energy": "J",
    "t": "s",
}

_NOTES = (
    "`x`, `R`, `v`, `Omega` and the energy are those at `t1`, or at the last step before the gap fell to "
    f"{LEAST:g} of the smallest semi-axis, where the run `ended` near contact at `t`. `added` is the 6 x 6 inertia of "
    "the water at the start, `added_alone` that without the plane. `force` (away from the plane) and "
    "`pitching_moment` (bow away from it) are those of the plane at the start, xi . dM xi / 2. Errors are relative to "
    "the initial value, the largest over every step; the momentum is that along the plane, and about its normal. "
    "`harmonics_error` is how far the added inertia is off, relative, because the harmonics end at `degree`, at the "
    "saved node that is nearest to the plane."
)
