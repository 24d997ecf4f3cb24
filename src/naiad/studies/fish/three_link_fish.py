"""The three-link fish: how it swims and turns, and what that takes."""

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import naiad as nd
from naiad.errors import InputError
from naiad.hydro import Ellipse
from naiad.locomotion import AbstractGait, FourierGait, Swimmer, gait_torques, link_poses, three_link_fish
from naiad.studies.fish.frames import motion_dataset, periodic_flow
from naiad.studies.fish.motion import GAIT_TEXTS, GAITS, FishMotion, fourier_gait, one_period
from naiad.studies.flow.links import HYDRO, MASSES, BoundaryMethod, LinkMass, Links
from naiad.studies.live import LivePage
from naiad.studies.parameters import NameOrMatrix, Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study, Table
from naiad.viz.live import Slider

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


MASS_TITLES = {"massless": "Massless links", "neutral": "Neutrally buoyant links"}
FIGURES = {
    ("massless", "forward"): 8,
    ("massless", "turning"): 9,
    ("neutral", "forward"): 11,
    ("neutral", "turning"): 12,
}

Cases = Mapping[tuple[str, str], Mapping[str, FishMotion]]
"""(mass, gait) -> hydro -> the motion of a period."""


class ThreeLinkFish(Study, Links, LinkMass, BoundaryMethod, name="three-link-fish"):
    """Three hinged ellipses that swim in an ideal fluid by changing their shape.

    From rest the momentum of fish and fluid stays zero, and the fish moves all the same: forward with one gait, round
    with the other, as in Figs. 8 to 12 of the paper (8: the defaults; 9: gait=turning; 11 and 12: the same with
    mass=neutral). Where the paper finds that the links coupled through the fluid swim further than decoupled ones, that
    holds for massless links and is false for neutrally buoyant ones: the table `coupling` compares them. The torques
    at the hinges are those of the corrected equations; over a period their work is zero, because nothing is lost.
    """

    paper = "E. Kanso, J. E. Marsden, C. W. Rowley, J. Melli-Huber, Locomotion of articulated bodies, 2005, section 7.3"

    gait: NameOrMatrix = parameter(
        "forward", choices=GAIT_TEXTS, help="the gait; or rows mean; cosines; sines; cosines and sines of 2 t; ..."
    )
    hydro: str = parameter("decoupled", choices=HYDRO, help="model of the fluid")
    periods: int = parameter(1, at_least=1, at_most=10_000, help="number of periods, each of 2 pi s")
    times: Vector = parameter(tuple(range(7)), unit="s", at_least=0.0, help="times of the torques and energies")

    def validate(self) -> None:
        if isinstance(self.gait, str) or (self.gait.shape[1] == 2 and len(self.gait) >= 3 and len(self.gait) % 2):
            return
        raise InputError(
            f"gait={self.parameters['gait'].write(self.gait)}: expected rows of two numbers, for theta1 and theta2: "
            "the mean, then cosines and sines of each harmonic, for example -p 'gait=0,0;-1,0;0,1'"
        )

    @property
    def shape_motion(self) -> AbstractGait:
        """The gait."""
        return GAITS[self.gait] if isinstance(self.gait, str) else fourier_gait(self.gait)

    def fish(self, *, coupled: bool, ratio: float | None = None) -> Swimmer:
        """The fish of these parameters, or with another density."""
        density = self.rho * (self.density_ratio if ratio is None else ratio)
        options: dict[str, Any] = {"points": self.points, "boundary": self.boundary} if coupled else {}
        return three_link_fish(self.a, self.b, self.c, fluid=self.rho, density=density, coupled=coupled, **options)

    def live(self) -> LivePage:
        """The gait's mean and first harmonic are sliders; the links meet the fluid as if they were alone."""
        from naiad.studies.fish.live_fish import swimming

        if self.hydro == "coupled":
            raise InputError("hydro=coupled has boundary elements in every step; a live page has hydro=decoupled")
        fish, gait = self.fish(coupled=False), self.shape_motion
        assert isinstance(gait, FourierGait)
        rows = {"mean": gait.mean, "cosines": gait.cosines[0], "sines": gait.sines[0]}
        words = {"mean": "mean", "cosines": "cos t", "sines": "sin t"}
        sliders = {
            name: Slider(-1.5, 1.5, row, "rad", f"gait: {words[name]}", help="of θ₁ and θ₂")
            for name, row in rows.items()
        }
        return LivePage(
            lambda study: swimming(fish, gait, (self.a, self.b), study),
            sliders,
            {"variational, Cayley map": nd.Variational()},
            float(gait.period) / 200.0,
            4.0 * float(gait.period),
            outputs={"theta": lambda system, state, t: system.gait(t)},
        )

    def run(self, progress: Progress) -> Findings:
        fish, gait = self.fish(coupled=self.hydro == "coupled"), self.shape_motion
        period = one_period(fish, gait)
        progress(0.6)
        whole = period.repeated(self.periods)
        counts, phases = np.divmod(self.times, period.times[-1])
        every = np.unique([0.0, *phases, period.times[-1]])
        found, at = gait_torques(fish, gait, every), np.searchsorted(every, phases)
        work, energy = counts * found.work[-1] + found.work[at], found.kinetic_energy[at]
        progress(1.0)
        results = {
            "beta": float(whole.poses[-1, 0]),
            "x": float(whole.poses[-1, 1]),
            "y": float(whole.poses[-1, 2]),
            "beta_per_period": period.turn,
            "displacement_per_period": period.distance,
            "torques": found.torques[at],
            "kinetic_energy": energy,
            "work": work,
            "energy_balance": float(np.max(np.abs(work - (energy - found.kinetic_energy[0])))),
        }
        cases = functools.cache(lambda: compared(self.fish))
        return Findings(
            results,
            lambda: self._dataset(fish, whole, progress),
            self._figures(fish, gait, period, cases),
            notes=_NOTES,
            units=_UNITS,
            tables={"coupling": lambda: coupling_table(cases())},
        )

    def _figures(self, fish: Swimmer, gait: AbstractGait, period: FishMotion, cases: Callable[[], Cases]) -> dict:
        from naiad.studies.fish import figures as figures

        def path() -> "Figure":
            coupled = self.hydro == "coupled"
            other = one_period(self.fish(coupled=not coupled), gait)
            motions = {"coupled": period, "decoupled": other} if coupled else {"coupled": other, "decoupled": period}
            return figures.path({name: each.repeated(self.periods) for name, each in motions.items()}, self._title)

        return {
            "fish": lambda: figures.fish_along(fish, period, self._ellipse, f"{self._title}, one period"),
            "path": path,
            "torques": lambda: figures.torques(gait_torques(fish, gait, period.times, nodes=4), self._title),
            "paper": lambda: figures.paper(cases()),
        }

    @property
    def _ellipse(self) -> Ellipse:
        return Ellipse(self.a, self.b)

    @property
    def _title(self) -> str:
        mass = MASS_TITLES.get(str(self.mass), f"Links of {self.density_ratio:g} times the fluid's density")
        return f"{mass}: {self.gait if isinstance(self.gait, str) else 'given'} gait"

    def _dataset(self, fish: Swimmer, whole: FishMotion, progress: Progress) -> "xr.Dataset":
        """The motion of the links, and the stream function around them during a period."""
        poses = link_poses(fish, whole.theta, whole.poses)
        flow = periodic_flow(fish, self._ellipse, whole, coupled=self.hydro == "coupled", progress=progress)
        return motion_dataset(whole, poses, flow, self._ellipse)


def compared(fish: Callable[..., Swimmer]) -> Cases:
    """The motions of Figs. 8 to 12; `fish` makes one from `coupled` and the `ratio` of densities."""
    return {
        (mass, gait): {
            hydro: one_period(fish(coupled=hydro == "coupled", ratio=MASSES[mass]), GAITS[gait])
            for hydro in ("decoupled", "coupled")
        }
        for mass, gait in FIGURES
    }


def coupling_table(cases: Cases) -> Table:
    """Displacement and turn of a period, and whether the paper's claim holds."""
    heads = (
        "Links, gait (figure)",
        "Decoupled: displacement [m], turn [rad]",
        "Coupled",
        "Change of displacement, of turn",
        "Further when coupled, as the paper says?",
    )
    return Table(heads, tuple(_row(case, motions) for case, motions in cases.items()))


def _row(case: Any, motions: Mapping[str, FishMotion]) -> tuple[str, ...]:
    mass, gait = case
    alone, coupled = motions["decoupled"], motions["coupled"]
    further = coupled.distance / alone.distance - 1.0
    turns = abs(alone.turn) > 1e-9
    turn = f", {coupled.turn / alone.turn - 1.0:+.1%}" if turns else ""
    return (
        f"{mass}, {gait} (Fig. {FIGURES[case]})",
        *(f"{each.distance:.4f}, {each.turn if turns else 0.0:.4f}" for each in (alone, coupled)),
        f"{further:+.1%}{turn}".replace("-", "\N{MINUS SIGN}"),
        "true" if further > 0.0 else "false",
    )


_UNITS = {
    "beta": "rad",
    "x": "m",
    "y": "m",
    "beta_per_period": "rad",
    "displacement_per_period": "m",
    "torques": "N m",
    "kinetic_energy": "J",
    "work": "J",
    "energy_balance": "J",
}

_NOTES = (
    "`beta`, `x`, `y` are the pose of B3 at the end of the last period, from (0, 0, 0); `displacement_per_period` is "
    "the distance between its places before and after a period. `torques` has a pair for each of `times`, positive "
    "where they do work as their angle grows; `work` is the integral of their power from 0, `kinetic_energy` that of "
    "links and fluid, and `energy_balance` the largest difference between the work and the change of the energy. "
    "`naiad view` shows the fish with the streamlines around it."
)
