"""The three-link fish in space: ellipsoids of growing width beside the fish of the plane."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from naiad.errors import InputError
from naiad.groups.se3 import Pose
from naiad.hydro import Ellipsoid, SpatialBodies
from naiad.locomotion import Swimmer, placed_links, reconstruct, spatial_swimmer, three_link_fish
from naiad.studies.fish.motion import GAIT_TEXTS, GAITS
from naiad.studies.flow.links import LinkMass
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

if TYPE_CHECKING:
    import xarray

TAPER = np.diag([0.8, 1.0, 1.0])
"""What the taper of wide ellipsoids leaves of the inertia of cylinders with the same masses: of the sections at z, with
semi-axes in the ratio s = sqrt(1 - z^2/w^2), masses sum up as s^2, to 4 w / 3, and moments as s^4, to 16 w / 15."""
SAMPLES, COUPLED_SAMPLES = 96, 24
COUPLINGS = {"none": "every link alone in the fluid", "fluid": "all links coupled by it, for widths up to a"}


class Path(NamedTuple):
    """A motion in the plane: beta, x, y at times, in columns, and how far it leaves the plane."""

    columns: np.ndarray
    out_of_plane: float


class SpatialFish(Study, LinkMass, name="spatial-fish"):
    """The three-link fish as three ellipsoids of growing width, beside the fish of the plane.

    Semi-axes (a, b, w) for each w of `widths`, hinges across the plane of the swimming, every link alone in the fluid.
    A narrow fish lets the water pass around its sides and swims less far. A wide one does not become the fish of the
    plane: ellipsoids taper, so that in the limit their moments of inertia are 4/5 of those of cylinders with the same
    masses (`limit`); the difference from that falls as log(w)/w^2. With `coupling=fluid` the fluid couples the links,
    for widths up to a, beside links that are alone, and beside both fish of the plane.
    """

    paper = (
        "Ours; asked for in section 7.3 of E. Kanso, J. E. Marsden, C. W. Rowley, J. Melli-Huber, Locomotion of "
        "articulated bodies in a perfect fluid, 2005"
    )

    widths: Vector = parameter(
        (2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0), unit="m", above=0.0, help="third semi-axes of the links"
    )
    gait: str = parameter("forward", choices=GAIT_TEXTS, help="how the angles change, with the period 2 pi")
    a: float = parameter(10.0, unit="m", above=0.0, help="semi-axis of each link along the fish")
    b: float = parameter(1.0, unit="m", above=0.0, help="semi-axis across, in the plane")
    c: float = parameter(2.0, unit="m", at_least=0.0, help="distance from the tip of a link to its hinge")
    coupling: str = parameter("none", choices=COUPLINGS, help="whether the links feel each other through the fluid")
    degree: int = parameter(10, at_least=2, at_most=40, help="degree of the harmonics that couple the links")
    periods: int = parameter(1, at_least=1, at_most=1000, help="number of periods")

    def validate(self) -> None:
        if not self.density_ratio and np.any(self.widths == self.b):
            raise InputError(
                f"widths holds b = {self.b:g}: massless links that are round about the fish can spin freely; give "
                "another width, or a mass"
            )
        if np.any(np.diff(self.widths) <= 0.0):
            raise InputError(f"widths={self.widths.tolist()}: expected numbers that grow, for example 2,10,50")
        if not len(self.shown):
            raise InputError(
                f"widths={self.widths.tolist()}: with coupling=fluid links are at most as wide as long; expected a "
                f"width up to a = {self.a:g}"
            )

    @property
    def shown(self) -> np.ndarray:
        """The widths that are computed: those of coupled links must be resolved by harmonics."""
        return self.widths[self.widths <= self.a] if self.coupling == "fluid" else self.widths

    @property
    def times(self) -> np.ndarray:
        """Where the paths are sampled."""
        samples = COUPLED_SAMPLES if self.coupling == "fluid" else SAMPLES
        return np.linspace(0.0, 2.0 * np.pi * self.periods, samples * self.periods + 1)

    def fish(self, width: float, coupled: bool = False) -> Swimmer:
        """The fish of ellipsoids of this third semi-axis."""
        arm = np.array([self.a + self.c, 0.0, 0.0])
        own, other = np.stack([-arm, arm, 0.0 * arm]), np.stack([arm, -arm, 0.0 * arm])
        links = [Ellipsoid((self.a, self.b, width))] * 3
        parts: dict[str, Any] = {"own": own, "other": other, "axis": (0.0, 0.0, 1.0), "density": self.density_ratio}
        return spatial_swimmer(links, (2, 2, -1), coupled=coupled, degree=self.degree, **parts)

    def planar(self, coupled: bool = False) -> Swimmer:
        """The fish of the plane, whose links are elliptic cylinders."""
        return three_link_fish(self.a, self.b, self.c, fluid=1.0, density=self.density_ratio, coupled=coupled)

    def path(self, swimmer: Swimmer) -> Path:
        """The motion of the middle link, from rest."""
        g = reconstruct(swimmer, GAITS[self.gait], self.times, steps=len(self.times) // self.periods).g
        if swimmer.frame.dim == 3:
            return Path(np.column_stack([g.beta, g.x]), 0.0)
        beta = np.unwrap(np.arctan2(g.R[:, 1, 0], g.R[:, 0, 0]))
        tilt = max(float(np.max(np.abs(g.R[:, 2, :2]))), float(np.max(np.abs(g.R[:, :2, 2]))))
        return Path(np.column_stack([beta, g.x[:, :2]]), max(tilt, float(np.max(np.abs(g.x[:, 2])))))

    def run(self, progress: Progress) -> Findings:
        return self._coupled(progress) if self.coupling == "fluid" else self._alone(progress)

    def _coupled(self, progress: Progress) -> Findings:
        """Every fish twice: with links that are alone, and with links that the fluid couples."""
        planar = {name: self.path(self.planar(name == "coupled")) for name in ("alone", "coupled")}
        wide: dict[str, list[Path]] = {"alone": [], "coupled": []}
        for k, width in enumerate(self.shown):
            for name, paths in wide.items():
                paths.append(self.path(self.fish(float(width), name == "coupled")))
            progress((k + 1) / len(self.shown))
        ends = {name: np.stack([path.columns[-1] for path in paths]) for name, paths in wide.items()}
        swum = {name: np.linalg.norm(each[:, 1:], axis=1) for name, each in ends.items()}
        flat = {name: float(np.linalg.norm(path.columns[-1, 1:])) for name, path in planar.items()}
        results = {
            "widths": self.shown,
            "displacement": ends["coupled"],
            "displacement_alone": ends["alone"],
            "distance": swum["coupled"],
            "distance_alone": swum["alone"],
            "change": swum["coupled"] / swum["alone"] - 1.0,
            "planar": planar["coupled"].columns[-1],
            "planar_alone": planar["alone"].columns[-1],
            "planar_change": flat["coupled"] / flat["alone"] - 1.0,
            "out_of_plane_max": max(path.out_of_plane for path in wide["coupled"]),
            "harmonics_error": [self._harmonics_error(float(width)) for width in self.shown],
        }
        return Findings(
            results,
            lambda: dataset(self, wide["coupled"]),
            self._coupled_figures(results, wide),
            notes=_COUPLED_NOTES,
            units=_UNITS,
        )

    def _harmonics_error(self, width: float) -> float:
        """The error of the harmonics where two links of this width are nearest in a period."""
        swimmer = self.fish(width, coupled=True)
        assert isinstance(swimmer.fluid, SpatialBodies)
        angles = np.stack([GAITS[self.gait](t) for t in self.times])
        base = swimmer.frame.identity()
        still = Pose._make([np.tile(base.R, (len(angles), 1, 1)), np.tile(base.x, (len(angles), 1))])
        return swimmer.fluid.harmonics_error(placed_links(swimmer, still, angles))

    def _coupled_figures(self, results: Mapping[str, Any], wide: Mapping[str, list[Path]]) -> dict:
        from naiad.studies.fish import spatial_fish_figures as figures

        columns = {name: [path.columns for path in paths] for name, paths in wide.items()}
        return {
            "coupling": lambda: figures.coupling(results, columns),
            "fish": lambda: figures.fish(self),
        }

    def _alone(self, progress: Progress) -> Findings:
        planar = self.planar()
        paths = {"planar": self.path(planar), "limit": self.path(planar.replaced(own=planar.own @ TAPER))}
        wide = []
        for k, width in enumerate(self.widths):
            wide.append(self.path(self.fish(float(width))))
            progress((k + 1) / len(self.widths))
        ends = np.stack([path.columns[-1] for path in wide])
        off = {name: np.linalg.norm((ends - paths[name].columns[-1])[:, 1:], axis=1) for name in paths}
        results = {
            "widths": self.widths,
            "displacement": ends,
            "planar": paths["planar"].columns[-1],
            "limit": paths["limit"].columns[-1],
            "difference_from_planar": off["planar"],
            "difference_from_limit": off["limit"],
            "rates": -np.diff(np.log(off["limit"])) / np.diff(np.log(self.widths)),
            "out_of_plane_max": max(path.out_of_plane for path in wide),
        }
        shown = {name: path.columns for name, path in paths.items()}
        every = {f"w = {width:g} m": path.columns for width, path in zip(self.widths, wide, strict=True)} | shown
        return Findings(results, lambda: dataset(self, wide), self._figures(results, every), notes=_NOTES, units=_UNITS)

    def _figures(self, results: Mapping[str, Any], paths: Mapping[str, np.ndarray]) -> dict:
        from naiad.studies.fish import spatial_fish_figures as figures

        return {
            "fish": lambda: figures.fish(self),
            "displacement": lambda: figures.displacement(results),
            "paths": lambda: figures.paths(paths),
        }


def dataset(study: SpatialFish, wide: list[Path]) -> "xarray.Dataset":
    """The paths of all widths as labelled arrays, with the middle links as what moves along them."""
    import xarray as xr

    columns = np.stack([path.columns for path in wide])
    parts = {
        "beta": (("width", "time"), columns[..., 0], {"units": "rad"}),
        "x": (("width", "time", "xy"), columns[..., 1:], {"units": "m"}),
    }
    along = {"width": ("width", study.shown, {"units": "m"}), "time": ("time", study.times, {"units": "s"})}
    names = [f"w = {width:g} m" for width in study.shown]
    return xr.Dataset(parts, along, {"bodies": names, "shapes": [[study.a, study.b]] * len(names)})


_UNITS = {
    "widths": "m",
    "displacement": "rad, m, m",
    "planar": "rad, m, m",
    "limit": "rad, m, m",
    "displacement_alone": "rad, m, m",
    "planar_alone": "rad, m, m",
    "distance": "m",
    "distance_alone": "m",
    "difference_from_planar": "m",
    "difference_from_limit": "m",
}

_NOTES = (
    "`displacement` has a row (beta, x, y) for each width after `periods` periods, `planar` is that of the fish of the "
    "plane, `limit` that of the plane with 4/5 of its moments of inertia, to which wide ellipsoids tend. Differences "
    "are distances in (x, y) [m]; `rates` are the powers of 1/w with which the difference from the limit falls from "
    "one width to the next. The motion stays in the plane: `out_of_plane_max` is the largest z and tilt."
)

_COUPLED_NOTES = (
    "`displacement` has a row (beta, x, y) for each width after `periods` periods, with links that the fluid couples, "
    "`displacement_alone` with links that are alone; `distance` and `distance_alone` are the distances in (x, y), and "
    "`change` is what the coupling changes of them, relative. `planar`, `planar_alone` and `planar_change` are those "
    "of the fish of the plane. `harmonics_error` is how far the added inertia of each width is off, relative, because "
    "the harmonics end at `degree`, where two links are nearest. Widths beyond a are left out: the flow "
    "between wide links needs too many harmonics."
)
