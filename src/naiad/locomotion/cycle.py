"""One period of a gait from rest, at the nodes of the integration, with its derivatives by the gait's numbers."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute_rows
from naiad.groups import AbstractGroup
from naiad.locomotion.abstract_swimmer import AbstractSwimmer
from naiad.locomotion.checks import check_free
from naiad.locomotion.gait import AbstractGait, ShapeMotion
from naiad.locomotion.numbers import numbers, with_numbers
from naiad.locomotion.reconstruction import GAUSS
from naiad.mechanics import Scalar
from naiad.numerics import solve


class Cycle(NamedTuple):
    """A period in steps of length h, at three nodes each: the shape and its derivatives in time, the velocity xi of the
    base and the inertia; and how shape and xi change with each number p of the gait."""

    h: float
    shape: Any
    shape_slopes: Any
    xi: Float[np.ndarray, "s d"]
    xi_slopes: Float[np.ndarray, "s d p"]
    K: Float[np.ndarray, "s n n"]
    K_slopes: Float[np.ndarray, "s m n n"]

    @property
    def weights(self) -> Float[np.ndarray, " s"]:
        """Of an integral over the period."""
        return self.h * np.tile(np.asarray(GAUSS.b), len(self.xi) // 3)


def cycle(swimmer: AbstractSwimmer, gait: AbstractGait, steps: int) -> Cycle:
    """The gait from t = 0 on."""
    check_free(swimmer)
    h = float(gait.period) / steps
    times = h * (np.arange(steps)[:, None] + np.asarray(GAUSS.c)).ravel()
    shape, slopes = shapes_with_slopes(gait, times)
    K, K_slopes = swimmer.inertias_with_slopes(shape.theta)
    xi, by_theta, by_rates = execute_rows(_velocity, swimmer.frame, K, K_slopes, shape.rates, parameters=(0,))
    xi_slopes = np.einsum("sda,sap->sdp", by_theta, slopes.theta) + np.einsum("sda,sap->sdp", by_rates, slopes.rates)
    return Cycle(h, shape, slopes, xi, xi_slopes, K, K_slopes)


def shapes_with_slopes(gait: AbstractGait, times: Any) -> tuple[Any, Any]:
    """The `ShapeMotion` at times, in rows, and its derivatives by the numbers of the gait along the last axis."""
    return execute_rows(_shape, (), gait, np.asarray(times, float), parameters=(), shared=(1,))


def _shape(_: Any, gait: AbstractGait, t: Scalar) -> tuple[ShapeMotion, ShapeMotion]:
    given = numbers(gait)

    def motion(vector):
        return with_numbers(gait, vector).motion(t)

    slopes = jax.vmap(lambda e: jax.jvp(motion, (given,), (e,))[1], out_axes=-1)(jnp.eye(given.shape[0]))
    return motion(given), slopes


def _velocity(
    frame: AbstractGroup, K: Float[Array, "n n"], slopes: Float[Array, "m n n"], rates: Float[Array, " m"]
) -> tuple[Any, Any, Any]:
    """xi = - A theta', and its derivatives by theta and by theta': K_gg dxi = - (dK v)_g, v = (xi, theta')."""
    d = frame.dim
    A = solve(K[:d, :d], K[:d, d:])
    xi = -(A @ rates)
    v = jnp.concatenate([xi, rates])
    return xi, -solve(K[:d, :d], (slopes[:, :d] @ v).T), -A
