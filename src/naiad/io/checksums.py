"""Checksums of the chunks of a store, said at its root: a chunk that another program wrote later is found.

Each chunk file ends with the checksum of its content, which the codec compares when it is read. A program that writes
other numbers writes their checksum too; the root keeps the ones that naiad wrote. The last chunk of an array that grows
is written again and again: until it is full, the root has the checksum of its committed rows instead.
"""

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.io import keys

if TYPE_CHECKING:
    import zarr
    from zarr.abc.store import Store

SIZE = 4
"""Bytes of a checksum at the end of a chunk."""

Checksums = dict[str, dict[str, str]]
"""For each array, the checksum of each chunk by its key below the array."""


def of_chunks(store: "Store", array: str, chunks: Iterable[str]) -> dict[str, str]:
    """Return the checksum at the end of each of these chunks of an array."""
    return {chunk: keys.ending(store, f"{array}/{chunk}", SIZE).hex() for chunk in chunks}


def of_arrays(store: "Store", arrays: Iterable[str], known: Checksums) -> Checksums:
    """Return the checksums of all chunks of these arrays, those that are not `known` from their files."""
    found: Checksums = {}
    for array in arrays:
        own = known.get(array, {})
        chunks = (key.removeprefix(f"{array}/") for key in keys.names(store, f"{array}/"))
        missing = [chunk for chunk in chunks if chunk not in own and chunk != "zarr.json"]
        found[array] = own | of_chunks(store, array, missing)
    return found


def of_rows(values: np.ndarray, axis: int, before: int = 0) -> int:
    """Return the checksum of rows along an axis, going on from that of the rows `before`."""
    import google_crc32c

    rows = np.moveaxis(values, axis, 0)
    if rows.dtype.kind in "UTO":
        content: Any = "".join(f"{len(text)}:{text}" for text in map(str, rows.ravel().tolist())).encode()
    else:
        content = np.ascontiguousarray(rows, rows.dtype.newbyteorder("<")).reshape(-1).view(np.uint8)
    return google_crc32c.extend(before, content)


def full_chunks(array: "zarr.Array[Any]", axis: int, first: int, last: int) -> Iterator[tuple[int, str]]:
    """Yield the number along an axis, and the key below the array, of the chunks from one number up to another."""
    counts = [range(-(-size // chunk)) for size, chunk in zip(array.shape, array.chunks, strict=True)]
    counts[axis] = range(first, last)
    metadata: Any = array.metadata
    for index in itertools.product(*counts):
        yield index[axis], metadata.encode_chunk_key(index)
