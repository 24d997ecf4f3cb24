"""Functions of a rotation angle theta that are smooth at theta = 0, written in u = theta^2.

The only file with small-angle branches. Below `SWITCH` a function is its Taylor polynomial, above it its closed form;
the switch lies so high that neither the values nor the derivatives of the closed forms cancel there. Derivatives come
by automatic differentiation; those of Stumpff functions are Stumpff functions. The argument of the unused branch is
replaced by a harmless one, so that no derivative meets 0/0 or an overflow. Long ones are under `jax.jit`, so that a
program traces each of them once.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

SWITCH = 9.0
STUMPFF_TERMS = 17
ARCTAN_TERMS = 26

Scalar = Float[Array, ""]


def horner(coefficients: Sequence[float], u: Scalar) -> Scalar:
    """The polynomial sum_j coefficients[j] u^j."""
    value = jnp.full_like(u, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value = coefficient + u * value
    return value


def estrin(coefficients: Sequence[float], u: Scalar) -> Scalar:
    """The same polynomial, by pairs of terms that do not wait for each other; the last three in turn."""
    terms: list[Any] = list(coefficients)
    while len(terms) > 3:
        pairs = [low + u * high for low, high in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + ([terms[-1]] if len(terms) % 2 else [])
        u = u * u
    return horner(terms, u)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def stumpff(k: int, u: Scalar) -> Scalar:
    """The Stumpff function c_k(u) = sum_j (-u)^j / (2j + k)!, k = 0, 1, 2, ..., for u = theta^2 >= 0.

    c_0 = cos theta, c_1 = sin theta / theta, c_2 = (1 - cos theta) / theta^2, c_3 = (theta - sin theta) / theta^3,
    c_k = 1/k! - u c_{k+2} and c_k' = (k c_{k+2} - c_{k+1}) / 2. [stumpff1959]
    """
    return _stumpff(k, u)


@functools.partial(jax.jit, static_argnums=0)
def _stumpff(k: int, u: Scalar) -> Scalar:
    small = u < SWITCH
    coefficients = [(-1.0) ** j / math.factorial(2 * j + k) for j in range(STUMPFF_TERMS)]
    series = horner(coefficients, jnp.where(small, u, 0.0))
    return jnp.where(small, series, _stumpff_closed(k, jnp.where(small, SWITCH, u)))


@stumpff.defjvp
def _stumpff_derivative(k: int, at: tuple[Scalar], change: tuple[Scalar]) -> tuple[Scalar, Scalar]:
    """One number for all directions, where the derivative of the polynomial would be one more polynomial for each."""
    slope = 0.5 * (k * stumpff(k + 2, at[0]) - stumpff(k + 1, at[0]))
    return stumpff(k, at[0]), slope * change[0]


def _stumpff_closed(k: int, u: Scalar) -> Scalar:
    if k >= 3:
        return (1.0 / math.factorial(k - 2) - _stumpff_closed(k - 2, u)) / u
    theta = jnp.sqrt(u)
    if k == 2:
        return 2.0 * jnp.sin(0.5 * theta) ** 2 / u
    return jnp.sin(theta) / theta if k == 1 else jnp.cos(theta)


def dexp_inv_coefficient(u: Scalar) -> Scalar:
    """beta(u) = (1 - (theta/2) cot(theta/2)) / theta^2 = 1/12 + u/720 + ..., for theta < 2 pi.

    It is alpha_3 of the exponential map on SO(3) [bourabee2007, section 5.5], the coefficient of ad^2 in dexp^-1.
    In Stumpff functions beta = (c_3 - 2 c_4) / (2 c_2), which needs no branch of its own.
    """
    return (stumpff(3, u) - 2.0 * stumpff(4, u)) / (2.0 * stumpff(2, u))


@jax.jit
def rotation_angle_ratio(w: Scalar, s: Scalar) -> Scalar:
    """2 atan2(sqrt(s), w) / sqrt(s): the rotation angle over the sine of its half, for s = |v|^2, quaternion (w, v).

    For w >= 0 the angle is halved twice more by tan(phi/2) = sin(phi) / (1 + cos(phi)), which brings it to a quarter of
    a right angle, where the series of the arctangent converges; so there is no closed form near s = 0.
    """
    near = w >= 0.0
    w_near, s_near = jnp.where(near, w, 1.0), jnp.where(near, s, 0.0)
    half = w_near + jnp.sqrt(w_near**2 + s_near)
    quarter = half + jnp.sqrt(half**2 + s_near)
    coefficients = [(-1.0) ** j / (2 * j + 1) for j in range(ARCTAN_TERMS)]
    series = 8.0 / quarter * horner(coefficients, s_near / quarter**2)
    sine = jnp.sqrt(jnp.where(near, 1.0, s))
    return jnp.where(near, series, 2.0 * jnp.arctan2(sine, jnp.where(near, 0.0, w)) / sine)


@functools.cache
def stumpff_polynomial(k: int, limit: float) -> tuple[float, ...]:
    """The shortest polynomial that is c_k(u) to round-off for 0 <= u <= limit, from its Chebyshev series there."""
    exact = np.polynomial.Polynomial([np.longdouble(-1) ** j / math.factorial(2 * j + k) for j in range(STUMPFF_TERMS)])
    half = np.longdouble(limit) / 2
    series = np.polynomial.chebyshev.poly2cheb(exact(np.polynomial.Polynomial([half, half])).coef)
    tail = np.cumsum(np.abs(series[::-1]))[::-1]
    length = int(np.argmax(tail < 0.25 * np.finfo(float).eps / math.factorial(k))) or len(series)
    in_unit = np.polynomial.Polynomial(np.polynomial.chebyshev.cheb2poly(series[:length]))
    return tuple(float(c) for c in in_unit(np.polynomial.Polynomial([np.longdouble(-1), 1 / half])).coef)


def stumpff_below(k: int, v: Scalar, scale: Scalar | float, limit: float, factor: Scalar | float = 1.0) -> Scalar:
    """factor c_k(scale v) for 0 <= scale v <= limit, where it is a short polynomial of v."""
    return estrin(_scaled(stumpff_polynomial(k, limit), scale, factor), v)


def times_stumpff_below(
    y: Scalar | float, k: int, v: Scalar, scale: Scalar | float, limit: float, factor: Scalar | float = 1.0
) -> Scalar:
    """factor y c_k(scale v) for 0 <= scale v <= limit, as factor y c_k(0) and the rest, which y need not wait for."""
    first, *others = _scaled(stumpff_polynomial(k, limit), scale, factor)
    return first * y + (y * v) * estrin(others, v)


def _scaled(coefficients: Sequence[float], scale: Scalar | float, factor: Scalar | float) -> list[Any]:
    """Those of factor p(scale v) as a polynomial of v."""
    scaled, power = [], factor * jnp.ones(())
    for c in coefficients:
        scaled.append(c * power)
        power = power * scale
    return scaled


NEAR = 1.0
NEAR_TERMS = 8
MOST_QUARTERS = 64

Four = tuple[Float[Array, "..."], Float[Array, "..."], Float[Array, "..."], Float[Array, "..."]]


@jax.custom_jvp
def stumpff_of_any_sign(u: Float[Array, "..."]) -> Four:
    """c_0, c_1, c_2, c_3 of an array of positive, zero and negative u: circular, parabolic and hyperbolic.

    All u are quartered until |u| <= 1, where c_4 and c_5 are short polynomials and the others follow from c_k = 1/k! -
    u c_{k+2}; c_k(4u) from c_k(u) are the formulas of the double angle [rein2015].
    """
    return _up_to_five(u)[:4]


@stumpff_of_any_sign.defjvp
def _slopes_of_any_sign(at: tuple[Any], change: tuple[Any]) -> tuple[Four, Four]:
    c = _up_to_five(at[0])
    slopes = [0.5 * (k * c[k + 2] - c[k + 1]) * change[0] for k in range(4)]
    return c[:4], (slopes[0], slopes[1], slopes[2], slopes[3])


def _up_to_five(u: Float[Array, "..."]) -> tuple[Any, ...]:
    def is_far(at):
        return (jnp.max(jnp.abs(at[0])) > NEAR) & (at[1] < MOST_QUARTERS)

    def double(at):
        (c0, c1, c2, c3, c4, c5), quarters = at
        doubled = (
            2.0 * c0 * c0 - 1.0, c0 * c1, 0.5 * c1 * c1, 0.25 * (c2 + c0 * c3), 0.125 * (1.0 + c1) * c3,
            0.0625 * (c5 + c4 + c3 * c2),
        )  # fmt: skip
        return doubled, quarters - 1

    u, quarters = jax.lax.while_loop(is_far, lambda at: (0.25 * at[0], at[1] + 1), (u, jnp.zeros((), int)))
    series = [[(-1.0) ** j / math.factorial(2 * j + k) for j in range(NEAR_TERMS)] for k in (4, 5)]
    c4, c5 = (estrin(coefficients, u) for coefficients in series)
    c2, c3 = 0.5 - u * c4, 1.0 / 6.0 - u * c5
    near = (1.0 - u * c2, 1.0 - u * c3, c2, c3, c4, c5)
    return jax.lax.while_loop(lambda at: at[1] > 0, double, (near, quarters))[0]
