"""Streamlines around the three-link fish."""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from naiad.hydro import Ellipse, PlanarBodies, PlanarFlow
from naiad.studies.added_inertia import BOUNDARIES, outlines
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.studies.three_links import ThreeLinks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HYDRO = {"coupled": "the links feel each other through the fluid", "decoupled": "each link as if it were alone"}


class Streamlines(Study, name="streamlines"):
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
    a: float = parameter(10.0, unit="m", above=0.0, help="semi-axis of each link along the fish")
    b: float = parameter(1.0, unit="m", above=0.0, help="semi-axis across")
    c: float = parameter(2.0, unit="m", at_least=0.0, help="distance from the tip of a link to its hinge")
    rho: float = parameter(1.0 / np.pi, unit="kg/m^2", above=0.0, help="density of the fluid, per area")
    boundary: str = parameter("nystrom", choices=BOUNDARIES, help="boundary method")
    points: int | None = parameter(None, at_least=8, help="points or panels a link (enough for round-off; 50 panels)")

    def run(self, progress: Progress) -> Findings:
        links = ThreeLinks(self.a, self.b, self.c)
        theta, rates = np.array([self.theta1, self.theta2]), np.array([self.thetadot1, self.thetadot2])
        poses, Xi = links.poses(theta), links.velocities(theta, rates, np.asarray(self.xi3))
        bodies = links.bodies(self.rho, self.points, self.boundary)
        flow = Superposed([bodies.flow(poses, Xi)])
        if self.hydro == "decoupled":
            one = PlanarBodies([Ellipse(self.a, self.b)], self.rho, points=self.points, boundary=self.boundary)
            flow = Superposed([one.flow(poses[k], Xi[k]) for k in range(3) if np.any(Xi[k])])
            energy = 0.5 * np.einsum("ka,ab,kb", Xi, one.added_inertia(), Xi)
        else:
            energy = 0.5 * Xi.ravel() @ bodies.added_inertia(poses) @ Xi.ravel()
        results = {
            "velocities": Xi,
            "kinetic_energy": float(energy),
            "flow_through_bodies": flow_through(bodies, poses, Xi, flow),
        }
        grid = functools.cache(lambda: on_grid(links, poses, flow))

        def picture() -> "Figure":
            from naiad import viz

            tips = [moving(pose, xi, np.array([-self.a, self.a])) for pose, xi in zip(poses, Xi, strict=True)]
            arrows = (np.concatenate([each[0] for each in tips]), np.concatenate([each[1] for each in tips]))
            return viz.streamlines(*grid(), outlines(bodies, poses), arrows, title=f"Streamlines, {self.hydro} links")

        return Findings(results, lambda: dataset(*grid()), {"streamlines": picture}, notes=_NOTES)


class Superposed(NamedTuple):
    """The sum of flows."""

    flows: Sequence[PlanarFlow]

    def velocity(self, points: np.ndarray) -> np.ndarray:
        return sum((flow.velocity(points) for flow in self.flows), start=np.zeros(points.shape))

    def stream_function(self, points: np.ndarray) -> np.ndarray:
        return sum((flow.stream_function(points) for flow in self.flows), start=np.zeros(points.shape[:-1]))


def moving(pose: np.ndarray, xi: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points z of a body in space, and their velocities, as complex numbers."""
    turn = np.exp(1j * pose[0])
    return turn * z + complex(*pose[1:]), turn * (complex(*xi[1:]) + 1j * xi[0] * z)


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


def on_grid(links: ThreeLinks, poses: np.ndarray, flow: Superposed) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, y and the stream function on a grid around the fish, one row for each y."""
    low, high = np.min(poses[:, 1:], axis=0), np.max(poses[:, 1:], axis=0)
    margin = 2.0 * max(links.a, links.b)
    (width, height), step = high - low + 2.0 * margin, 0.02 * links.length
    x = np.linspace(low[0] - margin, high[0] + margin, round(width / step))
    y = np.linspace(low[1] - margin, high[1] + margin, round(height / step))
    return x, y, flow.stream_function(np.stack(np.meshgrid(x, y), axis=-1))


def dataset(x: np.ndarray, y: np.ndarray, psi: np.ndarray) -> Any:
    """The stream function as a labelled array."""
    import xarray as xr

    return xr.Dataset(
        {"stream_function": (("y", "x"), psi, {"units": "m^2/s"})},
        {"x": ("x", x, {"units": "m"}), "y": ("y", y, {"units": "m"})},
    )


_NOTES = (
    "`velocities` are (Omega, v_x, v_y) of B1, B2 and B3 in their own frames, `kinetic_energy` is that of the fluid. "
    "The streamlines are those of one instant, with the fluid at rest far away; they end at a moving outline, because "
    "the fluid moves with it. Arrows are the velocities of the tips."
)
