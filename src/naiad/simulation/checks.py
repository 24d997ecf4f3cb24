"""What is checked before a run starts."""

import math
import operator
import re
from collections.abc import Collection, Mapping
from typing import Any

import jax
import numpy as np

from naiad.errors import InputError
from naiad.mechanics import LagrangianSystem, State, is_euler_poincare
from naiad.mechanics.labels import LETTERS, labels
from naiad.numerics import check_double
from naiad.simulation.plan import Cadence, Plan
from naiad.simulation.section import Level, Section

DEFAULT_FRAMES = 1000
DERIVED = ("mu", "xi", "energy", "work", "work_done", "momentum", "group_error", "generator")
MEMORY_BYTES = 2**31
NUMBER, WHOLE_NUMBER = (int, float, np.number), (int, np.integer)
WHOLE = 1e-9  # a remainder below this fraction of a step is rounding


def check_system(system: LagrangianSystem) -> LagrangianSystem:
    """The system with its numbers in double precision, or an `InputError`."""
    leaves, structure = jax.tree_util.tree_flatten(system)
    if all([type(leaf) is np.ndarray and leaf.dtype == np.float64 and _is_finite(leaf) for leaf in leaves]):
        return system
    exact = [_double_leaf(system, i, leaf) for i, leaf in enumerate(leaves)]
    return system if all(map(operator.is_, leaves, exact)) else jax.tree.unflatten(structure, exact)


def check_reconstruct(
    reconstruct: bool, system: LagrangianSystem, sections: Mapping[str, Section], state: State, t: float
) -> None:
    """Refuse to leave out g where the momentum or a section needs it."""
    alone = is_euler_poincare(system) and system.total_force is None and system.constraint is None
    if not reconstruct and not alone:
        raise InputError(
            "simulate: reconstruct=False is for an EulerPoincareSystem without forces and constraints; the momentum "
            f"of {type(system).__name__} depends on its configuration. Leave reconstruct out."
        )
    if not reconstruct:
        nowhere = State(jax.tree.map(lambda leaf: np.full_like(leaf, np.nan), state.g), state.mu)
        for name, section in sections.items():
            here, there = (float(section.value(system, each, t)) for each in (state, nowhere))
            if np.isfinite(here) and not np.isfinite(there):
                raise InputError(
                    f"simulate: the section {name!r} depends on the configuration, which reconstruct=False does not "
                    "follow. Leave reconstruct out."
                )


def check_times(t0: float, t1: float, dt: float) -> tuple[float, float, int, float]:
    """(t0, h, whole steps, rest) of a run from t0 to t1 by steps of dt."""
    for name, value in (("t0", t0), ("t1", t1), ("dt", dt)):
        if type(value) is not float:  # as nearly all are: the rest takes longer
            check_double(name, value)
        if not isinstance(value, NUMBER) or isinstance(value, bool) or not math.isfinite(value):
            raise InputError(f"{name} = {value!r}; expected a finite number of seconds.")
    if not dt > 0:
        raise InputError(f"dt = {dt:g}; expected a step above 0 s.")
    if not t1 >= t0:
        raise InputError(f"t1 = {t1:g} lies before t0 = {t0:g}; expected t1 >= t0.")
    h = float(dt)
    ratio = (t1 - t0) / h
    if ratio > 2**52:
        raise InputError(f"dt = {dt:g} is too small for t1 - t0 = {t1 - t0:g}: {ratio:.3g} steps cannot be counted.")
    steps = round(ratio) if abs(ratio - round(ratio)) <= WHOLE * max(1.0, ratio * 1e-6) else math.floor(ratio)
    rest = (t1 - t0) - steps * h
    return float(t0), h, steps, rest if rest > WHOLE * h * max(1.0, ratio * 1e-6) else 0.0


def check_cadence(save_every: int | None, output_every: int | None, steps: int) -> Cadence:
    """Whole numbers of steps between saved nodes, and between outputs that do not go with these."""
    saved = max(1, math.ceil(steps / DEFAULT_FRAMES)) if save_every is None else save_every
    for name, every in (("save_every", saved), ("output_every", 1 if output_every is None else output_every)):
        if not isinstance(every, WHOLE_NUMBER) or isinstance(every, bool) or every < 1:
            raise InputError(f"{name} = {every!r}; expected a whole number of steps, at least 1.")
    return Cadence(int(saved), None if output_every is None else int(output_every))


def check_output_every(output_every: Any, outputs: Mapping[str, Any] | None) -> None:
    """Refuse a cadence of outputs where there are none."""
    if output_every is not None and not outputs:
        raise InputError(f"output_every = {output_every!r} is for `outputs`, and none are given; leave it out.")


def check_names(system: LagrangianSystem, outputs: Mapping[str, Any], others: Collection[str] = ()) -> None:
    """Refuse outputs with the name of something else that a run has, which would take its place or lose its own; and
    names that a file cannot have."""
    if not outputs:
        return
    known = labels(system)
    dims = {dim for label in known.values() for dim in label.dims}
    taken = {*known, *dims, *LETTERS, *DERIVED, "time", "output_time", "crossing", "run", "node", "joint", *others}
    for name in outputs:
        if name in taken or name.startswith("crossing_"):
            raise InputError(f"outputs: {name!r} is the name of something that every run has; choose another.")
        if not re.fullmatch(r"\w[\w.-]*", name) or name.startswith("__"):
            raise InputError(f"outputs: {name!r}; expected a name of letters, digits, '_', '-' and '.'.")


def check_levels(levels: Mapping[str, Level]) -> None:
    """Refuse sections whose function is no number where a run, or one of many, begins: crossings would be missed."""
    for name, level in levels.items():
        if np.isnan(np.asarray(level.value)).any():
            raise InputError(
                f"sections[{name!r}] is NaN at the initial state; expected a number wherever the motion comes, or no "
                "crossing is seen there."
            )


def check_memory(plan: Plan, frame: Any) -> None:
    """Refuse to hold more nodes, or more outputs, in memory than is sensible."""
    parts = {"save_every": ("saved nodes", plan.cadence.save, frame)}
    if plan.cadence.output is not None:
        parts["save_every"] = ("saved nodes", plan.cadence.save, frame._replace(outputs={}))
        parts["output_every"] = ("rows of outputs", plan.cadence.output, frame.outputs)
    for option, (what, every, row) in parts.items():
        rows = (plan.last - plan.first) // every + 2
        size = 8 * rows * sum([leaf.size for leaf in jax.tree.leaves(row)])
        if size > MEMORY_BYTES:
            enough = math.ceil(every * size / MEMORY_BYTES)
            raise InputError(
                f"{rows} {what} would take {size / 2**30:.1f} GiB of memory; save fewer ({option}={enough}), or write "
                "the run to disk as it goes (out='run.zarr')."
            )


def _is_finite(leaf: Any) -> bool:
    """Whether all numbers are finite: a sum of squares that is finite says so in half the time."""
    return math.isfinite(np.vdot(leaf, leaf)) or bool(np.isfinite(leaf).all())


def _double_leaf(system: LagrangianSystem, number: int, leaf: Any) -> Any:
    if isinstance(leaf, float):
        leaf = np.float64(leaf)
    if not isinstance(leaf, (np.ndarray, np.generic, jax.Array)):
        return leaf
    if leaf.dtype == np.float64 and _is_finite(leaf):
        return np.asarray(leaf)
    if not np.issubdtype(leaf.dtype, np.floating):
        return leaf
    name = f"{type(system).__name__}{jax.tree_util.keystr(jax.tree.leaves_with_path(system)[number][0])}"
    check_double(name, leaf)
    raise InputError(f"{name} holds NaN or infinite values; give finite numbers.")
