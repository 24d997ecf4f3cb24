"""From a jaxpr to a scalar program: evaluates it over arrays of nodes, keeping its loops and branches."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.extend import core

# These have the rules, which they register.
from naiad.compiler.front import branches, calls, elementwise, indexing, linear, loops, reductions, shapes  # noqa: F401
from naiad.compiler.front.arrays import Index, Lazy, Value
from naiad.compiler.front.jaxprs import stacks_of
from naiad.compiler.front.tracer import Tracer, known_kind
from naiad.compiler.ir.program import Buffer, Node, Program, Slot


def trace(
    closed: core.ClosedJaxpr,
    known: Sequence[np.ndarray | None] | None = None,
    *,
    platform: str = "",
    most_scalars: int = 1024,
    longest: int | None = None,
    packs: bool = False,
) -> Program:
    """The scalar program of a jaxpr; `known` marks the elements of its arguments that are 0 or 1 (others with -1),
    `platform` is where it will run, for functions that have variants, and arrays of more elements than `most_scalars`
    live in memory; it may have `packs`. One of more operations than `longest`, dead ones too, is refused
    (`TooLong`)."""
    tracer = Tracer(stacks_of(closed.jaxpr), platform, most_scalars, longest, packs)
    b, arrays = tracer.builder, tracer.arrays
    inputs, in_size = _slots(closed.in_avals)
    args: list[Value] = []
    for slot, marks in zip(inputs, known or [None] * len(inputs), strict=True):
        type = known_kind(np.dtype(slot.dtype), "an argument")
        if arrays.is_large(slot.shape):
            whole = arrays.whole(Buffer("in", slot.offset, math.prod(slot.shape), type, region=b.root), slot.shape)
            if marks is not None:
                whole.at = _folded(tracer, whole, marks)
            args.append(whole)
        else:
            nodes = np.empty(slot.shape, object)
            for position, index in enumerate(np.ndindex(slot.shape)):
                mark = -1 if marks is None else marks[index]
                nodes[index] = b.const(mark, type) if mark >= 0 else b.input(slot.offset + position, type)
            args.append(nodes)
    with np.errstate(all="ignore"):
        values = tracer.evaluate(closed.jaxpr, closed.consts, args)
    outputs, out_size = _slots(closed.out_avals)
    results: list[tuple[int, Node]] = []
    for slot, value in zip(outputs, values, strict=True):
        if isinstance(value, Lazy):
            size, type = math.prod(slot.shape), known_kind(np.dtype(slot.dtype), "a result")
            if value.buffer is not None and value.buffer.space == "work" and value.buffer.size == size:
                value.buffer.space, value.buffer.offset = "out", slot.offset  # it was made where it is wanted
            else:
                arrays.fill(Buffer("out", slot.offset, size, type, region=b.root), value)
        else:
            results += [(slot.offset + i, node) for i, node in enumerate(value.reshape(-1))]
    return Program(b.root, inputs, outputs, results, b.tables, in_size, out_size, b.work_size)


def _folded(tracer: Tracer, whole: Lazy, marks: np.ndarray) -> Callable[[Index], Node]:
    """The elements of a large array, of which those are constants that are the same 0 or 1 in every row."""
    alike, read = np.where(np.all(marks == marks[0], axis=0), marks[0], -1), whole.at

    def at(index: Index) -> Node:
        place = index[1:]
        mark = alike[tuple(i.value for i in place)] if all(i.constant for i in place) else -1
        return tracer.builder.const(mark, whole.type) if mark >= 0 else read(index)

    return at


def _slots(avals: Sequence[Any]) -> tuple[list[Slot], int]:
    slots, offset = [], 0
    for aval in avals:
        slots.append(Slot(tuple(aval.shape), np.dtype(aval.dtype).name, offset))
        offset += math.prod(aval.shape)
    return slots, offset
