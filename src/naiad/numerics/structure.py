"""How the unknowns of a system are coupled, and the linear solve that follows from it."""

import abc
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.numerics.double import Module
from naiad.numerics.linalg import inverse, solve

Function = Callable[[Float[Array, " n"]], Float[Array, " n"]]


class AbstractStructure(Module):
    """The sparsity of a square Jacobian. A model declares it; an integrator solves with it."""

    @abc.abstractmethod
    def newton_step(self, residual: Function, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """r'(x)^-1 r(x)."""

    @abc.abstractmethod
    def solve(self, linear: Function, y: Float[Array, " n"]) -> Float[Array, " n"]:
        """x with linear(x) = y, for a linear function of this structure."""


class Dense(AbstractStructure):
    """Every unknown may be coupled to every other: O(n^3)."""

    def newton_step(self, residual: Function, x: Float[Array, " n"]) -> Float[Array, " n"]:
        def twice(z):
            r = residual(z)
            return r, r

        jacobian, r = jax.jacfwd(twice, has_aux=True)(x)
        return solve(jacobian, r)

    def solve(self, linear: Function, y: Float[Array, " n"]) -> Float[Array, " n"]:
        return solve(jax.jacfwd(linear)(jnp.zeros_like(y)), y)


class Chain(AbstractStructure):
    """Blocks of `size` unknowns coupled to their neighbours, then `border` unknowns coupled to all: O(n).

    The Jacobian [[T, U], [V, W]] has a block tridiagonal T. Its columns are probed three colours at a time, T is
    eliminated by a scan over the blocks, and the border by its Schur complement W - V T^-1 U.
    """

    size: int = eqx.field(static=True)
    border: int = eqx.field(static=True, default=0)

    def __check_init__(self):
        if self.size < 1 or self.border < 0:
            raise InputError(f"Chain(size={self.size}, border={self.border}): expected size >= 1 and border >= 0.")

    def newton_step(self, residual: Function, x: Float[Array, " n"]) -> Float[Array, " n"]:
        r, linear = jax.linearize(residual, x)
        return self.solve(linear, r)

    def solve(self, linear: Function, y: Float[Array, " n"]) -> Float[Array, " n"]:
        size, border = self.size, self.border
        inner = y.size - border
        if inner % size:
            raise InputError(
                f"Chain(size={size}, border={border}) does not divide {y.size} unknowns; choose size and border to fit."
            )
        blocks = inner // size
        colours = min(3, blocks)
        colour = jnp.arange(blocks) % colours
        seeds = (colour == jnp.arange(colours)[:, None])[:, None, :, None] * jnp.eye(size)[None, :, None, :]
        seeds = jnp.pad(seeds.reshape(colours * size, inner), ((0, 0), (0, border)))
        probed = jax.vmap(linear)(seeds.astype(y.dtype))[:, :inner].reshape(colours, size, blocks, size)
        columns = jnp.moveaxis(probed, (2, 3), (0, 2))  # block row, colour, row in block, column in block

        def coupling(offset):
            neighbour = jnp.arange(blocks) + offset
            inside = (neighbour >= 0) & (neighbour < blocks)
            picked = columns[jnp.arange(blocks), neighbour % colours]
            return jnp.where(inside[:, None, None], picked, 0.0)

        lower, diagonal, upper = coupling(-1), coupling(0), coupling(1)
        if not border:
            return _block_tridiagonal_solve(lower, diagonal, upper, y.reshape(blocks, size, 1)).reshape(-1)
        edges = jax.vmap(linear)(jnp.eye(y.size, dtype=y.dtype)[inner:]).T  # the border's columns, n by border
        right = jnp.concatenate([y[:, None], edges], axis=1)
        reduced = _block_tridiagonal_solve(lower, diagonal, upper, right[:inner].reshape(blocks, size, -1)).reshape(
            inner, -1
        )
        z, fill = reduced[:, 0], reduced[:, 1:]

        def into_border(column):
            return linear(jnp.pad(column, (0, border)))[inner:]

        schur = edges[inner:] - jax.vmap(into_border, 1, 1)(fill)
        outer = solve(schur, y[inner:] - into_border(z))
        return jnp.concatenate([z - fill @ outer, outer])


def _block_tridiagonal_solve(lower, diagonal, upper, right):
    """Block Thomas elimination: lower_i x_{i-1} + diagonal_i x_i + upper_i x_{i+1} = right_i."""

    def down(above, row):
        upper_above, right_above = above
        low, mid, up, rhs = row
        pivot = inverse(mid - low @ upper_above)
        reduced = (pivot @ up, pivot @ (rhs - low @ right_above))
        return reduced, reduced

    def back(below, row):
        up, rhs = row
        x = rhs - up @ below
        return x, x

    start = (jnp.zeros_like(diagonal[0]), jnp.zeros_like(right[0]))
    _, (ups, rights) = jax.lax.scan(down, start, (lower, diagonal, upper, right))
    _, x = jax.lax.scan(back, jnp.zeros_like(right[0]), (ups, rights), reverse=True)
    return x
