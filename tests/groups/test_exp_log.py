"""The exponential and the logarithm: against matrices, round trips, seams, and derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from hypothesis import example, given, settings

from tests.sampling import (
    BATCH,
    EPS,
    GROUPS,
    algebra_matrix,
    angles,
    batched,
    distance,
    log_uniform,
    matrix,
    per_group,
    seeds,
    vector,
    vectors,
)

SIMPLE = ["SO2", "SE2", "SO3", "S3", "SE3", "SO(4)"]


@per_group
def exp_and_log(G):
    """exp(x), its distance from the group, exp(x) - e beside x, and log(exp(x)); on simple groups its derivatives."""

    def there_and_back(x):
        return G.log(G.exp(x))

    def results(x, mu):
        result = {"exp": G.exp(x), "error": G.error(G.exp(x)), "expm1": G.expm1(x), "log": there_and_back(x)}
        result |= {"tangent": G.tangent(G.identity(), x), "change": (G.Ad_change(G.expm1(x), mu), G.ad(x, mu))}
        if G in [GROUPS[name] for name in SIMPLE]:
            result["jacobian"] = jax.jacfwd(there_and_back)(x)
            result["gradient"] = jax.grad(lambda x: jnp.dot(mu, there_and_back(x)))(x)
        return result

    return batched(results)


@given(seed=seeds, angle=angles)
@example(seed=0, angle=0.0)
@example(seed=1, angle=3.0 - 1e-9)  # both sides of the switch of the series
@example(seed=1, angle=3.0 + 1e-9)
@settings(max_examples=12, deadline=None)
def log_inverts_exp(name, seed, angle):
    """To round-off, with derivatives: the Jacobian of log o exp is 1.

    Near a half turn the logarithm of SO(n) amplifies by 1 / cos(angle/2), its derivative by the square of that.
    """
    G, rng = GROUPS[name], np.random.default_rng(seed)
    x, mu = vectors(G, rng, angle), vectors(G, rng, 1.0)
    result = exp_and_log(name)(x, mu)
    amplification = 1 / np.cos(angle / 2) if name == "SO(4)" else 1.0
    assert distance(result["log"], x) <= 15 * EPS * amplification
    assert np.max(result["error"]) <= 20 * EPS
    if name in SIMPLE:
        assert (
            distance(result["jacobian"], np.broadcast_to(np.eye(G.dim), (BATCH, G.dim, G.dim)))
            <= 40 * EPS * amplification**2
        )
        assert distance(result["gradient"], mu) <= 40 * EPS * amplification**2


@given(seed=seeds, angle=log_uniform(1e-12, 1e-8))
@settings(max_examples=8, deadline=None)
def small_motions_keep_their_digits(name, seed, angle):
    """log(exp(x)) = x, exp(x) - e = x + O(x^2), Ad_exp(x) - 1 = ad_x + O(x^2), relative to x, however small."""
    G, rng = GROUPS[name], np.random.default_rng(seed)
    x = vectors(G, rng, angle, translation=angle)
    result = exp_and_log(name)(x, vectors(G, rng, 1.0))
    assert distance(result["log"], x) <= 10 * EPS * angle
    assert distance(result["expm1"], result["tangent"]) <= angle**2 + 10 * EPS * angle
    assert distance(*result["change"]) <= 2 * angle**2 + 10 * EPS * angle


def exp_is_the_matrix_exponential(name):
    """Against scipy.linalg.expm, for angles up to nearly 2 pi and on both sides of the switch of the series."""
    G, rng = GROUPS[name], np.random.default_rng(5)
    scales = [0.0, 1e-9, 1e-3, 0.3, 1.0, 2.999, 3.001, 6.2]
    x = np.stack([vector(G, rng, scale) for scale in scales])
    g = exp_and_log(name)(x, x)["exp"]
    for k, scale in enumerate(scales):
        expected = scipy.linalg.expm(algebra_matrix(G, x[k]))
        assert distance(matrix(G, jax.tree.map(lambda leaf, k=k: leaf[k], g)), expected) <= 20 * EPS * (1 + scale)


@given(seed=seeds, gap=log_uniform(1e-12, 1e-1))
@example(seed=0, gap=1e-6)
@settings(max_examples=12, deadline=None)
def log_is_accurate_near_a_half_turn(name, seed, gap):
    """At pi - gap no digit is lost: the error and the derivative stay at round-off."""
    G, rng = GROUPS[name], np.random.default_rng(seed)
    x, mu = vectors(G, rng, np.pi - gap), vectors(G, rng, 1.0)
    result = exp_and_log(name)(x, mu)
    assert distance(result["log"], x) <= 6 * EPS * np.pi
    assert distance(result["jacobian"], np.broadcast_to(np.eye(G.dim), (BATCH, G.dim, G.dim))) <= 30 * EPS
    assert distance(result["gradient"], mu) <= 30 * EPS


def log_reaches_past_a_half_turn(name):
    """S^3 and SE(2) tell angles up to 2 pi apart; near 2 pi sin(angle/2) is small and 1 / sin amplifies."""
    for angle in (3.3, 4.5, 6.0, 2 * np.pi - 1e-6):
        x = vectors(GROUPS[name], np.random.default_rng(8), angle)
        assert distance(exp_and_log(name)(x, x)["log"], x) <= 20 * EPS * angle / np.sin(angle / 2)


# One test for all, so that the program of a group compiles in one process only.
@pytest.mark.hypothesis
@pytest.mark.parametrize("name", GROUPS)
def test_exp_and_log(name):
    log_inverts_exp(name=name)
    small_motions_keep_their_digits(name=name)
    exp_is_the_matrix_exponential(name)
    if name in ("SO3", "S3", "SE3"):
        log_is_accurate_near_a_half_turn(name=name)
    if name in ("SE2", "S3"):
        log_reaches_past_a_half_turn(name)


def test_log_of_a_half_turn():
    """At pi exactly the axis is found up to its sign."""
    axes = np.vstack([np.eye(3), -np.eye(3), [[0.6, 0.0, 0.8], [0.0, -0.6, 0.8]]])
    x = batched(GROUPS["SO3"].log)(2 * axes[:, :, None] * axes[:, None, :] - np.eye(3))
    for got, axis in zip(x, axes, strict=True):
        assert min(distance(got, np.pi * axis), distance(got, -np.pi * axis)) <= 4 * EPS * np.pi
