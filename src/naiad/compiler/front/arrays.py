"""Arrays of a program in the making: small ones are NumPy arrays of nodes, large ones are functions of the index."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np

from naiad.compiler.ir.builder import Builder
from naiad.compiler.ir.operations import BOOL, FLOAT, INT
from naiad.compiler.ir.program import Buffer, Node

LONG_AXIS = 32  # an array with a longer axis lives in memory, and so does one with more elements than a back end likes
TALL, NARROW = 16, 4  # so does a stack of more rows, each no longer than this, that a loop goes through
KNOWN = 16_384  # elements up to which an array of constants is computed beforehand
UNROLLED = 16  # sums and copies of so few elements are written out

Index = tuple[Node, ...]


class Lazy:
    """A large array: its element at an index is computed where it is needed, or read from its buffer.

    `reads` are the buffers that may still change, `elsewhere` those of them that are read at other places than that of
    the element; `shaped` has the same elements in the same order, and is indexed with less work; `holders` counts the
    variables bound to the array, so that a buffer may be changed in place when nobody else will look at it; `cost`
    counts the operations that an element takes; `known` says that it may consist of constants, since all that it is
    computed from does; `by_columns` that the columns of a matrix lie one after the other in memory.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        type: str,
        at: Callable[[Index], Node],
        *,
        reads: Iterable[Buffer] = (),
        buffer: Any = None,
        view: bool = False,
        cost: int = 0,
        known: bool = False,
    ):
        self.shape = shape
        self.type = type
        self.at = at
        self.reads = self.elsewhere = frozenset(reads)
        self.shaped = self
        self.buffer = buffer
        self.view = view or buffer is not None
        self.holders = 0
        self.cost = cost
        self.known = known
        self.by_columns = False

    @property
    def changeable(self) -> bool:
        """Whether its buffer may be changed, since nobody else reads it."""
        return self.buffer is not None and self.buffer.mutable and not self.holders


Small = np.ndarray
Value = Any  # a Small or a Lazy


class Arrays:
    """The ways from one kind of array to the other."""

    def __init__(self, builder: Builder, stacks: frozenset[int], most_scalars: int):
        self.builder = builder
        self.most_scalars = most_scalars
        self.stacks = stacks  # how many rows loops go through
        self.readers: dict[int, list[Lazy]] = {}
        self._buffers: dict[Any, Lazy] = {}

    def is_large(self, shape: Sequence[int]) -> bool:
        """Whether an array of this shape lives in memory; one without elements, however long, does not."""
        if math.prod(shape) > self.most_scalars or (max(shape, default=0) > LONG_AXIS and math.prod(shape)):
            return True
        return len(shape) > 1 and shape[0] > TALL and shape[0] in self.stacks and math.prod(shape[1:]) <= NARROW

    def is_tall(self, shape: Sequence[int]) -> bool:
        """Whether an array of this shape is a matrix of many short rows."""
        return len(shape) == 2 and shape[0] > TALL and 1 < shape[1] <= NARROW

    def lift(self, values: Any, type: str) -> Value:
        """An array of constants."""
        values = np.asarray(values)
        if self.is_large(values.shape):
            return self.whole(self.builder.table(values, type), values.shape)
        nodes = np.empty(values.shape, object)
        for index in np.ndindex(values.shape):
            nodes[index] = self.builder.const(values[index], type)
        return nodes

    def lazy(
        self,
        shape: Sequence[int],
        type: str,
        at: Callable[[Index], Node],
        *sources: Value,
        view: bool = False,
        by_element: bool = False,
    ) -> Lazy:
        """A large array by a function of the index, computed from `sources`, if `by_element` from the element of those
        of the same shape that has the same index."""
        reads = frozenset[Buffer]().union(*(source.reads for source in sources if isinstance(source, Lazy)))
        view = view and all(_is_view(s) for s in sources)
        cost = sum(source.cost for source in sources if isinstance(source, Lazy)) + (0 if view else 1)
        made = Lazy(tuple(shape), type, at, reads=reads, view=view, cost=cost, known=all(map(is_known, sources)))
        if by_element:
            large = [source for source in sources if isinstance(source, Lazy)]
            made.elsewhere = frozenset[Buffer]().union(
                *(s.elsewhere if s.shape == made.shape else s.reads for s in large)
            )
        self._register(made)
        return made

    def whole(self, buffer: Buffer, shape: Sequence[int]) -> Lazy:
        """A buffer as an array."""
        made = Lazy(
            tuple(shape),
            buffer.type,
            lambda index: self.builder.load(buffer, self.flat(index, shape)),
            reads=[buffer] if buffer.mutable else [],
            buffer=buffer,
            known=buffer.values is not None,
        )
        made.elsewhere = frozenset()
        self._register(made)
        return made

    def columns(self, buffer: Buffer, shape: Sequence[int]) -> Lazy:
        """A buffer that nobody changes as a matrix whose columns lie one after the other: what a loop treats in turn
        lies side by side, so that a processor may treat several rows at once."""
        made = self.lazy(
            shape, buffer.type, lambda i: self.builder.load(buffer, self.flat(i[::-1], shape[::-1])), view=True
        )
        made.by_columns, made.known = True, False
        return made

    def fill_row(self, buffer: Buffer, row: Small, position: Node, count: int) -> None:
        """Write a row of a matrix of `count` rows into a buffer that holds its columns one after the other."""
        for column, node in enumerate(row):
            self.builder.store(buffer, self.builder.op("iadd", position, self.builder.integer(column * count)), node)

    def at(self, value: Value, index: Sequence[Node]) -> Node:
        """An element; of a small array, a chain of selects if the index is not known. An axis of length one has one
        element, whatever the index: so operations stretch it to the length of the other operand."""
        index = [self.builder.integer(0) if n == 1 else i for i, n in zip(index, value.shape, strict=True)]
        if isinstance(value, Lazy):
            return value.at(tuple(index))
        if all(i.constant for i in index):
            return value[tuple(i.value for i in index)]
        axis = next(k for k, i in enumerate(index) if not i.constant)
        if (
            value.size > UNROLLED
            and math.prod(n for n, i in zip(value.shape, index, strict=True) if not i.constant) > UNROLLED
        ):
            return self.at(self._written(value), index)
        rows = np.moveaxis(value, axis, 0)
        rest = [i for k, i in enumerate(index) if k != axis]
        found = self.at(rows[0], rest) if rest else rows[0]
        for position in range(1, len(rows)):
            here = self.builder.op("eq", index[axis], self.builder.integer(position))
            found = self.builder.select(here, self.at(rows[position], rest) if rest else rows[position], found)
        return found

    def small(self, value: Value) -> Small:
        """Every element of an array, computed here."""
        if not isinstance(value, Lazy):
            return value
        nodes = np.empty(value.shape, object)
        for index in np.ndindex(value.shape):
            nodes[index] = value.at(tuple(self.builder.integer(i) for i in index))
        return nodes

    def in_memory(self, value: Value) -> Lazy:
        """The array in a buffer, which nobody changes."""
        if isinstance(value, Lazy):
            return value if value.buffer is not None and not value.reads else self.kept(value)
        flat = value.reshape(-1)
        if len(flat) and all(node.constant for node in flat):
            return self.whole(self.builder.table(np.array([n.value for n in flat]), flat[0].type), value.shape)
        return self.copied(value)

    def _written(self, value: Small) -> Lazy:
        """A small array in a buffer, written once: where its elements are known, outside the loops that read it."""
        nodes = list(value.reshape(-1))
        with self.builder.outside(nodes) as region:
            key = (id(region), value.shape, *(node.number for node in nodes))
            if key not in self._buffers:
                self._buffers[key] = self.in_memory(value)
        return self._buffers[key]

    def kept(self, value: Lazy) -> Lazy:
        """The array in a buffer, to be read more than once: constants in a table."""
        if value.known and math.prod(value.shape) <= KNOWN:
            nodes = self.small(value).reshape(-1)
            if all(node.constant for node in nodes):
                return self.whole(self.builder.table(np.array([n.value for n in nodes]), value.type), value.shape)
        return self.copied(value)

    def copied(self, value: Value, into: Buffer | None = None) -> Lazy:
        """The array in a fresh buffer, or in the one that is given."""
        buffer = into or self.builder.buffer(max(1, math.prod(value.shape)), element_type(value))
        self.fill(buffer, value)
        return self.whole(buffer, value.shape)

    def fill(self, buffer: Buffer, value: Value, start: Node | None = None) -> None:
        """Write the elements of an array into a buffer, from element `start` on."""
        b = self.builder
        offset = b.integer(0) if start is None else start
        if not isinstance(value, Lazy):
            for position, node in enumerate(value.reshape(-1)):
                b.store(buffer, b.op("iadd", offset, b.integer(position)), node)
            return
        value = value.shaped
        self.each(
            value.shape,
            lambda index: b.store(buffer, b.op("iadd", offset, self.flat(index, value.shape)), value.at(index)),
        )

    def each(self, shape: Sequence[int], visit: Callable[[Index], None]) -> None:
        """Visit every index of a shape: a loop for a long axis, written out for short ones."""
        self._nest(tuple(shape), (), visit)

    def _nest(self, shape: tuple[int, ...], outer: Index, visit: Callable[[Index], None]) -> None:
        if not shape:
            visit(outer)
        elif math.prod(shape) <= UNROLLED:
            for index in np.ndindex(shape):
                visit((*outer, *(self.builder.integer(i) for i in index)))
        else:

            def body(i: Node, _: list[Node]) -> list[Node]:
                self._nest(shape[1:], (*outer, i), visit)
                return []

            self.builder.count(shape[0], [], body)

    def flat(self, index: Sequence[Node], shape: Sequence[int]) -> Node:
        """The position in row-major order."""
        b = self.builder
        position = b.integer(0)
        for i, n in zip(index, shape, strict=True):
            position = b.op("iadd", b.op("imul", position, b.integer(n)), i)
        return position

    def unflat(self, position: Node, shape: Sequence[int]) -> Index:
        """The index at a position in row-major order."""
        b = self.builder
        index = [b.integer(0)] * len(shape)
        long = [axis for axis, n in enumerate(shape) if n > 1]
        for axis in reversed(long[1:]):
            n = b.integer(shape[axis])
            index[axis], position = b.op("irem", position, n), b.op("idiv", position, n)
        if long:
            index[long[0]] = position
        return tuple(index)

    def before_change(self, buffer: Buffer) -> None:
        """Save what others still want to read of a buffer that is about to change."""
        for reader in self.readers.pop(id(buffer), []):
            if reader.holders and buffer in reader.reads:
                copy = self.copied(reader)
                reader.at, reader.reads, reader.buffer, reader.view, reader.cost = (
                    copy.at,
                    copy.reads,
                    copy.buffer,
                    True,
                    0,
                )

    def _register(self, value: Lazy) -> None:
        for buffer in value.reads:
            self.readers.setdefault(id(buffer), []).append(value)


def element_type(value: Value) -> str:
    """The type of an array's elements."""
    if isinstance(value, Lazy):
        return value.type
    return value.reshape(-1)[0].type if value.size else FLOAT


_KINDS = {np.dtype(name): type for name, type in (("f8", FLOAT), ("i8", INT), ("i4", INT), ("?", BOOL))}
_KINDS[jax.dtypes.float0] = BOOL  # the derivative of whole numbers, of which there is one: false stands for it


def kind(dtype: Any) -> str:
    """The type of a NumPy dtype, empty if programs have no such numbers."""
    return _KINDS.get(dtype, "")


def is_known(value: Value) -> bool:
    """Whether an array consists of constants, or may do so if it is large."""
    return value.known if isinstance(value, Lazy) else all(node.constant for node in value.reshape(-1))


def _is_view(value: Value) -> bool:
    return not isinstance(value, Lazy) or value.view
