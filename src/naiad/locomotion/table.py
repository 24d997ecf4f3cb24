"""Swimmers whose links the fluid couples, made fast enough to be simulated.

Boundary elements take a millisecond or two for a shape, and cannot be compiled. As long as no links touch, though, the
inertia is an analytic function of the angles, and its Chebyshev series converges geometrically: some twenty terms for
each angle give ten digits, in microseconds.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from naiad.errors import InputError
from naiad.locomotion.inertia_table import InertiaTable
from naiad.locomotion.swimmer import COUPLED, Swimmer
from naiad.numerics import ChebyshevSeries, chebyshev_points, check_double
from naiad.numerics.arguments import checked

FIRST, GROWTH, MOST = 8, 1.5, 96
"""Terms for an angle: at first, by what they grow, and the most."""
ROWS = 32
BETWEEN = 24

Tell = Callable[[float], None]


@checked
def tabulated(
    swimmer: Swimmer, low: Any, high: Any, *, tolerance: float = 1e-10, progress: Tell | None = None
) -> Swimmer:
    """The swimmer with its fluid's inertia as a series, for angles between `low` and `high` [rad], a number for all or
    one for each. One whose links are alone in the fluid is returned as it is.

    There are as many terms as it takes for those left out to be below `tolerance`, an entry ij of the inertia being
    compared to sqrt(K_ii K_jj); `swimmer.fluid.error` is the error found. `progress` is called with the fraction done.
    """
    if not isinstance(swimmer.fluid, COUPLED):
        return swimmer
    if not 1e-12 <= tolerance <= 1e-2:
        raise InputError(f"tolerance = {tolerance!r}; expected a number between 1e-12 and 1e-2.")
    low, high = _box(low, high, swimmer.angle_count)
    wet = swimmer.replaced(own=np.zeros_like(swimmer.own))
    others = _others(low, high)
    exact = _inertias(wet, others, lambda fraction: None)  # first, since links that touch do so at corners
    series = _resolved(wet, low, high, tolerance, progress or (lambda fraction: None))
    found = wet.replaced(fluid=InertiaTable(series, 0.0)).inertias(others)
    error = float(np.max(np.abs(found - exact) / _scale(exact)))
    K = swimmer.alone.inertias(others) + exact
    if not np.min(np.linalg.eigvalsh(K / _scale(K))) > K.shape[1] * error:
        raise InputError(f"With tolerance = {tolerance:g} the inertia may be indefinite; give a smaller one.")
    return swimmer.replaced(fluid=InertiaTable(series, error))


def _resolved(wet: Swimmer, low: np.ndarray, high: np.ndarray, tolerance: float, tell: Tell) -> ChebyshevSeries:
    """The series with as many terms as the tolerance needs."""
    sizes, upper, done = (FIRST,) * len(low), np.triu_indices(wet.group.dim), 0.0
    while max(sizes) <= MOST:
        values = _inertias(wet, chebyshev_points(sizes, low, high), tell, done)
        scale, done = _scale(values), 0.5 * (1.0 + done)
        series = ChebyshevSeries.through((values / scale)[:, *upper].reshape(*sizes, -1), low, high)
        terms = np.asarray(series.coefficients)
        needed = [_needed(terms, axis, tolerance / len(sizes)) for axis in range(len(sizes))]
        short = [need > size - 2 for need, size in zip(needed, sizes, strict=True)]
        if not any(short):
            tell(1.0)
            kept = terms[tuple(slice(need) for need in needed)] * scale[upper]
            return series.replaced(coefficients=np.ascontiguousarray(kept))
        sizes = tuple(int(GROWTH * size) if more else size for size, more in zip(sizes, short, strict=True))
    raise InputError(
        f"The inertia between {low.tolist()} and {high.tolist()} rad needs more than {MOST} terms for an angle: links "
        "come too near each other. Take a smaller box or a larger tolerance."
    )


def _needed(coefficients: np.ndarray, axis: int, tolerance: float) -> int:
    """How many terms along an axis leave out less than the tolerance: the sum of what is left out bounds its error."""
    largest = np.max(np.abs(coefficients), axis=-1)
    sizes = np.sum(np.moveaxis(largest, axis, 0).reshape(largest.shape[axis], -1), axis=1)
    tails = np.cumsum(sizes[::-1])[::-1]
    return max(2, int(np.count_nonzero(tails >= tolerance)))


def _inertias(wet: Swimmer, shapes: np.ndarray, tell: Tell, done: float = 0.0) -> Float[np.ndarray, "s n n"]:
    """Some shapes at a time, so that progress shows: half of what was not done. An error names the shape."""
    found = []
    for start in range(0, len(shapes), ROWS):
        rows = shapes[start : start + ROWS]
        try:
            found.append(wet.inertias(rows))
        except InputError:
            _name_the_shape(wet, rows)
            raise
        tell(done + 0.5 * (1.0 - done) * (start + len(rows)) / len(shapes))
    return np.concatenate(found)


def _name_the_shape(wet: Swimmer, shapes: np.ndarray) -> None:
    for shape in shapes:
        try:
            wet.inertias(shape)
        except InputError as error:
            raise InputError(f"At the shape {np.round(shape, 6).tolist()} rad of the box: {error}") from None


def _scale(values: Float[np.ndarray, "s n n"]) -> Float[np.ndarray, "n n"]:
    """sqrt(K_ii K_jj), K_ii the largest of all shapes."""
    size = np.sqrt(np.max(np.einsum("sii->si", values), axis=0))
    return np.outer(size, size)


def _others(low: np.ndarray, high: np.ndarray) -> Float[np.ndarray, "s m"]:
    """The corners of the box, and points strewn in it."""
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    strewn = np.random.default_rng(0).uniform(low, high, (BETWEEN, len(low)))
    return np.concatenate([corners, strewn])


def _box(low: Any, high: Any, joints: int) -> tuple[np.ndarray, np.ndarray]:
    check_double("The box of shapes", (low, high))
    try:
        ends = [np.broadcast_to(np.asarray(end, float), joints).copy() for end in (low, high)]
    except (TypeError, ValueError):
        ends = [np.full(joints, np.nan)] * 2
    if not (np.all(np.isfinite(ends)) and np.all(ends[0] < ends[1])):
        raise InputError(
            f"A box of shapes from {low!r} to {high!r}; expected finite angles, one for all or one for each "
            f"of {joints}, the first below the second."
        )
    return ends[0], ends[1]
