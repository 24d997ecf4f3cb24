"""Added inertia of the three-link fish."""

from typing import TYPE_CHECKING

import numpy as np

from naiad.hydro import Ellipse, PlanarBodies
from naiad.locomotion import link_poses, three_link_fish
from naiad.studies.flow.links import BoundaryMethod, Links
from naiad.studies.parameters import parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FRAMES = {"body": "each link's own", "b3": "that of the middle link for all"}
CONVERGENCE = {"nystrom": (24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 192, 224), "panels": (25, 50, 100, 200, 400)}


class AddedInertia(Study, BoundaryMethod, Links, name="added-inertia"):
    """Added inertia of three hinged ellipses in a plane of ideal fluid, with all their couplings.

    The matrix M has three rows and columns a link, (Omega, v_x, v_y) of B1, B2 and the middle one, B3; the fluid's
    energy is half of Xi . M Xi. The Nystrom method is exact to round-off with 192 points a link, and `asymmetry` shows
    it. Panels are of first order: with the paper's 50 the diagonal is 1.5 to 3 % too high. Only M_ij^T = M_ji holds:
    there are 45 independent entries, not 36 as eqs. (3.16) and (3.17) would have it.
    """

    paper = "E. Kanso, J. E. Marsden, C. W. Rowley, J. Melli-Huber, Locomotion of articulated bodies, 2005, section 7.2"

    theta1: float = parameter(0.0, unit="rad", help="angle of B1 relative to B3")
    theta2: float = parameter(0.0, unit="rad", help="angle of B2 relative to B3")
    frame: str = parameter("body", choices=FRAMES, help="frame of the velocities")

    def run(self, progress: Progress) -> Findings:
        poses = link_poses(three_link_fish(self.a, self.b, self.c), [self.theta1, self.theta2])
        bodies = self._bodies(self.points, self.boundary)
        M = bodies.added_inertia(poses, frame=2 if self.frame == "b3" else None, symmetric=False)
        results = {
            "matrix": M,
            "min_eigenvalue": float(np.linalg.eigvalsh(0.5 * (M + M.T))[0]),
            "asymmetry": float(np.linalg.norm(M - M.T) / np.linalg.norm(M)),
            "points": bodies.boundaries[0].finest.size,
        }

        def inertia() -> "Figure":
            from naiad import viz

            return viz.inertia_picture(outlines(bodies, poses), M, title="Added inertia of three links")

        def convergence() -> "Figure":
            from naiad import viz

            errors = {name: self._errors(poses, name) for name in CONVERGENCE}
            return viz.boundary_convergence(CONVERGENCE, errors, title="Error of the added inertia, body frames")

        return Findings(results, figures={"inertia": inertia, "convergence": convergence}, notes=_NOTES)

    def _bodies(self, points: int | None, boundary: str) -> PlanarBodies:
        return PlanarBodies([Ellipse(self.a, self.b)] * 3, self.rho, points=points, boundary=boundary)

    def _errors(self, poses: np.ndarray, boundary: str) -> list[float]:
        """The largest error of an entry relative to the largest entry, at several numbers of points."""
        enough = self._bodies(None, "nystrom").boundaries[0].finest.size
        exact = self._bodies(enough + enough // 4 * 2, "nystrom").added_inertia(poses)
        found = (self._bodies(points, boundary).added_inertia(poses) for points in CONVERGENCE[boundary])
        return [float(np.max(np.abs(M - exact)) / np.max(np.abs(exact))) for M in found]


def outlines(bodies: PlanarBodies, poses: np.ndarray) -> dict[str, np.ndarray]:
    """The outline of each link in space, as (x, y)."""
    named = {}
    for k, (boundary, (beta, x, y)) in enumerate(zip(bodies.boundaries, poses, strict=True)):
        z = np.exp(1j * beta) * boundary.curve.sample(200).z + complex(x, y)
        named[f"B{k + 1}"] = np.stack([np.real(z), np.imag(z)], axis=1)
    return named


_NOTES = (
    "`matrix` is M as computed, in the order B1 | B2 | B3; `min_eigenvalue` is the smallest eigenvalue of its "
    "symmetric part, `asymmetry` the norm of M - M^T relative to that of M. The figure `convergence` has the largest "
    "error of an entry relative to the largest entry, against the Nystrom method with 1.5 times the points it needs."
)
