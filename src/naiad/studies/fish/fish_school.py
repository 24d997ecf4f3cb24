"""Fish that swim side by side in space, or past an obstacle, and feel each other through the water."""

import warnings
from typing import Any

import numpy as np

import naiad as nd
from naiad.errors import InputError, RunWarning
from naiad.hydro import Ellipsoid, Sphere
from naiad.hydro.threads import one_thread
from naiad.locomotion import FourierGait, School, Swimmer, reconstruct, spatial_swimmer
from naiad.simulation import Outcome
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

LEAST = 0.02
"""The gap at which a run ends, in b."""


class FishSchool(Study, name="fish-school"):
    """Three-link fish side by side in space, or past an obstacle: does company help?

    Each fish is three ellipsoids with hinges across the plane of its swimming; the gait is (-A cos t, A sin t), each
    fish behind the one before in phase by `lag`. The water couples all links. `gain` is what the others change of the
    distance of each fish, beside the fish alone. The velocity that a far neighbour adds falls with the fourth power of
    the distance for neutral fish, whose momentum is none and with it the dipole of their flow, and with the third for
    others (`density_ratio`). The momentum of the whole is kept to round-off. With `radius` a sphere is held in the
    water at `obstacle`; then no momentum is kept.
    """

    paper = (
        "Ours; several fish are asked for in section 8 of E. Kanso, J. E. Marsden, C. W. Rowley, J. Melli-Huber, "
        "Locomotion of articulated bodies in a perfect fluid, 2005"
    )

    fish: int = parameter(3, at_least=1, at_most=12, help="how many swim")
    spacing: Vector = parameter((0.0, 0.0, 1.4), unit="m", size=3, help="from a fish to the next (x ahead, z across)")
    lag: float = parameter(0.0, unit="rad", help="phase by which each fish is behind the one before")
    radius: float = parameter(
        0.0, unit="m", at_least=0.0, help="radius of a sphere that is held in the water (0: none)"
    )
    obstacle: Vector = parameter((2.0, 0.0, -1.8), unit="m", size=3, help="where its centre is")
    a: float = parameter(1.0, unit="m", above=0.0, help="semi-axis of a link along the fish")
    b: float = parameter(0.25, unit="m", above=0.0, help="semi-axis across, in the plane of swimming")
    w: float = parameter(0.5, unit="m", above=0.0, help="semi-axis across that plane")
    c: float = parameter(0.2, unit="m", above=0.0, help="distance of a hinge from the tips of its links")
    density_ratio: float = parameter(1.0, above=0.0, help="density of the links over that of the fluid")
    amplitude: float = parameter(0.6, unit="rad", above=0.0, below=1.5, help="A of the gait (-A cos t, A sin t)")
    degree: int = parameter(4, at_least=2, at_most=20, help="degree of the harmonics that couple the links")
    periods: int = parameter(1, at_least=1, at_most=100, help="periods of the gait, each of 2 pi s")
    steps: int = parameter(32, at_least=8, help="steps of a period")

    def validate(self) -> None:
        if self.fish == 1 and not self.radius:
            raise InputError("fish=1 without an obstacle swims alone; give more fish, or a radius")

    @property
    def places(self) -> np.ndarray:
        """Where the middle links begin, in rows."""
        return (np.arange(self.fish) - 0.5 * (self.fish - 1))[:, None] * self.spacing

    def swimmer(self) -> Swimmer:
        """One fish, its links coupled."""
        arm = np.array([self.a + self.c, 0.0, 0.0])
        own, other = np.stack([-arm, arm, 0.0 * arm]), np.stack([arm, -arm, 0.0 * arm])
        links = [Ellipsoid((self.a, self.b, self.w))] * 3
        parts = {"own": own, "other": other, "axis": (0.0, 0.0, 1.0), "density": self.density_ratio}
        return spatial_swimmer(links, (2, 2, -1), coupled=True, degree=self.degree, **parts)

    def gait(self, number: int) -> FourierGait:
        """That of a fish: (-A cos(t - phase), A sin(t - phase))."""
        A, phase = self.amplitude, number * self.lag
        c, s = A * np.cos(phase), A * np.sin(phase)
        return FourierGait.of([0.0, 0.0], [[-c, -s]], [[-s, c]])

    def school(self) -> School:
        """All fish, and the obstacle."""
        standing = [Sphere(self.radius).placed(x=self.obstacle)] if self.radius else []
        gaits = [self.gait(k) for k in range(self.fish)]
        one = self.swimmer()
        return School([one] * self.fish, gaits, obstacles=standing, degree=self.degree, least=LEAST * self.b)

    def run(self, progress: Progress) -> Findings:
        school, T = self.school(), 2.0 * np.pi
        with _quiet(), one_thread():
            run = nd.simulate(
                school,
                school.start(self.places),
                t1=T * self.periods,
                dt=T / self.steps,
                save_every=1,
                engine="xla",
                progress=progress,
            )
            impulse, energy = run.momentum.to_numpy(), run.energy.to_numpy()
            xi = run.xi.to_numpy().reshape(-1, self.fish, 6)
        times = run.t.to_numpy()
        alone = [reconstruct(school.swimmers[0], gait, times, steps=self.steps).g.x for gait in school.gaits]
        paths = np.asarray(run.states.g.x) - self.places
        company = paths - np.stack(alone, axis=1)
        swum, by_itself = (np.linalg.norm(each, axis=-1) for each in (paths[-1], np.stack(alone)[:, -1]))
        scale = float(np.max(np.abs(xi))) * float(np.max(np.asarray(school.swimmers[0].own))) * self.fish
        results: dict[str, Any] = {
            "displacement": paths[-1],
            "displacement_alone": np.stack(alone)[:, -1],
            "distance": swum,
            "distance_alone": by_itself,
            "gain": swum / by_itself - 1.0,
            "work": float(energy[-1] - energy[0]),
            "ended": "near contact" if run.outcome is Outcome.LIMIT else "reached the end",
            "t": float(times[-1]),
        }
        if not self.radius:
            results["momentum_error_max"] = float(np.max(np.abs(impulse - impulse[0]))) / scale
        figures = self._figures(run, company)
        return Findings(results, lambda: run.dataset, figures, notes=_NOTES, units=_UNITS)

    def _figures(self, run: nd.Trajectory, company: np.ndarray) -> dict[str, Any]:
        from naiad.studies.fish import fish_school_figures as figures

        return {
            "school": lambda: figures.school(run),
            "company": lambda: figures.company(run, company),
        }


def _quiet() -> warnings.catch_warnings:
    """Without the words that harmonics go through XLA, and of the limit: results say how a run ended."""
    return warnings.catch_warnings(action="ignore", category=RunWarning)


_UNITS = {
    "displacement": "m",
    "displacement_alone": "m",
    "distance": "m",
    "distance_alone": "m",
    "work": "J",
    "t": "s",
}

_NOTES = (
    "`displacement` has a row (x, y, z) for each fish, of its middle link, `displacement_alone` the same for the fish "
    "alone in the water; distances are their lengths, and `gain` is what the others (or the obstacle) add, relative. "
    "`momentum_error_max` is the change of the angular and linear momentum of the whole, which is none, over that of a "
    "link. `work` is what the hinges have given in the end. Fish begin with their gaits from rest."
)
