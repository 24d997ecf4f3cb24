"""Rigid bodies in a plane of ideal fluid, all of them coupled through it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from naiad.errors import InputError
from naiad.hydro import coupling
from naiad.hydro.boundary import Boundary, Level
from naiad.hydro.coupling_derivative import inertia_and_derivative
from naiad.hydro.curve import AbstractCurve, Ellipse
from naiad.hydro.elliptic_cylinder import EllipticCylinder
from naiad.hydro.nystrom import nystrom
from naiad.hydro.panels import panels
from naiad.hydro.planar_flow import PlanarFlow
from naiad.hydro.planar_frame import from_frame
from naiad.hydro.separation import check_apart, levels_for
from naiad.hydro.vortices_among import AmongVortices, among_vortices
from naiad.numerics import Module
from naiad.numerics.checks import floats, positive
from naiad.numerics.module import static

METHODS = {"nystrom": nystrom, "panels": panels}


class InertiaDerivative(NamedTuple):
    """The added inertia M, and dM_ab/dpose_kc as `derivative[a, b, k, c]`, c running over (beta, x, y) of body k."""

    inertia: Float[np.ndarray, "m m"]
    derivative: Float[np.ndarray, "m m n 3"]


class PlanarBodies(Module):
    """Bodies with these outlines in an unbounded fluid of this density: its flow, and its inertia, for any poses.

    `curves` are `Ellipse`, `ClosedCurve`, `SplineCurve` or `EllipticCylinder`. `boundary` is "nystrom", which converges
    exponentially, or "panels" (Hess and Smith), of first order. `points` is the number of nodes of an outline, or one
    for each; by default as many as resolve it to round-off, and 50 panels. What a body does to itself is computed here,
    once; what bodies do to each other needs fewer nodes, the fewer the farther they are apart: `coupling` fixes their
    number, by default it is chosen for each pose (all nodes, where a pose is traced by JAX).

    A pose is (beta, x, y), a velocity (Omega, v_x, v_y) in the body frame; a matrix has one such triple a body.
    """

    boundaries: tuple[Boundary, ...] = static()
    density: float = static()
    coupling: int | None = static()

    def __init__(
        self,
        curves: Sequence[AbstractCurve | EllipticCylinder],
        density: float = 1.0,
        *,
        points: int | Sequence[int] | None = None,
        boundary: str = "nystrom",
        coupling: int | None = None,
    ):
        if boundary not in METHODS:
            raise InputError(f"boundary = {boundary!r}; expected one of {', '.join(METHODS)}.")
        outlines = [_outline(curve) for curve in curves]
        counts: list[int | None] = [*points] if isinstance(points, Sequence) else [points] * len(outlines)
        if not outlines or len(counts) != len(outlines):
            raise InputError(
                f"{len(outlines)} curves and {len(counts)} numbers of points; expected one for each curve."
            )
        self.boundaries = _made(outlines, counts, boundary)
        self.density = positive("density", density)
        self.coupling = coupling
        if coupling is not None:
            self._levels_of(coupling)

    def added_inertia(self, poses: Any = None, *, frame: int | None = None, symmetric: bool = True) -> Any:
        """The fluid's inertia, three rows and columns a body: its energy is Xi . M Xi / 2.

        Velocities are in the frame of each body, or all in that of body number `frame` (from 0). Of M as computed,
        which is symmetric only to the accuracy of the method, this is the symmetric part unless `symmetric` is False.
        Under JAX's transformations it is an array of JAX, differentiable to any order, and poses are not checked.
        """
        poses, xp = self._poses(poses)
        levels = self._levels(poses) if xp is np else self._fixed_levels()
        M = coupling.inertia(self.boundaries, levels, poses, self.density, xp)
        M = 0.5 * (M + M.T) if symmetric else M
        if frame is None:
            return M
        T = from_frame(poses, self._body(frame), xp)
        return T.T @ M @ T

    def added_inertia_with_derivative(self, poses: Any = None) -> InertiaDerivative:
        """The inertia in body frames, and its derivative with respect to all poses, by one adjoint solve."""
        poses = self._poses(poses)[0]
        M, dM = inertia_and_derivative(self.boundaries, self._levels(poses), poses, self.density)
        return InertiaDerivative(0.5 * (M + M.T), 0.5 * (dM + np.swapaxes(dM, 0, 1)))

    def flow(self, poses: Any = None, velocities: Any = None) -> PlanarFlow:
        """The flow while the bodies, at these poses, have these velocities, rows (Omega, v_x, v_y) in body frames."""
        poses = self._poses(poses)[0]
        levels = [each.finest for each in self.boundaries]
        check_apart(self.boundaries, levels, poses)
        Xi = _rows("velocities", velocities, len(self.boundaries))
        whole = coupling.matrix(levels, coupling.blocks(levels, poses, np), np)
        s = np.linalg.solve(whole, coupling.stacked([level.h for level in levels]) @ Xi.ravel())
        strengths = np.split(s, np.cumsum([level.size for level in levels])[:-1])
        fields = [each.field(strength) for each, strength in zip(self.boundaries, strengths, strict=True)]
        return PlanarFlow(self.boundaries, poses, tuple(fields))

    def among_vortices(self, gamma: Any, places: Any, poses: Any = None) -> AmongVortices:
        """The added inertia, and what point vortices of these strengths at `places`, rows (x, y), give bodies at rest
        without circulation: the momentum of each in its frame, less their own, and the energy (see `Vortices`). For
        JAX to trace; by nodes (`boundary="nystrom"`), for outlines that a line from a vortex to the origin of the body
        does not leave again, such as ellipses."""
        poses = jnp.asarray(self._poses(poses)[0])
        return among_vortices(self.boundaries, self._fixed_levels(), poses, self.density, gamma, places)

    def flux_error(self, poses: Any = None) -> float:
        """The largest flux through a body of a source on another, which is none: the error of all nodes at these poses,
        to a small factor (not for panels, whose error is of first order in their length)."""
        poses = self._poses(poses)[0]
        levels = [each.finest for each in self.boundaries]
        return float(np.max(check_apart(self.boundaries, levels, poses)))

    def _levels(self, poses: Float[np.ndarray, "n 3"]) -> list[Level]:
        if self.coupling is None:
            return levels_for(self.boundaries, poses)
        levels = self._fixed_levels()
        check_apart(self.boundaries, levels, poses)
        return levels

    def _fixed_levels(self) -> list[Level]:
        if self.coupling is None:
            return [each.finest for each in self.boundaries]
        return self._levels_of(self.coupling)

    def _levels_of(self, size: int) -> list[Level]:
        found = [[level for level in each.levels if level.size == size] for each in self.boundaries]
        if not all(found):
            common = set.intersection(*({level.size for level in each.levels} for each in self.boundaries))
            raise InputError(f"coupling = {size}; these bodies can be coupled at {sorted(common)} nodes.")
        return [levels[0] for levels in found]

    def _poses(self, poses: Any) -> tuple[Any, Any]:
        """The poses, and the NumPy to use."""
        if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(poses)):
            return jnp.asarray(poses).reshape(len(self.boundaries), 3), jnp
        return _rows("poses", poses, len(self.boundaries)), np

    def _body(self, index: int) -> int:
        if index not in range(len(self.boundaries)):
            raise InputError(f"frame = {index!r}; expected the number of a body, 0 to {len(self.boundaries) - 1}.")
        return index


def _made(outlines: list[AbstractCurve], counts: list[int | None], method: str) -> tuple[Boundary, ...]:
    """The bodies' boundaries, one for all that are the same."""
    given = list(zip(outlines, counts, strict=True))
    firsts = [given.index(each) for each in given]
    made = {first: METHODS[method](*given[first]) for first in set(firsts)}
    return tuple(made[first] for first in firsts)


def _outline(curve: Any) -> AbstractCurve:
    if isinstance(curve, EllipticCylinder):
        return Ellipse(curve.a, curve.b)
    return curve


def _rows(name: str, value: Any, count: int) -> Float[np.ndarray, "n 3"]:
    array = np.zeros((count, 3)) if value is None else floats(name, value)
    array = array[None] if count == 1 and array.shape == (3,) else array
    if array.shape != (count, 3) or not np.all(np.isfinite(array)):
        triple = "(beta, x, y)" if name == "poses" else "(Omega, v_x, v_y)"
        raise InputError(f"{name} of shape {array.shape}; expected {count} rows {triple} of finite numbers.")
    return array
