"""One step of the discretised problem: its equations, and the blocks that it adds to Newton's matrix."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.control.derivatives import derivatives, unit
from naiad.control.problem import Problem
from naiad.numerics.linalg import solver


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


class Blocks(NamedTuple):
    """What a step adds to Newton's equations, its inner velocities eliminated, for y = (U, x), x = (eta, theta, m).

    Rows are those of y, and a last one of what is there at y = 0: x_{k+1} = A^T (y, 1), dK = E^T (y, 1), and
    y . H y / 2 + q . y is the model of the cost. `bend` and `slope` are the second derivatives in K along y and the
    gradient in K, `leading` the derivative in K of what the step leads to and `inverse` that of the balance, inverted:
    they give sigma. `paths` has the derivatives of the inequalities and `path` their values; `dual` is the gradient of
    the Lagrange function in z = (U, eta, theta, K).
    """

    A: Any
    H: Any
    q: Any
    E: Any
    bend: Any
    slope: Any
    leading: Any
    inverse: Any
    paths: Any
    path: Any
    dual: Any


class Values(NamedTuple):
    """The equations of a step at an iterate: what they miss, the cost, and the inequalities."""

    cost: Any
    balance: Any
    psi: Any
    momentum: Any
    path: Any


def lagrange(problem: Problem, at: Interval, z: Float[Array, " z"], y: Float[Array, " y"]) -> Float[Array, ""]:
    """cost + sigma . a + lam . psi + gamma . m_{k+1} + rho . path, of z = (U, eta, theta, K) and y = (sigma, lam,
    gamma, rho), psi being the increment of the next node."""
    n, stages, inner = problem.group.dim, problem.steps.stages, problem.inner_size
    U, eta, theta, K = jnp.split(z, _places(problem))
    sigma, lam, gamma, rho = jnp.split(y, (inner, inner + n, inner + 2 * n))
    K, U, sigma = K.reshape(-1, n), U.reshape(stages, problem.controls), sigma.reshape(-1, n)
    h = problem.length(theta, at.step)
    g, t = problem.moved(at.g, eta), at.begin + at.k * h
    value = problem.steps.principle(problem.known(theta), problem.controlled(), g, K, U, t, h, sigma, gamma)
    value = value + lam @ problem.passed(at.g, at.g_next, eta, problem.steps.displacement(K, h))
    return value if problem.path is None else value + rho @ problem.path_values(g, K, U, t, h)


def values(problem: Problem, at: Interval) -> Values:
    """The equations at an iterate: the gradient of `lagrange` in the multipliers."""
    n, inner, z = problem.group.dim, problem.inner_size, _unknowns(problem, at)
    none = jnp.zeros(inner + 2 * n + at.rho.shape[0])
    cost, slope = jax.value_and_grad(lambda y: lagrange(problem, at, z, y))(none)
    balance, psi, momentum, path = jnp.split(slope, (inner, inner + n, inner + 2 * n))
    return Values(cost, _less(balance, at.m), psi, momentum - at.m_next, path)


def blocks(problem: Problem, at: Interval, barrier: Any, curvature: Any) -> Blocks:
    """The blocks of a step; `curvature` scales what the equations add to the second derivatives of the cost: 1 is
    Newton's method, 0 that of Gauss and Newton."""
    n, inner, c, own = problem.group.dim, problem.inner_size, problem.constants, problem.control_size
    z, y = _unknowns(problem, at), jnp.concatenate([at.sigma.reshape(-1), at.lam, at.gamma, at.rho])
    plain, size = own + n + c, own + 2 * n + c
    found = derivatives(lambda z, y: lagrange(problem, at, z, y), z, y, curvature)
    second, slope = found.second, found.slope
    balance, leads, paths = (found.first[:, a:b] for a, b in _parts(problem, y.size))
    by_y = found.equations
    miss, path = _less(by_y[:inner], at.m), by_y[inner + 2 * n :]
    if at.rho.size:
        weight = at.rho / at.slack
        push = barrier / at.slack + weight * (path + at.slack)
        second = jax.lax.map(lambda row: row[0] + paths @ (weight * row[1]), (second, paths))
        slope = slope + paths @ push
    solution = solver(balance[plain:].T)

    def eliminated(index):
        """The response of K to an unknown of y, to what the inner equations miss, and to each of them."""
        by_m = jnp.concatenate([jnp.zeros(inner - n), unit(index - plain, n)])
        alone = unit(index - size - 1, inner)
        other = jnp.where(index < size, by_m, jnp.where(index == size, -miss, alone))
        return solution(jnp.where(index < plain, -balance[jnp.minimum(index, plain - 1)], other))

    E = jax.lax.map(eliminated, jnp.arange(size + 1 + inner))
    inner_second, inner_leads, inner_paths, inner_slope = second[plain:], leads[plain:], paths[plain:], slope[plain:]
    response = E[:size].T

    def condensed(index):
        """The rows of the blocks for an unknown of y, or for what is there without any."""
        row, e = jnp.minimum(index, plain - 1), E[index]

        def of(rows, inner_rows):
            return jnp.where(index < plain, rows[row], 0.0) + e @ inner_rows

        bend, lead = of(second, inner_second), of(leads, inner_leads)
        H = jnp.concatenate([bend[:plain], jnp.zeros(n)]) + bend[plain:] @ response
        A = jnp.concatenate([lead[:n], unit(index - own - n, c), lead[n:]])
        q = jnp.where(index < plain, slope[row], 0.0) + e @ inner_slope
        return A, H, q, bend[plain:], of(paths, inner_paths)

    A, H, q, bend, path_slopes = jax.lax.map(condensed, jnp.arange(size + 1))
    reached = jnp.concatenate([by_y[inner : inner + n], jnp.zeros(c), by_y[inner + n : inner + 2 * n] - at.m_next])
    return Blocks(
        A.at[size].add(reached), H, q, E, bend, inner_slope, inner_leads, E[size + 1 :], path_slopes, path, found.dual
    )


def _places(problem: Problem) -> tuple[int, int, int]:
    """Where eta, theta and K begin in z."""
    own, n = problem.control_size, problem.group.dim
    return own, own + n, own + n + problem.constants


def _unknowns(problem: Problem, at: Interval) -> Float[Array, " z"]:
    return jnp.concatenate([at.U.reshape(-1), jnp.zeros(problem.group.dim), at.theta, at.K.reshape(-1)])


def _less(balance: Float[Array, " k"], m: Float[Array, " n"]) -> Float[Array, " k"]:
    """The inner equations, of which the last takes the momentum that comes in."""
    return jnp.concatenate([balance[: -m.size], balance[-m.size :] - m])


def _parts(problem: Problem, size: int) -> tuple[tuple[int, int], ...]:
    """Where the inner equations, those of the next node, and the inequalities are."""
    first, n = problem.inner_size, problem.group.dim
    return (0, first), (first, first + 2 * n), (first + 2 * n, size)
