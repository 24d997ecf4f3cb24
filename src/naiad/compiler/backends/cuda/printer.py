"""Prints a program as CUDA C: one thread a row.

An array of the arguments or the results lies in memory element by element, the rows of an element side by side, so that
neighbouring threads read neighbouring words. What all rows share lies in constant memory, which takes no registers, as
far as it fits; so does what loops use of what is computed from that, by one thread beforehand. Working memory is the
thread's own, unless it is large.
"""

import bisect
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from naiad.compiler.backends.cuda.operations import TYPES, constant, literal, written
from naiad.compiler.backends.cuda.prelude import TEXT
from naiad.compiler.ir.operations import BOOL, FLOAT, INT
from naiad.compiler.ir.program import Branch, Buffer, Loop, Node, Part, Program, Region, Slot, regions
from naiad.compiler.passes.branches import read
from naiad.compiler.passes.sizes import Sizes
from naiad.compiler.passes.uniform import uniform

CONSTANT_BYTES = 60 * 2**10  # of constant memory, which has 64 KiB, some of it CUDA's
LOCAL_BYTES = 64 * 2**10  # of working memory that a thread may have of its own

WORDS = {"float64": "double", "int64": "long long", "int32": "int", "bool": "bool"}


class Facts(NamedTuple):
    """What a kernel must know of its source: of each input the place in constant memory, or None, and whether it is the
    same for all rows; the words of constant memory for these, those of working memory in all rows' memory, and the
    bytes of it that are the threads' own; whether products and sums may fuse; and the words of constant memory that
    `prepare` fills."""

    constants: list[int | None]
    same: list[bool]
    constant_words: int
    work_words: int
    local_bytes: int
    fma: bool
    prepared: int

    @classmethod
    def of(cls, source: str) -> "Facts":
        """Those of a source, whose first line has them."""
        return cls(*json.loads(source[2 : source.index("\n")]))


def print_cuda(program: Program, shared: Sequence[bool] = ()) -> str:
    """A module with the kernel `run(inputs..., outputs..., work, stride, rows)`; of the inputs those that are `shared`
    are the same for all rows. `THREADS` and `BLOCKS` are its launch bounds. If there is something to prepare, the
    kernel `prepare(made)` computes what constant memory holds behind the inputs."""
    return _Printer(program, shared).module()


class _Printer:
    def __init__(self, program: Program, shared: Sequence[bool]):
        self.program = program
        self.shared = list(shared) or [False] * len(program.inputs)
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.inverses: list[dict[int, str]] = [{}]
        self.sizes = Sizes(program)
        self.parts: list[str] = []
        self.in_part = False
        self.margin = "  "
        self.places = {"in": _Slots(program.inputs), "out": _Slots(program.outputs)}
        self.buffers = {buffer.offset: buffer for buffer in _buffers(program) if buffer.space == "work"}
        sizes_before = itertools.accumulate((buffer.size for buffer in self.buffers.values()), initial=0)
        self.starts = dict(zip(self.buffers, sizes_before, strict=False))
        self.first_framed = min(program.frame.values(), default=program.work_size)
        self.whole = "m." if program.frame or _has_parts(program) else ""  # where the memory is that parts share
        self.constants, self.constant_tables, words = self._constant_places()
        size = sum(buffer.size for buffer in self.buffers.values())
        local = 8 * size <= LOCAL_BYTES
        self.early = {} if self.whole else self._early(words)
        works = 0 if local else size, 8 * size * local
        self.facts = Facts(self.constants, self.shared, words, *works, program.fma, len(self.early))

    def _constant_places(self) -> tuple[list[int | None], set[int], int]:
        """Where inputs that are shared lie in constant memory, which tables lie there, and the words of the inputs."""
        room, words, places = CONSTANT_BYTES // 8, 0, []
        for slot, same in zip(self.program.inputs, self.shared, strict=True):
            size = math.prod(slot.shape)
            fits = same and words + size <= room
            places.append(words if fits else None)
            words += size if fits else 0
        tables, left = set[int](), room - words
        for table in sorted(self.program.tables, key=lambda table: table.size):
            if table.size <= left:
                tables.add(table.offset)
                left -= table.size
        return places, tables, words

    def _early(self, words: int) -> dict[int, int]:
        """The values that one thread can compute for all and loops use, by number: their places in constant memory."""
        used = {
            value.number
            for region in regions(self.program.region)
            if region.in_loop
            for node in region.items
            for value in read(node)
        }
        places = itertools.count(words)
        wanted = (node.number for node in self._common() if node.op != "input" and node.type == FLOAT)
        return dict(zip((number for number in wanted if number in used), places, strict=False))

    def _common(self) -> Iterator[Node]:
        """What is computed outside of loops from what constant memory holds."""
        same, found = uniform(self.program, self.shared), set[int]()
        for node in self.program.region.items:
            plain = type(node) is Node and node.op not in ("load", "store", "param", "result") and node.number in same
            if node.op == "input":
                plain = plain and self.constants[self.places["in"].find(node.value)[0]] is not None
            if plain and all(arg.constant or arg.number in found for arg in node.args):
                found.add(node.number)
                yield node

    # -- the module

    def _prepare(self) -> list[str]:
        """The kernel of the one thread."""
        for node in list(self._common()):
            self._node(node)
        first = self.facts.constant_words
        self.lines += [f"  made[{place - first}] = {self.names[number]};" for number, place in self.early.items()]
        lines = ['extern "C" __global__ void prepare(double* __restrict__ made) {', *self.lines, "}"]
        self.lines, self.names, self.inverses = [], {n: f"constants[{k}]" for n, k in self.early.items()}, [{}]
        return lines

    def module(self) -> str:
        prepare = self._prepare() if self.early else []
        self._region(self.program.region)
        for offset, node in self.program.results:
            self._say(f"{self._at('out', offset)} = {self._use(node)};")
        head = ["//" + json.dumps(self.facts), TEXT, *map(self._table, self.program.tables)]
        if self.facts.constant_words:
            head.append(f"__constant__ double constants[{self.facts.constant_words + self.facts.prepared}];")
        if self.whole:
            fields = [*self._pointers(), *self._arrays(), f"double frame[{len(self.program.frame) + 1}];"]
            head += ["struct Memory {", *(f"  {field.replace('__restrict__ ', '')}" for field in fields), "};"]
        head += ["#define AT(e) ((unsigned long long)(unsigned)(e) * stride + row)", *self.parts, *prepare]
        parameters = ", ".join(
            [*(pointer.rstrip(";") for pointer in self._pointers()), "unsigned stride, unsigned rows"]
        )
        entry = [
            f'extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) run({parameters}) {{',
            "  const unsigned row = blockIdx.x * THREADS + threadIdx.x;",
            "  if (row >= rows) return;",
        ]
        if self.whole:
            entry.append("  Memory m;")
            entry += [f"  m.{name} = {name};" for name in (p.rstrip(";").split()[-1] for p in self._pointers())]
        else:
            entry += [f"  {array}" for array in self._arrays()]
        return "\n".join([*head, *entry, *self.lines, "}", ""])

    def _pointers(self) -> list[str]:
        """The kernel's parameters: where its arguments and results lie."""
        ins = [
            f"const {WORDS[slot.dtype]}* __restrict__ in{k};"
            for k, slot in enumerate(self.program.inputs)
            if self.constants[k] is None
        ]
        outs = [f"{WORDS[slot.dtype]}* __restrict__ out{k};" for k, slot in enumerate(self.program.outputs)]
        return [*ins, *outs, *(["double* __restrict__ work;"] if self.facts.work_words else [])]

    def _arrays(self) -> list[str]:
        """The working memory of a thread."""
        if self.facts.work_words:
            return []
        return [f"{TYPES[b.type]} w{offset}[{b.size}];" for offset, b in sorted(self.buffers.items())]

    def _table(self, table: Buffer) -> str:
        space = "__constant__" if table.offset in self.constant_tables else "__device__ const"
        values = ", ".join(literal(x.item(), table.type) for x in table.values)
        return f"{space} {TYPES[table.type]} table{table.offset}[{table.size}] = {{{values}}};"

    # -- names

    def _say(self, text: str) -> None:
        self.lines.append(self.margin + text)

    def _use(self, node: Node) -> str:
        if node.constant:
            return constant(node)
        return self.names.get(node.number) or self._recalled(node)

    def _recalled(self, node: Node) -> str:
        """A value that another part has made, from the frame."""
        if node.op == "input":
            return self._input(node)
        value = _from_word(self._framed(node), node.type)
        if not self.in_part:
            return f"({value})"
        self.names[node.number] = f"v{node.number}"
        self._say(f"const {TYPES[node.type]} v{node.number} = {value};")
        return f"v{node.number}"

    def _framed(self, node: Node) -> str:
        return f"m.frame[{self.program.frame[node.number] - self.first_framed}]"

    def _define(self, node: Node, expression: str) -> None:
        """A value, which goes into the frame if another part uses it."""
        name = self.names[node.number] = f"v{node.number}"
        self._say(f"const {TYPES[node.type]} {name} = {expression};")
        self._remember(node)

    def _remember(self, node: Node) -> None:
        if node.number in self.program.frame:
            self._say(f"{self._framed(node)} = {_to_word(self.names[node.number], node.type)};")

    # -- statements

    def _region(self, region: Region) -> None:
        for node in region.items:
            if isinstance(node, Loop):
                self._loop(node)
            elif isinstance(node, Branch):
                self._branch(node)
            elif isinstance(node, Part):
                self._part(node)
            elif node.op == "store":
                self._store(node)
            elif node.number not in self.early:
                self._node(node)

    def _node(self, node: Node) -> None:
        if node.op == "load":
            self._define(node, self._load(node))
        elif node.op == "input":
            self._define(node, self._input(node))
        elif node.op == "div":
            self._define(node, self._quotient(*node.args))
        elif node.op == "max" and all(map(self.sizes.has, node.args)):
            self._define(node, f"larger_size({', '.join(map(self._use, node.args))})")
        elif node.op not in ("param", "result"):
            self._define(node, written(node.op, [self._use(a) for a in node.args]))

    def _block(self, region: Region) -> None:
        """A region inside braces that are open."""
        self.inverses.append({})
        self._region(region)

    def _loop(self, loop: Loop) -> None:
        for param, init in zip(loop.params, loop.inits, strict=True):
            self._say(f"{TYPES[param.type]} v{param.number} = {self._use(init)};")
            self.names[param.number] = f"v{param.number}"
        self._say("#pragma unroll 1")
        self._say("while (true) {")
        self.margin += "  "
        for param in loop.params:
            self._remember(param)
        self._block(loop.test)
        self._say(f"if (!{self._use(loop.predicate)}) break;")
        self._region(loop.body)
        moved = [(p, y) for p, y in zip(loop.params, loop.yields, strict=True) if y is not p]
        for param, new in moved:
            self._say(f"const {TYPES[param.type]} n{param.number} = {self._use(new)};")
        for param, _ in moved:
            self._say(f"v{param.number} = n{param.number};")
        self._end_block()
        for result, param in zip(loop.results, loop.params, strict=True):
            self.names[result.number] = self.names[param.number]
            self._remember(result)

    def _branch(self, branch: Branch) -> None:
        for result in branch.results:
            self._say(f"{TYPES[result.type]} v{result.number};")
        for word, arm, yields in zip(
            (f"if ({self._use(branch.predicate)})", "else"), branch.arms, branch.yields, strict=True
        ):
            self._say(f"{word} {{")
            self.margin += "  "
            self._block(arm)
            for result, value in zip(branch.results, yields, strict=True):
                self._say(f"v{result.number} = {self._use(value)};")
            self._end_block()
        for result in branch.results:
            self.names[result.number] = f"v{result.number}"
            self._remember(result)

    def _end_block(self) -> None:
        self.inverses.pop()
        self.margin = self.margin[:-2]
        self._say("}")

    def _part(self, part: Part) -> None:
        """A function of its own, and a call of it."""
        outside = self.lines, self.names, self.inverses, self.margin
        self.lines, self.names, self.inverses, self.margin, self.in_part = [], {}, [{}], "  ", True
        self._region(part.body)
        name = f"part{len(self.parts)}"
        head = f"static __device__ __noinline__ void {name}(Memory& m, const unsigned stride, const unsigned row) {{"
        self.parts.append("\n".join([head, *self.lines, "}"]))
        self.lines, self.names, self.inverses, self.margin = outside
        self.in_part = False
        self._say(f"{name}(m, stride, row);")

    def _quotient(self, a: Node, b: Node) -> str:
        if not self.program.fma or b.constant:
            return f"{self._use(a)} / {self._use(b)}"
        inverse = next((known[b.number] for known in self.inverses if b.number in known), None)
        if inverse is None:
            inverse = self.inverses[-1][b.number] = f"r{b.number}"
            self._say(f"const double {inverse} = inverse({self._use(b)});")
        return inverse if a.constant and a.value == 1.0 else f"quotient({self._use(a)}, {self._use(b)}, {inverse})"

    # -- memory

    def _input(self, node: Node) -> str:
        return self._at("in", node.value, node.type)

    def _at(self, space: str, offset: int, type: str = "") -> str:
        """The element at an offset of the arguments or the results."""
        number, position = self.places[space].find(offset)
        return self._element(space, number, str(position), type)

    def _element(self, space: str, number: int, index: str, type: str) -> str:
        first = self.constants[number] if space == "in" else None
        if first is not None:
            place = str(first + int(index)) if index.isdigit() else f"{first} + {index}" if first else index
            return _from_word(f"constants[{place}]", type)
        if space == "in" and self.shared[number]:
            return f"{self.whole}in{number}[{index}]"
        return f"{self.whole}{space}{number}[AT({index})]"

    def _load(self, node: Node) -> str:
        buffer, index = node.value, _bare(self._use(node.args[0]))
        if buffer.space == "table":
            return f"table{buffer.offset}[{index}]"
        if buffer.space == "work":
            word = self._word(buffer, index)
            return _from_word(word, node.type) if self.facts.work_words else word
        return self._element(buffer.space, self.places[buffer.space].find(buffer.offset)[0], index, node.type)

    def _store(self, node: Node) -> None:
        buffer, index, value = node.value, _bare(self._use(node.args[0])), self._use(node.args[1])
        if buffer.space == "work":
            stored = _to_word(value, node.args[1].type) if self.facts.work_words else value
            self._say(f"{self._word(buffer, index)} = {stored};")
        else:
            number, _ = self.places[buffer.space].find(buffer.offset)
            self._say(f"{self._element(buffer.space, number, index, buffer.type)} = {value};")

    def _word(self, buffer: Buffer, index: str) -> str:
        if self.facts.work_words:
            return f"{self.whole}work[AT({self.starts[buffer.offset]} + {index})]"
        return f"{self.whole}w{buffer.offset}[{index}]"


class _Slots:
    """Which array an offset of the arguments or the results belongs to."""

    def __init__(self, slots: list[Slot]):
        self.numbers = [k for k, slot in enumerate(slots) if math.prod(slot.shape)]
        self.firsts = [slots[k].offset for k in self.numbers]

    def find(self, offset: int) -> tuple[int, int]:
        """The number of the array, and the place in it."""
        at = bisect.bisect_right(self.firsts, offset) - 1
        return self.numbers[at], offset - self.firsts[at]


def _buffers(program: Program) -> Iterable[Buffer]:
    return (n.value for region in regions(program.region) for n in region.items if n.op in ("load", "store"))


def _has_parts(program: Program) -> bool:
    return any(isinstance(node, Part) for region in regions(program.region) for node in region.items)


def _from_word(word: str, type: str) -> str:
    """A value from 64 bits that are called a double."""
    return {FLOAT: word, INT: f"__double_as_longlong({word})", BOOL: f"__double_as_longlong({word}) != 0"}[type]


def _to_word(value: str, type: str) -> str:
    return value if type == FLOAT else f"__longlong_as_double((long long){value})"


def _bare(index: str) -> str:
    """A whole number, or a name, as an index."""
    return index.removesuffix("LL")
