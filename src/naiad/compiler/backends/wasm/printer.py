"""Writes a program as a module of WebAssembly.

Loops and branches are structured in both. A value is computed when a statement needs it, what it takes before it, in an
order of our own (`order`), for engines keep the one that they are given. It stays on the stack if what comes next is
all that reads it; else it is kept in a local.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from naiad.compiler.backends.wasm.binary import Function, module
from naiad.compiler.backends.wasm.blocks import Blocks, Place, place
from naiad.compiler.backends.wasm.code import TYPES, Code
from naiad.compiler.backends.wasm.operations import LIBRARY, write, write_of_sizes
from naiad.compiler.backends.wasm.order import ordered
from naiad.compiler.ir.operations import BOOL, FLOAT
from naiad.compiler.ir.program import Branch, Buffer, Loop, Node, Part, Program, Region, regions
from naiad.compiler.passes.sizes import Sizes

LARGEST_MEMORY = 2**32  # bytes
LARGEST_FUNCTION = 7_654_321  # bytes that engines take, and so many locals
MOST_LOCALS = 50_000


class TooLarge(Exception):  # noqa: N818 - what the program is
    """A program needs more than a module can have."""


def print_wasm(program: Program, given: bytes = b"") -> bytes:
    """A module with `run()`, which reads the arguments from the start of `memory`, where `given` lies at first, and
    leaves the results behind them."""
    made = _Module(program)
    made.add(_Printer(made, program.region).program())
    return made.written(given)


class _Module:
    """What the functions of a module share: where things lie in memory, and the numbers of what they call."""

    def __init__(self, program: Program):
        self.program = program
        self.blocks, self.sizes = Blocks(program), Sizes(program)
        operations = {node.op for region in regions(program.region) for node in region.items}
        library = {name: LIBRARY[name] for name in sorted(operations & set(LIBRARY))}
        self.imports = list(dict.fromkeys(library.values()))
        self.called = {name: self.imports.index(each) for name, each in library.items()}
        self.functions: list[Function] = []
        self.bases, self.memory = {}, 0
        for space, size in (("in", program.in_size), ("out", program.out_size), ("work", program.work_size)):
            self.bases[space] = self._room(size)
        self.tables = [self._room(table.size) for table in program.tables]
        if self.memory > LARGEST_MEMORY:
            raise TooLarge(f"it takes {self.memory:,} bytes of memory, of which there are at most {LARGEST_MEMORY:,}.")

    def _room(self, size: int) -> int:
        """The address of so many elements."""
        at, self.memory = self.memory, self.memory + 8 * size
        return at

    def base(self, buffer: Buffer) -> int:
        """The address of a buffer."""
        return self.tables[buffer.offset] if buffer.space == "table" else self.bases[buffer.space] + 8 * buffer.offset

    def frame(self, node: Node) -> int:
        """The address of a value that goes from one function to another."""
        return self.bases["work"] + 8 * self.program.frame[node.number]

    def add(self, function: Function) -> str:
        """One function more; the name by which it is called."""
        if len(function.body) > LARGEST_FUNCTION or len(function.locals) > MOST_LOCALS:
            raise TooLarge(
                f"a function of it takes {len(function.body):,} bytes and {len(function.locals):,} locals, of which "
                f"engines allow {LARGEST_FUNCTION:,} and {MOST_LOCALS:,}."
            )
        name = f"function {len(self.functions)}"
        self.called[name] = len(self.imports) + len(self.functions)
        self.functions.append(function)
        return name

    def written(self, given: bytes) -> bytes:
        """All of it, when the last function is there."""
        data = [(0, given), *((at, _bytes(table)) for at, table in zip(self.tables, self.program.tables, strict=True))]
        exported, held = {"run": len(self.functions) - 1}, [(at, values) for at, values in data if values]
        return module(self.imports, self.functions, exported, memory=self.memory, data=held)


class _Printer:
    """Writes one function: the program, or a part of it."""

    def __init__(self, module: _Module, region: Region):
        self.module, self.blocks = module, module.blocks
        self.framed = module.program.frame
        self.part = region if region.kind == "part" else None
        self.code = Code(module.called)
        self.done: set[int] = set()  # values that were computed
        self.locals: dict[int, int] = {}  # those that will be read again
        self.left: dict[int, float] = defaultdict(int, self.blocks.uses)  # how often
        self.depths: dict[int, int] = {}  # how many loops were around them
        self.freed: list[list[int]] = []  # for each loop around, locals that are free when it ends
        self.loads: dict[Place, list[Node]] = defaultdict(list)  # by buffer: a store must not come before them

    def program(self) -> Function:
        """The whole program, but for its parts."""
        program = self.module.program
        self._items(program.region.items)
        self._compute([node for _, node in program.results])
        for offset, node in program.results:
            self.code.constant(BOOL, 0)
            self._push(node)
            self.code.store(node.type, self.module.bases["out"] + 8 * offset)
        return self.code.function()

    # -- statements

    def _items(self, items: Iterable[Node]) -> None:
        for node in items:
            if isinstance(node, Loop | Branch | Part):
                around = list(self.blocks.needed[node])
                self._compute([*around, *_begins_with(node)])
                for value in around:
                    self._settle(value)
                for buffer in self.blocks.stored[node]:
                    self._settle_loads(buffer)
                if isinstance(node, Loop):
                    self._loop(node)
                elif isinstance(node, Branch):
                    self._branch(node)
                else:
                    self._part(node)
            elif node.op == "store":
                self._compute(node.args)
                self._settle_loads(place(node.value))
                self._store(node)
            elif node.op == "load" and node.value.space in ("out", "work"):
                self.loads[place(node.value)].append(node)

    def _loop(self, loop: Loop) -> None:
        for param, init in zip(loop.params, loop.inits, strict=True):
            self._push(init)
            self._keep(param, math.inf)
            self.code.set(self.locals[param.number])
        self.freed.append([])
        self.code.open("block")
        self.code.open("loop")
        for param in loop.params:
            self._remember(param)
        self._items(loop.test.items)
        self._compute([loop.predicate])
        self._push(loop.predicate)
        self.code.emit("i32.eqz")
        self.code.jump("br_if", 1)
        self._items(loop.body.items)
        changed = [(p, value) for p, value in zip(loop.params, loop.yields, strict=True) if p is not value]
        self._compute([value for _, value in changed])
        for _, value in changed:
            self._push(value)
        for param, _ in reversed(changed):
            self.code.set(self.locals[param.number])
        self.code.jump("br", 0)
        self.code.emit("end", "end")
        for local in self.freed.pop():
            self.code.release(local)
        for param, result in zip(loop.params, loop.results, strict=True):
            self.locals[result.number] = self.locals.pop(param.number)
            self.depths[result.number] = self.depths[param.number]
            self.done.add(result.number)
            self._remember(result)

    def _branch(self, branch: Branch) -> None:
        self._push(branch.predicate)
        for result in branch.results:
            self._keep(result, self.left[result.number])
        self.code.open("if")
        for arm, yields in zip(branch.arms, branch.yields, strict=True):
            if arm is branch.arms[1]:
                self.code.emit("else")
            self._items(arm.items)
            self._compute(yields)
            for value in yields:
                self._push(value)
            for result in reversed(branch.results):
                self.code.set(self.locals[result.number])
        self.code.emit("end")
        for result in branch.results:
            self._remember(result)

    def _part(self, part: Part) -> None:
        """A function of its own, and a call of it."""
        inner = _Printer(self.module, part.body)
        shown = [node for node in part.body.items if node.number in self.framed]
        inner._compute(shown)
        for node in shown:
            inner._settle(node)
        self.code.call(self.module.add(inner.code.function()))

    # -- values

    def _compute(self, wanted: Iterable[Node]) -> None:
        """What these values take, in a good order; such that are read once, by the next, are left to that."""
        found: dict[int, Node] = {}
        work = list(wanted)
        while work:
            node = work.pop()
            if not (node.constant or node.number in self.done or node.number in found) and self._is_here(node):
                found[node.number] = node
                work += node.args
        row = ordered([found[number] for number in sorted(found)])
        for node, after in itertools.zip_longest(row, row[1:]):
            if after is None or node not in after.args or self.left[node.number] > 1:
                self._settle(node)

    def _push(self, wanted: Node, *, settle: bool = False) -> None:
        """A value on the stack, or in a local, and before it what it takes."""
        work = [(wanted, False)]
        while work:
            node, ready = work.pop()
            if ready:
                if node.op == "load":
                    self.code.load(node.type, self._address(node))
                elif node.op == "input":
                    self._fetch(node, 8 * node.value)
                elif node.op in ("max", "min") and all(map(self.module.sizes.has, node.args)):
                    write_of_sizes(self.code, node)
                else:
                    write(self.code, node)
                self._hold(node, settle=settle and node is wanted)
            elif not self._get(node):
                work.append((node, True))
                if node.op == "select":
                    condition, yes, no = node.args
                    work += [(condition, False), (no, False), (yes, False)]
                elif node.op != "load" or not node.args[0].constant:
                    work += [(argument, False) for argument in reversed(node.args)]

    def _get(self, node: Node) -> bool:
        """Push a value that there is already; whether there is."""
        if node.constant:
            self.code.constant(node.type, node.value)
        elif node.number in self.locals:
            self.code.get(self.locals[node.number])
            self._was_read(node)
        elif not self._is_here(node):
            self._fetch(node, 8 * node.value if node.op == "input" else self.module.frame(node))
        else:
            return False
        return True

    def _settle(self, node: Node) -> None:
        """A value in a local, if it is to be computed here and was not yet."""
        if node.number not in self.done and self._is_here(node):
            self._push(node, settle=True)

    def _settle_loads(self, buffer: Place) -> None:
        for node in self.loads.pop(buffer, ()):
            self._settle(node)

    def _hold(self, node: Node, *, settle: bool) -> None:
        """Keep what is on the stack in a local, if it will be read again, and take it off the stack to `settle` it."""
        self.done.add(node.number)
        if not settle:
            self.left[node.number] -= 1
        if settle or self.left[node.number] or node.number in self.framed:
            self._keep(node, self.left[node.number])
            (self.code.set if settle else self.code.tee)(self.locals[node.number])
            self._remember(node)

    def _is_here(self, node: Node) -> bool:
        """Whether a value is computed in the function that is being written."""
        home = self.blocks.home[node.number]
        return (home if home.kind == "part" else None) is self.part

    # -- locals

    def _keep(self, node: Node, reads: float) -> None:
        """A local for a value that will be read so often."""
        self.done.add(node.number)
        self.locals[node.number] = self.code.local(TYPES[node.type])
        self.left[node.number], self.depths[node.number] = reads, len(self.freed)

    def _remember(self, node: Node) -> None:
        """Put a value that another function reads where it finds it; its local is free if nobody else does."""
        if node.number in self.framed:
            self.code.constant(BOOL, 0)
            self.code.get(self.locals[node.number])
            self.code.store(node.type, self.module.frame(node))
        if not self.left[node.number]:
            self._release(node)

    def _was_read(self, node: Node) -> None:
        self.left[node.number] -= 1
        if not self.left[node.number]:
            self._release(node)

    def _release(self, node: Node) -> None:
        """The local is free; one from outside of a loop, in which it will be read again, when that ends."""
        local, depth = self.locals.pop(node.number), self.depths[node.number]
        if depth == len(self.freed):
            self.code.release(local)
        else:
            self.freed[depth].append(local)

    # -- memory

    def _address(self, node: Node) -> int:
        """The address of what a load or a store means: so many bytes after what is left on the stack, where the index
        is, unless it is known."""
        base, index = self.module.base(node.value), node.args[0]
        if index.constant:
            self.code.constant(BOOL, 0)
            return base + 8 * index.value
        self.code.emit("i32.wrap_i64")
        self.code.constant(BOOL, 3)
        self.code.emit("i32.shl")
        return base

    def _fetch(self, node: Node, address: int) -> None:
        self.code.constant(BOOL, 0)
        self.code.load(node.type, address)

    def _store(self, node: Node) -> None:
        index, value = node.args
        if not index.constant:
            self._push(index)
        at = self._address(node)
        self._push(value)
        self.code.store(value.type, at)


def _begins_with(statement: Node) -> Iterable[Node]:
    """The values that a statement reads before it does anything."""
    if isinstance(statement, Loop):
        return statement.inits
    return (statement.predicate,) if isinstance(statement, Branch) else ()


def _bytes(table: Buffer) -> bytes:
    """The elements of a table, of eight bytes each."""
    return np.asarray(table.values).astype("<f8" if table.type == FLOAT else "<i8").tobytes()
