"""Whether what a user gives as the action of a group is one."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from naiad.groups import AbstractGroup
from naiad.numerics import double
from naiad.numerics.arguments import checked


@checked
@double
def action_defect(group: AbstractGroup, action: Callable[..., Any], point: Any, *, seed: int = 0) -> float:
    """How far `action(g, point)` is from an action of the group: the larger of |e a - a|/|a| and
    |(g f) a - g (f a)|/|g f a| for random g and f.

    Round-off for an action. The reduced equations of an `AdvectedSystem` are those of its motion only if its parameter
    is carried along by one.
    """
    rng = np.random.default_rng(seed)
    g, f = group.random(rng), group.random(rng)
    return max(
        _distance(action(group.identity(), point), point),
        _distance(action(g, action(f, point)), action(group.compose(g, f), point)),
    )


def _distance(one: Any, other: Any) -> float:
    first, second = (np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(each)]) for each in (one, other))
    return float(np.linalg.norm(first - second) / (np.linalg.norm(second) or 1.0))
