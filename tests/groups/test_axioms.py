"""The axioms of a group, of its adjoint actions and of its algebra, on every group."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings

from naiad.groups import Power, Product
from tests.sampling import (
    BATCH,
    EPS,
    GROUPS,
    angles,
    batched,
    distance,
    elements,
    per_group,
    seeds,
    size,
    vectors,
)

# Round-off of a few products of entries of size 1 (n^2 products on SO(n)).
TOLERANCE = 15 * EPS


@per_group
def axioms(G):
    """Pairs that must agree, for random elements g, f, k, vectors x, y, z, covectors mu and points v."""

    def pairs(g, f, k, x, y, z, mu, v):
        e, gf = G.identity(), G.compose(g, f)
        inverse, d = G.inverse(g), G.expm1(x)
        h, bracket = G.exp(x), G.ad(x, y)
        return {
            "associative": (G.compose(gf, k), G.compose(g, G.compose(f, k))),
            "left identity": (G.compose(e, g), g),
            "right identity": (G.compose(g, e), g),
            "left inverse": (G.compose(inverse, g), e),
            "right inverse": (G.compose(g, inverse), e),
            "closed": (G.error(gf), jnp.zeros(())),
            "closed inverse": (G.error(inverse), jnp.zeros(())),
            "vee of hat": (G.vee(G.hat(x)), x),
            "action": (G.act(gf, v), G.act(g, G.act(f, v))),
            "Ad of a product": (G.Ad(gf, x), G.Ad(g, G.Ad(f, x))),
            "Ad of the identity": (G.Ad(e, x), x),
            "Ad keeps brackets": (G.Ad(g, bracket), G.ad(G.Ad(g, x), G.Ad(g, y))),
            "antisymmetry": (bracket, -G.ad(y, x)),
            "Jacobi": (G.ad(x, G.ad(y, z)), G.ad(bracket, z) + G.ad(y, G.ad(x, z))),
            "Ad dual": (jnp.dot(G.Ad_dual(g, mu), x), jnp.dot(mu, G.Ad(g, x))),
            "ad dual": (jnp.dot(G.ad_dual(x, mu), y), jnp.dot(mu, bracket)),
            "exp is e + expm1": (h, jax.tree.map(jnp.add, e, d)),
            "Ad of exp is exp of ad": (G.Ad(h, y), exponential_of_ad(x, y)),
            "advance": (G.advance(g, d), G.compose(g, h)),
            "Ad change": (y + G.Ad_change(d, y), G.Ad(h, y)),
            "Ad dual advance": (G.Ad_dual_advance(d, mu), G.Ad_dual(h, mu)),
            "tangent": (G.tangent(g, x), along(lambda s: G.compose(g, G.exp(s * x)))),
            "ad is the derivative of Ad": (bracket, along(lambda s: G.Ad(G.exp(s * x), y))),
            "split keeps all": (sum(jnp.sum(part) for part in G.split(x)), jnp.sum(x)),
        }

    def along(curve):
        return jax.jvp(curve, (jnp.zeros(()),), (jnp.ones(()),))[1]

    def exponential_of_ad(x, y):
        """sum_j ad_x^j y / j!, from the smallest term."""

        def horner(value, j):
            return y + G.ad(x, value) / j, None

        return jax.lax.scan(horner, y, jnp.arange(40.0, 0.0, -1.0))[0]

    return batched(pairs)


def points(G, rng):
    """A batch of points of the space on which G acts."""
    sizes = {"SO2": 2, "SE2": 2, "SO3": 3, "S3": 3, "SE3": 3}
    match G:
        case Product():
            return G.element(points(factor, rng) for factor in G.factors)
        case Power():
            return np.stack([points(G.base, rng) for _ in range(G.count)], axis=1)
        case _:
            return rng.standard_normal((BATCH, getattr(G, "n", None) or sizes[type(G).__name__]))


@pytest.mark.parametrize("name", GROUPS)
@given(seed=seeds, angle=angles)
@settings(max_examples=12, deadline=None)
def test_axioms(name, seed, angle):
    G, rng = GROUPS[name], np.random.default_rng(seed)
    x, y, z, mu = (vectors(G, rng, scale) for scale in (angle, 1.0, 1.0, 1.0))
    g, f, k = elements(G, rng), elements(G, rng), elements(G, rng)
    for axiom, (left, right) in axioms(name)(g, f, k, x, y, z, mu, points(G, rng)).items():
        assert distance(left, right) <= TOLERANCE * size(left) * size(mu), axiom


@pytest.mark.parametrize("name", GROUPS)
def test_distance_from_the_group(name):
    """Random elements lie on the group and differ; off it by d, one step of `renormalise` leaves O(d^2)."""
    G, rng = GROUPS[name], np.random.default_rng(2)
    g = elements(G, rng)
    off = jax.tree.map(lambda leaf: leaf + 1e-6 * rng.standard_normal(leaf.shape), g)

    def results(g):
        new = G.renormalise(g)
        return G.error(g), G.error(new), new

    run = batched(results)
    before, after, _ = run(off)
    assert (np.max(before) > 1e-7) == (name not in ("R3", "SO2", "SE2"))
    assert np.max(after) <= 100 * np.max(before) ** 2 + 10 * EPS
    before, after, new = run(g)
    assert max(np.max(before), np.max(after)) <= 20 * EPS
    assert distance(new, g) <= 10 * EPS
    assert all(isinstance(leaf, np.ndarray) and leaf.dtype == float for leaf in jax.tree.leaves(G.random(rng)))
    assert distance(jax.tree.map(lambda leaf: leaf[:-1], g), jax.tree.map(lambda leaf: leaf[1:], g)) > 0.1


@pytest.mark.parametrize("name", ["SO3", "SO(4)"])
def test_random_rotations_are_uniform(name):
    """Under Haar measure the mean of R is 0 and that of R_ij^2 is 1/n, with det R = 1."""
    G, rng = GROUPS[name], np.random.default_rng(4)
    R = np.stack([G.random(rng) for _ in range(4000)])
    n = R.shape[-1]
    assert np.max(np.abs(np.mean(R, axis=0))) < 0.05
    assert np.max(np.abs(np.mean(R**2, axis=0) - 1 / n)) < 0.03
    np.testing.assert_allclose(np.linalg.det(R), 1.0, atol=1e-13)
