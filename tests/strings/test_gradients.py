"""Gradients through runs of strings, by implicit differentiation of each step, against finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.strings import StringVariational
from tests.strings.test_inextensible import bent, pendulum

CASES = {"inextensible": (None, nd.Midpoint()), "implicit": (40.0, nd.Implicit())}


def objective(parameters, system, start, method):
    """A smooth number at the end of a run that depends on the start, the moment on the reel and the step."""
    faster, moment, dt = parameters
    driven = system.replaced(reel=system.reel.replaced(moment=moment))
    end = nd.propagate(driven, nd.State(start.g, start.mu * (1.0 + faster)), dt=dt, steps=8, method=method)
    return end.g.q[-1, 0] + end.g.R[0, 1] + 0.5 * end.g.s[0] + 3.0 * end.mu[-1]


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_gradients_equal_finite_differences(name):
    stiffness, rule = CASES[name]
    system = pendulum(1, stiffness)
    start, method = bent(system), StringVariational(rule)
    with jax.enable_x64(True):
        value = jax.jit(lambda p: objective(p, system, start, method))
        at = jnp.array([0.1, 2.09, 0.02])
        reverse = jax.jit(jax.grad(value))(at)

        def difference(direction, h):
            f = [float(value(at + s * h * direction)) for s in (-2, -1, 1, 2)]
            return (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)

        numeric = np.array([difference(e, h) for e, h in zip(np.eye(3), (1e-2, 1e-1, 1e-4), strict=True)])
    np.testing.assert_allclose(reverse, numeric, rtol=1e-6)
    assert np.min(np.abs(numeric)) > 1e-4  # every parameter matters
