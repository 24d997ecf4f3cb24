"""Where a run stands, as a file holds it: the plan, and all that the next step depends on."""

import hashlib
import platform
import warnings
from collections.abc import Mapping
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


def origin(plan: Plan) -> dict[str, Any]:
    """By what a run is known again, besides the parameters of system and method: digests of the user's own code, those
    of noise that was given as an array, and what it was begun with."""
    routine, noise = plan.routine, None if plan.noise is None else plan.noise.noise
    code: dict[str, Any] = {"system": _digest(routine.system), "method": _digest(routine.method)}
    code |= {kind: {name: _digest(f) for name, f in getattr(routine, kind).items()} for kind in PARTS}
    rows = {"rows": len(noise), "sha256": sha256(noise)} if isinstance(noise, np.ndarray) else None
    return {"origin": {"code": code, "noise": rows, "made_with": _surroundings()}}


def sha256(rows: np.ndarray) -> str:
    """A digest of an array of numbers."""
    return hashlib.sha256(np.ascontiguousarray(rows, float).tobytes()).hexdigest()


def check_origin(where: str, attributes: Mapping[str, Any], routine: Routine) -> None:
    """Raise an `InputError` if a run was begun with other code of the user's; warn where it cannot be told, or where
    what is under that code has changed, so that last digits may differ."""
    stored = attributes.get("origin")
    if stored is None:
        return
    before, now = stored["made_with"], _surroundings()
    changed = [f"{name} {before[name]} (now {now[name]})" for name in now if before.get(name) != now[name]]
    if changed:
        warnings.warn(
            f"{where} was begun with {', '.join(changed)}: the last digits may not be those of a run that was never "
            "stopped.",
            RunWarning,
            stacklevel=6,
        )
    if before.get("Python") != now["Python"]:
        return  # bytecode is of one version
    things = {"system": routine.system, "method": routine.method}
    pairs = [(f"the {kind}", stored["code"][kind], thing) for kind, thing in things.items()]
    for kind in PARTS:
        given = getattr(routine, kind)
        pairs += [(f"the {kind[:-1]} {name!r}", stored["code"][kind][name], f) for name, f in given.items()]
    for what, digest, thing in pairs:
        if digest is not None and _digest(thing) != digest:
            raise InputError(
                f"{where} was made with other code of {what}; give what it was made with, or go on with a record of "
                "its own: resume(load(path, system, method), t1=...)."
            )


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
