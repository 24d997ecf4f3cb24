"""What a swimmer is: links in a fluid, as a Lagrangian system that rigid motions leave alone."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute_rows
from naiad.groups import AbstractGroup
from naiad.groups.se3 import Pose
from naiad.hydro import PlanarBodies, SpatialBodies
from naiad.hydro.threads import one_thread
from naiad.locomotion.abstract_swimmer import AbstractSwimmer, Inertias
from naiad.locomotion.inertia_table import InertiaTable
from naiad.locomotion.links import Links
from naiad.locomotion.shapes import in_rows

COUPLED = (PlanarBodies, SpatialBodies)
"""Fluids whose inertia is that of boundary elements or of harmonics: too slow to be compiled into a motion."""


class Swimmer(AbstractSwimmer):
    """Rigid links in an ideal fluid, joined to a tree: ell = v . K(theta) v / 2, v = (xi, theta').

    With rigid links in a row it is [kanso2005, eq. (5.10)].
    A configuration is (g, theta): the pose of the base, in SE(2) or SE(3), and the angles of the hinges (with ball
    joints an element of the group of shapes, `links.shape`, and its rate); xi is the velocity of the base in its own
    frame. K = B^T M B, with the velocities B(theta) v of the links, each in its own frame, and their inertia M: a
    matrix `own` for each (its body's and, where links meet the fluid as if they were alone, the fluid's), and that of
    the fluid that couples them all, `fluid`, which depends on the shape: by boundary elements, or as the series that
    `tabulated` makes of them.

    Rigid motions are a symmetry: the momentum (impulse) of the whole is conserved.
    """

    links: Links
    own: Float[Array | np.ndarray, "n d d"]
    fluid: PlanarBodies | SpatialBodies | InertiaTable | None = None

    @property
    def frame(self) -> AbstractGroup:
        """The group of the base: SE(2) or SE(3)."""
        return self.links.frame

    @property
    def shapes(self) -> AbstractGroup:
        """That of the links."""
        return self.links.shape

    def inertia(self, theta: Any) -> Float[Array, "d+m d+m"]:
        """K(theta)."""
        B = self.links.jacobian(theta)
        K = jnp.einsum("nia,nij,njb->ab", B, jnp.asarray(self.own), B)
        if self.fluid is None:
            return K
        if isinstance(self.fluid, InertiaTable):
            return K + self.fluid(theta)
        flat = B.reshape(-1, B.shape[2])
        return K + flat.T @ self.fluid.added_inertia(_stacked(self.links.poses(theta))) @ flat

    def inertias(self, shapes: Any) -> Float[np.ndarray, "s n n"]:
        """K for several shapes, in rows: compiled, except where the fluid couples the links by boundary elements."""
        shapes = self._rows(shapes)
        if not isinstance(self.fluid, COUPLED):
            return execute_rows(_inertia, self, shapes, parameters=(0,))
        alone = execute_rows(_inertia, self.alone, shapes, parameters=(0,))
        Bs, poses = execute_rows(motion_of_links, self.links, shapes, parameters=(0,))
        with one_thread():
            return alone + np.stack([B.T @ self.fluid.added_inertia(_row(poses, k)) @ B for k, B in enumerate(Bs)])

    def inertias_with_slopes(self, shapes: Any) -> Inertias:
        """K and its derivatives for several shapes, in rows; the coupled inertia's by one adjoint solve each."""
        shapes = self._rows(shapes)
        if not isinstance(self.fluid, COUPLED):
            return Inertias(*execute_rows(inertia_with_slopes, self, shapes, parameters=(0,)))
        K, slopes = execute_rows(inertia_with_slopes, self.alone, shapes, parameters=(0,))
        (B, poses), (dB, dposes) = execute_rows(_motion_with_slopes, self.links, shapes, parameters=(0,))
        with one_thread():
            found = [self.fluid.added_inertia_with_derivative(_row(poses, k)) for k in range(len(B))]
        M, dM = (np.stack(each) for each in zip(*found, strict=True))
        if isinstance(self.fluid, SpatialBodies):  # along the velocities of the links, in their own frames
            d = self.frame.dim
            dposes = np.swapaxes(B[:, :, d:], 1, 2).reshape(len(B), -1, self.links.count, d)
        moved = np.einsum("sabkc,smkc->smab", dM, dposes)
        half = np.einsum("smai,sab,sbj->smij", dB, M, B)
        K = K + np.einsum("sai,sab,sbj->sij", B, M, B)
        slopes = slopes + half + np.swapaxes(half, 2, 3) + np.einsum("sai,smab,sbj->smij", B, moved, B)
        return Inertias(K, slopes)

    @property
    def alone(self) -> "Swimmer":
        """The same without the fluid that couples the links."""
        return self if self.fluid is None else self.replaced(fluid=None)

    def _rows(self, shapes: Any) -> Any:
        rows, _ = in_rows(self.links.shape, shapes)
        if isinstance(self.fluid, InertiaTable):
            self.fluid.check(rows)
        return rows


def _row(poses: Any, k: int) -> Any:
    """Those of one shape."""
    return jax.tree.map(lambda leaf: leaf[k], poses)


def _stacked(poses: list[Any]) -> Any:
    """Poses of space in stacked arrays, those of the plane as rows (beta, x, y)."""
    if isinstance(poses[0], Pose):
        return jax.tree.map(lambda *leaves: jnp.stack(leaves), *poses)
    return jnp.stack([jnp.concatenate([jnp.reshape(pose.beta, 1), pose.x]) for pose in poses])


def _with_slopes(shape: AbstractGroup, function: Callable[..., Any], theta: Any) -> tuple[Any, Any]:
    """A function of the shape, and its left-trivialised derivatives along the first axis, by a loop: short code."""

    def slope(e):
        return jax.jvp(function, (theta,), (shape.tangent(theta, e),))[1]

    return function(theta), jax.lax.map(slope, jnp.eye(shape.dim))


def _inertia(swimmer: Swimmer, theta: Any) -> Float[Array, "n n"]:
    return swimmer.inertia(theta)


def inertia_with_slopes(swimmer: Swimmer, theta: Any) -> tuple[Any, Any]:
    """K and its derivatives."""
    return _with_slopes(swimmer.links.shape, swimmer.inertia, theta)


def motion_of_links(links: Links, theta: Any) -> tuple[Any, Any]:
    """The velocities of all links per velocity, and their poses."""
    return links.jacobian(theta).reshape(links.count * links.frame.dim, -1), _stacked(links.poses(theta))


def _motion_with_slopes(links: Links, theta: Any) -> tuple[Any, Any]:
    return _with_slopes(links.shape, lambda shape: motion_of_links(links, shape), theta)
