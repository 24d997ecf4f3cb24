"""Where arguments and results lie in memory, and the function that goes from one group of rows to the next."""

import bisect
from collections.abc import Sequence
from typing import NamedTuple

from naiad.compiler.backends.llvm.inputs import arranged
from naiad.compiler.backends.llvm.turning import TURNED, turned
from naiad.compiler.ir.program import Program


class Stretch(NamedTuple):
    """Where elements begin, the first of them, and how far it is from one to the next and from one lane to the next, 0
    if there is one for all lanes."""

    base: str
    first: int
    element: int
    lane: int


class Memory:
    """The memory of a program: one stretch for the arguments that all rows share, which lie in front of the others, one
    for these and one for all results, or one for each argument and result; and one to work in."""

    def __init__(self, program: Program, lanes: int, shared: Sequence[bool]):
        self.program, self.lanes, self.shared = program, lanes, shared
        self.inputs = arranged(program.inputs, shared)

    @property
    def names(self) -> list[str]:
        """Of the stretches, but the one to work in."""
        memories = self.program.memories
        if memories is None:
            return ["same", "in", "out"]
        return [f"in{j}" for j in range(len(memories.inputs))] + [f"out{j}" for j in range(len(memories.outputs))]

    def arguments(self, word: str = "") -> str:
        """What a function is given, with a word on each."""
        return ", ".join(f"ptr {word}%{name}" for name in (*self.names, "work"))

    def place(self, space: str, offset: int) -> Stretch:
        """The stretch of an element, with its place there as the first."""
        if space == "table":
            return Stretch(f"@table{offset}", 0, 1, 0)
        if space == "work" or (space == "out" and self.program.memories is None):
            return Stretch(f"%{space}", offset, self.lanes, 1)
        return self._among_all(offset) if self.program.memories is None else self._in_its_own(space, offset)

    def _among_all(self, offset: int) -> Stretch:
        number = bisect.bisect_right(self.program.inputs, offset, key=lambda slot: slot.offset) - 1
        first = self.inputs.offsets[number] + offset - self.program.inputs[number].offset
        once = bool(self.shared) and self.shared[number]
        return Stretch("%same", first, 1, 0) if once else Stretch("%in", first, self.lanes, 1)

    def _in_its_own(self, space: str, offset: int) -> Stretch:
        starts = self._starts(space)
        number = bisect.bisect_right(starts, offset) - 1
        base, first = f"%{space}{number}", offset - starts[number]
        if space == "in" and number == 0:  # which all rows share
            return Stretch(base, first, 1, 0)
        return Stretch(base, first, self.lanes, 1)

    def _starts(self, space: str) -> tuple[int, ...]:
        """The first elements of the stretches of a space."""
        memories = self.program.memories
        assert memories is not None
        return memories.inputs if space == "in" else memories.outputs

    def _apart(self, space: str) -> dict[str, int]:
        """The stretches of a space whose rows lie one after the other, and the elements of a row."""
        memories, starts = self.program.memories, self._starts(space)
        assert memories is not None
        ends = (*starts[1:], self.program.in_size if space == "in" else self.program.out_size)
        sizes = {f"{space}{k}": end - start for k, (start, end) in enumerate(zip(starts, ends, strict=True))}
        return {name: size for name, size in sizes.items() if name in memories.apart and size and self.lanes > 1}

    def driver(self) -> str:
        """`run(in, out, work, first, last)`, group after group. With a stretch for each argument and result, `in` has
        for every one where it begins, and how many bytes further that of the next group is."""
        before, each, given, behind = self._of_all() if self.program.memories is None else self._of_each()
        return "\n".join(
            [
                *([turned(self.lanes)] if behind or given != self.arguments() else []),
                "define void @run(ptr noalias %all, ptr noalias %found, ptr noalias %work, i64 %first, i64 %last) {",
                "entry:",
                *before,
                "  %some = icmp slt i64 %first, %last",
                "  br i1 %some, label %loop, label %end",
                "loop:",
                "  %i = phi i64 [%first, %entry], [%next, %loop]",
                *each,
                f"  call void @one({given})",
                *behind,
                "  %next = add i64 %i, 1",
                "  %more = icmp slt i64 %next, %last",
                "  br i1 %more, label %loop, label %end",
                "end:",
                "  ret void",
                "}",
            ]
        )

    def _of_all(self) -> tuple[list[str], list[str], str, list[str]]:
        group = 8 * self.lanes
        before = [
            "  %same = getelementptr i64, ptr %all, i64 0",
            f"  %rows = getelementptr i64, ptr %all, i64 {self.inputs.shared}",
        ]
        each = [
            f"  %a = mul i64 %i, {group * self.inputs.own}",
            f"  %b = mul i64 %i, {group * self.program.out_size}",
            "  %in = getelementptr i8, ptr %rows, i64 %a",
            "  %out = getelementptr i8, ptr %found, i64 %b",
        ]
        return before, each, self.arguments(), []

    def _of_each(self) -> tuple[list[str], list[str], str, list[str]]:
        before, each = [], []
        for number, name in enumerate(self.names):
            before += [
                f"  %{name}.p = getelementptr i64, ptr %all, i64 {2 * number}",
                f"  %{name}.a = load ptr, ptr %{name}.p, align 8",
                f"  %{name}.q = getelementptr i64, ptr %all, i64 {2 * number + 1}",
                f"  %{name}.s = load i64, ptr %{name}.q, align 8",
            ]
            each += [
                f"  %{name}.m = mul i64 %i, %{name}.s",
                f"  %{name} = getelementptr i8, ptr %{name}.a, i64 %{name}.m",
            ]
        given, behind = self.arguments(), []
        for name, size in (self._apart("in") | self._apart("out")).items():  # these go through the memory to work in
            each.append(f"  %{name}.w = getelementptr i64, ptr %work, i64 {self.program.work_size * self.lanes}")
            self.program.work_size += size
            given = given.replace(f"ptr %{name},", f"ptr %{name}.w,")
            rows, lanes = f"ptr %{name}, i64 {size}, i64 1", f"ptr %{name}.w, i64 1, i64 {self.lanes}"
            inward = name.startswith("in")
            call = f"  call void @{TURNED}({rows if inward else lanes}, {lanes if inward else rows}, i64 {size})"
            (each if inward else behind).append(call)
        return before, each, given, behind
