"""Derivatives of the maps with respect to their point x, in both modes, from x = 0 to the largest angles."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given, settings

from tests.retractions.cases import SIMPLE_CASES, per_case
from tests.sampling import BATCH, EPS, batched, distance, log_uniform, seeds, vectors


@per_case
def derivatives(case):
    """Jacobians in x by forward mode, the matrix of dtau^-1, and a product with a covector by reverse mode."""
    T, G = case.retraction, case.group

    def results(x, y, mu):
        def maps(x):
            return {
                "tau^-1 o tau": T.inverse(G, T.tau(G, x)),
                "dtau": T.dtau(G, x, y),
                "dtau^-1": T.dtau_inv(G, x, y),
                "half": T.half(G, x),
                "ad": G.ad(x, y),
            }

        def pairing(x):
            return jnp.dot(mu, T.dtau_inv(G, x, y)) + jnp.dot(mu, T.half(G, x))

        matrix = jax.vmap(lambda e: T.dtau_inv(G, x, e), out_axes=1)(jnp.eye(G.dim))
        return jax.jacfwd(maps)(x), jax.grad(pairing)(x), matrix, T.dtau(G, x, y)

    return batched(results)


@given(seed=seeds, fraction=log_uniform(1e-12, 1.0))
@example(seed=0, fraction=0.0)
@example(seed=1, fraction=1.0 + 1e-9)  # just above the switch of the series, which lies at 3 radians
@example(seed=725670373, fraction=1.0)
@settings(max_examples=8, deadline=None)
def identities_differentiate(name, seed, fraction):
    """tau^-1 o tau has Jacobian 1, dtau_x^-1 dtau_x y does not depend on x, both modes agree: to round-off."""
    case, rng, run = SIMPLE_CASES[name], np.random.default_rng(seed), derivatives(name)
    x, y, mu = (vectors(case.group, rng, angle) for angle in (fraction * case.largest, 1.0, 1.0))
    jacobian, gradient, matrix, dtau = run(x, y, mu)
    n, tolerance = case.group.dim, 10 * EPS
    # The inverse of tau has a condition number of 1 / cos(angle/2) near a half turn, its derivative the square of that.
    condition = 1 / np.cos(fraction * case.largest / 2) ** 2
    assert distance(jacobian["tau^-1 o tau"], np.broadcast_to(np.eye(n), (BATCH, n, n))) <= 4 * tolerance * condition
    assert distance(gradient, np.einsum("bi,bij->bj", mu, jacobian["dtau^-1"] + jacobian["half"])) <= tolerance
    # 0 = D_x [dtau_x^-1 dtau_x y]: the derivative of dtau^-1 at dtau_x y, plus dtau^-1 of the derivative of dtau; its
    # terms, whose roundings these are, grow to 5 where Skew nears its end.
    terms = np.max(np.abs(matrix) @ np.abs(jacobian["dtau"]), initial=1.0)
    assert distance(run(x, dtau, mu)[0]["dtau^-1"], -matrix @ jacobian["dtau"]) <= tolerance * terms


def derivatives_are_right_at_zero(name):
    """D half(x) = 1/2 and D_x [dtau_x^-1 y] = D_x [-ad_x y / 2] at x = 0, and within O(x) near it."""
    case, rng = SIMPLE_CASES[name], np.random.default_rng(3)
    n, y = case.group.dim, vectors(case.group, rng, 1.0)
    for angle in (0.0, 1e-12, 1e-8):
        x = vectors(case.group, rng, angle, translation=angle)
        jacobian, *_ = derivatives(name)(x, y, y)
        assert distance(jacobian["half"], np.broadcast_to(0.5 * np.eye(n), (BATCH, n, n))) <= 10 * EPS + angle
        assert distance(jacobian["dtau^-1"], -0.5 * jacobian["ad"]) <= 10 * EPS + 4 * angle


# One test for both, so that the program of a case compiles in one process only.
@pytest.mark.hypothesis
@pytest.mark.parametrize("name", SIMPLE_CASES)
def test_derivatives(name):
    identities_differentiate(name=name)
    derivatives_are_right_at_zero(name)
