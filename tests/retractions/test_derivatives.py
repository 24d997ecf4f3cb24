"""Derivatives of the maps with respect to their point x, in both modes, from x = 0 to the largest angles."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given, settings

from tests.retractions.cases import SIMPLE_CASES, per_case
from tests.sampling import BATCH, EPS, batched, distance, log_uniform, seeds, vectors

every_simple_case = pytest.mark.parametrize("name", SIMPLE_CASES)


@per_case
def derivatives(case):
    """Jacobians in x by forward mode, and a product with a covector by reverse mode."""
    T, G = case.retraction, case.group

    def results(x, y, mu):
        def maps(x):
            return {
                "tau^-1 o tau": T.inverse(G, T.tau(G, x)),
                "dtau^-1 o dtau": T.dtau_inv(G, x, T.dtau(G, x, y)),
                "dtau^-1": T.dtau_inv(G, x, y),
                "half": T.half(G, x),
                "ad": G.ad(x, y),
            }

        def pairing(x):
            return jnp.dot(mu, T.dtau_inv(G, x, y)) + jnp.dot(mu, T.half(G, x))

        return jax.jacfwd(maps)(x), jax.grad(pairing)(x)

    return batched(results)


@every_simple_case
@given(seed=seeds, fraction=log_uniform(1e-12, 1.0))
@example(seed=0, fraction=0.0)
@example(seed=1, fraction=2 / 3 + 1e-9)  # just above the switch of the series, which lies at 2 radians
@settings(max_examples=8, deadline=None)
def test_derivatives_of_identities(name, seed, fraction):
    """tau^-1 o tau has Jacobian 1, dtau^-1 o dtau does not depend on x, both modes agree.

    To round-off, times the condition numbers of the maps (about 20 at the largest angles) for each derivative.
    """
    case, rng = SIMPLE_CASES[name], np.random.default_rng(seed)
    x, y, mu = (vectors(case.group, rng, angle) for angle in (fraction * case.largest, 1.0, 1.0))
    jacobian, gradient = derivatives(name)(x, y, mu)
    n, tolerance = case.group.dim, 60 * EPS * (1 + 40 * fraction)
    assert distance(jacobian["tau^-1 o tau"], np.broadcast_to(np.eye(n), (BATCH, n, n))) <= tolerance
    assert distance(jacobian["dtau^-1 o dtau"], np.zeros((BATCH, n, n))) <= tolerance
    assert distance(gradient, np.einsum("bi,bij->bj", mu, jacobian["dtau^-1"] + jacobian["half"])) <= tolerance


@every_simple_case
@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-8])
def test_derivatives_at_small_angles(name, angle):
    """D half(x) = 1/2 and D_x [dtau_x^-1 y] = D_x [-ad_x y / 2] at x = 0, and within O(x) near it."""
    case, rng = SIMPLE_CASES[name], np.random.default_rng(3)
    x, y = vectors(case.group, rng, angle, translation=angle), vectors(case.group, rng, 1.0)
    jacobian, _ = derivatives(name)(x, y, y)
    n = case.group.dim
    assert distance(jacobian["half"], np.broadcast_to(0.5 * np.eye(n), (BATCH, n, n))) <= 10 * EPS + angle
    assert distance(jacobian["dtau^-1"], -0.5 * jacobian["ad"]) <= 10 * EPS + 4 * angle
