"""A chain of nodes eliminated from its start to its end, with one unknown that is coupled to all of them.

Node j has x_j in R^3, the border is one number y. The equations are sums over elements, each coupling its two nodes and
y; eliminated from the start,

    x_j = z_j - G_j x_{j+1} - k_j y,

so that at the last node there remain D x + u y = b and w . x + sigma y = beta, to which the ends of the string add
theirs. Blocks are numbers, where all are multiples of the identity, or 3 x 3 matrices.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.numerics import inverse3

Vector = Float[Array, "3"]


class Piece(NamedTuple):
    """What an element adds to the equations of its nodes and of the border: residual and Jacobian (near, far, y)."""

    residual: Float[Array, "7"]
    jacobian: Float[Array, "7 7"]


class Last(NamedTuple):
    """What is left at the last node: D x + u y = b, w . x + sigma y = beta; the latter only where there is a border."""

    D: Any
    b: Vector
    u: Any
    w: Any
    sigma: Any
    beta: Any

    def equations(self, dim: int) -> tuple[Float[Array, "n n"], Float[Array, " n"]]:
        """Matrix and right-hand side for the unknowns (x, y, ...), `dim` in all; zeros elsewhere."""
        matrix = jnp.zeros((dim, dim)).at[:3, :3].set(self.D * jnp.eye(3) if jnp.ndim(self.D) == 0 else self.D)
        right = jnp.zeros(dim).at[:3].set(self.b)
        if self.u is None:
            return matrix, right
        matrix = matrix.at[:3, 3].set(self.u).at[3, :3].set(self.w).at[3, 3].set(self.sigma)
        return matrix, right.at[3].set(self.beta)


class Factors(NamedTuple):
    """z, G and k of the node before each element."""

    z: Float[Array, "N 3"]
    G: Any
    k: Any


def eliminate(
    pieces: Callable[[Any, Any, Any], Piece], begin: Any, each: Any, *, scalar: bool, border: bool
) -> tuple[Factors, Last]:
    """The sweep from the start to the end.

    `each` is (index, data) stacked over the elements, data being that of an element's far node; `pieces` takes the
    index and the data of both nodes; `begin` is the data of the start, which is not an unknown. The residual of the
    border is what `pieces` gives: what it must balance is added at the end. Blocks are `scalar`, or matrices.
    """

    def block(jacobian, row, column):
        return jacobian[3 * row, 3 * column] if scalar else jacobian[3 * row : 3 * row + 3, 3 * column : 3 * column + 3]

    def element(carry, one):
        near, last = carry
        index, far = one
        residual, J = pieces(index, near, far)
        inner = jnp.where(index > 0, 1.0, 0.0)  # the start does not move
        D, back = last.D + block(J, 0, 0), block(J, 1, 0)
        P = 1.0 / D if scalar else inverse3(D)
        z = inner * times(P, last.b - residual[:3])
        G = inner * (P * block(J, 0, 1) if scalar else P @ block(J, 0, 1))
        D, b = block(J, 1, 1) - (back * G if scalar else back @ G), -residual[3:6] - times(back, z)
        if not border:
            return (far, last._replace(D=D, b=b)), Factors(z, G, None)
        k, w = inner * times(P, last.u + J[:3, 6]), last.w + J[6, :3]
        after = Last(
            D,
            b,
            J[3:6, 6] - times(back, k),
            J[6, 3:6] - (G * w if scalar else w @ G),
            last.sigma + J[6, 6] - jnp.dot(w, k),
            last.beta - residual[6] - jnp.dot(w, z),
        )
        return (far, after), Factors(z, G, k)

    zero, none, one = jnp.zeros(()), jnp.zeros(3), jnp.ones(()) if scalar else jnp.eye(3)
    first = Last(one, none, none, none, zero, zero) if border else Last(one, none, None, None, None, None)
    (_, last), factors = jax.lax.scan(element, (begin, first), each)
    return factors, last


def substitute(
    factors: Factors, x: Vector, y: Any, to: Float[Array, "N 3"]
) -> tuple[Float[Array, "N 3"], Float[Array, ""], Float[Array, ""]]:
    """The sweep back: rows `to` plus the solution, given that of the last node and of the border; the largest of what
    was added, and of the sum."""

    def element(carry, each):
        x, largest, size = carry
        (z, G, k), row = each
        new = row + x
        largest = jnp.maximum(largest, jnp.max(jnp.abs(x)))
        size = jnp.maximum(size, jnp.max(jnp.abs(new)))
        before = z - times(G, x)
        return (before if k is None else before - k * y, largest, size), new

    zero = jnp.zeros(())
    (_, largest, size), rows = jax.lax.scan(element, (x, zero, zero), (factors, to), reverse=True)
    return rows, largest, size


def times(block: Any, x: Vector) -> Vector:
    """A block, a number or a matrix, applied to a vector."""
    return block * x if jnp.ndim(block) == 0 else block @ x
