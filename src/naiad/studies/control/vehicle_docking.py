"""An underwater vehicle brought from rest to rest at a place, with least effort."""

from typing import Any

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.errors import InputError
from naiad.numerics import Module
from naiad.studies.control.following import following_page
from naiad.studies.control.optimum import Discretisation, check_order, dataset, figures, path_figure, results, solved
from naiad.studies.live import LivePage
from naiad.studies.parameters import Inertia, Vector, as_matrix, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.viz.live import Slider

ACTUATION = {"full": "a torque and a force about and along each axis", "surge": "three torques and the force along x"}


class Sphere(Module):
    """What must not be positive outside of a sphere: r^2 - |x - c|^2."""

    centre: Any
    radius: Any

    def __call__(self, g: Any, xi: Any, u: Any, t: Any) -> Any:
        away = g.x - jnp.asarray(self.centre)
        return jnp.reshape(self.radius**2 - away @ away, (1,))


class VehicleDocking(Study, Discretisation, name="vehicle-docking"):
    """Docking of an underwater vehicle: from rest to rest with least effort, in an ideal fluid.

    Half the integral of |u|^2, by Kirchhoff's equations. With torques and surge only, and the defaults, it is
    6.48858869553867 by Pontryagin's equations (a local minimum of 7.2770393 exists too). With `dry`, `added` and
    a `current` the vehicle is at rest in space at both ends.
    """

    paper = "classical: Kirchhoff's equations and Pontryagin's principle"

    I: Inertia = parameter(  # noqa: E741  (the symbol of the papers)
        (0.5, 1.5, 1.2), unit="kg m^2", size=3, help="inertia with the fluid's: three moments or a matrix"
    )
    M: Inertia = parameter((1.0, 2.0, 1.6), unit="kg", size=3, help="mass with the fluid's: three numbers or a matrix")
    dry: Vector | None = parameter(
        None, unit="kg m^2, kg", size=6, above=0.0, help="three moments and three masses without the fluid's"
    )
    added: Vector | None = parameter(
        None, unit="kg m^2, kg", size=6, at_least=0.0, help="three moments and three masses of the fluid"
    )
    current: Vector = parameter((0.0, 0.0, 0.0), unit="m/s", size=3, help="velocity of the water, with dry and added")
    x: Vector = parameter((4.0, 2.0, 1.0), unit="m", size=3, help="place of the goal")
    yaw: float = parameter(np.pi / 2, unit="rad", above=-3.1, below=3.1, help="turn about the vertical at the goal")
    T: float = parameter(5.0, unit="s", above=0.0, help="duration")
    actuation: str = parameter("surge", choices=ACTUATION, help="what acts")
    bound: float | None = parameter(None, above=0.0, help="bound of each torque and force")
    obstacle: Vector | None = parameter(None, unit="m", size=4, help="a sphere to keep out of: its middle and radius")

    def validate(self) -> None:
        check_order(self.order)
        if (self.dry is None) != (self.added is None):
            raise InputError("dry and added go together; give both, or I and M")
        if self.dry is not None and {"I", "M"} & self.changed().keys():
            raise InputError("both dry and I or M are given; give one of them")
        if self.dry is None and np.any(self.current):
            raise InputError("a current needs dry and added, since it acts on the fluid's part alone; give them")
        if self.obstacle is not None and not self.obstacle[3] > 0.0:
            raise InputError(f"obstacle: the radius is {self.obstacle[3]:g}; expected one above 0")
        self.vehicle()

    def vehicle(self) -> Any:
        """The system of these parameters."""
        if self.dry is None or self.added is None:
            return nd.models.KirchhoffBody(as_matrix(self.I), as_matrix(self.M))
        dry, added, mass = as_matrix(self.dry), as_matrix(self.added), self.dry[3]
        return nd.models.SubmergedBody(dry, added, displaced=mass, gravity=(0.0, 0.0, 0.0), current=self.current)

    def optimum(self, progress: Progress) -> nd.control.Solution:
        """The best way to the goal."""
        body, rest = self.vehicle(), np.zeros(6)
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        goal = body.state(R=np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), x=self.x, xi=rest)
        options: dict[str, Any] = {"bounds": self.bound}
        if self.actuation == "surge":
            options["actuation"] = np.eye(6)[:, :4]
        if self.obstacle is not None:
            options["path"] = Sphere(self.obstacle[:3], float(self.obstacle[3]))
        return solved(self, progress, body, body.state(xi=rest), goal, self.T, **options)

    def live(self) -> LivePage:
        parts = ("I", "M") if self.dry is None else ("dry", "added")
        sliders = {name: Slider(0.1, 2.0 * float(np.max(getattr(self, name)))) for name in parts}
        return following_page(self.optimum(Progress()), VehicleDocking.vehicle, sliders, 1.0)

    def run(self, progress: Progress) -> Findings:
        found = self.optimum(progress)
        return Findings(
            results(found),
            lambda: dataset(found),
            {"path": lambda: path_figure(found.states.g, self.obstacle), **figures(found, self.bound)},
            notes=_NOTES,
            units={"time": "s"},
        )


_NOTES = (
    "`cost` is that of the discrete optimum and `error_estimate` its error, from grids with a quarter and half the "
    "steps. `time` is the duration. The obstacle is kept out of at the stages of every step."
)
