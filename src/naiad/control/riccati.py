"""Newton's equations of all steps, solved stage by stage: a backward and a forward sweep, O(N).

Both go through a piece of `PIECE` steps at a time, of which the first `count` are there, so that their code does not
depend on the number of steps. y = (U, x) as in `Blocks`.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from naiad.control.interval import Blocks
from naiad.numerics import Module, static

PIECE = 64


class Value(NamedTuple):
    """The cost to go x . V x / 2 + v . x after a step, and the smallest pivot met so far."""

    V: Any
    v: Any
    pivot: Any


class Feedback(NamedTuple):
    """U = gains^T (x, 1) of a step, and the cost to go after it."""

    gains: Any
    V: Any
    v: Any


class Change(NamedTuple):
    """Newton's step: increments of x, U and K, and the new multipliers (of x and of the balance)."""

    x: Any
    U: Any
    K: Any
    costate: Any
    sigma: Any


class Sizes(Module):
    """How many numbers of each kind a step has."""

    state: int = static()
    control: int = static()


def backward(
    sizes: Sizes, after: Value, A: Any, H: Any, q: Any, diagonal: Any, slope: Any, count: Any
) -> tuple[Value, Feedback]:
    """The cost to go before a piece, and the feedbacks of its steps; `diagonal` and `slope` are what bounds and a shift
    add in U."""
    nu, ny = sizes.control, sizes.control + sizes.state

    def step(after: Value, k: Any) -> tuple[Value, Feedback]:
        leading = A[k][:ny]

        def row(index):
            led = A[k, index]
            return H[k, index] + leading @ (after.V @ led)

        rows = jax.lax.map(row, jnp.arange(ny + 1))
        gradient = q[k][:ny] + rows[ny] + leading @ after.v
        gradient = gradient + jnp.concatenate([slope[k], jnp.zeros(sizes.state)])
        solve, pivot = _factorised(rows[:nu, :nu] + jnp.diag(diagonal[k]))

        def gain(index):
            coupling = jnp.where(index < sizes.state, rows[jnp.minimum(nu + index, ny - 1), :nu], gradient[:nu])
            return -solve(coupling)

        gains = jax.lax.map(gain, jnp.arange(sizes.state + 1))
        coupled = rows[:nu, nu:]
        V = jax.lax.map(lambda index: rows[nu + index, nu:] + gains[index] @ coupled, jnp.arange(sizes.state))
        v = gradient[nu:] + gains[sizes.state] @ coupled
        before = Value(0.5 * (V + V.T), v, jnp.minimum(after.pivot, pivot))
        return before, Feedback(gains, after.V, after.v)

    def at(after: Value, k: Any) -> tuple[Value, Feedback]:
        nothing = Feedback(jnp.zeros((sizes.state + 1, nu)), after.V, after.v)
        return jax.lax.cond(k < count, step, lambda after, _: (after, nothing), after, k)

    return jax.lax.scan(at, after, jnp.arange(A.shape[0]), reverse=True)


def forward(sizes: Sizes, x: Any, feedback: Feedback, blocks: Blocks, count: Any) -> tuple[Any, Change]:
    """The increments of x after a piece, and the changes of its steps."""
    nu, ny = sizes.control, sizes.control + sizes.state
    inner = blocks.E.shape[-1]

    def step(x: Any, k: Any) -> tuple[Any, Change]:
        U = _affine(feedback.gains[k], x)
        y = jnp.concatenate([U, x])
        after, K = _affine(blocks.A[k], y), _affine(blocks.E[k][: ny + 1], y)
        costate = feedback.V[k] @ after + feedback.v[k]
        bent = blocks.slope[k] + _affine(blocks.bend[k], y) + blocks.leading[k] @ _equations(costate, blocks, k)
        return after, Change(x, U, K, costate, -(blocks.inverse[k] @ bent))

    def at(x: Any, k: Any) -> tuple[Any, Change]:
        zeros = Change(x, jnp.zeros(nu), jnp.zeros(inner), jnp.zeros_like(x), jnp.zeros(inner))
        return jax.lax.cond(k < count, step, lambda x, _: (x, zeros), x, k)

    return jax.lax.scan(at, x, jnp.arange(blocks.A.shape[0]))


def _equations(costate: Any, blocks: Blocks, k: Any) -> Any:
    """The multipliers of the two equations of a step, without those of the constants."""
    n = blocks.leading.shape[-1] // 2
    return jnp.concatenate([costate[:n], costate[costate.shape[0] - n :]])


def _affine(rows: Any, x: Any) -> Any:
    """rows^T (x, 1)."""
    return x @ rows[:-1] + rows[-1]


def _factorised(A: Any) -> tuple[Any, Any]:
    """The solution map of a symmetric matrix by A = L D L^T, every operation written out, and the smallest pivot."""
    pivots, columns = [], []
    for _ in range(A.shape[0]):
        pivots.append(A[0, 0])
        columns.append(A[1:, 0] / A[0, 0])
        A = A[1:, 1:] - columns[-1][:, None] * A[0, 1:]

    def solve(b: Any) -> Any:
        y, x = [], jnp.zeros(0)
        for column in columns:
            y.append(b[0])
            b = b[1:] - column * b[0]
        for value, pivot, column in zip(reversed(y), reversed(pivots), reversed(columns), strict=True):
            x = jnp.concatenate([(value / pivot - column @ x)[None], x])
        return x

    return solve, jnp.min(jnp.stack(pivots))
