"""Shapes as users give them: one, or many in rows."""

from typing import Any

import jax
import numpy as np

from naiad.errors import InputError
from naiad.groups import AbstractGroup
from naiad.mechanics import identity
from naiad.numerics import check_double, check_rotations


def in_rows(group: AbstractGroup, shapes: Any) -> tuple[Any, bool]:
    """Elements of the group of shapes, their arrays stacked along the first axis; and whether it was one alone."""
    wanted = identity(group)
    sizes = " and ".join(str(like.shape) for like in jax.tree.leaves(wanted))
    check_double("The shape", jax.tree.leaves(shapes))
    try:
        given = jax.tree.map(lambda _, part: np.asarray(part, float), wanted, shapes)
    except (TypeError, ValueError):
        raise InputError(f"{shapes!r} is not a shape; expected arrays of shape {sizes}, or many in rows.") from None
    pairs = list(zip(jax.tree.leaves(wanted), jax.tree.leaves(given), strict=True))
    axes = {part.ndim - like.ndim for like, part in pairs}
    if axes not in ({0}, {1}) or any(part.shape[part.ndim - like.ndim :] != like.shape for like, part in pairs):
        found = " and ".join(str(part.shape) for _, part in pairs)
        raise InputError(f"Shapes with arrays of shape {found}; expected {sizes} for one, or many stacked in rows.")
    for R in group.rotations(given):
        check_rotations("The attitude of a ball joint", R)
    one = axes == {0}
    return (jax.tree.map(lambda part: part[None], given) if one else given), one
