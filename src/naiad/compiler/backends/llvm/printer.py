"""Prints a program as LLVM IR: scalar, or W lanes at once, a lane a trajectory.

In lanes, a loop goes on while any lane does, and lanes that are done keep their values; of a branch, each arm runs if
any lane takes it. So every lane computes what it would compute alone. Values that are the same in all lanes (loop
counters, indices into tables, arguments that all rows share) stay scalars.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from naiad.compiler.backends.llvm.lines import Lines, bits
from naiad.compiler.backends.llvm.machine import processor
from naiad.compiler.backends.llvm.memory import Memory, Stretch
from naiad.compiler.backends.llvm.operations import SCALARS, write
from naiad.compiler.ir.operations import BOOL, FLOAT, INT
from naiad.compiler.ir.program import Branch, Buffer, Loop, Node, Part, Program, Region
from naiad.compiler.passes.packs import spread
from naiad.compiler.passes.split import given
from naiad.compiler.passes.uniform import uniform

MARKED = 256  # buffers of a function that are told apart in loads and stores
VECTORISED = 1000  # operations of a loop over elements that LLVM may vectorise
INLINED = 200  # lines for a group that may be written into the loop over groups, which LLVM looks at all together
ALIGNED = '"stackrealign"'  # what does not fit into registers lies on lines of the cache, none of it across two
DOMAIN, PLAIN = 0, 1  # the marks that buffers, and loops that are not vectorised, have in common

MEMORY = {FLOAT: "double", INT: "i64", BOOL: "i64"}


def print_llvm(program: Program, lanes: int = 1, shared: Sequence[bool] = ()) -> str:
    """A module with `run(in, out, work, first, last)`, which treats groups of `lanes` trajectories one by one; of the
    inputs those that are `shared` are the same for all, and lie in front of the others. If the program has `memories`,
    `in` is a list of these."""
    return _Printer(program, lanes, shared).module()


class _Scattered(NamedTuple):
    """A store whose place differs from lane to lane: the buffer, the places in it, all in lanes or the `same`, and what
    is stored."""

    at: Stretch
    base: str
    places: str
    same: bool
    stored: str
    type: str


class _Printer:
    def __init__(self, program: Program, lanes: int, shared: Sequence[bool]):
        self.program = program
        self.lanes = lanes
        self.lines = Lines(lanes)
        self.memory = Memory(program, lanes, shared)
        self.names: dict[int, str] = {}
        self.uniform = uniform(program, shared) if lanes > 1 else set[int]()
        self.parts: list[str] = []
        self.marks = PLAIN + 1
        self.buffers: dict[tuple[str, int], int] = {}  # of this function, with their marks
        self.functions = [self.buffers]
        self.plain_loops: list[int] = []
        self.scattered: list[_Scattered] = []
        self.spread = set[int]() if processor().arm else spread(program)
        self.places: dict[int, str] = {}  # of this function, where these lie

    # -- the module

    def module(self) -> str:
        self._region(self.program.region, None)
        for offset, node in self.program.results:
            self._result(offset, node)
        body = "\n".join(self.lines.whole())
        tables = [_table(buffer) for buffer in self.program.tables]
        given, apart = self.memory.arguments("noalias "), " noinline" if len(self.lines.text) > INLINED else ""
        one = f"define internal void @one({given}){apart} {ALIGNED} {{\nentry:\n{body}\n  ret void\n}}"
        called = [*sorted(self.lines.declared), *self.lines.helpers.values(), *self.parts]
        return "\n".join([*tables, *called, one, self.memory.driver(), *self._marks(), ""])

    def _input(self, node: Node) -> str:
        at = self.memory.place("in", node.value)
        pointer = self._pointer(at.base, str(at.first), at.element)
        return self._read(pointer, node.type, not self._same(node))

    def _result(self, offset: int, node: Node) -> None:
        at = self.memory.place("out", offset)
        stored, type = self._in_memory_form(node)
        self.lines.say(f"store {type} {stored}, ptr {self._pointer(at.base, str(at.first), at.element)}, align 8")

    def _same(self, node: Node) -> bool:
        """Whether a value is the same in all lanes, and so a scalar."""
        return self.lanes == 1 or node.constant or node.number in self.uniform

    # -- names and types

    def _type_of(self, node: Node) -> str:
        with self.lines.of(self._width(node)):
            return self.lines.type(SCALARS[node.type])

    def _width(self, node: Node) -> int:
        """How many numbers a value has: a pack's, or one for each lane."""
        return node.width if self._same(node) else self.lanes

    def _as(self, node: Node, like: Node) -> str:
        """The operand in the form of another."""
        with self.lines.of(self._width(like)):
            return self._use(node, not self._same(like) or like.width > 1)

    def _use(self, node: Node, wide: bool) -> str:
        """The operand, as a vector if wanted."""
        if node.constant:
            return self.lines.number(_constant(node), SCALARS[node.type], wide)
        name = self.names.get(node.number) or self._recalled(node)
        return self.lines.splat(SCALARS[node.type], name) if wide and self._width(node) == 1 else name

    def _recalled(self, node: Node) -> str:
        """A value that another part has made, from the frame."""
        if node.op == "input":
            return self._input(node)
        pointer = self._pointer("%work", str(self.program.frame[node.number]))
        with self.lines.of(self._width(node)):
            return self._read(pointer, node.type, True)

    def _define(self, node: Node, name: str) -> None:
        """The name of a value, which goes into the frame if another part uses it."""
        self.names[node.number] = name
        if node.number in self.spread:
            self.places[node.number] = self.lines.put(self._type_of(node), name)
        if node.number in self.program.frame:
            pointer = self._pointer("%work", str(self.program.frame[node.number]))
            with self.lines.of(self._width(node)):
                memory = self.lines.type(MEMORY[node.type])
                if node.type == BOOL:
                    name = self.lines.emit(f"zext {self.lines.type('i1')} {name} to {memory}")
                self.lines.say(f"store {memory} {name}, ptr {pointer}, align 8")

    def _part(self, part: Part, mask: str | None) -> None:
        """A function of its own, and a call of it."""
        lines = self.lines
        around = lines.text, lines.room, lines.block, self.names, self.buffers, self.places
        lines.text, lines.room, lines.block, self.names, self.buffers, self.places = [], [], "entry", {}, {}, {}
        self.functions.append(self.buffers)
        self.names.update({value.number: self._recalled(value) for value in given(part)})
        self._region(part.body, None if mask is None else "%mask")
        name, body = f"@part{len(self.parts)}", "\n".join(lines.whole())
        masked = "" if mask is None else f", {lines.type('i1')} "
        taken = self.memory.arguments("noalias ") + (masked and f"{masked}%mask")
        self.parts.append(f"define internal void {name}({taken}) noinline {ALIGNED} {{\nentry:\n{body}\n  ret void\n}}")
        lines.text, lines.room, lines.block, self.names, self.buffers, self.places = around
        lines.say(f"call void {name}({self.memory.arguments()}{masked and masked + str(mask)})")

    # -- statements

    def _region(self, region: Region, mask: str | None) -> None:
        for node in region.items:
            if self.scattered and (type(node) is not Node or node.op == "load"):
                self._scatter(mask)
            if isinstance(node, Loop):
                self._loop(node, mask)
            elif isinstance(node, Branch):
                self._branch(node, mask)
            elif isinstance(node, Part):
                self._part(node, mask)
            elif node.op == "store":
                self._store(node, mask)
            elif node.op == "load":
                self._define(node, self._load(node))
            elif node.op == "input":
                self._define(node, self._input(node))
            elif node.op in ("param", "result"):
                pass  # of which their owner takes care
            elif node.width > 1 or node.op == "lane":
                self._define(node, self._packed(node))
            else:
                wide = not self._same(node)
                self._define(node, write(self.lines, node, wide, [self._use(a, wide) for a in node.args]))
        if self.scattered:
            self._scatter(mask)

    def _packed(self, node: Node) -> str:
        """A pack, or a lane of one."""
        scalar, first = SCALARS[node.type], node.args[0]
        if node.op == "lane" and first.number in self.places:
            pointer = self.lines.emit(f"getelementptr double, ptr {self.places[first.number]}, i64 {node.value}")
            return self.lines.emit(f"load double, ptr {pointer}, align 8")
        if node.op == "lane":
            return self.lines.emit(f"extractelement {self._type_of(first)} {self._use(first, False)}, i64 {node.value}")
        if node.op == "pack":
            type = self._type_of(node)
            known = (_constant(each) if each.constant else "poison" for each in node.args)
            value = f"<{', '.join(f'{scalar} {each}' for each in known)}>"
            for lane, each in enumerate(node.args):
                if not each.constant:
                    one = self._use(each, False)
                    value = self.lines.emit(f"insertelement {type} {value}, {scalar} {one}, i64 {lane}")
            return value
        with self.lines.of(node.width):
            return write(self.lines, node, True, [self._use(a, True) for a in node.args])

    def _loop(self, loop: Loop, mask: str | None) -> None:
        masked = self.lanes > 1 and not self._same(loop.predicate)
        inits = [self._as(init, param) for init, param in zip(loop.inits, loop.params, strict=True)]
        lanes = self.lines.type("i1")
        active = mask or self.lines.number("true", "i1")
        before = self.lines.block
        head, body, end = (self.lines.label(word) for word in ("head", "body", "end"))
        self.lines.jump(head)
        self.lines.start(head)
        marks = []  # the phis are completed when the values that come round are known
        for param in loop.params:
            self.names[param.number] = self.lines.fresh()
            marks.append(len(self.lines.text))
            self.lines.text.append("")
        if masked:
            running = self.lines.fresh()
            marks.append(len(self.lines.text))
            self.lines.text.append("")
            self._define_all(loop.params)
            self._region(loop.test, running)
            goes_on = self.lines.emit(f"and {lanes} {running}, {self._use(loop.predicate, True)}")
            self.lines.fork(self.lines.any(goes_on), body, end)
        else:
            running = goes_on = ""
            self._define_all(loop.params)
            self._region(loop.test, mask)
            self.lines.fork(self._use(loop.predicate, False), body, end)
        self.lines.start(body)
        self._region(loop.body, goes_on if masked else mask)
        yields = [self._as(value, param) for value, param in zip(loop.yields, loop.params, strict=True)]
        if masked:
            yields = self._kept_where_done(loop.params, yields, goes_on)
        again = self.lines.block
        self.lines.jump(head, "" if self._over_elements(loop) else self._not_vectorised())
        for mark, param, init, new in zip(marks, loop.params, inits, yields, strict=False):
            name, type = self.names[param.number], self._type_of(param)
            self.lines.text[mark] = f"  {name} = phi {type} [{init}, %{before}], [{new}, %{again}]"
        if masked:
            self.lines.text[marks[-1]] = f"  {running} = phi {lanes} [{active}, %{before}], [{goes_on}, %{again}]"
        self.lines.start(end)
        for result, param in zip(loop.results, loop.params, strict=True):
            self._define(result, self.names[param.number])

    def _over_elements(self, loop: Loop) -> bool:
        """Whether a loop treats the elements of an array, one like the other."""
        items = loop.body.items
        plain = not any(isinstance(node, Loop | Branch | Part) for node in items)
        return self.lanes == 1 and plain and len(items) <= VECTORISED and any(node.op == "store" for node in items)

    def _not_vectorised(self) -> str:
        """A mark of a loop that is not worth the time that LLVM takes to look whether it may be vectorised."""
        self.plain_loops.append(self._marked(1))
        return f", !llvm.loop !{self.plain_loops[-1]}"

    def _kept_where_done(self, params: list[Node], news: list[str], goes_on: str) -> list[str]:
        """The new values in the lanes that go on, the old ones in the others; mostly all go on, and none is chosen."""
        lanes, straight = self.lines.type("i1"), self.lines.block
        mixed, join = self.lines.label("mixed"), self.lines.label("join")
        self.lines.fork(self.lines.all(goes_on), join, mixed)
        self.lines.start(mixed)
        types = [self._type_of(param) for param in params]
        chosen = [
            self.lines.emit(f"select {lanes} {goes_on}, {type} {new}, {type} {self.names[param.number]}")
            for param, type, new in zip(params, types, news, strict=True)
        ]
        self.lines.jump(join)
        self.lines.start(join)
        return [
            self.lines.emit(f"phi {type} [{new}, %{straight}], [{either}, %{mixed}]")
            for type, new, either in zip(types, news, chosen, strict=True)
        ]

    def _define_all(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._define(node, self.names[node.number])

    def _branch(self, branch: Branch, mask: str | None) -> None:
        if self._same(branch.predicate):
            self._uniform_branch(branch, mask)
        else:
            self._divergent_branch(branch, mask)

    def _uniform_branch(self, branch: Branch, mask: str | None) -> None:
        labels, end = (self.lines.label("then"), self.lines.label("else")), self.lines.label("end")
        self.lines.fork(self._use(branch.predicate, False), *labels)
        arrivals = []
        for label, arm, yields in zip(labels, branch.arms, branch.yields, strict=True):
            self.lines.start(label)
            self._region(arm, mask)
            given = [self._as(y, result) for y, result in zip(yields, branch.results, strict=True)]
            arrivals.append((given, self.lines.block))
            self.lines.jump(end)
        self.lines.start(end)
        (yes, from_yes), (no, from_no) = arrivals
        for result, a, b in zip(branch.results, yes, no, strict=True):
            type = self._type_of(result)
            self.names[result.number] = self.lines.emit(f"phi {type} [{a}, %{from_yes}], [{b}, %{from_no}]")
        self._define_all(branch.results)

    def _divergent_branch(self, branch: Branch, mask: str | None) -> None:
        lanes = self.lines.type("i1")
        predicate = self._use(branch.predicate, True)
        opposite = self.lines.emit(f"xor {lanes} {predicate}, {self.lines.number('true', 'i1')}")
        arrived, anybody = [], []
        for arm, yields, condition in zip(branch.arms, branch.yields, (predicate, opposite), strict=True):
            taken = condition if mask is None else self.lines.emit(f"and {lanes} {condition}, {mask}")
            inside, after, before = self.lines.label("arm"), self.lines.label("join"), self.lines.block
            anybody.append(self.lines.any(taken))
            self.lines.fork(anybody[-1], inside, after)
            self.lines.start(inside)
            self._region(arm, taken)
            given = [self._use(y, True) for y in yields]
            last = self.lines.block
            self.lines.jump(after)
            self.lines.start(after)
            arrived.append(
                [
                    self.lines.emit(f"phi {self._type_of(r)} [{v}, %{last}], [poison, %{before}]")
                    for r, v in zip(branch.results, given, strict=True)
                ]
            )
        types = [self._type_of(result) for result in branch.results]
        chosen = self._chosen(types, *arrived, predicate=predicate, anybody=anybody)
        self.names.update({result.number: name for result, name in zip(branch.results, chosen, strict=True)})
        self._define_all(branch.results)

    def _chosen(
        self, types: list[str], yes: list[str], no: list[str], *, predicate: str, anybody: list[str]
    ) -> list[str]:
        """Of two values, the one that each lane wants; mostly all want the same, and none is chosen."""
        only_yes = self.lines.block
        either, mixed, join = (self.lines.label(word) for word in ("either", "mixed", "join"))
        self.lines.fork(anybody[1], either, join)
        self.lines.start(either)
        self.lines.fork(anybody[0], mixed, join)
        self.lines.start(mixed)
        # a lane that takes neither arm is masked: freeze makes its value harmless
        frozen = [
            (self.lines.emit(f"freeze {type} {a}"), self.lines.emit(f"freeze {type} {b}"))
            for type, a, b in zip(types, yes, no, strict=True)
        ]
        picked = [
            self.lines.emit(f"select {self.lines.type('i1')} {predicate}, {type} {a}, {type} {b}")
            for type, (a, b) in zip(types, frozen, strict=True)
        ]
        self.lines.jump(join)
        self.lines.start(join)
        return [
            self.lines.emit(f"phi {type} [{a}, %{only_yes}], [{b}, %{either}], [{c}, %{mixed}]")
            for type, a, b, c in zip(types, yes, no, picked, strict=True)
        ]

    # -- memory

    def _pointer(self, base: str, index: str, element: int | None = None) -> str:
        """The address of an element; elements of all lanes lie side by side, or one is so far from the next."""
        element = self.lanes if element is None else element
        if index.isdigit():
            index = str(int(index) * element)
        elif element > 1:
            index = self.lines.emit(f"mul i64 {index}, {element}")
        return self.lines.emit(f"getelementptr i64, ptr {base}, i64 {index}")

    def _base(self, at: Stretch) -> str:
        shift = at.first * at.element
        return self.lines.emit(f"getelementptr i64, ptr {at.base}, i64 {shift}") if shift else at.base

    def _alone(self, buffer: Buffer) -> str:
        """A mark that says which buffer is meant: buffers do not overlap, and so loops over them may be vectorised."""
        place = (buffer.space, buffer.offset)
        if buffer.space not in ("work", "out") or self.lanes > 1:
            return ""
        if place not in self.buffers:
            if len(self.buffers) == MARKED:
                return ""
            self.buffers[place] = self._marked(3)
        at = self.buffers[place]
        return f", !alias.scope !{at + 1}, !noalias !{at + 2}"

    def _marked(self, count: int) -> int:
        """The first of some new marks."""
        self.marks += count
        return self.marks - count

    def _marks(self) -> list[str]:
        """What the marks of buffers and loops stand for."""
        lines = [f"!{DOMAIN} = distinct !{{!{DOMAIN}}}"] if any(self.functions) else []
        for scopes in (buffers.values() for buffers in self.functions):
            for scope in scopes:
                others = ", ".join(f"!{other}" for other in scopes if other != scope)
                lines += [
                    f"!{scope} = distinct !{{!{scope}, !{DOMAIN}}}",
                    f"!{scope + 1} = !{{!{scope}}}",
                    f"!{scope + 2} = !{{{others}}}",
                ]
        if self.plain_loops:
            lines.append(f'!{PLAIN} = !{{!"llvm.loop.vectorize.enable", i1 false}}')
        return [*lines, *(f"!{loop} = distinct !{{!{loop}, !{PLAIN}}}" for loop in self.plain_loops)]

    def _read(self, pointer: str, type: str, wide: bool, mark: str = "") -> str:
        memory = self.lines.type(MEMORY[type], wide)
        value = self.lines.emit(f"load {memory}, ptr {pointer}, align 8{mark}")
        if type == BOOL:
            zero = "zeroinitializer" if wide and self.lines.lanes > 1 else "0"
            value = self.lines.emit(f"icmp ne {memory} {value}, {zero}")
        return value

    def _load(self, node: Node) -> str:
        buffer, index = node.value, node.args[0]
        at = self.memory.place(buffer.space, buffer.offset)
        base = self._base(at)
        if self._same(index) and (at.lane == 1 or self._same(node)):
            pointer = self._pointer(base, self._use(index, False), at.element)
            return self._read(pointer, node.type, not self._same(node), self._alone(buffer))
        same = self._same(index)
        places = self._use(index, not same)
        found = [self._lane_place(at, places, lane, same=same) for lane in range(self.lanes)]
        return self._gather(base, found, node.type)

    def _lane_place(self, at: Stretch, places: str, lane: int, *, same: bool) -> str:
        """Where an element of a buffer is, for a lane; `same`: its place is a scalar."""
        place = places if same else self.lines.emit(f"extractelement {self.lines.type('i64')} {places}, i64 {lane}")
        if at.element > 1:
            place = self.lines.emit(f"mul i64 {place}, {at.element}")
        return self.lines.emit(f"add i64 {place}, {lane * at.lane}") if at.lane else place

    def _gather(self, base: str, places: list[str], kind: str) -> str:
        type, value = SCALARS[kind], "poison"
        for lane, place in enumerate(places):
            one = self._read(self.lines.emit(f"getelementptr i64, ptr {base}, i64 {place}"), kind, False)
            value = self.lines.emit(f"insertelement {self.lines.type(type)} {value}, {type} {one}, i64 {lane}")
        return value

    def _store(self, node: Node, mask: str | None) -> None:
        index, value = node.args
        at = self.memory.place(node.value.space, node.value.offset)
        base = self._base(at)
        stored, type = self._in_memory_form(value)
        if self.lanes == 1:
            pointer = self.lines.emit(f"getelementptr i64, ptr {base}, i64 {self._use(index, False)}")
            self.lines.say(f"store {type} {stored}, ptr {pointer}, align 8{self._alone(node.value)}")
        elif self._same(index) and at.lane == 1:
            if self.scattered:
                self._scatter(mask)
            pointer = self._pointer(base, self._use(index, False))
            if mask is not None:
                old = self.lines.emit(f"load {type}, ptr {pointer}, align 8")
                stored = self.lines.emit(f"select {self.lines.type('i1')} {mask}, {type} {stored}, {type} {old}")
            self.lines.say(f"store {type} {stored}, ptr {pointer}, align 8")
        else:
            places = self._use(index, not self._same(index))
            self.scattered.append(_Scattered(at, base, places, self._same(index), stored, MEMORY[value.type]))

    def _scatter(self, mask: str | None) -> None:
        """The stores of this region whose places differ from lane to lane, one lane after the other; of those under a
        mask mostly few lanes have any."""
        stores, self.scattered = self.scattered, []
        bits = None if mask is None else self.lines.bits(mask)
        for lane in range(self.lanes):
            after = ""
            if bits is not None:
                inside, after = self.lines.label("lane"), self.lines.label("next")
                self.lines.fork(self.lines.holds(bits, lane), inside, after)
                self.lines.start(inside)
            for each in stores:
                place = self._lane_place(each.at, each.places, lane, same=each.same)
                pointer = self.lines.emit(f"getelementptr i64, ptr {each.base}, i64 {place}")
                one = self.lines.emit(f"extractelement {self.lines.type(each.type)} {each.stored}, i64 {lane}")
                self.lines.say(f"store {each.type} {one}, ptr {pointer}, align 8")
            if after:
                self.lines.jump(after)
                self.lines.start(after)

    def _in_memory_form(self, node: Node) -> tuple[str, str]:
        value, type = self._use(node, True), self.lines.type(MEMORY[node.type])
        if node.type == BOOL:
            value = self.lines.emit(f"zext {self.lines.type('i1')} {value} to {type}")
        return value, type


def _constant(node: Node) -> str:
    if node.type == FLOAT:
        return bits(node.value)
    return str(node.value).lower()


def _table(buffer: Buffer) -> str:
    type = MEMORY[buffer.type]
    values: Iterable[str] = (
        (bits(float(x)) for x in buffer.values) if buffer.type == FLOAT else (str(int(x)) for x in buffer.values)
    )
    elements = ", ".join(f"{type} {value}" for value in values)
    return f"@table{buffer.offset} = private unnamed_addr constant [{buffer.size} x {type}] [{elements}], align 64"
