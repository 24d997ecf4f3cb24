"""The points of bodies about which their inertias have symmetric couplings."""

from typing import Any, NamedTuple

import numpy as np

from naiad.numerics.checks import is_known, namespace

NOTHING = 1e-13  # of sqrt(|J| |M|): a coupling below this is rounding


class Balanced(NamedTuple):
    """J, M and the symmetric couplings D (none where all are rounding) about the points `at`."""

    J: Any
    M: Any
    D: Any
    at: Any


def balanced(K: Any) -> Balanced:
    """Of inertias K = [[J, D], [D^T, M]], 6 x 6 in rows of bodies, moved to where D is symmetric.

    Seen from c the velocity of the origin is V + c x Omega, so that D becomes D - hat(c) M and J becomes
    J + D hat(c) + (D hat(c))^T - hat(c) M hat(c). The skew part of D - hat(c) M is zero for the one
    c = (tr(M) I - M)^-1 vee(D - D^T), since hat(c) M + M hat(c) = hat((tr(M) I - M) c).
    """
    xp = namespace(K)
    J, D, M = K[:, :3, :3], K[:, :3, 3:], K[:, 3:, 3:]
    skew = D - D.swapaxes(1, 2)
    across = xp.trace(M, axis1=1, axis2=2)[:, None, None] * np.eye(3) - M
    at = xp.linalg.solve(across, xp.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)[..., None])[..., 0]
    c = xp.cross(at[:, None, :], np.eye(3)).swapaxes(1, 2)  # hat(at)
    turned = D @ c
    J = _symmetric(J + turned + turned.swapaxes(1, 2) - c @ M @ c)
    D = _symmetric(D - c @ M)
    scale = xp.sqrt(xp.trace(J, axis1=1, axis2=2) * xp.trace(M, axis1=1, axis2=2))[:, None, None]
    if is_known(D) and np.all(np.abs(D) <= NOTHING * scale):
        return Balanced(J, _symmetric(M), None, at)
    return Balanced(J, _symmetric(M), D, at)


def _symmetric(A: Any) -> Any:
    return 0.5 * (A + A.swapaxes(1, 2))
