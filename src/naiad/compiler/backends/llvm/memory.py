"""Where arguments and results lie in memory, and the function that goes from one group of rows to the next."""

import bisect

from naiad.compiler.ir.program import Program


class Memory:
    """The memory of a program: one stretch for all arguments and one for all results, or one for each, and one to work
    in."""

    def __init__(self, program: Program, lanes: int):
        self.program, self.lanes = program, lanes

    @property
    def names(self) -> list[str]:
        """Of the stretches, but the one to work in."""
        memories = self.program.memories
        if memories is None:
            return ["in", "out"]
        return [f"in{j}" for j in range(len(memories.inputs))] + [f"out{j}" for j in range(len(memories.outputs))]

    def arguments(self, word: str = "") -> str:
        """What a function is given, with a word on each."""
        return ", ".join(f"ptr {word}%{name}" for name in (*self.names, "work"))

    def place(self, space: str, offset: int) -> tuple[str, int, int]:
        """The stretch of an element, its place there, and the size of its rows if they lie apart, else 0."""
        memories = self.program.memories
        if memories is None or space not in ("in", "out"):
            return f"%{space}", offset, 0
        starts = memories.inputs if space == "in" else memories.outputs
        number = bisect.bisect_right(starts, offset) - 1
        ends = (*starts[1:], self.program.in_size if space == "in" else self.program.out_size)
        apart = self.lanes > 1 and f"{space}{number}" in memories.apart
        return f"%{space}{number}", offset - starts[number], ends[number] - starts[number] if apart else 0

    def driver(self) -> str:
        """`run(in, out, work, first, last)`, group after group. With a stretch for each argument and result, `in` has
        for every one where it begins, and how many bytes further that of the next group is."""
        before, each = self._of_all() if self.program.memories is None else self._of_each()
        return "\n".join(
            [
                "define void @run(ptr noalias %all, ptr noalias %found, ptr noalias %work, i64 %first, i64 %last) {",
                "entry:",
                *before,
                "  %some = icmp slt i64 %first, %last",
                "  br i1 %some, label %loop, label %end",
                "loop:",
                "  %i = phi i64 [%first, %entry], [%next, %loop]",
                *each,
                f"  call void @one({self.arguments()})",
                "  %next = add i64 %i, 1",
                "  %more = icmp slt i64 %next, %last",
                "  br i1 %more, label %loop, label %end",
                "end:",
                "  ret void",
                "}",
            ]
        )

    def _of_all(self) -> tuple[list[str], list[str]]:
        group = 8 * self.lanes
        return [], [
            f"  %a = mul i64 %i, {group * self.program.in_size}",
            f"  %b = mul i64 %i, {group * self.program.out_size}",
            "  %in = getelementptr i8, ptr %all, i64 %a",
            "  %out = getelementptr i8, ptr %found, i64 %b",
        ]

    def _of_each(self) -> tuple[list[str], list[str]]:
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
        return before, each
