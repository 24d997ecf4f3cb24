"""What a swimmer is: links in a fluid, as a Lagrangian system that rigid motions leave alone."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute, execute_rows
from naiad.errors import InputError
from naiad.groups import AbstractGroup, Product
from naiad.groups.se3 import Pose
from naiad.hydro import PlanarBodies, SpatialBodies
from naiad.hydro.threads import one_thread
from naiad.locomotion.inertia_table import InertiaTable
from naiad.locomotion.links import Links
from naiad.locomotion.shapes import in_rows
from naiad.mechanics import LagrangianSystem, Scalar, State, identity
from naiad.mechanics.labels import angles
from naiad.numerics import solve
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import floats

COUPLED = (PlanarBodies, SpatialBodies)
"""Fluids whose inertia is that of boundary elements or of harmonics: too slow to be compiled into a motion."""


class Inertias(NamedTuple):
    """K(theta) for each of several shapes, and its derivatives dK/dtheta_a as `slopes[:, a]`; along theta exp(s e_a)
    where shapes are no vectors."""

    K: Float[np.ndarray, "s n n"]
    slopes: Float[np.ndarray, "s m n n"]


class Swimmer(LagrangianSystem):
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

    definite = True

    @property
    def frame(self) -> AbstractGroup:
        """The group of the base: SE(2) or SE(3)."""
        return self.links.frame

    @property
    def angle_count(self) -> int:
        """The number of angles: the dimension of the group of shapes."""
        return self.links.shape.dim

    labels = angles("theta", "joint angles", ("joint",))

    @property
    def group(self) -> AbstractGroup:
        """SE(2) or SE(3), times the group of shapes."""
        return Product(g=self.frame, theta=self.links.shape)

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

    @property
    def symmetry_dim(self) -> int:
        """The dimension of the rigid motions."""
        return self.frame.dim

    def symmetry(self, s: Float[Array, " d"], g: Any) -> Any:
        """Rigid motions; `noether` is the momentum of the whole in space."""
        return g._replace(g=self.frame.compose(self.frame.exp(s), g.g))

    @checked_throughout
    def start(
        self, theta: Any = None, rates: Any = None, *, pose: Any = None, momentum: Any = None, xi: Any = None
    ) -> State:
        """The state with these angles and rates (zero), the base at `pose` (the identity), and the `momentum` in space
        (none), or in its place the velocity `xi` of the base in its own frame.

        mu = K (xi, rates), where xi, unless it is given, is K_gg^-1 (Ad*_g J - K_gt rates).
        """
        if momentum is not None and xi is not None:
            raise InputError(
                "start: both momentum and xi were given; give the momentum in space or the base's velocity."
            )
        d, shape = self.frame.dim, self.links.shape
        rows, _ = in_rows(shape, identity(shape) if theta is None else theta)
        theta, rates = jax.tree.map(lambda leaf: leaf[0], rows), _vector("rates", rates, self.angle_count)
        g = jax.tree.map(np.asarray, self.frame.identity() if pose is None else pose)
        K = self.inertias(theta)[0]
        if xi is None:
            body = execute(_in_body, self.frame, g, _vector("momentum", momentum, d), parameters=(0,))
            velocity = np.linalg.solve(K[:d, :d], body - K[:d, d:] @ rates)
        else:
            velocity = _vector("xi", xi, d)
        return self.state(self.group.identity()._replace(g=g, theta=theta), mu=K @ [*velocity, *rates])

    def locked(self, state: State) -> State:
        """The state just after the hinges are stopped at once: the momentum stays, K_gg xi = mu_g, and the angles rest.
        From rest, the swimmer stops as well."""
        d = self.frame.dim
        K, body = self.inertias(state.g.theta)[0], np.asarray(state.mu)[:d]
        return State(state.g, K[:, :d] @ np.linalg.solve(K[:d, :d], body))

    def lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """The kinetic energy."""
        return 0.5 * xi @ self.inertia(g.theta) @ xi

    def velocity(self, g: Any, mu: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """K^-1 mu."""
        return solve(self.inertia(g.theta), mu)

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


def _in_body(frame: AbstractGroup, g: Any, J: Any) -> Any:
    return frame.Ad_dual(g, J)


def _vector(name: str, value: Any, size: int) -> np.ndarray:
    array = np.zeros(size) if value is None else np.atleast_1d(floats(name, value))
    if array.shape != (size,) or not np.all(np.isfinite(array)):
        raise InputError(f"{name} = {value!r}; expected {size} finite number{'' if size == 1 else 's'}.")
    return array
