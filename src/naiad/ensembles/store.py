"""An ensemble on disk, or in an object store: written block by block, so that memory does not bound it, and one that
was killed goes on with what is missing.

A Zarr group grows at its site. Each block of runs writes its own chunks of the arrays along time, so that several
processes can, and then one file of its own: where that file is, the block is whole. It has all else: crossings, whose
number is not known before, where the runs stand, which would be many small files, and parts of statistics. A block that
takes long leaves where it stands in a file too, every few seconds.
"""

import contextlib
import io
import itertools
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.ensembles.block import Block
from naiad.ensembles.cases import Cases
from naiad.ensembles.job import Job, Schedule
from naiad.ensembles.kept import Kept, Parts
from naiad.ensembles.table import Arrays, series
from naiad.errors import InputError, NaiadError, RunError
from naiad.files import clear_errors
from naiad.io import keys, layout, places
from naiad.io.checksums import Checksums
from naiad.io.claim import Claim
from naiad.io.sites import Bucket, Folder
from naiad.mechanics import State, identity
from naiad.simulation.noise import Noise, Source

if TYPE_CHECKING:
    import xarray as xr
    import zarr
    from zarr.abc.store import Store

BLOCKS = ".blocks"  # what the blocks left, until all are there
JOB = "job"  # the group with what the runs have of their own
NPZ = "npz"  # its one array, the bytes of a file of arrays, of which there would be many small ones
REDUCED = "reduced"  # the group of statistics
CHECKSUMS = "checksums"  # in the file of a block: array, key and checksum of each of its chunks
PART = "reduced/"  # before the names of the parts of statistics, in the file of a block
HALFWAY = "halfway-2.npz"  # where a block stands; the number is that of its form: what has another one begins anew
HALFWAY_SECONDS = 5.0
GATHERED = 2**16  # runs whose rows are put behind each other at a time


class Shelf:
    """The place of an ensemble that is being made; blocks are counted from 0."""

    def __init__(self, place: Folder | Bucket, size: int):
        self.place, self.size = place, size
        self._store = place.store()
        self._notes = place.store()  # of where blocks stand, which are written while another block is
        self._kept_at = time.monotonic()

    def done(self, number: int) -> bool:
        """Whether a block is whole."""
        found = keys.get(self._store, _key(number, "npz"))
        return found is not None and zipfile.is_zipfile(io.BytesIO(found))

    def put(self, number: int, kept: Kept) -> None:
        """Write a block: its rows along time, and then the file with all else, which says that it is whole."""
        with self._clear_errors():
            along = series(kept.arrays)
            rows = [(name, *layout.put_rows(self._store, name, number, x, self.size)) for name, x in along.items()]
            others = {name: x for name, (_, x) in (kept.arrays | kept.met).items() if name not in along}
            parts = {f"{PART}{name}/{key}": x for name, part in kept.parts.items() for key, x in part.items()}
            kept_sums = {CHECKSUMS: np.array(rows, dtype=str).reshape(-1, 3)}
            keys.put(self._store, _key(number, "npz"), _packed(others | parts | kept_sums), last=True)
            keys.remove(self._store, _key(number, HALFWAY))

    def keep(self, number: int, block: Block, *, now: bool = False) -> None:
        """Write down where a block stands, every few seconds or `now`."""
        if not now and time.monotonic() - self._kept_at < HALFWAY_SECONDS:
            return
        with self._clear_errors():
            leaves = {f"leaf_{i}": leaf for i, leaf in enumerate(jax.tree.leaves(block))}
            keys.put(self._notes, _key(number, HALFWAY), _packed(leaves), last=True)
        self._kept_at = time.monotonic()

    def halfway(self, number: int, begun: Block) -> Block:
        """Where a block stood when it was left, or that it has only `begun`."""
        found = keys.get(self._store, _key(number, HALFWAY))
        if found is None or not zipfile.is_zipfile(io.BytesIO(found)):
            return begun
        stored = _unpacked(found)
        return jax.tree.unflatten(jax.tree.structure(begun), [stored[f"leaf_{i}"] for i in range(len(stored))])

    def parts(self) -> Iterator[Parts]:
        """The parts of statistics of all blocks, in their order."""
        for number in range(self._count()):
            rows = _unpacked(keys.get(self._store, _key(number, "npz")) or b"")
            parts: Parts = {}
            for key in rows:
                if key.startswith(PART):
                    name, _, inner = key.removeprefix(PART).rpartition("/")
                    parts.setdefault(name, {})[inner] = rows[key]
            yield parts

    def arrays(self) -> Arrays:
        """The arrays along time as they are."""
        known = attributes(self._store, self.place)
        return named_arrays(self._group(), [name for name in known["arrays"] if name not in known["columns"]])

    def replaces(self) -> bool:
        """Whether it is to take the place of another."""
        return attributes(self._store, self.place)["replaces"]

    def is_whole(self) -> bool:
        """Whether all is there but the last steps of `finish`."""
        return bool(attributes(self._store, self.place)["naiad_layout"]["variables"])

    def gather(self, coordinates: "Mapping[str, xr.Variable]", reduced: "xr.Dataset | None") -> None:
        """All blocks are there: put what is not along time behind each other, with coordinates and statistics, and say
        at the root what there is."""
        own = attributes(self._store, self.place)
        names = [*own["arrays"], *own["crossings"]]
        with self._clear_errors():
            lengths, sums = self._put_columns(own)
            for name, variable in coordinates.items():
                layout.write_small_array(self._store, name, variable)
            groups = [JOB]
            if reduced is not None:
                _put_dataset(self._store, reduced)
                groups.append(REDUCED)
            kept = {name: value for name, value in own.items() if name not in (*layout.RESERVED, "naiad_format")}
            layout.commit(self._store, kept, [*names, *coordinates], list(coordinates), lengths, groups, sums)

    def finish(self, claim: Claim, *, overwrite: bool) -> None:
        """Remove what the blocks left, and put the store in its place."""
        with self._clear_errors():
            keys.remove_folder(self._store, BLOCKS)
            self.place.finish(overwrite=overwrite)
        claim.release()

    def _put_columns(self, own: Mapping[str, Any]) -> tuple[dict[str, int], Checksums]:
        """The rows of all blocks in the arrays that are not along time, some blocks at a time; how many crossings, and
        the checksums of the chunks along time."""
        import xarray as xr

        some = max(1, GATHERED // self.size)
        most, growing = min(some * self.size, own["runs"]), {}
        sums: Checksums = {}
        for piece, first in enumerate(range(0, self._count(), some)):
            numbers = range(first, min(first + some, self._count()))
            blocks = [_unpacked(keys.get(self._store, _key(number, "npz")) or b"") for number in numbers]
            for name, key, found in itertools.chain.from_iterable(block[CHECKSUMS] for block in blocks):
                sums.setdefault(str(name), {})[str(key)] = str(found)
            for name, (dims, about) in own["columns"].items():
                rows = xr.Variable(dims, np.concatenate([block[name] for block in blocks]), about)
                if dims[0] == "crossing":
                    growing[name] = _appended(self._group(), name, rows, growing.get(name))
                    continue
                if piece == 0:
                    layout.create_plain_array(self._store, name, rows, own["runs"], most)
                layout.put_rows(self._store, name, piece, rows.to_numpy(), most)
        return {"crossing": next(iter(growing.values())).shape[0]} if growing else {}, sums

    def _count(self) -> int:
        return -(-attributes(self._store, self.place)["runs"] // self.size)

    def _group(self) -> "zarr.Group":
        import zarr

        return zarr.open_group(self._store, mode="r+", use_consolidated=False)

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        kept = f"what was computed before is at {self.place.growing}"
        try:
            with clear_errors(self.place.path, kept):
                yield
        except Exception as error:
            if isinstance(error, NaiadError) or isinstance(self.place, Folder):
                raise
            reason = " ".join(f"{type(error).__name__}: {error}".split())  # each protocol has its own
            raise RunError(f"cannot write {self.place}: {reason:.200}; {kept}") from error


class Form(NamedTuple):
    """What there is to be stored: the arrays and the crossings of one run, words and units by name, and the cases."""

    arrays: Arrays
    met: Arrays
    about: Mapping[str, Mapping[str, str]]
    cases: Cases | None


def begin_shelf(
    place: Folder | Bucket, job: Job, example: Form, size: int, own: Mapping[str, Any], *, overwrite: bool
) -> tuple[Shelf, Claim]:
    """A new shelf for the arrays of a job, of the form of an example; `own` is what it says of itself."""
    import xarray as xr

    along = series(example.arrays)

    def fill(store: "Store") -> None:
        layout.create_group(store, "", {"naiad_format": layout.FORMAT})  # by which it is known for ours from the start
        for name, values in along.items():
            variable = xr.Variable(example.arrays[name][0], values, dict(example.about.get(name, {})))
            layout.create_plain_array(store, name, variable, job.size, size)
        packed = np.frombuffer(_packed(_stored(job, example.cases)), np.uint8)
        layout.create_group(store, JOB, {})
        layout.write_small_array(store, f"{JOB}/{NPZ}", xr.Variable("byte", packed))
        columns = {
            name: (dims, example.about.get(name, {}))
            for name, (dims, _) in (example.arrays | example.met).items()
            if name not in along
        }
        about = {
            "block": size,
            "replaces": overwrite,
            "runs": job.size,
            "arrays": list(example.arrays),
            "crossings": list(example.met),
            "columns": columns,
            "cases": [] if example.cases is None else list(example.cases.columns),
        }
        layout.commit(store, layout.plain({**own, **about}, "the ensemble"), [], [], {})

    with clear_errors(place.path):
        claim = place.begin(fill, overwrite=overwrite)
    return Shelf(place, size), claim


def named_arrays(group: "zarr.Group", names: Iterable[str]) -> Arrays:
    """Arrays of a store, which are read when they are used."""
    found: dict[str, Any] = {name: group[name] for name in names}
    return {name: (tuple(map(str, array.metadata.dimension_names or ())), array) for name, array in found.items()}


def attributes(store: "Store", where: Any) -> dict[str, Any]:
    """What the store of an ensemble says of itself."""
    try:
        known = places.parsed_attributes(keys.get(store, "zarr.json") or b"")
    except ValueError:
        known = {}
    if "runs" not in known or "naiad_format" not in known:
        raise InputError(f"{where} is not an ensemble that naiad wrote.")
    return known


def _stored(job: Job, cases: Cases | None) -> dict[str, np.ndarray]:
    """What a job has of its own, as arrays by name."""
    arrays = {f"state_{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(job.states))}
    arrays |= {
        f"schedule_{n}": np.asarray(x) for n, x in zip(Schedule._fields, job.schedule, strict=True) if x is not None
    }
    if job.own is not None:
        arrays["own"] = job.own
    noises = [source.noise for source in job.sources or ()]
    arrays["seeds"] = np.array([str(noise.seed) if isinstance(noise, Noise) else "" for noise in noises], dtype="U")
    arrays |= {f"noise_{k}": noise for k, noise in enumerate(noises) if not isinstance(noise, Noise)}
    if cases is not None:
        arrays |= {f"case_{name}": values for name, values in cases.columns.items()}
        arrays |= {f"side_{name}": values for name, values in (cases.axes or {}).items()}
    return arrays


def restored(store: "Store", where: Any, job: Job) -> tuple[Job, Cases | None]:
    """The job of a store, of one with its program and sizes, and the cases of its runs."""
    import zarr

    packed: Any = zarr.open_array(store, path=f"{JOB}/{NPZ}", mode="r")
    arrays = _unpacked(packed[...].tobytes())
    own = arrays.get("own")
    if not np.array_equal(np.zeros(0) if own is None else own, np.zeros(0) if job.own is None else job.own):
        raise InputError(f"{where} was made with systems that have other numbers; give those that it was made with.")
    schedule = Schedule(*(_number(arrays.get(f"schedule_{name}")) for name in Schedule._fields))
    group = job.program.family.system.group
    structure = jax.tree.structure(State(identity(group), jnp.zeros(group.dim)))
    states = jax.tree.unflatten(structure, [arrays[f"state_{i}"] for i in range(structure.num_leaves)])
    noises = [Noise(int(seed)) if seed else arrays[f"noise_{k}"] for k, seed in enumerate(arrays["seeds"].tolist())]
    size = job.program.method.noise_size(job.program.family.system)
    sources = [Source(noise, size, 0, 0) for noise in noises] or None
    cases = attributes(store, where)["cases"]
    columns = {name: arrays[f"case_{name}"] for name in cases}
    axes = {name: arrays[f"side_{name}"] for name in cases if f"side_{name}" in arrays}
    rows = 0 if schedule.output is None else schedule.rows
    job = job._replace(states=states, schedule=schedule, sources=sources, frames=schedule.frames, rows=rows)
    return job, Cases(columns, axes=axes or None) if columns else None


def reduced(store: "Store") -> "xr.Dataset | None":
    """The statistics of a finished store; None if it has none."""
    import xarray as xr
    import zarr

    if keys.get(store, f"{REDUCED}/zarr.json") is None:
        return None
    group = zarr.open_group(store, path=REDUCED, mode="r", use_consolidated=False)
    about: dict[str, Any] = dict(group.attrs)
    found = {
        name: xr.Variable(dims, layout.restored(np.asarray(array[...])), dict(array.attrs))
        for name, (dims, array) in named_arrays(group, about["variables"]).items()
    }
    return xr.Dataset(found).set_coords(about["coordinates"])


def _appended(group: "zarr.Group", name: str, rows: "xr.Variable", array: Any) -> Any:
    """An array with more rows, made if there is none."""
    if array is None:
        array = layout.create_array(group, name, rows, (0, *rows.shape[1:]), 0)
    before = array.shape[0]
    if len(rows):
        array.resize((before + len(rows), *rows.shape[1:]))
        array[before:] = rows.to_numpy()
    return array


def _put_dataset(store: "Store", dataset: "xr.Dataset") -> None:
    layout.create_group(store, REDUCED, {"variables": list(dataset.variables), "coordinates": list(dataset.coords)})
    for name, variable in dataset.variables.items():
        layout.write_small_array(store, f"{REDUCED}/{name}", variable)


def _number(value: np.ndarray | None) -> Any:
    return value if value is None or value.ndim else value.item()


def _key(number: int, ending: str) -> str:
    return f"{BLOCKS}/{number:08d}.{ending}"


def _packed(arrays: Mapping[str, np.ndarray]) -> memoryview:
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **arrays)
    return content.getbuffer()


def _unpacked(content: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(content)) as stored:
        return dict(stored)
