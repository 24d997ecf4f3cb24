"""Gradients through a run, by implicit differentiation of each step, against finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import naiad as nd
from tests.verification.methods import METHODS as REGISTRY
from tests.verification.methods import takes
from tests.verification.problems import PROBLEMS, HeavyTop

METHODS = {"cay": nd.Variational(), "compose4": nd.Composition(nd.Variational(), 4)}


def objective(parameters, method):
    """A smooth number at the end of a run that depends on inertia, weight, start and step."""
    diagonal, mgl, Omega, dt = parameters
    top = HeavyTop(jnp.diag(diagonal), mgl)
    start = nd.State(jnp.asarray(nd.SO3().exp(jnp.array([0.5, 0.2, 0.0]))), jnp.diag(diagonal) @ Omega)
    end = nd.propagate(top, start, dt=dt, steps=25, method=method)
    return end.g[0, 1] + 0.5 * end.mu[2] ** 2 + end.mu[0]


@pytest.mark.parametrize("name", METHODS)
def test_forward_and_reverse_gradients_equal_finite_differences(name):
    with jax.enable_x64(True):
        value = jax.jit(lambda p: objective(p, METHODS[name]))
        at = (jnp.array([1.0, 2.0, 3.0]), jnp.array(1.3), jnp.array([0.3, 0.2, 1.5]), jnp.array(0.05))
        flat, unravel = ravel_pytree(at)
        reverse = ravel_pytree(jax.jit(jax.grad(value))(at))[0]
        forward = ravel_pytree(jax.jit(jax.jacfwd(value))(at))[0]

        def difference(direction, h=1e-3):
            f = [float(value(unravel(flat + s * h * direction))) for s in (-2, -1, 1, 2)]
            return (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)

        numeric = np.array([difference(e) for e in np.eye(flat.size)])
    np.testing.assert_allclose(reverse, forward, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(reverse, numeric, rtol=2e-7, atol=2e-8)
    assert np.min(np.abs(numeric)) > 1e-3  # every parameter matters


PREFERRED = ("heavy-top", "free-body", "buoyant-vehicle", "tree", "string", "planets")


@pytest.mark.long
@pytest.mark.parametrize("name", REGISTRY)
def test_gradients_of_every_method(name):
    """In the initial momentum and the step, after a few steps of the first of some problems that the method takes."""
    problem = PROBLEMS[next(each for each in PREFERRED if takes(name, each))]
    method, rng = REGISTRY[name], np.random.default_rng(5)
    with jax.enable_x64(True):
        weights = [rng.normal(size=np.shape(leaf)) for leaf in jax.tree.leaves(problem.state)]

        def end(parameters):
            mu, dt = parameters[:-1], parameters[-1]
            state = nd.propagate(problem.system, nd.State(problem.state.g, mu), dt=dt, steps=4, method=method)
            return sum(jnp.sum(w * leaf) for w, leaf in zip(weights, jax.tree.leaves(state), strict=True))

        value = jax.jit(end)
        at = jnp.concatenate([jnp.asarray(problem.state.mu), jnp.array([0.05])])
        reverse, forward = (np.asarray(jax.jit(each(end))(at)) for each in (jax.grad, jax.jacfwd))
        direction = rng.normal(size=at.shape) * np.append(np.full(at.size - 1, 1.0), 0.05)
        direction /= np.linalg.norm(direction)
        h, shifts = 1e-3, (-2, -1, 1, 2)
        values = [float(value(at + shift * h * direction)) for shift in shifts]
    difference = np.dot(values, (1, -8, 8, -1)) / (12 * h)
    np.testing.assert_allclose(reverse, forward, rtol=1e-9, atol=1e-10 * float(np.max(np.abs(forward))))
    np.testing.assert_allclose(forward @ direction, difference, rtol=1e-6, atol=1e-8)
