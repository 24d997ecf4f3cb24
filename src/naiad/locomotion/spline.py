"""Gaits through given shapes."""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.locomotion.gait import AbstractGait
from naiad.mechanics import Scalar
from naiad.numerics.checks import floats, positive

DEGREE = 5
FEWEST = DEGREE + 1


class SplineGait(AbstractGait):
    """The periodic quintic spline through `points`, a row of angles for each of n equal parts of the period:
    theta(k period / n) = points_k. Its first four derivatives are continuous."""

    points: Any
    period: Any = 2.0 * np.pi

    @classmethod
    def of(cls, points: Any, period: float = 2.0 * np.pi) -> "SplineGait":
        """The gait through these shapes, checked."""
        array = floats("points", points)
        period = positive("period", period)
        if array.ndim != 2 or len(array) < FEWEST or not array.size or not np.all(np.isfinite(array)):
            raise InputError(
                f"A spline gait through points of shape {array.shape}; expected at least {FEWEST} rows of finite "
                "numbers, one for each angle (the first row is not repeated at the end)."
            )
        return cls(array, period)

    def __call__(self, t: Scalar) -> Float[Array, " m"]:
        points = jnp.asarray(self.points)
        count = points.shape[0]
        u = count * (t / self.period)
        whole = jnp.floor(u)
        coefficients = jnp.asarray(_from_points(count)) @ points
        which = jnp.mod(whole, count).astype(int)
        rows = jnp.mod(which + jnp.arange(DEGREE + 1), count)
        weights = functools.reduce(lambda value, row: value * (u - whole) + row, _PIECES[::-1])
        return weights @ coefficients[rows]


def _pieces(degree: int) -> np.ndarray:
    """The cardinal B-spline M on its intervals: [p, k] is the coefficient of s^p in M(s + degree - k), from
    n M_n(x) = x M_{n-1}(x) + (n + 1 - x) M_{n-1}(x - 1)."""
    pieces = np.ones((1, 1))  # row q: M(s + q) in powers of s
    for n in range(1, degree + 1):
        same, before = np.pad(pieces, ((0, 1), (0, 1))), np.pad(pieces, ((1, 0), (0, 1)))
        q = np.arange(n + 1.0)[:, None]
        pieces = (q * same + np.roll(same, 1, 1) + (n + 1.0 - q) * before - np.roll(before, 1, 1)) / n
    return pieces[::-1].T


_PIECES = _pieces(DEGREE)


@functools.cache
def _from_points(count: int) -> np.ndarray:
    """The matrix that makes the coefficients of the spline from its values."""
    values = np.zeros((count, count))
    for k, value in enumerate(_PIECES[0]):
        values[np.arange(count), (np.arange(count) + k) % count] += value
    return np.linalg.inv(values)
