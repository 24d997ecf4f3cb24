"""Butcher tableaux of Runge-Kutta methods: explicit ones, and those of partitioned pairs."""

import functools
from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from naiad.errors import InputError
from naiad.numerics.order_conditions import partitioned_order


class Tableau(NamedTuple):
    """An explicit method: stages Y_i = y + h sum_{j<i} a_ij k_j, result y + h sum_i b_i k_i."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    order: int

    @property
    def c(self) -> tuple[float, ...]:
        """The times of the stages."""
        return tuple(sum(row) for row in self.a)


TABLEAUX = {
    "euler": Tableau(((),), (1.0,), 1),
    "heun2": Tableau(((), (1.0,)), (0.5, 0.5), 2),
    "kutta3": Tableau(((), (0.5,), (-1.0, 2.0)), (1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0), 3),
    "rk4": Tableau(((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0), 4),
}
"""Explicit Runge-Kutta methods, by name."""


class PartitionedTableau(NamedTuple):
    """A method a, b, c for the configuration, implicit or not, and with it the one for the momentum that makes the pair
    symplectic: b_i a^_ij + b_j a_ji = b_i b_j [bourabee2007, theorem 2.5.2]."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]

    @property
    def a_hat(self) -> tuple[tuple[float, ...], ...]:
        """The coefficients for the momentum, a^_ij = b_j - b_j a_ji / b_i."""
        each = range(len(self.b))
        return tuple(tuple(self.b[j] - self.b[j] * self.a[j][i] / self.b[i] for j in each) for i in each)

    @property
    def order(self) -> int:
        """The order of the pair, from its order conditions (up to 8)."""
        return partitioned_order(self.a, self.a_hat, self.b)

    @property
    def symmetric(self) -> bool:
        """Whether the pair is its own adjoint: a_ij + a_{s+1-i,s+1-j} = b_j = b_{s+1-j}."""
        a, b = np.asarray(self.a), np.asarray(self.b)
        return bool(np.allclose(a + a[::-1, ::-1], b, rtol=0, atol=1e-13) and np.allclose(b, b[::-1], 0, 1e-13))


def partitioned_tableau(a: Any, b: Any, c: Any = None) -> PartitionedTableau:
    """The tableau of these coefficients (c = the row sums of a if not given), or an `InputError`."""
    try:
        matrix, weights = np.asarray(a, float), np.asarray(b, float)
        times = matrix.sum(axis=-1) if c is None else np.asarray(c, float)
    except (TypeError, ValueError):
        raise InputError(f"The tableau a = {a!r}, b = {b!r}, c = {c!r} is not made of numbers; give arrays.") from None
    stages = weights.size
    shapes = (matrix.shape, weights.shape, times.shape)
    if not stages or shapes != ((stages, stages), (stages,), (stages,)):
        raise InputError(
            f"The tableau has a of shape {shapes[0]}, b of {shapes[1]} and c of {shapes[2]}; expected (s, s), (s,) and "
            "(s,) for s stages."
        )
    if not all(np.all(np.isfinite(part)) for part in (matrix, weights, times)):
        raise InputError("The tableau holds NaN or infinite values; give finite numbers.")
    if abs(weights.sum() - 1.0) > 1e-12:
        raise InputError(f"The weights b of the tableau sum to {weights.sum():.15g}; expected 1.")
    if np.min(np.abs(weights)) < 1e-12:
        raise InputError(
            f"The weights b = {weights.tolist()} of the tableau hold a zero; a stage without weight has no momentum. "
            "Choose a method with nonzero weights, such as gauss2."
        )
    off = np.max(np.abs(matrix.sum(axis=1) - times))
    if off > 1e-12:
        raise InputError(f"The times c of the tableau differ from the row sums of a by {off:.3g}; leave c out.")
    return PartitionedTableau(tuple(map(tuple, matrix.tolist())), tuple(weights.tolist()), tuple(times.tolist()))


def _tableau(a: Sequence[Sequence[float]], b: Sequence[float], scale: float = 1.0) -> PartitionedTableau:
    return partitioned_tableau(np.asarray(a) / scale, np.asarray(b) / scale)


@functools.cache
def collocation(stages: int) -> PartitionedTableau:
    """Gauss's method with so many stages, of order twice as many [hairer2006, section II.1.3]."""
    x, w = np.polynomial.legendre.leggauss(stages)
    c, others = 0.5 * (1 + x), ~np.eye(stages, dtype=bool)

    def integral(j: int, end: float) -> float:
        """Of the polynomial that is 1 at c_j and 0 at the others, from 0."""
        at = end * c[:, None]
        return end * 0.5 * w @ np.prod((at - c[others[j]]) / (c[j] - c[others[j]]), axis=1)

    return partitioned_tableau([[integral(j, end) for j in range(stages)] for end in c], 0.5 * w, c)


def _gauss3() -> PartitionedTableau:
    r = sqrt(15.0)
    return partitioned_tableau(
        [
            [5 / 36, 2 / 9 - r / 15, 5 / 36 - r / 30],
            [5 / 36 + r / 24, 2 / 9, 5 / 36 - r / 24],
            [5 / 36 + r / 30, 2 / 9 + r / 15, 5 / 36],
        ],
        [5 / 18, 4 / 9, 5 / 18],
    )


def _radau_iia3() -> PartitionedTableau:
    r = sqrt(6.0)
    return partitioned_tableau(
        [
            [(88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225],
            [(296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225],
            [(16 - r) / 36, (16 + r) / 36, 1 / 9],
        ],
        [(16 - r) / 36, (16 + r) / 36, 1 / 9],
    )


def _radau_ia3() -> PartitionedTableau:
    r = sqrt(6.0)
    return partitioned_tableau(
        [
            [1 / 9, (-1 - r) / 18, (-1 + r) / 18],
            [1 / 9, (88 + 7 * r) / 360, (88 - 43 * r) / 360],
            [1 / 9, (88 + 43 * r) / 360, (88 - 7 * r) / 360],
        ],
        [1 / 9, (16 + r) / 36, (16 - r) / 36],
    )


_R3 = sqrt(3.0)
_LOBATTO2 = _tableau([[0, 0], [1, 1]], [1, 1], 2)

PARTITIONED = {
    "symplectic-euler-a": _tableau([[0]], [1]),
    "symplectic-euler-b": _tableau([[1]], [1]),
    "stormer-verlet": _LOBATTO2,
    "gauss1": _tableau([[1]], [2], 2),
    "gauss2": _tableau([[3, 3 - 2 * _R3], [3 + 2 * _R3, 3]], [6, 6], 12),
    "gauss3": _gauss3(),
    "lobatto2": _LOBATTO2,
    "lobatto3": _tableau([[0, 0, 0], [5, 8, -1], [4, 16, 4]], [4, 16, 4], 24),
    "lobatto2-b": _tableau([[1, 0], [1, 0]], [1, 1], 2),
    "lobatto3-b": _tableau([[1, -1, 0], [1, 2, 0], [1, 5, 0]], [1, 4, 1], 6),
    "radau2-ia": _tableau([[3, -3], [3, 5]], [3, 9], 12),
    "radau3-ia": _radau_ia3(),
    "radau2-iia": _tableau([[5, -1], [9, 3]], [9, 3], 12),
    "radau3-iia": _radau_iia3(),
}
"""By name [hairer2006, sections II.1 and VI.6]. For the configuration, the left (a) or the right Euler method, the
Lobatto IIIA methods (with -b: IIIB, and IIIA for the momentum), the Radau IA and IIA methods."""
