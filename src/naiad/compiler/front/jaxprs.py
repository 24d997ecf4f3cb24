"""What is known of a jaxpr before it is evaluated."""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend import core

UNROLLED_OPERATIONS = 600  # a scan of known length that comes to so little is written out

CALLS = ("jit", "pjit", "closed_call")
LOOPS = ("while", "scan", "cond")
_PLAIN = (type(None), bool, int, float, str, np.dtype, type(np.dtype(float)))  # of which no jaxpr is one
INDEXING = {  # the arguments that are indices
    "dynamic_slice": slice(1, None),
    "dynamic_update_slice": slice(2, None),
    "gather": slice(1, 2),
    **dict.fromkeys(("scatter", "scatter-add", "scatter_add"), slice(1, 2)),
}


def uses_of(jaxpr: core.Jaxpr) -> tuple[dict[Any, int], dict[Any, int]]:
    """Where each variable is used last, and how often it is used."""
    last: dict[Any, int] = {}
    count: dict[Any, int] = {}
    for here, atoms in enumerate([*(eqn.invars for eqn in jaxpr.eqns), jaxpr.outvars]):
        for atom in atoms:
            if not isinstance(atom, core.Literal):
                last[atom] = here
                count[atom] = count.get(atom, 0) + 1
    return last, count


def indexed_arguments(jaxpr: core.Jaxpr, constant: Sequence[bool]) -> list[bool]:
    """Which arguments of a loop's body are read or written at an index that is not known, given which are constants."""
    marked = set()
    known = {*jaxpr.constvars, *(v for v, is_in in zip(jaxpr.invars, constant, strict=True) if is_in)}
    for eqn in jaxpr.eqns:
        fixed = [isinstance(atom, core.Literal) or atom in known for atom in eqn.invars]
        if all(fixed):
            known |= set(eqn.outvars)
        name = eqn.primitive.name
        if name in INDEXING and not all(fixed[INDEXING[name]]):
            marked.add(eqn.invars[0])
        elif name in CALLS:
            inner = indexed_arguments(_called(eqn), fixed)
            within = zip(eqn.invars, inner, strict=True)
            marked |= {atom for atom, is_in in within if is_in and not isinstance(atom, core.Literal)}
    return [variable in marked for variable in jaxpr.invars]


@functools.lru_cache(maxsize=4096)
def operations_of(jaxpr: core.Jaxpr) -> int:
    """About how many scalar operations a jaxpr makes."""
    total = 0
    for eqn in jaxpr.eqns:
        inner = jaxprs_in(eqn)
        total += sum(map(operations_of, inner))
        if eqn.primitive.name == "while":
            total += UNROLLED_OPERATIONS
        if not inner:
            avals: list[Any] = [v.aval for v in eqn.outvars]
            total += sum(math.prod(aval.shape) for aval in avals)
    return total


def is_straight(jaxpr: core.Jaxpr) -> bool:
    """Whether a jaxpr has neither loops nor branches."""
    return not _loops_within(jaxpr, LOOPS)


def has_loops(eqn: Any, kinds: tuple[str, ...] = LOOPS) -> bool:
    """Whether an equation is a loop or a branch, or has one within."""
    return eqn.primitive.name in kinds or any(_loops_within(jaxpr, kinds) for jaxpr in jaxprs_in(eqn))


@functools.lru_cache(maxsize=4096)
def _loops_within(jaxpr: core.Jaxpr, kinds: tuple[str, ...]) -> bool:
    return any(has_loops(eqn, kinds) for eqn in jaxpr.eqns)


def rows_passed_on(jaxpr: core.Jaxpr, leaving: Sequence[bool]) -> set[Any]:
    """The arrays in the body of a loop that nothing looks at but loops within, which make them or go through them by
    rows; `leaving` says which results of the body are rows of an array again.

    A gradient through a loop in a loop keeps in such arrays what the inner one has to know on its way back.
    """
    passed: set[Any] = set()
    used = _variables(atom for atom, leaves in zip(jaxpr.outvars, leaving, strict=True) if not leaves)
    for eqn in reversed(jaxpr.eqns):
        rows: set[Any] = set()
        others = eqn.invars
        if eqn.primitive.name == "scan" and stays_loop(eqn):
            consts, carried = scan_counts(eqn.params)
            rows = _variables([*eqn.invars[consts + carried :], *eqn.outvars[carried:]])
            others = eqn.invars[: consts + carried]
        elif eqn.primitive.name in CALLS:
            inner = _called(eqn)
            within = rows_passed_on(inner, [variable not in used for variable in eqn.outvars])
            pairs = [*zip([*eqn.invars, *eqn.outvars], [*inner.invars, *inner.outvars], strict=True)]
            rows = _variables(atom for atom, name in pairs if not isinstance(name, core.Literal) and name in within)
            others = [atom for atom in eqn.invars if isinstance(atom, core.Literal) or atom not in rows]
            passed |= within
        passed |= rows
        used |= _variables(others)
    return passed - used


def scan_counts(params: Mapping[str, Any]) -> tuple[int, int]:
    """How many of the arguments of a scan are constants, and how many after these are carried."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    consts, carried, _ = params["ft_in"].unpack()  # from JAX 0.11 on
    return len(consts), len(carried)


def stays_loop(scan: Any) -> bool:
    """Whether a scan over small arrays is not written out."""
    length = scan.params["length"]
    return length > 1 and length * operations_of(scan.params["jaxpr"].jaxpr) > UNROLLED_OPERATIONS


@functools.lru_cache(maxsize=4096)
def stacks_of(jaxpr: core.Jaxpr) -> frozenset[int]:
    """The lengths of the scans that stay loops over rows, and those of what is left of their rows without the first or
    last."""
    found: set[int] = set()
    for eqn in jaxpr.eqns:
        for inner in jaxprs_in(eqn):
            found |= stacks_of(inner)
            length = eqn.params.get("length", 0)
            if _goes_through_rows(eqn) and length * operations_of(inner) > UNROLLED_OPERATIONS:
                found |= {length, length - 1}
    return frozenset(found)


def _goes_through_rows(eqn: Any) -> bool:
    """Whether an equation is a scan that reads or writes more than single numbers."""
    if eqn.primitive.name != "scan":
        return False
    consts, carried = scan_counts(eqn.params)
    return any(v.aval.ndim > 1 for v in [*eqn.invars[consts + carried :], *eqn.outvars[carried:]])


def jaxprs_in(eqn: Any) -> list[core.Jaxpr]:
    """The jaxprs of an equation."""
    if eqn.primitive.name in CALLS:
        return [_called(eqn)]
    if all(map(_is_plain, eqn.params.values())):  # as most are, and it is seen sooner
        return []
    leaves = jax.tree.leaves(list(eqn.params.values()), is_leaf=_is_jaxpr)
    return [getattr(leaf, "jaxpr", leaf) for leaf in leaves if _is_jaxpr(leaf)]


def _called(call: Any) -> core.Jaxpr:
    """The jaxpr of one of the `CALLS`."""
    return (call.params["jaxpr"] if "jaxpr" in call.params else call.params["call_jaxpr"]).jaxpr


def _variables(atoms: Iterable[Any]) -> set[Any]:
    return {atom for atom in atoms if not isinstance(atom, core.Literal)}


def _is_plain(value: Any) -> bool:
    return type(value) in _PLAIN or (type(value) is tuple and all(type(part) in _PLAIN for part in value))


def _is_jaxpr(x: Any) -> bool:
    return isinstance(x, core.Jaxpr | core.ClosedJaxpr)
