"""The flow around the links of a fish, coupled or as if each link were alone."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from naiad.hydro import PlanarBodies, PlanarFlow


class Superposed(NamedTuple):
    """The sum of flows."""

    flows: Sequence[PlanarFlow]

    def velocity(self, points: np.ndarray) -> np.ndarray:
        return sum((flow.velocity(points) for flow in self.flows), start=np.zeros(points.shape))

    def stream_function(self, points: np.ndarray) -> np.ndarray:
        return sum((flow.stream_function(points) for flow in self.flows), start=np.zeros(points.shape[:-1]))


def flow_around(bodies: PlanarBodies, poses: np.ndarray, Xi: np.ndarray, *, coupled: bool) -> Superposed:
    """The flow while the bodies move with velocities Xi, or the sum of the flows of each body alone."""
    if coupled:
        return Superposed([bodies.flow(poses, Xi)])
    alone = [bodies.replaced(boundaries=(boundary,)) for boundary in bodies.boundaries]
    return Superposed([each.flow(pose, xi) for each, pose, xi in zip(alone, poses, Xi, strict=True) if np.any(xi)])


def moving(pose: np.ndarray, xi: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points z of a body in space, and their velocities, as complex numbers."""
    turn = np.exp(1j * pose[0])
    return turn * z + complex(*pose[1:]), turn * (complex(*xi[1:]) + 1j * xi[0] * z)
