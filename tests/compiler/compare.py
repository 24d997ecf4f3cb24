"""Compares compiled functions with XLA, and the rows of a batch with single calls."""

from typing import Any

import jax
import numpy as np

from naiad.compiler import Compiled
from naiad.compiler.backends import default_backend

LANES = default_backend().lanes
SIZES = (0, 1, 3, LANES, LANES + 1)


def xla(function, *args) -> list[np.ndarray]:
    """The leaves of function(*args), by `jax.jit` in double precision."""
    with jax.enable_x64(True):
        return [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(function)(*args))]


def leaves(results: Any) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(results)]


def ulps(a: np.ndarray, b: np.ndarray) -> float:
    """The largest number of doubles between two arrays; not-a-numbers are equal."""
    if not a.size:
        return 0.0
    lost = np.isnan(a) != np.isnan(b)
    if np.any(lost):
        return np.inf
    numbers = ~np.isnan(a)
    places = [[_place(int(bits)) for bits in x[numbers].view(np.int64)] for x in (a, b)]
    return max((abs(p - q) for p, q in zip(*places, strict=True)), default=0)


def _place(bits: int) -> int:
    """The position of a double among all doubles; whole numbers of Python, for 2^62 has more digits than a double."""
    return bits if bits >= 0 else -(2**63) - bits


def assert_same(got: Any, want: Any, what: str = "", signs: bool = True) -> None:
    """Bit by bit, `signs` of zeros too unless told otherwise; not-a-numbers are equal."""
    got, want = leaves(got), leaves(want)
    assert [(g.shape, g.dtype) for g in got] == [(w.shape, w.dtype) for w in want], what
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w, err_msg=what)
        if signs and g.dtype == np.float64:
            numbers = ~np.isnan(g)
            np.testing.assert_array_equal(np.signbit(g)[numbers], np.signbit(w)[numbers], err_msg=f"{what}: signs")


def assert_near(got: Any, want: Any, ulp: float, what: str = "") -> None:
    """Within so many units in the last place; bit by bit for 0."""
    if not ulp:
        assert_same(got, want, what)
        return
    got, want = leaves(got), leaves(want)
    assert [(g.shape, g.dtype) for g in got] == [(w.shape, w.dtype) for w in want], what
    for g, w in zip(got, want, strict=True):
        if g.dtype == np.float64:
            assert ulps(g, w) <= ulp, f"{what}: {ulps(g, w)} ulp: {g} is not {w}"
        else:
            np.testing.assert_array_equal(g, w, err_msg=what)


def assert_close(got: Any, want: Any, tolerance: float = 1e-13, what: str = "") -> None:
    """To round-off of the largest element; everything but floats exactly."""
    got, want = leaves(got), leaves(want)
    assert [(g.shape, g.dtype) for g in got] == [(w.shape, w.dtype) for w in want], what
    for g, w in zip(got, want, strict=True):
        if g.dtype == np.float64:
            size = np.max(np.abs(w[np.isfinite(w)]), initial=1.0)
            np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance * size, err_msg=what)
        else:
            np.testing.assert_array_equal(g, w, err_msg=what)


def assert_rows(compiled: Compiled, *rows: np.ndarray, sizes=SIZES, shared=()) -> None:
    """Each row of a batch is, bit by bit, what a single call gives."""
    count = max(sizes)

    def row(k: int) -> list[np.ndarray]:
        return [arg if number in shared else arg[k] for number, arg in enumerate(rows)]

    singles = [leaves(compiled(*row(k))) for k in range(count)]
    for size in sizes:
        given = [arg if number in shared else arg[:size] for number, arg in enumerate(rows)]
        together = leaves(compiled.batch(*given, shared=shared))
        assert all(len(leaf) == size for leaf in together)
        for k in range(size):
            assert_same([leaf[k] for leaf in together], singles[k], f"row {k} of {size}")


def rolled(x: np.ndarray, count: int) -> np.ndarray:
    """Rows with the same elements in other places."""
    x = np.asarray(x)
    return np.stack([np.roll(x.reshape(-1), k).reshape(x.shape) for k in range(count)])
