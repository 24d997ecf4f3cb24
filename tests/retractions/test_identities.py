"""What makes a map a retraction, with its tangents, halves and duals: on every map and group."""

import jax
import numpy as np
import pytest
import scipy.linalg
from hypothesis import example, given, settings

from tests.retractions.cases import CASES, per_case
from tests.sampling import (
    BATCH,
    EPS,
    algebra_matrix,
    batched,
    distance,
    log_uniform,
    matrix,
    seeds,
    size,
    vectors,
)


@per_case
def evaluate(case):
    """All that a map has to say at x, with what the group makes of it; compiled once and combined in NumPy."""
    T, G = case.retraction, case.group

    def results(x, y, mu):
        f = T.tau(G, x)
        f_inverse, dtau = G.inverse(f), T.dtau(G, x, y)
        _, derivative = jax.jvp(lambda x: T.tau(G, x), (x,), (y,))
        return {
            "tau": f,
            "error": G.error(f),
            "tau inverse": f_inverse,
            "tau squared": G.compose(f, f),
            "increment": T.increment(G, x),
            "tangent at e": G.tangent(G.identity(), x),
            "inverse": T.inverse(G, f),
            "half": T.half(G, x),
            "Ad tau": G.Ad(f, y),
            "dtau": dtau,
            "dtau_inv": T.dtau_inv(G, x, y),
            "derivative": derivative,
            "dtau times tau": G.tangent(f, G.Ad(f_inverse, dtau)),
            "dtau_dual": T.dtau_dual(G, x, mu),
            "dtau_inv_dual": T.dtau_inv_dual(G, x, mu),
        }

    return batched(results)


@given(seed=seeds, fraction=log_uniform(1e-12, 1.0))
@example(seed=0, fraction=0.0)
@example(seed=1, fraction=1.0)
@settings(max_examples=12, deadline=None)
def identities_hold(name, seed, fraction):
    """To round-off; at the largest angles dtau and the inverse have condition numbers of up to about 20."""
    case, rng, run = CASES[name], np.random.default_rng(seed), evaluate(name)
    x, y, mu = (vectors(case.group, rng, angle) for angle in (fraction * case.largest, 1.0, 1.0))
    at, minus = run(x, y, mu), run(-x, y, mu)
    pairs = {
        "on the group": (at["error"], np.zeros(BATCH)),
        "tau(-x) is the inverse": (minus["tau"], at["tau inverse"]),
        "inverse": (at["inverse"], x),
        "half squared": (run(at["half"], y, mu)["tau squared"], at["tau"]),
        "dtau is the derivative": (at["dtau times tau"], at["derivative"]),
        "dtau of dtau_inv": (run(x, at["dtau_inv"], mu)["dtau"], y),
        "dtau_inv of dtau": (run(x, at["dtau"], mu)["dtau_inv"], y),
        "dtau_x = Ad_tau(x) dtau_-x": (run(x, minus["dtau"], mu)["Ad tau"], at["dtau"]),
        "dtau_-x^-1 = dtau_x^-1 Ad_tau(x)": (run(x, at["Ad tau"], mu)["dtau_inv"], minus["dtau_inv"]),
        "dual of dtau": (np.sum(at["dtau_dual"] * y, axis=1), np.sum(mu * at["dtau"], axis=1)),
        "dual of dtau_inv": (np.sum(at["dtau_inv_dual"] * y, axis=1), np.sum(mu * at["dtau_inv"], axis=1)),
    }
    for identity, (left, right) in pairs.items():
        assert distance(left, right) <= 15 * EPS * size(right) * (1 + 4 * fraction), identity


@given(seed=seeds, angle=log_uniform(1e-12, 1e-9))
@settings(max_examples=6, deadline=None)
def small_vectors_keep_their_digits(name, seed, angle):
    """tau^-1(tau(x)), 2 half(x), dtau_x(x) and dtau_x^-1(x) are x to a relative round-off, for tiny x.

    And tau(x) - e = x + O(x^2) in the ambient space.
    """
    G = CASES[name].group
    x = vectors(G, np.random.default_rng(seed), angle, translation=angle)
    at = evaluate(name)(x, x, x)
    for result in (at["inverse"], 2 * at["half"], at["dtau"], at["dtau_inv"]):
        assert distance(result, x) <= 10 * EPS * angle
    assert distance(at["increment"], at["tangent at e"]) <= angle**2 + 10 * EPS * angle


def approximates_exp_to_second_order(name):
    """tau(x) = exp(x) + O(x^3) in matrices, and no better unless it is exp."""
    case = CASES[name]
    x = vectors(case.group, np.random.default_rng(4), 1.0)
    errors = []
    for scale in (2e-2, 1e-2):
        f = matrix(case.group, jax.tree.map(lambda leaf: leaf[0], evaluate(name)(scale * x, x, x)["tau"]))
        errors.append(distance(f, scipy.linalg.expm(algebra_matrix(case.group, scale * x[0]))))
    if name.startswith("Exponential") or name == "Cayley on R3":
        assert max(errors) <= 10 * EPS
    else:
        assert np.log2(errors[0] / errors[1]) == pytest.approx(3.0, abs=0.02)


# One test for all, so that the program of a case compiles in one process only.
@pytest.mark.hypothesis
@pytest.mark.parametrize("name", CASES)
def test_map(name):
    identities_hold(name=name)
    small_vectors_keep_their_digits(name=name)
    approximates_exp_to_second_order(name)
