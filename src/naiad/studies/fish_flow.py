"""The flow around the links of a fish, coupled or as if each link were alone."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from naiad.hydro import PlanarBodies, PlanarFlow

HYDRO = {"coupled": "the links feel each other through the fluid", "decoupled": "each link as if it were alone"}


class Superposed(NamedTuple):
    """The sum of flows."""

    flows: Sequence[PlanarFlow]

    def velocity(self, points: np.ndarray) -> np.ndarray:
        return sum((flow.velocity(points) for flow in self.flows), start=np.zeros(points.shape))

    def stream_function(self, points: np.ndarray) -> np.ndarray:
        return sum((flow.stream_function(points) for flow in self.flows), start=np.zeros(points.shape[:-1]))


def flow_around(bodies: PlanarBodies, poses: np.ndarray, Xi: np.ndarray, *, coupled: bool) -> Superposed:
    """The flow while the bodies move with velocities Xi, or the sum of the flows of each body alone."""
    return Superposed([flow_of(bodies, poses, Xi, group) for group in groups(Xi, coupled=coupled)])


def groups(Xi: np.ndarray, *, coupled: bool) -> list[list[int]]:
    """The numbers of the bodies that feel each other; those that rest alone make no flow."""
    return [list(range(len(Xi)))] if coupled else [[k] for k in range(len(Xi)) if np.any(Xi[k])]


def flow_of(bodies: PlanarBodies, poses: np.ndarray, Xi: np.ndarray, group: list[int]) -> PlanarFlow:
    """The flow of some of the bodies, without the others."""
    return bodies.replaced(boundaries=tuple(bodies.boundaries[k] for k in group)).flow(poses[group], Xi[group])


def moving(pose: np.ndarray, xi: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points z of a body in space, and their velocities, as complex numbers."""
    turn = np.exp(1j * pose[0])
    return turn * z + complex(*pose[1:]), turn * (complex(*xi[1:]) + 1j * xi[0] * z)
