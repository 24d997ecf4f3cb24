"""A fish that swims in a vortex street."""

from typing import Any

import numpy as np

import naiad as nd
from naiad.errors import InputError
from naiad.hydro.threads import one_thread
from naiad.locomotion import FourierGait, SwimmerAmongVortices, link_poses, net_motion, three_link_fish
from naiad.studies.parameters import parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

SHOWN = 5
RELEASES = {"carried": "with the stream of the vortices", "held": "from rest, where it was held until then"}


class FishVortices(Study, name="fish-vortices"):
    """A three-link fish in a vortex street: does it gain?

    Two rows of vortices, opposite and staggered, lie along the way of a fish that swims by its gait; fish and vortices
    move each other. With `gamma` above 0 the fluid between the rows goes with the fish, as in the wake of a body that
    is towed ahead of it; below 0 against it, as in the jet of a swimmer. `gain` is what that adds to the distance,
    relative to the fish alone, `gain_reversed` the same with the other sign, and `gain_mean` their mean: what is left
    when the stream that carries the fish is taken away. At the defaults these are +50 %, -49 % and +0.4 %. The impulses
    of the whole are kept to round-off, whatever the gait does; `work` is what the hinges have given in the end, which
    is none for the fish alone.
    """

    paper = "Ours; vortices are asked for in E. Kanso et al., Locomotion of articulated bodies, 2005, section 8"

    a: float = parameter(1.0, unit="m", above=0.0, help="semi-axis of a link along the fish")
    b: float = parameter(0.25, unit="m", above=0.0, help="semi-axis of a link across")
    c: float = parameter(0.25, unit="m", above=0.0, help="distance of a hinge from the tips of its links")
    rho: float = parameter(1.0, unit="kg/m^2", above=0.0, help="density of fluid and links")
    amplitude: float = parameter(0.6, unit="rad", above=0.0, below=1.5, help="A of the gait (-A cos t, A sin t)")
    gamma: float = parameter(0.2, unit="m^2/s", help="strength of a vortex, above 0 in the upper row")
    count: int = parameter(4, at_least=2, at_most=40, help="number of vortices, one row and the other in turn")
    spacing: float = parameter(5.0, unit="m", above=0.0, help="distance of vortices in a row")
    width: float = parameter(4.0, unit="m", above=0.0, help="distance of the rows")
    first: float = parameter(-4.0, unit="m", help="x of the first vortex, the middle of the fish being at 0")
    side: float = parameter(0.0, unit="m", help="y of the middle of the street")
    release: str = parameter("carried", choices=RELEASES, help="how the fish begins")
    periods: int = parameter(1, at_least=1, at_most=100, help="periods of the gait, each of 2 pi s")
    steps: int = parameter(64, at_least=8, help="steps of a period")
    points: int = parameter(32, at_least=16, help="nodes of the outline of a link, an even number")

    def validate(self) -> None:
        if self.gamma == 0.0:
            raise InputError("gamma=0: expected a strength other than 0; the fish alone is reported anyway")

    def places(self) -> np.ndarray:
        """Where the vortices begin, rows (x, y)."""
        k = np.arange(self.count)
        rows = np.where(k % 2 == 0, 0.5, -0.5) * self.width + self.side
        return np.stack([self.first + 0.5 * self.spacing * k, rows], axis=1)

    def run(self, progress: Progress) -> Findings:
        A, count = self.amplitude, self.count
        fish = three_link_fish(
            self.a, self.b, self.c, fluid=self.rho, density=self.rho, coupled=True, points=self.points
        )
        gait = FourierGait.of([0.0, 0.0], [[-A, 0.0]], [[0.0, A]])
        alone = float(np.real(_after(net_motion(fish, gait), self.periods)))
        signs = np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
        runs = []
        with one_thread():
            for k, strength in enumerate((self.gamma, -self.gamma)):
                system = SwimmerAmongVortices(fish, gait, strength * signs)
                runs.append(
                    nd.simulate(
                        system,
                        system.start(self.places(), held=self.release == "held"),
                        t1=2.0 * np.pi * self.periods,
                        dt=2.0 * np.pi / self.steps,
                        method=nd.Variational(),
                        save_every=1,
                        progress=progress.part(k, 2),
                        throw=True,
                    )
                )
            run = runs[0]
            distances = [float(each.final.g.body.x[0]) for each in runs]
            gains = [distance / alone - 1.0 for distance in distances]
            impulse, energy = run.momentum.to_numpy(), run.energy.to_numpy()
        results = {
            "distance": distances[0],
            "distance_alone": alone,
            "gain": gains[0],
            "gain_reversed": gains[1],
            "gain_mean": 0.5 * sum(gains),
            "pose": np.array([run.final.g.body.beta, *run.final.g.body.x]),
            "vortices": np.asarray(run.final.g.vortex).ravel(),
            "work": float(energy[-1] - energy[0]),
            "momentum_error_max": float(np.max(np.linalg.norm(impulse - impulse[0], axis=1)))
            / (float(np.linalg.norm(impulse[0])) or 1.0),
        }
        return Findings(results, lambda: run.dataset, _figures(run, fish, gait), notes=_NOTES, units=_UNITS)


def _after(step: Any, periods: int) -> complex:
    """Where the base is after so many net motions."""
    turn, shift = np.exp(1j * float(step.beta)), complex(*np.asarray(step.x))
    return sum((turn**k * shift for k in range(periods)), start=0j)


def _figures(run: nd.Trajectory, fish: Any, gait: Any) -> dict[str, Any]:
    from naiad import viz

    g, times = run.states.g, run.t.to_numpy()
    system: Any = run.system

    def paths() -> Any:
        shown = np.unique(np.linspace(0, len(times) - 1, SHOWN).astype(int))
        outlines = []
        for k in shown:
            base = np.array([g.body.beta[k], *g.body.x[k]])
            for boundary, pose in zip(
                fish.fluid.boundaries, link_poses(fish, np.asarray(gait(times[k])), base), strict=True
            ):
                z = np.exp(1j * pose[0]) * boundary.curve.sample(100).z + complex(*pose[1:])
                outlines.append(np.stack([z.real, z.imag], axis=1))
        ways = {"middle of the fish": g.body.x} | {
            f"vortex {k + 1}, Γ = {strength:.3g} m²/s": g.vortex[:, k]
            for k, strength in enumerate(np.asarray(system.vortices.gamma))
        }
        return viz.planar_paths(outlines, ways, shown, title="A fish in a vortex street")

    def ahead() -> Any:
        return viz.errors_over_time(run.t, {"in the street": g.body.x[:, 0]}, "x [m]", title="The middle of the fish")

    return {"paths": paths, "ahead": ahead}


_UNITS = {"distance": "m", "distance_alone": "m", "pose": "rad, m, m", "vortices": "m", "work": "J"}

_NOTES = (
    "`distance` is how far the middle link comes along x, `distance_alone` the same without vortices. `pose` is (beta, "
    "x, y) of the middle link and `vortices` are x1,y1,x2,y2,... in the end. There is no circulation around the links, "
    "and they shed nothing."
)
