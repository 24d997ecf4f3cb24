"""Fish that swim side by side in space, or past an obstacle, and feel each other through the water."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import naiad as nd
from naiad.errors import InputError, RunWarning
from naiad.groups.se3 import Pose
from naiad.hydro import Ellipsoid, Sphere
from naiad.hydro.threads import one_thread
from naiad.locomotion import FourierGait, School, Swimmer, placed_links, spatial_swimmer
from naiad.simulation import Outcome
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

if TYPE_CHECKING:
    import xarray

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
    steps: int = parameter(24, at_least=8, help="steps of a period")

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
        parts: dict[str, Any] = {"own": own, "other": other, "axis": (0.0, 0.0, 1.0), "density": self.density_ratio}
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
        school = self.school()
        run = self._swum(school, self.places, progress)
        times, impulse = run.t.to_numpy(), run.momentum.to_numpy()
        paths = np.asarray(run.states.g.x) - self.places
        alone = np.stack([self._alone(k)[: len(times)] for k in range(self.fish)], axis=1)
        ahead = alone[-1] / np.linalg.norm(alone[-1], axis=1, keepdims=True)
        swum, by_itself = (np.sum(each[-1] * ahead, axis=1) for each in (paths, alone))
        results: dict[str, Any] = {
            "displacement": paths[-1],
            "displacement_alone": alone[-1],
            "distance": swum,
            "distance_alone": by_itself,
            "gain": swum / by_itself - 1.0,
            "ended": "near contact" if run.outcome is Outcome.LIMIT else "reached the end",
            "t": float(times[-1]),
        }
        if not self.radius:
            mass = float(np.asarray(school.swimmers[0].own)[0, 3, 3])
            results["momentum_error_max"] = float(np.max(np.abs(impulse))) / (mass * self.amplitude * self.a)
        seen = self._dataset(school, times, run.states.g)
        links = Pose._make([seen["R"].to_numpy(), seen["x"].to_numpy()])
        results["harmonics_error"] = school.fluid.harmonics_error(links)
        return Findings(results, lambda: seen, self._figures(seen, paths - alone), notes=_NOTES, units=_UNITS)

    def _swum(self, school: School, places: Any, progress: Progress) -> nd.Trajectory:
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore", RunWarning)  # results say how a run ended
            return nd.simulate(
                school,
                school.start(places),
                t1=2.0 * np.pi * self.periods,
                dt=2.0 * np.pi / self.steps,
                save_every=1,
                progress=progress,
            )

    def _alone(self, number: int) -> np.ndarray:
        """The path of one fish alone, by the same steps, so that their errors are not taken for company."""
        if number and not self.lag:
            return self._alone(0)
        one = School([self.swimmer()], self.gait(number), least=LEAST * self.b)
        return np.asarray(self._swum(one, np.zeros((1, 3)), Progress()).states.g.x)[:, 0]

    def _dataset(self, school: School, times: np.ndarray, g: Any) -> "xarray.Dataset":
        """All links in space, and the obstacle."""
        import xarray as xr

        links = [
            placed_links(school.swimmers[k], Pose(g.R[:, k], g.x[:, k]), np.stack([gait(t) for t in times]))
            for k, gait in enumerate(school.gaits)
        ]
        R, x = (np.concatenate([getattr(each, name) for each in links], axis=1) for name in ("R", "x"))
        names = [f"link {i + 1} of {k + 1}" for k in range(self.fish) for i in range(3)]
        shapes = [[self.a, self.b, self.w]] * len(names)
        if self.radius:
            R = np.concatenate([R, np.tile(np.eye(3), (len(times), 1, 1, 1))], axis=1)
            x = np.concatenate([x, np.tile(self.obstacle, (len(times), 1, 1))], axis=1)
            names, shapes = [*names, "obstacle"], [*shapes, [self.radius] * 3]
        parts = {
            "R": (("time", "body", "row", "column"), R),
            "x": (("time", "body", "axis"), x, {"units": "m"}),
        }
        return xr.Dataset(parts, {"time": ("time", times, {"units": "s"})}, {"bodies": names, "shapes": shapes})

    def _figures(self, seen: "xarray.Dataset", company: np.ndarray) -> dict[str, Any]:
        from naiad.studies.fish import fish_school_figures as figures

        return {
            "school": lambda: figures.school(seen),
            "company": lambda: figures.company(seen, company),
        }


_UNITS = {
    "displacement": "m",
    "displacement_alone": "m",
    "distance": "m",
    "distance_alone": "m",
    "t": "s",
}

_NOTES = (
    "`displacement` has a row (x, y, z) for each fish, of its middle link, `displacement_alone` the same for the fish "
    "alone in the water by the same steps; distances are along the way of that, and `gain` is what company adds. "
    "`momentum_error_max` is the change of the angular and linear momentum of the whole, which is none, over that of a "
    "link's mass at the speed amplitude a. `harmonics_error` is how far the added inertia is off, relative, because "
    "the harmonics end at `degree`, where two bodies are nearest. Fish begin with their gaits from rest."
)
