"""A robot from a file that swims by torques in its joints."""

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.diagnostics import Energy, WorkRate
from naiad.errors import InputError
from naiad.hydro.meshes.telling import telling
from naiad.simulation.work import integral_over_time
from naiad.studies.live import LivePage
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study, Table
from naiad.studies.trees.eel import JointPower, integral
from naiad.studies.trees.invariants import METHODS, largest_changes, watched
from naiad.trees import Geometry, Inertial, Joint, Link, Robot, read_mjcf, read_sdf, read_urdf
from naiad.trees.robots.assembling import assembled
from naiad.trees.robots.robot import Pose, matrix

TORQUES = {"wave": "a wave that runs along the joints", "none": "no torques"}
WET = {"collision": "the shapes for contact", "visual": "the shapes for the eye"}
SCHEMES = {"trapezoid": "masses at both ends, second order", "midpoint": "masses half-way, second order"}
READERS = {".urdf": read_urdf, ".sdf": read_sdf, ".world": read_sdf, ".xml": read_mjcf, ".mjcf": read_mjcf}


class SwimmingRobot(Study, name="swimming-robot"):
    """A robot from a file (URDF, SDF, MJCF) that swims in ideal water by torques in its joints.

    Each link has the added inertia that its shape would have alone, coupling of turn and motion included, and displaces
    its volume; the step costs O(N). A wave of torque runs along the joints, each about its axis. Without gravity the
    torques act inside: the total momenta stay zero to round-off, and yet the robot moves. Without a file it is an eel
    of six ellipsoids that are higher than wide. `naiad swim FILE` is the same by another name.
    """

    file: str = parameter("", help="the robot: .urdf, .sdf, or .xml of MuJoCo; an eel of six links if not given")
    water: float = parameter(1025.0, unit="kg/m^3", at_least=0.0, help="density of the water; 0 for none")
    wet: str = parameter("collision", choices=WET, help="which shapes of the file are in the water")
    gravity: float = parameter(0.0, unit="m/s^2", at_least=0.0, help="acceleration of gravity, along -z")
    torques: str = parameter("wave", choices=TORQUES, help="what drives the joints")
    amplitude: float = parameter(0.2, unit="N m", at_least=0.0, help="amplitude of the torques")
    frequency: float = parameter(0.5, unit="Hz", at_least=0.0, help="frequency of the wave")
    wavelength: float = parameter(6.0, above=0.0, help="length of the wave, in bodies")
    v0: Vector = parameter((0.0, 0.0, 0.0), unit="m/s", size=3, help="initial velocity, in space")
    scheme: str = parameter("trapezoid", choices=SCHEMES, help="discrete Lagrangian")
    dt: float = parameter(0.01, unit="s", above=0.0, help="time step")
    t1: float = parameter(20.0, unit="s", above=0.0, help="duration")

    def validate(self) -> None:
        if self.t1 < self.dt:
            raise InputError(f"t1 = {self.t1:g} is less than a step of dt = {self.dt:g}")

    def bodies(self) -> nd.models.ConnectedBodies:
        """The robot in the water."""
        down = (0.0, 0.0, -self.gravity) if self.gravity else None
        if not self.file:
            bodies = assembled(eel(), water=self.water, wet="collision", gravity=down)
        else:
            kind = Path(self.file).suffix.lower()
            if kind not in READERS:
                raise InputError(f"file={self.file}: a file of kind {kind!r}; expected {', '.join(READERS)}.")
            wet: Any = self.wet
            bodies = READERS[kind](self.file, water=self.water, wet=wet, gravity=down)
        if self.torques == "none" or not self.amplitude:
            return bodies
        if bodies.tree.count < 2:
            raise InputError("This robot has no joints to drive; give torques=none.")
        amplitude = np.where([kind in ("hinge", "ball") for kind in bodies.tree.joints], self.amplitude, 0.0)
        wave = nd.models.TravellingWave(amplitude, self.frequency, self.wavelength, bodies.tree.axis)
        return bodies.replaced(torque=wave)

    def live(self) -> LivePage:
        bodies = self.bodies()
        sliders: dict[str, Any] = {}
        if bodies.torque is not None:
            sliders = {"amplitude": (0.0, 3.0 * self.amplitude), "frequency": (0.05, 2.0)}
            sliders["wavelength"] = (2.0, 2.0 * bodies.tree.count)
        state = bodies.joint_state(v=self.v0)

        def build(study: Any) -> tuple[nd.models.ConnectedBodies, nd.State]:
            if not isinstance(bodies.torque, nd.models.TravellingWave):
                return bodies, state
            driven = jnp.asarray(bodies.torque.amplitude) * (study.amplitude / self.amplitude)
            wave = {"amplitude": driven, "frequency": study.frequency, "wavelength": study.wavelength}
            return bodies.replaced(torque=bodies.torque.replaced(**wave)), state

        return LivePage(
            build,
            sliders,
            {f"{self.scheme}: {SCHEMES[self.scheme]}": _method(self.scheme)},
            self.dt,
            self.t1,
            outputs={"place of the middle": lambda system, state, t: jnp.mean(system.tree.centres(state.g), axis=0)},
            units={"place of the middle": "m"},
        )

    def run(self, progress: Progress) -> Findings:
        with telling(lambda at: progress.says(str(at))):
            bodies = self.bodies()
        state = bodies.joint_state(v=self.v0)
        power = JointPower(bodies)
        run = nd.simulate(
            bodies,
            state,
            t1=self.t1,
            dt=self.dt,
            method=_method(self.scheme),
            monitors=watched(bodies, state) | {"power": power},
            outputs={} if bodies.force is None else {"all_power": WorkRate(bodies), "every_energy": Energy(bodies)},
            output_every=None if bodies.force is None else 1,
            progress=progress,
            throw=True,
        )
        robot = bodies.robot
        assert robot is not None
        middle = _middle(bodies, run)
        angles = joint_angles(bodies, run)
        beyond = [
            robot.bodies[i]
            for i, values in angles.items()
            if values.min() < robot.limits[i, 0] or values.max() > robot.limits[i, 1]
        ]
        results = {
            "bodies": bodies.tree.count,
            "mass": float(np.sum(_masses(robot))),
            "displacement": middle[-1] - middle[0],
            "speed_mean": float(np.linalg.norm(middle[-1] - middle[0])) / self.t1,
            "angle_max": float(max((np.abs(values).max() for values in angles.values()), default=0.0)),
            "beyond_limits": ", ".join(beyond) or "none",
            "energy0": float(run.energy[0]),
            "energy": float(run.energy[-1]),
            "work": integral(run, "power", power),
            **_errors(run, level=not self.gravity),
        }
        tables = {"bodies": lambda: _table(bodies)}
        notes = _NOTES + "".join(f" {note[0].upper()}{note[1:]}." for note in robot.notes[:12])
        return Findings(results, lambda: run.dataset, figures(bodies, run), notes=notes, tables=tables, units=_UNITS)


def _method(scheme: str) -> nd.trees.TreeVariational:
    return nd.trees.TreeVariational(METHODS[scheme].rule)


def eel() -> Robot:
    """Six ellipsoids in a chain, with hinges about the vertical, springs and dampers."""
    links = []
    for i in range(6):
        axes = (0.15, 0.035 - 0.003 * i, 0.075 - 0.006 * i)
        shape = nd.hydro.Ellipsoid(axes)
        centre = (-0.16 if i else 0.0, 0.0, 0.0)
        dry = nd.hydro.mass_properties(shape.inertia(1025.0))
        parts = (Geometry("ellipsoid", axes, Pose(centre)),)
        pose = Pose((-0.32 if i > 1 else -0.16, 0.0, 0.0))
        joint = Joint(f"joint{i}", "hinge", i - 1, pose, damping=0.05, stiffness=0.5) if i else None
        links.append(Link(f"link{i}", Inertial(dry.mass, centre, matrix(dry.inertia)), parts, parts, joint))
    return Robot("eel", tuple(links))


def joint_angles(bodies: nd.models.ConnectedBodies, run: nd.Trajectory) -> dict[int, np.ndarray]:
    """The angle of each hinge over time, by the number of its body."""
    tree, R = bodies.tree, np.asarray(run.states.g.R)
    found = {}
    for i in tree.of_kind("hinge").tolist():
        Q = np.asarray(tree.rest[i]).T @ np.swapaxes(R[:, tree.parents[i]], 1, 2) @ R[:, i]
        skew = 0.5 * np.stack([Q[:, 2, 1] - Q[:, 1, 2], Q[:, 0, 2] - Q[:, 2, 0], Q[:, 1, 0] - Q[:, 0, 1]], axis=1)
        found[i] = np.unwrap(np.arctan2(skew @ np.asarray(tree.axis[i]), 0.5 * (np.trace(Q, axis1=1, axis2=2) - 1.0)))
    return found


def _middle(bodies: nd.models.ConnectedBodies, run: nd.Trajectory) -> np.ndarray:
    return bodies.places(run.states.g).mean(1)


def _masses(robot: Robot) -> list[float]:
    return [0.0 if link.inertial is None else link.inertial.mass for link in robot.links]


def _errors(run: nd.Trajectory, *, level: bool) -> dict[str, float]:
    """The largest errors over every step; that of the balance of energy where torques or dampers act, and those of the
    momenta where no gravity does."""
    errors = largest_changes(run)
    if not level:
        errors = {name: value for name, value in errors.items() if "momentum" not in name}
    if "all_power" not in run.record:
        return errors
    times, energy = run.record["output_time"].to_numpy(), run.record["every_energy"].to_numpy()
    done = integral_over_time(times, run.record["all_power"].to_numpy(), times)
    del errors["energy_error_max"]
    return {"energy_balance_error_max": float(np.max(np.abs(energy - energy[0] - done))), **errors}


def figures(bodies: nd.models.ConnectedBodies, run: nd.Trajectory) -> dict:
    """The robot in space, its joints, where it goes, and its energy."""
    from naiad import viz
    from naiad.studies.trees import eel_figures
    from naiad.viz.snapshots import snapshots

    def angles() -> Any:
        assert bodies.robot is not None
        found = joint_angles(bodies, run)
        series = {bodies.robot.bodies[i]: np.rad2deg(values) for i, values in list(found.items())[:12]}
        return viz.errors_over_time(run.t, series, "angle [degrees]", title="The joints")

    def path() -> Any:
        middle = _middle(bodies, run)
        series = {name: middle[:, k] - middle[0, k] for k, name in enumerate("xyz")}
        return viz.errors_over_time(run.t, series, "displacement [m]", title="The middle of the robot")

    drawn = {
        "robot": lambda: snapshots(run.dataset, moments=2, title="The robot at the start and at the end"),
        "overview": lambda: viz.plot(run.dataset),
        "path": path,
        "energy": lambda: eel_figures.energy(run),
    }
    return drawn | ({"joints": angles} if len(bodies.tree.of_kind("hinge")) else {})


def _table(bodies: nd.models.ConnectedBodies) -> Table:
    robot, tree = bodies.robot, bodies.tree
    assert robot is not None
    rows = []
    for i, name in enumerate(robot.bodies):
        parent = "" if i == 0 else robot.bodies[tree.parents[i]]
        moments = ", ".join(f"{value:.4g}" for value in np.linalg.eigvalsh(tree.J[i]))
        masses = ", ".join(f"{value:.4g}" for value in np.linalg.eigvalsh(tree.M[i]))
        rows.append((name, tree.joints[i], parent, masses, moments))
    heads = ("body", "joint", "parent", "mass in its directions, water included [kg]", "moments [kg m^2]")
    return Table(heads, tuple(rows))


_UNITS = {
    "mass": "kg",
    "displacement": "m",
    "speed_mean": "m/s",
    "angle_max": "rad",
    "energy0": "J",
    "energy": "J",
    "work": "J",
    "energy_error_max": "J",
    "energy_balance_error_max": "J",
    "linear_momentum_error_max": "kg m/s",
    "angular_momentum_error_max": "kg m^2/s",
}

_NOTES = (
    "`displacement` is that of the mean of the bodies' centres from 0 to `t1`, `speed_mean` its length over `t1`; "
    "`work` is what the torques put in. `angle_max` is the largest angle of a hinge, and `beyond_limits` names the "
    "bodies whose hinge goes beyond the limits of the file, which do not act. Errors are absolute, the largest over "
    "every step; where torques or dampers act, `energy_balance_error_max` is |E - E_0 - W| with the work W of both."
)
