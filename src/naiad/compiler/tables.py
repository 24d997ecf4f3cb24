"""Tables of rows in the memory of compiled code, and functions over them: nothing is copied on the way in or out.

A row is a tree of arrays, and a table has groups of rows, `lanes` side by side. Code is compiled for the form of a row;
how many groups there are is not part of it.
"""

import copy
import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, TypeVar

import jax
import numpy as np

from naiad.compiler.backends import LLVM, SELDOM, Place, address, chained, default_backend, empty
from naiad.compiler.compiled import Compiled, is_number, nodes
from naiad.compiler.engine import rows_by_xla, warn_of_xla
from naiad.compiler.fingerprint import Version
from naiad.compiler.front.rules import Unsupported
from naiad.compiler.ir.program import Slot

__all__ = [
    "SELDOM",
    "Fields",
    "OverTables",
    "Place",
    "Table",
    "chained",
    "default_lanes",
    "made_once",
    "numbers_of",
]

T = TypeVar("T")


class Fields(NamedTuple):
    """The form of a row: that of its tree, where each array lies, the elements of the parts of the tree by name (if it
    has names), and of all."""

    tree: Any
    places: tuple[Place, ...]
    parts: dict[str, slice]
    size: int

    @classmethod
    def of(cls, row: Any) -> "Fields":
        """Those of a row like this one; what is not a number in it is not in tables."""
        everything, tree = jax.tree.flatten(row)
        leaves = [np.asarray(leaf) if is_number(leaf) else None for leaf in everything]
        ends = [0, *np.cumsum([0 if leaf is None else leaf.size for leaf in leaves], dtype=int).tolist()]
        slots = [
            Slot(leaf.shape, leaf.dtype.name, start)
            for leaf, start in zip(leaves, ends, strict=False)
            if leaf is not None
        ]
        counts = [0, *np.cumsum([child.num_leaves for child in tree.children()], dtype=int).tolist()]
        names: tuple[str, ...] = getattr(row, "_fields", ())
        parts = {name: slice(ends[counts[k]], ends[counts[k + 1]]) for k, name in enumerate(names)}
        return cls(tree, tuple(map(Place.of, slots)), parts, ends[-1])

    @property
    def example(self) -> Any:
        """A row of zeros; for trees of nothing but numbers."""
        return self.tree.unflatten([np.zeros(place.row[1:], place.outside) for place in self.places])


class Table:
    """Rows in memory: `memory` has groups, elements, and lanes."""

    def __init__(self, fields: Fields, groups: int, lanes: int, *, same: bool = False):
        self.fields, self.lanes = fields, lanes
        self.memory = empty(groups, fields.size, lanes)
        self.memory[...] = 0.0
        self.address = address(self.memory)
        self.stride = 0 if same else 8 * fields.size * lanes
        self.thing: Any = None  # what a table of one row has
        self._rows: dict[int, Any] = {}

    @classmethod
    def same(cls, thing: Any) -> "Table":
        """What all rows share."""
        made = cls(Fields.of(thing), 1, 1, same=True)
        made.share(thing, numbers_of(thing))
        return made

    def share(self, thing: Any, leaves: Sequence[Any]) -> None:
        """What is shared anew, a thing with these numbers."""
        self.thing = thing
        for place, leaf in zip(self.fields.places, leaves, strict=True):
            several = len(place.row) > 1  # to reshape a number takes as long as all else
            self.memory.view(place.inside)[0, place.elements] = np.reshape(leaf, (-1, 1)) if several else leaf

    def part(self, first: int, last: int | None = None) -> "Table":
        """Some of its groups, where they lie."""
        some = copy.copy(self)
        some.memory = self.memory[first:last]
        some.address, some._rows = self.address + first * self.stride, {}
        return some

    def fill(self, rows: Any) -> None:
        """All rows, from arrays with a leading axis."""
        leaves = jax.tree.leaves(rows)
        count = len(leaves[0])
        matrix = np.empty((count, self.fields.size))
        for place, leaf in zip(self.fields.places, leaves, strict=True):
            matrix[:, place.elements] = leaf.reshape(count, -1)
        self.put(matrix)

    def rows(self, count: int) -> Any:
        """So many rows as arrays with a leading axis; in one lane, they are where the table is."""
        if self.lanes == 1 and count in self._rows:
            return self._rows[count]
        matrix = self.matrix(count)
        found = self.fields.tree.unflatten(
            [matrix[:, place.elements].reshape(count, *place.row[1:]) for place in self.fields.places]
        )
        if self.lanes == 1:
            self._rows[count] = found
        return found

    def put(self, matrix: np.ndarray) -> None:
        """All rows, from a matrix; the last one fills the lanes that are left."""
        missing = len(self.memory) * self.lanes - len(matrix)
        if missing:
            matrix = np.concatenate([matrix, np.repeat(matrix[-1:], missing, axis=0)])
        self.memory[...] = matrix.reshape(-1, self.lanes, self.fields.size).transpose(0, 2, 1)

    def matrix(self, count: int) -> np.ndarray:
        """So many rows as a matrix, which may be where the table is."""
        return self.memory.transpose(0, 2, 1).reshape(-1, self.fields.size)[:count]

    def copied(self, count: int) -> np.ndarray:
        """So many rows as a matrix with a memory of its own."""
        return self.memory.transpose(0, 2, 1).copy().reshape(-1, self.fields.size)[:count]


class OverTables:
    """A function(shared, *rows), which gives a tuple, for all rows of tables: of each argument one, of each result one.

    `fields` are those of the arguments but the first, `results` those of the results. Tables lie in `lanes`, but those
    that are `apart` ("in1" is the first after `shared`, "out0" the first result) have rows one after the other, in one
    lane, as has the one that is shared. `most_scalars` is that of a back end: larger arrays live in memory, where loops
    over them run in vector registers. In one lane that takes LLVM's passes, of which `level` says how many there are.
    """

    def __init__(
        self,
        function: Callable[..., tuple[Any, ...]],
        shared: Any,
        *fields: Fields,
        lanes: int,
        apart: Collection[str] = (),
        most_scalars: int | None = None,
        level: int = 0,
    ):
        self._function, self.lanes, self._apart = function, lanes, frozenset(apart)
        examples = [each.example for each in fields]
        self._kernel: Any = None
        try:
            entry: Any = _compiled(function, most_scalars, level).over_tables(
                shared, *examples, lanes=lanes, apart=self._apart
            )
            self._kernel, slots = entry.kernel, iter(entry.kernel.layout.outputs)
            forms = entry.tree.unflatten([np.zeros(slot.shape, slot.dtype) for slot in slots])
        except Unsupported as reason:
            warn_of_xla(str(reason))
            rows = jax.tree.map(lambda a: a[None], examples)
            forms = jax.tree.map(lambda a: a[0], rows_by_xla(function, shared, *rows))
        self.results = tuple(map(Fields.of, forms))

    def tables(self, groups: int) -> list[Table]:
        """Tables for the results."""
        return [
            Table(fields, groups * self.lanes, 1) if f"out{k}" in self._apart else Table(fields, groups, self.lanes)
            for k, fields in enumerate(self.results)
        ]

    def over(self, shared: Table, inputs: Sequence[Table], outputs: Sequence[Table]) -> Callable[[], None]:
        """A call that makes every row of the outputs from the same one of the inputs."""
        if self._kernel is None:
            return lambda: self._by_xla(shared, inputs, outputs)
        lanes, tables = self.lanes, (shared, *inputs, *outputs)
        groups = len(outputs[0].memory) * outputs[0].lanes // lanes
        places = [(t.address, t.stride * (lanes // t.lanes)) for t in tables]
        return self._kernel.bound(np.array(places, np.int64), groups, tables, in_order=False)

    def scan(
        self, shared: Table, carried: Table, inputs: Sequence[Table], outputs: Sequence[Table], *, reverse: bool = False
    ) -> Callable[[], None]:
        """A call that goes from group to group, or the last first; the first argument and the first result are
        `carried` on, in a table with one group more: of the first group, or of the last, it is given there."""
        count = len(carried.memory) - 1
        tables = [(t.address, t.stride) for t in (*inputs, *outputs)]
        if reverse:
            tables = [(at + (count - 1) * stride, -stride) for at, stride in tables]
            ends = [(carried.address + k * carried.stride, -carried.stride) for k in (count, count - 1)]
        else:
            ends = [(carried.address + k * carried.stride, carried.stride) for k in (0, 1)]
        given = [(shared.address, shared.stride), ends[0], *tables[: len(inputs)], ends[1], *tables[len(inputs) :]]
        owners = (shared, carried, *inputs, *outputs)
        return self._kernel.bound(np.array(given, np.int64), count, owners, in_order=True)

    def _by_xla(self, shared: Table, inputs: Sequence[Table], outputs: Sequence[Table]) -> None:
        count = len(outputs[0].memory) * outputs[0].lanes

        def rows(table: Table) -> Any:
            if table.stride:
                return table.rows(count)
            return jax.tree.map(lambda a: np.repeat(a[:1], count, axis=0), table.rows(1))

        found = rows_by_xla(self._function, shared.thing, *map(rows, inputs))
        for table, rows in zip(outputs, found, strict=True):
            table.fill(rows)


@functools.cache
def _compiled(function: Callable[..., Any], most_scalars: int | None, level: int) -> Compiled:
    return Compiled(function, most_scalars=most_scalars, backend=LLVM(level=level))


def default_lanes() -> int:
    """How many rows lie side by side where nobody says otherwise."""
    return default_backend().lanes


def numbers_of(thing: Any) -> list[Any]:
    """The numbers and arrays in a tree."""
    return [leaf for leaf in jax.tree.leaves(thing) if is_number(leaf)]


def form_of(thing: Any) -> Any:
    """What code for a thing depends on: its tree, what is not a number in it, and the shapes of numbers."""
    leaves, structure = jax.tree.flatten(thing)
    return structure, tuple((np.shape(x), np.asarray(x).dtype) if is_number(x) else x for x in leaves)


def made_once(thing: Any, kind: Any, make: Callable[[], T]) -> T:
    """What `make` makes for a thing: once for all of its form, and again when what it computes has changed (see
    `Version`); `kind` says what is made."""
    form = (kind, form_of(thing))
    made = _MADE.get(form)
    if made is None:
        leaves, structure = jax.tree.flatten(thing)
        version = Version(nodes(structure), tuple(leaf for leaf in leaves if not is_number(leaf)))
        made = _MADE[form] = (version, {})
    current = made[0].current()
    if current not in made[1]:
        made[1].clear()
        made[1][current] = make()
    return made[1][current]


_MADE: dict[Any, tuple[Version, dict[Any, Any]]] = {}
