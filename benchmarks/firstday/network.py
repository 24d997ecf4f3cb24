"""A potential energy that is a neural network, and the gradient of a loss in its 353 weights through 100 steps."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
from clock import part

import naiad as nd

SIZES = (3, 16, 16, 1)


def network(weights, x):
    for W, b in weights[:-1]:
        x = jnp.tanh(W @ x + b)
    W, b = weights[-1]
    return (W @ x + b)[0]


class Neural(nd.LagrangianSystem):
    """A rigid body in a potential of its vertical direction."""

    J: np.ndarray
    weights: list
    group = nd.SO3()

    def lagrangian(self, R, Omega, t):
        return 0.5 * Omega @ self.J @ Omega - network(self.weights, R[2])


def as_weights(x):
    found, i = [], 0
    for a, b in pairwise(SIZES):
        found.append((x[i : i + a * b].reshape(b, a), x[i + a * b : i + a * b + b]))
        i += a * b + b
    return found


J = np.diag([1.0, 1.2, 0.8])
rng = np.random.default_rng(0)
count = sum(a * b + b for a, b in pairwise(SIZES))
x0 = 0.3 * rng.normal(size=count)
body = Neural(J, as_weights(x0))
state = body.state(R=(0.3, 0.8, 0.1), Omega=(0.7, 0.1, -0.4))
with part("first run"):
    nd.simulate(body, state, t1=20.0, dt=0.02)
measured = rng.normal(size=(5, 3))


def loss(x, R, mu):
    body = Neural(J, as_weights(x))

    def sample(state, Omega):
        state = nd.propagate(body, state, dt=0.02, steps=20)
        return state, jnp.sum((body.velocity(state.g, state.mu) - Omega) ** 2)

    return jnp.sum(jax.lax.scan(sample, nd.State(R, mu), measured)[1])


gradient = nd.compile(jax.value_and_grad(loss))
with part("first gradient"):
    gradient(x0, state.g, state.mu)
with part("gradients", 20):
    for _ in range(20):
        gradient(x0, state.g, state.mu)
with part("first batch of gradients"):
    gradient.batch(np.tile(x0, (8, 1)), np.tile(state.g, (8, 1, 1)), np.tile(state.mu, (8, 1)))
