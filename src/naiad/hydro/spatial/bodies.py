"""Rigid bodies in a space of ideal fluid, all of them coupled through it."""

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from naiad.errors import InputError
from naiad.groups.se3 import Pose
from naiad.hydro.shape import AbstractShape
from naiad.hydro.spatial import contact
from naiad.hydro.spatial.alike import Alike, alike, in_order, met
from naiad.hydro.spatial.energy import energy, inertia, known_inertia, leading_inertia
from naiad.hydro.spatial.flow import SpatialFlow
from naiad.hydro.spatial.kernel import slopes
from naiad.hydro.spatial.made import sheets
from naiad.hydro.spatial.pairs import coupled, wrenches
from naiad.hydro.spatial.plane import Plane
from naiad.hydro.spatial.sheet import AbstractSheet, SmoothSheet
from naiad.hydro.spatial.smooth import refined
from naiad.hydro.spatial.solve import factorised
from naiad.hydro.threads import one_thread
from naiad.numerics import Module, check_rotations
from naiad.numerics.checks import floats, positive

FINER = 4
"""Degrees by which harmonics are finer whose result is taken for the right one."""
LOOKED_AT = 400
"""Nodes of a motion among which the one with the smallest gap is looked for first."""
SMALL = 1000
"""Functions on all bodies, up to which threads cost more than they give."""


class SpatialDerivative(NamedTuple):
    """The added inertia M, and its derivative along turns and shifts of body k about and along its own axes as
    `derivative[a, b, k, c]`, c running over (Omega, v)."""

    inertia: Float[np.ndarray, "m m"]
    derivative: Float[np.ndarray, "m m n 6"]


class SpatialBodies(Module):
    """Bodies with these shapes in an ideal fluid of this density: its flow, and its inertia, for any poses.

    `shapes` are `Sphere`, `Spheroid`, `Ellipsoid` or `Mesh`, each possibly `placed`. What smooth ones do to others is a
    series of spherical harmonics up to `degree`, met at `points` from pole to pole and twice as many around (two more
    than the degree if not given); a mesh has three points in every triangle. What a body does to itself is exact, or as
    good as its mesh is. `plane` bounds the fluid (see `Plane`).

    Poses are a `Pose` with arrays R (n, 3, 3) and x (n, 3), a list of poses, or rows x of bodies that are not turned;
    velocities are rows (Omega, v) in body frames, and a matrix has six rows and columns a body.
    """

    groups: tuple[Alike, ...]
    density: float
    plane: Plane | None

    def __init__(
        self,
        shapes: Sequence[AbstractShape],
        density: float = 1.0,
        *,
        plane: Plane | None = None,
        degree: int = 8,
        points: int | None = None,
    ):
        if not shapes:
            raise InputError("No shapes; expected one or more, such as [Sphere(1.0), Sphere(0.5)].")
        if not 2 <= degree <= 60:
            raise InputError(f"degree = {degree!r}; expected a whole number from 2 to 60.")
        points = degree + 2 if points is None else points
        if not degree < points <= 240:
            raise InputError(f"points = {points!r}; expected more than the degree, {degree}, and at most 240.")
        self.groups = alike(sheets(shapes, degree, points))
        self.density = positive("density", density)
        self.plane = plane

    @property
    def count(self) -> int:
        """The number of bodies."""
        return sum(group.count for group in self.groups)

    @property
    def sheets(self) -> tuple[AbstractSheet, ...]:
        """The sheets of all bodies."""
        return in_order(self.groups)

    def added_inertia(self, poses: Any = None) -> Any:
        """The fluid's inertia, six rows and columns a body, each in its own frame: its energy is Xi . M Xi / 2.

        Under JAX's transformations it is an array of JAX, and poses are not checked.
        """
        poses, known = self._poses(poses)
        if not known:
            return self.density * inertia(self.groups, met(self.groups, self.plane, poses))
        sheets = self.sheets
        with self._threads():
            contact.check_apart(sheets, self.plane, poses)
            return self.density * known_inertia(sheets, coupled(sheets, self.plane, poses))[0]

    def leading_inertia(self, poses: Any) -> Any:
        """`added_inertia` to first order in what bodies do to each other, for JAX to trace: near it, and cheaper."""
        poses = Pose(*map(jnp.asarray, self._poses(poses)[0]))
        return self.density * leading_inertia(self.groups, met(self.groups, self.plane, poses))

    def added_energy(self, poses: Any, Xi: Any) -> Any:
        """Xi . M Xi / 2 for velocities in one row after the other, for JAX to trace. Its first derivatives cost no more
        than itself: with the dipoles psi of this motion, M Xi and - psi . dW psi / 2. Poses are not checked."""
        poses = self._poses(poses)[0]
        return self.density * energy(self.groups, self.plane, Pose(*map(jnp.asarray, poses)), jnp.asarray(Xi))

    def added_inertia_with_derivative(self, poses: Any = None) -> SpatialDerivative:
        """The inertia, and its derivative with all poses: dM = - Psi . dW Psi, with the dipoles Psi of the unit
        motions."""
        poses = self._known(poses)
        with self._threads():
            return self._with_derivative(poses)

    def _with_derivative(self, poses: Pose) -> SpatialDerivative:
        sheets, size = self.sheets, 6 * self.count
        contact.check_apart(sheets, self.plane, poses)
        between = coupled(sheets, self.plane, poses)
        M, Psi = known_inertia(sheets, between)
        dM = np.zeros((size, size, self.count, 6))
        for pair, at, _ in between:
            i, j = pair.first, pair.second
            found = slopes(sheets[i], sheets[j], at, Psi[i], Psi[j])
            for body, part in zip((i, j), wrenches(at, *found), strict=True):
                scaled = -self.density * pair.sign * pair.share * part
                dM[:, :, body] += scaled + np.swapaxes(scaled, 0, 1)
        return SpatialDerivative(self.density * M, dM)

    def flow(self, poses: Any = None, velocities: Any = None) -> SpatialFlow:
        """The flow while the bodies, at these poses, have these velocities, rows (Omega, v) in body frames."""
        poses = self._known(poses)
        sheets = self.sheets
        contact.check_apart(sheets, self.plane, poses)
        Xi = _rows("velocities", velocities, self.count, "(Omega, v), six")
        right = [sheet.H @ row[:, None] for sheet, row in zip(sheets, Xi, strict=True)]
        psi = factorised(sheets, coupled(sheets, self.plane, poses), right)
        return SpatialFlow(sheets, poses, self.plane, tuple(each[:, 0] for each in psi))

    def flux_error(self, poses: Any = None) -> float:
        """The largest flux through a body of a source on another (or on an image), which is none: how well the points
        resolve what bodies do to each other at these poses, to a small factor."""
        errors = contact.check_apart(self.sheets, self.plane, self._known(poses))
        return max(errors.values(), default=0.0)

    def harmonics_error(self, poses: Any = None) -> float:
        """Return how far the added inertia is off because the harmonics end at `degree`.

        It is the largest change of an entry with harmonics and points of four degrees more, relative to the geometric
        mean of the diagonal's entries there. `poses` may be those of all nodes of a motion (as `run.g`): then it is
        the error at the node with the smallest gap. It is NaN where bodies overlap, and 0 for one body alone. Meshes
        have no harmonics.
        """
        if isinstance(poses, Pose) and np.ndim(poses.R) == 4:
            poses = self._nearest(Pose._make([np.asarray(poses.R, float), np.asarray(poses.x, float)]))
        poses = self._known(poses)
        if not contact.known_gap(self.sheets, self.plane, poses) > 0.0:
            return float("nan")
        finer = [refined(each, FINER) if isinstance(each, SmoothSheet) else each for each in self.sheets]
        with self._threads():
            M, better = (known_inertia(each, coupled(each, self.plane, poses))[0] for each in (self.sheets, finer))
        scale = np.sqrt(np.abs(np.diag(better)))
        size = np.outer(scale, scale)
        rough = size > 1e-12 * np.max(size)  # spheres turn without the water
        return float(np.max(np.abs(M - better)[rough] / size[rough]))

    def _nearest(self, nodes: Pose) -> Pose:
        """The poses with the smallest gap: of some nodes first, then of all about the best of those."""

        def best(among: range) -> int:
            return min(among, key=lambda k: contact.known_gap(sheets, self.plane, Pose._make([nodes.R[k], nodes.x[k]])))

        sheets, count = self.sheets, len(nodes.x)
        stride = max(1, count // LOOKED_AT)
        middle = best(range(0, count, stride))
        k = best(range(max(0, middle - stride), min(count, middle + stride + 1)))
        return Pose(nodes.R[k], nodes.x[k])

    def gap(self, poses: Any) -> Any:
        """The smallest distance between two bodies, or from the plane; negative where they overlap, infinite for one
        body alone. Exact for spheres and planes, for ellipsoids that of the line between their centres, and for meshes
        to about a triangle. Under JAX's transformations an array of JAX."""
        poses, known = self._poses(poses)
        if known:
            return contact.known_gap(self.sheets, self.plane, poses)
        return contact.gap(self.groups, self.plane, poses)

    def _threads(self) -> Any:
        """One thread for small systems."""
        functions = sum(group.count * group.functions for group in self.groups)
        return one_thread() if functions < SMALL else contextlib.nullcontext()

    def _poses(self, poses: Any) -> tuple[Pose, bool]:
        """The poses, and whether they are known, not traced."""
        if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((poses, self))):
            R, x = poses
            return Pose(jnp.asarray(R).reshape(-1, 3, 3), jnp.asarray(x).reshape(-1, 3)), False
        return self._known(poses), True

    def _known(self, poses: Any) -> Pose:
        return poses_of(poses, self.count)


def poses_of(poses: Any, count: int) -> Pose:
    """Poses as users give them, checked."""
    if isinstance(poses, Sequence) and len(poses) and all(isinstance(each, Pose) for each in poses):
        poses = Pose._make([np.stack(part) for part in zip(*poses, strict=True)])
    if isinstance(poses, Pose):
        R, x = np.asarray(poses.R, float).reshape(-1, 3, 3), _rows("poses.x", np.reshape(poses.x, (-1, 3)), count, "x")
        if len(R) != count:
            raise InputError(f"poses.R has {len(R)} rotations; expected one for each of {count} bodies.")
        check_rotations("poses.R", R)
        return Pose._make([R, x])
    x = _rows("poses", poses, count, "x (or a Pose with arrays R and x), three")
    return Pose._make([np.tile(np.eye(3), (count, 1, 1)), x])


def _rows(name: str, value: Any, count: int, what: str) -> Float[np.ndarray, "n k"]:
    width = 6 if name == "velocities" else 3
    array = np.zeros((count, width)) if value is None else floats(name, value)
    array = array[None] if count == 1 and array.shape == (width,) else array
    if array.shape != (count, width) or not np.all(np.isfinite(array)):
        raise InputError(f"{name} of shape {array.shape}; expected {count} rows {what} finite numbers each.")
    return array
