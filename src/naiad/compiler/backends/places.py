"""Where arrays lie in the memory of the process."""

import ctypes
import math
from typing import Any, NamedTuple

import numpy as np

from naiad.compiler.ir.program import Slot

FLOAT, WHOLE = np.dtype(np.float64), np.dtype(np.int64)
LINE = 64  # bytes of a line of the cache, and of the longest vector register


class Place(NamedTuple):
    """Where an array lies among the elements of a trajectory, the shape of one row, and its types there and outside."""

    elements: slice
    row: tuple[int, ...]
    inside: np.dtype
    outside: np.dtype

    @classmethod
    def of(cls, slot: Slot, first: int | None = None) -> "Place":
        """That of a slot; its `first` element, if it is not where the slot says."""
        first = slot.offset if first is None else first
        outside, elements = np.dtype(slot.dtype), slice(first, first + math.prod(slot.shape))
        return cls(elements, (1, *slot.shape), outside if outside == FLOAT else WHOLE, outside)


def empty(*shape: int) -> np.ndarray:
    """Memory for so many numbers, which begins with a line of the cache: a vector that lies across two takes longer."""
    count, line = math.prod(shape), LINE // FLOAT.itemsize
    memory = np.empty(count + line)
    first = -(address(memory) // FLOAT.itemsize) % line
    return memory[first : first + count].reshape(shape)


def address(memory: np.ndarray) -> int:
    """Where the first element is: `memory.ctypes.data`, in a third of the time."""
    data: Any = memory
    return ctypes.addressof(ctypes.c_char.from_buffer(data)) if memory.size else 0
