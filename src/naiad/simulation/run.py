"""Drives a plan to its end, and keeps what comes of it in memory or on disk."""

import os
import warnings
from collections.abc import Callable
from typing import Any

from naiad import io
from naiad.errors import RunError, RunWarning
from naiad.interrupts import listening, terminating
from naiad.simulation.bar import Bar
from naiad.simulation.checkpoint import origin
from naiad.simulation.checks import check_memory
from naiad.simulation.drive import chunks, first_chunk
from naiad.simulation.loop import Frame
from naiad.simulation.outcome import Outcome
from naiad.simulation.pages import Pages
from naiad.simulation.parameters import parameters
from naiad.simulation.plan import Chunk, Plan, Standing
from naiad.simulation.record import Columns
from naiad.simulation.trajectory import Trajectory
from naiad.simulation.turn import too_far

Told = bool | Callable[[float], None] | None


def run(
    plan: Plan, standing: Standing, frame: Frame, *, out: str | os.PathLike[str] | None, overwrite: bool, progress: Told
) -> tuple[Any, Chunk]:
    """The rows of a run from its first node, and where it stands in the end."""
    first = first_chunk(plan, standing, frame)
    if out is not None:
        writer = io.Writer(out, overwrite, first=[begun(plan, first)])
        return written(plan, first, writer, out, progress)
    check_memory(plan, frame)
    pieces = [first]
    return Columns(plan, pieces), driven(plan, first, pieces.append, progress)


def begun(plan: Plan, first: Chunk) -> Any:
    """The dataset with which the store of a run begins."""
    known = parameters(plan.routine.system, plan.routine.method) | origin(plan)
    return Columns(plan, [first]).dataset().assign_attrs(known)


def written(plan: Plan, at: Chunk, writer: io.Writer, out: Any, progress: Told) -> tuple[Any, Chunk]:
    """The same from where a run stands, in a store that has what came before."""
    with writer, Pages(plan, writer) as pages, listening() as ear, terminating(ear):
        end = driven(plan, at, pages.append, progress)
    return io.open_lazily(out), end


def driven(plan: Plan, kept: Chunk, keep: Callable[[Chunk], None], progress: Told) -> Chunk:
    """Go on from where a run stands, hand over each piece, and hear an interrupt between them."""
    with Bar(plan, shown=progress) as bar, listening() as ear:
        try:
            bar.update(kept.node)
            for chunk in chunks(plan, kept):
                keep(chunk)
                kept = chunk
                bar.update(chunk.node)
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
    trajectory = Trajectory(system, method, rows)
    outcome, warning = Outcome(int(end.standing.outcome)), too_far(end.turn, plan.h)
    if throw and outcome not in (Outcome.COMPLETED, Outcome.EVENT):
        where = f"the run stopped at t = {trajectory.attrs['t']:g} s of {plan.t1:g} s"
        raise RunError(f"{where}: {trajectory.ending}")
    if outcome.failed:
        where = f"stopped at t = {trajectory.attrs['t']:g} s, after {trajectory.statistics['steps']} steps"
        warnings.warn(f"{type(system).__name__} {where}: {trajectory.ending}", RunWarning, stacklevel=6)
    elif warning is not None:
        warnings.warn(f"{type(system).__name__}: {warning}.", RunWarning, stacklevel=6)
    return trajectory
