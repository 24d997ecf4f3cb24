"""Three ellipsoids joined by ball joints in an ideal fluid."""

import functools

import numpy as np

import naiad as nd
from naiad.errors import RunError
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.studies.trees.connected_motion import METHODS, Motion, runge_kutta_motion, variational_motion
from naiad.studies.trees.three_ellipsoids import INERTIAS, JOINTS, OMEGA, XDOT, three_ellipsoids

CHOICES = {
    "lgvi": "the paper's discrete Lagrangian (30), one-sided, first order",
    "trapezoid": "its mean with its adjoint, second order",
    "midpoint": "the masses half-way, second order",
    "rk45": "adaptive Runge-Kutta on the continuous equations, as the paper does",
}


class ConnectedBodies(Study, name="connected-bodies"):
    """Three ellipsoids joined by ball joints in a perfect fluid.

    A variational scheme keeps the linear and the angular momentum and the rotation matrices to round-off and lets the
    energy swing without drift; `rk45` loses energy, angular momentum and orthogonality steadily. The motion is chaotic:
    two methods part after some ten seconds. The paper's scheme `lgvi` is first order, the other two are second.
    """

    paper = "T. Lee, M. Leok, N. H. McClamroch, Dynamics of Connected Rigid Bodies in a Perfect Fluid, ACC 2009"

    scheme: str = parameter("lgvi", choices=CHOICES, help="discrete Lagrangian, or Runge-Kutta")
    joints: str = parameter(
        "outward", choices=JOINTS, help="where the joints of bodies 1 and 2 lie in their own frames"
    )
    inertia: str = parameter("printed", choices=INERTIAS, help="masses and inertias with the fluid's")
    xdot0: Vector = parameter(XDOT, unit="m/s", size=3, help="initial velocity of the centre of body 0")
    dt: float = parameter(0.001, unit="s", above=0.0, help="time step (of the variational schemes)")
    t1: float = parameter(100.0, unit="s", above=0.0, help="duration")
    tolerance: float = parameter(1e-6, above=0.0, help="relative and absolute tolerance of rk45; the paper gives none")

    def bodies(self) -> nd.models.ConnectedBodies:
        """The bodies of these parameters."""
        return three_ellipsoids(self.joints, self.inertia)

    def run(self, progress: Progress) -> Findings:
        bodies = self.bodies()
        state = bodies.state(R_Omega=OMEGA, x_v=self.xdot0)
        motion = self._motion(bodies, state, self.scheme, progress)
        tree, last = bodies.tree, motion.final
        results = {
            "x": last.g.x,
            **{f"R{i}": last.g.R[i] for i in range(tree.count)},
            **{f"Omega{i}": motion.xi[-1, 3 * i : 3 * i + 3] for i in range(tree.count)},
            "energy0": float(motion.energy[0]),
            **motion.errors,
            **{f"inertia_M{i}": np.diagonal(tree.M[i]) for i in (0, 1)},
            **{f"inertia_J{i}": np.diagonal(tree.J[i]) for i in (0, 1)},
        }
        return Findings(results, lambda: bodies.drawable(motion.dataset()), self._figures(bodies, motion), notes=_NOTES)

    def _motion(self, bodies: nd.models.ConnectedBodies, state: nd.State, scheme: str, progress: Progress) -> Motion:
        if scheme == "rk45":
            return runge_kutta_motion(bodies, state, t1=self.t1, tolerance=self.tolerance, progress=progress)
        return variational_motion(bodies, state, method=METHODS[scheme], t1=self.t1, dt=self.dt, progress=progress)

    def _figures(self, bodies: nd.models.ConnectedBodies, motion: Motion) -> dict:
        from naiad.studies.trees import connected_figures as figures

        other = "lgvi" if self.scheme == "rk45" else "rk45"

        @functools.cache
        def both() -> tuple[dict[str, Motion], str]:
            """The motions by name, rk45 last, and why the other one is missing."""
            found = {self.scheme: motion}
            try:
                found[other] = self._motion(bodies, motion.start, other, Progress())
            except RunError as error:
                return found, f"without {other}: {error}"
            return {name: found[name] for name in sorted(found, key=lambda name: name == "rk45")}, ""

        return {
            "velocities": lambda: figures.velocities(*both()),
            "invariants": lambda: figures.invariants(*both()),
            "snapshots": lambda: figures.snapshots(bodies, motion),
        }


_NOTES = (
    "Errors are absolute, as in the paper, and the largest over every step (each accepted one of rk45): |E - E_0| [J], "
    "the norms of the changes of the total linear [kg m/s] and angular momentum [kg m^2/s], and the largest Frobenius "
    "norm of R_i^T R_i - I over the bodies. Velocities and energies come from the momenta at the nodes. `Omega` are in "
    "the body frames. With the printed sign of d10 (`joints=printed`) the bodies lie in each other and the linear "
    "momentum is not zero: `outward` is what the paper must have computed with."
)
