"""Trees of bodies and the swimmers made of them, for the tests."""

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import naiad as nd
from naiad.groups.se3 import Pose
from naiad.hydro import AbstractShape, Ellipsoid, EllipticCylinder
from naiad.locomotion import Swimmer, spatial_swimmer
from naiad.mechanics import identity
from naiad.models import ConnectedBodies
from naiad.trees.connected_bodies import absolute

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
    arm = np.array([1.1, 0.0, 0.0])
    own, other = np.stack([-arm, 0 * arm, arm]), np.stack([arm, 0 * arm, -arm])
    axis = [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    given: dict[str, Any] = {"own": own, "other": other, "axis": axis, "density": 1.0, "joints": joints}
    return spatial_swimmer([Ellipsoid(AXES)] * 3, (1, -1, 1), **(given | parts))


class Motion(NamedTuple):
    """A state of a tree, its velocity, and the rates of its joints."""

    state: nd.State
    xi: np.ndarray
    rates: np.ndarray


def random_motion(bodies: ConnectedBodies, rng: np.random.Generator) -> Motion:
    """A state with random joints that turn at random rates."""
    turns, rates = rng.normal(size=(2, bodies.tree.count, 3))
    for i, kind in enumerate(bodies.tree.joints):
        if kind == "hinge":
            n = bodies.tree.axis[i]
            turns[i], rates[i] = n * (turns[i] @ n), n * (rates[i] @ n)
        if kind == "weld":
            turns[i] = rates[i] = 0.0
    x, v = rng.normal(size=(2, 3))
    _, Omega = absolute(bodies.tree, turns, rates)
    return Motion(bodies.joint_state(turns, rates, x=x, v=v), np.concatenate([Omega.ravel(), v]), rates)


def of_tree(tree: nd.Tree, swimmer: Swimmer, motion: Motion) -> tuple[Any, Any, np.ndarray]:
    """Pose, shape and velocity (xi, theta') of the swimmer where the bodies of its tree move so, by way of the relative
    attitudes."""
    R, links = np.asarray(motion.state.g.R), swimmer.links
    turned = {i: tree.rest[i].T @ R[tree.parents[i]].T @ R[i] for i in range(1, tree.count)}
    theta = np.array([Rotation.from_matrix(turned[i]).as_rotvec() @ tree.axis[i] for i in links.hinged])
    if links.balls:
        theta = identity(links.shape)._replace(angles=theta, turns=np.stack([turned[i] for i in links.balls]))
    hinges = [motion.rates[i] @ tree.axis[i] for i in links.hinged]
    v = np.concatenate([motion.xi[:3], R[0].T @ motion.xi[-3:], hinges, *(motion.rates[i] for i in links.balls)])
    return Pose(R[0], np.asarray(motion.state.g.x)), theta, v


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
