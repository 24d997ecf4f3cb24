"""Newton's equations of all steps, solved step by step: a backward and a forward sweep, O(N). y = (U, x) as in
`Blocks`."""

from typing import Any, NamedTuple

import jax.numpy as jnp

from naiad.numerics import Module, static

MOST_SCALARS = 64  # larger matrices live in memory, where loops over their columns run in vector registers


class Value(NamedTuple):
    """The cost to go x . V x / 2 + v . x after a step, and the smallest pivot met so far."""

    V: Any
    v: Any
    pivot: Any


class Swept(NamedTuple):
    """What a step is for the sweeps: x_{k+1} = lead (y, 1), and the model of the cost y . cost (y, 2) / 2; columns are
    those of y and a last one of what is there at y = 0."""

    lead: Any
    cost: Any


class Bounded(NamedTuple):
    """What bounds add in the controls: to the diagonal, and to the slope for a barrier of one."""

    stiff: Any
    push: Any


class Barrier(NamedTuple):
    """The barrier, and what is added to the diagonal of the controls."""

    barrier: Any
    shift: Any


class Gains(NamedTuple):
    """U = gains (x, 1) of a step."""

    gains: Any


class Change(NamedTuple):
    """Newton's step: increments of x before and after a step, those of U, and the multipliers of x after it."""

    x: Any
    after: Any
    U: Any
    costate: Any


class Sizes(Module):
    """How many numbers of each kind a step has."""

    state: int = static()
    control: int = static()


def backward(sizes: Sizes, after: Value, row: Swept, bound: Bounded, at: Barrier) -> tuple[Value, Gains]:
    """The cost to go before a step, and its feedback."""
    nu, ny = sizes.control, sizes.control + sizes.state
    lead = row.lead[:, :ny].T
    matrix = row.cost + lead @ (after.V @ row.lead)
    gradient = matrix[:, ny] + lead @ after.v
    solve, pivot = _factorised(matrix[:nu, :nu] + jnp.diag(bound.stiff + at.shift))
    coupled = matrix[:nu, nu:ny]
    own = gradient[:nu] + at.barrier * bound.push
    gains = -solve(jnp.concatenate([coupled, own[:, None]], axis=1))
    V = matrix[nu:, nu:ny] + coupled.T @ gains[:, : sizes.state]
    v = gradient[nu:] + coupled.T @ gains[:, sizes.state]
    return Value(0.5 * (V + V.T), v, jnp.minimum(after.pivot, pivot)), Gains(gains)


def forward(sizes: Sizes, x: Any, row: Swept, feedback: Gains, to_go: Value) -> tuple[Any, Change]:
    """The increments of x after a step, and the changes with it; `to_go` is the cost to go after it."""
    U = feedback.gains[:, : sizes.state] @ x + feedback.gains[:, sizes.state]
    y = jnp.concatenate([U, x, jnp.ones(1)])
    after = row.lead @ y
    return after, Change(x, after, U, to_go.V @ after + to_go.v)


def _factorised(A: Any) -> tuple[Any, Any]:
    """The solution map of a symmetric matrix by A = L D L^T, every operation written out, and the smallest pivot."""
    pivots, columns = [], []
    for _ in range(A.shape[0]):
        pivots.append(A[0, 0])
        columns.append(A[1:, 0] / A[0, 0])
        A = A[1:, 1:] - columns[-1][:, None] * A[0, 1:]

    def solve(B: Any) -> Any:
        y, x = [], jnp.zeros((0, B.shape[1]))
        for column in columns:
            y.append(B[0])
            B = B[1:] - column[:, None] * B[0]
        for value, pivot, column in zip(reversed(y), reversed(pivots), reversed(columns), strict=True):
            x = jnp.concatenate([(value / pivot - column @ x)[None], x])
        return x

    return solve, jnp.min(jnp.stack(pivots))
