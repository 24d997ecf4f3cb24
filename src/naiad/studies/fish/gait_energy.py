"""The gait that takes a three-link fish a given distance at the least cost."""

from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.errors import InputError, RunError
from naiad.hydro import Ellipse
from naiad.locomotion import (
    COSTS,
    CheapestGait,
    SmallGait,
    Swimmer,
    cheapest_gait,
    curvature_map,
    gait_torques,
    small_gait,
    tabulated,
)
from naiad.locomotion.effort import positive_work
from naiad.studies.fish.gait_optimiser import outlines
from naiad.studies.fish.motion import one_period, shapes, three_links
from naiad.studies.flow.links import HYDRO, LinkMass, Links
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

MORE = 2  # harmonics with which the error is estimated: by symmetry one more may be zero
REACH = 2.5  # rad: the largest angle of the map where links are alone in the fluid


class GaitEnergy(Study, Links, LinkMass, name="gait-energy"):
    """The gait that takes a three-link fish a given distance a period at the least cost, without turning.

    The cost is the action, the integral of twice the kinetic energy, or the positive work of the joints. For a small
    distance d the least action is 4 pi d sqrt(det M) / (|F| T), by the isoperimetric inequality, and the loop in the
    space of shapes an ellipse: M is the metric of the kinetic energy and F the curvature, both where the fish is
    straight. For larger distances the loop leaves the ellipse, and costs more or less than this limit.
    """

    paper = "E. Kanso et al., Locomotion of articulated bodies, 2005, section 8; the limit is classical"

    distance: float = parameter(10.0, unit="m", above=0.0, help="distance a period")
    cost: str = parameter("action", choices=COSTS, help="what is least")
    centre: Vector | None = parameter((0.0, 0.0), unit="rad", size=2, help="mean shape of the loop; none: free")
    period: float = parameter(2.0 * np.pi, unit="s", above=0.0, help="the period T")
    harmonics: int = parameter(3, at_least=1, at_most=12, help="harmonics of the Fourier series")
    steps: int = parameter(48, at_least=4, help="steps of the integration in a period")
    hydro: str = parameter("decoupled", choices=HYDRO, help="model of the fluid")
    span: float = parameter(
        1.5, unit="rad", above=0.0, below=np.pi, help="the largest angle that a gait may take, where links are coupled"
    )

    def run(self, progress: Progress) -> Findings:
        swimmer, stages = three_links(self), 3 if self.hydro == "coupled" else 2
        if self.hydro == "coupled":
            swimmer = tabulated(swimmer, -self.span, self.span, progress=progress.part(0, stages, "table"))
        limit = small_gait(swimmer, self.distance, centre=self.centre, period=self.period)
        search, finer = progress.part(stages - 2, stages, "search"), progress.part(stages - 1, stages, "finer search")
        best = self._best(swimmer, search, harmonics=self.harmonics, steps=self.steps)
        if not best.converged:
            raise RunError(f"no cheapest gait was found ({best.ending}); try a shorter distance or other harmonics")
        return Findings(
            self._results(swimmer, best, limit, self._error(swimmer, best, finer)),
            lambda: _dataset(swimmer, best, limit),
            self._figures(swimmer, best, limit),
            notes=_NOTES,
            units=_UNITS,
        )

    def _error(self, swimmer: Swimmer, best: CheapestGait, progress: Progress) -> float | None:
        """How much the cost changes from there with more harmonics and steps, if a gait is found with them."""
        more = {"harmonics": self.harmonics + MORE, "steps": 2 * self.steps, "start": best.gait}
        try:
            finer = self._best(swimmer, progress, **more)
        except RunError:
            return None
        return abs(finer.cost - best.cost) if finer.converged else None

    def _best(self, swimmer: Swimmer, progress: Progress, **how: Any) -> CheapestGait:
        try:
            return cheapest_gait(
                swimmer,
                self.distance,
                cost=self.cost,
                centre="free" if self.centre is None else self.centre,
                period=self.period,
                progress=progress,
                **how,
            )
        except InputError as error:  # of links that touch, or beyond the table
            raise RunError(
                f"the search left the shapes that the fish can take ({error}); try a shorter distance, or a larger span"
            ) from None

    def _results(self, swimmer: Swimmer, best: CheapestGait, limit: SmallGait, error: float | None) -> dict[str, Any]:
        net = np.array([float(best.g.beta), *np.asarray(best.g.x)])
        power = gait_torques(swimmer, best.gait, np.linspace(0.0, self.period, 97)).torques
        return {
            "cost": best.cost,
            "limit": limit.cost if self.cost == "action" else None,
            "over_limit": best.cost / limit.cost if self.cost == "action" else None,
            "work": positive_work(swimmer, best.gait).value,
            "time": self.period,
            "status": "solved",
            "iterations": len(best.history),
            "error_estimate": error,
            "displacement": float(np.hypot(*net[1:])),
            "turning": float(net[0]),
            "net_motion": net,
            "largest_torque": float(np.abs(power).max()),
            "mean": best.gait.mean,
            "cosines": best.gait.cosines,
            "sines": best.gait.sines,
        }

    def _figures(self, swimmer: Swimmer, best: CheapestGait, limit: SmallGait) -> dict[str, Any]:
        gaits = {"cheapest gait": best.gait, "limit of small loops": limit.gait}

        def loops() -> "Figure":
            from naiad import viz

            named = {name: shapes(gait) for name, gait in gaits.items()}
            most = 0.99 * self.span if self.hydro == "coupled" else 0.96 * REACH
            span = min(1.25 * max(np.abs(each).max() for each in named.values()), most)
            return viz.curvature_maps(*curvature_map(swimmer, -span, span), named, title="Loops on the curvature")

        def path() -> "Figure":
            from naiad import viz

            motion = one_period(swimmer, best.gait).repeated(2)
            drawn = {"cheapest gait": outlines(swimmer, Ellipse(self.a, self.b), motion, 5)}
            return viz.gait_paths({"cheapest gait": motion.poses[:, 1:]}, drawn, title="Two periods from rest")

        def torques() -> "Figure":
            from naiad import viz

            times = np.linspace(0.0, self.period, 193)
            found = gait_torques(swimmer, best.gait, times)
            lines = {f"$\\tau_{k + 1}$": found.torques[:, k] for k in range(2)}
            return viz.errors_over_time(times, lines, "torque [N m]", title="Torques of the joints")

        def iterations() -> "Figure":
            from naiad import viz

            over = np.maximum(np.abs(best.history / best.cost - 1.0), 1e-16)
            figure = viz.errors_over_time(
                np.arange(1, len(over) + 1),
                {"cost": over},
                "relative distance from the last",
                log=True,
                title="Iterations",
            )
            figure.axes[0].set_xlabel("iteration")
            return figure

        return {"loop": loops, "path": path, "torques": torques, "iterations": iterations}


def _dataset(swimmer: Swimmer, best: CheapestGait, limit: SmallGait) -> "xarray.Dataset":
    import xarray as xr

    theta = np.stack([shapes(best.gait), shapes(limit.gait)])
    times = float(best.gait.period) / theta.shape[1] * np.arange(theta.shape[1])
    torques = gait_torques(swimmer, best.gait, times).torques
    return xr.Dataset(
        {
            "theta": (("gait", "time", "angle"), theta, {"units": "rad"}),
            "torque": (("time", "angle"), torques, {"units": "N m"}),
        },
        {"gait": ["cheapest", "limit"], "time": ("time", times, {"units": "s"}), "angle": ["theta1", "theta2"]},
    )


_UNITS = {
    "time": "s",
    "work": "J",
    "displacement": "m",
    "turning": "rad",
    "net_motion": "rad, m, m",
    "mean": "rad",
    "cosines": "rad",
    "sines": "rad",
    "largest_torque": "N m",
}

_NOTES = (
    "`cost` is the action [J s] or the positive work of the joints [J] in a period, `limit` the action of the best "
    "small loop for this distance and `over_limit` the ratio, which tends to 1 as the distance goes to 0 (about a "
    "`centre` where small loops do not turn the fish). `error_estimate` is how much the cost changes with two "
    "harmonics more and twice as many steps. `work` is the positive work, whatever is least; the net work of a period "
    "is zero, since the fluid is ideal. `mean`, `cosines`, `sines` are the coefficients of the gait; a shift "
    "of time changes nothing."
)
