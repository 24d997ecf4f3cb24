"""How far the links of a swimmer of the plane are from each other."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute_rows
from naiad.hydro import AbstractCurve
from naiad.locomotion.links import Links
from naiad.locomotion.loop import Bounded, Loop

DIRECTIONS, TABLE = 180, 1440


class Clearance(NamedTuple):
    """Links with outlines that keep at least the distance `gap`; outlines count as their convex hulls."""

    links: Links
    corners: Float[np.ndarray, "n t"]
    gap: float

    @classmethod
    def of(cls, links: Links, curves: Sequence[AbstractCurve], gap: float) -> "Clearance":
        """From the outline of each link in its own frame."""
        towards = np.exp(-2j * np.pi / TABLE * np.arange(TABLE))
        outlines = [curve.sample(TABLE).z for curve in curves]
        corners = np.stack([z[np.argmax(np.real(np.outer(towards, z)), axis=1)] for z in outlines])
        return cls(links, corners, float(gap))

    def along(self, ring: Loop) -> Bounded:
        """The distance of each pair of links less the gap, relative to the size of a link, at all times of a loop."""
        poses, slopes = execute_rows(_poses, self.links, ring.theta, parameters=(0,))
        by_number = np.einsum("snca,sap->sncp", slopes, ring.theta_slopes)
        size = np.max(np.abs(self.corners))
        pairs = [self._pair(poses, by_number, i, j) for i, j in combinations(range(self.links.count), 2)]
        values, gradients = (np.concatenate(each) for each in zip(*pairs, strict=True))
        return Bounded((values - self.gap) / size, gradients / size)

    def distances(self, theta: Any) -> Float[np.ndarray, " s"]:
        """The least distance of two links for shapes in rows; negative where they overlap."""
        poses, slopes = execute_rows(_poses, self.links, np.atleast_2d(np.asarray(theta, float)), parameters=(0,))
        pairs = [self._pair(poses, slopes, i, j)[0] for i, j in combinations(range(self.links.count), 2)]
        return np.min(pairs, axis=0)

    def _pair(self, poses: np.ndarray, slopes: np.ndarray, i: int, j: int) -> tuple[np.ndarray, np.ndarray]:
        """The largest width of an empty strip between two links: their distance if they are apart, else below 0."""
        angles = 2.0 * np.pi / DIRECTIONS * np.arange(DIRECTIONS)
        normal = np.exp(1j * angles)
        ahead, behind = self._corner(poses, j, angles + np.pi), self._corner(poses, i, angles)
        widths = np.real(np.conj(normal) * (_moved(poses[:, j], ahead) - _moved(poses[:, i], behind)))
        rows, best = np.arange(len(poses)), np.argmax(widths, axis=1)
        change = _changed(poses[:, j], slopes[:, j], ahead[rows, best])
        change = change - _changed(poses[:, i], slopes[:, i], behind[rows, best])
        return widths[rows, best], np.real(np.conj(normal[best])[:, None] * change)

    def _corner(self, poses: np.ndarray, link: int, angles: np.ndarray) -> np.ndarray:
        """The point of a link, in its frame, that lies furthest in each direction."""
        turned = angles - poses[:, link, :1]
        return self.corners[link][np.rint(turned * TABLE / (2.0 * np.pi)).astype(int) % TABLE]


def _moved(pose: np.ndarray, z: np.ndarray) -> np.ndarray:
    return np.exp(1j * pose[:, :1]) * z + (pose[:, 1] + 1j * pose[:, 2])[:, None]


def _changed(pose: np.ndarray, slopes: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The derivatives of a point of a link in space."""
    turned = (1j * np.exp(1j * pose[:, 0]) * z)[:, None]
    return turned * slopes[:, 0] + slopes[:, 1] + 1j * slopes[:, 2]


def _poses(links: Links, theta: Float[Array, " m"]) -> tuple[Any, Any]:
    """(beta, x, y) of each link in rows, and the derivatives by the angles along the last axis."""

    def rows(shape):
        poses = links.poses(shape)
        return jnp.stack([jnp.concatenate([jnp.reshape(pose.beta, 1), pose.x]) for pose in poses])

    slopes = jax.vmap(lambda e: jax.jvp(rows, (theta,), (e,))[1], out_axes=-1)(jnp.eye(theta.shape[0]))
    return rows(theta), slopes
