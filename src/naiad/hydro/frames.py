"""Inertias about other points and axes, and in the order of other codes."""

from typing import Any

import numpy as np
from jaxtyping import Float

from naiad.errors import InputError
from naiad.hydro.rotation import rotation_matrix
from naiad.numerics import check_double
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import vector

Inertia = Float[np.ndarray, "n n"]
"""6 x 6 for xi = (Omega, v) in space, 3 x 3 for (Omega, v_x, v_y) in the plane: angular first, in the body frame."""


def hat(x: Any) -> np.ndarray:
    """The skew matrix with hat(x) y = x cross y."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


@checked_throughout
def moved(K: Any, x: Any = None, R: Any = None) -> Inertia:
    """The inertia in a frame where its own lies at x, turned by R: Ad_{g^-1}^T K Ad_{g^-1}, g = (R, x).

    The energy of a motion is the same from both: xi of the old frame is Ad_{g^-1} of that of the new one. R is a
    rotation matrix, its columns the old axes in the new frame; in the plane an angle in radians.
    """
    K = _square(K)
    return congruence(K, motion_there(len(K), x, R))


def motion_there(size: int, x: Any, R: Any) -> np.ndarray:
    """Ad_{g^-1}, g = (R, x), of space (6 x 6) or of the plane (3 x 3)."""
    return velocity_there(x, R) if size == 6 else _planar_velocity_there(x, R)


def congruence(K: np.ndarray, A: np.ndarray) -> Inertia:
    """A^T K A, exactly symmetric."""
    product = A.T @ K @ A
    return 0.5 * (product + product.T)


@checked_throughout
def linear_first(K: Any) -> np.ndarray:
    """From (angular, linear) to (linear, angular), the order of Fossen, Capytaine and Pinocchio: a matrix or a vector
    of six, or of three in the plane."""
    return _reordered(K, {6: [3, 4, 5, 0, 1, 2], 3: [1, 2, 0]})


@checked_throughout
def angular_first(K: Any) -> np.ndarray:
    """From (linear, angular) to (angular, linear): the inverse of `linear_first`."""
    return _reordered(K, {6: [3, 4, 5, 0, 1, 2], 3: [2, 0, 1]})


def _reordered(value: Any, orders: dict[int, list[int]]) -> np.ndarray:
    check_double("The inertia or wrench", value)
    array = np.asarray(value, dtype=float)
    if array.ndim not in (1, 2) or len(set(array.shape)) != 1 or len(array) not in orders:
        raise InputError(f"An inertia or a wrench of shape {array.shape}; expected 6 or 6 x 6, or 3 or 3 x 3.")
    order = orders[len(array)]
    return array[order] if array.ndim == 1 else array[np.ix_(order, order)]


def _square(K: Any) -> np.ndarray:
    check_double("The inertia", K)
    array = np.asarray(K, dtype=float)
    if array.shape not in ((6, 6), (3, 3)) or not np.isfinite(array).all():
        raise InputError(f"An inertia of shape {array.shape}; expected finite numbers, 6 x 6, or 3 x 3 in the plane.")
    return array


def velocity_there(x: Any, R: Any) -> np.ndarray:
    """Ad_{g^-1}: (Omega, v) -> (R^T Omega, R^T (v + Omega x x))."""
    back = np.eye(3) if R is None else rotation_matrix("R", R).T
    whole = np.zeros((6, 6))
    whole[:3, :3] = whole[3:, 3:] = back
    if x is not None:
        whole[3:, :3] = -back @ hat(vector("x", x))
    return whole


def _planar_velocity_there(x: Any, angle: Any) -> np.ndarray:
    """Ad_{g^-1} of the plane: (Omega, v) -> (Omega, R^T (v + Omega (-x_2, x_1)))."""
    (beta,) = vector("R", [0.0 if angle is None else angle], 1)
    (x1, x2), (c, s) = vector("x", np.zeros(2) if x is None else x, 2), (np.cos(beta), np.sin(beta))
    back = np.array([[c, s], [-s, c]])
    return np.block([[np.ones((1, 1)), np.zeros((1, 2))], [(back @ [-x2, x1])[:, None], back]])
