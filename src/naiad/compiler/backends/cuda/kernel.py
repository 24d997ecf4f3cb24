"""Code on GPUs with its calling convention: plans memory, brings arguments there, and leaves the results there."""

import hashlib
import json
import math
import pickle
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from naiad.compiler.backends.cuda.array import DeviceArray, Piece, padded, spread
from naiad.compiler.backends.cuda.printer import Facts
from naiad.compiler.cache import default_cache
from naiad.compiler.ir.program import Layout, Slot
from naiad.errors import DeviceError

SHARE = 1024  # rows that are not worth another device
USED = 0.9  # of the memory that is free
SETTLED = 1e-3  # seconds of a trial that is long enough to tell which code is faster
Partition = list[tuple[Any, int, int]]


class Plan(NamedTuple):
    """Which rows go to which device, one after the other; whether the results stay there."""

    pieces: Partition
    stays: bool


class GridKernel:
    """A program on one or more devices of a kind. There is code for several launch bounds; which one is the fastest is
    tried with the first call that takes long enough, and kept in the cache if it is to be remembered."""

    def __init__(self, code: bytes, layout: Layout, devices: Sequence[Any], *, remember: bool):
        facts, self._codes = pickle.loads(code)
        self._facts = Facts(*facts)
        self._inputs, self._outputs = layout.inputs, layout.outputs
        self._devices = {device.number: device for device in devices}
        self._modules: dict[tuple[int, Any], Any] = {}
        self._plans: dict[Any, Plan] = {}
        self._key = hashlib.sha256(code + devices[0].name.encode()).hexdigest() if remember else None
        self._bounds: tuple[int, int] | None = self._remembered()

    def __call__(self, leaves: list[Any], own: Sequence[bool], size: int) -> list[Any]:
        """The results of `size` rows; a leaf that is not their `own` is the same for all."""
        if not size:
            return [np.empty((0, *slot.shape), slot.dtype) for slot in self._outputs]
        there = [each and isinstance(leaf, DeviceArray) for leaf, each in zip(leaves, own, strict=True)]
        partitions = {leaf.partition for leaf, is_there in zip(leaves, there, strict=True) if is_there}
        key = (size, tuple(there), *sorted(partitions))
        if key not in self._plans:
            self._plans[key] = self._plan(there, partitions, size)
        try:
            return self._run(self._plans[key], leaves, own, size)
        except DeviceError:
            tighter = self._plan(there, partitions, size)
            if tighter == self._plans[key]:
                raise
            self._plans[key] = tighter
        return self._run(tighter, leaves, own, size)

    # -- the plan

    def _plan(self, there: list[bool], partitions: set[Any], size: int) -> Plan:
        """Where the rows go: where their arrays lie, if these agree; else to all devices alike, in slices that fit."""
        made = sum(map(_bytes, self._outputs)) + 8 * self._facts.work_words
        own = [
            (_bytes(slot), is_there)
            for slot, is_there, same in zip(self._inputs, there, self._facts.same, strict=True)
            if not same
        ]
        if len(partitions) == 1:
            pieces = [(self._devices[number], first, rows) for number, first, rows in next(iter(partitions))]
            a_row = made + sum(size for size, is_there in own if not is_there)
            if all(padded(rows) * a_row <= self._room(device) for device, _, rows in pieces):
                return Plan(pieces, True)
        a_row = made + sum(size for size, _ in own)
        devices = list(self._devices.values())[: -(-size // SHARE)]
        bounds = np.linspace(0, size, len(devices) + 1).astype(int).tolist()
        pieces, stays = [], True
        for device, first, last in zip(devices, bounds[:-1], bounds[1:], strict=True):
            room = self._room(device)
            most = room // a_row // 32 * 32 if a_row else last - first
            if most < min(32, last - first):
                raise DeviceError(
                    f"a row of this program takes {a_row:,} bytes, {32 * a_row:,} for the 32 that go together, and "
                    f"{device.name} has {room:,} free; save fewer nodes, or use device='cpu'."
                )
            stays = stays and last - first <= most
            pieces += [(device, start, min(most, last - start)) for start in range(first, last, most)]
        return Plan(pieces, stays)

    def _room(self, device: Any) -> int:
        """The bytes that rows may take: of those that are free, what the threads' own memory leaves."""
        return max(0, int(USED * device.free()) - self._facts.local_bytes * device.processors * device.threads)

    # -- the work

    def _run(self, plan: Plan, leaves: list[Any], own: Sequence[bool], size: int) -> list[Any]:
        results: list[list[Any]] = [[] for _ in self._outputs]
        for device, first, rows in plan.pieces:
            arguments = [
                self._argument(k, leaf, each, device, first, rows)
                for k, (leaf, each) in enumerate(zip(leaves, own, strict=True))
                if self._facts.constants[k] is None
            ]
            made = [device.allocate(_bytes(slot) * padded(rows)) for slot in self._outputs]
            work = [device.allocate(8 * self._facts.work_words * padded(rows))] if self._facts.work_words else []
            addresses = [memory.address for memory in (*arguments, *made, *work)]
            self._launch(device, self._constants(leaves), addresses, rows)
            ready = device.mark()
            for result, memory in zip(results, made, strict=True):
                result.append(Piece(device, first, rows, memory, ready))
            if not plan.stays:
                for slot, result in zip(self._outputs, results, strict=True):
                    last = result.pop()._replace(first=0)
                    result.append(np.asarray(DeviceArray((rows, *slot.shape), np.dtype(slot.dtype), [last])))
                del made, memory, last
        if not plan.stays:
            return [np.concatenate(parts) for parts in results]
        return [
            DeviceArray((size, *slot.shape), np.dtype(slot.dtype), pieces)
            for slot, pieces in zip(self._outputs, results, strict=True)
        ]

    def _argument(self, k: int, leaf: Any, own: bool, device: Any, first: int, rows: int) -> Any:
        """The memory of an argument on a device: where it lies already, or a copy."""
        if own and isinstance(leaf, DeviceArray):
            for piece in leaf.pieces:
                if (piece.device.number, piece.first, piece.rows) == (device.number, first, rows):
                    return piece.memory
        dtype, leaf = np.dtype(self._inputs[k].dtype), np.asarray(leaf)
        if self._facts.same[k]:
            there = np.ascontiguousarray(leaf, dtype)
        else:
            each = leaf[first : first + rows] if own else np.broadcast_to(leaf, (rows, *leaf.shape))
            there = spread(each, 0, rows, dtype)
        memory = device.allocate(there.nbytes)
        device.upload(memory.address, there)
        return memory

    def _constants(self, leaves: list[Any]) -> np.ndarray:
        """What constant memory holds, 64 bits each."""
        words = np.zeros(self._facts.constant_words)
        for slot, leaf, place in zip(self._inputs, leaves, self._facts.constants, strict=True):
            if place is not None:
                target = words[place : place + math.prod(slot.shape)]
                values = np.asarray(leaf).reshape(-1)
                if slot.dtype == "float64":
                    target[:] = values
                else:
                    target.view(np.int64)[:] = values
        return words

    # -- launch bounds

    def _launch(self, device: Any, constants: np.ndarray, addresses: list[int], rows: int) -> None:
        stride = np.uint32(padded(rows))

        def start(bounds: tuple[int, int], some: int) -> None:
            module = self._modules.get((device.number, bounds))
            if module is None:
                module = self._modules[device.number, bounds] = device.load(self._codes[bounds])
            if constants.size:
                module.constants(constants, self._facts.prepared)
            threads = bounds[0]
            module.launch(-(-some // threads), threads, [*addresses, stride, np.uint32(some)])

        if self._bounds is None:
            self._try(device, start, rows)
        start(self._bounds or next(iter(self._codes)), rows)

    def _try(self, device: Any, start: Any, rows: int) -> None:
        """The launch bounds that are fastest for as many rows as fill the device; there are others to settle it if
        these take too little time, or are too few."""
        some = device.processors * device.threads
        if rows < some // 8 and len(self._codes) > 1:  # a device has registers for a quarter of its threads at most
            return
        seconds = {}
        for bounds in self._codes:
            start(bounds, min(rows, some))
            device.wait()
            began = time.perf_counter()
            start(bounds, min(rows, some))
            device.wait()
            seconds[bounds] = time.perf_counter() - began
        best = min(seconds, key=lambda bounds: seconds[bounds])
        if len(self._codes) == 1 or seconds[best] > SETTLED:
            self._bounds = best
            cache = default_cache()
            if cache is not None and self._key is not None and len(self._codes) > 1:
                cache.store(self._key, json.dumps(best).encode())

    def _remembered(self) -> tuple[int, int] | None:
        cache = default_cache() if self._key is not None else None
        kept = cache.load(self._key) if cache is not None and self._key is not None else None
        bounds = tuple(json.loads(kept)) if kept is not None else None
        if bounds in self._codes:
            return bounds
        return next(iter(self._codes)) if len(self._codes) == 1 else None


def _bytes(slot: Slot) -> int:
    """Of a row."""
    return math.prod(slot.shape) * np.dtype(slot.dtype).itemsize
