"""Derivatives of steps with several stages, put together from those of one stage, against those of a whole step."""

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.compiler import execute_rows
from naiad.control import interval
from naiad.control.derivatives import Directional
from naiad.control.problem import Problem
from naiad.control.stages import Staged, values_of
from naiad.control.transcription import GaussSteps
from naiad.control.units import ProblemUnits

ROWS = 3


def push(g, u, t):
    return g * u * (1.0 + 0.1 * t)


def cost(g, xi, u, t):
    return 0.5 * u @ u + (g[0] * xi[0]) ** 2


def path(g, xi, u, t):
    return jnp.stack([g[0] * u[0] - 2.0, xi[0] - t])


class Swing(nd.LagrangianSystem):
    """A pendulum on R."""

    group = nd.Rn(1)

    def lagrangian(self, x, v, t):
        return 0.5 * v @ v * (1.0 + x @ x) + jnp.cos(x[0])


def test_derivatives_from_stages_are_those_of_the_whole_step():
    """With a free duration, inequalities, forces that depend on place and time, and scaled multipliers."""
    units = ProblemUnits(np.array([0.4]), np.array([1.5]), np.array([0.7]), 2.0, np.array([1.3, 0.6]))
    problem = Problem(Swing(), GaussSteps(nd.VPRK("gauss2")), push, cost, path, *[None] * 4, units, 1, 1, 0, True, True)
    rng = np.random.default_rng(1)

    def drawn(*shape):
        return rng.normal(size=(ROWS, *shape))

    at = interval.Interval(
        begin=np.full(ROWS, 0.7),
        k=np.arange(ROWS) * 1.0,
        step=np.full(ROWS, 0.1),
        g=drawn(1),
        g_next=drawn(1),
        m=drawn(1),
        m_next=drawn(1),
        theta=1.0 + 0.1 * drawn(1),
        K=drawn(3, 1),
        U=drawn(2, 1),
        sigma=drawn(3, 1),
        lam=drawn(1),
        gamma=drawn(1),
        rho=np.exp(drawn(4)),
        slack=np.exp(drawn(4)),
        **dict.fromkeys(("low", "high", "lower", "upper"), drawn(2, 1)),
    )
    curvature = np.full(ROWS, 0.7)

    def of(function):
        def rows(problem, at, curvature):
            found, size = function(problem, at, curvature), interval.unknowns(problem, at).size
            return found.equations, jax.lax.map(found.along(1, size - 1), jnp.arange(size - 1))

        return execute_rows(rows, problem, at, curvature, parameters=())

    def whole(problem, at, curvature):
        z, y = interval.unknowns(problem, at), interval.multipliers(at)
        return Directional(lambda z, y: interval.lagrange(problem, at, z, y), z, y, curvature)

    for one, other in zip(jax.tree.leaves(of(Staged)), jax.tree.leaves(of(whole)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-11)
    values = (execute_rows(each, problem, at, parameters=()) for each in (values_of, interval.values))
    for one, other in zip(*map(jax.tree.leaves, values), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
