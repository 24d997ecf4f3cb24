"""Drives a plan to its end, and keeps what comes of it in memory or on disk."""

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from naiad import io
from naiad.errors import RunError, RunWarning
from naiad.interrupts import listening, terminating
from naiad.mechanics import units_of
from naiad.simulation.bar import Bar
from naiad.simulation.checkpoint import at_checkpoint, origin
from naiad.simulation.checks import check_memory
from naiad.simulation.drive import chunks, first_chunk
from naiad.simulation.journal import Pieces, kept_run
from naiad.simulation.loop import Frame
from naiad.simulation.outcome import Outcome
from naiad.simulation.pages import Pages
from naiad.simulation.parameters import parameters
from naiad.simulation.plan import Chunk, Plan, Standing
from naiad.simulation.record import Columns
from naiad.simulation.section import lost_sight
from naiad.simulation.trajectory import Trajectory
from naiad.simulation.turn import too_far

Told = bool | Callable[[float], None] | None


def run(
    plan: Plan, standing: Standing, frame: Frame, *, out: str | os.PathLike[str] | None, overwrite: bool, progress: Told
) -> tuple[Any, Chunk]:
    """The rows of a run from its first node, and where it stands in the end."""
    first = first_chunk(plan, standing, frame)
    if out is not None:
        known = parameters(plan.routine.system, plan.routine.method) | origin(plan)
        writer = io.Writer(out, overwrite, first=[Columns(plan, [first]).dataset().assign_attrs(known)])
        return written(plan, first, writer, out, progress)
    check_memory(plan, frame)
    place = kept_run(plan, first)
    if place is not None:
        return _found(plan, first, place, progress)
    with Pieces(plan, first) as pieces:
        end = driven(plan, first, pieces.append, progress)
    return Columns(plan, pieces.chunks), end


def _found(plan: Plan, first: Chunk, place: Path, progress: Told) -> tuple[Any, Chunk]:
    """The same of a run that a study had begun before it was killed."""
    if not place.exists():
        writer = io.Writer.reopened(place)
        written(plan, at_checkpoint(plan, writer.attributes, str(place)), writer, place, progress)
    record = io.read(place)
    at = at_checkpoint(plan, record.attrs, str(place))
    return Columns.read(plan, first, record), driven(plan, at, lambda chunk: None, progress)


def written(plan: Plan, at: Chunk, writer: io.Writer, out: Any, progress: Told) -> tuple[Any, Chunk]:
    """The same from where a run stands, in a store that has what came before."""
    with writer, Pages(plan, writer) as pages, listening() as ear, terminating(ear):
        end = driven(plan, at, pages.append, progress)
    return io.open_lazily(out), end


def driven(plan: Plan, kept: Chunk, keep: Callable[[Chunk], None], progress: Told) -> Chunk:
    """Go on from where a run stands, hand over each piece, and hear an interrupt between them."""
    with Bar(plan, shown=progress) as bar, listening() as ear:
        try:
            bar.update(plan.counted(kept.node, kept.t))
            for chunk in chunks(plan, kept):
                keep(chunk)
                kept = chunk
                bar.update(plan.counted(chunk.node, chunk.t))
        except KeyboardInterrupt:
            if ear.at_once:
                raise
            ear.forget()
            kept = kept.ended(Outcome.INTERRUPTED)
            keep(kept)
    return kept


def finished(plan: Plan, rows: Any, end: Chunk, throw: bool) -> Trajectory:
    """The trajectory of a run; it says so where the run did not come to its end."""
    system, method = plan.routine.system, plan.routine.method
    trajectory = Trajectory.unchecked(system, method, rows)
    outcome, units = Outcome(int(end.standing.outcome)), units_of(system)
    warning = too_far(end.turn, plan.h if plan.until is None else None, units.time)
    if throw and outcome not in (Outcome.COMPLETED, Outcome.EVENT):
        where = f"the run stopped at t = {units.of_time(trajectory.attrs['t'])} of {units.of_time(plan.t1)}"
        raise RunError(f"{where}: {trajectory.ending}")
    if outcome.failed:
        where = f"stopped at t = {units.of_time(trajectory.attrs['t'])}, after {trajectory.statistics['steps']} steps"
        warnings.warn(f"{type(system).__name__} {where}: {trajectory.ending}", RunWarning, stacklevel=6)
    elif warning is not None:
        warnings.warn(f"{type(system).__name__}: {warning}.", RunWarning, stacklevel=6)
    for name, level in end.standing.levels.items():
        if level.lost:
            warnings.warn(f"{type(system).__name__}: {lost_sight(name, level.lost)}", RunWarning, stacklevel=6)
    return trajectory
