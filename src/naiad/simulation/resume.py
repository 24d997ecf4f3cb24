"""Goes on with a run: from the end of a trajectory with a record of its own, or in the file that it was written to."""

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from naiad import io
from naiad.compiler import Engine, check_engine, execute
from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.io import places
from naiad.io import writer as limits
from naiad.io.store import committed, in_pieces
from naiad.mechanics import LagrangianSystem
from naiad.mechanics.functions import explained
from naiad.numerics.arguments import checked
from naiad.simulation import loop
from naiad.simulation.checkpoint import PARTS, at_checkpoint, check_origin, restored_carry, sha256
from naiad.simulation.checks import WHOLE, check_cadence, check_names, check_output_every, check_system, check_times
from naiad.simulation.noise import Noise, Source, source
from naiad.simulation.outcome import Outcome
from naiad.simulation.plan import Cadence, Chunk, Observable, Plan, Routine
from naiad.simulation.record import Columns
from naiad.simulation.run import finished, run, written
from naiad.simulation.saved import check_attributes, check_given
from naiad.simulation.section import Section
from naiad.simulation.trajectory import Trajectory


@checked
@explained
def resume(
    where: Trajectory | str | os.PathLike[str],
    system: LagrangianSystem | None = None,
    method: AbstractMethod | None = None,
    *,
    t1: float | None = None,
    noise: Noise | ArrayLike | None = None,
    save_every: int | None = None,
    outputs: Mapping[str, Observable] | None = None,
    output_every: int | None = None,
    monitors: Mapping[str, Observable] | None = None,
    sections: Mapping[str, Section] | None = None,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: bool | Callable[[float], None] | None = None,
    engine: Engine | None = None,
    throw: bool = False,
) -> Trajectory:
    """Go on with a run to t1, bit for bit as if it had not stopped.

    `where` is the path of a run that `simulate(out=...)` or `save` wrote, whether it was killed, its disk was full, it
    was interrupted, or it came to its end: OUT, or OUT.partial. It goes on in the same file, to the t1 that was planned
    if none is given, and the record is in the end what it would have been without the stop. `system` and `method` are
    code, and are given again (the method if it is not the default), and so are `outputs`, `monitors`, `sections` and
    `noise` of an array, for the whole run; what they were made with is compared. How often is saved, the seed of the
    noise and the engine are known from the
    file. A finished run is copied, and replaced by the longer one when that is finished; with `out` it stays. One that
    is at t1, or was ended by a terminal section or a failure, is returned as it is.

    `where` may also be a trajectory: then the run goes on from its end with a record of its own, options as for
    `simulate`. The noise of a seed goes on where it stopped; noise that was given as an array is given anew, for the
    steps to come.
    """
    parts = {"outputs": dict(outputs or {}), "monitors": dict(monitors or {}), "sections": dict(sections or {})}
    if isinstance(where, Trajectory):
        if system is not None or method is not None or t1 is None:
            raise InputError("resume: a trajectory has its system and method; give it, and t1, to which it goes on.")
        check_names(where.system, parts["outputs"])
        plan, begun = _after(where, parts, t1, noise, save_every, output_every, engine)
        rows, end = run(plan, *begun, out=out, overwrite=overwrite, progress=progress)
        return finished(plan, rows, end, throw)
    file = _File.of(where)
    with contextlib.ExitStack() as stack:
        writer = stack.enter_context(io.Writer.reopened(file.final, overwrite)) if file.unfinished else None
        attributes = committed(file.final)[0] if writer is None else writer.attributes
        given = check_given("resume", where, attributes, system, method)
        plan = _as_planned(where, attributes, *given, parts, t1, noise, save_every, output_every, engine)
        at = at_checkpoint(plan, attributes, str(where))
        over = not at.standing.goes_on or plan.over(at.node, at.t)
        if writer is None:
            if over and out is None:
                return finished(plan, io.open_lazily(file.final), at, throw)
            pieces = in_pieces(file.final, limits.BUFFER_BYTES)
            writer = stack.enter_context(io.Writer(out or file.final, overwrite or out is None, first=pieces))
        elif out is not None:
            raise InputError(f"resume: the run at {where} is not finished, and goes on where it is; leave `out` out.")
        if not over:
            writer.keep(_rows_at(plan, at))
            writer.append(Columns(plan, [at]).dataset())
        rows, end = written(plan, at, writer, out or file.final, progress)
    return finished(plan, rows, end, throw)


class _File(NamedTuple):
    """The file of a run: its name when it is finished, and whether it is."""

    final: Path
    unfinished: bool

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> "_File":
        final = Path(path).with_name(Path(path).name.removesuffix(limits.PARTIAL))
        return cls(final, places.is_store(final.resolve().with_name(final.resolve().name + limits.PARTIAL)))


def _after(
    trajectory: Trajectory,
    parts: dict[str, dict[str, Any]],
    t1: float,
    noise: Any,
    save_every: int | None,
    output_every: int | None,
    engine: Engine | None,
) -> tuple[Plan, Any]:
    """The plan of a run from the end of another, and where it begins."""
    system, method, attributes = check_system(trajectory.system), trajectory.method, trajectory.attrs
    check_attributes("the run", attributes)
    t0, h, node = attributes["t0"], attributes["dt"], attributes["node"]
    if not method.variable and abs(attributes["t"] - (t0 + node * h)) > 1e-9 * h:
        t0, node = attributes["t"], 0  # the run ended with a shorter step: begin to count anew
    t = attributes["t"] if method.variable else t0 + node * h
    if not t1 > t:
        raise InputError(f"resume: t1 = {t1:g} is not after the end of the run, t = {t:g}; give a later t1.")
    last, rest = _count(method, t0, node, t, t1, h)
    carry = restored_carry(attributes, system, method, "the run")
    reconstruct = attributes.get("reconstruct", True)
    routine = Routine(system, method, *_three(parts), reconstruct, output_every is not None)
    cadence = check_cadence(save_every, output_every, last - node)
    check_output_every(output_every, parts["outputs"])
    before: dict[str, Any] = attributes.get("noise") or {"seed": None, "used": 0}
    if noise is None and before["seed"] is not None:
        noise = Noise(int(before["seed"]))
    random = source(noise, method, system, last - node + (rest > 0.0), used=before["used"], start=node)
    until = float(t1) if method.variable else None
    plan = Plan(routine, t0, h, node, last, rest, cadence, check_engine(engine or "auto"), random, until)
    return plan, execute(loop.begin, routine, carry, node, t, h, parameters=(0,), engine=plan.engine)


def _count(method: AbstractMethod, t0: float, node: int, t: float, t1: float, h: float) -> tuple[int, float]:
    """The last node and the step after it of a run to t1 that stands at a node at t."""
    if method.variable:
        return node + check_times(t, max(t, t1), h)[2], 0.0
    return check_times(t0, t1, h)[2:]


def _as_planned(
    path: Any,
    attributes: Mapping[str, Any],
    system: LagrangianSystem,
    method: AbstractMethod,
    parts: dict[str, dict[str, Any]],
    t1: float | None,
    noise: Any,
    save_every: int | None,
    output_every: int | None,
    engine: Engine | None,
) -> Plan:
    """The plan of the run whose attributes these are, to another t1 if one is given."""
    if "checkpoint" not in attributes:
        raise InputError(
            f"{path} was written by an older naiad, and cannot be gone on with in its file; "
            "resume(load(path, system, method), t1=...) goes on with a record of its own."
        )
    known = attributes["checkpoint"]
    cadence = Cadence(known["save_every"], known["output_every"])
    asked = (("save_every", save_every, cadence.save), ("output_every", output_every, cadence.output))
    for name, given, stored in asked:
        if given is not None and given != stored:
            raise InputError(f"resume: {name} = {given}, but {path} has {name} = {stored}; leave it out.")
    names = {"outputs": known["outputs"], "monitors": list(attributes["monitors"]), "sections": attributes["sections"]}
    for kind in PARTS:
        if set(parts[kind]) != set(names[kind]):
            stored, given = (", ".join(sorted(each)) or "none" for each in (names[kind], parts[kind]))
            raise InputError(f"{path} has the {kind} {stored}, but {given} were given; give what it was made with.")
    same = {kind: {name: parts[kind][name] for name in names[kind]} for kind in PARTS}
    reconstruct = attributes["reconstruct"]
    routine = Routine(system, method, *_three(same), reconstruct, cadence.output is not None)
    check_origin(str(path), attributes, routine)
    first, last, rest = attributes["node"] - attributes["steps"], known["last"], known["rest"]
    if t1 is not None:
        last, rest = _until(path, attributes, method, t1)
    random = _noise(path, attributes, routine, noise, first, last - first + (rest > 0.0))
    how = check_engine(engine or known["engine"])
    until = (attributes["t1"] if t1 is None else max(t1, attributes["t"])) if method.variable else None
    return Plan(routine, attributes["t0"], attributes["dt"], first, last, rest, cadence, how, random, until)


def _three(parts: dict[str, dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    return parts["outputs"], parts["monitors"], parts["sections"]


def _until(path: Any, attributes: Mapping[str, Any], method: AbstractMethod, t1: float) -> tuple[int, float]:
    """The last node and the step after it of a run that goes on to t1; of a finished one that need not, its own."""
    known, t, h = attributes["checkpoint"], attributes["t"], attributes["dt"]
    outcome = Outcome[attributes["outcome"]]
    if outcome not in (Outcome.UNFINISHED, Outcome.INTERRUPTED, Outcome.COMPLETED):
        return known["last"], known["rest"]
    if outcome is Outcome.COMPLETED and not t1 > t + WHOLE * h:
        return known["last"], known["rest"]
    if not t1 > t - WHOLE * h:
        raise InputError(f"resume: t1 = {t1:g} lies before t = {t:g}, to which {path} has come; give a later t1.")
    if method.variable:
        return _count(method, attributes["t0"], attributes["node"], t, t1, h)
    if attributes["node"] > known["last"]:
        raise InputError(
            f"{path} ended with a shorter step at t = {t:g}, which a longer run would not have; "
            "resume(load(path, system, method), t1=...) goes on with a record of its own."
        )
    _, _, last, rest = check_times(attributes["t0"], t1, h)
    return last, rest


def _noise(
    path: Any, attributes: Mapping[str, Any], routine: Routine, noise: Any, first: int, steps: int
) -> Source | None:
    """The increments of the run, the same as before."""
    before = attributes["noise"]
    if before is None:
        return source(noise, routine.method, routine.system, steps)
    if before["seed"] is not None:
        seed = Noise(int(before["seed"]))
        if noise is not None and noise != seed:
            raise InputError(f"{path} has the noise of the seed {seed.seed}; leave `noise` out.")
        used = before["used"] - attributes["steps"]
        return source(seed, routine.method, routine.system, steps, used=used, start=first)
    random = source(noise, routine.method, routine.system, steps, start=first)
    known = attributes.get("origin", {}).get("noise")
    if random is not None and known and sha256(np.asarray(random.noise)[: known["rows"]]) != known["sha256"]:
        raise InputError(f"{path} was made with other noise; give what it was made with, from its first step on.")
    return random


def _rows_at(plan: Plan, at: Chunk) -> dict[str, int]:
    """How many rows a run has at a node that it has not ended at."""

    def rows(every: int) -> int:
        return 1 + at.node // every - plan.first // every

    apart = {} if plan.cadence.output is None else {"output_time": rows(plan.cadence.output)}
    return {"time": rows(plan.cadence.save), **apart}
