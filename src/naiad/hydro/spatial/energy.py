"""The fluid's inertia and energy from the sheets of all bodies, for unit density.

M = M_alone + H . (W(q)^-1 - W_alone^-1) H: what flows inside the bodies, which H . W^-1 H holds too, does not depend on
the poses. The energy of a motion Xi is that of psi = W^-1 H Xi, and it is stationary in psi:
dE = M Xi . dXi - psi . dW psi / 2.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from naiad.groups.se3 import Pose
from naiad.hydro.spatial import solve
from naiad.hydro.spatial.alike import Alike, Met, added_at, folded, met
from naiad.hydro.spatial.dipoles import Blocks, dipoles, each_body, unit_dipoles
from naiad.hydro.spatial.kernel import slope
from naiad.hydro.spatial.pairs import Coupled
from naiad.hydro.spatial.plane import Plane
from naiad.hydro.spatial.sheet import AbstractSheet


def inertia(groups: Sequence[Alike], between: Sequence[Met]) -> Any:
    """M, for JAX to trace."""
    if not between:
        return leading_inertia(groups, between)
    Psi, H = unit_dipoles(groups, between)
    M = H.T @ Psi
    return _with_own(0.5 * (M + M.T), groups, lambda sheet: sheet.added - sheet.alone)


def known_inertia(sheets: Sequence[AbstractSheet], between: Sequence[Coupled]) -> tuple[np.ndarray, list[Any]]:
    """M, and the dipoles of the unit motions of all bodies, in columns, at poses that are known."""
    right = [_beside(sheet.H, k, len(sheets)) for k, sheet in enumerate(sheets)]
    Psi = solve.factorised(sheets, between, right)
    M = np.concatenate([sheet.H.T @ psi for sheet, psi in zip(sheets, Psi, strict=True)])
    own = [_beside(sheet.added - sheet.alone, k, len(sheets)) for k, sheet in enumerate(sheets)]
    return 0.5 * (M + M.T) + np.concatenate(own), Psi


def leading_inertia(groups: Sequence[Alike], between: Sequence[Met]) -> Any:
    """M to first order in what bodies do to each other: M_alone - H . W_alone^-1 (W - W_alone) W_alone^-1 H."""
    gamma = each_body(groups, lambda sheet: sheet.vortices(sheet.inverse @ sheet.H))
    size = 6 * sum(group.count for group in groups)
    M = _with_own(jnp.zeros((size, size)), groups, lambda sheet: sheet.added)
    for pairs, at, kernels in between:

        def add(M: Any, i: Any, j: Any, weight: Any, at: Any, G: Any, bodies: Any, pairs: Any = pairs) -> Any:
            one, other = gamma[pairs.one][i], gamma[pairs.other][j]
            seen = (G @ jnp.einsum("ij,tjm->tim", at.R, other).reshape(-1, 18)).reshape(-1, 6)
            block = -weight * one.reshape(-1, 6).T @ seen
            first, second = bodies
            return added_at(added_at(M, block, 6 * first, 6 * second), block.T, 6 * second, 6 * first)

        M = pairs.added(add, M, pairs.sign * pairs.share, at, kernels, pairs.bodies)
    return M


@jax.custom_jvp
def energy(groups: Sequence[Alike], plane: Plane | None, poses: Pose, Xi: Any) -> Any:
    """Xi . M Xi / 2. It can be differentiated by poses and velocities, not by the sheets."""
    rows = _rows(groups, Xi)
    return 0.5 * Xi @ _momentum(groups, _of_motion(groups, met(groups, plane, poses), rows), rows)


@energy.defjvp
def _change(primals: Any, tangents: Any) -> Any:
    groups, plane, poses, Xi = primals
    _, _, poses_dot, Xi_dot = tangents
    between, rows = met(groups, plane, poses), _rows(groups, Xi)
    psi = _of_motion(groups, between, rows)
    mu = _momentum(groups, psi, rows)
    change = mu @ Xi_dot
    for pairs, at, _ in between:

        def by_pose(i: Any, j: Any, at: Pose, pairs: Any = pairs) -> Pose:
            one, other = pairs.one, pairs.other
            return slope(groups[one].sheet(i), groups[other].sheet(j), at, psi[one][i], psi[other][j])

        by = pairs.each(by_pose, at)
        moved = jax.jvp(lambda poses, pairs=pairs: pairs.poses(poses, plane), (poses,), (poses_dot,))[1]
        pulls = jnp.sum(by.R * moved.R, axis=(1, 2)) + jnp.sum(by.x * moved.x, axis=1)
        change = change - (pairs.sign * pairs.share) @ pulls
    return 0.5 * Xi @ mu, change


def _of_motion(groups: Sequence[Alike], between: Sequence[Met], rows: Blocks) -> Blocks:
    right = each_body(groups, lambda sheet, row: (sheet.H @ row)[:, None], rows)
    return dipoles(groups, between, right)


def _momentum(groups: Sequence[Alike], psi: Blocks, rows: Blocks) -> Any:
    found = each_body(
        groups, lambda sheet, each, row: (sheet.added - sheet.alone) @ row + sheet.H.T @ each[:, 0], psi, rows
    )
    bodies = np.concatenate([group.bodies for group in groups])
    return jnp.concatenate(found)[np.argsort(bodies)].reshape(-1)


def _rows(groups: Sequence[Alike], Xi: Any) -> Blocks:
    """The velocities of the bodies of each group."""
    return [Xi.reshape(-1, 6)[np.asarray(group.bodies)] for group in groups]


def _with_own(M: Any, groups: Sequence[Alike], own: Any) -> Any:
    """With a block of each body's own on the diagonal."""
    for group in groups:

        def add(M: Any, k: Any, body: Any, group: Alike = group) -> Any:
            return added_at(M, own(group.sheet(k)), 6 * body, 6 * body)

        M = folded(add, M, np.arange(group.count), np.asarray(group.bodies))
    return M


def _beside(block: Any, k: int, count: int) -> np.ndarray:
    """A block of six columns as number k of `count`, with zeros beside it."""
    return np.concatenate([block if j == k else np.zeros(np.shape(block)) for j in range(count)], axis=1)
