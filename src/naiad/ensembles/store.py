"""An ensemble on disk: written block by block, so that memory does not bound it, and one that was killed goes on with
what is missing.

A Zarr group grows at PATH.partial and is renamed to PATH when all is there. Each block of runs writes its own chunks of
the arrays along time, so that several processes can, and then one file of its own, written aside and renamed: where
that file is, the block is whole. It has all else: crossings, whose number is not known before, and where the runs
stand, which would be many small files. A block that takes long leaves where it stands in a file too, every few seconds.
"""

import io
import time
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.ensembles.block import Block
from naiad.ensembles.cases import Cases
from naiad.ensembles.job import Job, Schedule
from naiad.ensembles.table import Arrays
from naiad.errors import InputError
from naiad.io import layout, places
from naiad.io.claim import Claim, claimed, reclaimed, settle
from naiad.mechanics import State, identity
from naiad.simulation.noise import Noise, Source

if TYPE_CHECKING:
    import xarray as xr
    import zarr

BLOCKS = ".blocks"  # what the blocks left, until all are there
JOB = "job"  # the group with what the runs have of their own
HALFWAY_SECONDS = 5.0


class Shelf:
    """The place of an ensemble that is being made; blocks are counted from 0."""

    def __init__(self, path: Path, size: int):
        self.path, self.size = path, size
        self.partial = path.with_name(path.name + ".partial")
        self._kept_at = time.monotonic()

    def _group(self) -> "zarr.Group":
        import zarr

        from naiad.io.durable import DurableStore

        return zarr.open_group(DurableStore(self.partial), mode="r+", use_consolidated=False)

    def done(self, number: int) -> bool:
        """Whether a block is whole."""
        return self._file(number, "npz").is_file()

    def put(self, number: int, arrays: Arrays, met: Arrays) -> None:
        """Write a block: its rows along time, and then the file with all else, which says that it is whole."""
        group = self._group()
        with places.clear_errors(self.path, f"what was computed before is at {self.partial}"):
            first = number * self.size
            for name, values in series(arrays).items():
                found: Any = group[name]
                found.with_config({"write_empty_chunks": True})[first : first + len(values)] = values
            layout.settle(group)
            others = {name: x for name, (_, x) in (arrays | met).items() if name not in series(arrays)}
            _put(self._file(number, "npz"), **others)
        self._file(number, "halfway.npz").unlink(missing_ok=True)

    def keep(self, number: int, block: Block, *, now: bool = False) -> None:
        """Write down where a block stands, every few seconds or `now`."""
        if not now and time.monotonic() - self._kept_at < HALFWAY_SECONDS:
            return
        with places.clear_errors(self.path, f"what was computed before is at {self.partial}"):
            leaves = jax.tree.leaves(block)
            _put(self._file(number, "halfway.npz"), **{f"leaf_{i}": leaf for i, leaf in enumerate(leaves)})
        self._kept_at = time.monotonic()

    def halfway(self, number: int, begun: Block) -> Block:
        """Where a block stood when it was left, or that it has only `begun`."""
        file = self._file(number, "halfway.npz")
        if not file.is_file():
            return begun
        with np.load(file) as stored:
            return jax.tree.unflatten(
                jax.tree.structure(begun), [stored[f"leaf_{i}"] for i in range(len(stored.files))]
            )

    def arrays(self) -> Arrays:
        """The arrays along time as they are."""
        group = self._group()
        known: dict[str, Any] = group.attrs.asdict()
        return named_arrays(group, [name for name in known["arrays"] if name not in known["columns"]])

    def _column(self, name: str, count: int) -> np.ndarray:
        """What all blocks have of an array that is not along time."""
        pieces = []
        for number in range(count):
            with np.load(self._file(number, "npz")) as stored:
                pieces.append(stored[name])
        return np.concatenate(pieces)

    def finish(self, coordinates: "Mapping[str, xr.Variable]", claim: Claim, *, overwrite: bool) -> None:
        """All blocks are there: put what is not along time behind each other, and the store in its place."""
        import xarray as xr

        group, lengths = self._group(), {}
        own: dict[str, Any] = group.attrs.asdict()
        names = [*own["arrays"], *own["crossings"]]
        with places.clear_errors(self.path, f"what was computed is at {self.partial}"):
            for name, (dims, about) in own["columns"].items():
                rows = xr.Variable(dims, self._column(name, -(-own["runs"] // self.size)), about)
                layout.write_array(group, name, rows)
                lengths |= {"crossing": len(rows)} if dims[0] == "crossing" else {}
            for name, variable in coordinates.items():
                layout.write_array(group, name, variable)
            kept = {name: value for name, value in own.items() if name not in (*layout.RESERVED, "naiad_format")}
            layout.commit(group, self.partial, kept, [*names, *coordinates], list(coordinates), lengths)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of files that are no part of a Zarr hierarchy
                layout.consolidate(group)
            places.remove(self.partial / BLOCKS)
            places.put_in_place(self.partial, self.path, overwrite=overwrite)
            settle(self.path)
        claim.release()

    def _file(self, number: int, ending: str) -> Path:
        return self.partial / BLOCKS / f"{number:08d}.{ending}"


class Form(NamedTuple):
    """What there is to be stored: the arrays and the crossings of one run, words and units by name, and the cases."""

    arrays: Arrays
    met: Arrays
    about: Mapping[str, Mapping[str, str]]
    cases: Cases | None


def begin_shelf(
    path: Path, job: Job, example: Form, size: int, own: Mapping[str, Any], *, overwrite: bool
) -> tuple[Shelf, Claim]:
    """A new shelf for the arrays of a job, of the form of an example; `own` is what it says of itself."""
    import xarray as xr
    import zarr

    from naiad.io.durable import DurableStore

    shelf = Shelf(path, size)

    def fill(folder: Path) -> None:
        group = zarr.create_group(DurableStore(folder), zarr_format=3)
        for name, values in series(example.arrays).items():
            dims, shape = example.arrays[name][0], (job.size, *values.shape[1:])
            chunks = tuple(max(1, each) for each in (min(size, job.size), *values.shape[1:]))
            variable = xr.Variable(dims, values, dict(example.about.get(name, {})))
            layout.create_array(group, name, variable, shape, chunks=chunks)
        (folder / BLOCKS).mkdir()
        inner = group.create_group(JOB)
        for name, values in _stored(job, example.cases).items():
            layout.write_array(inner, name, xr.Variable([f"{name}_{k}" for k in range(values.ndim)], values))
        columns = {
            name: (dims, example.about.get(name, {}))
            for name, (dims, _) in (example.arrays | example.met).items()
            if name not in series(example.arrays)
        }
        about = {
            "block": size,
            "runs": job.size,
            "arrays": list(example.arrays),
            "crossings": list(example.met),
            "columns": columns,
            "cases": [] if example.cases is None else list(example.cases.columns),
        }
        layout.commit(group, folder, layout.plain({**own, **about}, "the ensemble"), [], [], {})

    def discard(left: Path) -> None:
        if not places.is_store(left):
            raise InputError(f"{left} is in the way and is not a naiad store; move it or choose another name")
        if not overwrite:
            raise InputError(
                f"{left} holds what an interrupted ensemble wrote; go on with nd.resume_many, move it, or pass "
                "overwrite=True to discard it"
            )

    with places.clear_errors(path):
        places.check_free(path, overwrite=overwrite)
        return shelf, claimed(shelf.partial, fill, discard)


def series(arrays: Arrays) -> dict[str, Any]:
    """The arrays along time."""
    return {name: x for name, (dims, x) in arrays.items() if dims[1:2] in (("time",), ("output_time",))}


def named_arrays(group: "zarr.Group", names: Iterable[str]) -> Arrays:
    """Arrays of a store, which are read when they are used."""
    found: dict[str, Any] = {name: group[name] for name in names}
    return {name: (tuple(map(str, array.metadata.dimension_names)), array) for name, array in found.items()}


def attributes(folder: Path) -> dict[str, Any]:
    """What the store of an ensemble says of itself."""
    try:
        known = places.attributes(folder)
    except (OSError, ValueError):
        raise InputError(f"{folder} is not an ensemble that naiad wrote.") from None
    if not (folder / JOB).is_dir() or "runs" not in known:
        raise InputError(f"{folder} is not an ensemble that naiad wrote.")
    return known


def again(path: Path) -> tuple[Shelf, Claim]:
    """The shelf that an ended process left."""
    partial = path.with_name(path.name + ".partial")
    known = attributes(partial)
    return Shelf(path, int(known["block"])), reclaimed(partial)


def _stored(job: Job, cases: Cases | None) -> dict[str, np.ndarray]:
    """What a job has of its own, as arrays by name."""
    arrays = {f"state_{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(job.states))}
    arrays |= {
        f"schedule_{n}": np.asarray(x) for n, x in zip(Schedule._fields, job.schedule, strict=True) if x is not None
    }
    if job.own is not None:
        arrays["own"] = job.own
    for k, source in enumerate(job.sources or ()):
        noise = source.noise
        arrays[f"noise_{k}"] = np.array(str(noise.seed)) if isinstance(noise, Noise) else noise
    if cases is not None:
        arrays |= {f"case_{name}": values for name, values in cases.columns.items()}
        arrays |= {f"side_{name}": values for name, values in (cases.axes or {}).items()}
    return arrays


def restored(folder: Path, job: Job) -> tuple[Job, Cases | None]:
    """The job of a store, of one with its program and sizes, and the cases of its runs."""
    import zarr

    inner = zarr.open_group(folder / JOB, mode="r")
    arrays = {name: layout.restored(np.asarray(array[...])) for name, array in inner.arrays()}
    own = arrays.get("own")
    if not np.array_equal(np.zeros(0) if own is None else own, np.zeros(0) if job.own is None else job.own):
        raise InputError(f"{folder} was made with systems that have other numbers; give those that it was made with.")
    schedule = Schedule(*(_number(arrays.get(f"schedule_{name}")) for name in Schedule._fields))
    group = job.program.family.system.group
    structure = jax.tree.structure(State(identity(group), jnp.zeros(group.dim)))
    states = jax.tree.unflatten(structure, [arrays[f"state_{i}"] for i in range(structure.num_leaves)])
    sources = None
    if job.program.method.noise_size(job.program.family.system):
        noises = [arrays[f"noise_{k}"] for k in range(len(states.mu))]
        size = job.program.method.noise_size(job.program.family.system)
        sources = [Source(Noise(int(str(x))) if x.dtype.kind == "U" else x, size, 0, 0) for x in noises]
    cases = attributes(folder)["cases"]
    columns = {name: arrays[f"case_{name}"] for name in cases}
    axes = {name: arrays[f"side_{name}"] for name in cases if f"side_{name}" in arrays}
    rows = 0 if schedule.output is None else schedule.rows
    job = job._replace(states=states, schedule=schedule, sources=sources, frames=schedule.frames, rows=rows)
    return job, Cases(columns, axes=axes or None) if columns else None


def _number(value: np.ndarray | None) -> Any:
    return value if value is None or value.ndim else value.item()


def _put(path: Path, **arrays: np.ndarray) -> None:
    """Arrays in a file that is there as a whole, and on the disk, or not at all."""
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **arrays)
    places.put(path, content.getbuffer())
    places.sync_folder(path.parent)
