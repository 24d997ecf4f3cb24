"""The area rule: the displacement of a gait estimated from the curvature that its loop encloses.

A small loop moves the swimmer by exp(-F s), s its area. For a large one the rule is only an estimate, because motions
at different shapes do not commute, and how good it is depends on the frame in which curvatures are added up.
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
from naiad.locomotion.cycle import shapes_with_slopes
from naiad.locomotion.gait import AbstractGait
from naiad.mechanics.connection import connection_of, curvature_of
from naiad.numerics.arguments import checked_throughout
from naiad.retractions import Exponential

ITERATIONS = 24


class AreaRule(NamedTuple):
    """Three estimates of the displacement of one period, poses:

    - `plain`: exp of - the integral of A along the loop, which by Stokes is the integral of dA alone;
    - `curvature`: exp of - the integral of F = dA - [A, A] over the enclosed area [hatton2011];
    - `transported`: the same with each F carried to the centre of the loop along a ray, as the theorem of Stokes for
      connections has it. It is the first term of an exact expansion, in a frame in which the connection vanishes at the
      centre and along all rays.
    """

    plain: Any
    curvature: Any
    transported: Any


@checked_throughout
def area_rule(
    swimmer: AbstractSwimmer, gait: AbstractGait, *, centre: Any = None, rays: int = 192, nodes: int = 12
) -> AreaRule:
    """The estimates for a gait, whose loop is filled by rays from `centre` (the mean of the gait).

    Loops may cross themselves, and there may be more than two angles. `rays` and the `nodes` on each are those of the
    quadrature, whose error falls exponentially.
    """
    check_free(swimmer)
    if rays < 8 or nodes < 2:
        raise InputError(f"rays = {rays}, nodes = {nodes}; expected at least 8 rays and 2 nodes.")
    frame, weight = swimmer.frame, float(gait.period) / rays
    shape, _ = shapes_with_slopes(gait, weight * np.arange(rays))
    middle = np.mean(shape.theta, axis=0) if centre is None else np.asarray(centre, float)
    spokes = shape.theta - middle
    rule = _gauss(nodes)
    inside = middle + rule.places[:, None] * spokes[:, None, :]
    K, slopes = (
        each.reshape(rays, nodes, *each.shape[1:])
        for each in swimmer.inertias_with_slopes(inside.reshape(-1, swimmer.angle_count))
    )
    plain, flat, carried, ends = execute_rows(
        _spoke, (frame, rule), swimmer.inertias(shape.theta), K, slopes, spokes, shape.rates, parameters=(0,)
    )
    sums = [weight * np.sum(each, axis=0) for each in (plain, flat, carried)]
    return AreaRule(*execute(_poses, frame, *sums, ends[0], parameters=(0,)))


class _Rule(NamedTuple):
    """Gauss's rule on (0, 1), with the integrals from 0 to each of its places."""

    places: Float[np.ndarray, " n"]
    weights: Float[np.ndarray, " n"]
    partial: Float[np.ndarray, "n n"]


def _gauss(nodes: int) -> _Rule:
    x, w = np.polynomial.legendre.leggauss(nodes)
    powers = np.polynomial.legendre.legvander(x, nodes)
    values = np.linalg.inv(powers[:, :nodes])  # from values to Legendre's coefficients
    lower = np.concatenate([np.zeros((nodes, 1)), powers[:, : nodes - 1]], axis=1)
    degree = np.arange(nodes)
    integrals = (powers[:, 1:] - lower) / (2.0 * degree + 1.0)
    integrals[:, 0] = x + 1.0
    return _Rule(0.5 * (x + 1.0), 0.5 * w, 0.5 * integrals @ values)


def _spoke(
    given: tuple[AbstractGroup, _Rule],
    rim: Float[Array, "N N"],
    K: Float[Array, "n N N"],
    slopes: Float[Array, "n m N N"],
    spoke: Float[Array, " m"],
    rates: Float[Array, " m"],
) -> tuple[Any, Any, Any, Any]:
    """What one ray adds to the three integrals; and Theta at its end, the motion from the centre being exp(Theta)."""
    frame, rule = given
    exp, d = Exponential(), frame.dim
    xi = jax.vmap(lambda inertia: -(connection_of(inertia, d) @ spoke))(K)
    weights, partial = jnp.asarray(rule.weights), jnp.asarray(rule.partial)

    def slope(Theta):
        return jax.vmap(lambda x, velocity: exp.dtau_inv(frame, -x, velocity))(Theta, xi)

    k = jax.lax.fori_loop(0, ITERATIONS, lambda _, k: slope(partial @ k), xi)
    Theta = partial @ k
    F = jax.vmap(lambda inertia, slope: curvature_of(frame, inertia, slope))(K, slopes)
    swept = jnp.einsum("nabd,a,b,n->nd", F, spoke, rates, weights * jnp.asarray(rule.places))
    carried = jax.vmap(lambda x, value: frame.Ad(frame.exp(x), value))(Theta, swept)
    return -(connection_of(rim, d) @ rates), -jnp.sum(swept, axis=0), -jnp.sum(carried, axis=0), weights @ k


def _poses(frame: AbstractGroup, plain: Any, flat: Any, carried: Any, end: Any) -> tuple[Any, Any, Any]:
    out = frame.exp(end)
    return frame.exp(plain), frame.exp(flat), frame.compose(frame.compose(frame.inverse(out), frame.exp(carried)), out)
