"""Where a run stands, as a file holds it: the plan, and all that the next step depends on."""

import hashlib
import platform
import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from naiad.compiler.fingerprint import Unfingerprintable, own_code
from naiad.errors import InputError, RunWarning
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State, identity
from naiad.simulation import loop
from naiad.simulation.drive import no_crossing
from naiad.simulation.monitor import Monitor
from naiad.simulation.outcome import Outcome
from naiad.simulation.plan import Chunk, Plan, Routine, Standing, Statistics
from naiad.simulation.section import Level

PARTS = ("outputs", "monitors", "sections")
Named = Mapping[str, Mapping[str, Any]]
"""Functions by their kinds and names."""


def restored_carry(attributes: Mapping[str, Any], system: LagrangianSystem, method: AbstractMethod, where: str) -> Any:
    """The method's carry at the end of a run, from its attributes."""
    state = State(identity(system.group), jnp.zeros(system.group.dim))
    example = jax.eval_shape(lambda: method.init(system, state, jnp.zeros(()), jnp.ones(())))
    leaves, structure = jax.tree.flatten(example)
    try:
        values = [
            np.asarray(value, leaf.dtype).reshape(leaf.shape)
            for value, leaf in zip(attributes["carry"], leaves, strict=True)
        ]
        if not all(np.all(np.isfinite(value)) for value in values):
            raise ValueError("it is not finite")
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{where} is damaged (its carry is not one of {method!r:.60}: {error}); run again.") from error
    return jax.tree.unflatten(structure, values)


def at_checkpoint(plan: Plan, attributes: Mapping[str, Any], where: str) -> Chunk:
    """Where the run whose attributes these are stands, without rows."""
    node, t, routine = attributes["node"], attributes["t"], plan.routine
    carry = restored_carry(attributes, routine.system, routine.method, where)
    example, frame = jax.eval_shape(lambda: loop.begin(routine, carry, node, t, plan.h))
    known, figures = attributes["checkpoint"], attributes["statistics"]
    names = ("newton_iterations_max", "residual_max", "correction_max")
    outcome = Outcome[attributes["outcome"]]
    ended: Any = int(Outcome.COMPLETED if outcome in (Outcome.UNFINISHED, Outcome.INTERRUPTED) else outcome)
    try:
        stored = Standing(
            node,
            carry,
            {name: Monitor(*attributes["monitors"][name]) for name in routine.monitors},
            Statistics(known["iterations"], *(figures[name] for name in names)),
            {name: Level(*known["levels"][name]) for name in routine.sections},
            ended,
        )
        standing = jax.tree.map(lambda value, leaf: np.asarray(value, leaf.dtype), stored, example)
        turn = float(figures["turn_max"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{where} is damaged (where it stands cannot be read: {error}); run again.") from error
    none = jax.tree.map(lambda leaf: np.zeros((0, *leaf.shape), leaf.dtype), frame)
    outputs = (np.zeros(0), none.outputs) if routine.apart else None
    rows = none._replace(outputs={}) if routine.apart else none
    crossings = dict.fromkeys(routine.sections, no_crossing(plan, none.state))
    return Chunk(np.zeros(0), rows, outputs, crossings, node, t, standing, turn)


def origin(plan: Plan, others: Named = MappingProxyType({})) -> dict[str, Any]:
    """By what a run is known again, besides the parameters of system and method: digests of the user's own code (and of
    `others`, by their kinds), those of noise that was given as an array, and what it was begun with."""
    noise = None if plan.noise is None else plan.noise.noise
    code = {kind: _digest(thing) for kind, thing in _one_each(plan.routine)}
    named = {kind: {name: _digest(f) for name, f in each.items()} for kind, each in _named(plan.routine, others)}
    rows = {"rows": len(noise), "sha256": sha256(noise)} if isinstance(noise, np.ndarray) else None
    return {"origin": {"code": code | named, "noise": rows, "made_with": _surroundings()}}


def _one_each(routine: Routine) -> list[tuple[str, Any]]:
    return [("system", routine.system), ("method", routine.method)]


def _named(routine: Routine, others: Named) -> list[tuple[str, Mapping[str, Any]]]:
    return [*((kind, getattr(routine, kind)) for kind in PARTS), *others.items()]


def sha256(rows: np.ndarray) -> str:
    """A digest of an array of numbers."""
    return hashlib.sha256(np.ascontiguousarray(rows, float).tobytes()).hexdigest()


def check_origin(where: str, attributes: Mapping[str, Any], routine: Routine) -> None:
    """Raise an `InputError` if a run was begun with other code of the user's; warn where it cannot be told, or where
    what is under that code has changed, so that last digits may differ."""
    warn_of_surroundings(where, attributes)
    check_code(
        where, attributes, routine, ", or go on with a record of its own: resume(load(path, system, method), t1=...)"
    )


def warn_of_surroundings(where: str, attributes: Mapping[str, Any]) -> None:
    """Warn of a run that goes on under other versions than it was begun with."""
    before, now = attributes.get("origin", {}).get("made_with"), _surroundings()
    if before is None:
        return
    changed = [f"{name} {before[name]} (now {now[name]})" for name in now if before.get(name) != now[name]]
    if changed:
        warnings.warn(
            f"{where} was begun with {', '.join(changed)}: the last digits may not be those of a run that was never "
            "stopped.",
            RunWarning,
            stacklevel=7,
        )


def check_code(
    where: str, attributes: Mapping[str, Any], routine: Routine, remedy: str = "", others: Named = MappingProxyType({})
) -> None:
    """Raise an `InputError` if what has these attributes was made with other code of the user's."""
    stored = attributes.get("origin")
    if stored is None or stored["made_with"].get("Python") != _surroundings()["Python"]:
        return  # bytecode is of one version
    code = stored["code"]
    pairs = [(f"the {kind}", code[kind], thing) for kind, thing in _one_each(routine)]
    for kind, each in _named(routine, others):
        pairs += [(f"the {kind[:-1]} {name!r}", code[kind][name], f) for name, f in each.items()]
    for what, digest, thing in pairs:
        if digest is not None and _digest(thing) != digest:
            raise InputError(f"{where} was made with other code of {what}; give what it was made with{remedy}.")


def _digest(thing: Any) -> str | None:
    try:
        return own_code(thing)
    except Unfingerprintable:
        return None


def _surroundings() -> dict[str, str]:
    import naiad

    return {
        "naiad": naiad.__version__,
        "jax": jax.__version__,
        "Python": platform.python_version(),
        "processor": platform.machine(),
    }
