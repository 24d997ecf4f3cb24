"""Machine code with its calling convention: packs arguments, runs on all cores, unpacks results."""

import functools
import itertools
import math
import operator
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from naiad.compiler.backends.llvm.chain import Link
from naiad.compiler.backends.llvm.inputs import Inputs, arranged
from naiad.compiler.backends.llvm.machine import Loaded
from naiad.compiler.backends.places import WHOLE, Place, address, empty
from naiad.compiler.backends.resident import Resident
from naiad.compiler.cores import all_cores, available
from naiad.compiler.ir.program import Layout

TASKS_PER_CORE = 4
QUICK = 2e-3  # seconds of work that are not worth the way to other cores
FEW = 16  # groups that are not worth it in any case
COLD = 1e-4  # seconds that code may take to come into the caches
LARGE = 256  # numbers in an array that others should not keep in memory
SHORT = 32  # numbers in a row that are brought into order at once

_bytes = operator.methodcaller("tobytes")


class Pace:
    """Runs groups, on all cores where they took long enough the last time, or turn out to."""

    def __init__(self) -> None:
        self._seconds = math.inf  # a group, the last time

    def run(self, task: Callable[[int, int], float], groups: int) -> None:
        """All groups by a task that takes some of them, and gives the seconds that it took."""
        if not groups:
            return
        cores, done, spent = min(available(), groups), 0, 0.0
        if cores == 1 or self._seconds * groups < QUICK:
            while done < groups and (cores == 1 or spent < QUICK):
                more = min(groups, 4 * done + 1) if cores > 1 else groups
                spent += task(done, more)
                done = more
        if done < groups:
            bounds = np.linspace(done, groups, min(groups - done, TASKS_PER_CORE * cores) + 1).astype(int)
            tasks = [_pool().submit(task, *pair) for pair in itertools.pairwise(bounds)]
            spent += sum(each.result() for each in tasks)
        self._seconds = max(0.0, spent - COLD) / groups


class LaneRows(Resident):
    """Rows that lie side by side in the memory of lanes, `part`: they are brought into order when someone asks for
    their numbers, so that of large ones, of which little is filled, only that is moved."""

    def __init__(self, part: np.ndarray, place: Place, size: int):
        super().__init__((size, *place.row[1:]), place.outside)
        self.part = part

    def fetched(self, most: int | None = None) -> np.ndarray:
        """The numbers, rows first."""
        groups, _, lanes = self.part.shape
        row = self.shape[1:] if most is None else (most, *self.shape[2:])
        part = self.part if most is None else self.part[:, : math.prod(row)]
        rows = part.transpose(0, 2, 1).reshape(groups * lanes, math.prod(row))[: len(self)]
        return rows.reshape(len(self), *row).astype(self.dtype, copy=False)


class LaneKernel:
    """Compiled code. In memory every element has `lanes` places side by side, one a trajectory; what all trajectories
    share is there once."""

    takes = LaneRows

    def __init__(self, code: bytes, layout: Layout, lanes: int):
        self.lanes = lanes
        self._slots, self._inputs = layout.inputs, [Place.of(slot) for slot in layout.inputs]
        self._arranged: dict[tuple[bool, ...], tuple[Inputs, list[Place]]] = {}
        self._outputs, self._out_size = [Place.of(slot) for slot in layout.outputs], layout.out_size
        self._work_size = layout.work_size * lanes + 1
        self._loaded = Loaded(code)
        self._pace = Pace()

    def __call__(self, leaves: list[Any], own: Sequence[bool], size: int) -> list[np.ndarray]:
        """The results of `size` trajectories; a leaf that is not their `own` is the same for all."""
        return [rows.fetched() for rows in self._rows(leaves, own, size)]

    def left(self, leaves: list[Any], own: Sequence[bool], size: int) -> list[Any]:
        """The same, large ones as the code left them."""
        return [rows if math.prod(rows.shape[1:]) > SHORT else rows.fetched() for rows in self._rows(leaves, own, size)]

    def _rows(self, leaves: list[Any], own: Sequence[bool], size: int) -> list["LaneRows"]:
        groups = -(-size // self.lanes)
        packed = self._packed(leaves, own, groups, size)
        results = np.empty((groups, self._out_size, self.lanes))
        self._pace.run(functools.partial(self._task, packed, results), groups)
        return [LaneRows(results.view(place.inside)[:, place.elements], place, size) for place in self._outputs]

    def _packed(self, leaves: list[Any], own: Sequence[bool], groups: int, size: int) -> np.ndarray:
        """What is shared, then the rows in groups of lanes."""
        if tuple(own) not in self._arranged:
            inputs = arranged(self._slots, [not each for each in own])
            self._arranged[tuple(own)] = inputs, list(map(Place.of, self._slots, inputs.offsets))
        inputs, places = self._arranged[tuple(own)]
        packed = np.empty(inputs.shared + groups * inputs.own * self.lanes)
        together, rows = packed[: inputs.shared], packed[inputs.shared :].reshape(groups, inputs.own, self.lanes)
        for place, leaf, each in zip(places, leaves, own, strict=True):
            if each:
                _spread(leaf, rows.view(place.inside)[:, place.elements], size)
            else:
                together.view(place.inside)[place.elements] = np.asarray(leaf).reshape(-1)
        return packed

    def alone(self, leaves: list[np.ndarray]) -> list[np.ndarray]:
        """One trajectory in one lane: its arrays lie one after the other, and are taken as they lie, for anything else
        would take longer than most programs."""
        packed = b"".join(map(_bytes, self._single.widened(leaves)))
        results, work = np.empty(self._out_size), np.empty(self._work_size)
        self._loaded.run(packed, address(results), address(work), 0, 1)
        return self._single.parts(results)

    @functools.cached_property
    def _single(self) -> "_Single":
        return _Single.of(self._inputs, self._outputs)

    def _task(self, packed: np.ndarray, results: np.ndarray, first: int, last: int) -> float:
        """Some groups, and the seconds that they took."""
        work, started = np.empty(self._work_size), time.perf_counter()
        self._loaded.run(address(packed), address(results), address(work), int(first), int(last))
        return time.perf_counter() - started


class _Single(NamedTuple):
    """The arrays of one trajectory, and what is to be done with each: by the numbers of those that are whole numbers,
    and of those that are not of the type in memory; where each result lies in the memory of numbers or whole numbers,
    before or behind `head`, and its shape if it must be brought into one."""

    widen: list[int]
    narrow: list[tuple[int, np.dtype]]
    head: int
    places: list[tuple[int, Any, tuple[int, ...] | None]]

    @classmethod
    def of(cls, inputs: list[Place], outputs: list[Place]) -> "_Single":
        """Of the places of arguments and results. A large result is not kept in memory by those before it."""
        widen = [k for k, place in enumerate(inputs) if place.outside is not place.inside]
        narrow = [(k, place.outside) for k, place in enumerate(outputs) if place.outside is not place.inside]
        large = [place.elements.start for place in outputs if place.elements.stop - place.elements.start > LARGE]
        head = min(large, default=0)
        places = []
        for place in outputs:
            memory = (place.inside is WHOLE) + 2 * (place.elements.stop > head)
            shape = place.row[1:]
            index = place.elements if shape else (place.elements.start, ...)
            places.append((memory, index, shape if len(shape) > 1 else None))
        return cls(widen, narrow, head, places)

    def widened(self, leaves: list[np.ndarray]) -> list[np.ndarray]:
        """Arguments of the types in memory."""
        if self.widen:
            leaves = list(leaves)
            for k in self.widen:
                leaves[k] = leaves[k].astype(WHOLE)
        return leaves

    def parts(self, results: np.ndarray) -> list[np.ndarray]:
        """The arrays that lie in the results."""
        before = results[: self.head].copy()
        memories = before, before.view(WHOLE), results, results.view(WHOLE)
        parts = [memories[m][i] if shape is None else memories[m][i].reshape(shape) for m, i, shape in self.places]
        for k, kind in self.narrow:
            parts[k] = parts[k].astype(kind)
        return parts


class TableKernel:
    """Compiled code for arguments and results with a memory of their own each."""

    def __init__(self, code: bytes, layout: Layout, lanes: int):
        self.layout, self.lanes = layout, lanes
        self._work_size = layout.work_size * lanes + 1
        self._loaded = Loaded(code)
        self._pace = Pace()

    def bound(self, places: np.ndarray, groups: int, owners: Any, *, in_order: bool) -> Callable[[], None]:
        """A call for all groups, by a `Link` if they go to one core; `places` has for each memory the address of its
        first group, and the bytes to the next, `owners` are what they belong to. They go to all cores, unless they have
        to be treated in order."""
        run, where = self._loaded.run, address(places)
        alone = Link(self._loaded, places, empty(self._work_size), groups, owners)
        if in_order or groups < FEW:
            return alone

        def task(first: int, last: int) -> float:
            work, started = empty(self._work_size), time.perf_counter()
            run(where, 0, address(work), int(first), int(last))
            return time.perf_counter() - started

        def call() -> None:
            if available() == 1:
                alone()
            else:
                self._pace.run(task, groups)

        return call


def _spread(leaf: Any, target: np.ndarray, size: int) -> None:
    """Write rows into the target, side by side; the last row fills the lanes that are left."""
    groups, count, lanes = target.shape
    if isinstance(leaf, LaneRows) and leaf.part.shape == target.shape:
        target[...] = leaf.part
        return
    rows, full = np.asarray(leaf).reshape(size, count), size // lanes
    target[:full] = rows[: full * lanes].reshape(full, lanes, count).transpose(0, 2, 1)
    if full < groups:
        left = size - full * lanes
        target[full, :, :left], target[full, :, left:] = rows[-left:].T, rows[-1][:, None]


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(all_cores(), thread_name_prefix="naiad")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not go along: a child makes a pool of its own
