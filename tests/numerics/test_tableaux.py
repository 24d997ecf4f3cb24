"""The tableaux of partitioned methods: the simplifying conditions, the pairs, the order, and what is refused."""

import numpy as np
import pytest

import naiad as nd
from naiad.numerics import PARTITIONED, partitioned_tableau
from naiad.numerics.order_conditions import partitioned_order

# p of B(p), q of C(q) (8 is as far as we look), the order of the pair, and whether it is symmetric
KNOWN = {
    "symplectic-euler-a": (1, 8, 1, False),
    "symplectic-euler-b": (1, 1, 1, False),
    "stormer-verlet": (2, 2, 2, True),
    "gauss1": (2, 1, 2, True),
    "gauss2": (4, 2, 4, True),
    "gauss3": (6, 3, 6, True),
    "lobatto2": (2, 2, 2, True),
    "lobatto3": (4, 3, 4, True),
    "lobatto2-b": (2, 1, 2, True),
    "lobatto3-b": (4, 1, 4, True),
    "radau2-ia": (3, 1, 3, False),
    "radau3-ia": (5, 2, 5, False),
    "radau2-iia": (3, 2, 3, False),
    "radau3-iia": (5, 3, 5, False),
}


def highest(condition, top=8):
    """The largest k with condition(1), ..., condition(k)."""
    return next((k - 1 for k in range(1, top + 1) if not condition(k)), top)


def test_every_tableau_is_checked():
    assert set(KNOWN) == set(PARTITIONED)


@pytest.mark.parametrize("name", KNOWN)
def test_coefficients_satisfy_their_conditions(name):
    tableau = PARTITIONED[name]
    a, b, c = (np.asarray(part) for part in tableau)
    quadrature = highest(lambda k: abs(b @ c ** (k - 1) - 1 / k) < 1e-14)
    stages = highest(lambda k: np.max(np.abs(a @ c ** (k - 1) - c**k / k)) < 1e-14)
    assert (quadrature, stages, tableau.order, tableau.symmetric) == KNOWN[name]


@pytest.mark.parametrize("name", KNOWN)
def test_pair_is_symplectic(name):
    tableau = PARTITIONED[name]
    a, a_hat, b = np.asarray(tableau.a), np.asarray(tableau.a_hat), np.asarray(tableau.b)
    np.testing.assert_allclose(b[:, None] * a_hat + (b[:, None] * a).T, np.outer(b, b), rtol=0, atol=1e-15)


@pytest.mark.parametrize(("one", "other"), [("lobatto2", "lobatto2-b"), ("lobatto3", "lobatto3-b")])
def test_lobatto_iiia_and_iiib_are_a_pair(one, other):
    np.testing.assert_allclose(PARTITIONED[one].a_hat, PARTITIONED[other].a, rtol=0, atol=1e-15)
    np.testing.assert_allclose(PARTITIONED[other].a_hat, PARTITIONED[one].a, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["gauss1", "gauss2", "gauss3"])
def test_gauss_methods_are_their_own_partners_at_the_roots_of_legendre_polynomials(name):
    tableau = PARTITIONED[name]
    np.testing.assert_allclose(tableau.a_hat, tableau.a, rtol=0, atol=1e-15)
    roots, weights = np.polynomial.legendre.leggauss(len(tableau.b))
    np.testing.assert_allclose(tableau.c, 0.5 + 0.5 * roots, rtol=0, atol=1e-15)
    np.testing.assert_allclose(tableau.b, 0.5 * weights, rtol=0, atol=1e-15)


def test_order_sees_conditions_that_couple_the_pair():
    """Kutta's and Ralston's methods have order 3; with its partner Ralston's has 2: sum_j d_j^2 / b_j, d = b a, is not
    1/3."""
    kutta = partitioned_tableau([[0, 0, 0], [0.5, 0, 0], [-1, 2, 0]], np.array([1, 4, 1]) / 6)
    ralston = partitioned_tableau([[0, 0, 0], [0.5, 0, 0], [0, 0.75, 0]], np.array([2, 3, 4]) / 9)
    assert partitioned_order(ralston.a, ralston.a, ralston.b) == 3
    assert (kutta.order, ralston.order) == (3, 2)


@pytest.mark.parametrize(
    ("coefficients", "complaint"),
    [
        (([[0.5]], [0.9]), "sum to 0.9; expected 1"),
        (([[0, 0], [1, 0]], [1.0, 0.0]), "hold a zero"),
        (([[0.5, 0.5]], [0.5, 0.5]), r"a of shape \(1, 2\)"),
        (([[0.5]], [1.0], [0.4]), "differ from the row sums of a by 0.1"),
        (([[np.nan]], [1.0]), "NaN"),
        (([["x"]], [1.0]), "not made of numbers"),
        (([], []), "expected"),
    ],
)
def test_bad_coefficients_are_refused(coefficients, complaint):
    with pytest.raises(nd.InputError, match=complaint):
        partitioned_tableau(*coefficients)
