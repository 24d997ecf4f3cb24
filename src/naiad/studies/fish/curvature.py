"""The curvature of the three-link fish."""

import functools
from typing import TYPE_CHECKING

import numpy as np

from naiad.locomotion import CurvatureMap, Swimmer, area_rule, curvature, curvature_map, reconstruct, tabulated
from naiad.studies.fish.motion import GAIT_TEXTS, GAITS, shapes, three_links
from naiad.studies.flow.links import HYDRO, LinkMass, Links
from naiad.studies.parameters import parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure


class Curvature(Study, Links, LinkMass, name="curvature"):
    """Curvature of the connection of a three-link fish: how far a small change of shape and back moves it.

    F = d1 A2 - d2 A1 - [A1, A2] at a shape, (Omega, x, y) in the frame of the middle link. A small counterclockwise
    loop around the area s moves the fish by exp(-s F); for a large one the curvature that it encloses is only an
    estimate. Of the paper's forward gait, a circle of radius 1, the area rule gets the distance to 7 %, and to 1.2 % if
    each curvature is carried to the centre of the loop first; the direction it misses by 22 and by 13 degrees. For a
    circle a tenth as large the carried rule is right to 1e-3, and its error falls with the third power of the size,
    that of the other with the first.
    """

    paper = "E. Kanso, J. E. Marsden, C. W. Rowley, J. Melli-Huber, Locomotion of articulated bodies, 2005, eq. (6.5)"

    theta1: float = parameter(0.0, unit="rad", help="angle of B1 relative to B3")
    theta2: float = parameter(0.0, unit="rad", help="angle of B2 relative to B3")
    hydro: str = parameter("decoupled", choices=HYDRO, help="model of the fluid")
    gait: str = parameter("forward", choices=GAIT_TEXTS, help="gait on the map, and of the area rule")
    span: float | None = parameter(None, unit="rad", above=0.0, below=np.pi, help="the map's largest angle (1.5 or 2)")

    def run(self, progress: Progress) -> Findings:
        swimmer, gait = three_links(self), GAITS[self.gait]
        at = np.array([self.theta1, self.theta2])
        span = self.span or {"forward": 1.5, "turning": 2.1}[self.gait]
        net = reconstruct(swimmer, gait, [0.0, float(gait.period)]).g
        exact = np.array([net.beta[-1], *net.x[-1]])
        estimates = {
            f"area_rule_{name}": np.array([float(pose.beta), *np.asarray(pose.x)])
            for name, pose in area_rule(swimmer, gait, rays=96, nodes=8)._asdict().items()
        }
        results = {
            "curvature": curvature(swimmer, at)[0, 1],
            "net_motion": exact,
            **estimates,
            "area_rule_errors": [_error(each, exact) for each in estimates.values()],
        }
        drawn = functools.cache(lambda: _map(swimmer, span, progress))

        def picture() -> "Figure":
            from naiad import viz

            title = (
                f"Curvature, {self.hydro} links, {self.mass if isinstance(self.mass, str) else f'mass {self.mass:g}'}"
            )
            return viz.curvature_maps(*drawn(), {f"{self.gait} gait": shapes(gait)}, title=title)

        return Findings(results, lambda: _dataset(drawn()), {"curvature": picture}, notes=_NOTES, units=_UNITS)


def _map(swimmer: Swimmer, span: float, progress: Progress) -> CurvatureMap:
    return curvature_map(tabulated(swimmer, -span, span, tolerance=1e-6, progress=progress), -span, span)


def _error(estimate: np.ndarray, exact: np.ndarray) -> float:
    """The distance between two places, relative to how far away they are."""
    return float(np.linalg.norm(estimate[1:] - exact[1:]) / np.linalg.norm(exact[1:]))


def _dataset(drawn: CurvatureMap) -> "xarray.Dataset":
    import xarray as xr

    return xr.Dataset(
        {"curvature": (("theta1", "theta2", "component"), drawn.F)},
        {
            "theta1": ("theta1", drawn.first, {"units": "rad"}),
            "theta2": ("theta2", drawn.second, {"units": "rad"}),
            "component": ["Omega", "x", "y"],
        },
    )


_UNITS = {
    "net_motion": "rad, m, m",
    "area_rule_plain": "rad, m, m",
    "area_rule_curvature": "rad, m, m",
    "area_rule_transported": "rad, m, m",
}

_NOTES = (
    "`curvature` is F_12 = (Omega, x, y) at (theta1, theta2). `net_motion` is what one period of the gait does from "
    "rest, (beta, x, y). `area_rule_plain`, `_curvature` and `_transported` estimate it from the integral of dA, of F, "
    "and of F carried to the centre of the loop along rays; `area_rule_errors` are the distances of the places so "
    "estimated from the true one, relative to how far that is."
)
