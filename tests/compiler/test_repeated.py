"""Loops that need not run again: those that are repeated, and those whose values do not change in a loop around them.

The programs are compared with those of the same function in which nothing is equal, or nothing stays.
"""

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.compiler.front.trace import trace
from naiad.compiler.ir.program import Loop, regions
from naiad.compiler.passes.finish import finish
from naiad.numerics import solve_in_loops

RNG = np.random.default_rng(5)
A = RNG.normal(size=(30, 30)) + 30.0 * np.eye(30)
B = RNG.normal(size=(30, 2))


def program(function, *args):
    with jax.enable_x64(True):
        return finish(trace(jax.make_jaxpr(function)(*args)), fma=False)


def loops(made, depth=0):
    """The number of loops that have at least so many others around them."""

    def around(region):
        count = 0
        while region is not None:
            count += isinstance(region.owner, Loop)
            region = region.parent
        return count

    return sum(isinstance(n, Loop) and around(r) >= depth for r in regions(made.region) for n in r.items)


def sums(x, factor):
    """A loop that is not written out."""
    return jax.lax.fori_loop(0, 200, lambda k, y: jnp.sin(y) * factor + x, x)


def test_a_loop_that_is_repeated_runs_once():
    """Equal ones are one, also where their functions and constants are others of the same form."""

    def twice(x):
        return sums(x, jnp.asarray([0.2, 0.3])), sums(x, jnp.asarray([0.2, 0.3])) + 1.0

    def unlike(x):
        return sums(x, jnp.asarray([0.2, 0.3])), sums(x, jnp.asarray([0.2, 0.4])) + 1.0

    x = np.array([0.3, 0.4])
    assert loops(program(twice, x)) == 1
    assert loops(program(unlike, x)) == 2
    for function in (twice, unlike):
        with jax.enable_x64(True):
            expected = jax.jit(function)(x)
        found = nd.compile(function, cache=False)(x)
        np.testing.assert_allclose(np.stack(found), np.stack(expected), rtol=1e-14)


def test_what_is_repeated_may_be_changed_in_place_by_one():
    """The array of both is held until the last has read it."""

    def function(x):
        def filled():
            return jax.lax.fori_loop(0, 50, lambda k, y: y.at[k].set(jnp.sin(1.0 * k) + y[k - 1]), x)

        one = filled().at[3].set(7.0)
        return one, filled()

    x = np.linspace(0.0, 1.0, 50)
    with jax.enable_x64(True):
        expected = jax.jit(function)(x)
    one, other = nd.compile(function, cache=False)(x)
    np.testing.assert_allclose(one, expected[0], rtol=1e-14)
    np.testing.assert_allclose(other, expected[1], rtol=1e-14)
    assert one[3] == 7.0 != other[3]


def test_a_factorisation_that_stays_comes_before_the_loop():
    def solving(moves):
        def function(A, B, count):
            def body(at):
                k, x = at
                return k + 1, solve_in_loops(A + moves * k * jnp.eye(30) if moves else A, B + x)

            return jax.lax.while_loop(lambda at: at[0] < count, body, (jnp.zeros((), int), jnp.zeros_like(B)))[1]

        return function

    alone = program(lambda A: jax.lax.linalg.lu(A)[0], A)
    outermost = loops(alone) - loops(alone, 1)
    assert outermost > 1
    inside = [loops(program(solving(moves), A, B, 4), 1) for moves in (1e-3, 0.0)]
    assert inside[0] - inside[1] >= outermost
    for moves in (1e-3, 0.0):
        with jax.enable_x64(True):
            expected = jax.jit(solving(moves))(A, B, 4)
        np.testing.assert_allclose(nd.compile(solving(moves), cache=False)(A, B, 4), expected, rtol=1e-13)
        np.testing.assert_array_equal(nd.compile(solving(moves), cache=False)(A, B, 0), 0.0 * B)


def test_a_loop_that_might_not_end_stays_inside():
    """Before a loop that never runs, it would run for ever."""

    def function(step, count):
        def body(at):
            return at[0] + 1, jax.lax.while_loop(lambda y: y < 3.5, lambda y: y + step, jnp.zeros(()))

        return jax.lax.while_loop(lambda at: at[0] < count, body, (jnp.zeros((), int), jnp.zeros(())))[1]

    made = nd.compile(function, cache=False)
    assert made(1.0, 2) == 4.0
    assert made(0.0, 0) == 0.0
