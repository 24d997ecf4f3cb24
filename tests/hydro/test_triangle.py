"""Integrals over triangles against quadrature of another kind."""

import jax
import numpy as np
import pytest
import scipy.integrate

from naiad.hydro.meshes import triangle

V = np.array([(0.1, -0.2, 0.3), (1.2, 0.1, -0.1), (0.4, 0.9, 0.2)])
BESIDE = {
    "a vertex": np.array([V[0], (-0.8, 0.1, 0.2), (-0.2, -0.9, 0.6)]),
    "an edge": np.array([V[0], V[1], (0.5, -0.8, 0.7)]),
}


def over(v, function, order=40):
    """The integral over a triangle by a Gauss rule in the square, folded to the triangle."""
    x, w = np.polynomial.legendre.leggauss(order)
    x, w = 0.5 * (x + 1.0), 0.5 * w
    u, s = (each.ravel() for each in np.meshgrid(x, x, indexing="ij"))
    weight = np.outer(w, w).ravel() * u * np.linalg.norm(np.cross(v[1] - v[0], v[2] - v[0]))
    points = np.stack([1 - u, u * (1 - s), u * s], axis=1) @ v
    return sum(a * function(p) for a, p in zip(weight, points, strict=True))


@pytest.mark.parametrize("x", [(0.3, 0.4, 0.9), (-0.5, 1.4, -0.3), (0.5, 0.2, -0.6)])
def test_potentials(x):
    x = np.array(x)
    with jax.enable_x64(True):
        n = np.asarray(triangle.normal(V)[0])
        found = triangle.potentials(x, V, n)
    d = n @ (x - V[0])
    foot = x - d * n
    np.testing.assert_allclose(found.height, d, atol=1e-15)
    np.testing.assert_allclose(found.single, over(V, lambda y: 1.0 / np.linalg.norm(x - y)), rtol=1e-12)
    np.testing.assert_allclose(found.angle, over(V, lambda y: d / np.linalg.norm(x - y) ** 3), rtol=1e-11)
    np.testing.assert_allclose(found.moment, over(V, lambda y: (y - foot) / np.linalg.norm(x - y)), atol=1e-12)
    # the gradient of int 1/R in the plane is - sum m f
    inward = np.asarray(found.edges)
    h = 1e-5
    for axis in np.eye(3):
        step = axis - (axis @ n) * n
        with jax.enable_x64(True):
            rise = triangle.potentials(x + h * step, V, n).single - triangle.potentials(x - h * step, V, n).single
        assert float(rise) / (2 * h) == pytest.approx(float(-inward @ step), abs=1e-9)


def test_a_triangle_with_itself_and_with_those_that_touch_it():
    """Against the closed form at points of a fine rule outside, which converges slowly towards what is shared."""
    n = np.cross(V[1] - V[0], V[2] - V[0])
    n /= np.linalg.norm(n)
    with jax.enable_x64(True):
        single = jax.jit(lambda x: triangle.potentials(x, V, n).single)
        found = triangle.own(V[None])[0]
        assert found == pytest.approx(over(V, lambda x: float(single(x)), 60) / (4 * np.pi), rel=2e-5)
        nodes, weights = np.polynomial.legendre.leggauss(5)
        for name, other in BESIDE.items():
            graded = float(name == "an edge")
            found = triangle.touching(V, other, graded, 0.5 * (nodes + 1), 0.5 * weights)
            assert float(found) == pytest.approx(over(other, lambda x: float(single(x)), 60) / (4 * np.pi), rel=2e-5)


def test_layers_of_near_and_of_middle_pairs_agree_far_away():
    """Linear functions under a double layer and turns under a single one, against two rules."""
    outer = V - [-4.0, -3.0, -2.0]
    with jax.enable_x64(True):
        near = triangle.near(outer, V, *triangle.rule(12))
        both = triangle.middle(outer, V, *triangle.rule(12))
    for a, b in zip(near, both, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)
        assert np.max(np.abs(a)) > 1e-4


@pytest.mark.parametrize(("count", "degree"), [(3, 2), (6, 4), (12, 6)])
def test_rules(count, degree):
    points, weights = triangle.rule(count)
    for i in range(degree + 1):
        for j in range(degree + 1 - i):
            exact, _ = scipy.integrate.dblquad(lambda y, x, i=i, j=j: 2 * x**i * y**j, 0, 1, 0, lambda x: 1 - x)
            assert weights @ (points[:, 0] ** i * points[:, 1] ** j) == pytest.approx(exact, abs=1e-14)
