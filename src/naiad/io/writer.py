"""Long runs: rows are appended as they come, memory stays bounded, and a killed run keeps what it had."""

import contextlib
import math
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from naiad.errors import InputError
from naiad.files import clear_errors
from naiad.io import checksums, layout, places
from naiad.io.claim import claimed, reclaimed, settle
from naiad.io.store import committed
from naiad.numerics.arguments import checked

if TYPE_CHECKING:
    import xarray as xr
    import zarr


BUFFER_BYTES = 32 * 2**20
FLUSH_SECONDS = 1.0
PARTIAL = ".partial"
REPLACES = ".replaces"  # a file in a store that is to replace the one at its place


class Writer:
    """Appends datasets along the dimensions `time`, `output_time` and `crossing` of one store.

    The store grows at `PATH.partial` and is renamed to `PATH` by `close`. Rows gather in memory and are flushed when
    there are 32 MiB of them, or by the first append that comes a second after the last flush. A flush writes the rows
    first and their number last, in one atomic replacement of the root's metadata, and waits for the disk in between, so
    that `read` opens `PATH.partial` at any moment, also after a crash or a kill. As a context manager the writer closes
    at the end; after an exception what came before it stays at `PATH.partial`. Two writers cannot have one place at the
    same time. `Writer.reopened` goes on with what an ended process left.

    Variables without a growing dimension are written once and must not change. Attributes of later datasets add to the
    earlier ones, and are committed together with the rows; attributes and datasets that are given to begin with are
    there as soon as `PATH.partial` is.
    """

    @checked
    def __init__(
        self,
        path: str | os.PathLike[str],
        overwrite: bool = False,
        attributes: Mapping[str, Any] | None = None,
        first: "Iterable[xr.Dataset]" = (),
    ):
        self._go_to(path, overwrite)
        known = layout.plain(dict(attributes or {}), "what the writer was given")
        with clear_errors(self._given):
            places.check_free(self._path, overwrite=overwrite)
            self._claim = claimed(self._partial, lambda folder: self._begin(folder, known, first), self._discard)
            self._open(self._partial)

    @classmethod
    @checked
    def reopened(cls, path: str | os.PathLike[str], overwrite: bool = False) -> Self:
        """Go on with what an ended process left at `PATH.partial`; rows that it had not committed are cut off. What is
        at `PATH` is replaced if that process was to do so."""
        writer = cls.__new__(cls)
        writer._go_to(path, overwrite)
        with clear_errors(writer._given):
            writer._claim = reclaimed(writer._partial)
            try:
                writer._overwrite = overwrite or (writer._partial / REPLACES).exists()
                places.check_free(writer._path, overwrite=writer._overwrite)
                writer._open(writer._partial)
                writer._cut()
            except BaseException:
                writer._claim.release()
                raise
        return writer

    @property
    def attributes(self) -> dict[str, Any]:
        """What was committed last, or waits to be, of attributes."""
        return dict(self._attributes)

    def append(self, dataset: "xr.Dataset") -> None:
        """Add the rows of `dataset`; any growing dimension may be absent or have none."""
        if self._closed:
            raise InputError(f"the writer of {self._given} is closed; open a new one to write more")
        layout.check(dataset)
        attributes = layout.plain_attributes(dataset, "the dataset")
        attributes.pop("naiad_format", None)
        rows: dict[str, dict[str, xr.Variable]] = {dim: {} for dim in layout.GROWING}
        fixed: dict[str, xr.Variable] = {}
        for name, variable in dataset.variables.items():
            growing = [dim for dim in layout.GROWING if dim in variable.dims]
            if len(growing) > 1:
                raise InputError(
                    f"variable {name!r} grows along both {growing[0]} and {growing[1]}; a store takes one of them"
                )
            (rows[growing[0]] if growing else fixed)[str(name)] = variable
        for dim in layout.GROWING:
            if dim in dataset.sizes:
                self._check_schema(dim, rows[dim])
        self._check_fixed(fixed)

        self._attributes |= attributes
        self._coordinates |= {str(name) for name in dataset.coords}
        for dim, added in rows.items():
            if dim in dataset.sizes:
                self._schemas[dim] = _schema(dim, added)
                self._waiting[dim].append({name: variable.copy(deep=True) for name, variable in added.items()})
                self._waiting_bytes += sum(variable.nbytes for variable in added.values())
        self._fixed |= {name: variable.copy(deep=True) for name, variable in fixed.items()}
        self._waits = True
        if self._waiting_bytes >= BUFFER_BYTES or time.monotonic() - self._flushed_at >= FLUSH_SECONDS:
            self.flush()

    def keep(self, lengths: Mapping[str, int]) -> None:
        """Drop the rows beyond these numbers, before others are written in their place."""
        fewer = self._lengths | {dim: min(n, self._lengths[dim]) for dim, n in lengths.items()}
        if fewer != self._lengths:
            self._say(fewer)
            self._lengths = fewer

    def flush(self) -> None:
        """Write what waits in memory and commit it."""
        begun = self._folder == self._partial
        kept = f"what was written before is at {self._partial}" if begun else "nothing was left behind"
        with clear_errors(self._given, kept):
            self._commit()

    def close(self) -> None:
        """Write what waits, and rename the store into place."""
        if self._closed:
            return
        self.flush()
        self._closed = True
        try:
            with clear_errors(self._given, f"what was written is at {self._partial}"):
                self._cut()
                self._say(self._lengths, groups=())
                places.put_in_place(self._partial, self._path, overwrite=self._overwrite)
                settle(self._path)
                (self._path / REPLACES).unlink(missing_ok=True)
        finally:
            self._claim.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is None:
            self.close()
        elif not self._closed:
            with contextlib.suppress(Exception):  # the first error is the one to show
                self.flush()
            self._closed = True
            self._claim.release()

    def _go_to(self, path: str | os.PathLike[str], overwrite: bool) -> None:
        self._given = Path(path)
        self._path = self._given.resolve()
        self._partial = self._path.with_name(self._path.name + PARTIAL)
        self._overwrite = overwrite
        self._closed = False

    def _begin(self, folder: Path, known: dict[str, Any], first: "Iterable[xr.Dataset]") -> None:
        """A store with what is there from the start."""

        from naiad.io.durable import DurableStore

        if self._overwrite:
            (folder / REPLACES).touch()
        layout.commit(DurableStore(folder), known, [], [], {})
        self._open(folder)
        for dataset in first:
            if not hasattr(dataset, "variables"):
                raise InputError(f"Writer: first holds {dataset!r:.60}; expected datasets of xarray.")
            self.append(dataset)
        self._commit()

    def _open(self, folder: Path) -> None:
        """Stand where the store in a folder was committed last."""
        import zarr

        from naiad.io.durable import DurableStore

        self._attributes, contents = committed(folder)
        self._folder = folder
        self._group = zarr.open_group(DurableStore(folder), mode="r+", use_consolidated=False)
        with zarr.config.set({"array.write_empty_chunks": True}):
            self._arrays: dict[str, Any] = {name: self._group[name] for name in contents["variables"]}
        self._coordinates = set(contents["coordinates"])
        self._lengths = dict.fromkeys(layout.GROWING, 0) | contents["lengths"]
        self._schemas = {
            dim: {name: _described(dim, array) for name, array in self._arrays.items() if dim in _dims(array)}
            for dim in layout.GROWING
        }
        self._sums: checksums.Checksums = {name: dict(each) for name, each in contents.get("checksums", {}).items()}
        self._full = {  # chunks of arrays that grow, along the growing axis, whose checksums are known
            name: self._lengths[dim] // self._arrays[name].chunks[_dims(self._arrays[name]).index(dim)]
            for dim, schema in self._schemas.items()
            for name in schema
        }
        self._tails: dict[str, tuple[int, int]] = {}  # up to which row, and the checksum of those in the last chunk
        self._fixed: dict[str, xr.Variable] = {}
        self._waiting: dict[str, list[dict[str, xr.Variable]]] = {dim: [] for dim in layout.GROWING}
        self._waiting_bytes = 0
        self._waits = False
        self._flushed_at = -math.inf

    def _cut(self) -> None:
        """Remove what was written and is not committed."""
        places.clear_unfinished(self._folder)
        for array in self._arrays.values():
            shape = tuple(self._lengths.get(dim, n) for dim, n in zip(_dims(array), array.shape, strict=True))
            if shape != array.shape:
                array.resize(shape)

    def _commit(self) -> None:
        if not self._waits:
            return
        lengths = dict(self._lengths)
        for name, variable in self._fixed.items():
            if name not in self._arrays:
                self._arrays[name] = layout.write_array(self._group, name, variable)
        for dim, pieces in self._waiting.items():
            for name in self._schemas[dim] if pieces else ():
                lengths[dim] = self._extend(dim, name, [piece[name] for piece in pieces])
        self._say(lengths)
        self._lengths = lengths
        self._waiting = {dim: [] for dim in layout.GROWING}
        self._waiting_bytes = 0
        self._waits = False
        self._flushed_at = time.monotonic()

    def _say(self, lengths: Mapping[str, int], groups: Sequence[str] | None = None) -> None:
        names = list(self._arrays)
        coordinates = [name for name in names if name in self._coordinates]
        tails = {}
        for name, array in self._arrays.items():
            axis = next((i for i, dim in enumerate(_dims(array)) if dim in lengths), None)
            if axis is None:
                if name not in self._sums:
                    self._sums |= checksums.of_arrays(self._group.store, [name], {})
                continue
            stop = lengths[_dims(array)[axis]]
            self._sum_full_chunks(name, axis, stop // array.chunks[axis])
            if groups is None and stop % array.chunks[axis]:
                tails[name] = f"{self._tail(name, axis, stop):08x}"
        layout.commit(self._group.store, self._attributes, names, coordinates, lengths, groups, self._sums, tails)

    def _sum_full_chunks(self, name: str, axis: int, count: int) -> None:
        """Know the checksums of so many chunks along the growing axis, and of no others."""
        array, store = self._arrays[name], self._group.store
        known = self._sums.setdefault(name, {})
        before = self._full.get(name, 0)
        for _, key in checksums.full_chunks(array, axis, count, before):
            known.pop(key, None)
        new = [key for _, key in checksums.full_chunks(array, axis, before, count) if key not in known]
        known |= checksums.of_chunks(store, name, new)
        self._full[name] = count

    def _tail(self, name: str, axis: int, stop: int) -> int:
        """The checksum of the rows before this one that are in its chunk."""
        at, found = self._tails.get(name, (-1, 0))
        if at != stop:
            array = self._arrays[name]
            rows = slice(stop - stop % array.chunks[axis], stop)
            found = checksums.of_rows(np.asarray(array[(*[slice(None)] * axis, rows)]), axis)
            self._tails[name] = stop, found
        return found

    def _discard(self, partial: Path) -> None:
        """Raise an error unless what an earlier run left may go."""
        if not places.is_store(self._partial):
            raise InputError(f"{self._partial} is in the way and is not a naiad store; move it or choose another name")
        if not self._overwrite:
            raise InputError(
                f"{self._partial} holds what an interrupted run wrote; move it, or pass overwrite=True to discard it"
            )

    def _check_schema(self, dim: str, added: "dict[str, xr.Variable]") -> None:
        expected, found = self._schemas[dim], _schema(dim, added)
        if not expected:
            return
        for name in sorted(expected.keys() | found.keys()):
            if name not in found:
                raise InputError(f"variable {name!r} was in earlier rows along {dim} and is missing now; append all")
            if name not in expected:
                raise InputError(f"variable {name!r} was not in earlier rows along {dim}; append all from the start")
            if found[name] != expected[name]:
                raise InputError(f"variable {name!r} was {expected[name]} and is now {found[name]}; keep to one")

    def _check_fixed(self, fixed: "dict[str, xr.Variable]") -> None:
        for name, variable in fixed.items():
            known = self._fixed.get(name, variable)
            same = known.dims == variable.dims and known.dtype == variable.dtype and known.shape == variable.shape
            if not same or known.to_numpy().tobytes() != variable.to_numpy().tobytes():
                raise InputError(f"variable {name!r} has no growing dimension, so it must not change between appends")

    def _extend(self, dim: str, name: str, pieces: "list[xr.Variable]") -> int:
        """Put `pieces` after the committed rows of an array, and return its new length."""
        first = pieces[0]
        axis = first.dims.index(dim)
        values = np.concatenate([piece.to_numpy() for piece in pieces], axis)
        start = self._lengths[dim]
        stop = start + values.shape[axis]
        if name not in self._arrays:
            shape = (*values.shape[:axis], 0, *values.shape[axis + 1 :])
            self._arrays[name] = layout.create_array(self._group, name, first, shape, axis)
        array = self._arrays[name]
        if stop > array.shape[axis]:  # committed rows stay until fewer are committed
            array.resize((*values.shape[:axis], stop, *values.shape[axis + 1 :]))
        if values.size:
            begin = stop - stop % array.chunks[axis]  # of the last chunk
            before = self._tail(name, axis, start) if begin < start else 0
            array[(*[slice(None)] * axis, slice(start, stop))] = layout.stored(values)
            rows = values[(*[slice(None)] * axis, slice(max(0, begin - start), None))]
            self._tails[name] = stop, checksums.of_rows(rows, axis, before)
        return stop


def _schema(dim: str, added: "dict[str, xr.Variable]") -> dict[str, str]:
    """What must stay the same between appends, in words."""
    return {name: _described(dim, variable) for name, variable in added.items()}


def _described(dim: str, array: "xr.Variable | zarr.Array[Any]") -> str:
    """The kind of number and the sizes that do not grow."""
    kind = "text" if array.dtype.kind in "UT" else array.dtype.name
    sizes = (each if each == dim else f"{each}={n}" for each, n in zip(_dims(array), array.shape, strict=True))
    return f"{kind} ({', '.join(sizes)})"


def _dims(array: Any) -> tuple[str, ...]:
    dims = array.dims if hasattr(array, "dims") else array.metadata.dimension_names
    return tuple(map(str, dims))
