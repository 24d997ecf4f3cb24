"""The functions of small angles, and their first and second derivatives, against arithmetic with 60 digits."""

import functools
import math

import jax
import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from naiad.numerics.series import SWITCH, dexp_inv_coefficient, rotation_angle_ratio, stumpff
from tests.sampling import EPS, compiled, log_uniform

mpmath.mp.dps = 60

squares = log_uniform(1e-24, 38.0)  # theta from 1e-12 to 6.16, nearly 2 pi


def stumpff_derivatives(k: int, u: float) -> list[float]:
    """c_k, c_k', c_k'' from the series sum_j (-u)^j / (2j + k)!."""
    u = mpmath.mpf(u)
    sums = [mpmath.mpf(0)] * 3
    for j in range(60):
        term = (-1) ** j / mpmath.factorial(2 * j + k)
        for order in range(min(j, 2) + 1):
            sums[order] += term * mpmath.ff(j, order) * u ** (j - order)
    return [float(value) for value in sums]


SERIES = {k: [(-1) ** j / mpmath.factorial(2 * j + k) for j in reversed(range(60))] for k in (2, 3, 4)}


def beta(u):
    """(1 - (theta/2) cot(theta/2)) / theta^2 = (c_3 - 2 c_4) / (2 c_2)."""
    c2, c3, c4 = (functools.reduce(lambda sum_, c: sum_ * u + c, SERIES[k]) for k in (2, 3, 4))
    return (c3 - 2 * c4) / (2 * c2)


@functools.cache
def with_derivatives(function):
    first = jax.grad(function)
    return compiled(lambda u: (function(u), first(u), jax.grad(first)(u)))


@pytest.mark.parametrize("k", range(5))
@given(u=squares)
@example(u=0.0)
@example(u=SWITCH)
@example(u=np.nextafter(SWITCH, 0.0))
@example(u=9.000000052588359)
@example(u=9.00001187392381)
@settings(max_examples=40, deadline=None)
def test_stumpff(k, u):
    """To a few units in the last place of the value at 0, which is the largest, and so for the derivatives.

    Just above the switch the derivatives of the closed forms of c_3 and c_4 cancel most.
    """
    scales = np.abs(stumpff_derivatives(k, 0.0))
    errors = np.abs(np.array(stumpff_case(k)(u)) - stumpff_derivatives(k, u))
    counted = np.array([closed_form_error(k, order) for order in range(3)]) / scales
    assert np.all(errors <= EPS * scales * np.maximum([4, 6, 60], counted))


@functools.cache
def closed_form_error(k: int, order: int) -> float:
    """How many EPS a derivative of c_k above the switch may err, by its roundings of half an EPS each.

    sin(theta) / theta has the error of sqrt(u), with those of sine and quotient, 2 sin(theta/2)^2 / u twice that of a
    sine. c_k = (1/(k-2)! - c_{k-2}) / u takes on the error of c_{k-2}, those of the difference and the quotient, and
    that of the first term beyond k = 4. The derivatives are c_k' = (k c_{k+2} - c_{k+1}) / 2.
    """
    if order:
        return (k * closed_form_error(k + 2, order - 1) + closed_form_error(k + 1, order - 1)) / 2
    if k <= 2:
        return {0: 4.0, 1: 0.6, 2: 0.7}[k]
    first, before = 1.0 / math.factorial(k - 2), stumpff_derivatives(k - 2, SWITCH)[0]
    return (closed_form_error(k - 2, 0) + 0.5 * (2 * (first - before) + first * (k > 4))) / SWITCH


@functools.cache
def stumpff_case(k):
    return with_derivatives(lambda u: stumpff(k, u))


@given(u=st.one_of(squares, st.floats(1.0, 30.0)))
@example(u=0.0)
@example(u=0.8187307530779818)
@example(u=SWITCH)
@example(u=np.nextafter(SWITCH, 0.0))
@settings(max_examples=60, deadline=None)
def test_dexp_inv_coefficient(u):
    """Relative to its own size: it and its derivatives grow to their poles at theta = 2 pi, where c_2 is small.

    Five roundings of each term: near 0 the terms of the quotient's derivatives are 9 and 43 times their sums.
    """
    expected = np.array([float(mpmath.diff(beta, u, order)) for order in range(3)])
    near_pole = 1 + 4 * np.pi**2 / (4 * np.pi**2 - u)
    errors = np.abs(np.array(with_derivatives(dexp_inv_coefficient)(u)) / expected - 1)
    assert np.all(errors <= EPS * 2.5 * np.array([2, 9, 43]) * near_pole)


def test_dexp_inv_coefficient_begins_with_bernoulli_numbers():
    """beta(u) = -sum_{j >= 1} B_2j / (2j)! (-u)^(j-1)."""
    values = with_derivatives(dexp_inv_coefficient)(0.0)
    assert np.allclose(values, [1 / 12, 1 / 720, 2 / 30240], rtol=20 * EPS, atol=0)


@functools.cache
def ratio_case():
    gradient = jax.grad(rotation_angle_ratio, (0, 1))
    return compiled(
        lambda w, s: (rotation_angle_ratio(w, s), gradient(w, s), jax.hessian(rotation_angle_ratio, (0, 1))(w, s))
    )


@given(half_angle=st.one_of(log_uniform(1e-12, 1.5), st.floats(0.0, 3.0)))
@example(half_angle=np.pi / 2)
@example(half_angle=0.0)
@example(half_angle=3.1)
@settings(max_examples=60, deadline=None)
def test_rotation_angle_ratio(half_angle):
    """Relative to its own size and that of its derivatives, which grow towards the pole at a half angle of pi."""
    w, s = np.cos(half_angle), np.sin(half_angle) ** 2
    value, gradient, hessian = ratio_case()(w, s)
    expected = {
        order: float(mpmath.diff(exact_ratio, (w, s), order))
        for order in [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
    }
    size = [
        abs(expected[0, 0]),
        np.hypot(*(expected[o] for o in [(1, 0), (0, 1)])),
        np.hypot(expected[2, 0], expected[0, 2]),
    ]
    assert abs(value - expected[0, 0]) <= 8 * EPS * size[0]
    assert max(abs(gradient[0] - expected[1, 0]), abs(gradient[1] - expected[0, 1])) <= 30 * EPS * size[1]
    second = [(hessian[0][0], (2, 0)), (hessian[0][1], (1, 1)), (hessian[1][1], (0, 2))]
    assert max(abs(got - expected[order]) for got, order in second) <= 200 * EPS * size[2]


def exact_ratio(w, s):
    """2 atan2(sqrt(s), w) / sqrt(s); near s = 0, w > 0 by the series in s / w^2, since the quotient is 0/0 there."""
    if w > 0 and abs(s) < mpmath.mpf("1e-3") * w**2:
        return 2 / w * mpmath.fsum((-s / w**2) ** j / (2 * j + 1) for j in range(25))
    return 2 * mpmath.atan2(mpmath.sqrt(s), w) / mpmath.sqrt(s)


@pytest.mark.parametrize("u", [1e10, 1e30, 1e300])
def test_huge_angles_do_not_overflow(u):
    """Values and derivatives stay finite however large the angle: the unused polynomial sees a harmless argument."""
    for k in range(5):
        assert np.all(np.isfinite(stumpff_case(k)(u)))
