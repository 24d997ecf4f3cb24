"""What is known of a jaxpr before it is evaluated."""

import functools
import math
from typing import Any

import jax
from jax.extend import core

UNROLLED_OPERATIONS = 600  # a scan of known length that comes to so little is written out

INDEXING = {"dynamic_slice", "dynamic_update_slice", "gather", "scatter", "scatter-add", "scatter_add"}


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


def indexed_arguments(jaxpr: core.Jaxpr) -> list[bool]:
    """Which arguments of a loop's body are read or written at an index that is not known."""
    marked = set()
    for eqn in jaxpr.eqns:
        if eqn.primitive.name in INDEXING:
            if not all(isinstance(atom, core.Literal) for atom in eqn.invars[1:]):
                marked.add(eqn.invars[0])
        elif eqn.primitive.name in ("jit", "pjit", "closed_call"):
            inner = eqn.params["jaxpr"].jaxpr
            marked |= {
                atom
                for atom, is_in in zip(eqn.invars, indexed_arguments(inner), strict=True)
                if is_in and not isinstance(atom, core.Literal)
            }
    return [variable in marked for variable in jaxpr.invars]


@functools.lru_cache(maxsize=4096)
def operations_of(jaxpr: core.Jaxpr) -> int:
    """About how many scalar operations a jaxpr makes."""
    total = 0
    for eqn in jaxpr.eqns:
        inner = _inside(eqn)
        total += sum(map(operations_of, inner))
        if eqn.primitive.name == "while":
            total += UNROLLED_OPERATIONS
        if not inner:
            avals: list[Any] = [v.aval for v in eqn.outvars]
            total += sum(math.prod(aval.shape) for aval in avals)
    return total


def stacks_of(jaxpr: core.Jaxpr) -> frozenset[int]:
    """The lengths of the scans that stay loops over rows, and those of what is left of their rows without the first or
    last."""
    found: set[int] = set()
    for eqn in jaxpr.eqns:
        for inner in _inside(eqn):
            found |= stacks_of(inner)
            length = eqn.params.get("length", 0)
            if _goes_through_rows(eqn) and length * operations_of(inner) > UNROLLED_OPERATIONS:
                found |= {length, length - 1}
    return frozenset(found)


def _goes_through_rows(eqn: Any) -> bool:
    """Whether an equation is a scan that reads or writes more than single numbers."""
    if eqn.primitive.name != "scan":
        return False
    consts, carried = eqn.params["num_consts"], eqn.params["num_carry"]
    return any(v.aval.ndim > 1 for v in [*eqn.invars[consts + carried :], *eqn.outvars[carried:]])


def _inside(eqn: Any) -> list[core.Jaxpr]:
    """The jaxprs of an equation."""
    leaves = jax.tree.leaves(list(eqn.params.values()), is_leaf=_is_jaxpr)
    return [getattr(leaf, "jaxpr", leaf) for leaf in leaves if _is_jaxpr(leaf)]


def _is_jaxpr(x: Any) -> bool:
    return isinstance(x, core.Jaxpr | core.ClosedJaxpr)
