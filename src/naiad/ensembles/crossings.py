"""The crossings of a block of runs: as they come, run by run in pieces, and put together in the order of the runs."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.compiler.cores import available
from naiad.mechanics import State
from naiad.simulation.loop import Rows

RUNS = 256  # whose rows are moved at a time: they fit into a core's cache, however they lie in memory
FEW = 8  # so many times RUNS are not worth the way to other cores


class Crossings(NamedTuple):
    """Crossings of a section: how many each run has, and when each is and the state there, those of a run together and
    in their order."""

    count: np.ndarray
    times: np.ndarray
    states: State

    @classmethod
    def of(cls, rows: Rows) -> "Crossings":
        """The rows that are filled. Those of a GPU lie with the runs side by side: to take one run after the other from
        there would wait for memory at every number."""
        count = np.asarray(rows.count)
        ends = np.cumsum(count)
        leaves, structure = jax.tree.flatten(rows.rows)
        room = leaves[0].shape[1]
        made = [np.empty((ends[-1], *leaf.shape[2:]), leaf.dtype) for leaf in leaves]

        def move(first: int, last: int) -> None:
            filled = np.flatnonzero(np.arange(room) < count[first:last, None])
            own = slice(ends[first] - count[first], ends[last - 1])
            for leaf, target in zip(leaves, made, strict=True):
                near = np.ascontiguousarray(leaf[first:last]).reshape((last - first) * room, *leaf.shape[2:])
                np.take(near, filled, axis=0, out=target[own], mode="clip")

        _by_runs(move, len(count))
        return cls(count, *jax.tree.unflatten(structure, made))

    @property
    def whose(self) -> np.ndarray:
        """The run of each."""
        return np.repeat(np.arange(len(self.count)), self.count)


@jax.tree_util.register_pytree_node_class
class Met:
    """The crossings of a section, as they come in pieces; as a tree it is `whole`."""

    def __init__(self, *pieces: Crossings):
        self._pieces: tuple[Crossings, ...] = pieces

    def joined(self, more: Crossings) -> "Met":
        """With more, which come later."""
        return Met(*self._pieces, more)

    def whole(self) -> Crossings:
        """All of them; put together once, since each piece is moved then."""
        first, *more = self._pieces
        whole = _together((first, *more)) if more else first
        self._pieces = (whole,)
        return whole

    def tree_flatten(self) -> tuple[tuple[Any, ...], None]:
        """Its arrays."""
        return self.whole(), None

    @classmethod
    def tree_unflatten(cls, about: None, leaves: Any) -> "Met":
        """From its arrays."""
        return cls(Crossings(*leaves))


def _together(pieces: tuple[Crossings, ...]) -> Crossings:
    """The pieces in one: those of a run from each piece, one piece after the other."""
    counts = np.array([piece.count for piece in pieces])
    total, begins = counts.sum(axis=0), np.cumsum(counts, axis=1) - counts
    first_of = np.cumsum(total) - total
    places = first_of + np.cumsum(counts, axis=0) - counts  # where those of a run go that a piece has
    columns = [jax.tree.leaves((piece.times, piece.states)) for piece in pieces]
    made = [np.empty((total.sum(), *leaf.shape[1:]), leaf.dtype) for leaf in columns[0]]

    def move(first: int, last: int) -> None:
        start, stop = first_of[first], first_of[last - 1] + total[last - 1]
        order, begun, taken = np.empty(stop - start, int), 0, []
        own = np.s_[:, first:last]
        for count, begin, place in zip(counts[own], begins[own], places[own], strict=True):
            taken.append(slice(begin[0], begin[-1] + count[-1]))
            number = np.arange(taken[-1].start, taken[-1].stop)
            order[np.repeat(place - begin - start, count) + number] = number - begin[0] + begun
            begun += len(number)
        for target, leaves in zip(made, zip(*columns, strict=True), strict=True):
            near = np.concatenate([leaf[part] for leaf, part in zip(leaves, taken, strict=True)])
            np.take(near, order, axis=0, out=target[start:stop], mode="clip")

    _by_runs(move, len(total))
    times, states = jax.tree.unflatten(jax.tree.structure((pieces[0].times, pieces[0].states)), made)
    return Crossings(total, times, states)


def _by_runs(move: Callable[[int, int], None], runs: int) -> None:
    """Move the rows of some runs at a time, from the first of them to before the last, on all cores."""
    firsts = range(0, runs, RUNS)
    lasts = [min(first + RUNS, runs) for first in firsts]
    if len(firsts) < FEW or available() == 1:
        for first, last in zip(firsts, lasts, strict=True):
            move(first, last)
        return
    with ThreadPoolExecutor(available()) as pool:
        list(pool.map(move, firsts, lasts))
