"""The mechanical connection of a swimmer: how it moves when it changes its shape [kanso2005, section 6].

For the kinetic energy v . K(theta) v / 2, v = (xi, theta'), the momentum in the frame of the base is
K_gg xi + K_gt theta' = mu, so that xi = K_gg^-1 mu - A(theta) theta' with the local connection A = K_gg^-1 K_gt.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute_rows
from naiad.errors import InputError
from naiad.groups import AbstractGroup
from naiad.locomotion.abstract_swimmer import AbstractSwimmer
from naiad.locomotion.checks import check_free
from naiad.locomotion.shapes import in_rows
from naiad.mechanics.connection import connection_of, curvature_of
from naiad.numerics.arguments import checked_throughout

Matrix = Float[Array, "n n"]


class CurvatureMap(NamedTuple):
    """F_ab over a plane of two angles, as [first, second, component]."""

    first: Float[np.ndarray, " i"]
    second: Float[np.ndarray, " j"]
    F: Float[np.ndarray, "i j d"]


@checked_throughout
def locked_inertia(swimmer: AbstractSwimmer, shapes: Any) -> np.ndarray:
    """K_gg, the inertia of the swimmer with its shape locked, for one shape or for shapes in rows."""
    d = swimmer.frame.dim
    return _for_shapes(swimmer, shapes, lambda rows: swimmer.inertias(rows)[:, :d, :d])


@checked_throughout
def connection(swimmer: AbstractSwimmer, shapes: Any) -> np.ndarray:
    """A(theta), a column for each angle, for one shape or for shapes in rows: from rest, xi = - A theta'."""
    return _for_shapes(
        swimmer, shapes, lambda rows: execute_rows(_connection, swimmer.frame, swimmer.inertias(rows), parameters=(0,))
    )


@checked_throughout
def curvature(swimmer: AbstractSwimmer, shapes: Any) -> np.ndarray:
    """F_ab(theta) as [a, b, component], for one shape or for shapes in rows.

    A small loop in the plane of the angles a and b that turns from a to b around the area s moves the swimmer by
    exp(-s F_ab).
    """
    groups = swimmer.frame, swimmer.shapes
    return _for_shapes(
        swimmer,
        shapes,
        lambda rows: execute_rows(_curvature, groups, *swimmer.inertias_with_slopes(rows), parameters=(0,)),
    )


@checked_throughout
def curvature_map(
    swimmer: AbstractSwimmer, low: Any, high: Any, count: int = 61, *, plane: tuple[int, int] = (0, 1), rest: Any = None
) -> CurvatureMap:
    """F_ab on a grid of the angles a and b, `plane`, from `low` to `high` (a number, or one for each of the two); the
    other angles are those of `rest` (0)."""
    a, b = plane
    if not (0 <= a < swimmer.angle_count and 0 <= b < swimmer.angle_count and a != b) or count < 2:
        raise InputError(f"plane = {plane!r}, count = {count!r}; expected two different angles and at least two rows.")
    ends = np.broadcast_to(low, 2), np.broadcast_to(high, 2)
    first, second = (np.linspace(ends[0][k], ends[1][k], count) for k in range(2))
    shapes = np.tile(np.zeros(swimmer.angle_count) if rest is None else np.asarray(rest, float), (count, count, 1))
    shapes[..., a], shapes[..., b] = np.meshgrid(first, second, indexing="ij")
    F = curvature(swimmer, shapes.reshape(-1, swimmer.angle_count))[:, a, b]
    return CurvatureMap(first, second, F.reshape(count, count, -1))


def _connection(frame: AbstractGroup, K: Matrix) -> Float[Array, "d m"]:
    return connection_of(K, frame.dim)


def _curvature(groups: tuple[AbstractGroup, AbstractGroup], K: Matrix, slopes: Float[Array, "m n n"]) -> Any:
    frame, shape = groups
    return curvature_of(frame, K, slopes, shape)


def _for_shapes(swimmer: AbstractSwimmer, shapes: Any, function: Callable[[Any], np.ndarray]) -> np.ndarray:
    check_free(swimmer)
    rows, one = in_rows(swimmer.shapes, shapes)
    values = function(rows)
    return values[0] if one else values
