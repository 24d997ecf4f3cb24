"""What a gait costs, from rest. The kinetic energy is then v . K v / 2 with v = (- A theta', theta'), a metric on the
space of shapes, and the torques are those of a motion in it: the momentum of the whole vanishes and stays so."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute_rows
from naiad.errors import InputError
from naiad.locomotion.checks import check_free
from naiad.locomotion.cycle import Cycle, shapes_with_slopes
from naiad.locomotion.gait import AbstractGait, ShapeMotion
from naiad.locomotion.swimmer import COUPLED, Swimmer, inertia_with_slopes
from naiad.locomotion.torques import hinge_torques
from naiad.mechanics.connection import connection_of


class Cost(NamedTuple):
    """A cost of one period, and its derivatives by the numbers of the gait."""

    value: float
    slopes: Float[np.ndarray, " p"]


def action(run: Cycle) -> Cost:
    """The integral of twice the kinetic energy, v . K v, over the period; (K v)_g = 0, so that xi drops out of its
    derivatives."""
    v = np.concatenate([run.xi, run.shape.rates], axis=1)
    momenta = np.einsum("sij,sj->si", run.K, v)
    by_theta = np.einsum("si,smij,sj->sm", v, run.K_slopes, v)
    slopes = np.einsum("sm,smp->sp", by_theta, run.shape_slopes.theta)
    slopes += 2.0 * np.einsum("sm,smp->sp", momenta[:, run.xi.shape[1] :], run.shape_slopes.rates)
    return Cost(float(run.weights @ np.sum(v * momenta, axis=1)), run.weights @ slopes)


def positive_work(swimmer: Swimmer, gait: AbstractGait, count: int = 512) -> Cost:
    """The work that the joints do: for each the integral of its power tau theta' where that is positive. What a joint
    takes back at other times is lost. The power is linear between `count` times a period, and cut off where that
    crosses 0. The derivatives need those of the inertia twice, by automatic differentiation."""
    check_free(swimmer)
    if isinstance(swimmer.fluid, COUPLED):
        raise InputError(
            "The derivatives of the work need the inertia as a formula, and coupled links have none; expected links "
            "that are alone in the fluid, or a swimmer with a table: tabulated(swimmer, low, high)."
        )
    step = float(gait.period) / count
    shape, shape_slopes = shapes_with_slopes(gait, step * np.arange(count))
    power, *by = execute_rows(_power_with_slopes, swimmer, *shape, parameters=(0,))
    slopes = sum(np.einsum("sam,smp->sap", each, slope) for each, slope in zip(by, shape_slopes, strict=True))
    after = np.roll(power, -1, axis=0)
    high, low = np.maximum(power, after), np.minimum(power, after)
    crossing = (high > 0.0) & (low < 0.0)
    gap = np.where(crossing, high - low, 1.0)
    area = np.where(crossing, 0.5 * high**2 / gap, np.maximum(0.5 * (power + after), 0.0))
    by_high = np.where(crossing, 0.5 * high * (high - 2.0 * low) / gap**2, 0.5 * (low >= 0.0) * (high > 0.0))
    by_low = np.where(crossing, 0.5 * (high / gap) ** 2, 0.5 * (low >= 0.0) * (high > 0.0))
    first = power >= after
    weights = np.where(first, by_high, by_low) + np.roll(np.where(first, by_low, by_high), 1, axis=0)
    return Cost(float(step * np.sum(area)), step * np.einsum("sa,sap->p", weights, slopes))


def torques(swimmer: Swimmer, shape: ShapeMotion) -> Float[Array, " m"]:
    """The torques at the joints, from rest."""
    K, slopes = inertia_with_slopes(swimmer, shape.theta)
    xi = -(connection_of(K, swimmer.frame.dim) @ shape.rates)
    return hinge_torques((swimmer.frame, swimmer.shapes), K, slopes, xi, shape)[0]


def _power(swimmer: Swimmer, *motion: Any) -> Float[Array, " m"]:
    shape = ShapeMotion(*motion)
    return torques(swimmer, shape) * shape.rates


def _power_with_slopes(swimmer: Swimmer, *motion: Any) -> Any:
    """The power of each joint, and its derivatives by theta, theta' and theta'' along the last axis."""

    def along(which):
        def change(e):
            tangents = tuple(e if k == which else jnp.zeros_like(each) for k, each in enumerate(motion))
            return jax.jvp(lambda *given: _power(swimmer, *given), motion, tangents)[1]

        return jax.vmap(change, out_axes=-1)(jnp.eye(motion[0].shape[0]))

    return _power(swimmer, *motion), along(0), along(1), along(2)
