"""Three ellipsoids joined by ball joints in an ideal fluid."""

import dataclasses
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

import naiad as nd
from naiad.compiler import execute_rows
from naiad.diagnostics import Energy, adaptive_run
from naiad.errors import InputError, RunError
from naiad.mechanics import split_rows
from naiad.mechanics.labels import along_time, coordinates
from naiad.studies.live import LivePage
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.studies.trees.invariants import METHODS, largest_changes, watched
from naiad.studies.trees.three_ellipsoids import INERTIAS, JOINTS, OMEGA, XDOT, three_ellipsoids
from naiad.viz.live import Slider

if TYPE_CHECKING:
    import xarray as xr

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

    paper = "T. Lee, M. Leok, N. H. McClamroch, Connected Rigid Bodies in a Perfect Fluid, ACC 2009, section V"

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

    def start(self) -> tuple[nd.models.ConnectedBodies, nd.State]:
        """The bodies, and their initial state."""
        bodies = self.bodies()
        return bodies, bodies.state(R_Omega=OMEGA, x_v=self.xdot0)

    def live(self) -> LivePage:
        if self.scheme == "rk45":
            raise InputError("scheme=rk45 chooses its own steps, and a live page has a slider for them; take another")
        words = CHOICES[self.scheme].partition(",")[0]
        return LivePage(
            ConnectedBodies.start,
            {"xdot0": Slider(-2.0, 2.0, label="ẋ₀")},
            {f"{self.scheme}: {words}": METHODS[self.scheme]},
            self.dt,
            min(self.t1, 30.0),
            step=(0.2 * self.dt, 50.0 * self.dt),
        )

    def run(self, progress: Progress) -> Findings:
        bodies, state = self.start()
        motion, errors = self._motion(bodies, state, self.scheme, progress)
        tree, last = bodies.tree, jax.tree.map(lambda leaf: leaf[-1], motion.states)
        results = {
            "x": last.g.x,
            **{f"R{i}": last.g.R[i] for i in range(tree.count)},
            **{f"Omega{i}": motion.xi[-1, 3 * i : 3 * i + 3] for i in range(tree.count)},
            "energy0": float(motion.energy[0]),
            **errors,
            **{f"inertia_M{i}": np.diagonal(tree.M[i]) for i in (0, 1)},
            **{f"inertia_J{i}": np.diagonal(tree.J[i]) for i in (0, 1)},
        }
        return Findings(results, motion.dataset, self._figures(bodies, state, motion), notes=_NOTES, units=_UNITS)

    def _motion(
        self, bodies: nd.models.ConnectedBodies, state: nd.State, scheme: str, progress: Progress
    ) -> "tuple[Motion, dict[str, float]]":
        """The motion by a scheme, and the largest changes over every step of it."""
        if scheme == "rk45":
            times, states = adaptive_run(bodies, state, t1=self.t1, tolerance=self.tolerance, progress=progress)
            motion = Motion(bodies, times, states, lambda: labelled(motion))
            changes = motion.changes.items()
            return motion, {f"{name}_error_max": float(np.max(np.abs(values))) for name, values in changes}
        run = nd.simulate(
            bodies,
            state,
            t1=self.t1,
            dt=self.dt,
            method=METHODS[scheme],
            monitors=watched(bodies, state),
            progress=progress,
            throw=True,
        )
        return Motion(bodies, run.t.to_numpy(), run.states, lambda: run.dataset), largest_changes(run)

    def _figures(self, bodies: nd.models.ConnectedBodies, state: nd.State, motion: "Motion") -> dict:
        from naiad.studies.trees import connected_figures as figures

        other = "lgvi" if self.scheme == "rk45" else "rk45"

        @functools.cache
        def both() -> tuple[dict[str, Motion], str]:
            """The motions by name, rk45 last, and why the other one is missing."""
            found = {self.scheme: motion}
            try:
                found[other], _ = self._motion(bodies, state, other, Progress())
            except RunError as error:
                return found, f"without {other}: {error}"
            return {name: found[name] for name in sorted(found, key=lambda name: name == "rk45")}, ""

        return {
            "snapshots": lambda: figures.snapshots(bodies, motion),
            "velocities": lambda: figures.velocities(*both()),
            "invariants": lambda: figures.invariants(*both()),
        }


@dataclasses.dataclass(frozen=True)
class Motion:
    """Times and states, stacked, by one of the schemes, and what follows from them there."""

    bodies: nd.models.ConnectedBodies
    times: np.ndarray
    states: nd.State
    dataset: "Callable[[], xr.Dataset]"

    @functools.cached_property
    def xi(self) -> np.ndarray:
        """The velocities."""
        return execute_rows(_velocity, self.bodies, self.states, self.times, parameters=(0,))

    @functools.cached_property
    def energy(self) -> np.ndarray:
        """The energies."""
        return execute_rows(_observed, Energy(self.bodies), self.states, self.times, parameters=(0,))

    @functools.cached_property
    def changes(self) -> dict[str, np.ndarray]:
        """The changes of the invariants, and the distance from the group."""
        start = jax.tree.map(lambda leaf: leaf[0], self.states)
        seen = watched(self.bodies, start).items()
        return {name: execute_rows(_observed, f, self.states, self.times, parameters=(0,)) for name, f in seen}


def labelled(motion: Motion) -> "xr.Dataset":
    """A motion as a labelled dataset, with the bodies where they are."""
    import xarray as xr

    bodies, states = motion.bodies, motion.states
    names, arrays = bodies.group.names, {"R": states.g.R}
    arrays |= zip(names.momentum, split_rows(bodies.group, states.mu), strict=True)
    arrays |= zip(names.velocity, split_rows(bodies.group, motion.xi), strict=True)
    rows = along_time(bodies, arrays)
    rows["x"] = (("time", "body", "axis"), bodies.places(states.g), {"long_name": "position", "units": "m"})
    rows["energy"] = ("time", motion.energy, {"long_name": "energy", "units": "J"})
    dataset = xr.Dataset(rows, {"time": ("time", motion.times, {"units": "s"})}, bodies.picture.attributes)
    return dataset.assign_coords(coordinates(dataset.sizes))


def _observed(observable: Any, state: nd.State, t: Any) -> Any:
    return observable(state, t)


def _velocity(system: nd.LagrangianSystem, state: nd.State, t: Any) -> Any:
    return system.velocity(state.g, state.mu, t)


_UNITS = {
    "x": "m",
    "Omega0": "rad/s",
    "Omega1": "rad/s",
    "Omega2": "rad/s",
    "energy0": "J",
    "energy_error_max": "J",
    "linear_momentum_error_max": "kg m/s",
    "angular_momentum_error_max": "kg m^2/s",
    "inertia_M0": "kg",
    "inertia_M1": "kg",
    "inertia_J0": "kg m^2",
    "inertia_J1": "kg m^2",
}

_NOTES = (
    "Errors are absolute, as in the paper, and the largest over every step (each accepted one of rk45): |E - E_0| [J], "
    "the norms of the changes of the total linear [kg m/s] and angular momentum [kg m^2/s], and the largest Frobenius "
    "norm of R_i^T R_i - I over the bodies. Velocities and energies come from the momenta at the nodes. `Omega` are in "
    "the body frames. With the printed sign of d10 (`joints=printed`) the bodies lie in each other and the linear "
    "momentum is not zero: `outward` is what the paper must have computed with."
)
