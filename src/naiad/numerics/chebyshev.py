"""Chebyshev series in several variables: smooth functions on a box, given by their values at a few points."""

import functools
import itertools
from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jaxtyping import Array, Float

from naiad.numerics.module import Module


class ChebyshevSeries(Module):
    """sum_ij... c_ij... T_i(x_1) T_j(x_2) ..., x_a the variable a mapped from [low_a, high_a] to [-1, 1]; NaN outside.

    `coefficients` have an axis for each variable, and a last one for the functions that are given together. The value
    and all derivatives that are asked for come from one pass over the coefficients.
    """

    coefficients: Float[Array | np.ndarray, "*degrees k"]
    low: Float[Array | np.ndarray, " m"]
    high: Float[Array | np.ndarray, " m"]

    @classmethod
    def through(cls, values: np.ndarray, low: Any, high: Any) -> "ChebyshevSeries":
        """The series through values at `chebyshev_points`, an axis for each variable and a last one."""
        coefficients = np.asarray(values, float)
        for axis in range(coefficients.ndim - 1):
            transform = _to_coefficients(coefficients.shape[axis])
            coefficients = np.moveaxis(np.tensordot(transform, coefficients, (1, axis)), 0, axis)
        return cls(coefficients, np.asarray(low, float), np.asarray(high, float))

    def __call__(self, x: Float[Array, " m"]) -> Float[Array, " k"]:
        low, high = jnp.asarray(self.low), jnp.asarray(self.high)
        inside = jnp.all((low <= x) & (x <= high))
        unit = (2.0 * x - low - high) / (high - low)
        return jnp.where(inside, _derivatives(0, jnp.asarray(self.coefficients), unit)[0], jnp.nan)


def chebyshev_points(sizes: tuple[int, ...], low: Any, high: Any) -> Float[np.ndarray, "s m"]:
    """The roots of T_n, n one of `sizes` for each variable, in the box, all combinations in rows, the last variable
    running fastest."""
    axes = [
        0.5 * (one + other) - 0.5 * (other - one) * np.cos(np.pi * (np.arange(n) + 0.5) / n)
        for n, one, other in zip(sizes, low, high, strict=True)
    ]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(sizes))


def _to_coefficients(n: int) -> Float[np.ndarray, "n n"]:
    """From values at the roots of T_n, which grow, to the coefficients."""
    matrix = 2.0 / n * np.cos(np.arange(n)[:, None] * (np.pi * (1.0 - (np.arange(n) + 0.5) / n)))
    matrix[0] /= 2.0
    return matrix


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _derivatives(order: int, c: Float[Array, "*degrees k"], x: Float[Array, " m"]) -> tuple[Array, ...]:
    """The value and the derivatives up to an order, the q-th as [a_1, ..., a_q, k]."""
    m = x.shape[0]
    sums = _sums(c, [_basis(order, x[a], c.shape[a]) for a in range(m)])

    def partial(directions):
        counts = Counter(directions)
        return sums[tuple(counts[a] for a in range(m))]

    def tensor(q):
        found = [partial(directions) for directions in itertools.product(range(m), repeat=q)]
        return jnp.stack(found).reshape((m,) * q + (-1,))

    return tuple(tensor(q) for q in range(order + 1))


@functools.partial(_derivatives.defjvp, symbolic_zeros=True)
def _derivatives_jvp(order, primals, tangents):
    (c, x), (dc, dx) = primals, tangents
    values = _derivatives(order + 1, c, x)
    change = [jnp.zeros_like(value) for value in values[:-1]]
    if not isinstance(dx, SymbolicZero):
        change = [jnp.tensordot(dx, value, 1) for value in values[1:]]
    if not isinstance(dc, SymbolicZero):
        change = [one + other for one, other in zip(change, _derivatives(order, dc, x), strict=True)]
    return values[:-1], tuple(change)


def _basis(order: int, x: Float[Array, ""], n: int) -> Float[Array, "order+1 n"]:
    """T_0 to T_{n-1} and their derivatives, T_{k+1} = 2 x T_k - T_{k-1} differentiated term by term."""
    rows: list[list[Any]] = []
    for q in range(order + 1):
        row = [jnp.ones_like(x), x] if q == 0 else [jnp.zeros_like(x), jnp.full_like(x, float(q == 1))]
        while len(row) < n:
            step = 2.0 * x * row[-1] - row[-2]
            row.append(step if q == 0 else step + 2.0 * q * rows[-1][len(row) - 1])
        rows.append(row[:n])
    return jnp.stack([jnp.stack(row) for row in rows])


def _sums(c: Float[Array, "*degrees k"], bases: list[Array]) -> Array:
    """The sum of c with each variable's basis and its derivatives, an axis of orders for each variable."""
    if not bases:
        return c
    first, rest = bases[0], bases[1:]
    shape = (first.shape[0],) * len(bases) + c.shape[-1:]

    def add(total, each):
        part, weights = each
        return total + weights.reshape((-1,) + (1,) * len(bases)) * _sums(part, rest), None

    return jax.lax.scan(add, jnp.zeros(shape), (c, first.T))[0]
