"""The blocks of a step against dense linear algebra with derivatives by JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.compiler import execute_rows
from naiad.control import interval
from naiad.control.blocks import blocks
from naiad.control.problem import Problem
from naiad.control.riccati import Sizes
from naiad.control.transcription import GaussSteps, VariationalSteps
from naiad.control.units import ProblemUnits

ROWS = 3


def push(g, u, t):
    return jnp.concatenate([u, jnp.sin(t) * g.x])


def cost(g, xi, u, t):
    return 0.5 * u @ u + (g.x @ xi[3:]) ** 2 + 0.1 * t * g.R[0, 1] * u[0]


def path(g, xi, u, t):
    return jnp.stack([g.x[0] * u[0] - 2.0, xi[0] - t * g.R[2, 2]])


class Floating(nd.LagrangianSystem):
    """A body with a potential of place and attitude, whose mass is a parameter."""

    mass: jax.Array
    group = nd.SE3()

    def lagrangian(self, g, xi, t):
        K = jnp.diag(jnp.array([0.5, 1.5, 1.2, 1.0, 2.0, 1.6]))
        return 0.5 * self.mass * xi @ K @ xi - 0.3 * g.x @ g.x * g.R[2, 2]


def model(system, theta):
    return Floating(system.mass * theta[0])


@pytest.mark.parametrize("steps", [VariationalSteps(nd.Variational()), GaussSteps(nd.VPRK("gauss2"))])
def test_blocks_are_the_dense_elimination(steps):
    """With a free duration and a parameter, inequalities, forces and costs that depend on everything, and units."""
    units = ProblemUnits(
        np.array([0.4, 0.5, 0.6, 2.0, 2.1, 2.2]),
        np.linspace(1.0, 2.0, 6),
        np.array([0.7, 0.8, 0.9]),
        2.0,
        np.array([1.3, 0.6]),
    )
    given = (push, cost, path, None, None, model, None, units)
    problem = Problem(Floating(np.ones(())), steps, *given, 3, 2, 1, True, True)
    group, sizes, rng = problem.group, Sizes.of(problem), np.random.default_rng(2)
    n, inner, c, own, q = 6, 6 * steps.inner, 2, 3 * steps.stages, 2 * steps.stages

    def drawn(*shape):
        return 0.5 * rng.normal(size=(ROWS, *shape))

    def placed():
        each = [group.exp(vector) for vector in 0.5 * rng.normal(size=(ROWS, n))]
        return jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *each)

    with jax.enable_x64(True):
        at = interval.Interval(
            begin=np.full(ROWS, 0.7),
            k=np.arange(ROWS) * 1.0,
            step=np.full(ROWS, 0.1),
            g=placed(),
            g_next=placed(),
            m=drawn(n),
            m_next=drawn(n),
            theta=1.0 + 0.2 * drawn(c),
            K=drawn(steps.inner, n),
            U=drawn(steps.stages, 3),
            sigma=drawn(steps.inner, n),
            lam=drawn(n),
            gamma=drawn(n),
            rho=np.exp(drawn(q)),
            slack=np.exp(drawn(q)),
            **dict.fromkeys(("low", "high", "lower", "upper"), drawn(steps.stages, 3)),
        )
        barrier, curvature = 0.1, 0.7
        swept, kept = execute_rows(blocks, problem, at, np.full(ROWS, barrier), np.full(ROWS, curvature), parameters=())

        @jax.jit
        def dense(row):
            z, y = interval.unknowns(problem, row), interval.multipliers(row)

            def by_y(z):
                return interval.misses(row, jax.grad(lambda y: interval.lagrange(problem, row, z, y))(y))

            second = jax.hessian(lambda z: interval.lagrange(problem, row, z, curvature * y))(z)
            slope = jax.grad(lambda z: interval.lagrange(problem, row, z, 0.0 * y))(z)
            return second, jax.jacfwd(by_y)(z), by_y(z), slope

        for k in range(ROWS):
            row = jax.tree.map(lambda a, k=k: a[k], at)
            S, J, miss, gradient = map(np.asarray, dense(row))
            x, plain = n + c, n + c + own
            # z less K by y = (x, U), and what comes in with m
            wide, entering = np.zeros((plain, sizes.state + own)), np.zeros((inner, sizes.state + own))
            wide[:x, :x], wide[x:, -own:], entering[-n:, x : x + n] = np.eye(x), np.eye(own), np.eye(n)
            by_K = J[:inner, plain:]
            E = np.linalg.solve(by_K, entering - J[:inner, :plain] @ wide)
            alone = -np.linalg.solve(by_K, miss[:inner])
            whole, there = np.vstack([wide, E]), np.r_[np.zeros(plain), alone]
            weight = row.rho / row.slack
            S = S + J[-q:].T @ (weight[:, None] * J[-q:])
            gradient = gradient + J[-q:].T @ (barrier / row.slack + weight * (miss[-q:] + row.slack))
            H, slope = whole.T @ S @ whole, whole.T @ (gradient + S @ there)
            pad = sizes.columns - sizes.state - 1 - own
            expected = np.hstack([H[:, : sizes.state], slope[:, None], np.zeros((len(H), pad)), H[:, sizes.state :]])
            np.testing.assert_allclose(swept.cost[k], expected, rtol=1e-10, atol=1e-11)
            leads = J[inner : inner + 2 * n] @ np.c_[whole, there]
            leads[:, -1] += miss[inner : inner + 2 * n]
            rows = np.r_[0:n, n + c : sizes.state]
            nx = sizes.state
            np.testing.assert_allclose(swept.lead[k][rows][:, :nx], leads[:, :nx], rtol=1e-10, atol=1e-11)
            np.testing.assert_allclose(swept.lead[k][rows][:, nx], leads[:, -1], rtol=1e-10, atol=1e-11)
            np.testing.assert_allclose(swept.lead[k][rows][:, -own:], leads[:, nx:-1], rtol=1e-10, atol=1e-11)
            np.testing.assert_array_equal(swept.lead[k][n : n + c, :nx], np.eye(c, nx, n))
            response = np.c_[whole, there]
            np.testing.assert_allclose(kept.response[k][:, :inner], response[plain:].T, rtol=1e-10, atol=1e-11)
            np.testing.assert_allclose(kept.response[k][:, inner:], (S[plain:] @ response).T, rtol=1e-10, atol=1e-11)
            np.testing.assert_allclose(kept.inverse[k], np.linalg.inv(by_K).T, rtol=1e-10, atol=1e-11)
            np.testing.assert_allclose(kept.slope[k], gradient[plain:], rtol=1e-10, atol=1e-11)
            np.testing.assert_allclose(kept.paths[k], (J[inner + 2 * n :] @ response).T, rtol=1e-10, atol=1e-11)
