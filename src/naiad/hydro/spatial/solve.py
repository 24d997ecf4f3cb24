"""The dipoles of all bodies: W psi = H xi, for many motions by factors of W, and for one of them by conjugate
gradients, with every body alone as the preconditioner, which need no matrix."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from naiad.errors import InputError
from naiad.hydro.spatial.kernel import vortices_along
from naiad.hydro.spatial.pairs import Coupled
from naiad.hydro.spatial.sheet import AbstractSheet
from naiad.numerics import solve

TOLERANCE, MOST = 1e-14, 200
"""Of the residual, relative and in the norm of the preconditioner, and the most iterations."""

Blocks = list[Any]


def dipoles(sheets: Sequence[AbstractSheet], between: Sequence[Coupled], right: Blocks) -> Blocks:
    """psi for right sides in columns, a block a body, by conjugate gradients."""

    def energy(psi: Blocks) -> Blocks:
        others = fields(sheets, between, psi)
        return [sheet.W @ each + more for sheet, each, more in zip(sheets, psi, others, strict=True)]

    def alone(r: Blocks) -> Blocks:
        return [sheet.inverse @ each for sheet, each in zip(sheets, r, strict=True)]

    if not between:
        return alone(right)
    return jax.lax.custom_linear_solve(energy, right, lambda W, b: _gradients(W, alone, b), symmetric=True)


def fields(sheets: Sequence[AbstractSheet], between: Sequence[Coupled], psi: Blocks) -> Blocks:
    """What all other sheets and images do to the functions of each."""
    gamma = [sheet.vortices(each) for sheet, each in zip(sheets, psi, strict=True)]
    found = [jnp.zeros_like(each) for each in gamma]
    for pair, at, G in between:
        i, j = pair.first, pair.second
        m = gamma[i].shape[2]
        seen = jnp.einsum("ij,tjm->tim", at.R, gamma[j])
        found[i] = found[i] + pair.sign * (G @ seen.reshape(-1, 3 * m)).reshape(-1, 3, m)
        if i != j:
            field = (G.T @ gamma[i].reshape(-1, 3 * m)).reshape(-1, 3, m)
            found[j] = found[j] + pair.sign * jnp.einsum("ji,tjm->tim", at.R, field)
    return [sheet.gathered(each) for sheet, each in zip(sheets, found, strict=True)]


def factorised(sheets: Sequence[AbstractSheet], between: Sequence[Coupled], right: Blocks, xp: Any) -> Blocks:
    """psi for right sides in columns, a block a body, from the matrix W."""
    if not between:
        return [sheet.inverse @ each for sheet, each in zip(sheets, right, strict=True)]
    W, b = _matrix(sheets, between, xp), xp.concatenate(right)
    psi = _positive(W, b) if xp is np else solve(W, b)
    ends = np.cumsum([len(sheet.W) for sheet in sheets])
    return [psi[end - len(sheet.W) : end] for end, sheet in zip(ends, sheets, strict=True)]


def _matrix(sheets: Sequence[AbstractSheet], between: Sequence[Coupled], xp: Any) -> Any:
    """W: what all sheets are to each is a block column, which is computed as one. So code for it has few operations,
    on large arrays, whose number grows with that of the bodies."""
    sizes = [len(sheet.W) for sheet in sheets]
    own, columns = [], []
    for i, (one, size) in enumerate(zip(sheets, sizes, strict=True)):
        before, after = sum(sizes[:i]), sum(sizes[i + 1 :])
        own.append(xp.concatenate([xp.zeros((before, size)), one.W, xp.zeros((after, size))]))
        seen: dict[int, list[Any]] = {}
        for pair, at, G in between:
            if pair.first == i:
                share = pair.sign * (0.5 if pair.second == i else 1.0)  # the transpose is added
                found = [share * each for each in vortices_along(sheets[pair.second], at, G, xp)]
                known = seen.get(pair.second)
                seen[pair.second] = found if known is None else [a + b for a, b in zip(known, found, strict=True)]
        if seen:
            others = [xp.concatenate([seen[j][c] for j in sorted(seen)], axis=1) for c in range(3)]
            part = sum(one.curled(each.T, c, xp) for c, each in enumerate(others))
            columns.append(xp.concatenate([xp.zeros((sum(sizes[: min(seen)]), size)), part]))
        else:
            columns.append(xp.zeros((sum(sizes), size)))
    half = xp.concatenate(columns, axis=1)
    return half + half.T + xp.concatenate(own, axis=1)


def _positive(W: np.ndarray, b: np.ndarray) -> np.ndarray:
    import scipy.linalg

    try:
        factor = scipy.linalg.cho_factor(W, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError as error:
        raise InputError("The bodies are too near each other for the functions on them; move them apart.") from error
    return scipy.linalg.cho_solve(factor, b, check_finite=False)


def _gradients(W: Callable[[Blocks], Blocks], alone: Callable[[Blocks], Blocks], b: Blocks) -> Blocks:
    """Conjugate gradients for all columns at once, each with its own steps."""

    def dot(u: Blocks, v: Blocks) -> Any:
        return sum(jnp.sum(one * other, axis=0) for one, other in zip(u, v, strict=True))

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
