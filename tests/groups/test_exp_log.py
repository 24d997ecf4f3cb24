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
    elements,
    log_uniform,
    matrix,
    per_group,
    seeds,
    vector,
    vectors,
)

every_group = pytest.mark.parametrize("name", GROUPS)
rotation_groups = pytest.mark.parametrize("name", ["SO2", "SE2", "SO3", "S3", "SE3", "SO(4)"])


@per_group
def round_trip(G):
    """log(exp(x)), its Jacobian and its gradient, exp(-x) against exp(x)^-1, and log of the identity."""

    def there_and_back(x):
        return G.log(G.exp(x))

    def results(x, mu):
        return {
            "x": there_and_back(x),
            "jacobian": jax.jacfwd(there_and_back)(x),
            "gradient": jax.grad(lambda x: jnp.dot(mu, there_and_back(x)))(x),
            "inverse": (G.exp(-x), G.inverse(G.exp(x))),
            "error": G.error(G.exp(x)),
        }

    return batched(results)


@every_group
@given(seed=seeds, angle=angles)
@example(seed=0, angle=0.0)
@example(seed=1, angle=2.0 - 1e-9)  # both sides of the switch of the series
@example(seed=1, angle=2.0 + 1e-9)
@settings(max_examples=12, deadline=None)
def test_log_inverts_exp(name, seed, angle):
    """To round-off, relative to the angle (relative to 1 for SO(n), whose roots and squarings add I), with derivatives.

    The Jacobian of log o exp is 1; near pi the logarithm of SO(n) amplifies by 1 / cos(angle/2).
    """
    G, rng = GROUPS[name], np.random.default_rng(seed)
    x, mu = vectors(G, rng, angle), vectors(G, rng, 1.0)
    result = round_trip(name)(x, mu)
    amplification = 1 / np.cos(angle / 2) if name.startswith("SO(") else 1.0
    assert distance(result["x"], x) <= 40 * EPS * amplification
    assert distance(result["jacobian"], np.broadcast_to(np.eye(G.dim), (BATCH, G.dim, G.dim))) <= 200 * EPS * amplification
    assert distance(result["gradient"], mu) <= 200 * EPS * amplification
    assert distance(*result["inverse"]) <= 20 * EPS
    assert np.max(result["error"]) <= 20 * EPS


@rotation_groups
@given(seed=seeds, angle=log_uniform(1e-12, 1e-2))
@settings(max_examples=12, deadline=None)
def test_small_rotations_keep_their_digits(name, seed, angle):
    """log(exp(x)) is x to a relative error of round-off, however small the rotation."""
    G = GROUPS[name]
    x = vectors(G, np.random.default_rng(seed), angle, translation=angle)
    result = round_trip(name)(x, np.ones_like(x))
    assert distance(result["x"], x) <= 40 * EPS * angle


@every_group
def test_exp_is_the_matrix_exponential(name):
    """Against scipy.linalg.expm, for angles up to nearly 2 pi and on both sides of the switch of the series."""
    G, rng = GROUPS[name], np.random.default_rng(5)
    scales = [0.0, 1e-9, 1e-3, 0.3, 1.999, 2.001, 3.0, 6.2]
    x = np.stack([vector(G, rng, scale) for scale in scales])
    g = batched(G.exp)(x)
    for k, scale in enumerate(scales):
        expected = scipy.linalg.expm(algebra_matrix(G, x[k]))
        assert distance(matrix(G, jax.tree.map(lambda leaf, k=k: leaf[k], g)), expected) <= 20 * EPS * (1 + scale)


@every_group
def test_adjoint_of_exp(name):
    """Ad_exp(x) = expm(ad_x), for every group whether of matrices or not."""
    G, rng = GROUPS[name], np.random.default_rng(6)
    x, y = vectors(G, rng, 1.7), vectors(G, rng, 1.0)
    Ad = batched(lambda x, y: G.Ad(G.exp(x), y))(x, y)
    ad = batched(lambda x: jax.vmap(lambda e: G.ad(x, e), out_axes=1)(jnp.eye(G.dim)))(x)
    expected = np.stack([scipy.linalg.expm(a) @ b for a, b in zip(ad, y, strict=True)])
    assert distance(Ad, expected) <= 60 * EPS


@every_group
def test_exp_inverts_log(name):
    """exp(log(g)) = g for random elements, of all angles up to pi (SO(n): the root amplifies near pi)."""
    G = GROUPS[name]
    g = elements(G, np.random.default_rng(7))
    assert distance(batched(lambda g: G.exp(G.log(g)))(g), g) <= 300 * EPS


@per_group
def near_half_turn(G):
    def results(x):
        return G.exp(x), G.log(G.exp(x)), jax.jacfwd(lambda x: G.log(G.exp(x)))(x)

    return batched(results)


@pytest.mark.parametrize("name", ["SO3", "S3", "SE3"])
@given(seed=seeds, gap=log_uniform(1e-12, 1e-1))
@example(seed=0, gap=1e-6)
@settings(max_examples=12, deadline=None)
def test_log_near_a_half_turn(name, seed, gap):
    """At pi - gap no digit is lost: the error and the derivative stay at round-off."""
    G, rng = GROUPS[name], np.random.default_rng(seed)
    x = vectors(G, rng, np.pi - gap)
    _, log, jacobian = near_half_turn(name)(x)
    assert distance(log, x) <= 20 * EPS * np.pi
    assert distance(jacobian, np.broadcast_to(np.eye(G.dim), (BATCH, G.dim, G.dim))) <= 100 * EPS


@pytest.mark.parametrize("axis", np.vstack([np.eye(3), -np.eye(3), [[0.6, 0.0, 0.8], [0.0, -0.6, 0.8]]]))
def test_log_of_a_half_turn(axis):
    """At pi exactly the axis is found up to its sign."""
    G = GROUPS["SO3"]
    R = 2 * np.outer(axis, axis) - np.eye(3)
    x = np.asarray(G.log(R))
    assert min(distance(x, np.pi * axis), distance(x, -np.pi * axis)) <= 4 * EPS * np.pi


@pytest.mark.parametrize("angle", [3.3, 4.5, 6.0, 2 * np.pi - 1e-6])
def test_log_past_a_half_turn(angle):
    """S^3 and SE(2) tell angles up to 2 pi apart; near 2 pi sin(angle/2) is small and 1 / sin amplifies."""
    amplification = 1 / abs(np.sin(angle / 2))
    for name in ("S3", "SE2"):
        G = GROUPS[name]
        x = vector(G, np.random.default_rng(8), angle)
        assert distance(G.log(G.exp(x)), x) <= 20 * EPS * angle * amplification
