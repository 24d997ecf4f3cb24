"""Branches: `cond` and `switch`."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from naiad.compiler.front.arrays import Lazy, Value
from naiad.compiler.front.rules import rule
from naiad.compiler.front.tracer import Tracer, known_kind
from naiad.compiler.ir.program import Node


@rule("cond", reads="branches", ignores="branches_platforms linear")
def _cond(tracer: Tracer, eqn: Any, index: Value, *inputs: Value) -> list[Value]:
    branches = eqn.params["branches"]
    chosen = index.item()
    if chosen.constant:
        branch = branches[int(min(max(chosen.value, 0), len(branches) - 1))]
        return tracer.evaluate(branch.jaxpr, branch.consts, inputs)
    settled = tracer.settled(inputs)
    for value in settled:
        for buffer in value.reads if isinstance(value, Lazy) else ():
            if not value.holders:
                tracer.arrays.before_change(buffer)
    return _choose(tracer, eqn, chosen, branches, settled)


def _choose(tracer: Tracer, eqn: Any, chosen: Node, branches: Sequence[Any], inputs: list[Value]) -> list[Value]:
    """The first branch where `chosen` is 0 (or less), else one of the others."""
    b, arrays = tracer.builder, tracer.arrays
    if len(branches) == 1:
        return tracer.evaluate(branches[0].jaxpr, branches[0].consts, inputs)
    first = b.op("not", chosen) if chosen.type == "b" else b.op("lt", chosen, b.integer(1))
    branch = b.begin_branch(first)
    b.begin_arm(branch, 0)
    yes = tracer.evaluate(branches[0].jaxpr, branches[0].consts, inputs)
    b.begin_arm(branch, 1)
    later = chosen if chosen.type == "b" else b.op("iadd", chosen, b.integer(-1))
    no = _choose(tracer, eqn, later, branches[1:], inputs)
    outputs: list[Value] = []
    yields: tuple[list[Node], list[Node]] = ([], [])
    places = []
    for one, other, variable in zip(yes, no, eqn.outvars, strict=True):
        if not isinstance(one, Lazy) and not isinstance(other, Lazy):
            yields[0].extend(one.reshape(-1))
            yields[1].extend(other.reshape(-1))
            outputs.append(one)
            places.append(None)
        elif (
            isinstance(one, Lazy) and isinstance(other, Lazy) and one.buffer is not None and one.buffer is other.buffer
        ):
            outputs.append(one)
            places.append(one.buffer)
        else:
            b.region = branch.region
            buffer = b.buffer(max(1, math.prod(variable.aval.shape)), known_kind(variable.aval.dtype, "a result"))
            for arm, value in enumerate((one, other)):
                b.begin_arm(branch, arm)
                arrays.fill(buffer, value)
            buffer.mutable = True
            outputs.append(one)
            places.append(buffer)
    results = iter(b.end_branch(branch, yields))
    final = []
    for value, place in zip(outputs, places, strict=True):
        if place is not None:
            place.version += 1
            final.append(arrays.whole(place, value.shape))
        else:
            array = np.empty(value.shape, object)
            array.reshape(-1)[:] = [next(results) for _ in range(value.size)]
            final.append(array)
    return final
