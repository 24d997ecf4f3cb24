"""The blocks that a step adds to Newton's matrix, its inner velocities eliminated."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from naiad.control.derivatives import Directional, Row, unit
from naiad.control.interval import Interval, lagrange, misses, multipliers, unknowns
from naiad.control.problem import Problem
from naiad.control.riccati import Sizes, Swept
from naiad.control.stages import Staged
from naiad.numerics.linalg import solver


class Kept(NamedTuple):
    """Of the blocks, what is needed once the sweeps are done.

    Rows are those of y = (x, U), x = (eta, theta, m), and a last one of what is there at y = 0: `response` has dK, and
    after it the second derivatives of the Lagrange function in K, along it; `paths` the change of the inequalities.
    `slope` and `leading` are the gradient in K and the derivative in K of what the step leads to, and `inverse` that of
    the balance, inverted: they give sigma. `path` has the inequalities.
    """

    response: Any
    paths: Any
    inverse: Any
    slope: Any
    leading: Any
    path: Any


class Condensed(NamedTuple):
    """Rows of unknowns y, or of what is there without any, with the response of K: `response` and `paths` as in `Kept`,
    where the step leads to, and the second derivatives in (eta, theta, U) with the slope behind them, in which the
    response of K to the other unknown is left out."""

    response: Any
    paths: Any
    lead: Any
    cost: Any

    def put(self, row: "Condensed", index: Any) -> "Condensed":
        """The same with this row."""
        return Condensed(
            *(jax.lax.dynamic_update_slice(array, one[None], (index, 0)) for array, one in zip(self, row, strict=True))
        )


def derivatives_of(problem: Problem, at: Interval, curvature: Any) -> Directional | Staged:
    """The derivatives of the Lagrange function of a step."""
    if problem.staged:
        return Staged(problem, at, curvature)
    return Directional(lambda z, y: lagrange(problem, at, z, y), unknowns(problem, at), multipliers(at), curvature)


def blocks(problem: Problem, at: Interval, barrier: Any, curvature: Any) -> tuple[Swept, Kept]:
    """The blocks of a step; `curvature` scales what the equations add to the second derivatives of the cost: 1 is
    Newton's method, 0 that of Gauss and Newton."""
    sizes, n, inner, c = Sizes.of(problem), problem.group.dim, problem.inner_size, problem.constants
    own, nx, q = sizes.control, sizes.state, at.rho.size
    plain, ny = n + c + own, nx + own
    found = derivatives_of(problem, at, curvature)
    second, first, slope = jax.lax.map(found.along(plain, inner), jnp.arange(inner))
    by_y, by_K = second[:, :plain], second[:, plain:]
    balance, leading, paths = first[:, :inner], first[:, inner : inner + 2 * n], first[:, inner + 2 * n :]
    solution = solver(balance.T, pivoted=problem.staged)
    inverse = jax.lax.map(lambda index: solution(unit(index, inner)), jnp.arange(inner))

    def condensed(e: Any, mixed: Any, row: Row) -> Condensed:
        """A row with its response e; `mixed` are its second derivatives in K."""
        second, first, own_slope = row
        return Condensed(
            response=jnp.concatenate([e, mixed + e @ by_K]),
            paths=first[inner + 2 * n :] + e @ paths,
            lead=first[inner : inner + 2 * n] + e @ leading,
            cost=jnp.concatenate([second[:plain] + e @ by_y, (own_slope + e @ slope)[None]]),
        )

    def of_part(begin: int, size: int):
        """The rows of a part of (eta, theta, U)."""
        along = found.along(begin, size)

        def row(index: Any) -> Condensed:
            made = along(index)
            return condensed(solution(-made[1][:inner]), by_y[:, begin + index], made)

        return row

    none = jnp.zeros(plain), jnp.zeros(first.shape[1]), jnp.zeros(())
    rows = Condensed(*(jax.lax.empty((ny + 1, size), float) for size in (2 * inner, q, 2 * n, plain + 1)))
    parts = (
        (0, n, of_part(0, n)),
        (n, c, of_part(n, c)),
        (n + c, n, lambda index: condensed(inverse[inner - n + index], jnp.zeros(inner), none)),
        (nx, own, of_part(n + c, own)),
    )
    for begin, size, row in parts:
        rows = jax.lax.fori_loop(0, size, lambda k, rows, a=begin, row=row: rows.put(row(k), a + k), rows)
    missed = misses(at, found.equations)
    reached = jnp.concatenate([missed[: inner + 2 * n], jnp.zeros(q)])
    last = condensed(solution(-missed[:inner]), jnp.zeros(inner), (none[0], reached, none[2]))
    rows = rows.put(last, ny)
    kept = Kept(rows.response, rows.paths, inverse, slope, leading, missed[inner + 2 * n :])
    swept = Swept(_lead(sizes, rows.lead, c), _cost(sizes, rows, last, n))
    return _with_inequalities(sizes, at, barrier, swept, kept, paths) if q else (swept, kept)


def _lead(sizes: Sizes, rows: Any, constants: int) -> Any:
    """(x_{k+1}, 1) of (x, 1, U), from columns in rows; constants stay what they are."""
    nx, ny, n = sizes.state, sizes.state + sizes.control, rows.shape[1] // 2

    def line(k: Any) -> Any:
        column = rows[:, k]
        return sizes.spread(column[None, :nx], column[ny:], column[None, nx:ny])[0]

    lines, columns = jax.lax.map(line, jnp.arange(2 * n)), sizes.columns
    constant, one = jnp.eye(constants, columns, n), jnp.eye(1, columns, nx)
    return jnp.concatenate([lines[:n], constant, lines[n:], one])


def _cost(sizes: Sizes, rows: Condensed, last: Condensed, n: int) -> Any:
    """The slopes of the model of the cost in (x, U), to which the response of K adds in each other unknown."""
    nx, ny, inner = sizes.state, sizes.state + sizes.control, rows.response.shape[1] // 2
    response, bent, far = rows.response[:ny, :inner], last.response[inner:], nx - n

    def widened(row: Any) -> Any:
        """A row of (eta, theta, U) as one of (x, U)."""
        return jnp.concatenate([row[:far], jnp.zeros(n), row[far:]])

    alone = widened(last.cost[:-1])

    def line(k: Any) -> Any:
        own, cost = rows.response[k], rows.cost[k]
        found = response @ own[inner:] + widened(cost[:-1])
        slope = cost[-1] + bent @ own[:inner] + alone[k]
        return sizes.spread(found[None, :nx], slope[None], found[None, nx:])[0]

    return jax.lax.map(line, jnp.arange(ny))


def _with_inequalities(
    sizes: Sizes, at: Interval, barrier: Any, swept: Swept, kept: Kept, paths: Any
) -> tuple[Swept, Kept]:
    """The same with what inequalities add: their slacks are eliminated; `paths` are their derivatives in K."""
    nx, ny, inner = sizes.state, sizes.state + sizes.control, kept.slope.size
    weight = at.rho / at.slack
    push = barrier / at.slack + weight * (kept.path + at.slack)
    pushed = push + weight * kept.paths[ny]

    def cost(k: Any) -> Any:
        own = kept.paths[k]
        found = kept.paths[:ny] @ (weight * own)
        return swept.cost[k] + sizes.spread(found[None, :nx], (own @ pushed)[None], found[None, nx:])[0]

    def response(k: Any) -> Any:
        own = kept.response[k]
        return jnp.concatenate([own[:inner], own[inner:] + paths @ (weight * kept.paths[k])])

    swept = swept._replace(cost=jax.lax.map(cost, jnp.arange(ny)))
    return swept, kept._replace(response=jax.lax.map(response, jnp.arange(ny + 1)), slope=kept.slope + paths @ push)
