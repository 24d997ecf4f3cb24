"""What makes a map a retraction, with its tangents, halves and duals: on every map and group."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from hypothesis import example, given, settings

from tests.retractions.cases import CASES, per_case
from tests.sampling import EPS, algebra_matrix, batched, distance, log_uniform, matrix, seeds, size, vectors

every_case = pytest.mark.parametrize("name", CASES)


@per_case
def evaluate(case):
    """The values of a map, and pairs that must agree."""
    T, G = case.retraction, case.group

    def values_and_pairs(x, y, mu):
        f, half = T.tau(G, x), T.half(G, x)
        root = T.tau(G, half)
        dtau, dtau_inv = T.dtau(G, x, y), T.dtau_inv(G, x, y)
        _, twin = jax.jvp(lambda x: T.tau(G, x), (x,), (y,))
        values = {"tau": f, "inverse": T.inverse(G, f), "half": half, "dtau": dtau, "dtau_inv": dtau_inv}
        pairs = {
            "on the group": (G.error(f), jnp.zeros(())),
            "tau(-x) is the inverse": (T.tau(G, -x), G.inverse(f)),
            "inverse": (values["inverse"], x),
            "half squared": (G.compose(root, root), f),
            "dtau is the derivative": (G.tangent(f, G.Ad(G.inverse(f), dtau)), twin),
            "dtau of dtau_inv": (T.dtau(G, x, dtau_inv), y),
            "dtau_inv of dtau": (T.dtau_inv(G, x, dtau), y),
            "dtau at -x": (dtau, G.Ad(f, T.dtau(G, -x, y))),
            "dtau_inv at -x": (T.dtau_inv(G, -x, y), T.dtau_inv(G, x, G.Ad(f, y))),
            "dual of dtau": (jnp.dot(T.dtau_dual(G, x, mu), y), jnp.dot(mu, dtau)),
            "dual of dtau_inv": (jnp.dot(T.dtau_inv_dual(G, x, mu), y), jnp.dot(mu, dtau_inv)),
        }
        return values, pairs

    return batched(values_and_pairs)


@every_case
@given(seed=seeds, fraction=log_uniform(1e-12, 1.0))
@example(seed=0, fraction=0.0)
@example(seed=1, fraction=1.0)
@settings(max_examples=12, deadline=None)
def test_identities(name, seed, fraction):
    """To round-off; at the largest angles dtau and the inverse have condition numbers of up to about 20."""
    case, rng = CASES[name], np.random.default_rng(seed)
    x, y, mu = (vectors(case.group, rng, angle) for angle in (fraction * case.largest, 1.0, 1.0))
    for identity, (left, right) in evaluate(name)(x, y, mu)[1].items():
        assert distance(left, right) <= 60 * EPS * size(right) * (1 + 4 * fraction), identity


@every_case
@given(seed=seeds, angle=log_uniform(1e-12, 1e-9))
@settings(max_examples=6, deadline=None)
def test_small_vectors_keep_their_digits(name, seed, angle):
    """tau^-1(tau(x)), 2 half(x), dtau_x(x) and dtau_x^-1(x) are x to a relative round-off, for tiny x."""
    G = CASES[name].group
    x = vectors(G, np.random.default_rng(seed), angle, translation=angle)
    values, _ = evaluate(name)(x, x, x)
    for result in (values["inverse"], 2 * values["half"], values["dtau"], values["dtau_inv"]):
        assert distance(result, x) <= 40 * EPS * angle


@every_case
def test_second_order_approximation_of_exp(name):
    """tau(x) = exp(x) + O(x^3) in matrices, and no better unless it is exp."""
    case = CASES[name]
    x = vectors(case.group, np.random.default_rng(4), 1.0)
    errors = []
    for scale in (2e-2, 1e-2):
        values, _ = evaluate(name)(scale * x, x, x)
        f = matrix(case.group, jax.tree.map(lambda leaf: leaf[0], values["tau"]))
        errors.append(distance(f, scipy.linalg.expm(algebra_matrix(case.group, scale * x[0]))))
    if name.startswith("Exponential") or name == "Cayley on R3":
        assert max(errors) <= 10 * EPS
    else:
        assert np.log2(errors[0] / errors[1]) == pytest.approx(3.0, abs=0.02)
