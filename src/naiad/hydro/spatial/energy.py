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
from naiad.hydro.spatial.kernel import slope
from naiad.hydro.spatial.pairs import Coupled, coupled, relative
from naiad.hydro.spatial.plane import Plane
from naiad.hydro.spatial.sheet import AbstractSheet
from naiad.hydro.spatial.solve import dipoles, factorised


def unit_dipoles(sheets: Sequence[AbstractSheet], between: Sequence[Coupled], xp: Any) -> list[Any]:
    """The dipoles of the unit motions of all bodies, in columns."""
    return factorised(sheets, between, [_beside(sheet.H, k, len(sheets), xp) for k, sheet in enumerate(sheets)], xp)


def inertia(sheets: Sequence[AbstractSheet], Psi: Sequence[Any], xp: Any) -> Any:
    """M, from the dipoles of the unit motions."""
    M = xp.concatenate([sheet.H.T @ psi for sheet, psi in zip(sheets, Psi, strict=True)])
    own = [_beside(sheet.added - sheet.alone, k, len(sheets), xp) for k, sheet in enumerate(sheets)]
    return 0.5 * (M + M.T) + xp.concatenate(own)


def leading_inertia(sheets: Sequence[AbstractSheet], between: Sequence[Coupled]) -> Any:
    """M to first order in what bodies do to each other: M_alone - H . W_alone^-1 (W - W_alone) W_alone^-1 H."""
    blocks = [[jnp.zeros((6, 6)) for _ in sheets] for _ in sheets]
    gamma = [sheet.vortices(jnp.asarray(sheet.inverse) @ sheet.H) for sheet in sheets]
    for k, sheet in enumerate(sheets):
        blocks[k][k] = jnp.asarray(sheet.added)
    for pair, at, G in between:
        i, j = pair.first, pair.second
        seen = jnp.einsum("ij,tjm->tim", at.R, gamma[j])
        part = -pair.sign * gamma[i].reshape(-1, 6).T @ (G @ seen.reshape(G.shape[1], -1)).reshape(-1, 6)
        blocks[i][j] = blocks[i][j] + (part if i != j else 0.5 * (part + part.T))
        if i != j:
            blocks[j][i] = blocks[j][i] + part.T
    return jnp.concatenate([jnp.concatenate(row, axis=1) for row in blocks])


@jax.custom_jvp
def energy(sheets: Sequence[AbstractSheet], plane: Plane | None, poses: Pose, Xi: Any) -> Any:
    """Xi . M Xi / 2. It can be differentiated by poses and velocities, not by the sheets."""
    psi = _of_motion(sheets, coupled(sheets, plane, poses, jnp), Xi)
    return 0.5 * Xi @ _momentum(sheets, psi, Xi)


@energy.defjvp
def _change(primals: Any, tangents: Any) -> Any:
    sheets, plane, poses, Xi = primals
    _, _, poses_dot, Xi_dot = tangents
    between = coupled(sheets, plane, poses, jnp)
    psi = _of_motion(sheets, between, Xi)
    mu = _momentum(sheets, psi, Xi)
    change = mu @ Xi_dot
    for pair, at, _ in between:

        def where(poses: Pose, pair: Any = pair) -> Pose:
            return relative(pair, poses, plane, jnp)

        moved = jax.jvp(where, (poses,), (poses_dot,))[1]
        i, j = pair.first, pair.second
        by = slope(sheets[i], sheets[j], at, psi[i], psi[j])
        change = change - pair.sign * pair.share * (jnp.sum(by.R * moved.R) + by.x @ moved.x)
    return 0.5 * Xi @ mu, change


def _of_motion(sheets: Sequence[AbstractSheet], between: Sequence[Coupled], Xi: Any) -> list[Any]:
    right = [jnp.asarray(sheet.H) @ row[:, None] for sheet, row in zip(sheets, Xi.reshape(-1, 6), strict=True)]
    return dipoles(sheets, between, right)


def _momentum(sheets: Sequence[AbstractSheet], psi: list[Any], Xi: Any) -> Any:
    parts = []
    for sheet, each, row in zip(sheets, psi, Xi.reshape(-1, 6), strict=True):
        parts.append(jnp.asarray(sheet.added - sheet.alone) @ row + jnp.asarray(sheet.H).T @ each[:, 0])
    return jnp.concatenate(parts)


def _beside(block: Any, k: int, count: int, xp: Any) -> Any:
    """A block of six columns as number k of `count`, with zeros beside it."""
    return xp.concatenate([block if j == k else xp.zeros(np.shape(block)) for j in range(count)], axis=1)
