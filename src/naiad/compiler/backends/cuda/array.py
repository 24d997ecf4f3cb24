"""Arrays on GPUs."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from naiad.compiler.backends.resident import Resident

WARP = 32  # threads that go together: the rows of an element begin at a multiple of it


def padded(rows: int) -> int:
    """The places of an element, one a row and some that are left empty."""
    return -(-rows // WARP) * WARP


class Piece(NamedTuple):
    """Rows of an array on a device, and the event after which they are there."""

    device: Any
    first: int
    rows: int
    memory: Any
    ready: Any


class DeviceArray(Resident):
    """An array whose rows lie in pieces on one or more devices: in each element by element, the rows side by side."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, pieces: Sequence[Piece]):
        super().__init__(shape, dtype)
        self.pieces = list(pieces)

    @property
    def partition(self) -> tuple[tuple[int, int, int], ...]:
        """The device, the first row and the rows of each piece."""
        return tuple((piece.device.number, piece.first, piece.rows) for piece in self.pieces)

    def fetched(self, most: int | None = None) -> np.ndarray:
        """The numbers: rows first, whatever the order of the elements in memory."""
        row = self.shape[1:] if most is None else (most, *self.shape[2:])
        parts = []
        for piece in self.pieces:
            there = np.empty((math.prod(row), padded(piece.rows)), self.dtype)
            if there.size:
                piece.device.download(piece.memory, there, piece.ready)
            parts.append(there[:, : piece.rows].T.reshape(piece.rows, *row))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def spread(leaf: np.ndarray, first: int, rows: int, dtype: np.dtype) -> np.ndarray:
    """Rows of an array as they lie on a device."""
    flat = leaf[first : first + rows].reshape(rows, -1)
    there = np.empty((flat.shape[1], padded(rows)), dtype)
    there[:, :rows] = flat.T
    there[:, rows:] = 0
    return there
