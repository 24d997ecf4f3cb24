"""The best gait of the three-link fish."""

from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.errors import RunError
from naiad.hydro import Ellipse
from naiad.locomotion import (
    FORWARD,
    OBJECTIVES,
    TURNING,
    FourierGait,
    OptimalGait,
    Swimmer,
    curvature_map,
    link_poses,
    optimise_gait,
    score,
    tabulated,
)
from naiad.locomotion.clearance import Clearance
from naiad.studies.fish.motion import FishMotion, one_period, shapes, three_links
from naiad.studies.flow.links import HYDRO, LinkMass, Links
from naiad.studies.parameters import parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

UNITS = {"displacement": "m", "turning": "rad", "efficiency": "kg^-1/2", "work": "m/kg"}


class GaitOptimiser(Study, Links, LinkMass, name="gait-optimiser"):
    """The gait with which a three-link fish gets furthest, turns most, or spends least.

    The angles stay within a bound at all times, the loop goes round once a period, and unless turning is sought the
    fish must not turn. Each start is a random ellipse, first made the best ellipse and then the best series. At the
    bound of 1 rad of the paper's forward gait, which gets 44.5 m (decoupled, massless), the best ellipse gets 78.15 m,
    three harmonics 79.04 m, five 79.87 m, from every start: the loop follows the ridge of the curvature along
    theta1 = -theta2 instead of going round the origin.
    """

    paper = "E. Kanso et al., Locomotion of articulated bodies, 2005, section 8, which asks for the best gaits"

    objective: str = parameter("displacement", choices=OBJECTIVES, help="what is to be largest")
    bound: float = parameter(1.0, unit="rad", above=0.0, below=np.pi, help="largest size of an angle")
    harmonics: int = parameter(3, at_least=1, at_most=12, help="harmonics of the Fourier series")
    points: int | None = parameter(None, at_least=6, at_most=48, help="points of a spline, instead of a series")
    starts: int = parameter(4, at_least=1, at_most=100, help="number of starts")
    seed: int = parameter(0, at_least=0, help="of the random starts")
    hydro: str = parameter("decoupled", choices=HYDRO, help="model of the fluid")
    gap: float = parameter(0.1, unit="m", at_least=0.0, help="distance that links keep from each other")

    def run(self, progress: Progress) -> Findings:
        curves = [Ellipse(self.a, self.b)] * 3
        given = three_links(self)
        clear = _clear(Clearance.of(given.links, curves, self.gap), 1.1 * self.bound)
        swimmer = given
        if clear:
            swimmer = tabulated(given, -1.1 * self.bound, 1.1 * self.bound, progress=progress.part(0, 4, "table"))
        best = optimise_gait(
            swimmer,
            objective=self.objective,
            bound=self.bound,
            harmonics=self.harmonics,
            points=self.points,
            starts=self.starts,
            seed=self.seed,
            curves=None if clear else curves,
            gap=self.gap,
            progress=progress.part(1, 2, "starts"),
        )
        if not best.converged:
            endings = "; ".join(sorted({start.ending for start in best.starts}))
            raise RunError(
                f"no start found a best gait ({endings}); try fewer harmonics, a smaller bound, or more starts"
            )
        paper = scaled(TURNING, 0.5 * self.bound) if self.objective == "turning" else scaled(FORWARD, self.bound)
        results = self._results(swimmer, best, paper)
        return Findings(
            results, lambda: _dataset(best, paper), self._figures(swimmer, best, paper), notes=_NOTES, units=_UNITS
        )

    def _results(self, swimmer: Swimmer, best: OptimalGait, paper: FourierGait) -> dict[str, Any]:
        before = score(swimmer, paper, self.objective, 96)
        net = np.array([float(best.g.beta), *np.asarray(best.g.x)])
        numbers = (
            {"mean": best.gait.mean, "cosines": best.gait.cosines, "sines": best.gait.sines}
            if isinstance(best.gait, FourierGait)
            else {"points": best.gait.points}
        )
        return {
            "value": best.value,
            "displacement": float(np.hypot(*net[1:])),
            "turning": float(net[0]),
            "net_motion": net,
            "efficiency": score(swimmer, best.gait, "efficiency", 96).value,
            **numbers,
            "paper_value": before.value,
            "paper_displacement": float(np.hypot(*np.asarray(before.g.x))),
            "paper_turning": float(before.g.beta),
            "improvement": best.value / before.value if before.value else None,
            "start_values": [start.value for start in best.starts],
            "start_endings": [start.ending for start in best.starts],
            "iterations": [len(start.history) for start in best.starts],
            "agreeing": best.agreeing,
            "spread": best.spread,
        }

    def _figures(self, swimmer: Swimmer, best: OptimalGait, paper: FourierGait) -> dict[str, Any]:
        gaits = {"best gait": best.gait, "the paper's": paper}
        unit = UNITS[self.objective]

        def loops() -> "Figure":
            from naiad import viz

            span = (1.1 if swimmer.fluid is not None else 1.25) * self.bound
            named = {name: shapes(gait) for name, gait in gaits.items()}
            return viz.curvature_maps(*curvature_map(swimmer, -span, span), named, title="Loops on the curvature")

        def paths() -> "Figure":
            from naiad import viz

            motions = {name: one_period(swimmer, gait).repeated(2) for name, gait in gaits.items()}
            drawn = {name: outlines(swimmer, Ellipse(self.a, self.b), each, 5) for name, each in motions.items()}
            paths = {name: each.poses[:, 1:] for name, each in motions.items()}
            return viz.gait_paths(paths, drawn, title="Two periods from rest")

        def climb() -> "Figure":
            from naiad import viz

            before = score(swimmer, paper, self.objective, 96).value
            ylabel = f"{self.objective} [{unit}]"
            return viz.climbs([start.history for start in best.starts], ylabel, reference=before)

        return {"loop": loops, "path": paths, "convergence": climb}


def scaled(gait: FourierGait, factor: float) -> FourierGait:
    """The gait with all its angles times a factor."""
    return FourierGait.of(factor * gait.mean, factor * gait.cosines, factor * gait.sines, gait.period)


def outlines(swimmer: Swimmer, ellipse: Ellipse, motion: FishMotion, count: int) -> list[list[np.ndarray]]:
    """The outline of each link in space, rows (x, y), at so many times."""
    shown = np.linspace(0, len(motion.times) - 1, count).round().astype(int)
    z = ellipse.sample(120).z
    drawn = []
    for links in link_poses(swimmer, motion.theta[shown], motion.poses[shown]):
        placed = [np.exp(1j * beta) * z + complex(x, y) for beta, x, y in links]
        drawn.append([np.stack([each.real, each.imag], axis=1) for each in placed])
    return drawn


def _clear(links: Clearance, span: float) -> bool:
    """Whether no two links come near each other for any shape within the bounds."""
    angles = np.linspace(-span, span, 41)
    every = np.stack(np.meshgrid(angles, angles), axis=-1).reshape(-1, 2)
    return bool(np.min(links.distances(every)) > max(links.gap, 1e-3))


def _dataset(best: OptimalGait, paper: FourierGait) -> "xarray.Dataset":
    import xarray as xr

    theta = np.stack([shapes(best.gait), shapes(paper)])
    times = float(best.gait.period) / theta.shape[1] * np.arange(theta.shape[1])
    return xr.Dataset(
        {"theta": (("gait", "time", "angle"), theta, {"units": "rad"})},
        {"gait": ["best", "paper"], "time": ("time", times, {"units": "s"}), "angle": ["theta1", "theta2"]},
    )


_UNITS = {
    "displacement": "m",
    "turning": "rad",
    "net_motion": "rad, m, m",
    "mean": "rad",
    "cosines": "rad",
    "sines": "rad",
    "efficiency": "kg^-1/2",
    "paper_displacement": "m",
    "paper_turning": "rad",
}

_NOTES = (
    "`value` is the objective: distance per period [m]; angle per period [rad]; `efficiency`, the distance over the "
    "length of the loop in the metric of the kinetic energy [kg^-1/2]; for `work` |x|^3 / (W T^2), W the positive work "
    "of the joints in a period T [m/kg], which at a given speed is the distance per work up to a factor. `mean`, "
    "`cosines`, `sines` are the coefficients of the best gait, with the period 2 pi; any shift of time is as good. "
    "`paper_...` are those of the paper's gait, its angles scaled to the bound; `improvement` is the ratio of values. "
    "`agreeing` starts found this value, to 1e-5; `spread` is the relative difference of all maxima found."
)
