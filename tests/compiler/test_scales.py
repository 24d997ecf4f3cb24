"""Signs and powers of two in programs for GPUs: what is computed once, and that the numbers stay."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import naiad.compiler as nc
from tests.compiler.host_cuda import COMPILER, HostCUDA

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no compiler of C++")


def operations(made, *rows):
    """The sums and products of doubles that a function takes, and its results."""
    results = made.batch(*rows)
    written = re.findall(r"const double v\d+ = (.*);", made.llvm)
    return sum(" * " in text or " + " in text or " - " in text or "fma(" in text for text in written), results


def near(results, others):
    """To round-off: products and sums fuse in other places."""
    for a, b in zip(jax.tree.leaves(results), jax.tree.leaves(others), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-15)


X, Y = np.random.default_rng(0).normal(size=(2, 5))


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (lambda x, y: 0.5 * (x * y) + x * (0.5 * y), 1),  # x y
        (lambda x, y: (0.5 * x, -0.5 * x, y * (0.5 * x), y * (-0.5 * x)), 2),  # 0.5 x, 0.5 x y
        (lambda x, y: (x * y, (2.0 * x) * (4.0 * y), -(x * y)), 2),  # x y, 8 x y
        (lambda x, y: (-x) * y + (-x) * (-y) * x, 2),  # x y, x y x - x y
        (lambda x, y: (jnp.abs(-4.0 * x), 4.0 * x + y), 2),
        (lambda x, y: 0.3 * x + 0.3 * y, 2),  # other factors stay
        (lambda x, y: x - 0.5 * x, 1),  # 0.5 x
        (lambda x, y: 0.5 * x - x * 0.5 + y, 3),  # a difference that is nothing may be not-a-number
    ],
)
def test_values_that_differ_by_a_power_of_two_are_computed_once(function, count):
    taken, results = operations(nc.compile(function, cache=False, backend=HostCUDA()), X, Y)
    assert taken == count
    near(results, nc.compile(function, cache=False).batch(X, Y))


def swirl(x, y):
    """Multiples inside and outside of a loop and of a branch, and such that go round."""

    def body(i, carry):
        u, v = carry
        w = 0.5 * (u * y) + u * (0.5 * y)
        return lax.cond(w > 0, lambda: (-0.25 * u, w - 0.5 * v), lambda: (0.5 * (0.5 * u), -w))

    u, v = lax.fori_loop(0, 7, body, (-2.0 * x, -x))
    return u, -v, 2.0 * (u * v) - (2.0 * v) * u + x


def test_loops_and_branches():
    here, machine = (nc.compile(swirl, cache=False, **options).batch(X, Y) for options in ({"backend": HostCUDA()}, {}))
    near(here, machine)
