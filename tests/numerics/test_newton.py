"""Newton's method and the linear solves behind it."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.numerics import Chain, Dense, Newton


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def chain_residual(x, target, *, size, border):
    """Nonlinear equations of blocks coupled to their neighbours, and of a border coupled to all."""
    inner, edge = (x[: x.size - border], x[x.size - border :])
    blocks = inner.reshape(-1, size)
    left = jnp.concatenate([jnp.zeros((1, size)), blocks[:-1]])
    right = jnp.concatenate([blocks[1:], jnp.zeros((1, size))])
    mixed = 4.0 * blocks + jnp.sin(left[:, ::-1]) * 0.7 - 0.5 * right + 0.3 * jnp.cos(blocks) * (jnp.sum(edge) + 1.0)
    outer = 3.0 * edge + 0.1 * jnp.sum(blocks**2)
    return jnp.concatenate([mixed.reshape(-1), outer]) - target


@pytest.mark.parametrize(("blocks", "size", "border"), [(1, 2, 0), (2, 3, 0), (7, 3, 2), (40, 2, 1)])
def test_chain_finds_the_root_and_its_derivative_as_dense_does(blocks, size, border):
    n = blocks * size + border
    target = jnp.asarray(np.random.default_rng(n).standard_normal(n))

    def root(structure, target):
        return Newton().root(lambda x: chain_residual(x, target, size=size, border=border), jnp.zeros(n), structure)

    structures = Dense(), Chain(size, border)
    dense, chain = (jax.jit(functools.partial(root, each))(target) for each in structures)
    assert bool(dense.converged)
    assert bool(chain.converged)
    np.testing.assert_allclose(chain.x, dense.x, atol=1e-14)
    np.testing.assert_allclose(chain_residual(chain.x, target, size=size, border=border), 0.0, atol=1e-14)
    weight = jnp.arange(1.0, n + 1)
    gradients = [jax.jit(jax.grad(lambda t, s=each: weight @ root(s, t).x))(target) for each in structures]
    np.testing.assert_allclose(gradients[1], gradients[0], rtol=1e-11, atol=1e-12)


def test_chain_that_does_not_divide_the_unknowns_is_refused():
    with pytest.raises(nd.InputError, match=r"Chain\(size=2, border=0\) does not divide 5 unknowns"):
        Newton().root(lambda x: x - 1.0, jnp.zeros(5), Chain(2))
    with pytest.raises(nd.InputError, match=r"expected size >= 1"):
        Chain(0)


@pytest.mark.parametrize(
    ("residual", "guess", "root", "most"),
    [
        (lambda x: x**2 - 2.0, 1.0, np.sqrt(2.0), 5),
        (lambda x: jnp.exp(x) - 1e-8, 0.0, np.log(1e-8), 25),
        (lambda x: x - 3.0, 0.0, 3.0, 2),
        (lambda x: x * (1.0 + x**2), 0.1, 0.0, 8),
    ],
)
def test_roots_to_round_off(residual, guess, root, most):
    found = Newton().root(residual, jnp.array([guess]))
    assert bool(found.converged)
    assert int(found.iterations) <= most
    assert float(found.x[0]) == pytest.approx(root, rel=4e-16, abs=1e-16)


@pytest.mark.parametrize("residual", [lambda x: x**2 + 1.0, lambda x: jnp.sqrt(x - 5.0), lambda x: x / x])
def test_no_root_is_reported(residual):
    assert not bool(Newton().root(residual, jnp.array([1.0])).converged)


def test_unknowns_below_the_floor_are_rounding():
    """x + 1e-12 sign(x) jumps over zero, as a sum of terms that cancel does: x hops from one side to the other."""

    def residual(x):
        return x + 1e-12 * jnp.sign(x)

    assert not bool(Newton().root(residual, jnp.array([1e-12])).converged)
    found = Newton().root(residual, jnp.array([1e-12]), floor=1e-11)
    assert bool(found.converged)
    assert int(found.iterations) == 2


def test_corrections_that_shrink_slowly_go_on_to_round_off():
    """At a triple root each leaves two thirds of the error: it ends where they are some hundred units of rounding."""
    solver = Newton(max_iterations=200)
    root = solver.root(lambda x: (x - 1.0) ** 3, jnp.array([1.5]))
    assert root.converged
    assert 60 < root.iterations < 80
    assert abs(root.x[0] - 1.0) < 2e3 * np.finfo(float).eps


def test_a_chord_is_not_content_with_its_first_correction():
    solver = Newton(jacobian="inertia")
    root = solver.root(lambda x: x + 0.1 * jnp.sin(x) - 1.0, jnp.array([0.5]), inertia=lambda x: x)
    assert root.converged
    assert root.iterations > 5
    assert abs(root.x[0] + 0.1 * np.sin(root.x[0]) - 1.0) < 2 * np.finfo(float).eps


def test_a_step_to_where_nothing_is_defined_is_halved():
    """log(x) from 3 leads to -0.3; half of that step is 1.35."""
    root = Newton().root(jnp.log, jnp.array([3.0]))
    assert root.converged
    assert root.x[0] == pytest.approx(1.0, abs=4 * np.finfo(float).eps)
