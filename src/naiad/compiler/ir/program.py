"""The scalar program: typed nodes in nested regions of straight-line code, with loops, branches and buffers.

A program is a tree of regions. A region is a list of nodes in the order in which they run; a node is a scalar value or
a statement (a loop, a branch, a store). Small arrays have become scalars; large ones are buffers, read and written by
`load` and `store`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Node:
    """A value, or a statement. Nodes are shared: two equal expressions in one place are one node.

    A value is a scalar, or a pack of `width` scalars that lie side by side in a vector register: `pack` makes one of
    scalars, `lane` takes one of them out, and what is computed with a pack is one, scalars being in all its lanes.
    """

    __slots__ = ("args", "number", "op", "region", "type", "value", "width")

    def __init__(self, op: str, args: tuple["Node", ...], type: str, region: "Region", number: int, value: Any = None):
        self.op = op
        self.args = args
        self.type = type
        self.region = region
        self.number = number
        self.value = value
        self.width = 1
        for a in args:
            if a.width != 1:
                self.width = a.width

    @property
    def constant(self) -> bool:
        """Whether the value is known."""
        return self.op == "const"


class Region:
    """Straight-line code: the whole program, the test or the body of a loop, or an arm of a branch."""

    __slots__ = ("depth", "in_loop", "items", "kind", "owner", "parent", "shared")

    def __init__(self, kind: str, parent: "Region | None"):
        self.kind = kind
        self.parent = parent
        self.depth = 0 if parent is None else parent.depth + 1
        self.in_loop: bool = kind in ("test", "body") or (parent is not None and parent.in_loop)
        self.items: list[Node] = []
        self.shared: dict[Any, Node] = {}
        self.owner: Loop | Branch | Part | None = None


class Loop(Node):
    """While `predicate` (computed in `test`) holds, run `body`; `params` are the values that go round."""

    __slots__ = ("body", "inits", "params", "predicate", "results", "test", "yields")

    params: list[Node]
    inits: list[Node]
    test: Region
    predicate: Node
    body: Region
    yields: list[Node]
    results: list[Node]


class Branch(Node):
    """One of two arms, by `predicate`; each yields the results."""

    __slots__ = ("arms", "predicate", "results", "yields")

    predicate: Node
    arms: tuple[Region, Region]
    yields: tuple[list[Node], list[Node]]
    results: list[Node]


class Part(Node):
    """A row of operations that is compiled by itself."""

    __slots__ = ("body",)

    body: Region


@dataclass(eq=False)
class Buffer:
    """A stretch of memory: `space` is "in", "out", "work" or "table" (constants, in `values`)."""

    space: str
    offset: int
    size: int
    type: str
    values: Any = None
    version: int = 0
    mutable: bool = False
    region: Any = None


class Slot(NamedTuple):
    """Where an array of the arguments or the results lies: shape, type, and the first of its elements."""

    shape: tuple[int, ...]
    dtype: str
    offset: int


class Memories(NamedTuple):
    """Arguments and results with a stretch of memory each: the first element of every one, among all. In those that are
    `apart` ("in0", "out1") rows lie one after the other, and not side by side in lanes."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    apart: frozenset[str] = frozenset()


class Layout(NamedTuple):
    """The memory of a program: its arguments and results, and the elements of each and of the working memory; and the
    `memories`, if arguments and results have their own."""

    inputs: list[Slot]
    outputs: list[Slot]
    in_size: int
    out_size: int
    work_size: int
    memories: Memories | None = None


@dataclass(eq=False)
class Program:
    """A scalar program; `results` are the elements of the output that are stored at its end, `fma` says whether sums of
    products may fuse, `frame` where in the working memory the values lie that go from one part to another."""

    region: Region
    inputs: list[Slot]
    outputs: list[Slot]
    results: list[tuple[int, Node]]
    tables: list[Buffer]
    in_size: int
    out_size: int
    work_size: int
    fma: bool = False
    frame: dict[int, int] = field(default_factory=dict)
    stats: dict[str, Any] = field(default_factory=dict)
    memories: Memories | None = None

    @property
    def length(self) -> int:
        """How many operations a finished one has, the body of a loop counted once."""
        return sum(self.stats.values())

    @property
    def layout(self) -> Layout:
        """The memory that it needs now; passes may add to it."""
        sizes = (self.in_size, self.out_size, self.work_size)
        return Layout(self.inputs, self.outputs, *sizes, self.memories)

    def __str__(self) -> str:
        lines = [f"program: {self.in_size} in, {self.out_size} out, {self.work_size} work"]
        lines += _text(self.region, "  ")
        lines += [f"  out[{offset}] = {_name(node)}" for offset, node in self.results]
        return "\n".join(lines)


def regions(region: Region) -> Iterator[Region]:
    """A region and all inside it."""
    yield region
    for node in region.items:
        for inner in children(node):
            yield from regions(inner)


def children(node: Node) -> tuple[Region, ...]:
    """The regions of a statement."""
    if type(node) is Node:  # as most are
        return ()
    if isinstance(node, Loop):
        return node.test, node.body
    if isinstance(node, Part):
        return (node.body,)
    return node.arms if isinstance(node, Branch) else ()


def _name(node: Node) -> str:
    if node.constant:
        return repr(node.value)
    if node.op == "input":
        return f"in[{node.value}]"
    return f"%{node.number}"


def _place(buffer: Buffer) -> str:
    return f"{buffer.space}+{buffer.offset}" if buffer.offset else buffer.space


def _text(region: Region, margin: str) -> list[str]:
    lines = []
    for node in region.items:
        names = ", ".join(_name(a) for a in node.args)
        if isinstance(node, Loop):
            carried = ", ".join(f"{_name(p)} = {_name(i)}" for p, i in zip(node.params, node.inits, strict=True))
            lines += [f"{margin}loop {carried}", *_text(node.test, margin + "  ")]
            lines += [f"{margin}while {_name(node.predicate)}", *_text(node.body, margin + "  ")]
            lines.append(f"{margin}next {', '.join(_name(y) for y in node.yields)}")
        elif isinstance(node, Branch):
            for word, arm, yields in zip(("then", "else"), node.arms, node.yields, strict=True):
                lines += [f"{margin}{word} if {_name(node.predicate)}", *_text(arm, margin + "  ")]
                lines.append(f"{margin}give {', '.join(_name(y) for y in yields)}")
        elif isinstance(node, Part):
            lines += [f"{margin}part", *_text(node.body, margin + "  ")]
        elif node.op == "store":
            lines.append(f"{margin}{_place(node.value)}[{_name(node.args[0])}] = {_name(node.args[1])}")
        elif node.op == "load":
            lines.append(f"{margin}{_name(node)}: {node.type} = {_place(node.value)}[{names}]")
        elif node.op == "result":
            owner, position = node.value
            lines.append(f"{margin}{_name(node)}: {node.type} = result {position} of %{owner.number}")
        elif node.op not in ("const", "input", "param"):
            wide, place = f"*{node.width}" if node.width > 1 else "", f" {node.value}" if node.op == "lane" else ""
            lines.append(f"{margin}{_name(node)}: {node.type}{wide} = {node.op}{place} {names}")
    return lines
