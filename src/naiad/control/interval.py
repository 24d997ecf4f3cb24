"""One step of the discretised problem: its Lagrange function and its equations."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.control.problem import Problem


class Interval(NamedTuple):
    """Step k of an iterate: when the motion begins, the index, h (or its part of a free duration), both nodes, the
    constants, the unknowns of the step, the multipliers of its equations, multipliers and slacks of the inequalities,
    multipliers of the bounds of the controls, and these bounds."""

    begin: Any
    k: Any
    step: Any
    g: Any
    m: Any
    g_next: Any
    m_next: Any
    theta: Any
    K: Any
    U: Any
    sigma: Any
    lam: Any
    gamma: Any
    rho: Any
    slack: Any
    low: Any
    high: Any
    lower: Any
    upper: Any


class Values(NamedTuple):
    """The equations of a step at an iterate: what they miss, the cost, the inequalities, and in `dual` the gradient of
    the Lagrange function in z."""

    cost: Any
    balance: Any
    psi: Any
    momentum: Any
    path: Any
    dual: Any


def lagrange(problem: Problem, at: Interval, z: Float[Array, " z"], y: Float[Array, " y"]) -> Float[Array, ""]:
    """cost + sigma . a + lam . psi + gamma . m_{k+1} + rho . path, of z = (eta, theta, U, K) and y = (sigma, lam,
    gamma, rho), psi being the increment of the next node."""
    n, stages, inner = problem.group.dim, problem.steps.stages, problem.inner_size
    plain = n + problem.constants
    eta, theta, U, K = jnp.split(z, (n, plain, plain + problem.control_size))
    sigma, lam, gamma, rho = jnp.split(y, (inner, inner + n, inner + 2 * n))
    K, U = problem.inner_units * K.reshape(-1, n), U.reshape(stages, problem.controls)
    sigma, gamma = sigma.reshape(-1, n) / problem.units.momentum, gamma / problem.units.momentum
    h = problem.length(theta, at.step)
    g, t = problem.moved(at.g, eta), at.begin + at.k * h
    value = problem.steps.principle(problem.known(theta), problem.controlled(), g, K, U, t, h, sigma, gamma)
    value = value + lam @ problem.passed(at.g, at.g_next, eta, problem.steps.displacement(K, h))
    return value if problem.path is None else value + rho @ problem.path_values(g, K, U, t, h)


def values(problem: Problem, at: Interval) -> Values:
    """The equations at an iterate: the gradient of `lagrange` in the multipliers."""
    n, inner, z, y = problem.group.dim, problem.inner_size, unknowns(problem, at), multipliers(at)
    cost = lagrange(problem, at, z, jnp.zeros_like(y))
    dual, slope = jax.grad(lambda z, y: lagrange(problem, at, z, y), argnums=(0, 1))(z, y)
    return Values(cost, *jnp.split(misses(at, slope), (inner, inner + n, inner + 2 * n)), dual)


def unknowns(problem: Problem, at: Interval) -> Float[Array, " z"]:
    """z at an iterate."""
    return jnp.concatenate([jnp.zeros(problem.group.dim), at.theta, at.U.reshape(-1), at.K.reshape(-1)])


def multipliers(at: Interval) -> Float[Array, " y"]:
    """y at an iterate."""
    return jnp.concatenate([at.sigma.reshape(-1), at.lam, at.gamma, at.rho])


def misses(at: Interval, slope: Float[Array, " y"]) -> Float[Array, " y"]:
    """What the equations miss, from the gradient of `lagrange` in the multipliers: the last of the inner ones take the
    momentum that comes in, and where the step leads to is the next node."""
    n, inner = at.m.size, at.sigma.size
    balance, momentum = slope[inner - n : inner] - at.m, slope[inner + n : inner + 2 * n] - at.m_next
    return jnp.concatenate([slope[: inner - n], balance, slope[inner : inner + n], momentum, slope[inner + 2 * n :]])
