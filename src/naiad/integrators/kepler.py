"""The flow of Kepler's problem x'' = -k x / |x|^3 in universal variables, for ellipses, parabolas and hyperbolas."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from naiad.mechanics import Scalar
from naiad.numerics.series import stumpff_of_any_sign

Numbers = Float[Array, " N"]
Vectors = Float[Array, "N 3"]

BENT, SHORT = 1e-5, 0.04
"""The largest squares of the bend of Kepler's equation over a correction, and of its angle, for what is left to be
below round-off after one step of Newton's method more."""
MOST_ITERATIONS = 100


class _Constants(NamedTuple):
    """What Kepler's equation t = r_0 X + eta G_2(X) + zeta G_3(X) has of the orbits: distances, radial velocities
    times distance, k - beta r_0, and beta, minus twice the energy."""

    distance: Numbers
    eta: Numbers
    zeta: Numbers
    beta: Numbers


def kepler_flow(
    x: Vectors, v: Vectors, nearness: Numbers, k: Numbers, dt: Scalar
) -> tuple[tuple[Vectors, Vectors, Numbers], Bool[Array, ""]]:
    """Positions, velocities and nearness 1/|x| of some orbits after a time dt, of any sign; and whether Kepler's
    equation was solved.

    x(dt) = x + (f - 1) x + g v with Gauss's functions in G_n = X^n c_n(beta X^2) [rein2015]. The equation is solved by
    a series of third order for the root, and by bisection where that leaves the bracket; a last step of Newton's method
    carries the derivatives.
    """
    way = jnp.where(dt < 0.0, -1.0, 1.0)  # backwards is forwards with the velocities reversed
    time, near = jnp.abs(dt), nearness
    distance, eta = jnp.sum(x * x, axis=1) * near, way * jnp.sum(x * v, axis=1)
    beta = 2.0 * k * near - jnp.sum(v * v, axis=1)
    zeta = k - beta * distance
    X, solved = _solved(*jax.lax.stop_gradient((_Constants(distance, eta, zeta, beta), near, time)))
    G0, G1, G2, G3 = _universal(beta, X)
    end = 1.0 / (distance + eta * G1 + zeta * G2)
    d = end * (time - (distance * X + eta * G2 + zeta * G3))
    end = end - end * end * d * (eta * G0 + zeta * G1)
    G1, G2, G3 = G1 + d * G0, G2 + d * G1, G3 + d * G2
    f, g = -k * near * G2, way * (time - k * G3)
    f_rate, g_rate = -way * k * near * G1 * end, -k * G2 * end
    moved, turned = f[:, None] * x + g[:, None] * v, f_rate[:, None] * x + g_rate[:, None] * v
    return (x + moved, v + turned, end), solved


def _universal(beta: Numbers, X: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """G_n = X^n c_n(beta X^2), each the derivative of the next."""
    square = X * X
    c0, c1, c2, c3 = stumpff_of_any_sign(beta * square)
    return c0, X * c1, square * c2, X * square * c3


class _Approach(NamedTuple):
    """A better X, what time was missing, how much the equation bends on the way there, and whether that is so little
    that Newton's method is at round-off from there."""

    X: Numbers
    missing: Numbers
    bend: Numbers
    found: Bool[Array, " N"]


class _Search(NamedTuple):
    X: Numbers
    low: Numbers
    high: Numbers
    found: Bool[Array, " N"]
    iterations: Any


def _solved(orbits: _Constants, near: Numbers, time: Scalar) -> tuple[Numbers, Bool[Array, ""]]:
    """X >= 0 near the root of Kepler's equation, which rises with X, and whether all are found."""
    distance, eta, zeta, beta = orbits

    def approach(X: Numbers) -> _Approach:
        G0, G1, G2, G3 = _universal(beta, X)
        missing = time - (distance * X + eta * G2 + zeta * G3)
        nearness = 1.0 / (distance + eta * G1 + zeta * G2)
        newton = missing * nearness
        bend = 0.5 * nearness * (eta * G0 + zeta * G1) * newton
        second = nearness * (zeta * G0 - beta * eta * G1) * (newton * newton) / 6.0
        better = X + newton * (1.0 - bend + 2.0 * bend * bend - second)
        short = (bend * bend + jnp.abs(second) <= BENT) & (jnp.abs(beta) * (newton * newton) <= SHORT)
        return _Approach(better, missing, bend, short)

    def bracketed(at: _Search) -> _Search:
        new = approach(at.X)
        low, high = jnp.where(new.missing > 0.0, at.X, at.low), jnp.where(new.missing > 0.0, at.high, at.X)
        trusted = (low <= new.X) & (high >= new.X) & (jnp.abs(new.bend) < 0.4)  # 0.5 far out on a hyperbola
        middle = jnp.where(jnp.isinf(high), 2.0 * at.X, 0.5 * (low + high))
        return _Search(jnp.where(trusted | new.found, new.X, middle), low, high, new.found, at.iterations + 1)

    y = time * near
    guess = y * (1.0 - 0.5 * y * near * (eta - y * (eta * eta * near - zeta / 3.0)))
    first = approach(guess)
    start = _Search(
        jnp.where(first.found, first.X, y),
        jnp.zeros_like(y),
        jnp.full_like(y, jnp.inf),
        first.found,
        jnp.zeros((), int),
    )
    end = jax.lax.while_loop(lambda at: ~jnp.all(at.found) & (at.iterations < MOST_ITERATIONS), bracketed, start)
    return end.X, jnp.all(end.found)
