"""The front door of ensembles: run many systems through time."""

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from numpy.typing import ArrayLike

from naiad import io
from naiad.compiler import Engine, check_engine
from naiad.ensembles.block import Block, begin_block, interrupted, run_block
from naiad.ensembles.cases import Cases
from naiad.ensembles.ensemble import Ensemble
from naiad.ensembles.family import family
from naiad.ensembles.job import Job, Program, Schedule
from naiad.ensembles.reductions import Each, Reduction
from naiad.ensembles.store import Form, Shelf, again, attributes, begin_shelf, named_arrays, restored
from naiad.ensembles.table import STANDING, Arrays, crossings, table
from naiad.errors import InputError, RunError, RunWarning
from naiad.integrators import AbstractMethod, default_method
from naiad.interrupts import listening
from naiad.io.claim import Claim
from naiad.mechanics import LagrangianSystem, State, fitting_state, identity
from naiad.mechanics.functions import explained
from naiad.numerics import double
from naiad.numerics.arguments import checked
from naiad.simulation.bar import Bar, Span
from naiad.simulation.checks import (
    MEMORY_BYTES,
    check_cadence,
    check_method,
    check_names,
    check_reconstruct,
    check_times,
)
from naiad.simulation.noise import Noise, Source, source
from naiad.simulation.outcome import Outcome
from naiad.simulation.parameters import difference, parameters
from naiad.simulation.section import Section
from naiad.simulation.turn import too_far

if TYPE_CHECKING:
    import xarray as xr

BLOCK_BYTES = 2**25  # of the rows of a block of runs
LEAST_BLOCK, LARGEST_BLOCK = 16, 4096
ROOMS = {8: 2048, 64: 256}  # saved nodes, and passages of a section, that a chunk holds for each of so many runs
LEAST_ROOM = 64


@checked
@double
@explained
def simulate_many(
    systems: LagrangianSystem | Sequence[LagrangianSystem],
    states: State | Sequence[State],
    *,
    t1: float | Sequence[float] | np.ndarray,
    dt: float | Sequence[float] | np.ndarray,
    t0: float | Sequence[float] | np.ndarray = 0.0,
    method: AbstractMethod | None = None,
    cases: Cases | None = None,
    noise: Noise | Sequence[Noise | ArrayLike] | None = None,
    save_every: int | Sequence[int] | np.ndarray | None = None,
    outputs: Mapping[str, Callable[..., Any]] | None = None,
    output_every: int | Sequence[int] | np.ndarray | None = None,
    monitors: Mapping[str, Callable[..., Any]] | None = None,
    sections: Mapping[str, Section] | None = None,
    reduce: Mapping[str, Reduction | Each] | None = None,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    client: Any = None,
    scheduler: str | None = None,
    progress: bool | Callable[[float], None] | None = None,
    engine: Engine = "auto",
    reconstruct: bool = True,
) -> Ensemble:
    """The motions of many systems from many states, each as `simulate` gives it, in a fraction of the time.

    - `systems`, `states`: one for all runs, or a sequence with one for each; also a system, or a `State`, whose arrays
      all have a leading axis for the runs. Systems have one structure and differ in their numbers: one program serves
      them all.
    - `t1`, `dt`, `t0`, `save_every`, `output_every`: a number for all, or one for each.
    - `cases`: the parameters of the runs (`grid`, `sample`), which become coordinates of what comes back.
    - `noise`: one for each run; or one `Noise`, from which each gets a seed of its own.
    - `outputs`, `monitors`, `sections`: as for `simulate`; a function that takes three arguments gets the system of its
      run before state and time.
    - `reduce`: statistics by name (`naiad.ensembles.Mean`, `Variance`, `Quantiles`, `Histogram`, and `Each` of a
      function of a run), which are all that is kept of the saved nodes, in `ens.reduced`: for more runs than memory
      holds.
    - `out`: a Zarr directory to which the runs are written in blocks, so that their number is not bound by memory; what
      comes back reads from there. `resume_many` goes on with one that was killed.
    - `client`, a `distributed.Client`, or the address of a `scheduler` of Dask: its workers do the blocks and write
      them to `out`, which they share; the result is the same, bit for bit, whatever their number.

    The other options are those of `simulate`. A run that cannot go on ends early and says why in its `outcome`; the
    others go on. Runs of one system are bit for bit those of `simulate`, whatever else runs beside them.
    """
    kin, own, many = family(systems)
    method = default_method(kin.system) if method is None else method
    check_method(method, kin.system)
    stacked, count = _stacked_states(kin.system, states)
    known = {"systems": many, "states": count, "cases": None if cases is None else len(cases)}
    per_run = {"t1": t1, "dt": dt, "t0": t0, "save_every": save_every, "output_every": output_every, "noise": noise}
    known |= {name: len(value) for name, value in per_run.items() if _is_many(value)}
    size = _agreed(known)
    if count is None:
        stacked = jax.tree.map(lambda leaf: np.broadcast_to(leaf, (size, *leaf.shape)), stacked)
    if own is not None and len(own) == 1 < size:
        own = np.broadcast_to(own, (size, own.shape[1]))
    schedule = _schedule(t0, t1, dt, save_every, output_every, size)
    parts = (dict(outputs or {}), dict(monitors or {}), dict(sections or {}))
    check_names(
        kin.system, parts[0], (*STANDING, "t", "output_t", "monitor", "level", "job", *(cases.columns if cases else ()))
    )
    program = Program(kin, method, *parts, reconstruct, output_every is not None)
    first = program.known(None if own is None else own[0])
    check_reconstruct(reconstruct, first.system, first.sections, _row(stacked, 0), _first(schedule.t0))
    sources = _sources(noise, method, kin.system, schedule, size)
    rows = 0 if schedule.output is None else schedule.rows
    job = Job(program, own, stacked, schedule, sources, check_engine(engine), schedule.frames, rows)
    size = _block_size(job, in_memory=out is None and reduce is None)
    job = job._replace(program=program.replaced(room=_room(size)))
    if out is not None and reduce is not None:
        raise InputError(
            "simulate_many: reduce keeps statistics instead of the runs, and out keeps the runs; give one."
        )
    if out is None and (client is not None or scheduler is not None):
        raise InputError(
            "simulate_many: workers write what they compute to disk; give a place that they share as out=."
        )
    if reduce is not None:
        ensemble = _run_reduced(job, size, cases, progress, reduce)
    elif out is None:
        ensemble = _run(job, size, cases, progress)
    else:
        io.check_directory(out)
        path, one = Path(out).resolve(), job.part(0, 1)
        about = {"ensemble": _described(job), **parameters(first.system, method)}
        begun = begin_block(one)
        first_run = Ensemble(one, table(one, begun), crossings(one, begun, 0), cases)
        example = Form(first_run.arrays, first_run.met, first_run.about, cases)
        with _workers(client, scheduler, one) as helping:
            shelf, claim = begin_shelf(path, job, example, size, about, overwrite=overwrite)
            _run_to(shelf, claim, job, cases, progress, helping, overwrite=overwrite)
        ensemble = _opened(path, job, cases)
    _warn(ensemble)
    return ensemble


@checked
@double
@explained
def load_many(
    path: str | os.PathLike[str],
    systems: LagrangianSystem | Sequence[LagrangianSystem],
    method: AbstractMethod,
    *,
    outputs: Mapping[str, Callable[..., Any]] | None = None,
    monitors: Mapping[str, Callable[..., Any]] | None = None,
    sections: Mapping[str, Section] | None = None,
) -> Ensemble:
    """The ensemble that `simulate_many` wrote to `path` with these systems and method, which are code and not stored.
    Its arrays are read when they are used."""
    place = Path(path).resolve()
    job, cases, _ = _known(place, place, systems, method, outputs, monitors, sections)
    return _opened(place, job, cases)


@checked
@double
@explained
def resume_many(
    path: str | os.PathLike[str],
    systems: LagrangianSystem | Sequence[LagrangianSystem],
    method: AbstractMethod,
    *,
    outputs: Mapping[str, Callable[..., Any]] | None = None,
    monitors: Mapping[str, Callable[..., Any]] | None = None,
    sections: Mapping[str, Section] | None = None,
    client: Any = None,
    scheduler: str | None = None,
    progress: bool | Callable[[float], None] | None = None,
) -> Ensemble:
    """Go on with an ensemble whose process was ended, as if nothing had happened: with the blocks that are missing, and
    within a block from where it stood. The systems, the method and the functions are those that it was begun with."""
    place = Path(path).resolve()
    place = place.with_name(place.name.removesuffix(".partial"))
    partial = place.with_name(place.name + ".partial")
    if place.is_dir() and not partial.is_dir():
        return load_many(place, systems, method, outputs=outputs, monitors=monitors, sections=sections)
    if not partial.is_dir():
        raise InputError(f"{place} does not exist, and no ensemble was begun there.")
    job, cases, size = _known(place, partial, systems, method, outputs, monitors, sections)
    job = job._replace(program=job.program.replaced(room=_room(size)))
    with _workers(client, scheduler, job.part(0, 1)) as helping:
        shelf, claim = again(place)
        _run_to(shelf, claim, job, cases, progress, helping, overwrite=False)
    ensemble = _opened(place, job, cases)
    _warn(ensemble)
    return ensemble


def _known(
    path: Path, folder: Path, systems: Any, method: AbstractMethod, outputs: Any, monitors: Any, sections: Any
) -> tuple[Job, Cases | None, int]:
    """The job of a store, its cases, and the size of its blocks, if it was made with these systems and functions."""
    about = attributes(folder)
    known = about["ensemble"]
    kin, own, _ = family(systems)
    if own is not None and len(own) == 1:
        own = np.repeat(own, about["runs"], axis=0)
    parts = (dict(outputs or {}), dict(monitors or {}), dict(sections or {}))
    program = Program(kin, method, *parts, known["reconstruct"], known["apart"])
    nothing = Schedule(0.0, 1.0, 0, 0.0, 1, None)
    states = State(identity(kin.system.group), np.zeros((1, kin.system.group.dim)))  # pyright: ignore
    job = Job(program, own, states, nothing, None, known["engine"], 0, 0)
    given = {"parameters": parameters(program.known(None if own is None else own[0]).system, method)["parameters"]}
    for kind in ("system", "method"):
        found = difference(about["parameters"][kind], given["parameters"][kind])
        if found is not None:
            name, before, now = found
            what = f"the {kind} with {name} =" if name else f"the {kind}"
            raise InputError(f"{path} was made with {what} {before}, but {now} was given; give what it was made with.")
    for option, now in zip(("outputs", "monitors", "sections"), parts, strict=True):
        if sorted(now) != sorted(known[option]):
            raise InputError(
                f"{path} was made with {option} named {sorted(known[option])}, but {sorted(now)} were given; give "
                "those that it was made with."
            )
    return *restored(folder, job), int(about["block"])


def _described(job: Job) -> dict[str, Any]:
    """What the store of a job says of its program."""
    program = job.program
    names = {option: list(getattr(program, option)) for option in ("outputs", "monitors", "sections")}
    return {**names, "reconstruct": program.reconstruct, "apart": program.apart, "engine": job.engine}


def _opened(path: Path, job: Job, cases: Cases | None) -> Ensemble:
    """A finished ensemble, its arrays read when they are used."""
    import zarr

    group, known = zarr.open_group(path, mode="r"), attributes(path)
    arrays = named_arrays(group, known["arrays"])
    return Ensemble(job, arrays, named_arrays(group, known["crossings"]), cases, path)


def _room(size: int) -> int:
    return next((room for most, room in ROOMS.items() if size <= most), LEAST_ROOM)


def _run(
    job: Job,
    size: int,
    cases: Cases | None,
    progress: bool | Callable[[float], None] | None,
) -> Ensemble:
    """The blocks one after the other in memory, and what came of all."""
    tables, met = [], []
    for number, part, block in _blocks(job, size, progress):
        tables.append(table(part, block))
        met.append(crossings(part, block, number * size))
    return Ensemble(job, _joined(tables), _joined(met), cases)


def _run_reduced(
    job: Job,
    size: int,
    cases: Cases | None,
    progress: bool | Callable[[float], None] | None,
    reduce: Mapping[str, Reduction | Each],
) -> Ensemble:
    """The blocks one after the other, of which the statistics are kept, and where each run stands."""
    if not job.schedule.uniform and not all(isinstance(each, Each) or each.times for each in reduce.values()):
        raise InputError(
            "simulate_many: runs with times of their own have no statistics at each time; give times=True."
        )
    tables, met = [], []
    parts: dict[str, Any] = {}
    for number, part, block in _blocks(job, size, progress):
        arrays = table(part, block)
        some = Ensemble(part, arrays, {})
        for name, each in reduce.items():
            if isinstance(each, Each):
                parts.setdefault(name, []).append(some.for_each(each.function))
            else:
                found = each.part(some.series(each.of))
                parts[name] = each.joined(parts[name], found) if name in parts else found
        tables.append({name: row for name, row in arrays.items() if row[0][1:2] not in (("time",), ("output_time",))})
        met.append(crossings(part, block, number * size))
    known = Ensemble(job, _joined(tables), _joined(met), cases)
    return Ensemble(job, known.arrays, known.met, cases, None, _labelled(reduce, parts, known))


def _labelled(reduce: Mapping[str, Reduction | Each], parts: Mapping[str, Any], ensemble: Ensemble) -> "xr.Dataset":
    """Statistics as labelled arrays."""
    import xarray as xr

    variables, coordinates = {}, {"run": np.arange(len(ensemble))}
    coordinates |= {} if ensemble.cases is None else ensemble.cases.coordinates()
    for name, each in reduce.items():
        if isinstance(each, Each):
            values = np.concatenate(parts[name])
            variables[name] = (("run", *(f"{name}_{k}" for k in range(values.ndim - 1))), values)
            continue
        values = each.result(parts[name])
        ahead = () if each.times else ("time",)
        own = tuple(each.dims) if len(reduce) == 1 else tuple(f"{dim}_of_{name}" for dim in each.dims)
        between = tuple(f"{name}_{k}" for k in range(values.ndim - len(ahead) - len(own)))
        variables[name] = ((*ahead, *between, *own), values)
        coordinates |= dict(zip(own, each.dims.values(), strict=True))
        if ahead:
            coordinates["time"] = ("time", ensemble.times("time"), {"long_name": "time", "units": "s"})
    return xr.Dataset(variables, coordinates)


def _run_to(
    shelf: Shelf,
    claim: Claim,
    job: Job,
    cases: Cases | None,
    progress: bool | Callable[[float], None] | None,
    client: Any,
    *,
    overwrite: bool,
) -> None:
    """The blocks that are missing on a shelf, one after the other or by the workers of a client, and the shelf in its
    place."""
    try:
        if client is not None:
            _run_by(client, shelf, job, progress)
        for number, part, block in _blocks(job, shelf.size, progress, shelf):
            shelf.put(number, table(part, block), crossings(part, block, number * shelf.size))
        shelf.finish(Ensemble(job, shelf.arrays(), {}, cases).coordinates(), claim, overwrite=overwrite)
    finally:
        claim.release()


def _run_by(client: Any, shelf: Shelf, job: Job, progress: bool | Callable[[float], None] | None) -> None:
    """The blocks that are missing, by the workers of a client."""
    from naiad.ensembles.cluster import run_blocks

    count = -(-job.size // shelf.size)
    missing = [number for number in range(count) if not shelf.done(number)]
    with Bar(Span(0, count), shown=progress) as bar, listening(at_once=True):
        for done, _ in enumerate(run_blocks(client, shelf, job, missing), count - len(missing) + 1):
            bar.update(done)


@contextlib.contextmanager
def _workers(client: Any, scheduler: str | None, example: Job) -> Iterator[Any]:
    """A client whose workers can do blocks of jobs like the example; None if this process does them."""
    if client is None and scheduler is None:
        yield None
        return
    from naiad.ensembles.cluster import check_sent, check_workers, connected

    if client is not None and scheduler is not None:
        raise InputError("simulate_many: client and scheduler are both given; give one of them.")
    check_sent(example)
    if scheduler is not None:
        with connected(scheduler, "scheduler") as found:
            yield found
    else:
        check_workers(client, "client")
        yield client


def _blocks(
    job: Job, size: int, progress: bool | Callable[[float], None] | None, shelf: Shelf | None = None
) -> Iterator[tuple[int, Job, Block]]:
    """The number, the runs and the results of each block, but for those that a shelf has. After Ctrl-C the others are
    at their first nodes; with a shelf, to which one comes back, it ends there."""
    done, heard = 0, False
    with Bar(Span(0, int(np.sum(job.each(job.schedule.last)))), shown=progress) as bar, listening() as ear:
        for number, first in enumerate(range(0, job.size, size)):
            part = job.part(first, min(first + size, job.size))
            if shelf is None or not shelf.done(number):
                last = begin_block(part)
                last = last if shelf is None else shelf.halfway(number, last)

                def tell(block: Block, number: int = number, before: int = done) -> None:
                    nonlocal last
                    last = block
                    bar.update(before + int(np.sum(block.node)))
                    if shelf is not None:
                        shelf.keep(number, block)

                block, now = (interrupted(part, last), False) if heard else run_block(part, last, ear, tell)
                heard = heard or now
                if heard and shelf is not None:
                    shelf.keep(number, last, now=True)
                    raise RunError(
                        f"the ensemble was interrupted; what was computed is at {shelf.partial}: nd.resume_many goes on"
                    )
                yield number, part, block
            done += int(np.sum(part.each(part.schedule.last)))


def _joined(parts: list[Arrays]) -> Arrays:
    """The rows of all blocks."""
    if len(parts) == 1:
        return parts[0]
    return {name: (dims, np.concatenate([part[name][1] for part in parts])) for name, (dims, _) in parts[0].items()}


def _block_size(job: Job, *, in_memory: bool) -> int:
    """How many runs go together: as many as fit the bytes of a block."""
    numbers = sum(leaf[0].size for leaf in jax.tree.leaves(job.states)) + 1
    size = 8 * (job.frames * numbers + job.rows)
    if in_memory and size * job.size > MEMORY_BYTES:
        raise InputError(
            f"{job.size} runs with {job.frames} saved nodes each would take {size * job.size / 2**30:.1f} GiB of "
            "memory; save fewer nodes (save_every), or write them to disk as they come (out='runs.zarr')."
        )
    return int(np.clip(BLOCK_BYTES // size, LEAST_BLOCK, LARGEST_BLOCK))


def _stacked_states(system: LagrangianSystem, states: Any) -> tuple[State, int | None]:
    """The states stacked along the first axis, and how many there are; None if it is one for all."""
    group = system.group
    if isinstance(states, State) and np.ndim(states.mu) <= 1:
        return fitting_state(group, states), None
    if not isinstance(states, State):
        if len(states) == 0:
            raise InputError("simulate_many: no states were given; give one, or a sequence of at least one.")
        fitting = [fitting_state(group, State(*states[k])) for k in (0, -1)]
        structure = jax.tree.structure(fitting[0])
        rows = [jax.tree.leaves(state) for state in states]
        try:
            columns = [np.stack(column) for column in zip(*rows, strict=True)]
        except (TypeError, ValueError):
            columns = []
        if len(columns) != structure.num_leaves or any(column.dtype != np.float64 for column in columns):
            each = [fitting_state(group, State(*state)) for state in states]  # which says what is wrong, or mends it
            return jax.tree.map(lambda *leaves: np.stack(leaves), *each), len(each)
        states = jax.tree.unflatten(structure, columns)
    count = len(states.mu)
    found = [np.shape(leaf) for leaf in jax.tree.leaves(states)]
    expected = [(count, *leaf.shape) for leaf in (*jax.tree.leaves(identity(group)), np.zeros(group.dim))]
    if not count or found != expected:
        raise InputError(
            f"simulate_many: the stacked states are none of {type(system).__name__}, whose group is {group!r}: their "
            f"arrays have the shapes {found}."
        )
    for row in (0, count - 1):
        fitting_state(group, _row(states, row))
    return jax.tree.map(lambda leaf: np.asarray(leaf, float), states), count


def _row(states: State, k: int) -> State:
    return jax.tree.map(lambda leaf: leaf[k], states)


def _is_many(value: Any) -> bool:
    return isinstance(value, Sequence) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _agreed(known: Mapping[str, int | None]) -> int:
    """How many runs there are, if all that is given for each run agrees."""
    given = {name: count for name, count in known.items() if count is not None}
    sizes = {count for count in given.values() if count != 1} or {1}
    if len(sizes) > 1:
        listed = ", ".join(f"{count} of {name}" for name, count in given.items())
        raise InputError(f"simulate_many: there are {listed}; give one for all runs, or one for each.")
    return sizes.pop()


def _schedule(t0: Any, t1: Any, dt: Any, save_every: Any, output_every: Any, size: int) -> Schedule:
    """Numbers where all runs have the same, else arrays with one for each."""
    given = (t0, t1, dt, save_every, output_every)
    if not any(map(_is_many, given)):
        start, h, last, rest = check_times(t0, t1, dt)
        cadence = check_cadence(save_every, output_every, last)
        return Schedule(start, h, last, rest, *cadence)
    each = [
        np.broadcast_to(np.asarray(value), (size,)).tolist() if value is not None else [None] * size for value in given
    ]
    rows = []
    for k, (begin, end, step, save, output) in enumerate(zip(*each, strict=True)):
        try:
            start, h, last, rest = check_times(begin, end, step)
            rows.append((start, h, last, rest, *check_cadence(save, output, last)))
        except InputError as error:
            raise InputError(f"simulate_many: run {k}: {error}") from None
    columns = [None if column[0] is None else np.array(column) for column in zip(*rows, strict=True)]
    return Schedule(*columns)


def _first(value: Any) -> float:
    return float(np.ravel(value)[0])


def _sources(
    noise: Any, method: AbstractMethod, system: LagrangianSystem, schedule: Schedule, size: int
) -> list[Source] | None:
    """Where the increments of each run come from; None if they take none."""
    each = noise.spawn(size) if isinstance(noise, Noise) else [noise] * size if noise is None else list(noise)
    steps = np.broadcast_to(schedule.last + np.greater(schedule.rest, 0.0), (size,))
    sources = [source(one, method, system, int(count)) for one, count in zip(each, steps, strict=True)]
    return None if any(one is None for one in sources) else sources  # pyright: ignore[reportReturnType]


def _warn(ensemble: Ensemble) -> None:
    """Of runs that could not go on, and of steps that turn too far."""
    name = type(ensemble.job.program.family.system).__name__
    outcome, ends = np.asarray(ensemble.arrays["outcome"][1]), np.asarray(ensemble.arrays["t_end"][1])
    failed = np.isin(outcome, [each for each in Outcome if each.failed])
    if np.any(failed):
        first = int(np.flatnonzero(failed)[0])
        end = Outcome(int(outcome[first]))
        why = ensemble.method.failure if end is Outcome.NEWTON_FAILED else None
        warnings.warn(
            f"{name}: {int(failed.sum())} of {len(ensemble)} runs could not go on; the first is run {first}, which "
            f"stopped at t = {ends[first]:g} s: {why or end.remedy}",
            RunWarning,
            stacklevel=5,
        )
    turns = np.where(failed, 0.0, np.asarray(ensemble.arrays["turn_max"][1]))
    worst = int(np.argmax(turns))
    h = float(ensemble.job.each(ensemble.job.schedule.h)[worst])
    warning = too_far(float(turns[worst]), h)
    if warning is not None:
        warnings.warn(f"{name}: {warning}.", RunWarning, stacklevel=5)
