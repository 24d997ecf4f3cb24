"""Ensembles on disk: read again, and gone on with."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from naiad.compiler import Device, chosen_device
from naiad.ensembles.cases import Cases
from naiad.ensembles.drive import Progress, room, run_to, warn_of, workers
from naiad.ensembles.ensemble import Ensemble
from naiad.ensembles.family import family
from naiad.ensembles.job import Job, Program, Schedule
from naiad.ensembles.store import again, attributes, named_arrays, restored
from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State, identity
from naiad.mechanics.functions import explained
from naiad.numerics import double
from naiad.numerics.arguments import checked
from naiad.simulation.parameters import difference, parameters
from naiad.simulation.section import Section


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
    return opened(place, job, cases)


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
    device: Device | None = None,
    progress: Progress = None,
) -> Ensemble:
    """Go on with an ensemble whose process was ended, as if nothing had happened: with the blocks that are missing, and
    within a block from where it stood. The systems, the method and the functions are those that it was begun with; the
    `device` may be another (see `simulate_many`)."""
    place = Path(path).resolve()
    place = place.with_name(place.name.removesuffix(".partial"))
    partial = place.with_name(place.name + ".partial")
    if place.is_dir() and not partial.is_dir():
        return load_many(place, systems, method, outputs=outputs, monitors=monitors, sections=sections)
    if not partial.is_dir():
        raise InputError(f"{place} does not exist, and no ensemble was begun there.")
    job, cases, size = _known(place, partial, systems, method, outputs, monitors, sections)
    job = job._replace(program=job.program.replaced(room=room(size)), device=chosen_device(device))
    with workers(client, scheduler, job.part(0, 1)) as helping:
        shelf, claim = again(place)
        run_to(shelf, claim, job, cases, progress, helping, overwrite=False)
    ensemble = opened(place, job, cases)
    warn_of(ensemble)
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
    states = State(identity(kin.system.group), jnp.zeros((1, kin.system.group.dim)))
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


def described(job: Job) -> dict[str, Any]:
    """What the store of a job says of its program."""
    program = job.program
    names = {option: list(getattr(program, option)) for option in ("outputs", "monitors", "sections")}
    return {**names, "reconstruct": program.reconstruct, "apart": program.apart, "engine": job.engine}


def opened(path: Path, job: Job, cases: Cases | None) -> Ensemble:
    """A finished ensemble, its arrays read when they are used."""
    import zarr

    group, known = zarr.open_group(path, mode="r"), attributes(path)
    arrays = named_arrays(group, known["arrays"])
    return Ensemble(job, arrays, named_arrays(group, known["crossings"]), cases, path)
