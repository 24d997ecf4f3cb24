"""Two sheets: the energy of vortices gamma and delta at points,

    gamma_s . R delta_t / (4 pi r),   r = |x_s - (R y_t + x)|,

(R, x) the pose of the second in the frame of the first. It is that of dipoles, integrated by parts: of dipoles that are
put into the same points the energy errs a hundred times more.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from naiad.groups.se3 import Pose
from naiad.hydro.spatial.sheet import AbstractSheet

BLOCK = 2**15
"""Pairs of points that NumPy treats at once: what stays in a fast cache."""


def kernel(one: AbstractSheet, other: AbstractSheet, at: Pose, xp: Any) -> Any:
    """The sums of 1/(4 pi r) over the points of each pair of sites."""
    x, y = one.points, other.points @ at.R.T + at.x
    if xp is not np:
        return _inverse_distances(x, y, xp)
    rows = max(1, BLOCK // len(y))
    return np.concatenate([_inverse_distances(x[k : k + rows], y, np) for k in range(0, len(x), rows)])


def energies(one: AbstractSheet, other: AbstractSheet, at: Pose, G: Any, xp: Any) -> Any:
    """Those of the functions of the first, in rows, with those of the second."""
    after = [other.curled(G, c, xp) for c in range(3)]
    along: list[Any] = [sum(at.R[i, j] * after[j] for j in range(3)) for i in range(3)]
    found: Any = sum(one.curled(each.T, c, xp) for c, each in enumerate(along))
    return found.T


def slope(one: AbstractSheet, other: AbstractSheet, at: Pose, psi: Any, phi: Any) -> Pose:
    """The derivatives of the energy of psi and phi, a column each, by the entries of R and x."""
    gamma, delta = one.vortices(psi)[:, :, 0], other.vortices(phi)[:, :, 0]
    x, y = one.points, other.points @ at.R.T + at.x
    product = gamma @ (delta @ at.R.T).T
    by_R, by_x = jnp.zeros((3, 3)), jnp.zeros(3)
    for j in range(y.shape[1]):
        pull = jnp.zeros_like(y[:, j])
        for i in range(x.shape[1]):
            over = 1.0 / jnp.sqrt(_square(x[:, i], y[:, j]))
            weight = product * over * over * over
            pull = pull + (weight.T @ x[:, i] - jnp.sum(weight, axis=0)[:, None] * y[:, j])
            by_R = by_R + gamma.T @ (over @ delta)
        by_R, by_x = by_R + pull.T @ other.points[:, j], by_x + jnp.sum(pull, axis=0)
    return Pose(by_R * (0.25 / np.pi), by_x * (0.25 / np.pi))


def slopes(one: AbstractSheet, other: AbstractSheet, at: Pose, psi: np.ndarray, phi: np.ndarray) -> Any:
    """The derivatives of the energies of all columns of psi with all of phi, by turns of the second about its own axes
    and by x: two arrays (columns, columns, 3)."""
    gamma, delta, m = one.vortices(psi), other.vortices(phi), psi.shape[1]
    sites, k = other.points.shape[:2]
    y, flat = other.points @ at.R.T + at.x, gamma.reshape(len(gamma), -1)
    pull, field = (
        np.zeros((k, 3, sites, 3 * m)),
        np.zeros((sites, 3 * m)),
    )  # sums over s of gamma r / r^3, and gamma / r
    rows = max(1, BLOCK // len(gamma))
    for first in range(0, sites, rows):
        here = slice(first, first + rows)
        for j in range(k):
            cubes: list[Any] = [0.0, 0.0, 0.0]
            direct: Any = 0.0
            for i in range(one.points.shape[1]):
                r = [one.points[None, :, i, c] - y[here, j, None, c] for c in range(3)]
                over = 1.0 / np.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
                direct = direct + over
                over = over * over * over
                cubes = [total + over * each for total, each in zip(cubes, r, strict=True)]
            field[here] += direct @ flat
            for c in range(3):
                pull[j, c, here] = cubes[c] @ flat
    pull = pull.reshape(k, 3, sites, 3, m)
    turned = np.einsum("ij,tjm->tim", at.R, delta)
    by_x, by_turn = np.zeros((m, m, 3)), np.zeros((m, m, 3))
    for j in range(k):
        for c in range(3):
            by_x[:, :, c] += np.tensordot(pull[j, c], turned, ((0, 1), (0, 1)))
    for axis, e in enumerate(np.eye(3)):
        spun = np.einsum("ij,tjm->tim", at.R, np.cross(e, delta, axisb=1, axisc=1))
        by_turn[:, :, axis] = np.tensordot(field.reshape(sites, 3, m), spun, ((0, 1), (0, 1)))
        for j in range(k):
            arm = np.cross(e, other.points[:, j]) @ at.R.T
            moved = np.einsum("ctim,tc->tim", pull[j], arm)
            by_turn[:, :, axis] += np.tensordot(moved, turned, ((0, 1), (0, 1)))
    return by_turn * (0.25 / np.pi), by_x * (0.25 / np.pi)


def _inverse_distances(x: Any, y: Any, xp: Any) -> Any:
    total: Any = 0.0
    for i in range(x.shape[1]):
        for j in range(y.shape[1]):
            total = total + 1.0 / xp.sqrt(_square(x[:, i], y[:, j]))
    return total * (0.25 / np.pi)


def _square(x: Any, y: Any) -> Any:
    total: Any = 0.0
    for c in range(3):
        r = x[:, c, None] - y[None, :, c]
        total = total + r * r
    return total
