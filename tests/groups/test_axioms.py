"""The axioms of a group, of its adjoint actions and of its algebra, on every group."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings

from tests.sampling import BATCH, EPS, GROUPS, angles, batched, distance, elements, per_group, seeds, size, vectors

# Round-off of a few products of entries of size 1 (n^2 products on SO(n)).
TOLERANCE = 60 * EPS

every_group = pytest.mark.parametrize("name", GROUPS)


@per_group
def axioms(G):
    """Pairs that must agree, for random elements and vectors."""

    def pairs(g, f, k, x, y, z, mu):
        e, gf = G.identity(), G.compose(g, f)
        inverse = G.inverse(g)
        bracket = G.ad(x, y)
        return {
            "associative": (G.compose(gf, k), G.compose(g, G.compose(f, k))),
            "left identity": (G.compose(e, g), g),
            "right identity": (G.compose(g, e), g),
            "left inverse": (G.compose(inverse, g), e),
            "right inverse": (G.compose(g, inverse), e),
            "closed": (G.error(gf), jnp.zeros(())),
            "closed inverse": (G.error(inverse), jnp.zeros(())),
            "vee of hat": (G.vee(G.hat(x)), x),
            "Ad of a product": (G.Ad(gf, x), G.Ad(g, G.Ad(f, x))),
            "Ad of the identity": (G.Ad(e, x), x),
            "Ad keeps brackets": (G.Ad(g, bracket), G.ad(G.Ad(g, x), G.Ad(g, y))),
            "antisymmetry": (bracket, -G.ad(y, x)),
            "Jacobi": (G.ad(x, G.ad(y, z)), G.ad(bracket, z) + G.ad(y, G.ad(x, z))),
            "Ad dual": (jnp.dot(G.Ad_dual(g, mu), x), jnp.dot(mu, G.Ad(g, x))),
            "ad dual": (jnp.dot(G.ad_dual(x, mu), y), jnp.dot(mu, bracket)),
            "tangent": (G.tangent(g, x), along(lambda s: G.compose(g, G.exp(s * x)))),
            "ad is the derivative of Ad": (bracket, along(lambda s: G.Ad(G.exp(s * x), y))),
            "split keeps all": (sum(jnp.sum(part) for part in G.split(x)), jnp.sum(x)),
        }

    def along(curve):
        return jax.jvp(curve, (jnp.zeros(()),), (jnp.ones(()),))[1]

    return batched(pairs)


@every_group
@given(seed=seeds, angle=angles)
@settings(max_examples=12, deadline=None)
def test_axioms(name, seed, angle):
    G, rng = GROUPS[name], np.random.default_rng(seed)
    x, y, z, mu = (vectors(G, rng, scale) for scale in (angle, 1.0, 1.0, 1.0))
    for axiom, (left, right) in axioms(name)(elements(G, rng), elements(G, rng), elements(G, rng), x, y, z, mu).items():
        # Products of three translations or rotations: their size enters at most cubed.
        assert distance(left, right) <= TOLERANCE * size(left) * size(mu), axiom


@every_group
def test_action(name):
    """The action is one: (g f) v = g (f v)."""
    G, rng = GROUPS[name], np.random.default_rng(1)
    g, f = elements(G, rng), elements(G, rng)
    v = point(G, rng)
    act, compose = batched(G.act), batched(G.compose)
    assert distance(act(compose(g, f), v), act(g, act(f, v))) <= TOLERANCE * size(v) * size(g)


def point(G, rng):
    """A batch of points of the space on which G acts."""
    sizes = {"Rn": 3, "SO2": 2, "SE2": 2, "SO3": 3, "S3": 3, "SE3": 3}
    match type(G).__name__:
        case "Product":
            return G.element(point(factor, rng) for factor in G.factors)
        case "Power":
            return np.stack([point(G.base, rng) for _ in range(G.count)], axis=1)
        case kind:
            return rng.standard_normal((BATCH, sizes.get(kind, getattr(G, "n", 0))))


@every_group
def test_renormalise_squares_the_error(name):
    """Off the group by d, one step leaves O(d^2), and elements of the group stay put."""
    G, rng = GROUPS[name], np.random.default_rng(2)
    g = elements(G, rng)
    off = jax.tree.map(lambda leaf: leaf + 1e-6 * rng.standard_normal(leaf.shape), g)
    error, renormalise = batched(G.error), batched(G.renormalise)
    constrained = np.max(error(off)) > 1e-7
    assert constrained == (name not in ("R3", "SO2", "SE2"))
    assert np.max(error(renormalise(off))) <= 100 * np.max(error(off)) ** 2 + 10 * EPS
    assert distance(renormalise(g), g) <= 10 * EPS


@every_group
def test_random_elements_lie_on_the_group_and_differ(name):
    G, rng = GROUPS[name], np.random.default_rng(3)
    g = elements(G, rng)
    assert np.max(batched(G.error)(g)) <= 20 * EPS
    assert all(isinstance(leaf, np.ndarray) and leaf.dtype == float for leaf in jax.tree.leaves(G.random(rng)))
    assert distance(jax.tree.map(lambda leaf: leaf[:-1], g), jax.tree.map(lambda leaf: leaf[1:], g)) > 0.1


@pytest.mark.parametrize("name", ["SO3", "SO(4)"])
def test_random_rotations_are_uniform(name):
    """Under Haar measure the mean of R is 0 and that of R_11^2 is 1/n, with det R = 1."""
    G, rng = GROUPS[name], np.random.default_rng(4)
    R = np.stack([G.random(rng) for _ in range(4000)])
    n = R.shape[-1]
    assert np.max(np.abs(np.mean(R, axis=0))) < 0.05
    assert np.max(np.abs(np.mean(R**2, axis=0) - 1 / n)) < 0.03
    np.testing.assert_allclose(np.linalg.det(R), 1.0, atol=1e-13)
