"""Drives the blocks of an ensemble, and keeps what comes of them: runs in memory or on disk, or their statistics."""

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.ensembles.block import Block, begin_block, interrupted, run_block
from naiad.ensembles.cases import Cases
from naiad.ensembles.ensemble import Ensemble
from naiad.ensembles.job import Job
from naiad.ensembles.reductions import Each, Reduction
from naiad.ensembles.store import Shelf
from naiad.ensembles.table import Arrays, crossings, table
from naiad.errors import InputError, RunError, RunWarning
from naiad.interrupts import listening
from naiad.io.claim import Claim
from naiad.simulation.bar import Bar, Span
from naiad.simulation.outcome import Outcome
from naiad.simulation.turn import too_far

if TYPE_CHECKING:
    import xarray as xr

ROOMS = {8: 2048, 64: 256}  # saved nodes, and passages of a section, that a chunk holds for each of so many runs
LEAST_ROOM = 64
Progress = bool | Callable[[float], None] | None
"""Whether a bar is shown (None: where there is a terminal), or who is told the fraction that is done."""


def run(
    job: Job,
    size: int,
    cases: Cases | None,
    progress: Progress,
) -> Ensemble:
    """The blocks one after the other in memory, and what came of all."""
    tables, met = [], []
    for number, part, block in _blocks(job, size, progress):
        tables.append(table(part, block))
        met.append(crossings(part, block, number * size))
    return Ensemble(job, _joined(tables), _joined(met), cases)


def run_reduced(
    job: Job,
    size: int,
    cases: Cases | None,
    progress: Progress,
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

    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {"run": np.arange(len(ensemble))}
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


def run_to(
    shelf: Shelf,
    claim: Claim,
    job: Job,
    cases: Cases | None,
    progress: Progress,
    client: Any,
    *,
    overwrite: bool,
) -> None:
    """The blocks that are missing on a shelf, one after the other or by the workers of a client, and the shelf in its
    place."""
    try:
        if client is not None:
            _run_by(client, shelf, job, progress)
        with ThreadPoolExecutor(1) as pool:  # a block is written while the next one is computed
            writing: list[Future[None]] = []
            for number, part, block in _blocks(job, shelf.size, progress, shelf):
                arrays, met = table(part, block), crossings(part, block, number * shelf.size)
                if writing:
                    writing.pop().result()
                writing.append(pool.submit(shelf.put, number, arrays, met))
            for last in writing:
                last.result()
        shelf.finish(Ensemble(job, shelf.arrays(), {}, cases).coordinates(), claim, overwrite=overwrite)
    finally:
        claim.release()


def _run_by(client: Any, shelf: Shelf, job: Job, progress: Progress) -> None:
    """The blocks that are missing, by the workers of a client."""
    from naiad.ensembles.cluster import run_blocks

    count = -(-job.size // shelf.size)
    missing = [number for number in range(count) if not shelf.done(number)]
    with Bar(Span(0, count), shown=progress) as bar, listening(at_once=True):
        for done, _ in enumerate(run_blocks(client, shelf, job, missing), count - len(missing) + 1):
            bar.update(done)


@contextlib.contextmanager
def workers(client: Any, scheduler: str | None, example: Job) -> Iterator[Any]:
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


def _blocks(job: Job, size: int, progress: Progress, shelf: Shelf | None = None) -> Iterator[tuple[int, Job, Block]]:
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


def room(size: int) -> int:
    """How many rows of any kind a chunk holds for each run of a block."""
    return next((room for most, room in ROOMS.items() if size <= most), LEAST_ROOM)


def warn_of(ensemble: Ensemble) -> None:
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
