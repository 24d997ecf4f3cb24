"""How the unknowns of a system are coupled, and the linear solve that follows from it."""

import abc
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.numerics.linalg import UNROLLED, inverse, solve, solver
from naiad.numerics.module import Module, static
from naiad.numerics.sparsity import dependencies, narrow_order, operations

FEW = 12  # unknowns up to which all count as coupled, and the Jacobian is written out
WRITTEN_OUT = 30_000  # numbers to compute up to which one of more unknowns is

Function = Callable[[Float[Array, " n"]], Float[Array, " n"]]


class AbstractStructure(Module):
    """The sparsity of a square Jacobian. A model declares it; an integrator solves with it."""

    def newton_step(self, residual: Function, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """r'(x)^-1 r(x)."""
        r, linear = jax.linearize(residual, x)
        return self.solve(linear, r)

    @abc.abstractmethod
    def inverse(self, linear: Function, n: int) -> Function:
        """The inverse of a linear function on R^n of this structure, factorised once."""

    def solve(self, linear: Function, y: Float[Array, " n"]) -> Float[Array, " n"]:
        """x with linear(x) = y, for a linear function of this structure."""
        return self.inverse(linear, y.size)(y)


class Dense(AbstractStructure):
    """Every unknown may be coupled to every other: O(n^3)."""

    def newton_step(self, residual: Function, x: Float[Array, " n"]) -> Float[Array, " n"]:
        if x.size > FEW:
            return super().newton_step(residual, x)

        def twice(z):
            r = residual(z)
            return r, r

        jacobian, r = jax.jacfwd(twice, has_aux=True)(x)
        return solve(jacobian, r)

    def inverse(self, linear: Function, n: int) -> Function:
        return _by_columns(linear, n, n)


class Sparse(AbstractStructure):
    """Unknowns coupled as the equations show: O(n w^2) for entries up to w from the diagonal, in the order given or in
    a narrower one; O(n^3) if they are not near it."""

    def newton_step(self, residual: Function, x: Float[Array, " n"]) -> Float[Array, " n"]:
        return super().newton_step(residual, x) if x.size > FEW else Dense().newton_step(residual, x)

    def inverse(self, linear: Function, n: int) -> Function:
        pattern = dependencies(linear, n)
        order, width = narrow_order(pattern)
        if not pattern.diagonal().all() or (width and n <= UNROLLED) or 4 * width > n:
            return _by_columns(linear, n, int(pattern.sum(axis=1).max()))
        if not width:
            diagonal = linear(jnp.ones(n))
            return lambda y: y / diagonal
        back = np.argsort(order)
        extra = -n % width  # unknowns that stand alone, to fill the last block

        def ordered(z):
            return jnp.concatenate([linear(z[:n][back])[order], z[n:]])

        along = Chain(width).inverse(ordered, n + extra)
        return lambda y: along(jnp.pad(y[order], (0, extra)))[:n][back]


def _by_columns(linear: Function, n: int, coupled: int) -> Function:
    """The inverse of a linear function by its matrix, in which at most so many entries of a row are not zero. A large
    one is found in a loop over the columns, so that the program stays small; in a small one zeros vanish."""
    if n > UNROLLED or (n > FEW and coupled * operations(linear, n) > WRITTEN_OUT):
        return solver(jax.lax.map(linear, jnp.eye(n)).T)
    return solver(jax.jacfwd(linear)(jnp.zeros(n)))


class Chain(AbstractStructure):
    """Blocks of `size` unknowns coupled to their neighbours, then `border` unknowns coupled to all: O(n) operations.

    The Jacobian [[T, U], [V, W]] has a block tridiagonal T. Its columns are probed three colours at a time, T is
    eliminated by a scan over the blocks, and the border by its Schur complement W - V T^-1 U.
    """

    size: int = static()
    border: int = static(default=0)

    def __post_init__(self):
        if self.size < 1 or self.border < 0:
            raise InputError(f"Chain(size={self.size}, border={self.border}): expected size >= 1 and border >= 0.")

    def inverse(self, linear: Function, n: int) -> Function:
        size, border = self.size, self.border
        inner = n - border
        if inner % size:
            raise InputError(
                f"Chain(size={size}, border={border}) does not divide {n} unknowns; choose size and border to fit."
            )
        blocks = inner // size
        colours = min(3, blocks)
        colour = jnp.arange(blocks) % colours
        seeds = (colour == jnp.arange(colours)[:, None])[:, None, :, None] * jnp.eye(size)[None, :, None, :]
        seeds = jnp.pad(seeds.reshape(colours * size, inner), ((0, 0), (0, border)))
        probed = jax.vmap(linear)(seeds.astype(float))[:, :inner].reshape(colours, size, blocks, size)
        columns = jnp.moveaxis(probed, (2, 3), (0, 2))  # block row, colour, row in block, column in block

        def coupling(offset):
            neighbour = jnp.arange(blocks) + offset
            inside = (neighbour >= 0) & (neighbour < blocks)
            picked = columns[jnp.arange(blocks), neighbour % colours]
            return jnp.where(inside[:, None, None], picked, 0.0)

        factors = _eliminate(coupling(-1), coupling(0), coupling(1))

        def along_chain(y):
            return _substitute(factors, y[:inner].reshape(blocks, size)).reshape(-1)

        if not border:
            return along_chain
        edges = jax.vmap(linear)(jnp.eye(n)[inner:])  # the border's columns, one a row
        fill = jax.vmap(along_chain)(edges)

        def into_border(column):
            return linear(jnp.pad(column, (0, border)))[inner:]

        schur = solver(edges[:, inner:].T - jax.vmap(into_border, out_axes=1)(fill))

        def whole(y):
            z = along_chain(y)
            outer = schur(y[inner:] - into_border(z))
            return jnp.concatenate([z - outer @ fill, outer])

        return whole


def _eliminate(lower, diagonal, upper):
    """Block Thomas elimination of lower_i x_{i-1} + diagonal_i x_i + upper_i x_{i+1}: what `_substitute` needs."""

    def down(above, row):
        low, mid, up = row
        pivot = inverse(mid - low @ above)
        return pivot @ up, (pivot, pivot @ up)

    _, (pivots, uppers) = jax.lax.scan(down, jnp.zeros_like(diagonal[0]), (lower, diagonal, upper))
    return lower, pivots, uppers


def _substitute(factors, right):
    """The solution for one right-hand side, down and up the chain."""

    def down(above, row):
        low, pivot, rhs = row
        reduced = pivot @ (rhs - low @ above)
        return reduced, reduced

    def back(below, row):
        up, rhs = row
        x = rhs - up @ below
        return x, x

    lower, pivots, uppers = factors
    start = jnp.zeros_like(right[0])
    _, rights = jax.lax.scan(down, start, (lower, pivots, right))
    return jax.lax.scan(back, start, (uppers, rights), reverse=True)[1]
