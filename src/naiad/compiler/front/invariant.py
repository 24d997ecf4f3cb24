"""What a loop computes anew in every round from values that do not change: if it is heavy, it is computed before.

Single numbers and small arrays are found by the builder, node by node. A loop that might not end stays where it is.
"""

import functools
from typing import Any, NamedTuple

from jax.extend import core

from naiad.compiler.front.jaxprs import has_loops

HEAVY = {"lu", "triangular_solve"}


class Divided(NamedTuple):
    """What comes before a loop, of those arguments of its body that do not change, and the body, whose first arguments
    are the results of that."""

    before: core.Jaxpr
    body: core.Jaxpr
    arguments: tuple[int, ...]


@functools.lru_cache(maxsize=1024)
def divided(jaxpr: core.Jaxpr, changes: tuple[bool, ...]) -> Divided | None:
    """The body of a loop in two, given which of its arguments change; None if nothing heavy comes before it."""
    steady = {variable for variable, moves in zip(jaxpr.invars, changes, strict=True) if not moves}
    steady.update(jaxpr.constvars)
    early: list[Any] = []
    for eqn in jaxpr.eqns:
        known = all(isinstance(atom, core.Literal) or atom in steady for atom in eqn.invars)
        if known and not eqn.effects and not has_loops(eqn, ("while",)):
            early.append(eqn)
            steady.update(eqn.outvars)
    if not any(eqn.primitive.name in HEAVY or has_loops(eqn) for eqn in early):
        return None
    gone = {id(eqn) for eqn in early}
    late = [eqn for eqn in jaxpr.eqns if id(eqn) not in gone]
    made = {variable for eqn in early for variable in eqn.outvars}
    wanted = dict.fromkeys(
        atom
        for atoms in [*(eqn.invars for eqn in late), jaxpr.outvars]
        for atom in atoms
        if not isinstance(atom, core.Literal) and atom in made
    )
    arguments = tuple(k for k, moves in enumerate(changes) if not moves)
    before = jaxpr.replace(invars=[jaxpr.invars[k] for k in arguments], outvars=list(wanted), eqns=early)
    return Divided(before, jaxpr.replace(invars=[*wanted, *jaxpr.invars], eqns=late), arguments)
