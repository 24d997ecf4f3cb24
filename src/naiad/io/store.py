"""Whole datasets: written in one go, read back bit by bit."""

import contextlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.errors import InputError
from naiad.files import clear_errors
from naiad.io import checksums, keys, layout, places
from naiad.numerics.arguments import checked

if TYPE_CHECKING:
    import xarray as xr
    import zarr
    from zarr.abc.store import Store


@checked
def write(dataset: "xr.Dataset", path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write `dataset` to the Zarr directory `path`.

    It is written aside and renamed into place, so that `path` holds the old store or the new one, never a part. An
    existing store is replaced only with `overwrite`; anything that naiad did not write is never replaced.
    """
    import zarr

    from naiad.io.durable import DurableStore

    given, path = Path(path), Path(path).resolve()
    layout.check(dataset)
    own = layout.plain_attributes(dataset, "the dataset")
    names, coordinates = list(map(str, dataset.variables)), list(map(str, dataset.coords))
    with clear_errors(given):
        places.check_free(path, overwrite=overwrite)
        with places.aside(path) as aside:
            group = zarr.create_group(DurableStore(aside), zarr_format=3)
            for name, variable in dataset.variables.items():
                layout.write_array(group, str(name), variable)
            layout.commit(group.store, own, names, coordinates, {}, groups=())
            places.put_in_place(aside, path, overwrite=overwrite)


@checked
def read(path: str | os.PathLike[str]) -> "xr.Dataset":
    """The dataset that `write` or a `Writer` (finished, failed or killed) left at `path`, loaded into memory.

    Every chunk is checked against its checksum. A store larger than memory opens with `open_lazily`.
    """
    import xarray as xr
    import zarr

    path = Path(path)
    own = _root(path)
    with _clear_damage(path):
        contents = _checked_contents(_files(path), own)
        group = zarr.open_group(_checked(_files(path), contents, path), mode="r", use_consolidated=False)
        variables = {name: _variable(path, group, name, contents) for name in contents["variables"]}
        coordinates = {name: variables.pop(name) for name in contents["coordinates"]}
        _check_tails(path, group, contents)
        return xr.Dataset(variables, coordinates, _dataset_attributes(own))


@checked
def open_lazily(path: str | os.PathLike[str]) -> "xr.Dataset":
    """The dataset that a finished store holds, each array read from disk when it is used: for runs beyond memory."""
    _root(Path(path))
    return opened(_files(Path(path)), str(path))


def opened(store: "Store", where: str) -> "xr.Dataset":
    """The same of a store that lies anywhere."""
    import xarray as xr
    import zarr

    with _clear_damage(where):
        own = _understood(where, places.parsed_attributes(keys.get(store, "zarr.json") or b""))
        contents = _checked_contents(store, own)
        lengths, checked_store = contents["lengths"], _checked(store, contents, where)
        _check_tails(where, zarr.open_group(checked_store, mode="r", use_consolidated=False), contents)
        dataset = xr.open_zarr(checked_store, chunks=None, consolidated=False)
        dataset.attrs = _dataset_attributes(own)
        texts = {name: each for name, each in dataset.coords.items() if each.dtype.kind in "TO"}
        dataset = dataset.assign_coords({n: (each.dims, layout.restored(each.to_numpy())) for n, each in texts.items()})
        return dataset.isel({dim: slice(size) for dim, size in lengths.items() if dim in dataset.dims})


def in_pieces(path: Path, size: int) -> "Iterator[xr.Dataset]":
    """The dataset at `path` in pieces of about so many bytes along its growing dimensions, one dimension at a time."""
    whole = open_lazily(path)
    yield whole.drop_dims([dim for dim in layout.GROWING if dim in whole.dims])
    for dim in layout.GROWING:
        if dim in whole.dims:
            rows = whole[[name for name, each in whole.variables.items() if dim in each.dims]]
            some = max(1, size // max(1, rows.nbytes // max(1, rows.sizes[dim])))
            for start in range(0, max(1, rows.sizes[dim]), some):
                yield rows.isel({dim: slice(start, start + some)}).load()


def committed(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The attributes of the dataset at `path`, and the table of what was committed there."""
    import zarr

    own = _root(path)
    with _clear_damage(path):
        contents = _checked_contents(_files(path), own)
        _check_tails(path, zarr.open_group(path, mode="r", use_consolidated=False), contents)
        return _dataset_attributes(own), contents


def checked_store(store: "Store", where: str) -> "Store":
    """The same store, whose chunks are compared with the checksums at its root when they are read."""
    with _clear_damage(where):
        own = _understood(where, places.parsed_attributes(keys.get(store, "zarr.json") or b""))
        return _checked(store, _checked_contents(store, own), where)


def _checked(store: "Store", contents: dict[str, Any], where: Any) -> "Store":
    from naiad.io.checked_store import CheckedStore

    return CheckedStore(store, contents.get("checksums", {}), str(where))


def _check_tails(where: Any, group: "zarr.Group", contents: dict[str, Any]) -> None:
    """Raise an `InputError` if committed rows in the last chunk of an array that grows were changed."""
    for name, known in contents.get("tails", {}).items():
        array: Any = group[name]
        dims = list(map(str, array.metadata.dimension_names))
        axis = next(i for i, dim in enumerate(dims) if dim in contents["lengths"])
        stop = contents["lengths"][dims[axis]]
        rows = slice(stop - stop % array.chunks[axis], stop)
        if f"{checksums.of_rows(np.asarray(array[(*[slice(None)] * axis, rows)]), axis):08x}" != known:
            raise _damaged(where, f"rows of {name} were changed after naiad wrote them")


@contextlib.contextmanager
def _clear_damage(path: Any) -> Iterator[None]:
    """Turn whatever a damaged store leads to into one line about it."""
    try:
        yield
    except InputError:
        raise
    except MemoryError as error:
        raise InputError(
            f"{path} does not fit into memory, or is damaged; naiad.io.open_lazily opens it without reading it"
        ) from error
    except Exception as error:
        raise _damaged(path, str(error) or type(error).__name__) from error


def _damaged(path: Any, reason: str) -> InputError:
    return InputError(f"{path} is damaged ({' '.join(reason.split())}); restore it from a copy, or run again")


def _dataset_attributes(own: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in own.items() if name not in (*layout.RESERVED, "naiad_format")}


def _checked_contents(store: "Store", own: dict[str, Any]) -> dict[str, Any]:
    """The table of contents, once the arrays are known to be those that it was made for."""
    contents = own["naiad_layout"]
    for dim, size in contents["lengths"].items():
        if not isinstance(size, int) or size < 0:
            raise ValueError(f"its length along {dim} is {size}")
    if own["naiad_format"] > 1:
        for name in contents["variables"]:
            metadata = keys.get(store, f"{name}/zarr.json")
            if metadata is None or layout.array_digest(metadata, contents["lengths"]) != contents["arrays"][name]:
                raise ValueError(f"the description of {name} was changed")
    return contents


def _files(path: Path) -> "Store":
    from zarr.storage import LocalStore

    return LocalStore(path, read_only=True)


def _root(path: Path) -> dict[str, Any]:
    """The attributes of the store at `path`, once it is known to be one that this version understands."""
    try:
        if not path.exists():
            partial = path.with_name(path.name + ".partial")
            hint = f"; its run was interrupted: what it wrote is at {partial}" if places.is_store(partial) else ""
            raise InputError(f"{path} does not exist{hint}")
        if not (path / "zarr.json").is_file():
            raise InputError(f"{path} is not a naiad store: expected a Zarr directory that naiad wrote")
        own = places.attributes(path)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _damaged(path, str(error)) from error
    if "naiad_format" not in own:
        raise InputError(f"{path} is a Zarr directory that naiad did not write; open it with xarray.open_zarr")
    return _understood(path, own)


def _understood(where: Any, own: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a store, once this version is known to understand it."""
    version = own["naiad_format"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise _damaged(where, f"its format is {version!r:.40}")
    if version > layout.FORMAT:
        raise InputError(
            f"{where} has format {version}, this naiad reads up to format {layout.FORMAT}; install a newer naiad"
        )
    guarded = {name: value for name, value in own.items() if name != "naiad_checksum"}
    if own.get("naiad_checksum") != (layout.digest(guarded) if version > 1 else None):
        raise _damaged(where, "its attributes were changed after naiad wrote them")
    return own


def _variable(path: Path, group: "zarr.Group", name: str, contents: dict[str, Any]) -> "xr.Variable":
    """One variable, cut to the committed lengths, with every chunk present."""
    lengths = contents["lengths"]
    import xarray as xr
    import zarr

    array = group[name]
    if not isinstance(array, zarr.Array):
        raise ValueError(f"{name} is not an array")
    dims = tuple(str(dim) for dim in getattr(array.metadata, "dimension_names", None) or ())
    shape = tuple(lengths.get(dim, size) for dim, size in zip(dims, array.shape, strict=True))
    if any(wanted > size for wanted, size in zip(shape, array.shape, strict=True)):
        raise ValueError(f"{name} is shorter than its committed length")
    counts = [range(-(-size // chunk)) for size, chunk in zip(shape, array.chunks, strict=True)]
    for index in itertools.product(*counts):
        if not (path / name / array.metadata.encode_chunk_key(index)).is_file():
            raise ValueError(f"a chunk of {name} is missing")
    values = np.asarray(array[tuple(slice(size) for size in shape)])
    return xr.Variable(dims, layout.restored(values), dict(array.attrs))
