"""Whether what a user gives as the action of a group is one."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from naiad.errors import InputError
from naiad.groups import AbstractGroup
from naiad.numerics.arguments import checked
from naiad.numerics.checks import floats, generator


@checked
def action_defect(group: AbstractGroup, action: Callable[..., Any], point: Any, *, seed: int = 0) -> float:
    """How far `action(g, point)` is from an action of the group: the larger of |e a - a|/|a| and
    |(g f) a - g (f a)|/|g f a| for random g and f.

    Round-off for an action. The reduced equations of an `AdvectedSystem` are those of its motion only if its parameter
    is carried along by one.
    """
    point = jax.tree.map(lambda leaf: floats("point", leaf), point)
    if not sum(np.size(leaf) for leaf in jax.tree.leaves(point)):
        raise InputError("action_defect: point holds no numbers; expected an array, or a tuple of arrays.")
    rng = generator(seed)
    g, f = group.random(rng), group.random(rng)
    return max(
        _distance(_moved(action, group.identity(), point), point),
        _distance(_moved(action, g, _moved(action, f, point)), _moved(action, group.compose(g, f), point)),
    )


def _moved(action: Callable[..., Any], g: Any, point: Any) -> Any:
    try:
        moved = action(g, point)
    except Exception as error:
        raise InputError(f"action_defect: action(g, point) raises {type(error).__name__}: {error}") from error
    shapes = [[np.shape(leaf) for leaf in jax.tree.leaves(each)] for each in (moved, point)]
    if shapes[0] != shapes[1]:
        raise InputError(
            f"action_defect: action(g, point) gives shapes {shapes[0]}; expected those of point, {shapes[1]}."
        )
    return jax.tree.map(lambda leaf: floats("action", leaf), moved)


def _distance(one: Any, other: Any) -> float:
    first, second = (np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(each)]) for each in (one, other))
    return float(np.linalg.norm(first - second) / (np.linalg.norm(second) or 1.0))
