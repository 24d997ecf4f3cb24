"""The motion of a swimmer that changes its shape in a given way: g' = g xi, xi = K_gg^-1 Ad*_g J - A(theta) theta'.

J is the momentum in space, which is conserved; without it the motion is that of the connection alone, the geometric
phase. Gauss's collocation at three points of the algebra [hairer2006, section IV.8] is of sixth order, and needs the
inertia at times that are known beforehand, whatever g will be.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute, execute_rows
from naiad.errors import InputError
from naiad.groups import AbstractGroup
from naiad.locomotion.abstract_swimmer import AbstractSwimmer
from naiad.locomotion.checks import check_free
from naiad.locomotion.gait import AbstractGait, ShapeMotion
from naiad.mechanics import Scalar
from naiad.mechanics.connection import connection_of
from naiad.numerics import PARTITIONED, check_double, check_rotations, inverse
from naiad.numerics.arguments import checked_throughout
from naiad.retractions import Exponential

GAUSS = PARTITIONED["gauss3"]
ITERATIONS = 10
STEPS = 96
"""Steps a period, if not given: the fish of the paper swims 41 m with an error of 1.5e-10 m."""


class Stages(NamedTuple):
    """xi = drift + mobility Ad*_g J at the three times of a step; drift = - A theta', mobility = K_gg^-1."""

    drift: Float[Array, "... 3 d"]
    mobility: Float[Array, "... 3 d d"]


class Reconstruction(NamedTuple):
    """A motion at times: poses of the base, stacked; its velocity xi; and the shape. The geometric phase is what the
    changes of shape do alone; the pose is the dynamic phase, which the momentum adds, times the geometric one."""

    times: np.ndarray
    g: Any
    xi: np.ndarray
    theta: np.ndarray
    rates: np.ndarray
    geometric: Any
    dynamic: Any


@checked_throughout
def reconstruct(
    swimmer: AbstractSwimmer,
    gait: AbstractGait,
    times: Any,
    *,
    start: Any = None,
    momentum: Any = None,
    steps: int = STEPS,
) -> Reconstruction:
    """The motion from the pose `start` (the identity) at times[0], with the `momentum` J in space (none).

    `times` grow; between them there are at least `steps` steps a period.
    """
    check_free(swimmer)
    times = growing(times)
    h, kept = steps_between(times, float(gait.period) / steps)
    nodes = (times[0] + np.concatenate([[0.0], np.cumsum(h)[:-1]]))[:, None] + h[:, None] * np.asarray(GAUSS.c)
    shapes = execute_rows(shape_at, gait, nodes.ravel(), parameters=(0,))
    K = swimmer.inertias(shapes.theta)
    flat = execute_rows(stage, swimmer.frame, K, shapes.rates, parameters=(0,))
    stages = Stages(*(each.reshape(len(h), 3, *each.shape[1:]) for each in flat))
    first = jax.tree.map(np.asarray, swimmer.frame.identity() if start is None else start)
    for R in swimmer.frame.rotations(first):
        check_rotations("The attitude of start", R)
    J = np.zeros(swimmer.frame.dim) if momentum is None else np.asarray(momentum, float)
    g, geometric = (
        jax.tree.map(
            lambda leaf: np.asarray(leaf)[kept],
            execute(_transport, swimmer.frame, first, h, stages, value, parameters=(0,)),
        )
        for value in (J, 0.0 * J)
    )
    at = execute_rows(shape_at, gait, times, parameters=(0,))
    now = execute_rows(stage, swimmer.frame, swimmer.inertias(at.theta), at.rates, parameters=(0,))
    xi, dynamic = execute_rows(_completed, (swimmer.frame, J), g, geometric, now, parameters=(0,))
    return Reconstruction(times, g, xi, at.theta, at.rates, geometric, dynamic)


def stage(frame: AbstractGroup, K: Float[Array, "n n"], rates: Float[Array, " m"]) -> Stages:
    """Drift and mobility at a shape that changes at these rates."""
    d = frame.dim
    return Stages(-(connection_of(K, d) @ rates), inverse(K[:d, :d]))


def _step(frame: AbstractGroup, g: Any, h: Scalar, stages: Stages, J: Any) -> Any:
    """g exp(Theta), Theta' = dexp^-1_{-Theta} xi by collocation, the stages by iteration from Theta = 0 on."""
    exp, a, b = Exponential(), jnp.asarray(GAUSS.a), jnp.asarray(GAUSS.b)

    def slope(i, Theta):
        carried = frame.Ad_dual(frame.compose(g, frame.exp(Theta)), J)
        return exp.dtau_inv(frame, -Theta, stages.drift[i] + stages.mobility[i] @ carried)

    def slopes(_, k):
        return jnp.stack([slope(i, Theta) for i, Theta in enumerate(h * a @ k)])

    k = jax.lax.fori_loop(0, ITERATIONS, slopes, jnp.zeros_like(stages.drift))
    return frame.compose(g, frame.exp(h * b @ k))


def _transport(frame: AbstractGroup, g: Any, h: Float[Array, " s"], stages: Stages, J: Float[Array, " d"]) -> Any:
    """The poses before the first and after each step."""

    def advance(g, each):
        length, nodes = each
        g = _step(frame, g, length, nodes, J)
        return g, g

    _, path = jax.lax.scan(advance, g, (h, stages))
    return jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), g, path)


def _completed(given: tuple[AbstractGroup, Any], g: Any, geometric: Any, now: Stages) -> tuple[Any, Any]:
    """The velocity and the dynamic phase."""
    frame, J = given
    xi = now.drift + now.mobility @ frame.Ad_dual(g, J)
    return xi, frame.compose(g, frame.inverse(geometric))


def shape_at(gait: AbstractGait, t: Scalar) -> ShapeMotion:
    """theta, theta' and theta'' at t."""
    return gait.motion(t)


def growing(times: Any) -> np.ndarray:
    """The times as an array, or an `InputError`."""
    check_double("times", times)
    array = np.atleast_1d(np.asarray(times, float))
    if array.ndim != 1 or array.size < 2 or not np.all(np.isfinite(array)) or np.any(np.diff(array) <= 0.0):
        raise InputError(f"times = {times!r}; expected at least two finite numbers that grow.")
    return array


def steps_between(times: np.ndarray, longest: float) -> tuple[np.ndarray, np.ndarray]:
    """Steps no longer than `longest` that meet all times, and where in the path these are."""
    gaps = np.diff(times)
    counts = np.maximum(1, np.ceil(gaps / longest - 1e-9).astype(int))
    return np.repeat(gaps / counts, counts), np.concatenate([[0], np.cumsum(counts)])
