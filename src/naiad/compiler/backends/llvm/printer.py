"""Prints a program as LLVM IR: scalar, or W lanes at once, a lane a trajectory.

In lanes, a loop goes on while any lane does, and lanes that are done keep their values; of a branch, each arm runs if
any lane takes it. So every lane computes what it would compute alone. Values that are the same in all lanes (loop
counters, indices into tables) stay scalars.
"""

import math
import struct
from collections.abc import Iterable, Sequence

from naiad.compiler.ir.operations import BOOL, FLOAT, INT, LIBRARY
from naiad.compiler.ir.program import Branch, Buffer, Loop, Node, Part, Program, Region

MARKED = 256  # buffers that are told apart in loads and stores
VECTORISED = 1000  # operations of a loop over elements that LLVM may vectorise
FIRST_LOOP = 1 + 3 * MARKED  # the marks of loops come after those of buffers

SCALARS = {FLOAT: "double", INT: "i64", BOOL: "i1"}
MEMORY = {FLOAT: "double", INT: "i64", BOOL: "i64"}

C_NAMES = {"rem": "fmod"}
INTRINSICS = {
    "sqrt": "sqrt",
    "abs": "fabs",
    "floor": "floor",
    "ceil": "ceil",
    "round": "roundeven",
    "round_away": "round",
}
BINARY = {
    "add": "fadd",
    "sub": "fsub",
    "mul": "fmul",
    "div": "fdiv",
    "iadd": "add",
    "isub": "sub",
    "imul": "mul",
    "iand": "and",
    "ior": "or",
    "ixor": "xor",
    "and": "and",
    "or": "or",
    "xor": "xor",
}
COMPARISONS = {"lt": ("olt", "slt"), "le": ("ole", "sle"), "eq": ("oeq", "eq"), "ne": ("une", "ne")}


def print_llvm(program: Program, lanes: int = 1, shared: Sequence[bool] = ()) -> str:
    """A module with `run(in, out, work, first, last)`, which treats groups of `lanes` trajectories one by one; of the
    inputs those that are `shared` are the same for all."""
    return _Printer(program, lanes, shared).module()


class _Printer:
    def __init__(self, program: Program, lanes: int, shared: Sequence[bool]):
        self.program = program
        self.lanes = lanes
        slots = (slot for slot, same in zip(program.inputs, shared, strict=False) if same)
        self.shared = {offset for slot in slots for offset in range(slot.offset, slot.offset + math.prod(slot.shape))}
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.uniform: set[int] = set()
        self.declared: set[str] = set()
        self.helpers: dict[str, str] = {}
        self.parts: list[str] = []
        self.in_part = False
        self.count = 0
        self.block = "entry"
        self.buffers: list[int] = []
        self.plain_loops = 0

    # -- the module

    def module(self) -> str:
        if self.lanes > 1:
            self._find_uniform(self.program.region)
        self._region(self.program.region, None)
        for offset, node in self.program.results:
            stored, type = self._in_memory_form(node)
            self.lines.append(f"  store {type} {stored}, ptr {self._pointer('%out', str(offset))}, align 8")
        body = "\n".join(self.lines)
        tables = [_table(buffer) for buffer in self.program.tables]
        group = 8 * self.lanes
        driver = f"""define void @run(ptr noalias %in, ptr noalias %out, ptr noalias %work, i64 %first, i64 %last) {{
entry:
  %some = icmp slt i64 %first, %last
  br i1 %some, label %loop, label %end
loop:
  %i = phi i64 [%first, %entry], [%next, %loop]
  %a = mul i64 %i, {group * self.program.in_size}
  %b = mul i64 %i, {group * self.program.out_size}
  %ins = getelementptr i8, ptr %in, i64 %a
  %outs = getelementptr i8, ptr %out, i64 %b
  call void @one(ptr %ins, ptr %outs, ptr %work)
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %last
  br i1 %more, label %loop, label %end
end:
  ret void
}}"""
        head = "define internal void @one(ptr noalias %in, ptr noalias %out, ptr noalias %work) {\nentry:"
        one = f"{head}\n{body}\n  ret void\n}}"
        return "\n".join(
            [*tables, *sorted(self.declared), *self.helpers.values(), *self.parts, one, driver, *self._marks(), ""]
        )

    # -- what is the same in all lanes

    def _find_uniform(self, region: Region) -> None:
        for node in region.items:
            if isinstance(node, Loop):
                self._find_uniform_loop(node)
            elif isinstance(node, Part):
                self._find_uniform(node.body)
            elif isinstance(node, Branch):
                for arm in node.arms:
                    self._find_uniform(arm)
                if self._same(node.predicate):
                    both = zip(node.results, *node.yields, strict=True)
                    self.uniform.update(r.number for r, yes, no in both if self._same(yes) and self._same(no))
            elif node.op == "load":
                if node.value.space == "table" and self._same(node.args[0]):
                    self.uniform.add(node.number)
            elif node.op not in ("input", "param", "result", "store") and all(self._same(a) for a in node.args):
                self.uniform.add(node.number)

    def _find_uniform_loop(self, loop: Loop) -> None:
        hoped = [i for i, init in enumerate(loop.inits) if init.type == INT and self._same(init)]
        while True:
            before = set(self.uniform)
            self.uniform.update(loop.params[i].number for i in hoped)
            self._find_uniform(loop.test)
            self._find_uniform(loop.body)
            held = [i for i in hoped if self._same(loop.yields[i])] if self._same(loop.predicate) else []
            if held == hoped:
                self.uniform.update(loop.results[i].number for i in hoped)
                return
            self.uniform, hoped = before, held

    def _same(self, node: Node) -> bool:
        if self.lanes == 1 or node.constant or node.number in self.uniform:
            return True
        return node.op == "input" and node.value in self.shared

    # -- names and types

    def _fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def _emit(self, text: str) -> str:
        name = self._fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def _label(self, word: str) -> str:
        self.count += 1
        return f"{word}{self.count}"

    def _start(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.block = label

    def _jump(self, label: str, mark: str = "") -> None:
        self.lines.append(f"  br label %{label}{mark}")

    def _fork(self, condition: str, yes: str, no: str) -> None:
        self.lines.append(f"  br i1 {condition}, label %{yes}, label %{no}")

    def _wide(self, type: str) -> str:
        return type if self.lanes == 1 else f"<{self.lanes} x {type}>"

    def _type_of(self, node: Node) -> str:
        return SCALARS[node.type] if self._same(node) else self._wide(SCALARS[node.type])

    def _use(self, node: Node, wide: bool) -> str:
        """The operand, as a vector if wanted."""
        if node.constant:
            text = _constant(node)
            return self._splat_constant(SCALARS[node.type], text) if wide and self.lanes > 1 else text
        name = self.names.get(node.number) or self._recalled(node)
        return self._splat(SCALARS[node.type], name) if wide and self._same(node) and self.lanes > 1 else name

    def _recalled(self, node: Node) -> str:
        """A value that another part has made, from the frame."""
        if node.op == "input":
            name = self._read(self._pointer("%in", str(node.value)), node.type, not self._same(node))
        else:
            pointer = self._pointer("%work", str(self.program.frame[node.number]))
            name = self._read(pointer, node.type, not self._same(node))
        if self.in_part:
            self.names[node.number] = name
        return name

    def _define(self, node: Node, name: str) -> None:
        """The name of a value, which goes into the frame if another part uses it."""
        self.names[node.number] = name
        if node.number in self.program.frame:
            pointer = self._pointer("%work", str(self.program.frame[node.number]))
            wide = not self._same(node)
            memory = self._vector(MEMORY[node.type], wide)
            if node.type == BOOL:
                name = self._emit(f"zext {self._vector('i1', wide)} {name} to {memory}")
            self.lines.append(f"  store {memory} {name}, ptr {pointer}, align 8")

    def _part(self, part: Part) -> None:
        """A function of its own, and a call of it."""
        outside, self.lines, names, self.names, self.in_part = self.lines, [], self.names, {}, True
        self._region(part.body, None)
        name, body = f"@part{len(self.parts)}", "\n".join(self.lines)
        self.parts.append(
            f"define internal void {name}(ptr noalias %in, ptr noalias %out, ptr noalias %work) noinline {{\n"
            f"entry:\n{body}\n  ret void\n}}"
        )
        self.lines, self.names, self.in_part = outside, names, False
        self.lines.append(f"  call void {name}(ptr %in, ptr %out, ptr %work)")

    def _splat_constant(self, type: str, text: str) -> str:
        return f"<{', '.join([f'{type} {text}'] * self.lanes)}>"

    def _splat(self, type: str, name: str) -> str:
        vector = self._wide(type)
        one = self._emit(f"insertelement {vector} poison, {type} {name}, i64 0")
        return self._emit(f"shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer")

    # -- statements

    def _region(self, region: Region, mask: str | None) -> None:
        for node in region.items:
            if isinstance(node, Loop):
                self._loop(node, mask)
            elif isinstance(node, Branch):
                self._branch(node, mask)
            elif isinstance(node, Part):
                self._part(node)
            elif node.op == "store":
                self._store(node, mask)
            elif node.op == "load":
                self._define(node, self._load(node))
            elif node.op == "input":
                pointer = self._pointer("%in", str(node.value))
                self._define(node, self._read(pointer, node.type, not self._same(node)))
            elif node.op not in ("param", "result"):
                self._define(node, self._operation(node))

    def _loop(self, loop: Loop, mask: str | None) -> None:
        masked = self.lanes > 1 and not self._same(loop.predicate)
        wides = [not self._same(param) for param in loop.params]
        inits = [self._use(init, wide) for init, wide in zip(loop.inits, wides, strict=True)]
        lanes = self._wide("i1")
        active = mask or self._splat_constant("i1", "true")
        before, head, body, end = self.block, self._label("head"), self._label("body"), self._label("end")
        self._jump(head)
        self._start(head)
        marks = []  # the phis are completed when the values that come round are known
        for param in loop.params:
            self.names[param.number] = self._fresh()
            marks.append(len(self.lines))
            self.lines.append("")
        if masked:
            running = self._fresh()
            marks.append(len(self.lines))
            self.lines.append("")
            self._define_all(loop.params)
            self._region(loop.test, running)
            goes_on = self._emit(f"and {lanes} {running}, {self._use(loop.predicate, True)}")
            self._fork(self._any(goes_on), body, end)
        else:
            running = goes_on = ""
            self._define_all(loop.params)
            self._region(loop.test, mask)
            self._fork(self._use(loop.predicate, False), body, end)
        self._start(body)
        self._region(loop.body, goes_on if masked else mask)
        yields = [self._use(value, wide) for value, wide in zip(loop.yields, wides, strict=True)]
        if masked:
            yields = self._kept_where_done(loop.params, yields, goes_on)
        again = self.block
        self._jump(head, "" if self._over_elements(loop) else self._not_vectorised())
        for mark, param, init, new in zip(marks, loop.params, inits, yields, strict=False):
            name, type = self.names[param.number], self._type_of(param)
            self.lines[mark] = f"  {name} = phi {type} [{init}, %{before}], [{new}, %{again}]"
        if masked:
            self.lines[marks[-1]] = f"  {running} = phi {lanes} [{active}, %{before}], [{goes_on}, %{again}]"
        self._start(end)
        for result, param in zip(loop.results, loop.params, strict=True):
            self._define(result, self.names[param.number])

    def _over_elements(self, loop: Loop) -> bool:
        """Whether a loop treats the elements of an array, one like the other."""
        items = loop.body.items
        plain = not any(isinstance(node, Loop | Branch | Part) for node in items)
        return self.lanes == 1 and plain and len(items) <= VECTORISED and any(node.op == "store" for node in items)

    def _not_vectorised(self) -> str:
        """A mark of a loop that is not worth the time that LLVM takes to look whether it may be vectorised."""
        self.plain_loops += 1
        return f", !llvm.loop !{FIRST_LOOP + self.plain_loops}"

    def _kept_where_done(self, params: list[Node], news: list[str], goes_on: str) -> list[str]:
        """The new values in the lanes that go on, the old ones in the others; mostly all go on, and none is chosen."""
        lanes, mixed, join, straight = self._wide("i1"), self._label("mixed"), self._label("join"), self.block
        self._fork(self._all(goes_on), join, mixed)
        self._start(mixed)
        types = [self._type_of(param) for param in params]
        chosen = [
            self._emit(f"select {lanes} {goes_on}, {type} {new}, {type} {self.names[param.number]}")
            for param, type, new in zip(params, types, news, strict=True)
        ]
        self._jump(join)
        self._start(join)
        return [
            self._emit(f"phi {type} [{new}, %{straight}], [{either}, %{mixed}]")
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
        labels, end = (self._label("then"), self._label("else")), self._label("end")
        wides = [not self._same(result) for result in branch.results]
        self._fork(self._use(branch.predicate, False), *labels)
        arrivals = []
        for label, arm, yields in zip(labels, branch.arms, branch.yields, strict=True):
            self._start(label)
            self._region(arm, mask)
            given = [self._use(y, wide) for y, wide in zip(yields, wides, strict=True)]
            arrivals.append((given, self.block))
            self._jump(end)
        self._start(end)
        (yes, from_yes), (no, from_no) = arrivals
        for result, a, b in zip(branch.results, yes, no, strict=True):
            type = self._type_of(result)
            self.names[result.number] = self._emit(f"phi {type} [{a}, %{from_yes}], [{b}, %{from_no}]")
        self._define_all(branch.results)

    def _divergent_branch(self, branch: Branch, mask: str | None) -> None:
        lanes = self._wide("i1")
        predicate = self._use(branch.predicate, True)
        opposite = self._emit(f"xor {lanes} {predicate}, {self._splat_constant('i1', 'true')}")
        arrived, anybody = [], []
        for arm, yields, condition in zip(branch.arms, branch.yields, (predicate, opposite), strict=True):
            taken = condition if mask is None else self._emit(f"and {lanes} {condition}, {mask}")
            inside, after, before = self._label("arm"), self._label("join"), self.block
            anybody.append(self._any(taken))
            self._fork(anybody[-1], inside, after)
            self._start(inside)
            self._region(arm, taken)
            given = [self._use(y, True) for y in yields]
            last = self.block
            self._jump(after)
            self._start(after)
            arrived.append(
                [
                    self._emit(f"phi {self._type_of(r)} [{v}, %{last}], [poison, %{before}]")
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
        either, mixed, join, only_yes = self._label("either"), self._label("mixed"), self._label("join"), self.block
        self._fork(anybody[1], either, join)
        self._start(either)
        self._fork(anybody[0], mixed, join)
        self._start(mixed)
        # a lane that takes neither arm is masked: freeze makes its value harmless
        frozen = [
            (self._emit(f"freeze {type} {a}"), self._emit(f"freeze {type} {b}"))
            for type, a, b in zip(types, yes, no, strict=True)
        ]
        picked = [
            self._emit(f"select {self._wide('i1')} {predicate}, {type} {a}, {type} {b}")
            for type, (a, b) in zip(types, frozen, strict=True)
        ]
        self._jump(join)
        self._start(join)
        return [
            self._emit(f"phi {type} [{a}, %{only_yes}], [{b}, %{either}], [{c}, %{mixed}]")
            for type, a, b, c in zip(types, yes, no, picked, strict=True)
        ]

    def _any(self, mask: str) -> str:
        bits = self._emit(f"bitcast {self._wide('i1')} {mask} to i{self.lanes}")
        return self._emit(f"icmp ne i{self.lanes} {bits}, 0")

    def _all(self, mask: str) -> str:
        bits = self._emit(f"bitcast {self._wide('i1')} {mask} to i{self.lanes}")
        return self._emit(f"icmp eq i{self.lanes} {bits}, -1")

    # -- memory

    def _pointer(self, base: str, index: str) -> str:
        """The address of an element; elements of all lanes lie side by side."""
        place = index
        if self.lanes > 1:
            place = str(int(index) * self.lanes) if index.isdigit() else self._emit(f"mul i64 {index}, {self.lanes}")
        return self._emit(f"getelementptr i64, ptr {base}, i64 {place}")

    def _base(self, buffer: Buffer) -> str:
        if buffer.space == "table":
            return f"@table{buffer.offset}"
        shift = buffer.offset * self.lanes
        return self._emit(f"getelementptr i64, ptr %{buffer.space}, i64 {shift}") if shift else f"%{buffer.space}"

    def _alone(self, buffer: Buffer) -> str:
        """A mark that says which buffer is meant: buffers do not overlap, and so loops over them may be vectorised."""
        if buffer.space != "work" or self.lanes > 1:
            return ""
        if buffer.offset not in self.buffers:
            if len(self.buffers) == MARKED:
                return ""
            self.buffers.append(buffer.offset)
        at = 1 + 3 * self.buffers.index(buffer.offset)
        return f", !alias.scope !{at + 1}, !noalias !{at + 2}"

    def _marks(self) -> list[str]:
        """What the marks of buffers and loops stand for."""
        scopes = [1 + 3 * i for i in range(len(self.buffers))]
        lines = ["!0 = distinct !{!0}"] if scopes else []
        for scope in scopes:
            others = ", ".join(f"!{other}" for other in scopes if other != scope)
            lines += [
                f"!{scope} = distinct !{{!{scope}, !0}}",
                f"!{scope + 1} = !{{!{scope}}}",
                f"!{scope + 2} = !{{{others}}}",
            ]
        loops = [FIRST_LOOP + i for i in range(1, self.plain_loops + 1)]
        if loops:
            lines.append(f'!{FIRST_LOOP} = !{{!"llvm.loop.vectorize.enable", i1 false}}')
        return [*lines, *(f"!{loop} = distinct !{{!{loop}, !{FIRST_LOOP}}}" for loop in loops)]

    def _read(self, pointer: str, type: str, wide: bool, mark: str = "") -> str:
        memory = self._wide(MEMORY[type]) if wide else MEMORY[type]
        value = self._emit(f"load {memory}, ptr {pointer}, align 8{mark}")
        if type == BOOL:
            zero = "zeroinitializer" if wide and self.lanes > 1 else "0"
            value = self._emit(f"icmp ne {memory} {value}, {zero}")
        return value

    def _load(self, node: Node) -> str:
        buffer, index = node.value, node.args[0]
        base = self._base(buffer)
        if self._same(index):
            place = self._use(index, False)
            if buffer.space == "table" or self.lanes == 1:
                pointer = self._emit(f"getelementptr i64, ptr {base}, i64 {place}")
                return self._read(pointer, node.type, False, self._alone(buffer))
            return self._read(self._pointer(base, place), node.type, True)
        indices, type = self._use(index, True), SCALARS[node.type]
        vector, value = self._wide(type), "poison"
        for lane in range(self.lanes):
            place = self._emit(f"extractelement {self._wide('i64')} {indices}, i64 {lane}")
            if buffer.space != "table":
                place = self._emit(f"mul i64 {place}, {self.lanes}")
                place = self._emit(f"add i64 {place}, {lane}")
            one = self._read(self._emit(f"getelementptr i64, ptr {base}, i64 {place}"), node.type, False)
            value = self._emit(f"insertelement {vector} {value}, {type} {one}, i64 {lane}")
        return value

    def _store(self, node: Node, mask: str | None) -> None:
        index, value = node.args
        base = self._base(node.value)
        stored, type = self._in_memory_form(value)
        if self.lanes == 1:
            pointer = self._emit(f"getelementptr i64, ptr {base}, i64 {self._use(index, False)}")
            self.lines.append(f"  store {type} {stored}, ptr {pointer}, align 8{self._alone(node.value)}")
        elif self._same(index):
            pointer = self._pointer(base, self._use(index, False))
            if mask is not None:
                old = self._emit(f"load {type}, ptr {pointer}, align 8")
                stored = self._emit(f"select {self._wide('i1')} {mask}, {type} {stored}, {type} {old}")
            self.lines.append(f"  store {type} {stored}, ptr {pointer}, align 8")
        else:
            self._scatter(base, self._use(index, True), stored, MEMORY[value.type], mask)

    def _scatter(self, base: str, indices: str, stored: str, type: str, mask: str | None) -> None:
        for lane in range(self.lanes):
            place = self._emit(f"extractelement {self._wide('i64')} {indices}, i64 {lane}")
            place = self._emit(f"mul i64 {place}, {self.lanes}")
            place = self._emit(f"add i64 {place}, {lane}")
            pointer = self._emit(f"getelementptr i64, ptr {base}, i64 {place}")
            one = self._emit(f"extractelement {self._wide(type)} {stored}, i64 {lane}")
            if mask is not None:
                taken = self._emit(f"extractelement {self._wide('i1')} {mask}, i64 {lane}")
                old = self._emit(f"load {type}, ptr {pointer}, align 8")
                one = self._emit(f"select i1 {taken}, {type} {one}, {type} {old}")
            self.lines.append(f"  store {type} {one}, ptr {pointer}, align 8")

    def _in_memory_form(self, node: Node) -> tuple[str, str]:
        value, type = self._use(node, True), self._wide(MEMORY[node.type])
        if node.type == BOOL:
            value = self._emit(f"zext {self._wide('i1')} {value} to {type}")
        return value, type

    # -- operations

    def _operation(self, node: Node) -> str:
        wide = not self._same(node)
        type = self._type_of(node)
        args = [self._use(a, wide) for a in node.args]
        op = node.op
        if op in BINARY:
            return self._emit(f"{BINARY[op]} {type} {args[0]}, {args[1]}")
        if op in COMPARISONS:
            kind = node.args[0].type
            of = self._vector(SCALARS[kind], wide)
            if kind == BOOL:
                return self._compare_bools(op, of, *args)
            word = COMPARISONS[op][kind != FLOAT]
            return self._emit(f"{'fcmp' if kind == FLOAT else 'icmp'} {word} {of} {args[0]}, {args[1]}")
        if op in LIBRARY:
            return self._library(op, type, args, wide)
        if op in INTRINSICS:
            return self._intrinsic(INTRINSICS[op], type, args, wide)
        return getattr(self, f"_{op}")(type, wide, *args)

    def _vector(self, type: str, wide: bool) -> str:
        return self._wide(type) if wide else type

    def _number(self, text: str, type: str, wide: bool) -> str:
        return self._splat_constant(type, text) if wide and self.lanes > 1 else text

    def _compare_bools(self, op: str, of: str, a: str, b: str) -> str:
        if op in ("eq", "ne"):
            return self._emit(f"icmp {op} {of} {a}, {b}")
        return self._emit(f"icmp {'ult' if op == 'lt' else 'ule'} {of} {a}, {b}")

    def _suffix(self, type: str, wide: bool) -> str:
        short = {"double": "f64", "i64": "i64"}[type]
        return f"v{self.lanes}{short}" if wide and self.lanes > 1 else short

    def _intrinsic(self, name: str, type: str, args: list[str], wide: bool) -> str:
        full = f"@llvm.{name}.{self._suffix('double', wide)}"
        self.declared.add(f"declare {type} {full}({', '.join([type] * len(args))})")
        return self._emit(f"call {type} {full}({', '.join(f'{type} {a}' for a in args)})")

    def _library(self, op: str, type: str, args: list[str], wide: bool) -> str:
        name = C_NAMES.get(op, op)
        self.declared.add(
            f"declare double @{name}({', '.join(['double'] * len(args))}) nounwind willreturn memory(none)"
        )
        if not wide or self.lanes == 1:
            return self._emit(f"call double @{name}({', '.join(f'double {a}' for a in args)})")
        helper = f"@lanes.{name}"
        if helper not in self.helpers:
            self.helpers[helper] = self._lane_by_lane(helper, name, type, len(args))
        return self._emit(f"call {type} {helper}({', '.join(f'{type} {a}' for a in args)})")

    def _lane_by_lane(self, helper: str, name: str, type: str, count: int) -> str:
        lines, value = [], "poison"
        for lane in range(self.lanes):
            for k in range(count):
                lines.append(f"  %x{k}.{lane} = extractelement {type} %a{k}, i64 {lane}")
            given = ", ".join(f"double %x{k}.{lane}" for k in range(count))
            lines.append(f"  %y.{lane} = call double @{name}({given})")
            lines.append(f"  %r.{lane} = insertelement {type} {value}, double %y.{lane}, i64 {lane}")
            value = f"%r.{lane}"
        head = f"define internal {type} {helper}({', '.join(f'{type} %a{k}' for k in range(count))}) noinline {{"
        return "\n".join([head, *lines, f"  ret {type} {value}", "}"])

    def _select(self, type: str, wide: bool, c: str, a: str, b: str) -> str:
        return self._emit(f"select {self._vector('i1', wide)} {c}, {type} {a}, {type} {b}")

    def _neg(self, type: str, wide: bool, a: str) -> str:
        return self._emit(f"fneg {type} {a}")

    def _fma(self, type: str, wide: bool, a: str, b: str, c: str) -> str:
        return self._intrinsic("fma", type, [a, b, c], wide)

    def _fms(self, type: str, wide: bool, a: str, b: str, c: str) -> str:
        return self._fma(type, wide, a, b, self._neg(type, wide, c))

    def _fnma(self, type: str, wide: bool, a: str, b: str, c: str) -> str:
        return self._fma(type, wide, self._neg(type, wide, a), b, c)

    def _better(self, word: str, type: str, wide: bool, a: str, b: str) -> str:
        wins = self._emit(f"fcmp {word} {type} {a}, {b}")
        nan = self._emit(f"fcmp uno {type} {a}, {a}")
        bits = self._vector("i1", wide)
        return self._select(type, wide, self._emit(f"or {bits} {wins}, {nan}"), a, b)

    def _max(self, type: str, wide: bool, a: str, b: str) -> str:
        return self._better("oge", type, wide, a, b)

    def _min(self, type: str, wide: bool, a: str, b: str) -> str:
        return self._better("ole", type, wide, a, b)

    def _sign(self, type: str, wide: bool, a: str) -> str:
        zero, one, minus = (self._number(_bits(x), "double", wide) for x in (0.0, 1.0, -1.0))
        falls = self._select(type, wide, self._emit(f"fcmp olt {type} {a}, {zero}"), minus, a)
        return self._select(type, wide, self._emit(f"fcmp ogt {type} {a}, {zero}"), one, falls)

    def _finite(self, type: str, wide: bool, a: str) -> str:
        of = self._vector("double", wide)
        size = self._intrinsic("fabs", of, [a], wide)
        return self._emit(f"fcmp olt {of} {size}, {self._number(_bits(float('inf')), 'double', wide)}")

    def _not(self, type: str, wide: bool, a: str) -> str:
        return self._emit(f"xor {type} {a}, {self._number('true', 'i1', wide)}")

    def _to_float(self, type: str, wide: bool, a: str) -> str:
        return self._emit(f"sitofp {self._vector('i64', wide)} {a} to {type}")

    def _bool_to_int(self, type: str, wide: bool, a: str) -> str:
        return self._emit(f"zext {self._vector('i1', wide)} {a} to {type}")

    def _to_int(self, type: str, wide: bool, a: str) -> str:
        of = self._vector("double", wide)
        full = f"@llvm.fptosi.sat.{self._suffix('i64', wide)}.{self._suffix('double', wide)}"
        self.declared.add(f"declare {type} {full}({of})")
        return self._emit(f"call {type} {full}({of} {a})")

    def _wrap32(self, type: str, wide: bool, a: str) -> str:
        narrow = self._vector("i32", wide)
        return self._emit(f"sext {narrow} {self._emit(f'trunc {type} {a} to {narrow}')} to {type}")

    def _ineg(self, type: str, wide: bool, a: str) -> str:
        return self._emit(f"sub {type} {self._number('0', 'i64', wide)}, {a}")

    def _inot(self, type: str, wide: bool, a: str) -> str:
        return self._emit(f"xor {type} {a}, {self._number('-1', 'i64', wide)}")

    def _iabs(self, type: str, wide: bool, a: str) -> str:
        negative = self._emit(f"icmp slt {type} {a}, {self._number('0', 'i64', wide)}")
        return self._select(type, wide, negative, self._ineg(type, wide, a), a)

    def _isign(self, type: str, wide: bool, a: str) -> str:
        zero, one, minus = (self._number(x, "i64", wide) for x in ("0", "1", "-1"))
        falls = self._select(type, wide, self._emit(f"icmp slt {type} {a}, {zero}"), minus, zero)
        return self._select(type, wide, self._emit(f"icmp sgt {type} {a}, {zero}"), one, falls)

    def _imax(self, type: str, wide: bool, a: str, b: str) -> str:
        return self._select(type, wide, self._emit(f"icmp sgt {type} {a}, {b}"), a, b)

    def _imin(self, type: str, wide: bool, a: str, b: str) -> str:
        return self._select(type, wide, self._emit(f"icmp slt {type} {a}, {b}"), a, b)

    def _idiv(self, type: str, wide: bool, a: str, b: str) -> str:
        zero, minus = self._number("0", "i64", wide), self._number("-1", "i64", wide)
        by_zero, by_minus = self._emit(f"icmp eq {type} {b}, {zero}"), self._emit(f"icmp eq {type} {b}, {minus}")
        safe = self._safe_divisor(type, wide, b, by_zero, by_minus)
        quotient = self._emit(f"sdiv {type} {a}, {safe}")
        signed = self._select(type, wide, by_minus, self._ineg(type, wide, a), quotient)
        return self._select(type, wide, by_zero, minus, signed)

    def _irem(self, type: str, wide: bool, a: str, b: str) -> str:
        zero, minus = self._number("0", "i64", wide), self._number("-1", "i64", wide)
        by_zero, by_minus = self._emit(f"icmp eq {type} {b}, {zero}"), self._emit(f"icmp eq {type} {b}, {minus}")
        rest = self._emit(f"srem {type} {a}, {self._safe_divisor(type, wide, b, by_zero, by_minus)}")
        return self._select(type, wide, by_zero, a, rest)

    def _safe_divisor(self, type: str, wide: bool, b: str, by_zero: str, by_minus: str) -> str:
        bad = self._emit(f"or {self._vector('i1', wide)} {by_zero}, {by_minus}")
        return self._select(type, wide, bad, self._number("1", "i64", wide), b)

    def _shl(self, type: str, wide: bool, a: str, b: str) -> str:
        fits = self._emit(f"icmp ult {type} {b}, {self._number('64', 'i64', wide)}")
        zero = self._number("0", "i64", wide)
        moved = self._emit(f"shl {type} {a}, {self._select(type, wide, fits, b, zero)}")
        return self._select(type, wide, fits, moved, zero)

    def _shr(self, type: str, wide: bool, a: str, b: str) -> str:
        fits = self._emit(f"icmp ult {type} {b}, {self._number('64', 'i64', wide)}")
        return self._emit(f"ashr {type} {a}, {self._select(type, wide, fits, b, self._number('63', 'i64', wide))}")


def _bits(value: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}"


def _constant(node: Node) -> str:
    if node.type == FLOAT:
        return _bits(node.value)
    return str(node.value).lower()


def _table(buffer: Buffer) -> str:
    type = MEMORY[buffer.type]
    values: Iterable[str] = (
        (_bits(float(x)) for x in buffer.values) if buffer.type == FLOAT else (str(int(x)) for x in buffer.values)
    )
    elements = ", ".join(f"{type} {value}" for value in values)
    return f"@table{buffer.offset} = private unnamed_addr constant [{buffer.size} x {type}] [{elements}], align 64"
