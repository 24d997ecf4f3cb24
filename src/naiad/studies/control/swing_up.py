"""A chain of links swung from one rest to another by torques in some of its joints, with least effort."""

from typing import Any

import numpy as np

import naiad as nd
from naiad.errors import InputError
from naiad.studies.control.following import following_page
from naiad.studies.control.optimum import METHODS, Discretisation, check_order, dataset, figures, results, solved
from naiad.studies.live import LivePage
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.viz.live import Slider

AXIS = np.array([0.0, 1.0, 0.0])  # of all hinges; links hang along -z
SHOWN = 13
MANY = 3  # links, from which on an optimum of a higher order is sought near that of order 2: far fewer iterations


class SwingUp(Study, Discretisation, name="swing-up"):
    """Swing-up of a pendulum of links: from hanging to upright with least effort, by torques in some joints.

    Half the integral of |u|^2. Uniform rods on hinges, as many as there are lengths; with two and a torque in the
    first joint it is the pendubot, in the second the acrobot. There are local minima, the more the longer it takes:
    with `starts` several first guesses are tried and the best is taken. A rod alone, `mass=1 length=1`, takes the
    effort of Pontryagin's equations.
    """

    paper = "classical: M. W. Spong, The swing up control problem for the acrobot, 1995; Pontryagin's principle"

    mass: Vector = parameter((1.0, 1.0), unit="kg", above=0.0, help="masses of the links, from the pin outwards")
    length: Vector = parameter((1.0, 1.0), unit="m", above=0.0, help="lengths of the links")
    actuated: Vector = parameter((1.0,), at_least=1.0, help="the joints in which torques act, the pin being joint 1")
    gravity: float = parameter(9.81, unit="m/s^2", at_least=0.0, help="gravity")
    damping: float = parameter(0.0, unit="N m s/rad", at_least=0.0, help="damping of every joint")
    start: Vector | None = parameter(
        None, unit="rad", help="angles of the joints at the start, each from the line of the link before (hanging)"
    )
    goal: Vector | None = parameter(None, unit="rad", help="angles of the joints at the goal (upright: pi, 0, ...)")
    T: float = parameter(2.0, unit="s", above=0.0, help="duration")
    bound: float | None = parameter(None, unit="N m", above=0.0, help="bound of each torque")
    starts: int = parameter(1, at_least=1, at_most=1000, help="first guesses")

    def validate(self) -> None:
        check_order(self.order)
        count = len(self.length)
        if len(self.mass) != count:
            raise InputError(f"{len(self.mass)} masses and {count} lengths; expected one of each for a link")
        for name in ("start", "goal"):
            angles = getattr(self, name)
            if angles is not None and len(angles) != count:
                raise InputError(f"{name} has {len(angles)} angles; expected {count}, one for each joint")
        joints = self.actuated.tolist()
        if any(joint != round(joint) or joint > count for joint in joints) or len(set(joints)) < len(joints):
            raise InputError(f"actuated={joints}: expected different numbers of joints from 1 to {count}")

    def bodies(self) -> nd.models.ConnectedBodies:
        """The links as a tree of bodies: slender rods, whose own thickness does not matter."""
        count, half = len(self.length), np.outer(0.5 * self.length, (0.0, 0.0, 1.0))
        across = self.mass * self.length**2 / 12.0
        tree = nd.Tree(
            range(-1, count - 1),
            J=np.stack([across, across, 1e-2 * across], axis=1),
            M=self.mass,
            own=half,
            other=np.concatenate([np.zeros((1, 3)), -half[:-1]]),
            joints="hinge",
            root="hinge",
            axis=AXIS,
        )
        weight = nd.models.Weight((0.0, 0.0, -self.gravity), self.mass) if self.gravity else None
        return nd.models.ConnectedBodies(tree, weight=weight, damping=self.damping or None)

    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The angles at the start and at the goal."""
        hanging = np.zeros(len(self.length))
        start = hanging if self.start is None else self.start
        return start, np.pi * np.eye(len(hanging))[0] if self.goal is None else self.goal

    def optimum(self, progress: Progress) -> nd.control.Solution:
        """The best swing."""
        links = nd.trees.JointSpace(self.bodies())
        start, goal = (links.state(q=angles) for angles in self.ends())
        directions = links.torques(*(int(joint) - 1 for joint in self.actuated))
        options: dict[str, Any] = {"T": self.T, "bounds": self.bound, "actuation": directions, "starts": self.starts}
        if self.order > 2 and len(self.length) >= MANY:
            plain = nd.control.solve(links, start, goal, N=self.steps, method=METHODS[2], **options)
            options["guess"] = plain if plain.solved else None
        return solved(self, progress, links, start, goal, **options)

    def live(self) -> LivePage:
        bodies, heaviest = self.bodies(), float(np.max(self.mass))
        sliders: dict[str, Any] = {"mass": Slider(0.3 * heaviest, 2.0 * heaviest, log=True)}
        if bodies.weight is not None:
            sliders["gravity"] = (0.0, 2.0 * self.gravity)
        if bodies.damping is not None:
            sliders["damping"] = (0.0, 5.0 * self.damping)
        return following_page(self.optimum(Progress()), lambda study: self._other(bodies, study), sliders, 1.0)

    def _other(self, bodies: nd.models.ConnectedBodies, study: "SwingUp") -> nd.trees.JointSpace:
        """The links with the masses, the gravity and the damping of another study."""
        part, tree = study.mass / self.mass, bodies.tree
        changes: dict[str, Any] = {
            "tree": tree.replaced(J=part[:, None, None] * tree.J, M=part[:, None, None] * tree.M)
        }
        if bodies.weight is not None:
            pull = study.gravity / self.gravity * bodies.weight.gravity
            changes["weight"] = bodies.weight.replaced(mass=part * bodies.weight.mass, gravity=pull)
        if bodies.damping is not None:
            changes["damping"] = study.damping / self.damping * bodies.damping
        return nd.trees.JointSpace(bodies.replaced(**changes))

    def run(self, progress: Progress) -> Findings:
        found = self.optimum(progress)
        return Findings(
            results(found) | {"largest_torque": np.abs(found.u).max()},
            lambda: dataset(found),
            {"links": lambda: _strobe(found, self.length), **figures(found, self.bound)},
            notes=_NOTES,
            units={"time": "s", "largest_torque": "N m"},
        )


def ends_of_links(q: np.ndarray, length: np.ndarray) -> np.ndarray:
    """x and z of the pin and of the ends of all links: [time, link + 1, 2]."""
    angles = np.cumsum(q, axis=1)
    steps = -length[:, None] * np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return np.concatenate([np.zeros((len(q), 1, 2)), np.cumsum(steps, axis=1)], axis=1)


def _strobe(found: nd.control.Solution, length: np.ndarray) -> Any:
    """The links at moments that are evenly spaced in time, the last ones strongest, and the way of the tip."""
    from naiad import viz

    places = ends_of_links(np.asarray(found.states.g.q), length)
    with viz.house():
        figure = viz.new_figure(5.0, 4.8, "Links, the last ones strongest")
        ax: Any = figure.add_subplot()
        ax.plot(*places[:, -1].T, color=viz.PALETTE[1], linewidth=1.0, label="way of the tip")
        for number, k in enumerate(np.linspace(0, len(places) - 1, SHOWN).round().astype(int)):
            strength = 0.15 + 0.85 * number / (SHOWN - 1)
            ax.plot(*places[k].T, color=viz.PALETTE[0], alpha=strength, linewidth=2.0, marker="o", markersize=3.0)
        ax.plot(0.0, 0.0, color="black", marker="s", markersize=5.0)
        ax.set_aspect("equal")
        ax.set_xlabel("x [m]")
        ax.set_ylabel("z [m]")
        ax.legend(loc="best")
        return figure


_NOTES = (
    "`cost` is that of the discrete optimum and `error_estimate` its error, from grids with a quarter and half the "
    "steps. Angles are those of the joints: the first from the downward vertical, the others from the line of the "
    "link before; whole turns count, so a goal of -pi is another than pi."
)
