"""Trees of bodies and the swimmers made of them, for the tests."""

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import naiad as nd
from naiad.hydro import AbstractShape, EllipticCylinder
from naiad.locomotion import Swimmer, spatial_swimmer
from naiad.models import ConnectedBodies

AXES = (1.0, 0.2, 0.35)


def random_bodies(joints: tuple[str, ...], seed: int = 1) -> ConnectedBodies:
    """Ellipsoids in a fluid, one of them for each joint and a free root, on a tree with branches."""
    rng, count = np.random.default_rng(seed), len(joints) + 1
    parents = [-1, 0, *(k // 2 for k in range(1, count - 1))]
    own, other, axis = rng.normal(size=(3, count, 3))
    own[0] = other[0] = 0.0
    rest = Rotation.random(count, random_state=seed).as_matrix()
    axes = np.array(AXES) * rng.uniform(0.8, 1.2, (count, 3))
    parts: dict[str, Any] = {"own": own, "other": other, "axis": axis, "rest": rest, "joints": joints}
    return ConnectedBodies.ellipsoids(axes, parents, fluid=1.3, density=0.7, overlap=True, **parts)


def crossed(joints: str = "hinge", **parts: Any) -> Swimmer:
    """Three ellipsoids in a row; the first hinge turns about e_3, the other about e_2: the swimmer leaves the plane."""
    from naiad.hydro import Ellipsoid

    arm = np.array([1.1, 0.0, 0.0])
    own, other = np.stack([-arm, 0 * arm, arm]), np.stack([arm, 0 * arm, -arm])
    axis = [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    given: dict[str, Any] = {"own": own, "other": other, "axis": axis, "density": 1.0, "joints": joints}
    return spatial_swimmer([Ellipsoid(AXES)] * 3, (1, -1, 1), **(given | parts))


def of_tree(bodies: ConnectedBodies, swimmer: Swimmer, state: nd.State, rates: np.ndarray) -> tuple[Any, np.ndarray]:
    """The configuration (g, theta) and velocity of the swimmer where the bodies of its tree are in a state whose joints
    turn at these rates, by way of relative attitudes."""
    tree, R = bodies.tree, np.asarray(state.g.R)
    turned = {i: tree.rest[i].T @ R[tree.parents[i]].T @ R[i] for i in range(1, tree.count)}
    links = swimmer.links
    angles = np.array([Rotation.from_matrix(turned[i]).as_rotvec() @ tree.axis[i] for i in links.hinged])
    theta = angles
    if links.balls:
        turns = np.stack([turned[i] for i in links.balls])
        theta = links.shape.identity()._replace(turns=turns, **({"angles": angles} if links.hinged else {}))
    g = swimmer.frame.identity()._replace(R=R[0], x=np.asarray(state.g.x))
    xi = np.asarray(bodies.velocity(state.g, state.mu))
    hinge_rates = [rates[i] @ tree.axis[i] for i in links.hinged]
    v = np.concatenate([xi[:3], R[0].T @ xi[-3:], hinge_rates, *(rates[i] for i in links.balls)])
    return swimmer.group.identity()._replace(g=g, theta=theta), v


def random_state(bodies: ConnectedBodies, rng: np.random.Generator) -> tuple[nd.State, np.ndarray]:
    """A state with random joints, and the rates of these."""
    turns, rates = rng.normal(size=(2, bodies.tree.count, 3))
    for i, kind in enumerate(bodies.tree.joints):
        if kind == "hinge":
            n = bodies.tree.axis[i]
            turns[i], rates[i] = n * (turns[i] @ n), n * (rates[i] @ n)
        if kind == "weld":
            turns[i] = rates[i] = 0.0
    return bodies.joint_state(turns, rates, x=rng.normal(size=3), v=rng.normal(size=3)), rates


class Slab(AbstractShape):
    """A piece of unit width of an elliptic cylinder along e_3, whose other inertias are of no account."""

    section: EllipticCylinder

    @property
    def volume(self) -> float:
        return self.section.volume

    @property
    def centre(self) -> np.ndarray:
        return np.zeros(3)

    def added_inertia(self, density: float) -> np.ndarray:
        return _in_space(self.section.added_inertia(density))

    def inertia(self, density: float) -> np.ndarray:
        return _in_space(self.section.inertia(density))


def _in_space(K: np.ndarray) -> np.ndarray:
    whole = np.diag([3.0, 5.0, 0.0, 0.0, 0.0, 7.0])
    whole[2:5, 2:5] = K
    return whole
