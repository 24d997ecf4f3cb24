"""Ensembles on disk: read again, and gone on with."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from naiad.compiler import Device, chosen_device
from naiad.ensembles.cases import Cases
from naiad.ensembles.drive import Progress, room, run_to, warn_of, workers
from naiad.ensembles.ensemble import Ensemble
from naiad.ensembles.family import family
from naiad.ensembles.job import Job, Program, Schedule
from naiad.ensembles.kept import Reduce
from naiad.ensembles.store import Shelf, attributes, named_arrays, reduced, restored
from naiad.errors import InputError
from naiad.integrators import AbstractMethod, default_method
from naiad.io.sites import Bucket, Folder, site
from naiad.io.store import checked_store
from naiad.mechanics import LagrangianSystem, State, identity
from naiad.mechanics.functions import explained
from naiad.numerics.arguments import checked
from naiad.simulation.checkpoint import PARTS, check_code, origin, warn_of_surroundings
from naiad.simulation.parameters import described as in_words
from naiad.simulation.parameters import difference, parameters
from naiad.simulation.section import Section

if TYPE_CHECKING:
    from zarr.abc.store import Store


@checked
@explained
def load_many(
    path: str | os.PathLike[str],
    systems: LagrangianSystem | Sequence[LagrangianSystem],
    method: AbstractMethod | None = None,
    *,
    outputs: Mapping[str, Callable[..., Any]] | None = None,
    monitors: Mapping[str, Callable[..., Any]] | None = None,
    sections: Mapping[str, Section] | None = None,
) -> Ensemble:
    """The ensemble that `simulate_many` wrote to `path` with these systems, method (if it is not the default) and
    functions, which are code: not stored, but compared. Its arrays are read when they are used."""
    place = site(path)
    if not place.is_finished():
        begun = ": it was interrupted, and nd.resume_many goes on with it" if place.is_begun() else ""
        raise InputError(f"{place} is not an ensemble that naiad wrote{begun}.")
    store = checked_store(place.store(finished=True), str(place))
    job, cases, _ = _known(store, str(place), systems, method, (outputs, monitors, sections))
    return opened(place, job, cases)


@checked
@explained
def resume_many(
    path: str | os.PathLike[str],
    systems: LagrangianSystem | Sequence[LagrangianSystem],
    method: AbstractMethod | None = None,
    *,
    outputs: Mapping[str, Callable[..., Any]] | None = None,
    monitors: Mapping[str, Callable[..., Any]] | None = None,
    sections: Mapping[str, Section] | None = None,
    reduce: Reduce | None = None,
    client: Any = None,
    scheduler: str | None = None,
    device: Device | None = None,
    progress: Progress = None,
) -> Ensemble:
    """Go on with an ensemble whose process was ended, as if nothing had happened: with the blocks that are missing, and
    within a block from where it stood. The systems, the method and the functions are those that it was begun with; the
    `device` may be another (see `simulate_many`)."""
    place = site(path)
    if not place.is_begun():
        if place.is_finished():
            return load_many(path, systems, method, outputs=outputs, monitors=monitors, sections=sections)
        raise InputError(f"{place} does not exist, and no ensemble was begun there.")
    functions = (outputs, monitors, sections)
    job, cases, size = _known(place.store(), str(place), systems, method, functions, reduce, going_on=True)
    job = job._replace(program=job.program.replaced(room=room(size)), device=chosen_device(device))
    with workers(client, scheduler, (job.part(0, 1), reduce)) as helping:
        shelf, claim = Shelf(place, size), place.again()
        run_to(shelf, claim, job, cases, progress, helping, reduce, overwrite=shelf.replaces())
    ensemble = opened(place, job, cases)
    warn_of(ensemble)
    return ensemble


def _known(
    store: "Store",
    where: str,
    systems: Any,
    method: AbstractMethod | None,
    functions: Sequence[Mapping[str, Any] | None],
    reduce: Reduce | None = None,
    *,
    going_on: bool = False,
) -> tuple[Job, Cases | None, int]:
    """The job of a store, its cases, and the size of its blocks, if it was made with these systems and functions; with
    these statistics too if it is to go on."""
    about = attributes(store, where)
    known = about["ensemble"]
    kin, own, _ = family(systems)
    method = default_method(kin.system) if method is None else method
    if own is not None and len(own) == 1:
        own = np.repeat(own, about["runs"], axis=0)
    parts = [dict(each or {}) for each in functions]
    program = Program(kin, method, parts[0], parts[1], parts[2], known["reconstruct"], known["apart"])
    nothing = Schedule(0.0, 1.0, 0, 0.0, 1, None)
    states = State(identity(kin.system.group), jnp.zeros((1, kin.system.group.dim)))
    job = Job(program, own, states, nothing, None, known["engine"], 0, 0)
    routine = program.known(None if own is None else own[0])
    given = {**parameters(routine.system, method)["parameters"], "statistics": _words(reduce)}
    for kind in ("system", "method", *(["statistics"] if going_on else [])):
        found = difference(about["parameters"][kind], given[kind])
        if found is not None:
            name, before, now = found
            what = f"the {kind} with {name} =" if name else f"the {kind}"
            raise InputError(f"{where} was made with {what} {before}, but {now} was given; give what it was made with.")
    for option, now in zip(PARTS, parts, strict=True):
        if sorted(now) != sorted(known[option]):
            raise InputError(
                f"{where} was made with {option} named {sorted(known[option])}, but {sorted(now)} were given; give "
                "those that it was made with."
            )
    if going_on:
        warn_of_surroundings(where, about)
    check_code(where, about, routine, others={"statistics": _functions(reduce)} if going_on else {})
    return *restored(store, where, job), int(about["block"])


def described(job: Job, reduce: Reduce | None) -> dict[str, Any]:
    """What the store of a job says of its program and its statistics, so that they are known again."""
    program, plan = job.program, job.plan(0)
    names = {option: list(getattr(program, option)) for option in PARTS}
    known = {**names, "reconstruct": program.reconstruct, "apart": program.apart, "engine": job.engine}
    made_of = parameters(plan.routine.system, program.method)["parameters"] | {"statistics": _words(reduce)}
    return {"ensemble": known, "parameters": made_of, **origin(plan, {"statistics": _functions(reduce)})}


def _words(reduce: Reduce | None) -> dict[str, Any]:
    return {name: {"is": type(each).__name__, **in_words(vars(each))} for name, each in (reduce or {}).items()}


def _functions(reduce: Reduce | None) -> dict[str, Any]:
    return {name: each.of for name, each in (reduce or {}).items()}


def opened(place: Folder | Bucket, job: Job, cases: Cases | None) -> Ensemble:
    """A finished ensemble, its arrays read when they are used."""
    import zarr

    store = checked_store(place.store(finished=True), str(place))
    group, known = zarr.open_group(store, mode="r"), attributes(store, place)
    arrays = named_arrays(group, known["arrays"])
    return Ensemble(job, arrays, named_arrays(group, known["crossings"]), cases, store, reduced(store))
