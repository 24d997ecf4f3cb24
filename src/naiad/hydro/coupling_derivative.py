"""The derivative of the added inertia with respect to all poses, by an adjoint solve with the same factors.

    dM = -rho (a^T dP - mu^T dO) s,     mu^T = b^T + (a^T P - b^T O) (A + O)^-1.

Potentials are real parts of analytic functions, so dP and dO for any motion of a target are its displacement times w'
and w'' there; a motion of the source is the opposite one of the target.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from naiad.hydro.boundary import Boundary, Level
from naiad.hydro.coupling import blocks, functional, matrix, pairs, seen, stacked


def inertia_and_derivative(
    boundaries: Sequence[Boundary], levels: Sequence[Level], poses: Float[np.ndarray, "n 3"], density: float
) -> tuple[np.ndarray, np.ndarray]:
    """M, and dM/dposes with the pose's body and its (beta, x, y) as the last two axes."""
    from scipy.linalg import lu_factor, lu_solve

    found = blocks(levels, poses, np)
    factors = lu_factor(matrix(levels, found, np), overwrite_a=True, check_finite=False)
    s = lu_solve(factors, stacked([level.h for level in levels]), check_finite=False)
    outward = functional(levels, found, np)
    M = density * (stacked([each.inertia for each in boundaries]) - outward @ s)
    mu = stacked([level.b for level in levels]) + lu_solve(factors, outward.T, trans=1, check_finite=False)
    a = stacked([level.a for level in levels])
    ends = np.concatenate([[0], np.cumsum([level.size for level in levels])])
    part = [slice(*ends[k : k + 2]) for k in range(len(levels))]
    dM = np.zeros((*M.shape, len(levels), 3))
    for i, j in pairs(len(levels)):
        change = _of_target(levels[i], levels[j], poses[i], poses[j], a[part[i]], mu[part[i]], s[part[j]])
        dM[:, :, i] -= density * _about(change, poses[i])
        dM[:, :, j] += density * _about(change, poses[j])
    return M, dM


def _of_target(
    target: Level, source: Level, pose: np.ndarray, viewer: np.ndarray, a: np.ndarray, mu: np.ndarray, s: np.ndarray
) -> np.ndarray:
    """a^T dP s - mu^T dO s for a turn about the origin of space and shifts along x and y of the target."""
    z, normal = seen(target, pose, viewer, np)
    to_space = np.exp(-1j * viewer[0])  # w' of space is that of the body, turned back
    velocity = to_space * (source.sources.velocity(z) @ s)
    gradient = to_space**2 * (source.sources.gradient(z) @ s)
    turn = np.exp(1j * pose[0])
    z, normal = (turn * target.z + complex(*pose[1:]))[:, None], (turn * target.normal)[:, None]
    turned = a.T @ (1j * z * velocity).real - mu.T @ (1j * normal * (z * gradient + velocity)).real
    pushed = (a.T + 0j) @ velocity - (mu.T + 0j) @ (normal * gradient)
    return np.stack([turned, pushed.real, -pushed.imag], axis=-1)


def _about(change: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """The same with the turn about a body's origin, i (z - x) = i z + (y - i x)."""
    turned = change[..., 0] + pose[2] * change[..., 1] - pose[1] * change[..., 2]
    return np.concatenate([turned[..., None], change[..., 1:]], axis=-1)
