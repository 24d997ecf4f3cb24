"""Streamlines around the three-link fish."""

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.hydro import Ellipse, PlanarBodies
from naiad.locomotion import link_poses, link_velocities, three_link_fish
from naiad.studies.flow.added_inertia import outlines
from naiad.studies.flow.links import HYDRO, BoundaryMethod, Links
from naiad.studies.flow.planar_flow import Superposed, flow_around, moving
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Grid = tuple[np.ndarray, np.ndarray, np.ndarray]


class Streamlines(Study, BoundaryMethod, Links, name="streamlines"):
    """Streamlines of the ideal fluid around a three-link fish that changes its shape.

    The flow at an instant, for given angles and their rates; B3 moves with `xi3`, or rests. With hydro=decoupled the
    flows of the links alone are added, and go through the other links: `flow_through_bodies`, the largest normal
    velocity of the fluid relative to an outline over the largest velocity of a link, is some tenths there, and at
    round-off when the links are coupled. Fig. 5 of the paper: thetadot1=1 thetadot2=0, decoupled and coupled; Fig. 6:
    thetadot1=1 with thetadot2=1 and -1; Fig. 7: another shape.
    """

    paper = "E. Kanso, J. E. Marsden, C. W. Rowley, J. Melli-Huber, Locomotion of articulated bodies, 2005, Figs. 5-7"

    theta1: float = parameter(0.6, unit="rad", help="angle of B1 relative to B3")
    theta2: float = parameter(-0.6, unit="rad", help="angle of B2 relative to B3")
    thetadot1: float = parameter(1.0, unit="rad/s", help="rate of theta1")
    thetadot2: float = parameter(-1.0, unit="rad/s", help="rate of theta2")
    xi3: Vector = parameter((0.0, 0.0, 0.0), size=3, help="velocity (Omega, v_x, v_y) of B3 in its frame")
    hydro: str = parameter("coupled", choices=HYDRO, help="model of the fluid")

    def run(self, progress: Progress) -> Findings:
        coupled = self.hydro == "coupled"
        options: dict[str, Any] = {"points": self.points, "boundary": self.boundary}
        fish = three_link_fish(self.a, self.b, self.c, fluid=self.rho, coupled=coupled, **options)
        theta, v = np.array([self.theta1, self.theta2]), np.array([*self.xi3, self.thetadot1, self.thetadot2])
        poses, Xi = link_poses(fish, theta), link_velocities(fish, theta, v)
        bodies = PlanarBodies([Ellipse(self.a, self.b)] * 3, self.rho, **options)
        flow = flow_around(bodies, poses, Xi, coupled=coupled)
        results = {
            "velocities": Xi,
            "kinetic_energy": float(0.5 * v @ fish.inertias(theta)[0] @ v),
            "flow_through_bodies": flow_through(bodies, poses, Xi, flow),
        }
        grid = functools.cache(
            lambda: on_grid(poses, flow, margin=2.0 * max(self.a, self.b), step=0.02 * (self.a + self.c))
        )

        def picture() -> "Figure":
            from naiad import viz

            tips = [moving(pose, xi, np.array([-self.a, self.a])) for pose, xi in zip(poses, Xi, strict=True)]
            arrows = (np.concatenate([each[0] for each in tips]), np.concatenate([each[1] for each in tips]))
            return viz.streamlines(*grid(), outlines(bodies, poses), arrows, title=f"Streamlines, {self.hydro} links")

        return Findings(results, lambda: dataset(*grid()), {"streamlines": picture}, notes=_NOTES, units=_UNITS)


def flow_through(bodies: PlanarBodies, poses: np.ndarray, Xi: np.ndarray, flow: Superposed) -> float:
    """The largest normal velocity of the fluid relative to an outline, between the nodes, over the largest velocity."""
    through, fastest = 0.0, 0.0
    for boundary, pose, xi in zip(bodies.boundaries, poses, Xi, strict=True):
        outline = boundary.curve.sample(2 * boundary.finest.size)
        z, velocity = moving(pose, xi, outline.z[1::2])
        normal = -1j * np.exp(1j * pose[0]) * (outline.dz / np.abs(outline.dz))[1::2]
        u, v = flow.velocity(np.stack([np.real(z), np.imag(z)], axis=1)).T
        relative = u + 1j * v - velocity
        through = max(through, float(np.max(np.abs(np.real(np.conj(relative) * normal)))))
        fastest = max(fastest, float(np.max(np.abs(velocity))))
    return through / fastest if fastest else 0.0


def on_grid(poses: np.ndarray, flow: Superposed, *, margin: float, step: float) -> Grid:
    """x, y and the stream function on a grid around the fish, one row for each y."""
    low, high = np.min(poses[:, 1:], axis=0) - margin, np.max(poses[:, 1:], axis=0) + margin
    x, y = (np.linspace(*ends, round((ends[1] - ends[0]) / step)) for ends in zip(low, high, strict=True))
    return x, y, flow.stream_function(np.stack(np.meshgrid(x, y), axis=-1))


def dataset(x: np.ndarray, y: np.ndarray, psi: np.ndarray) -> Any:
    """The stream function as a labelled array."""
    import xarray as xr

    return xr.Dataset(
        {"stream_function": (("y", "x"), psi, {"units": "m^2/s"})},
        {"x": ("x", x, {"units": "m"}), "y": ("y", y, {"units": "m"})},
    )


_UNITS = {"velocities": "rad/s, m/s, m/s", "kinetic_energy": "J"}

_NOTES = (
    "`velocities` are (Omega, v_x, v_y) of B1, B2 and B3 in their own frames, `kinetic_energy` is that of the fluid. "
    "The streamlines are those of one instant, with the fluid at rest far away; they end at a moving outline, because "
    "the fluid moves with it. Arrows are the velocities of the tips."
)
