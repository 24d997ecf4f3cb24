"""What a function computes twice from the same values, by loops: small arrays are the same nodes in any case."""

import functools
import hashlib
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.extend import core

from naiad.compiler.front.arrays import Lazy
from naiad.compiler.front.jaxprs import has_loops, is_straight
from naiad.compiler.front.rules import RULES

_NEW = itertools.count()  # what is like nothing else


def without_repeats(jaxpr: core.Jaxpr, consts: Sequence[Any]) -> core.Jaxpr:
    """The jaxpr, where of equal equations the first gives its results for all, if loops are among them."""
    if is_straight(jaxpr) or sum(map(has_loops, jaxpr.eqns)) < 2:
        return jaxpr
    return _without_repeats(jaxpr, tuple(map(_constant, consts)))


@functools.lru_cache(maxsize=1024)
def _without_repeats(jaxpr: core.Jaxpr, consts: tuple[Any, ...]) -> core.Jaxpr:
    forms, first = _forms(jaxpr, consts), dict[Any, Any]()
    repeats = [eqn for eqn, form in zip(jaxpr.eqns, forms, strict=True) if first.setdefault(form, eqn) is not eqn]
    if not any(map(has_loops, repeats)):
        return jaxpr
    instead: dict[Any, Any] = {}
    for eqn, form in zip(jaxpr.eqns, forms, strict=True):
        if first[form] is not eqn:
            instead.update(zip(eqn.outvars, first[form].outvars, strict=True))

    def renamed(atoms: Sequence[Any]) -> list[Any]:
        return [atom if isinstance(atom, core.Literal) else instead.get(atom, atom) for atom in atoms]

    left = [eqn.replace(invars=renamed(eqn.invars)) for eqn in first.values()]
    return jaxpr.replace(eqns=left, outvars=renamed(jaxpr.outvars))


def _forms(jaxpr: core.Jaxpr, consts: Sequence[Any]) -> list[int]:
    """A number for each equation, the same for those that do the same with the same values."""
    values = dict(zip(jaxpr.constvars, consts, strict=True)) | _places(jaxpr.invars)
    found = []
    for eqn in jaxpr.eqns:
        given = tuple(_constant(atom.val) if isinstance(atom, core.Literal) else values[atom] for atom in eqn.invars)
        made = tuple(map(_form, eqn.outvars))
        found.append(_number((eqn.primitive.name, _does(eqn), given, made)))
        values.update(_places(eqn.outvars, found[-1]))
    return found


def _does(eqn: Any) -> Any:
    """The parameters on which the results depend."""
    if eqn.primitive.name not in RULES or eqn.effects:
        return next(_NEW)
    reads = RULES[eqn.primitive.name].reads
    return tuple((name, _parameter(value)) for name, value in sorted(eqn.params.items()) if name in reads)


def _parameter(value: Any) -> Any:
    if isinstance(value, core.ClosedJaxpr):
        return _whole(value.jaxpr, tuple(map(_constant, value.consts)))
    if isinstance(value, core.Jaxpr):
        return _whole(value, ())
    if isinstance(value, tuple | list):
        return type(value), tuple(map(_parameter, value))
    try:
        hash(value)
    except TypeError:
        return next(_NEW)
    return type(value), value


@functools.lru_cache(maxsize=4096)
def _whole(jaxpr: core.Jaxpr, consts: tuple[Any, ...]) -> int:
    """A number for a jaxpr, the same for those that do the same."""
    forms, values = _forms(jaxpr, consts), dict(zip(jaxpr.constvars, consts, strict=True)) | _places(jaxpr.invars)
    for eqn, form in zip(jaxpr.eqns, forms, strict=True):
        values.update(_places(eqn.outvars, form))
    results = tuple(_constant(a.val) if isinstance(a, core.Literal) else values[a] for a in jaxpr.outvars)
    return _number((tuple(map(_form, jaxpr.invars)), results))


def _form(variable: Any) -> tuple[Any, Any]:
    return variable.aval.shape, variable.aval.dtype


def _places(variables: Sequence[Any], form: int = -1) -> dict[Any, Any]:
    """What stands for the arguments of a jaxpr, or the results of an equation."""
    return {variable: (form, k) for k, variable in enumerate(variables)}


def _constant(value: Any) -> Any:
    if isinstance(value, Lazy):
        return next(_NEW)
    array = np.asarray(value)
    return array.shape, array.dtype, hashlib.sha256(array.tobytes()).digest()


@functools.lru_cache(maxsize=2**17)
def _number(form: Any) -> int:
    return next(_NEW)
