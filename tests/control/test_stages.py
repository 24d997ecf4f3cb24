"""The blocks of steps with several stages, put together from those of one stage, against the derivatives of a step."""

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.compiler import execute_rows
from naiad.control import interval, stages
from naiad.control.blocks import blocks
from naiad.control.problem import Problem
from naiad.control.transcription import GaussSteps
from naiad.control.units import Units

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


def test_blocks_from_stages_are_those_of_the_whole_step():
    """With a free duration, inequalities, forces that depend on place and time, and scaled multipliers."""
    problem = Problem(
        Swing(), GaussSteps(nd.VPRK("gauss2")), push, cost, path, *[None] * 4, Units(1.5, 0.7, 2.0), 1, 1, 0, True, True
    )
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
    barrier, curvature = np.full(ROWS, 0.1), np.full(ROWS, 0.7)
    whole = execute_rows(blocks, problem, at, barrier, curvature, parameters=())
    found = stages.staged_blocks(problem, at, barrier, curvature)
    for own, other in zip(found, whole, strict=True):
        for name in own._fields:
            one, two = getattr(own, name), getattr(other, name)
            np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-11, err_msg=name)
    values = execute_rows(interval.values, problem, at, parameters=())
    staged = stages.staged_values(problem, at)
    for one, other in zip(jax.tree.leaves(staged), jax.tree.leaves(values), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
