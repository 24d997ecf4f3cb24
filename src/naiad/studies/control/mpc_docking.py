"""An underwater vehicle brought to a place by model predictive control."""

from typing import TYPE_CHECKING, Any

import numpy as np

import naiad as nd
from naiad.studies.control.following import following_page
from naiad.studies.control.optimum import METHODS, ORDERS, check_order, controls_figure, path_figure, solved
from naiad.studies.live import LivePage
from naiad.studies.parameters import Inertia, Vector, as_matrix, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.viz.live import Slider

if TYPE_CHECKING:
    import xarray


class MpcDocking(Study, name="mpc-docking"):
    """Docking by model predictive control: a plan over a horizon, mended at every sample.

    The plan is that of least effort to the goal at the end of the horizon; each sample takes one iteration from the
    last plan, and the vehicle, which is heavier than the model by `mismatch`, is simulated by a variational integrator.
    """

    paper = "classical: Kirchhoff's equations"

    I: Inertia = parameter(  # noqa: E741  (the symbol of the papers)
        (0.5, 1.5, 1.2), unit="kg m^2", size=3, help="inertia with the fluid's: three moments or a matrix"
    )
    M: Inertia = parameter((1.0, 2.0, 1.6), unit="kg", size=3, help="mass with the fluid's: three numbers or a matrix")
    mismatch: float = parameter(0.1, above=-0.9, below=10.0, help="by how much the vehicle is heavier than the model")
    x: Vector = parameter((4.0, 2.0, 1.0), unit="m", size=3, help="place of the goal")
    yaw: float = parameter(np.pi / 2, unit="rad", above=-3.1, below=3.1, help="turn about the vertical at the goal")
    T: float = parameter(5.0, unit="s", above=0.0, help="horizon")
    bound: float | None = parameter(2.0, above=0.0, help="bound of each torque and force")
    steps: int = parameter(30, at_least=4, at_most=1000, help="steps of the horizon, each a sample")
    order: int = parameter(2, at_least=2, at_most=6, help=f"order of the discretisation: {ORDERS}")
    samples: int = parameter(60, at_least=1, at_most=10000, help="samples")

    def validate(self) -> None:
        check_order(self.order)

    def vehicle(self, mismatch: Any) -> nd.models.KirchhoffBody:
        """The model, or what is heavier than it."""
        return nd.models.KirchhoffBody((1.0 + mismatch) * as_matrix(self.I), (1.0 + mismatch) * as_matrix(self.M))

    def plant(self) -> nd.models.KirchhoffBody:
        """The vehicle that is simulated."""
        return self.vehicle(self.mismatch)

    def ends(self) -> tuple[nd.models.KirchhoffBody, nd.State, nd.State]:
        """The model, its start and its goal."""
        model = self.vehicle(0.0)
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        return model, model.state(), model.state(R=np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), x=self.x)

    def live(self) -> LivePage:
        plan = solved(self, Progress(), *self.ends(), self.T, bounds=self.bound)
        page = following_page(plan, MpcDocking.plant, {"mismatch": Slider(-0.5, 2.0)}, 1.0)
        return page._replace(note=f"not predictive control itself: the first plan is kept; {page.note}")

    def run(self, progress: Progress) -> Findings:
        model, start, goal = self.ends()
        steer = nd.control.MPC(model, goal, self.T, self.steps, bounds=self.bound, method=METHODS[self.order])
        run = steer.run(start, self.samples, plant=self.plant(), progress=progress)
        h = self.T / self.steps
        miss = np.linalg.norm(run.states.g.x[-1] - self.x)
        found = {
            "cost": float(0.5 * h * np.sum(run.u**2)),
            "time": float(run.t[-1]),
            "status": "solved" if miss < 0.05 * np.linalg.norm(self.x) else "not there",
            "iterations": int(run.iterations.sum()),
            "error_estimate": float(miss),
            "sample_ms": float(1e3 * np.median(run.seconds[1:]))
            if len(run.seconds) > 1
            else float(1e3 * run.seconds[0]),
        }
        figures = {
            "path": lambda: path_figure(run.states.g),
            "distance": lambda: _distance(run, self.x),
            "controls": lambda: controls_figure(run.t[:-1], run.u, self.bound),
        }
        return Findings(found, lambda: _dataset(run), figures, notes=_NOTES, units=_UNITS)


def _distance(run: nd.control.Sampled, goal: np.ndarray) -> Any:
    from naiad import viz

    away = np.linalg.norm(run.states.g.x - goal, axis=1)
    return viz.errors_over_time(run.t, {"": away}, "distance from the goal [m]", log=True, title="Closed loop")


def _dataset(run: nd.control.Sampled) -> "xarray.Dataset":
    """Poses and momenta at the samples; after each but the last, its controls, iterations and seconds."""
    import xarray as xr

    data = {
        "x": (("time", "axis"), run.states.g.x),
        "R": (("time", "row", "column"), run.states.g.R),
        "momentum": (("time", "component"), run.states.mu),
        "u": (("sample", "control"), run.u),
        "iterations": (("sample",), run.iterations),
        "seconds": (("sample",), run.seconds),
    }
    return xr.Dataset(data, {"time": ("time", run.t, {"units": "s"})})


_UNITS = {"time": "s", "error_estimate": "m", "sample_ms": "ms"}

_NOTES = (
    "`cost` is the effort of the closed loop, `error_estimate` the distance from the goal at its end, `iterations` "
    "those of all samples, `sample_ms` the median time of a sample after the first."
)
