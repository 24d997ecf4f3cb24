"""Loops: `while` and `scan` stay loops, but for short ones, which are written out."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from naiad.compiler.front.arrays import UNROLLED, Arrays, Index, Lazy, Small, Value, element_type, is_known
from naiad.compiler.front.invariant import divided
from naiad.compiler.front.jaxprs import indexed_arguments, is_straight, rows_passed_on, scan_counts, stays_loop
from naiad.compiler.front.packs import fits, side_by_side
from naiad.compiler.front.rules import rule
from naiad.compiler.front.tracer import Tracer, known_kind
from naiad.compiler.ir.operations import BOOL
from naiad.compiler.ir.program import Buffer, Node


@rule("while", reads="cond_jaxpr body_jaxpr cond_nconsts body_nconsts")
def _while(tracer: Tracer, eqn: Any, *inputs: Value) -> list[Value]:
    b, params = tracer.builder, eqn.params
    test, body = params["cond_jaxpr"], params["body_jaxpr"]
    m, n = params["cond_nconsts"], params["body_nconsts"]
    unchanged = [a is c for a, c in zip(body.jaxpr.invars[n:], body.jaxpr.outvars, strict=True)]
    settled = tracer.settled(inputs)
    test_consts, body_consts, inits = settled[:m], settled[m : m + n], settled[m + n :]
    inner, early = body.jaxpr, list[Value]()
    apart = divided(body.jaxpr, (*(False for _ in body_consts), *(not same for same in unchanged)))
    if apart is not None:
        inner, given = apart.body, [*body_consts, *inits]
        with _held(settled):
            early = tracer.settled(tracer.evaluate(apart.before, body.consts, [given[k] for k in apart.arguments]))
    body_consts, n = [*early, *body_consts], n + len(early)
    kept = [init for init, same in zip(inits, unchanged, strict=True) if same]
    indexed = indexed_arguments(inner, [*map(is_known, body_consts), *(False for _ in inits)])
    moving = [(init, is_in) for init, same, is_in in zip(inits, unchanged, indexed[n:], strict=True) if not same]

    def merge(changing: Sequence[Value]) -> list[Value]:
        changing_left, kept_left = iter(changing), iter(kept)
        return [next(kept_left if same else changing_left) for same in unchanged]

    with _held([*test_consts, *body_consts, *kept]):
        carry = _Carry(tracer, [init for init, _ in moving], [_worth_memory(*pair) for pair in moving])
        body_consts = _placed(tracer, body_consts, indexed[:n])
        loop = b.begin_loop(carry.scalars)
        values = merge(carry.arrays_of(loop.params))
        with _held(values):
            predicate = tracer.evaluate(test.jaxpr, test.consts, [*test_consts, *values])[0]
        if predicate.shape:
            (predicate,) = tracer.settled([predicate])
        b.begin_body(loop, _any(tracer, predicate))
        values = merge(carry.arrays_of(loop.params))
        with _held(values if predicate.shape else []):
            outputs = tracer.evaluate(inner, body.consts, [*body_consts, *values])
            if predicate.shape:
                outputs = [_where_on(tracer, predicate, new, old) for new, old in zip(outputs, values, strict=True)]
            yields = carry.yields([value for value, same in zip(outputs, unchanged, strict=True) if not same])
        results = b.end_loop(loop, yields)
        carry.finished()
    return merge(carry.arrays_of(results))


def _any(tracer: Tracer, predicate: Value) -> Node:
    """Whether a loop goes on: a batch of loops goes on while any of them does."""
    b, arrays = tracer.builder, tracer.arrays
    if not isinstance(predicate, Lazy):
        return functools.reduce(lambda a, c: b.op("or", a, c), predicate.reshape(-1), b.const(False, BOOL))

    def body(i: Node, found: list[Node]) -> list[Node]:
        return [b.op("or", found[0], predicate.at(arrays.unflat(i, predicate.shape)))]

    return b.count(math.prod(predicate.shape), [b.const(False, BOOL)], body)[0]


def _where_on(tracer: Tracer, predicate: Value, new: Value, old: Value) -> Value:
    """The new values of those loops of a batch that go on, the old ones of the others."""
    b, at, axes = tracer.builder, tracer.arrays.at, len(predicate.shape)

    def element(index: Sequence[Node]) -> Node:
        return b.select(at(predicate, index[:axes]), at(new, index), at(old, index))

    chosen = tracer.arrays.lazy(old.shape, element_type(old), element, predicate, new, old)
    return chosen if isinstance(old, Lazy) else tracer.arrays.small(chosen)


@rule("scan", reads="jaxpr length num_consts num_carry ft_in reverse", ignores="unroll linear _split_transpose ft_out")
def _scan(tracer: Tracer, eqn: Any, *inputs: Value) -> list[Value]:
    b, arrays, params = tracer.builder, tracer.arrays, eqn.params
    body, length, (m, n) = params["jaxpr"], params["length"], scan_counts(params)
    order = range(length - 1, -1, -1) if params["reverse"] else range(length)
    slices = body.jaxpr.invars[m + n :]
    stacked = [variable.aval for variable in eqn.outvars[n:]]
    small = not any(isinstance(value, Lazy) for value in inputs) and not any(arrays.is_large(a.shape) for a in stacked)
    if small and not n and tracer.packs and fits(arrays, body, length, inputs[m:]):
        return side_by_side(tracer, body, length, inputs[:m], inputs[m:])
    if not length or (small and not stays_loop(eqn)):
        return _written_out(tracer, body, list(inputs[:m]), list(inputs[m : m + n]), inputs[m + n :], order, stacked)
    settled = tracer.settled(inputs)
    consts, inits, xs = settled[:m], settled[m : m + n], settled[m + n :]
    indexed = indexed_arguments(body.jaxpr, [*map(is_known, consts), *(False for _ in (*inits, *xs))])
    tracer.passed_on |= rows_passed_on(body.jaxpr, [False] * n + [True] * len(stacked))
    with _held([*consts, *xs]):
        consts = _placed(tracer, consts, indexed[:m])
        rows = [x if isinstance(x, Lazy) else _stacked(arrays, x) for x in xs]
        carry = _Carry(tracer, inits, [_worth_memory(v, i) for v, i in zip(inits, indexed[m:], strict=False)])
        buffers = [b.buffer(max(1, math.prod(aval.shape)), known_kind(aval.dtype, "a result")) for aval in stacked]
        alike = is_straight(body.jaxpr) and not any(isinstance(value, Lazy) for value in carry.values)
        by_columns = [alike and arrays.is_tall(aval.shape) for aval in stacked]

        def step(i: Node, nodes: list[Node]) -> list[Node]:
            position = b.op("isub", b.integer(length - 1), i) if params["reverse"] else i
            elements = [_row(tracer, row, position, variable) for row, variable in zip(rows, slices, strict=True)]
            outputs = tracer.evaluate(body.jaxpr, body.consts, [*consts, *carry.arrays_of(nodes), *elements])
            for buffer, value, apart in zip(buffers, outputs[n:], by_columns, strict=True):
                if apart:
                    arrays.fill_row(buffer, value, position, length)
                else:
                    arrays.fill(buffer, value, b.op("imul", position, b.integer(math.prod(value.shape))))
            return carry.yields(outputs[:n])

        results = b.count(length, carry.scalars, step)
        carry.finished()
    ys = [
        arrays.columns(buffer, aval.shape) if apart else arrays.whole(buffer, aval.shape)
        for buffer, aval, apart in zip(buffers, stacked, by_columns, strict=True)
    ]
    far = [
        length > UNROLLED or arrays.is_large(y.shape) or v in tracer.passed_on
        for y, v in zip(ys, eqn.outvars[n:], strict=True)
    ]
    return [
        *carry.arrays_of(results),
        *(y if in_memory else arrays.small(y) for y, in_memory in zip(ys, far, strict=True)),
    ]


def _written_out(tracer, body, consts, carry, xs, order, stacked) -> list[Value]:
    collected: list[list[Value]] = [[] for _ in stacked]
    for i in order:
        outputs = tracer.evaluate(body.jaxpr, body.consts, [*consts, *carry, *(x[i, ...] for x in map(np.asarray, xs))])
        carry = outputs[: len(carry)]
        for rows, row in zip(collected, outputs[len(carry) :], strict=True):
            rows.append(row)
    if order.step < 0:
        collected = [rows[::-1] for rows in collected]
    return [
        *carry,
        *(
            np.stack(rows) if rows else np.empty(aval.shape, object)
            for rows, aval in zip(collected, stacked, strict=True)
        ),
    ]


def _stacked(arrays: Arrays, x: Small) -> Lazy:
    """An array that a loop goes through row by row, in memory; what is the same in all rows is not read from there."""
    placed = arrays.in_memory(x)

    def at(index: Index) -> Node:
        place = index[1:]
        if not all(i.constant for i in place):
            return placed.at(index)
        column = x[:, *(i.value for i in place)]
        return column[0] if len(set(column)) == 1 else placed.at(index)

    return arrays.lazy(x.shape, element_type(x), at, placed, view=True)


def _row(tracer: Tracer, rows: Lazy, position: Node, variable: Any) -> Value:
    arrays, shape = tracer.arrays, variable.aval.shape
    row = arrays.lazy(shape, rows.type, lambda index: rows.at((position, *index)), rows, view=True)
    return row if arrays.is_large(shape) or variable in tracer.passed_on else arrays.small(row)


class _Carry:
    """What goes round a loop: the elements of small arrays as parameters, large arrays in buffers that change."""

    def __init__(self, tracer: Tracer, values: Sequence[Value], indexed: Sequence[bool]):
        self.tracer = tracer
        self._buffers: set[Buffer] = set()
        self.values = [self._prepared(v, large) for v, large in zip(values, indexed, strict=True)]
        self.scalars = [node for v in self.values if not isinstance(v, Lazy) for node in v.reshape(-1)]

    def _prepared(self, value: Value, indexed: bool) -> Value:
        arrays = self.tracer.arrays
        if not isinstance(value, Lazy) and not indexed:
            return value
        if isinstance(value, Lazy) and value.changeable and value.buffer not in self._buffers:
            arrays.before_change(value.buffer)
            buffer = value.buffer
        else:
            buffer = self.tracer.builder.buffer(max(1, math.prod(value.shape)), element_type(value))
            arrays.fill(buffer, value)
            buffer.mutable = True
        buffer.version += 1
        self._buffers.add(buffer)
        return arrays.whole(buffer, value.shape)

    def arrays_of(self, nodes: Sequence[Node]) -> list[Value]:
        """The arrays whose scalars are `nodes`."""
        result, position = [], 0
        for value in self.values:
            if isinstance(value, Lazy):
                result.append(self.tracer.arrays.whole(value.buffer, value.shape))
            else:
                array = np.empty(value.shape, object)
                array.reshape(-1)[:] = nodes[position : position + value.size]
                position += value.size
                result.append(array)
        return result

    def yields(self, values: Sequence[Value]) -> list[Node]:
        """The scalars of the next round; large arrays are written into their buffers."""
        arrays, nodes, writes = self.tracer.arrays, [], []
        for old, new in zip(self.values, values, strict=True):
            if not isinstance(old, Lazy):
                nodes += list(arrays.small(new).reshape(-1))
            elif not (isinstance(new, Lazy) and new.buffer is old.buffer):
                careful = isinstance(new, Lazy) and not new.reads & self._buffers <= {old.buffer} - new.elsewhere
                writes.append((old.buffer, arrays.copied(new) if careful else new))
        for buffer, value in writes:
            arrays.before_change(buffer)
            arrays.fill(buffer, value)
        return nodes

    def finished(self) -> None:
        """The loop is over: what was read of the buffers before holds no more."""
        for value in self.values:
            if isinstance(value, Lazy):
                value.buffer.version += 1


class _held:  # noqa: N801 - a context manager
    """While it lasts, these arrays are wanted by somebody else too, so that nobody changes them in place."""

    def __init__(self, values: Sequence[Value]):
        self._values = [value for value in values if isinstance(value, Lazy)]

    def __enter__(self):
        for value in self._values:
            value.holders += 1

    def __exit__(self, *_):
        for value in self._values:
            value.holders -= 1


def _worth_memory(value: Value, indexed: bool) -> bool:
    return indexed and not isinstance(value, Lazy) and value.size > 16


def _placed(tracer: Tracer, values: Sequence[Value], indexed: Sequence[bool]) -> list[Value]:
    """Small arrays that a loop reads at an unknown index, in memory."""
    return [
        tracer.arrays.in_memory(value) if _worth_memory(value, is_in) else value
        for value, is_in in zip(values, indexed, strict=True)
    ]
