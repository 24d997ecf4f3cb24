"""Machine code with its calling convention: packs arguments, runs on all cores, unpacks results."""

import functools
import itertools
import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from naiad.compiler.backends.llvm.machine import Loaded
from naiad.compiler.ir.program import Layout, Slot

TASKS_PER_CORE = 4


class LaneKernel:
    """Compiled code. In memory every element has `lanes` places side by side, one a trajectory."""

    def __init__(self, code: bytes, layout: Layout, lanes: int):
        self.layout = layout
        self.lanes = lanes
        self._loaded = Loaded(code)

    def __call__(self, leaves: list[np.ndarray], own: Sequence[bool], size: int) -> list[np.ndarray]:
        """The results of `size` trajectories; a leaf that is not their `own` is the same for all."""
        groups = -(-size // self.lanes)
        packed = np.empty((groups, self.layout.in_size, self.lanes))
        for slot, leaf, each in zip(self.layout.inputs, leaves, own, strict=True):
            self._pack(packed, slot, leaf, each, size)
        results = np.empty((groups, self.layout.out_size, self.lanes))
        self._run(packed, results, groups)
        return [self._unpacked(results, slot, size) for slot in self.layout.outputs]

    def _pack(self, packed: np.ndarray, slot: Slot, leaf: np.ndarray, own: bool, size: int) -> None:
        count = math.prod(slot.shape)
        target = packed[:, slot.offset : slot.offset + count, :]
        if slot.dtype != "float64":
            target = packed.view(np.int64)[:, slot.offset : slot.offset + count, :]
        if not own:
            target[...] = leaf.reshape(1, count, 1)
            return
        rows, room = leaf.reshape(size, count), len(packed) * self.lanes
        if size < room:  # the last row fills the lanes that are left
            rows = rows[np.minimum(np.arange(room), size - 1)]
        target[...] = rows.reshape(len(packed), self.lanes, count).transpose(0, 2, 1)

    def _unpacked(self, results: np.ndarray, slot: Slot, size: int) -> np.ndarray:
        count = math.prod(slot.shape)
        part = results if slot.dtype == "float64" else results.view(np.int64)
        rows = part[:, slot.offset : slot.offset + count, :].transpose(0, 2, 1)
        rows = rows.reshape(len(results) * self.lanes, count)[:size]
        return rows.reshape(size, *slot.shape).astype(slot.dtype, copy=False)

    def _run(self, packed: np.ndarray, results: np.ndarray, groups: int) -> None:
        cores = min(_cores(), groups)
        if cores <= 1:
            self._task(packed, results, 0, groups)
            return
        bounds = np.linspace(0, groups, min(groups, TASKS_PER_CORE * cores) + 1).astype(int)
        tasks = [_pool().submit(self._task, packed, results, *pair) for pair in itertools.pairwise(bounds)]
        for task in tasks:
            task.result()

    def _task(self, packed: np.ndarray, results: np.ndarray, first: int, last: int) -> None:
        work = np.empty(self.layout.work_size * self.lanes + 1)
        self._loaded.run(packed.ctypes.data, results.ctypes.data, work.ctypes.data, int(first), int(last))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_cores(), thread_name_prefix="naiad")


os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not go along: a child makes a pool of its own
