"""Drives the blocks of an ensemble, and keeps what comes of them: runs in memory or on disk, or their statistics."""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from naiad.ensembles.block import Block, begin_block, interrupted, run_block
from naiad.ensembles.cases import Cases
from naiad.ensembles.ensemble import Ensemble
from naiad.ensembles.job import Job
from naiad.ensembles.kept import Kept, Parts, Reduce, kept, labelled
from naiad.ensembles.store import Shelf
from naiad.ensembles.table import Arrays
from naiad.errors import InputError, RunError, RunWarning
from naiad.interrupts import listening
from naiad.io.claim import Claim
from naiad.mechanics import units_of
from naiad.simulation.bar import Bar, Span
from naiad.simulation.outcome import Outcome
from naiad.simulation.section import lost_sight
from naiad.simulation.turn import too_far

ROOMS = {8: 2048, 64: 256}  # saved nodes, and passages of a section, that a chunk holds for each of so many runs
LEAST_ROOM = 64
Progress = bool | Callable[[float], None] | None
"""Whether a bar is shown (None: where there is a terminal), or who is told the fraction that is done."""


def run(
    job: Job, size: int, cases: Cases | None, progress: Progress, reduce: Reduce | None = None, client: Any = None
) -> Ensemble:
    """What is kept of all blocks, in memory; the parts of statistics no longer than they are needed."""
    tables, met = [], []

    def parts() -> Iterator[Parts]:
        blocks = (
            _done_here(job, size, progress, reduce) if client is None else _sent(client, job, size, progress, reduce)
        )
        for one in blocks:
            tables.append(one.arrays)
            met.append(one.met)
            yield one.parts

    if reduce is None:
        for _ in parts():
            pass
        return Ensemble(job, _joined(tables), _joined(met), cases)
    reduced = labelled(reduce, parts(), Ensemble(job, {}, {}, cases))
    return Ensemble(job, _joined(tables), _joined(met), cases, None, reduced)


def _done_here(job: Job, size: int, progress: Progress, reduce: Reduce | None) -> Iterator[Kept]:
    """What is kept of the blocks, one after the other."""
    for number, part, block in _blocks(job, size, progress):
        yield kept(part, block, number * size, reduce)


def _sent(client: Any, job: Job, size: int, progress: Progress, reduce: Reduce | None) -> Iterator[Kept]:
    """The same by the workers of a client, who do not keep their order."""
    early: dict[int, Kept] = {}
    following = 0
    for number, one in _by_workers(client, None, size, job, progress, reduce):
        early[number] = one
        while following in early:
            yield early.pop(following)
            following += 1


def run_to(
    shelf: Shelf,
    claim: Claim,
    job: Job,
    cases: Cases | None,
    progress: Progress,
    client: Any,
    reduce: Reduce | None,
    *,
    overwrite: bool,
) -> None:
    """The blocks that are missing on a shelf, one after the other or by the workers of a client, and the shelf in its
    place."""
    try:
        if not shelf.is_whole():
            if client is not None:
                for _ in _by_workers(client, shelf, shelf.size, job, progress, reduce):
                    pass
            else:
                _run_here(shelf, job, progress, reduce)
            about = Ensemble(job, shelf.arrays(), {}, cases)
            reduced = None if reduce is None else labelled(reduce, shelf.parts(), about)
            shelf.gather(about.coordinates(), reduced)
        shelf.finish(claim, overwrite=overwrite)
    finally:
        claim.release()


def _run_here(shelf: Shelf, job: Job, progress: Progress, reduce: Reduce | None) -> None:
    """The blocks that are missing on a shelf, each written while the next one is computed."""
    with ThreadPoolExecutor(1) as pool:
        writing: Future[None] | None = None
        for number, part, block in _blocks(job, shelf.size, progress, shelf):
            made = kept(part, block, number * shelf.size, reduce)
            if writing is not None:
                writing.result()
            writing = pool.submit(shelf.put, number, made)
        if writing is not None:
            writing.result()


def _by_workers(
    client: Any, shelf: Shelf | None, size: int, job: Job, progress: Progress, reduce: Reduce | None
) -> Iterator[tuple[int, Kept]]:
    """The blocks that are missing, by workers; a bar tells how many of all are there."""
    from naiad.ensembles.cluster import run_blocks

    count = -(-job.size // size)
    missing = [number for number in range(count) if shelf is None or not shelf.done(number)]
    with Bar(Span(0, count), shown=progress) as bar, listening(at_once=True):
        for done, block in enumerate(run_blocks(client, shelf, size, job, missing, reduce), count - len(missing) + 1):
            bar.update(done)
            yield block


@contextlib.contextmanager
def workers(client: Any, scheduler: str | None, example: Any) -> Iterator[Any]:
    """A client whose workers can do blocks of jobs that are sent like the example; None if this process does them."""
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
                        f"the ensemble was interrupted; what was computed is at {shelf.place.growing}: nd.resume_many "
                        "goes on"
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
    system = ensemble.job.program.family.system
    name = type(system).__name__
    outcome, ends = np.asarray(ensemble.arrays["outcome"][1]), np.asarray(ensemble.arrays["t_end"][1])
    failed = np.isin(outcome, [each for each in Outcome if each.failed])
    if np.any(failed):
        first = int(np.flatnonzero(failed)[0])
        end = Outcome(int(outcome[first]))
        why = end.told(system, ensemble.method)
        warnings.warn(
            f"{name}: {int(failed.sum())} of {len(ensemble)} runs could not go on; the first is run {first}, which "
            f"stopped at t = {units_of(system).of_time(ends[first])}: {why}",
            RunWarning,
            stacklevel=5,
        )
    for section in ensemble.job.program.sections:
        lost = np.asarray(ensemble.arrays[f"level_{section}"][1])[:, 2]
        if lost.any():
            where = f" of {np.count_nonzero(lost)} of {len(ensemble)} runs"
            warnings.warn(f"{name}: {lost_sight(section, lost.sum(), where)}", RunWarning, stacklevel=5)
    turns = np.where(failed, 0.0, np.asarray(ensemble.arrays["turn_max"][1]))
    worst = int(np.argmax(turns))
    h = float(ensemble.job.each(ensemble.job.schedule.h)[worst])
    warning = too_far(float(turns[worst]), h, units_of(system).time)
    if warning is not None:
        warnings.warn(f"{name}: {warning}.", RunWarning, stacklevel=5)
