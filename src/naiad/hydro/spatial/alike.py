"""Bodies whose sheets have the same sizes, and their pairs: what is done for each of them is one loop of a program,
however many there are."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from naiad.groups.se3 import Pose
from naiad.hydro.spatial.kernel import kernel
from naiad.hydro.spatial.pairs import pairs
from naiad.hydro.spatial.plane import Plane
from naiad.hydro.spatial.sheet import AbstractSheet, SmoothSheet
from naiad.numerics import Module, static


class Alike(Module):
    """Bodies by their numbers in `bodies`: `kinds` has their different sheets, stacked, and `which` says which of them
    each has. Their places here are 0, 1, ..."""

    kinds: AbstractSheet
    which: tuple[int, ...] = static()
    bodies: tuple[int, ...] = static()

    @property
    def count(self) -> int:
        """The number of bodies."""
        return len(self.bodies)

    @property
    def functions(self) -> int:
        """How many functions the dipoles of each are made of."""
        return self.kinds.W.shape[-1]

    def sheet(self, place: Any) -> AbstractSheet:
        """That of one body; the place may be traced."""
        if not isinstance(place, Tracer) or len(set(self.which)) == 1:
            kind = self.which[0 if isinstance(place, Tracer) else place]
            return jax.tree.map(lambda each: each[kind], self.kinds)
        number = jnp.asarray(self.which)[place]
        return jax.tree.map(lambda each: jnp.asarray(each)[number], self.kinds)

    def each(self, function: Callable[..., Any], *rows: Any) -> Any:
        """function(sheet, *row) of every body, stacked."""
        return looped(lambda place, *row: function(self.sheet(place), *row), np.arange(self.count), *rows)


def alike(sheets: Sequence[AbstractSheet]) -> tuple[Alike, ...]:
    """Groups of smooth sheets by their sizes; those of meshes, which are large, are groups of one."""
    groups: dict[Any, list[int]] = {}
    for body, sheet in enumerate(sheets):
        sizes = tuple(np.shape(leaf) for leaf in jax.tree.leaves(sheet))
        groups.setdefault(sizes if isinstance(sheet, SmoothSheet) else body, []).append(body)
    found = []
    for bodies in groups.values():
        kinds: list[AbstractSheet] = []
        which = []
        for sheet in (sheets[body] for body in bodies):
            same = [number for number, kind in enumerate(kinds) if kind is sheet or kind == sheet]
            which.append(same[0] if same else len(kinds))
            kinds += [] if same else [sheet]
        found.append(Alike.unchecked(kinds=jax.tree.map(_stacked, *kinds), which=tuple(which), bodies=tuple(bodies)))
    return tuple(found)


def in_order(groups: Sequence[Alike]) -> tuple[AbstractSheet, ...]:
    """The sheets of all bodies."""
    found = {body: group.sheet(place) for group in groups for place, body in enumerate(group.bodies)}
    return tuple(found[body] for body in range(len(found)))


class Meeting(NamedTuple):
    """All pairs of a body of one group, by number, with one of another, or its image: their places there, their numbers
    among all `bodies`, and whether it is an image, with its sign and share, as of a `Pair`. If `own`, each meets its
    own image."""

    one: int
    other: int
    own: bool
    first: np.ndarray
    second: np.ndarray
    bodies: tuple[np.ndarray, np.ndarray]
    image: np.ndarray
    sign: np.ndarray
    share: np.ndarray

    def poses(self, poses: Pose, plane: Plane | None) -> Pose:
        """Those of the second in the frames of the first."""
        (first, second), (R, x) = self.bodies, poses
        if np.any(self.image):
            assert plane is not None
            second = second + len(x) * self.image
            R, x = jnp.concatenate([R, plane.mirror(jnp) @ R]), jnp.concatenate([x, plane.mirrored(x, jnp)])
        return looped(lambda i, j: Pose(R[i].T @ R[j], R[i].T @ (x[j] - x[i])), first, second)

    def each(self, function: Callable[..., Any], *rows: Any) -> Any:
        """function(place of the first, place of the second, *row) of every pair, stacked."""
        return looped(function, self.first, self.second, *rows)

    def added(self, function: Callable[..., Any], start: Any, *rows: Any) -> Any:
        """What comes of function(before, place of the first, place of the second, *row), pair after pair."""
        return folded(function, start, self.first, self.second, *rows)


def meetings(groups: Sequence[Alike], plane: Plane | None) -> list[Meeting]:
    """All pairs of bodies, and of bodies with images, those that are alike together."""
    home = {body: (g, place) for g, group in enumerate(groups) for place, body in enumerate(group.bodies)}
    found: dict[Any, list[Any]] = {}
    for pair in pairs(len(home), plane):
        (one, first), (other, second) = home[pair.first], home[pair.second]
        row = first, second, pair.first, pair.second, pair.image, pair.sign, pair.share
        found.setdefault((one, other, pair.first == pair.second), []).append(row)
    made = []
    for key, rows in found.items():
        first, second, i, j, image, sign, share = map(np.array, zip(*rows, strict=True))
        one, other, own = key
        made.append(Meeting(one, other, own, first, second, (i, j), image, sign, share))
    return made


class Met(NamedTuple):
    """A meeting at the relative poses of its pairs, with the kernels between their sites."""

    pairs: Meeting
    at: Pose
    kernels: Any


def met(groups: Sequence[Alike], plane: Plane | None, poses: Pose) -> list[Met]:
    """All pairs at these poses of the bodies."""
    found = []
    for meeting in meetings(groups, plane):
        at = meeting.poses(poses, plane)
        one, other = groups[meeting.one], groups[meeting.other]
        kernels = meeting.each(lambda i, j, at, a=one, b=other: kernel(a.sheet(i), b.sheet(j), at, jnp), at)
        found.append(Met(meeting, at, kernels))
    return found


def looped(function: Callable[..., Any], *rows: Any) -> Any:
    """function(*row) for all rows of trees of arrays, stacked: a loop, but for a single row."""
    if len(jax.tree.leaves(rows)[0]) == 1:
        return jax.tree.map(lambda found: jnp.asarray(found)[None], function(*_only(rows)))
    return jax.lax.map(lambda row: function(*row), rows)


def folded(function: Callable[..., Any], start: Any, *rows: Any) -> Any:
    """function(function(start, *row), *next row) and so on: a loop, but for a single row."""
    if len(jax.tree.leaves(rows)[0]) == 1:
        return function(start, *_only(rows))
    return jax.lax.scan(lambda at, row: (function(at, *row), None), start, rows)[0]


def _only(rows: Any) -> Any:
    return jax.tree.map(lambda each: each[0], rows)


def added_at(whole: Any, part: Any, *start: Any) -> Any:
    """The array with a part of it that begins there added to."""
    old = jax.lax.dynamic_slice(whole, start, part.shape)
    return jax.lax.dynamic_update_slice(whole, old + part, start)


def _stacked(*arrays: Any) -> Any:
    return np.asarray(arrays[0])[None] if len(arrays) == 1 else np.stack(arrays)
