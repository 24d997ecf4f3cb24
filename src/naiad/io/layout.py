"""The layout of a store: a Zarr (version 3) group, one array per variable, and a table of contents in its attributes.

The root attributes are the dataset's own and four of naiad's: `naiad_format`, `naiad_layout` (the variables in order,
which of them are coordinates, the committed length of each growing dimension, and a digest of the metadata of each
array, and the checksums of chunks), `coordinates`, by which `xarray.open_zarr` knows the coordinates too, and
`naiad_checksum`, a digest of all the others. An array may be longer than its committed length (a process was killed
between writing rows and committing them): what lies beyond does not count. Format 1 had no digests, format 2 no
checksums of chunks.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.errors import InputError
from naiad.io import checksums, keys

if TYPE_CHECKING:
    import xarray as xr
    import zarr
    from zarr.abc.store import Store

FORMAT = 3
GROWING = ("time", "output_time", "crossing")
RESERVED = ("naiad_layout", "naiad_checksum", "coordinates")
CHUNK_BYTES = 4 * 2**20
CHUNK_ROWS = 65536
_WIDEST = {"b": 1, "i": 8, "u": 8, "f": 8, "c": 16, "U": np.inf}


def check(dataset: "xr.Dataset") -> None:
    """Refuse what a store cannot hold exactly: objects, odd names, reserved attributes."""
    for name, variable in dataset.variables.items():
        if not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]*", name) or name.startswith("__"):
            raise InputError(f"a variable is named {name!r}; a store takes names of letters, digits, '_', '-' and '.'")
        if variable.dtype.itemsize > _WIDEST.get(variable.dtype.kind, -1):
            raise InputError(
                f"variable {name!r} has dtype {variable.dtype}; a store takes numbers, booleans and text: "
                f"convert it, for example with .astype(float) or .astype(str)"
            )
    for name in RESERVED:
        if name in dataset.attrs:
            raise InputError(f"the attribute {name!r} is reserved by the store; rename it")


def plain(value: Any, where: str) -> Any:
    """`value` as JSON has it: NumPy scalars become numbers, arrays and tuples become lists."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item, where) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: plain(item, where) for key, item in value.items()}
    raise InputError(f"{where} holds a {type(value).__name__}; attributes take numbers, text, lists and dictionaries")


def plain_attributes(holder: "xr.Dataset | xr.Variable", name: str) -> dict[str, Any]:
    """The attributes of a dataset or variable, ready for JSON."""
    return {str(key): plain(value, f"attribute {key!r} of {name}") for key, value in holder.attrs.items()}


def commit(
    store: "Store",
    own: Mapping[str, Any],
    variables: list[str],
    coordinates: list[str],
    lengths: Mapping[str, int],
    groups: Sequence[str] | None = None,
    sums: "checksums.Checksums | None" = None,
    tails: Mapping[str, str] | None = None,
) -> None:
    """Say at the root what the store holds, in one atomic replacement of a file: what is not said does not count.

    The disk has what is said before it is said, and the words before this returns. Of a store that is finished, with
    `groups` of its own or none, the root has a copy of all metadata, where `xarray.open_zarr` looks first. `sums` are
    the checksums of full chunks, where they are known, and `tails` those of the rows in the last chunks; of a finished
    store the others are read from the files.
    """
    metadata = {name: keys.get(store, f"{name}/zarr.json") or b"" for name in variables}
    arrays = {name: array_digest(each, lengths) for name, each in metadata.items()}
    layout: dict[str, Any] = {"variables": variables, "coordinates": coordinates, "lengths": dict(lengths)}
    layout["arrays"] = arrays
    if groups is not None:
        found = [key for group in groups for key in keys.names(store, f"{group}/") if key.endswith("/zarr.json")]
        inner = [key.removesuffix("/zarr.json") for key in found if key.removesuffix("/zarr.json") not in groups]
        sums = checksums.of_arrays(store, [*variables, *inner], sums or {})
    layout |= {"checksums": sums or {}, "tails": dict(tails or {})}
    named = {"coordinates": " ".join(coordinates)} if coordinates else {}
    attributes = {**own, **named, "naiad_format": FORMAT, "naiad_layout": layout}
    node = _group({**attributes, "naiad_checksum": digest(attributes)})
    if groups is not None:
        for key in found:
            metadata[key.removesuffix("/zarr.json")] = keys.get(store, key) or b""
        copies = {name: json.loads(metadata[name]) for name in sorted(metadata)}
        node["consolidated_metadata"] = {"kind": "inline", "must_understand": False, "metadata": copies}
    keys.put(store, "zarr.json", json.dumps(node, indent=2).encode(), last=True)


def create_group(store: "Store", name: str, attributes: Mapping[str, Any]) -> None:
    """A group below the root, or with an empty name the root."""
    keys.put(store, f"{name}/zarr.json".lstrip("/"), json.dumps(_group(attributes)).encode())


def _group(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {"zarr_format": 3, "node_type": "group", "attributes": dict(attributes)}


def digest(value: Any) -> str:
    """A digest of what JSON can hold, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def array_digest(metadata: bytes, lengths: Mapping[str, int]) -> str:
    """A digest of the metadata of an array, but for its size along dimensions that grow."""
    node = json.loads(metadata)
    dims = node.get("dimension_names") or []
    node["shape"] = [None if dim in lengths else size for dim, size in zip(dims, node["shape"], strict=True)]
    return digest(node)


def chunk_shape(shape: tuple[int, ...], itemsize: int, growing: int | None = None) -> tuple[int, ...]:
    """Chunks of a few MiB: whole rows if they fit; an axis that grows gets as many rows as fit, up to 65536."""
    chunks = [max(1, size) for size in shape]
    order = [axis for axis in range(len(shape)) if axis != growing]
    if growing is not None:
        chunks[growing] = CHUNK_ROWS
        order.insert(0, growing)
    for axis in order:
        rest = itemsize * math.prod(chunks) // chunks[axis]
        chunks[axis] = min(chunks[axis], max(1, CHUNK_BYTES // rest))
    return tuple(chunks)


def create_array(
    group: "zarr.Group", name: str, variable: "xr.Variable", shape: tuple[int, ...], growing: int | None = None
) -> "zarr.Array[Any]":
    """An array for `variable`, compressed without loss; a checksum on every chunk makes damage visible."""
    from zarr.codecs import BloscCodec, Crc32cCodec

    text = variable.dtype.kind == "U"
    itemsize = variable.dtype.itemsize or 1
    return group.create_array(
        name,
        shape=shape,
        dtype=np.dtypes.StringDType() if text else variable.dtype.newbyteorder("="),
        chunks=chunk_shape(shape, itemsize, growing),
        dimension_names=[str(dim) for dim in variable.dims],
        attributes=plain_attributes(variable, name),
        compressors=[BloscCodec(cname="lz4", clevel=5, shuffle="shuffle"), Crc32cCodec()],
        fill_value=None,
        config={"write_empty_chunks": True},
        overwrite=True,
    )


def create_plain_array(store: "Store", name: str, variable: "xr.Variable", length: int, rows: int) -> None:
    """An array of numbers of this length, for `put_rows` to fill in pieces of so many rows.

    It is not compressed, which would save little of numbers that come out of a computation for the time it takes; the
    checksum is there.
    """
    one = variable.dtype.itemsize == 1
    node = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [length, *variable.shape[1:]],
        "data_type": variable.dtype.name,
        "chunk_grid": {
            "name": "regular",
            "configuration": {"chunk_shape": [rows, *(max(1, size) for size in variable.shape[1:])]},
        },
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        "fill_value": variable.dtype.type(0).item(),
        "codecs": [{"name": "bytes"} | ({} if one else {"configuration": {"endian": "little"}}), {"name": "crc32c"}],
        "attributes": plain_attributes(variable, name),
        "dimension_names": [str(dim) for dim in variable.dims],
        "storage_transformers": [],
    }
    keys.put(store, f"{name}/zarr.json", json.dumps(node).encode())


def put_rows(store: "Store", name: str, number: int, values: np.ndarray, rows: int) -> tuple[str, str]:
    """Write one piece, by its number, of an array of `create_plain_array`; the last may have fewer rows. Return its key
    below the array, and its checksum."""
    import google_crc32c

    if len(values) < rows:
        values = np.concatenate([values, np.zeros((rows - len(values), *values.shape[1:]), values.dtype)])
    little = values.dtype.newbyteorder("<")
    content = np.ascontiguousarray(values, little).reshape(-1).view(np.uint8)
    index = ".".join(map(str, (number, *(0 for _ in values.shape[1:]))))
    found = google_crc32c.value(content).to_bytes(4, "little")
    keys.put(store, f"{name}/c.{index}", content, found)
    return f"c.{index}", found.hex()


def write_array(group: "zarr.Group", name: str, variable: "xr.Variable") -> "zarr.Array[Any]":
    """A whole variable as an array."""
    array = create_array(group, name, variable, variable.shape)
    if variable.size:
        array[...] = stored(variable.to_numpy())
    return array


def write_small_array(store: "Store", name: str, variable: "xr.Variable") -> None:
    """A whole variable of few numbers, or texts, as an array."""
    import zarr

    if variable.dtype.kind == "U" or not variable.ndim or not variable.size:
        write_array(zarr.open_group(store, mode="r+", use_consolidated=False), name, variable)
        return
    create_plain_array(store, name, variable, len(variable), len(variable))
    put_rows(store, name, 0, variable.to_numpy(), len(variable))


def stored(values: np.ndarray) -> np.ndarray:
    """`values` as an array of the store takes them: text of variable length instead of fixed."""
    return values.astype(np.dtypes.StringDType()) if values.dtype.kind == "U" else values


def restored(values: np.ndarray) -> np.ndarray:
    """The inverse of `stored`: text (objects, as indices of older pandas hold it) of the least fixed length."""
    return np.array(values.tolist(), dtype=str).reshape(values.shape) if values.dtype.kind in "TO" else values
