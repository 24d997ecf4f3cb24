"""Swimmers that bend smoothly: one closed outline in place of hinged links."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SE2, AbstractGroup, Rn
from naiad.hydro import AbstractCurve
from naiad.hydro.deforming import deforming_inertia
from naiad.hydro.threads import one_thread
from naiad.locomotion.abstract_swimmer import AbstractSwimmer, Inertias
from naiad.locomotion.bend import Bend
from naiad.locomotion.shapes import in_rows
from naiad.numerics import double
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import positive

FLUX = 1e-3
"""The largest share of flux that may be lost: the error of the nodes, to a small factor."""


class BendingSwimmer(AbstractSwimmer):
    """A body of the plane that bends about its midline, in an ideal fluid: ell = v . K(q) v / 2, v = (xi, q').

    Its shape q are the amplitudes of modes of curvature (see `Bend`), its frame is that of the midline's middle. K is
    that of all its points, which move at  xi + sum_a q_a' dX/dq_a:  those inside with the `density` of the body, those
    of the outline with the flow of the fluid outside. Momentum, centre of mass and angular momentum of the deformation
    are all in K: from rest, K_gg xi + K_gt q' = 0.
    """

    bend: Bend
    density: float
    fluid: float

    @property
    def frame(self) -> AbstractGroup:
        """SE(2)."""
        return SE2()

    @property
    def shapes(self) -> AbstractGroup:
        """R^m."""
        return Rn(self.bend.kappas.shape[1])

    def inertia(self, theta: Float[Array, " m"]) -> Float[Array, "3+m 3+m"]:
        """K(q)."""
        return _inertia(self, theta)[0]

    @double
    def inertias(self, shapes: Any) -> Float[np.ndarray, "s n n"]:
        """K for several shapes, in rows."""
        with one_thread():
            return np.stack([self._one(q) for q in in_rows(self.shapes, shapes)[0]])

    @double
    def inertias_with_slopes(self, shapes: Any) -> Inertias:
        """K and its derivatives for several shapes, in rows, by automatic differentiation."""
        rows = in_rows(self.shapes, shapes)[0]
        K = self.inertias(rows)
        with one_thread():
            return Inertias(K, np.stack([np.moveaxis(np.asarray(_slopes(self, q)), 2, 0) for q in rows]))

    @double
    def outlines(self, shapes: Any, poses: Any = (0.0, 0.0, 0.0)) -> Float[np.ndarray, "*s n 2"]:
        """The outline in space while the frame is at `poses`, (beta, x, y) or rows of them, for one shape or many."""
        rows, one = in_rows(self.shapes, shapes)
        poses = np.atleast_2d(np.asarray(poses, float))
        z = np.stack([np.asarray(_outline(self.bend, q)) for q in rows])
        z = np.exp(1j * poses[:, :1]) * z + (poses[:, 1] + 1j * poses[:, 2])[:, None]
        found = np.stack([np.real(z), np.imag(z)], axis=-1)
        return found[0] if one else found

    @double
    def centres(self, shapes: Any) -> Float[np.ndarray, "*s 2"]:
        """The centre of the body's area in its frame, that of its mass, for one shape or for shapes in rows."""
        rows, one = in_rows(self.shapes, shapes)
        z = np.array([complex(_centre(self.bend, q)) for q in rows])
        found = np.stack([np.real(z), np.imag(z)], axis=-1)
        return found[0] if one else found

    def _one(self, q: np.ndarray) -> np.ndarray:
        K, lost, room = (np.asarray(each) for each in _inertia(self, q))
        if not room > 0.0:
            raise InputError(
                f"At the shape {q.tolist()} the body is bent more than it is thick: its sections meet, where twice the "
                "curvature times the half width is 1 or more. Take smaller amplitudes or a thinner body."
            )
        if not lost < FLUX:
            raise InputError(
                f"At the shape {q.tolist()} flux is lost, {lost:.2g} of it: the outline crosses or almost touches "
                f"itself, or {len(self.bend.s)} points are too few for it."
            )
        return K


@checked_throughout
def bending_swimmer(
    outline: AbstractCurve,
    modes: Sequence[Callable[[float], float]],
    *,
    fluid: float = 1.0,
    density: float = 0.0,
    points: int = 256,
) -> BendingSwimmer:
    """A body with this straight `outline`, its midline along e_1, that bends with these `modes` in a plane of fluid of
    density `fluid` [kg/m^2].

    A mode is the curvature [1/m] of the midline at s [m] from the middle, for an amplitude of 1; a travelling wave is
    two of them (`curvature_wave`), and a joint under a cloth a narrow one (`cloth_joints`). `density` [kg/m^2] is that
    of the body (0: massless), `points` the number of nodes of the outline.
    """
    if points < 16 or points % 2:
        raise InputError(f"points = {points!r}; expected an even number, 16 or more.")
    return BendingSwimmer(
        Bend.of(outline, modes, points), positive("density", density, zero=True), positive("fluid", fluid)
    )


@jax.jit
def _inertia(swimmer: BendingSwimmer, q: Any) -> tuple[Any, Any, Any]:
    """K, the flux lost, and the room between sections."""
    outline = swimmer.bend.outline(q)
    wet, lost = deforming_inertia(outline.X, _velocities(*outline))
    inside, shares = swimmer.bend.inside(q)
    V = _velocities(*inside)
    dry = jnp.real(jnp.conj(V).T @ (shares[:, None] * V))
    return swimmer.fluid * wet + swimmer.density * dry, lost, swimmer.bend.room(q)


@jax.jit
def _slopes(swimmer: BendingSwimmer, q: Any) -> Any:
    return jax.jacfwd(lambda at: _inertia(swimmer, at)[0])(q)


@jax.jit
def _outline(bend: Bend, q: Any) -> Any:
    return bend.outline(q).X


@jax.jit
def _centre(bend: Bend, q: Any) -> Any:
    inside, shares = bend.inside(q)
    return shares @ inside.X / jnp.sum(shares)


def _velocities(X: Any, slopes: Any) -> Any:
    """Of points for unit Omega, v_x, v_y and rates of the modes."""
    return jnp.concatenate([jnp.stack([1j * X, jnp.ones_like(X), 1j * jnp.ones_like(X)], axis=1), slopes], axis=1)
