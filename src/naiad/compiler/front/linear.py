"""Factorisation and triangular solves of matrices in memory, as loops over blocks of rows."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from naiad.compiler.front.arrays import Lazy, Value
from naiad.compiler.front.rules import Refusal, rule
from naiad.compiler.front.tracer import Tracer
from naiad.compiler.ir.builder import Builder
from naiad.compiler.ir.operations import FLOAT, INT
from naiad.compiler.ir.program import Buffer, Node

BLOCK = 4  # pivots whose rows are subtracted together, so that an element is loaded and stored once for all of them
ROWS = 2  # rows from which they are subtracted together, so that the pivots' rows are loaded once for both


@rule("lu")
def _lu(tracer: Tracer, eqn: Any, A: Value) -> list[Lazy]:
    """P A = L U with partial pivoting, as LAPACK's getrf: L and U in one matrix, the rows swapped, and P."""
    *batch, n, columns = A.shape
    if n != columns or not n:
        raise Refusal(f"lu of a matrix of shape {(n, columns)} (expected a square one)")
    b, arrays = tracer.builder, tracer.arrays
    lu = _changing(tracer, A)
    swaps, order = (b.buffer(math.prod(batch) * n, INT) for _ in range(2))
    for buffer in (swaps, order):
        buffer.mutable = True
    pivots = b.buffer(BLOCK * n, FLOAT)
    pivots.mutable = True

    def factorise(index: Sequence[Node]) -> None:
        first = b.op("imul", arrays.flat(index, batch), b.integer(n))
        matrix = _Rows(b, lu, n, b.op("imul", first, b.integer(n)))
        _each(b, b.integer(0), b.integer(n), lambda i: b.store(order, b.op("iadd", first, i), i))

        def swap(k: Node, other: Node) -> None:
            b.store(swaps, b.op("iadd", first, k), other)

            def exchange() -> None:
                _each(b, b.integer(0), b.integer(n), lambda j: matrix.swap(k, other, j))
                _Rows(b, order, 1, first).swap(k, other, b.integer(0))

            _when(b, b.op("ne", k, other), exchange)

        _factorise(b, matrix, _Rows(b, pivots, n), n, swap)

    arrays.each(batch, factorise)
    return [arrays.whole(lu, A.shape), *(arrays.whole(rows, (*batch, n)) for rows in (swaps, order))]


@rule("lu_pivots_to_permutation", reads="permutation_size")
def _permutation(tracer: Tracer, eqn: Any, swaps: Value) -> Lazy:
    """The order of rows after swaps of row i with row swaps[i], one after the other."""
    b, arrays, size = tracer.builder, tracer.arrays, eqn.params["permutation_size"]
    *batch, count = swaps.shape
    swaps = arrays.in_memory(swaps)
    order = b.buffer(math.prod(batch) * size, INT)
    order.mutable = True

    def run(index: Sequence[Node]) -> None:
        rows = _Rows(b, order, 1, b.op("imul", arrays.flat(index, batch), b.integer(size)))
        _each(b, b.integer(0), b.integer(size), lambda i: rows.set(i, b.integer(0), i))
        _each(b, b.integer(0), b.integer(count), lambda i: rows.swap(i, swaps.at((*index, i)), b.integer(0)))

    arrays.each(batch, run)
    return arrays.whole(order, (*batch, size))


@rule("triangular_solve", reads="left_side lower transpose_a unit_diagonal", ignores="conjugate_a")
def _triangular_solve(tracer: Tracer, eqn: Any, A: Value, B: Value) -> Lazy:
    """X of A X = B, or X A = B, for a triangular A or its transpose: always forwards, with the indices turned round."""
    b, arrays, params = tracer.builder, tracer.arrays, eqn.params
    left, transposed, unit = params["left_side"], params["transpose_a"], params["unit_diagonal"]
    *batch, n, _ = A.shape
    rights = B.shape[-1 if left else -2]
    swapped = transposed == left  # X A = B is A^T X^T = B^T
    downwards = params["lower"] != swapped
    A, x = arrays.in_memory(A), _changing(tracer, B)

    def turned(i: Node) -> Node:
        return i if downwards else b.op("isub", b.integer(n - 1), i)

    def along(index: Sequence[Node]) -> None:
        *which, column = index

        def entry(i: Node, j: Node) -> Node:
            i, j = turned(i), turned(j)
            return A.at((*which, j, i) if swapped else (*which, i, j))

        def place(i: Node) -> Node:
            i = turned(i)
            return arrays.flat((*which, i, column) if left else (*which, column, i), B.shape)

        _substitute(b, entry, x, place, n, unit)

    def outer(index: Sequence[Node]) -> None:
        if rights == 1:
            along((*index, b.integer(0)))
        else:
            _each(b, b.integer(0), b.integer(rights), lambda column: along((*index, column)))

    arrays.each(batch, outer)
    return arrays.whole(x, B.shape)


def _factorise(b: Builder, A: "_Rows", pivots: "_Rows", n: int, swap: Callable[[Node, Node], None]) -> None:
    """Gauss's elimination in place, BLOCK columns at a time; the last ones are a block of their own."""

    def step(first: Node, width: int) -> None:
        columns = [b.op("iadd", first, b.integer(c)) for c in range(width)]
        after = b.op("iadd", first, b.integer(width))
        best = _largest(b, A, first)
        for c, k in enumerate(columns):
            swap(k, best)
            best = _eliminate(b, A, n, columns, c)
        if width < BLOCK:
            return
        _rows_of_pivots(b, A, pivots, n, columns, after)
        left = b.op("isub", b.integer(n), after)
        pairs = b.op("idiv", left, b.integer(ROWS))

        def together(i: Node) -> None:
            row = b.op("iadd", after, b.op("imul", i, b.integer(ROWS)))
            _subtract(b, A, pivots, n, columns, after, [b.op("iadd", row, b.integer(r)) for r in range(ROWS)])

        _each(b, b.integer(0), pairs, together)
        for row in range(n - n % ROWS, n) if n % BLOCK else ():
            _subtract(b, A, pivots, n, columns, after, [b.integer(row)])

    blocks = n // BLOCK
    _each(b, b.integer(0), b.integer(blocks), lambda i: step(b.op("imul", i, b.integer(BLOCK)), BLOCK))
    if n % BLOCK:
        step(b.integer(blocks * BLOCK), n % BLOCK)


def _largest(b: Builder, A: "_Rows", k: Node) -> Node:
    """The row at or below k with the largest element in column k."""

    def look(i: Node, values: list[Node]) -> list[Node]:
        return _larger(b, A.get(i, k), i, *values)

    return _loop(b, b.op("iadd", k, b.integer(1)), b.integer(A.width), [b.op("abs", A.get(k, k)), k], look)[1]


def _larger(b: Builder, value: Node, i: Node, best: Node, where: Node) -> list[Node]:
    size = b.op("abs", value)
    wins = b.op("lt", best, size)
    return [b.select(wins, size, best), b.select(wins, i, where)]


def _eliminate(b: Builder, A: "_Rows", n: int, columns: list[Node], c: int) -> Node:
    """Subtract the pivot's row within the block of columns, and find the next pivot on the way."""
    k, rest = columns[c], columns[c + 1 :]
    pivot = A.get(k, k)
    reciprocal = b.op("div", b.real(1.0), b.select(b.op("eq", pivot, b.real(0.0)), b.real(1.0), pivot))
    row = [A.get(k, j) for j in rest]

    def below(i: Node, values: list[Node]) -> list[Node]:
        multiplier = b.mul(A.get(i, k), reciprocal)
        old = [A.get(i, j) for j in rest]
        new = [b.op("sub", a, b.mul(multiplier, u)) for a, u in zip(old, row, strict=True)]
        A.set(i, k, multiplier)
        for j, value in zip(rest, new, strict=True):
            A.set(i, j, value)
        return _larger(b, new[0], i, *values) if rest else values

    first = b.op("iadd", k, b.integer(1))
    found = _loop(b, first, b.integer(n), [b.real(-1.0), first] if rest else [], below)
    return found[1] if rest else first


def _rows_of_pivots(b: Builder, A: "_Rows", pivots: "_Rows", n: int, columns: list[Node], after: Node) -> None:
    """The rows of U right of the block, which are kept aside too, so that they are known not to change."""
    lower = [[A.get(i, k) for k in columns[:r]] for r, i in enumerate(columns)]

    def column(j: Node) -> None:
        old = [A.get(i, j) for i in columns]
        new: list[Node] = []
        for value, row in zip(old, lower, strict=True):
            for multiplier, above in zip(row, new, strict=True):
                value = b.op("sub", value, b.mul(multiplier, above))
            new.append(value)
        for r, (i, value) in enumerate(zip(columns, new, strict=True)):
            A.set(i, j, value)
            pivots.set(b.integer(r), j, value)

    _each(b, after, b.integer(n), column)


def _subtract(
    b: Builder, A: "_Rows", pivots: "_Rows", n: int, columns: list[Node], after: Node, rows: list[Node]
) -> None:
    """Subtract the pivots' rows from some others, right of the block."""
    multipliers = [[A.get(i, k) for k in columns] for i in rows]

    def column(j: Node) -> None:
        above = [pivots.get(b.integer(r), j) for r in range(len(columns))]
        values = [A.get(i, j) for i in rows]
        for i, value, factors in zip(rows, values, multipliers, strict=True):
            for factor, u in zip(factors, above, strict=True):
                value = b.op("sub", value, b.mul(factor, u))
            A.set(i, j, value)

    _each(b, after, b.integer(n), column)


def _substitute(
    b: Builder,
    entry: Callable[[Node, Node], Node],
    x: Buffer,
    place: Callable[[Node], Node],
    n: int,
    unit: bool,
) -> None:
    """x of L x = x in place, BLOCK rows at a time."""

    def step(first: Node, width: int) -> None:
        rows = [b.op("iadd", first, b.integer(r)) for r in range(width)]

        def term(j: Node, values: list[Node]) -> list[Node]:
            known = b.load(x, place(j))
            return [b.op("sub", value, b.mul(entry(i, j), known)) for i, value in zip(rows, values, strict=True)]

        values = _loop(b, b.integer(0), first, [b.load(x, place(i)) for i in rows], term)
        found: list[Node] = []
        for i, value in zip(rows, values, strict=True):
            for j, known in zip(rows, found, strict=False):
                value = b.op("sub", value, b.mul(entry(i, j), known))
            found.append(value if unit else b.op("div", value, entry(i, i)))
        for i, value in zip(rows, found, strict=True):
            b.store(x, place(i), value)

    blocks = n // BLOCK
    _each(b, b.integer(0), b.integer(blocks), lambda i: step(b.op("imul", i, b.integer(BLOCK)), BLOCK))
    if n % BLOCK:
        step(b.integer(blocks * BLOCK), n % BLOCK)


class _Rows:
    """A matrix of some width in a buffer, from an element on."""

    def __init__(self, builder: Builder, buffer: Buffer, width: int, first: Node | None = None):
        self.builder, self.buffer, self.width = builder, buffer, width
        self._first = builder.integer(0) if first is None else first

    def _place(self, i: Node, j: Node) -> Node:
        b = self.builder
        return b.op("iadd", b.op("iadd", self._first, b.op("imul", i, b.integer(self.width))), j)

    def get(self, i: Node, j: Node) -> Node:
        return self.builder.load(self.buffer, self._place(i, j))

    def set(self, i: Node, j: Node, value: Node) -> None:
        self.builder.store(self.buffer, self._place(i, j), value)

    def swap(self, i: Node, k: Node, j: Node) -> None:
        one, other = self.get(i, j), self.get(k, j)
        self.set(i, j, other)
        self.set(k, j, one)


def _changing(tracer: Tracer, value: Value) -> Buffer:
    """A copy of an array, to be changed in place."""
    buffer = tracer.arrays.copied(value).buffer
    buffer.mutable = True
    return buffer


def _loop(
    b: Builder, first: Node, end: Node, inits: Sequence[Node], body: Callable[[Node, list[Node]], Sequence[Node]]
) -> list[Node]:
    """The values after body(i, values) has run for i = first .. end - 1."""
    loop = b.begin_loop([first, *inits])
    i, *values = loop.params
    b.begin_body(loop, b.op("lt", i, end))
    yields = body(i, values)
    return b.end_loop(loop, [b.op("iadd", i, b.integer(1)), *yields])[1:]


def _each(b: Builder, first: Node, end: Node, visit: Callable[[Node], None]) -> None:
    def body(i: Node, _: list[Node]) -> list[Node]:
        visit(i)
        return []

    _loop(b, first, end, [], body)


def _when(b: Builder, condition: Node, do: Callable[[], None]) -> None:
    branch = b.begin_branch(condition)
    b.begin_arm(branch, 0)
    do()
    b.end_branch(branch, ([], []))
