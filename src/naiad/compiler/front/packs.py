"""Short loops whose rounds have nothing to do with each other: each goes in a lane of vector registers, all at once."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.extend import core

from naiad.compiler.front.arrays import Arrays, Small, Value
from naiad.compiler.front.jaxprs import jaxprs_in, operations_of
from naiad.compiler.front.tracer import Tracer
from naiad.compiler.ir.program import Node

WIDEST = 16  # rounds that go side by side

SIMPLE = frozenset(
    name
    for row in (
        "add sub mul div neg max min abs sign sqrt rsqrt square integer_pow pow exp exp2 log log1p expm1 cbrt logistic",
        "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh floor ceil round is_finite",
        "select_n clamp lt le gt ge eq ne and or xor not add_any copy stop_gradient",
        "dot_general reduce_sum reduce_max reduce_min reduce_and reduce_or",
        "broadcast_in_dim reshape squeeze expand_dims transpose slice concatenate pad rev split stack unstack",
        "convert_element_type jit pjit closed_call custom_jvp_call custom_vjp_call",
    )
    for name in row.split()
)
"""Primitives whose rules make nothing but scalar operations of small arrays."""


def fits(arrays: Arrays, body: core.ClosedJaxpr, length: int, xs: Sequence[Small]) -> bool:
    """Whether the rounds of a loop that carries nothing are worth it: work enough for what goes into lanes and out; and
    whether they can be: no array in them lives in memory."""
    if not 1 < length <= WIDEST or not _simple(body.jaxpr) or any(map(arrays.is_large, _shapes(body.jaxpr))):
        return False
    packed = sum(1 for x in xs for place in np.ndindex(x.shape[1:]) if not _known(list(x[:, *place])))
    made: list[Any] = [variable.aval for variable in body.jaxpr.outvars]
    moved = packed + sum(math.prod(aval.shape) for aval in made)
    return _work(body.jaxpr) >= 2 * moved


def side_by_side(
    tracer: Tracer, body: core.ClosedJaxpr, length: int, consts: Sequence[Value], xs: Sequence[Small]
) -> list[Small]:
    """The rows that the rounds make."""
    b = tracer.builder
    packed = []
    for x in xs:
        row = np.empty(x.shape[1:], object)
        for place in np.ndindex(row.shape):
            row[place] = b.pack(list(x[:, *place]))
        packed.append(row)
    results = []
    for value in tracer.evaluate(body.jaxpr, body.consts, [*consts, *packed]):
        rows = np.empty((length, *value.shape), object)
        for place in np.ndindex(value.shape):
            for lane in range(length):
                rows[lane, *place] = b.lane(value[place], lane)
        results.append(rows)
    return results


@functools.lru_cache(maxsize=4096)
def _simple(jaxpr: core.Jaxpr) -> bool:
    return all(eqn.primitive.name in SIMPLE and all(map(_simple, jaxprs_in(eqn))) for eqn in jaxpr.eqns)


@functools.lru_cache(maxsize=4096)
def _shapes(jaxpr: core.Jaxpr) -> frozenset[tuple[int, ...]]:
    """Those of the arrays of a jaxpr."""
    atoms: list[Any] = [
        *jaxpr.constvars,
        *jaxpr.invars,
        *(atom for eqn in jaxpr.eqns for atom in (*eqn.invars, *eqn.outvars)),
    ]
    inside = (_shapes(inner) for eqn in jaxpr.eqns for inner in jaxprs_in(eqn))
    return frozenset(atom.aval.shape for atom in atoms).union(*inside)


@functools.lru_cache(maxsize=4096)
def _work(jaxpr: core.Jaxpr) -> int:
    """About how many operations a round has, counting sums of products by their terms."""
    terms = 0
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "dot_general":
            (over, _), _ = eqn.params["dimension_numbers"]
            factor: Any = eqn.invars[0].aval
            product: Any = eqn.outvars[0].aval
            terms += (math.prod(factor.shape[axis] for axis in over) - 1) * math.prod(product.shape)
        terms += sum(_work(inner) - operations_of(inner) for inner in jaxprs_in(eqn))
    return operations_of(jaxpr) + terms


def _known(nodes: Sequence[Node]) -> bool:
    """Whether it takes nothing to have these in lanes: constants, or all the same."""
    return all(node.constant or node is nodes[0] for node in nodes)
