"""The front door of ensembles: run many systems through time."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from numpy.typing import ArrayLike

from naiad import io
from naiad.compiler import Device, Engine, check_engine, chosen_device
from naiad.ensembles.block import begin_block
from naiad.ensembles.cases import Cases
from naiad.ensembles.drive import Progress, room, run, run_to, warn_of, workers
from naiad.ensembles.ensemble import Ensemble
from naiad.ensembles.family import family, warn_of_doubt
from naiad.ensembles.job import Job, Program, Schedule
from naiad.ensembles.kept import Reduce, check_reduced, kept
from naiad.ensembles.store import Form, begin_shelf
from naiad.ensembles.stored import described, opened
from naiad.ensembles.table import STANDING
from naiad.errors import InputError
from naiad.integrators import AbstractMethod, check_method, default_method
from naiad.integrators.method import refuse_variable
from naiad.io.sites import site
from naiad.mechanics import LagrangianSystem, State, fitting_state, identity
from naiad.mechanics.functions import explained
from naiad.numerics.arguments import checked
from naiad.simulation.checks import (
    MEMORY_BYTES,
    check_cadence,
    check_names,
    check_output_every,
    check_reconstruct,
    check_times,
)
from naiad.simulation.noise import BLOCK, Noise, Source, check_increments, source
from naiad.simulation.section import Section

BLOCK_BYTES = 2**25  # of the rows of a block of runs
LEAST_BLOCK, LARGEST_BLOCK = 16, 4096
GPU_BLOCK_BYTES, LARGEST_GPU_BLOCK = 2**32, 2**20


@checked
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
    reduce: Reduce | None = None,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    client: Any = None,
    scheduler: str | None = None,
    progress: Progress = None,
    engine: Engine = "auto",
    reconstruct: bool = True,
    device: Device | None = None,
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
      holds. With `out` they are kept there.
    - `out`: a Zarr directory, or a URL that fsspec knows (`s3://...`), to which the runs are written in blocks, so that
      their number is not bound by memory; what comes back reads from there. `resume_many` goes on with one that was
      killed.
    - `client`, a `distributed.Client`, or the address of a `scheduler` of Dask: its workers do the blocks and write
      them to `out`, which they share; the result is the same, bit for bit, whatever their number.
    - `device`: "cpu"; "gpu" for the GPUs of this machine (or of the workers), to round-off; "auto" for GPUs where there
      are any, else the processor's cores, with one warning. If not given, what NAIAD_DEVICE says, or "cpu".

    The other options are those of `simulate`. A run that cannot go on ends early and says why in its `outcome`; the
    others go on. Runs of one system are bit for bit those of `simulate`, whatever else runs beside them.
    """
    kin, own, many = family(systems)
    method = default_method(kin.system) if method is None else method
    refuse_variable(method, "simulate_many")
    check_method(method, kin.system, noise=True)
    stacked, count = _stacked_states(kin.system, states)
    known = {"systems": many, "states": count, "cases": None if cases is None else len(cases)}
    per_run: dict[str, Any] = {
        "t1": t1,
        "dt": dt,
        "t0": t0,
        "save_every": save_every,
        "output_every": output_every,
        "noise": noise,
    }
    known |= {name: len(value) for name, value in per_run.items() if _is_many(value)}
    size = _agreed(known)
    if many is None:
        warn_of_doubt(kin.system, size)
    if count is None:
        stacked = jax.tree.map(lambda leaf: np.broadcast_to(leaf, (size, *leaf.shape)), stacked)
    if own is not None and len(own) == 1 < size:
        own = np.broadcast_to(own, (size, own.shape[1]))
    schedule = _schedule(t0, t1, dt, save_every, output_every, size)
    parts = (dict(outputs or {}), dict(monitors or {}), dict(sections or {}))
    check_names(
        kin.system, parts[0], (*STANDING, "t", "output_t", "monitor", "level", "job", *(cases.columns if cases else ()))
    )
    check_output_every(output_every, outputs)
    program = Program(kin, method, *parts, reconstruct, output_every is not None)
    first = program.known(None if own is None else own[0])
    check_reconstruct(reconstruct, first.system, first.sections, _row(stacked, 0), _first(schedule.t0))
    sources = _sources(noise, method, kin.system, schedule, size)
    rows = 0 if schedule.output is None else schedule.rows
    where = chosen_device(device)
    if engine == "xla" and where == "gpu":
        raise InputError(
            "simulate_many: engine='xla' runs on the processor only, and device = 'gpu'; leave one of them out."
        )
    job = Job(program, own, stacked, schedule, sources, check_engine(engine), schedule.frames, rows, where)
    size = _block_size(job, in_memory=out is None and reduce is None)
    job = job._replace(program=program.replaced(room=room(size)))
    if out is None and reduce is None and (client is not None or scheduler is not None):
        raise InputError(
            "simulate_many: workers write what they compute to disk; give a place that they share as out=."
        )
    if reduce is not None:
        check_reduced(job, reduce, cases)
    one = job.part(0, 1)
    with workers(client, scheduler, (one, reduce)) as helping:
        if out is None:
            ensemble = run(job, size, cases, progress, reduce, helping)
        else:
            io.check_directory(out)
            place = site(out)
            made = kept(one, begin_block(one), 0, reduce)
            example = Form(made.arrays, made.met, Ensemble(one, made.arrays, made.met).about, cases)
            shelf, claim = begin_shelf(place, job, example, size, described(job, reduce), overwrite=overwrite)
            run_to(shelf, claim, job, cases, progress, helping, reduce, overwrite=overwrite)
            ensemble = opened(place, job, cases)
    warn_of(ensemble)
    return ensemble


def _block_size(job: Job, *, in_memory: bool) -> int:
    """How many runs go together: as many as fit the bytes of a block."""
    numbers = sum(leaf[0].size for leaf in jax.tree.leaves(job.states)) + 1
    size = 8 * (job.frames * numbers + job.rows)
    if in_memory and size * job.size > MEMORY_BYTES:
        raise InputError(
            f"{job.size} runs with {job.frames} saved nodes each would take {size * job.size / 2**30:.1f} GiB of "
            "memory; save fewer nodes (save_every), or write them to disk as they come (out='runs.zarr')."
        )
    largest, memory = LARGEST_BLOCK, BLOCK_BYTES
    if job.device != "cpu":
        largest, memory = LARGEST_GPU_BLOCK, GPU_BLOCK_BYTES
        size += 0 if job.sources is None else 8 * BLOCK * job.sources[0].size
    most = int(np.clip(memory // size, LEAST_BLOCK, largest))
    return min(job.size, 1 << (most.bit_length() - 1))  # a power of two, for the tree of `reductions`


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
    if noise is None:
        check_increments(None, method, system, int(np.max(schedule.last)))
        return None
    each = noise.spawn(size) if isinstance(noise, Noise) else list(noise)
    steps = np.broadcast_to(schedule.last + np.greater(schedule.rest, 0.0), (size,))
    sources = [source(one, method, system, int(count)) for one, count in zip(each, steps, strict=True)]
    found = [one for one in sources if one is not None]
    return found if len(found) == size else None
