"""Newton's equations of all steps, solved step by step: a backward and a forward sweep, O(N).

Matrices have columns for (x, 1, U), with as many of zeros before U as fill vector registers.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from naiad.compiler.tables import default_lanes
from naiad.control.problem import Problem
from naiad.numerics import Module, static

FEW = 16  # columns up to which all elements are written out, and none is added

FEW_CONTROLS = 8  # for which the elimination is written out


class Sizes(Module):
    """How many numbers of each kind a step has."""

    state: int = static()
    control: int = static()

    @classmethod
    def of(cls, problem: Problem) -> "Sizes":
        """Those of a problem."""
        return cls(problem.state_size, problem.control_size)

    @property
    def columns(self) -> int:
        """How many columns matrices have."""
        count, lanes = self.state + 1 + self.control, default_lanes()
        return count if count <= FEW else -(-count // lanes) * lanes

    @property
    def most_scalars(self) -> int | None:
        """Larger matrices live in memory, where loops over their columns run in vector registers."""
        return 64 if self.columns > FEW else None

    def spread(self, of_x: Any, of_one: Any, of_U: Any) -> Any:
        """A matrix from its columns."""
        none = jnp.zeros((len(of_x), self.columns - self.state - 1 - self.control))
        return jnp.concatenate([of_x, of_one[:, None], none, of_U], axis=1)


class Value(NamedTuple):
    """The cost to go x . V (x, 2) / 2 after a step (columns for U have no meaning), and the smallest pivot so far."""

    V: Any
    pivot: Any


class Swept(NamedTuple):
    """What a step is for the sweeps: (x_{k+1}, 1) = lead (x, 1, U), and the slopes cost (x, 1, U) of the model of the
    cost in x and U."""

    lead: Any
    cost: Any


class Bounded(NamedTuple):
    """What bounds add in the controls: to the diagonal, and to the slope for a barrier of one."""

    stiff: Any
    push: Any


class Barrier(NamedTuple):
    """The barrier, and what is added to the diagonal of the controls and of the constants."""

    barrier: Any
    shift: Any


class Gains(NamedTuple):
    """U = gains (x, 1) of a step; columns for U have no meaning."""

    gains: Any


class Change(NamedTuple):
    """Newton's step: increments of x before and after a step, those of U, and the multipliers of x after it."""

    x: Any
    after: Any
    U: Any
    costate: Any


def backward(sizes: Sizes, after: Value, row: Swept, bound: Bounded, at: Barrier) -> tuple[Value, Gains]:
    """The cost to go before a step, and its feedback."""
    n, own, lead = sizes.state, slice(sizes.columns - sizes.control, sizes.columns), row.lead[: sizes.state]
    beyond = after.V[:, : n + 1] @ row.lead
    matrix, by_U = row.cost[:n] + lead[:, :n].T @ beyond, row.cost[n:] + lead[:, own].T @ beyond
    none, stiff = jnp.zeros((sizes.control, n)), jnp.diag(bound.stiff + at.shift)
    if sizes.control <= FEW_CONTROLS:
        lower, inverses, pivot = inverted(by_U[:, own] + stiff)
        slope = by_U + sizes.spread(none, at.barrier * bound.push, jnp.zeros_like(stiff))
        gains = -lower.T @ (inverses[:, None] * (lower @ slope))
    else:
        added = sizes.spread(none, at.barrier * bound.push, stiff)
        gains, pivot = _eliminated(by_U + added, sizes.columns - sizes.control)
    V = matrix + by_U[:, :n].T @ gains
    V = 0.5 * (V + jnp.concatenate([V[:, :n].T, V[:, n:]], axis=1))
    return Value(V, jnp.minimum(after.pivot, pivot)), Gains(gains)


def forward(sizes: Sizes, x: Any, row: Swept, feedback: Gains, to_go: Value) -> tuple[Any, Change]:
    """The increments of x after a step, and the changes with it; `to_go` is the cost to go after it."""
    n, lead = sizes.state, row.lead[: sizes.state]

    def of(matrix: Any, x: Any) -> Any:
        return matrix[:, :n] @ x + matrix[:, n]

    U = of(feedback.gains, x)
    after = of(lead, x) + lead[:, sizes.columns - sizes.control :] @ U
    return after, Change(x, after, U, of(to_go.V, after))


def _eliminated(rows: Any, first: int) -> tuple[Any, Any]:
    """-A^-1 B from (B, A), where A begins with the column `first`, by Jordan's elimination in a loop: each pivot's row
    is subtracted from all others; and the smallest pivot."""
    index = jnp.arange(len(rows))[:, None]

    def subtract(k: Any, at: Any) -> Any:
        rows, pivot = at
        here, column = rows[k, first + k], rows[:, first + k]
        row = rows[k] / here
        return jnp.where(index == k, row, rows - column[:, None] * row), jnp.minimum(pivot, here)

    found, pivot = jax.lax.fori_loop(0, len(rows), subtract, (rows, jnp.full((), jnp.inf)))
    return -found, pivot


def inverted(A: Any) -> tuple[Any, Any, Any]:
    """L^-1, 1/D and the smallest pivot of a symmetric matrix A = L D L^T, every operation written out: with L^-1 as a
    factor, many right sides go through vector registers."""
    size, rows, pivots, inverses = len(A), [], [], []
    columns: list[Any] = []
    for k in range(size):
        pivots.append(A[0, 0])
        inverses.append(1.0 / A[0, 0])
        columns.append(A[1:, 0] * inverses[-1])
        A = A[1:, 1:] - columns[-1][:, None] * A[0, 1:]
        before = [-columns[j][k - j - 1] for j in range(k)]
        row = sum((value * rows[j] for j, value in enumerate(before)), jnp.zeros(size))
        rows.append(row.at[k].set(1.0))
    return jnp.stack(rows), jnp.stack(inverses), jnp.min(jnp.stack(pivots))
