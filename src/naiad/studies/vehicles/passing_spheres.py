"""Two spheres that pass each other in an ideal fluid."""

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

LEAST = 0.05
"""The gap at which a run ends, in the smaller radius."""


class PassingSpheres(Study, name="passing-spheres"):
    """Two spheres that pass each other and feel it through the water.

    Alone, each would go straight on: in an ideal fluid nothing holds it back. Together they attract each other where
    they move side by side and repel where they meet head-on, and both paths bend. Water and spheres together keep
    their linear and angular momentum, to round-off at every step; the energy error swings without drift.
    """

    method: str = parameter("midpoint", choices=CHOICES, help="integrator")
    a: float = parameter(1.0, unit="m", above=0.0, help="radius of the first sphere")
    b: float = parameter(0.7, unit="m", above=0.0, help="radius of the second")
    m1: float = parameter(4.2, unit="kg", above=0.0, help="mass of the first, homogeneous")
    m2: float = parameter(0.3, unit="kg", above=0.0, help="mass of the second")
    x2: Vector = parameter(
        (3.5, 1.95, 0.3), unit="m", size=3, help="where the second begins; the first is at the origin"
    )
    v1: Vector = parameter((0.8, 0.0, 0.0), unit="m/s", size=3, help="velocity of the first")
    v2: Vector = parameter((-0.4, 0.0, 0.0), unit="m/s", size=3, help="velocity of the second")
    rho: float = parameter(1.0, unit="kg/m^3", above=0.0, help="density of the fluid")
    degree: int = parameter(8, at_least=2, at_most=40, help="degree of the harmonics that couple the spheres")
    dt: float = parameter(0.05, unit="s", above=0.0, help="time step")
    t1: float = parameter(6.0, unit="s", above=0.0, help="duration")

    def validate(self) -> None:
        gap = float(np.linalg.norm(self.x2)) - self.a - self.b
        if not gap > self.least:
            raise InputError(
                f"x2={self.x2.tolist()}: the spheres are {gap:.3g} m apart; expected more than {self.least:.3g} m"
            )

    @property
    def least(self) -> float:
        """The gap at which a run ends."""
        return LEAST * min(self.a, self.b)

    @property
    def shapes(self) -> list[hydro.Sphere]:
        """Both spheres."""
        return [hydro.Sphere(self.a), hydro.Sphere(self.b)]

    def system(self) -> nd.models.SubmergedBodies:
        """The spheres in the water."""
        shapes = self.shapes
        own = zip(shapes, (self.m1, self.m2), strict=True)
        dry = np.stack([shape.inertia(mass / shape.volume) for shape, mass in own])
        return nd.models.SubmergedBodies.from_shapes(shapes, self.rho, dry=dry, degree=self.degree, least=self.least)

    def run(self, progress: Progress) -> Findings:
        system = self.system()
        state = system.state(x=np.stack([np.zeros(3), self.x2]), v=np.stack([self.v1, self.v2]))
        run = limited_run(
            system,
            state,
            t1=self.t1,
            dt=self.dt,
            method=coupled_method(self.method),
            progress=progress,
        )
        g = run.final.g
        velocities = run.xi.to_numpy()[-1].reshape(2, 6)[:, 3:]
        gaps = np.linalg.norm(np.diff(run.g.x, axis=1)[:, 0], axis=1) - self.a - self.b
        results = {
            "x1": g.x[0],
            "x2": g.x[1],
            "v1": g.R[0] @ velocities[0],
            "v2": g.R[1] @ velocities[1],
            "energy": float(run.energy[-1]),
            "energy_error_max": run.monitors["energy"].largest,
            "momentum_error_max": run.monitors["momentum"].largest,
            "gap_min": float(gaps.min()),
            "harmonics_error": system.fluid.harmonics_error(run.g),
            "ended": "near contact" if run.outcome is Outcome.LIMIT else "reached t1",
            "t": float(run.t[-1]),
            "steps": run.statistics["steps"],
        }
        named = run.dataset.assign_attrs(bodies=["first", "second"])
        return Findings(results, lambda: named, self._figures(run), notes=_NOTES, units=_UNITS)

    def _figures(self, run: nd.Trajectory) -> dict:
        from naiad.studies.vehicles import coupled_figures as figures

        alone = np.stack([self.v1, self.v2])
        return {
            "passing": lambda: figures.passing(self, run, alone),
            "invariants": lambda: figures.kept(run),
            "overview": lambda: run.plot(),
        }


_UNITS = {"x1": "m", "x2": "m", "v1": "m/s", "v2": "m/s", "energy": "J", "gap_min": "m", "t": "s"}

_NOTES = (
    "Positions, velocities (in space) and the energy are those at `t1`, or at the last step before the gap fell to "
    f"{LEAST:g} of the smaller radius, where the run `ended` near contact at `t`. Errors are relative to the initial "
    "value, the largest over every step; the momentum is the angular and the linear one of spheres and water in one "
    "vector. `gap_min` is the smallest distance between the surfaces at the saved nodes. `harmonics_error` is how far "
    "the added inertia is off there because the harmonics end at `degree`, relative; places err about as much in "
    "radii. Give a higher `degree` where it is too large."
)
