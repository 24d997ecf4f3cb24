"""Runs that were saved: what is known of them, whether it can be true, and whether it is this system's."""

import math
import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from naiad import io
from naiad.errors import InputError, RunWarning
from naiad.integrators import AbstractMethod, check_method, default_method
from naiad.mechanics import LagrangianSystem, identity, split_rows
from naiad.numerics.arguments import checked
from naiad.simulation.checkpoint import restored_carry
from naiad.simulation.checks import check_system
from naiad.simulation.monitor import Monitor
from naiad.simulation.noise import LARGEST_SEED
from naiad.simulation.outcome import Outcome
from naiad.simulation.parameters import described, difference
from naiad.simulation.record import STATISTICS
from naiad.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    import xarray as xr


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _finite(value: Any) -> bool:
    return _number(value) and math.isfinite(value)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _noise(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, Mapping) or not _count(value.get("used")):
        return False
    seed = value.get("seed")
    return seed is None or (_text(seed) and seed.isdecimal() and int(seed) <= LARGEST_SEED)


def _checkpoint(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("levels"), Mapping):
        return False
    names, every = value.get("outputs"), value.get("output_every")
    named = isinstance(names, list) and all(map(_text, names)) and _text(value.get("engine"))
    planned = _count(value.get("last")) and _finite(value.get("rest")) and value["rest"] >= 0
    cadence = (value.get("save_every"), 1 if every is None else every)
    return named and planned and all(map(_count, cadence)) and 0 not in cadence and _count(value.get("iterations"))


def _origin(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    parts = ("code", "made_with")
    return all(isinstance(value.get(part), Mapping) for part in parts) and "noise" in value


_EXPECTED = {
    "system": ("the name of a class", _text),
    "method": ("a text", _text),
    "outcome": (
        f"one of {', '.join(Outcome.__members__)}",
        lambda value: _text(value) and value in Outcome.__members__,
    ),
    "t0": ("a finite number", _finite),
    "dt": ("a finite number above 0", lambda value: _finite(value) and value > 0),
    "t": ("a finite number", _finite),
    "node": ("a whole number, not negative", _count),
    "steps": ("a whole number, not negative", _count),
    "statistics": (
        "the figures of the solver",
        lambda value: isinstance(value, Mapping) and all(map(_number, value.values())),
    ),
    "monitors": (
        f"{len(Monitor._fields)} numbers for each",
        lambda value: (
            isinstance(value, Mapping)
            and all(
                isinstance(v, list) and len(v) == len(Monitor._fields) and all(map(_number, v)) for v in value.values()
            )
        ),
    ),
    "sections": ("a list of names", lambda value: isinstance(value, list) and all(map(_text, value))),
    "noise": ("a seed and how much of it was used, or nothing", _noise),
    "carry": ("a list", lambda value: isinstance(value, list)),
}
_LATER = {
    "parameters": (
        "those of system and method",
        lambda value: isinstance(value, Mapping) and {"system", "method"} <= set(value),
    ),
    "t1": ("a finite number", _finite),
    "checkpoint": ("what is needed to go on", _checkpoint),
    "origin": ("what it was made with", _origin),
    "reconstruct": ("true or false", lambda value: isinstance(value, bool)),
}
"""What runs of the first format may lack."""


@checked
def load(
    path: str | os.PathLike[str], system: LagrangianSystem | None = None, method: AbstractMethod | None = None
) -> Trajectory:
    """The run that `save`, `simulate(out=...)` or a study wrote. System and method are code, and are given again (the
    method if it is not the default); their parameters are compared with those that were stored."""
    record = io.read(path)
    attributes = record.attrs.get("run", record.attrs)
    system, method = check_given("load", path, attributes, system, method)
    record.attrs = dict(attributes)
    _check_rows(path, record, system)
    restored_carry(attributes, system, method, str(path))
    return Trajectory(system, method, record)


def check_given(
    caller: str, path: Any, attributes: Any, system: LagrangianSystem | None, method: AbstractMethod | None
) -> tuple[LagrangianSystem, AbstractMethod]:
    """The system and the method with which a run goes on; an `InputError` unless the attributes are those of a run that
    was made with them."""
    if not isinstance(attributes, Mapping) or "carry" not in attributes:
        raise InputError(
            f"{path} holds arrays, but not one run that could be gone on with; naiad.io.read reads the arrays."
        )
    check_attributes(path, attributes)
    if system is None:
        raise InputError(
            f"{path} was made with the system {attributes['system']} and the method {attributes['method']}, which are "
            f"code and not stored; give both: {caller}(path, system, method)."
        )
    system = check_system(system)
    method = default_method(system) if method is None else method
    check_method(method, system, noise=True)
    _check_same(path, attributes, system, method)
    return system, method


def check_attributes(path: Any, attributes: Mapping[str, Any]) -> None:
    """Raise an `InputError` for an attribute that is missing, or cannot be what a run wrote."""
    expected = _EXPECTED | {name: each for name, each in _LATER.items() if name in attributes}
    for name, (words, holds) in expected.items():
        if name not in attributes:
            raise InputError(f"{path} is damaged (its attribute {name} is missing); restore it from a copy.")
        if not holds(attributes[name]):
            given = f"{attributes[name]!r:.60}"
            raise InputError(f"{path} is damaged ({name} is {given}; expected {words}); restore it from a copy.")
    if attributes["steps"] > attributes["node"]:
        raise InputError(f"{path} is damaged (more steps than nodes); restore it from a copy.")
    missing = [name for name in STATISTICS[:4] if name not in attributes["statistics"]]
    if missing:
        raise InputError(f"{path} is damaged (its statistics lack {missing[0]}); restore it from a copy.")


def _check_same(path: Any, attributes: Mapping[str, Any], system: LagrangianSystem, method: AbstractMethod) -> None:
    """Raise an `InputError` if the run was made with another system or method."""
    stored = attributes.get("parameters")
    given = {"system": type(system).__qualname__, "method": repr(method)}
    for kind in given if stored is None else ("system",):
        if attributes[kind] != given[kind]:
            raise InputError(
                f"{path} was made with the {kind} {attributes[kind]}, but {given[kind]} was given; "
                "give the one it was made with."
            )
    if stored is None:
        warnings.warn(
            f"{path} was written by an older naiad, without the parameters of its system: make sure that they are "
            "those that it was made with.",
            RunWarning,
            stacklevel=6,
        )
        return
    for kind, thing in (("system", system), ("method", method)):
        found = difference(stored[kind], described(thing))
        if found is not None:
            name, before, now = found
            what = f"the {kind} with {name} =" if name else f"the {kind}"
            raise InputError(f"{path} was made with {what} {before}, but {now} was given; give what it was made with.")


def _check_rows(path: Any, record: "xr.Dataset", system: LagrangianSystem) -> None:
    """Raise an `InputError` if the saved nodes are not those of a motion of the system."""
    group, whole = system.group, record.attrs.get("reconstruct", True)
    shapes = {"time": ()}
    if whole:
        leaves = jax.tree.leaves(identity(group))
        shapes |= {name: np.shape(leaf) for name, leaf in zip(group.names.element, leaves, strict=True)}
    parts = split_rows(group, np.zeros(group.dim))
    shapes |= {name: part.shape for name, part in zip(group.names.momentum, parts, strict=True)}
    rows = record.sizes.get("time", 0)
    for name, shape in shapes.items():
        if name not in record.variables or record[name].shape != (rows, *shape) or record[name].dtype != np.float64:
            raise InputError(
                f"{path} is damaged (it holds no {name} of a motion of {type(system).__name__}); restore it."
            )
    if not rows:
        raise InputError(f"{path} holds no saved node; its run was ended before it began: run again.")
