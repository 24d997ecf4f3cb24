"""The named components of vectors of the algebra and its dual."""

import functools
from typing import Any

import jax
import numpy as np

from naiad.compiler import execute
from naiad.groups import AbstractGroup
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import namespace


@checked_throughout
def split_rows(group: AbstractGroup, rows: Any) -> list[np.ndarray]:
    """The components of vectors along the last axis, in the order of the group's names."""
    return [np.asarray(rows)[..., places] for places in _places(group)]


@checked_throughout
def row_views(group: AbstractGroup, rows: Any) -> list[np.ndarray]:
    """The same as views of the rows, where that is possible: for rows that nobody else has."""
    return [np.asarray(rows)[..., _within(places)] for places in _places(group)]


@checked_throughout
def join_rows(group: AbstractGroup, parts: Any) -> Any:
    """The vectors of which these are the components."""
    xp, order = namespace(*parts), _order(group)
    leading = np.shape(parts[0])[: np.ndim(parts[0]) - _places(group)[0].ndim]
    rows = xp.concatenate([xp.reshape(part, (*leading, -1)) for part in parts], axis=-1)
    return rows if order is None else rows[..., order]


@checked_throughout
def identity(group: AbstractGroup) -> Any:
    """The identity of the group, as NumPy arrays."""
    leaves, structure = neutral(group)
    return jax.tree.unflatten(structure, [leaf.copy() for leaf in leaves])


@functools.lru_cache
def neutral(group: AbstractGroup) -> tuple[list[np.ndarray], Any]:
    """The arrays of the identity, which nobody may change, and their structure."""
    return jax.tree.flatten(execute(_identity, group, parameters=(0,)))


def _identity(group: AbstractGroup) -> Any:
    return group.identity()


@functools.lru_cache
def _places(group: AbstractGroup) -> list[np.ndarray]:
    """Where each component lies: `split` only picks, so it splits the numbers of the places too."""
    return [np.asarray(part, int) for part in execute(_split, group, np.arange(float(group.dim)), parameters=(0,))]


@functools.lru_cache
def _order(group: AbstractGroup) -> np.ndarray | None:
    """Where the numbers of a vector lie among those of its components; None if they lie there in order."""
    places = np.concatenate([place.ravel() for place in _places(group)])
    return None if np.all(np.diff(places) == 1) else np.argsort(places)


def _split(group: AbstractGroup, x: Any) -> Any:
    return group.split(x)


def _within(places: np.ndarray) -> slice | np.ndarray:
    """Places that lie side by side as a slice."""
    beside = places.ndim == 1 and np.all(np.diff(places) == 1)
    return slice(int(places[0]), int(places[-1]) + 1) if beside else places
