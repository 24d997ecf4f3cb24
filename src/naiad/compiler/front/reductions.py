"""Primitives that combine elements: sums, extremes, running ones, and products of matrices."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from naiad.compiler.front.arrays import UNROLLED, Lazy, Value, kind
from naiad.compiler.front.elementwise import of_type
from naiad.compiler.front.rules import rule
from naiad.compiler.front.shapes import goes_lazy
from naiad.compiler.front.tracer import Tracer
from naiad.compiler.ir.operations import BOOL, FLOAT, INT
from naiad.compiler.ir.program import Node

CHAINS = 8  # partial sums of a long sum, which a processor adds to at once
ABREAST = 32  # sums that are in the making at once
LIGHT = 4  # operations of a term, above which its code is not repeated for each chain


def _reduction(name: str, floats: str, ints: str, bools: str, empty: Callable[[np.dtype], Any]) -> None:
    """Register a reduction by the operation on each type, and its value where there is nothing to reduce."""

    @rule(name, reads="axes")
    def reduce(tracer: Tracer, eqn: Any, x: Value) -> Value:
        dtype = eqn.outvars[0].aval.dtype
        op = {FLOAT: floats, INT: ints, BOOL: bools}[kind(dtype)]
        return _folded(tracer, eqn, x, eqn.params["axes"], lambda a, c: tracer.builder.op(op, a, c), empty(dtype))


def _lowest(dtype: np.dtype) -> Any:
    return {FLOAT: -np.inf, BOOL: False}[kind(dtype)] if kind(dtype) != INT else np.iinfo(dtype).min


def _highest(dtype: np.dtype) -> Any:
    return {FLOAT: np.inf, BOOL: True}[kind(dtype)] if kind(dtype) != INT else np.iinfo(dtype).max


_reduction("reduce_sum", "add", "iadd", "or", lambda dtype: 0)
_reduction("reduce_prod", "mul", "imul", "and", lambda dtype: 1)
_reduction("reduce_max", "max", "imax", "or", _lowest)
_reduction("reduce_min", "min", "imin", "and", _highest)
_reduction("reduce_and", "", "iand", "and", lambda dtype: True if kind(dtype) == BOOL else -1)
_reduction("reduce_or", "", "ior", "or", lambda dtype: 0)
_reduction("reduce_xor", "", "ixor", "xor", lambda dtype: 0)


def _folded(
    tracer: Tracer, eqn: Any, x: Value, axes: Sequence[int], combine: Callable[[Node, Node], Node], empty: Any
) -> Value:
    b, arrays, aval = tracer.builder, tracer.arrays, eqn.outvars[0].aval
    start = b.const(empty, kind(aval.dtype))
    if not isinstance(x, Lazy):
        rest = [k for k in range(x.ndim) if k not in axes]
        rows = np.transpose(x, (*axes, *rest)).reshape(math.prod(x.shape[k] for k in axes), *aval.shape)
        if not len(rows):
            return np.full(aval.shape, start, object)
        total = rows[0]
        for row in rows[1:]:
            total = np.frompyfunc(combine, 2, 1)(total, row)
        return total
    reduced = [x.shape[k] for k in axes]

    def joined(outer: Sequence[Node], inner: Sequence[Node]) -> list[Node]:
        index: list[Any] = [None] * len(x.shape)
        for k, i in zip(axes, inner, strict=True):
            index[k] = i
        left = iter(outer)
        return [next(left) if i is None else i for i in index]

    def term(outer: Sequence[Node], inner: Sequence[Node]) -> Node:
        return arrays.at(x, joined(outer, inner))

    return _accumulated(
        tracer, aval.shape, kind(aval.dtype), reduced, start, term, combine, chains=CHAINS if x.cost <= LIGHT else 1
    )


def _accumulated(
    tracer: Tracer,
    shape: Sequence[int],
    type: str,
    reduced: Sequence[int],
    start: Node,
    term: Callable[[Sequence[Node], Sequence[Node]], Node],
    combine: Callable[[Node, Node], Node],
    *,
    chains: int,
) -> Value:
    """The combination of term(outer, inner) over all inner indices, for every outer index of a shape; by some chains
    that do not wait for each other. `start` combined with a term is the term."""
    b, arrays = tracer.builder, tracer.arrays
    rest = tuple(reduced[1:])
    inside = rest if math.prod(rest) <= UNROLLED else ()  # short axes after a long one are written out
    outside = reduced[: len(reduced) - len(inside)]
    count = math.prod(outside)

    def together(outers: Sequence[Sequence[Node]]) -> list[Node]:
        totals = [start] * len(outers)

        def advanced(values: list[Node], position: Node) -> list[Node]:
            first = arrays.unflat(position, outside) if len(outside) > 1 else (position,) * len(outside)
            for index in np.ndindex(inside):
                inner = (*first, *(b.integer(i) for i in index))
                values = [combine(v, term(o, inner)) for v, o in zip(values, outers, strict=True)]
            return values

        if count <= UNROLLED:
            for position in range(count):
                totals = advanced(totals, b.integer(position))
            return totals

        width = len(outers)
        several = chains if width * chains <= ABREAST else 1

        def body(i: Node, values: list[Node]) -> list[Node]:
            first = b.op("imul", i, b.integer(several))
            rows = [values[k * width : (k + 1) * width] for k in range(several)]
            return [v for k, row in enumerate(rows) for v in advanced(row, b.op("iadd", first, b.integer(k)))]

        totals = b.count(count // several, totals * several, body)
        totals = functools.reduce(
            lambda a, c: [combine(x, y) for x, y in zip(a, c, strict=True)],
            [totals[k * width : (k + 1) * width] for k in range(several)],
        )
        for position in range(count - count % several, count):
            totals = advanced(totals, b.integer(position))
        return totals

    if not tracer.arrays.is_large(shape):
        outers = [[b.integer(i) for i in index] for index in np.ndindex(tuple(shape))]
        result = np.empty(shape, object)
        result.reshape(-1)[:] = together(outers) if outers else []
        return result
    buffer = b.buffer(math.prod(shape), type)
    arrays.each(shape, lambda index: b.store(buffer, arrays.flat(index, shape), together([index])[0]))
    return arrays.whole(buffer, shape)


def _extreme(better: Callable[[Any, Node, Node], Node]) -> Callable[..., Value]:
    def find(tracer: Tracer, eqn: Any, x: Value) -> Value:
        b, axis = tracer.builder, eqn.params["axes"][0]
        x = tracer.arrays.small(x)
        rows: Any = np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)
        best: Any = rows[0]
        where: Any = np.full(rows[0].shape, b.integer(0), object)
        for position in range(1, len(rows)):
            wins: Any = np.frompyfunc(lambda new, old: better(b, new, old), 2, 1)(rows[position], best)
            best = np.frompyfunc(b.select, 3, 1)(wins, rows[position], best)
            where = np.frompyfunc(b.select, 3, 1)(wins, np.full(where.shape, b.integer(position), object), where)
        return where

    return find


def _beats(b: Any, larger: Node, smaller: Node, new: Node, old: Node) -> Node:
    """Whether a new value wins: strictly, so that the first of equals stays; not-a-number wins once."""
    wins = b.op("lt", smaller, larger)
    if new.type != FLOAT:
        return wins
    return b.op("and", b.op("eq", old, old), b.op("or", wins, b.op("ne", new, new)))


rule("argmax", reads="axes")(_extreme(lambda b, new, old: _beats(b, new, old, new, old)))
rule("argmin", reads="axes")(_extreme(lambda b, new, old: _beats(b, old, new, new, old)))


def _cumulative(floats: str, ints: str) -> Callable[..., Value]:
    def run(tracer: Tracer, eqn: Any, x: Value) -> Value:
        b, axis = tracer.builder, eqn.params["axis"]
        name = floats if kind(eqn.outvars[0].aval.dtype) == FLOAT else ints
        if isinstance(x, Lazy):
            return _cumulative_loop(tracer, eqn, x, name)
        rows = list(np.moveaxis(x, axis, 0))
        order = range(len(rows) - 2, -1, -1) if eqn.params["reverse"] else range(1, len(rows))
        step = 1 if eqn.params["reverse"] else -1
        for k in order:
            rows[k] = np.frompyfunc(lambda a, c: b.op(name, a, c), 2, 1)(rows[k + step], rows[k])
        return np.moveaxis(np.stack(rows), 0, axis) if rows else x

    return run


def _cumulative_loop(tracer: Tracer, eqn: Any, x: Lazy, name: str) -> Lazy:
    b, arrays, axis = tracer.builder, tracer.arrays, eqn.params["axis"]
    length, rest = x.shape[axis], [n for k, n in enumerate(x.shape) if k != axis]
    buffer = b.buffer(math.prod(x.shape), x.type)
    dtype = eqn.outvars[0].aval.dtype
    empty = {"add": 0, "mul": 1, "max": _lowest(dtype), "min": _highest(dtype)}[name.removeprefix("i")]

    def along(outer):
        def body(i: Node, values: list[Node]) -> list[Node]:
            k = b.op("isub", b.integer(length - 1), i) if eqn.params["reverse"] else i
            index = (*outer[:axis], k, *outer[axis:])
            total = b.op(name, values[0], x.at(index))
            b.store(buffer, arrays.flat(index, x.shape), total)
            return [total]

        b.count(length, [b.const(empty, x.type)], body)

    arrays.each(rest, along)
    return arrays.whole(buffer, x.shape)


for _name, _floats in {"cumsum": "add", "cumprod": "mul", "cummax": "max", "cummin": "min"}.items():
    rule(_name, reads="axis reverse")(_cumulative(_floats, f"i{_floats}"))


@rule("dot_general", reads="dimension_numbers preferred_element_type")
def _dot_general(tracer: Tracer, eqn: Any, x: Value, y: Value) -> Value:
    x, y = (of_type(tracer, value, kind(eqn.outvars[0].aval.dtype)) for value in (x, y))
    (x_sum, y_sum), (x_batch, y_batch) = eqn.params["dimension_numbers"]
    b, arrays, aval = tracer.builder, tracer.arrays, eqn.outvars[0].aval
    type = kind(aval.dtype)
    x_free = [k for k in range(len(x.shape)) if k not in x_sum and k not in x_batch]
    y_free = [k for k in range(len(y.shape)) if k not in y_sum and k not in y_batch]
    zero = b.const(0, type)
    if not goes_lazy(tracer, eqn, x, y):
        left = np.transpose(x, (*x_batch, *x_free, *x_sum))
        right = np.transpose(y, (*y_batch, *y_free, *y_sum))
        batch = left.shape[: len(x_batch)]
        count, terms = math.prod(batch), math.prod(x.shape[k] for k in x_sum)
        left = left.reshape(count, math.prod(x.shape[k] for k in x_free), terms)
        right = right.reshape(count, math.prod(y.shape[k] for k in y_free), terms)
        product = np.empty((count, left.shape[1], right.shape[1]), object)
        for k, i, j in np.ndindex(product.shape):
            total = zero
            for a, c in zip(left[k, i], right[k, j], strict=True):
                total = b.add(total, b.mul(a, c))
            product[k, i, j] = total
        return product.reshape(aval.shape)
    x, y = tracer.settled([x, y])

    def place(shape, batch, free, summed, outer, first_free, inner):
        index: list[Any] = [None] * len(shape)
        for position, k in enumerate(batch):
            index[k] = outer[position]
        for position, k in enumerate(free):
            index[k] = outer[first_free + position]
        for position, k in enumerate(summed):
            index[k] = inner[position]
        return index

    def term(outer, inner):
        first = len(x_batch)
        a = arrays.at(x, place(x.shape, x_batch, x_free, x_sum, outer, first, inner))
        c = arrays.at(y, place(y.shape, y_batch, y_free, y_sum, outer, first + len(x_free), inner))
        return b.mul(a, c)

    return _accumulated(tracer, aval.shape, type, [x.shape[k] for k in x_sum], zero, term, b.add, chains=CHAINS)
