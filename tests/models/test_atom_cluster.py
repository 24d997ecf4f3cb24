"""Clusters of atoms: Jacobi vectors against places, known minima, and the chart of rotation and shape."""

import jax
import numpy as np
import pytest

import naiad as nd
from naiad.compiler import execute_rows
from naiad.diagnostics import phases
from naiad.models import AtomCluster, ClusterShape
from naiad.numerics import double

M = np.array([1.0, 2.0, 0.5, 1.5])
RNG = np.random.default_rng(3)
TRIANGLE = np.array([[0.0, 0.0, 0.0], [1.15, 0.0, 0.0], [0.5, 1.0, 0.1]])


def at_once(function, *arguments):
    return jax.tree.map(np.asarray, double(jax.jit(function))(*arguments))


def test_energy_and_angular_momentum_are_those_of_the_atoms():
    cluster = AtomCluster(M, nd.models.LennardJones(0.7, 1.2))
    x, v = RNG.standard_normal((2, 4, 3))
    x, v = x - M @ x / M.sum(), v - M @ v / M.sum()
    q, w = cluster.coordinates(x), cluster.coordinates(v)
    np.testing.assert_allclose(np.asarray(cluster.jacobi) @ q, x, atol=1e-14)
    state = cluster.state(q, np.ravel(w))
    energy, momentum = at_once(lambda state: (cluster.energy(state), cluster.noether(state)), state)
    pairs = [np.sum((x[i] - x[j]) ** 2) for i in range(4) for j in range(i)]
    potential = sum(2.8 * ((1.44 / each) ** 6 - (1.44 / each) ** 3) for each in pairs)
    assert float(energy) == pytest.approx(0.5 * np.sum(M[:, None] * v**2) + potential, rel=1e-13)
    np.testing.assert_allclose(momentum, np.sum(M[:, None] * np.cross(x, v), axis=0), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("count", "lowest"), [(3, -3.0), (4, -6.0), (5, -9.103852)])
def test_small_clusters_fall_to_the_published_minima(count, lowest):
    cluster = AtomCluster(np.ones(count))
    starts = [cluster.coordinates(RNG.uniform(-1.0, 1.0, (count, 3))) for _ in range(20)]
    ends = cluster.relaxed(np.stack(starts))
    ends = ends[np.all(np.isfinite(ends), axis=(1, 2))]
    found = execute_rows(lambda cluster, q: cluster.potential_energy(q), cluster, ends, parameters=(0,))
    assert found.min() == pytest.approx(lowest, abs=5e-7)


def test_the_connection_in_eckarts_frame_is_the_sum_of_cross_products():
    cluster = AtomCluster(np.ones(4))
    chart = ClusterShape(cluster, RNG.standard_normal((3, 3)))
    s = 0.2 * RNG.standard_normal(6)
    q, B = chart.reference + np.tensordot(s, chart.basis, 1), chart.basis
    inertia = np.sum(q**2) * np.eye(3) - q.T @ q
    A = np.linalg.solve(inertia, np.cross(q, B).sum(axis=1).T)
    X = chart.reference
    still = np.sum(X**2) * np.eye(3) - X.T @ X
    F = np.linalg.solve(still, 2.0 * np.cross(B[:, None], B).sum(axis=2).reshape(-1, 3).T).T.reshape(6, 6, 3)
    found = at_once(lambda s: (chart.locked_inertia(s), chart.connection(s), chart.curvature(0.0 * s)), s)
    for value, expected in zip(found, (inertia, A, F), strict=True):
        np.testing.assert_allclose(value, expected, rtol=0, atol=1e-12)


def test_reduced_steps_are_verlets_and_without_momentum_there_is_only_a_geometric_phase():
    cluster = AtomCluster(np.array([1.0, 1.3, 0.8]))
    q = cluster.coordinates(TRIANGLE)
    w = RNG.standard_normal(q.shape)
    w -= np.cross(np.linalg.solve(np.sum(q**2) * np.eye(3) - q.T @ q, np.cross(q, w).sum(0)), q)
    start = cluster.state(q, 0.3 * np.ravel(w))
    chart = ClusterShape(cluster, 1.05 * q + 0.02)
    reduced = chart.reduced(start)
    back = chart.unreduced(reduced)
    np.testing.assert_allclose(back.g, start.g, atol=1e-14)
    np.testing.assert_allclose(back.mu, start.mu, atol=1e-14)
    whole = nd.simulate(cluster, start, t1=1.0, dt=0.01, save_every=1)
    run = nd.simulate(chart, reduced, t1=1.0, dt=0.01, save_every=1)
    places = execute_rows(lambda chart, g: chart.configuration(g), chart, run.g, parameters=(0,))
    np.testing.assert_allclose(places, whole.g, rtol=0, atol=1e-13)
    np.testing.assert_allclose(run.energy, whole.energy, rtol=0, atol=1e-12)
    assert np.max(np.abs(run.momentum)) < 1e-15
    found = phases(run)
    np.testing.assert_allclose(found.dynamic, np.broadcast_to(np.eye(3), found.dynamic.shape), atol=1e-12)
    assert np.linalg.norm(found.g[-1] - found.g[0]) > 0.01  # it turned nevertheless
    moved, there = chart.about(run.final)
    np.testing.assert_allclose(there.g.s, 0.0, atol=1e-14)
    np.testing.assert_allclose(there.g.R, run.final.g.R, atol=1e-14)
    np.testing.assert_allclose(moved.unreduced(there).mu, chart.unreduced(run.final).mu, atol=1e-13)


def test_what_has_no_frame_is_refused():
    with pytest.raises(nd.InputError, match="at least two"):
        AtomCluster([1.0])
    cluster = AtomCluster(np.ones(3))
    with pytest.raises(nd.InputError, match="in a line"):
        ClusterShape(cluster, [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    with pytest.raises(nd.InputError, match="2 rows"):
        ClusterShape(cluster, np.ones((3, 3)))
    with pytest.raises(nd.InputError, match="each of 3 atoms"):
        cluster.coordinates(np.ones((2, 3)))
    chart = ClusterShape(cluster, cluster.coordinates(TRIANGLE))
    mirrored = -2.0 * np.tensordot(chart.basis, chart.reference, axes=2)
    with pytest.raises(nd.InputError, match="about"):
        chart.state(s=mirrored)
