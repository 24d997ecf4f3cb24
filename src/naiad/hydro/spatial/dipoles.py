"""The dipoles of all bodies for JAX to trace: W psi = H xi, for one motion by conjugate gradients, with every body
alone as the preconditioner, which need no matrix, and for all unit motions by factors of W.

What belongs to bodies is a list of arrays, one for each group of bodies that are alike, with an axis for the bodies.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from naiad.hydro.spatial.alike import Alike, Met, added_at, folded
from naiad.hydro.spatial.kernel import energies
from naiad.numerics import solve_in_loops

TOLERANCE, MOST = 1e-14, 200
"""Of the residual, relative and in the norm of the preconditioner, and the most iterations."""

Blocks = list[Any]


def dipoles(groups: Sequence[Alike], between: Sequence[Met], right: Blocks) -> Blocks:
    """psi for right sides in columns, by conjugate gradients."""

    def energy(psi: Blocks) -> Blocks:
        own = each_body(groups, lambda sheet, each: sheet.W @ each, psi)
        return [one + more for one, more in zip(own, fields(groups, between, psi), strict=True)]

    def alone(r: Blocks) -> Blocks:
        return each_body(groups, lambda sheet, each: sheet.inverse @ each, r)

    if not between:
        return alone(right)
    return jax.lax.custom_linear_solve(energy, right, lambda W, b: _gradients(W, alone, b), symmetric=True)


def each_body(groups: Sequence[Alike], function: Callable[..., Any], *parts: Blocks) -> Blocks:
    """function(sheet, *rows) of every body."""
    return [group.each(function, *rows) for group, *rows in zip(groups, *parts, strict=True)]


def fields(groups: Sequence[Alike], between: Sequence[Met], psi: Blocks) -> Blocks:
    """What all other sheets and images do to the functions of each."""
    gamma = each_body(groups, lambda sheet, each: sheet.vortices(each), psi)
    found = [jnp.zeros_like(each) for each in gamma]
    columns = psi[0].shape[2]
    for pairs, at, kernels in between:

        def add(found: Blocks, i: Any, j: Any, sign: Any, at: Any, G: Any, pairs: Any = pairs) -> Blocks:
            one, other = gamma[pairs.one][i], gamma[pairs.other][j]
            seen = jnp.einsum("ij,tjm->tim", at.R, other).reshape(-1, 3 * columns)
            found = _raised(found, pairs.one, i, sign * (G @ seen).reshape(-1, 3, columns))
            if pairs.own:
                return found
            back = (G.T @ one.reshape(-1, 3 * columns)).reshape(-1, 3, columns)
            return _raised(found, pairs.other, j, sign * jnp.einsum("ji,tjm->tim", at.R, back))

        found = pairs.added(add, found, pairs.sign, at, kernels)
    return each_body(groups, lambda sheet, each: sheet.gathered(each), found)


def unit_dipoles(groups: Sequence[Alike], between: Sequence[Met]) -> tuple[Any, Any]:
    """The dipoles of the unit motions of all bodies, in columns, and the right sides H, in the order of the groups."""
    starts, size = _starts(groups)
    W, H = jnp.zeros((size, size)), jnp.zeros((size, 6 * sum(group.count for group in groups)))
    for group, start in zip(groups, starts, strict=True):

        def place(made: Any, k: Any, body: Any, first: Any, group: Alike = group) -> Any:
            sheet = group.sheet(k)
            return added_at(made[0], sheet.W, first, first), added_at(made[1], sheet.H, first, 6 * body)

        W, H = folded(place, (W, H), np.arange(group.count), np.asarray(group.bodies), start)
    for pairs, at, kernels in between:

        def couple(W: Any, i: Any, j: Any, weight: Any, at: Any, G: Any, pairs: Any = pairs) -> Any:
            block = weight * energies(groups[pairs.one].sheet(i), groups[pairs.other].sheet(j), at, G, jnp)
            first, second = jnp.asarray(starts[pairs.one])[i], jnp.asarray(starts[pairs.other])[j]
            return added_at(added_at(W, block, first, second), block.T, second, first)

        W = pairs.added(couple, W, pairs.sign * pairs.share, at, kernels)
    return solve_in_loops(W, H), H


def _starts(groups: Sequence[Alike]) -> tuple[list[np.ndarray], int]:
    """Where the functions of each body begin, and how many there are."""
    starts, size = [], 0
    for group in groups:
        starts.append(size + group.functions * np.arange(group.count))
        size += group.functions * group.count
    return starts, size


def _raised(blocks: Blocks, number: int, place: Any, more: Any) -> Blocks:
    """With something added to that of a body."""
    raised = added_at(blocks[number], more[None], place, 0, 0, 0)
    return [raised if k == number else block for k, block in enumerate(blocks)]


def _gradients(W: Callable[[Blocks], Blocks], alone: Callable[[Blocks], Blocks], b: Blocks) -> Blocks:
    """Conjugate gradients for all columns at once, each with its own steps."""

    def dot(u: Blocks, v: Blocks) -> Any:
        return sum(jnp.sum(one * other, axis=(0, 1)) for one, other in zip(u, v, strict=True))

    def added(u: Blocks, scale: Any, v: Blocks) -> Blocks:
        return [one + scale * other for one, other in zip(u, v, strict=True)]

    def quotient(a: Any, b: Any) -> Any:
        return jnp.where(b > 0.0, a / jnp.where(b > 0.0, b, 1.0), 0.0)

    start = alone(b)
    size = dot(b, start)

    def goes_on(at):
        _, _, _, square, count = at
        return jnp.any(square > TOLERANCE**2 * size) & (count < MOST)

    def body(at):
        psi, r, p, square, count = at
        Wp = W(p)
        step = quotient(square, dot(p, Wp))
        psi, r = added(psi, step, p), added(r, -step, Wp)
        z = alone(r)
        after = dot(r, z)
        return psi, r, added(z, quotient(after, square), p), after, count + 1

    r = added(b, -1.0, W(start))
    z = alone(r)
    return jax.lax.while_loop(goes_on, body, (start, r, z, dot(r, z), jnp.zeros((), int)))[0]
