"""Where arrays end: windows that reach over the edge, several indices at once, paddings that stop short, limits of
short integers, and long programs that are cut into parts. What XLA gives, on small arrays and on those in memory."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import naiad.compiler as nc
from naiad.compiler.passes import split
from tests.compiler.compare import assert_same, xla

MODES = ("clip", "fill", "promise_in_bounds")
SHORTS = np.array([0, 1, -1, 3, -7, 46340, 46341, -46341, 65536, 2**31 - 1, -(2**31)], np.int32)


def whole(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(-9, 10, shape).astype(float)


def windows_read(x, i):
    numbers = lax.GatherDimensionNumbers((1,), (), (0,))
    return [lax.gather(x, i[:, None], numbers, (3,), mode=mode) for mode in MODES]


def windows_written(x, i, u):
    numbers = lax.ScatterDimensionNumbers((1,), (), (0,))
    scatters = (lax.scatter, lax.scatter_add, lax.scatter_max)
    return [scatter(x, i[:, None], u, numbers, mode=mode) for scatter in scatters for mode in MODES]


def at_pairs(x, i, j):
    return (
        [x.at[i, j].get(mode=mode) for mode in MODES]
        + [x.at[i, j].add(2.0, mode=mode) for mode in MODES]
        + [x.at[i, j].set(7.0, mode=mode) for mode in MODES]
    )


def in_two_batches(x, i):
    read = jax.vmap(jax.vmap(lambda row, k: row[k]))
    written = jax.vmap(jax.vmap(lambda row, k: row.at[k].add(9.0)))
    return read(x, i), written(x, i)


def padded(x):
    ends = [(0, 0, 1), (0, -1, 0), (-2, 0, 0), (2, -3, 1), (-1, 0, 2), (0, 4, 0), (-1, -1, 1)]
    return [lax.pad(x, 7.0, [end] * x.ndim) for end in ends]


def at_its_own_indices(n):
    """The indices are read of the array that changes."""
    a = n.at[3].set(5)
    return lax.scatter_add(a, a[:, None], jnp.full_like(a, 100), lax.ScatterDimensionNumbers((), (0,), (0,)))


PLACES = np.array([0, 3, 4, -1, -3, 99])
EDGES: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "windows that are read": (windows_read, [(whole(6), PLACES), (whole(40), np.append(PLACES, [36, 37, 38, 39, 40]))]),
    "windows that are written": (
        windows_written,
        [(whole(6), PLACES, whole(6, 3)), (whole(40), PLACES + 34, whole(6, 3)), (whole(40), PLACES, whole(6, 3))],
    ),
    "pairs of indices": (
        at_pairs,
        [(whole(*shape), np.array([1, 9, -1, 50, 0, 3]), np.array([1, 1, 0, 2, 7, -9])) for shape in ((4, 3), (40, 3))],
    ),
    "two batches": (
        in_two_batches,
        [(whole(2, 3, n), np.arange(6).reshape(2, 3) % n) for n in (4, 40)],
    ),
    "paddings": (padded, [(whole(5),), (whole(4, 3),), (whole(40),), (whole(34, 4),)]),
    "at its own indices": (at_its_own_indices, [(np.arange(40)[::-1].copy(),), (np.arange(6)[::-1].copy(),)]),
    "products of short integers": (
        lambda s: (jnp.square(s), jnp.square(s) > 0, lax.square(s) < s, s.at[6].multiply(46341) > 0),
        [(SHORTS,), (np.resize(SHORTS, 40),)],
    ),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges(name):
    function, given = EDGES[name]

    def everything(*sets):
        return [function(*args) for args in sets]

    assert_same(nc.compile(everything, fma=False, cache=False)(*given), xla(everything, *given))


def winding(x, n):
    """Straight lines, loops and branches, whose values are used far away."""
    early = [jnp.sin(k + x[k % 4]) for k in range(12)]
    positive = early[3] > 0

    def body(i, c):
        terms = [c * early[k] + i for k in range(8)]
        return 0.5 * sum(terms[1:], terms[0]) / (1.0 + jnp.abs(terms[2]))

    turned = lax.fori_loop(0, n, body, x[0])
    taken = lax.cond(turned > 0, lambda: jnp.exp(-turned) * early[5], lambda: jnp.cos(turned) + early[6])
    once = lax.fori_loop(0, n, lambda i, c: 0.5 * c + early[7], 3.0 * early[1]) + 1.0  # begins and ends with one use
    late = [jnp.where(positive, early[k] * taken, early[k] - turned) for k in range(12)]
    table = jnp.zeros(40).at[n].set(late[0]).at[n + 1].add(late[1] * early[2])
    return late, table, positive, once


@pytest.mark.parametrize("part", [1, 3, 7])
def test_a_program_in_parts_computes_the_same(part, monkeypatch):
    """Values that one part makes and another uses go through memory: numbers, whole numbers and truth values."""
    x, n = np.array([0.3, -0.7, 1.1, 0.2]), np.array(5)
    whole_program = nc.compile(winding, cache=False)
    want = whole_program(x, n)
    rows = np.stack([x, -x, 2.0 * x, x[::-1], x + 0.1]), np.array([5, 0, 3, 7, 1])
    want_rows = whole_program.batch(*rows)
    monkeypatch.setattr(split, "LONGEST", 4)
    monkeypatch.setattr(split, "PART", part)
    in_parts = nc.compile(winding, cache=False)
    assert_same(in_parts(x, n), want)
    assert "@part1" in in_parts.llvm
    assert_same(in_parts.batch(*rows), want_rows)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, empty: jnp.where(x[:, None] > 0, lax.cummax(jnp.broadcast_to(empty, (40, 0)), 1, reverse=True), 1.0),
        lambda x, empty: jax.vmap(
            lambda y: lax.switch(jnp.where(y > 0, 1, 0), [lambda: 2 * lax.cumprod(empty), lambda: empty])
        )(x),
        lambda x, empty: lax.scan(lambda c, y: (c + y, (y * empty, c)), 0.0, x),
        lambda x, empty: jnp.sum(jnp.sin(x[:, None] * empty), axis=1),
    ],
    ids=["choices", "branches", "rows of a scan", "sums"],
)
def test_long_arrays_without_elements(function):
    """They are no loops: nothing is read of what they are computed from."""
    x, empty = np.linspace(-1.0, 1.0, 40), np.zeros(0)
    assert_same(nc.compile(function, cache=False)(x, empty), xla(function, x, empty))
