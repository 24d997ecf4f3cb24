"""The back end for the processor at hand, through LLVM."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from naiad.compiler.backends.backend import Backend
from naiad.compiler.backends.llvm.kernel import LaneKernel, TableKernel
from naiad.compiler.backends.llvm.machine import LEVEL, assembly, object_code, processor, versions
from naiad.compiler.backends.llvm.printer import print_llvm
from naiad.compiler.ir.program import Layout, Program
from naiad.compiler.passes.split import split

SHORT = 2500  # operations
MANY = 32  # vector registers


@dataclass(frozen=True)
class LLVM(Backend):
    """Machine code: rows lie in the lanes of vector registers, and groups of them on all cores.

    `level` is that of LLVM's own passes. What they add to a program are loops over arrays in memory that run in vector
    registers, and a third of the time that LLVM takes: with 0 there are none, and with `SELDOM` registers are not
    shared out with care either.
    """

    level: int = LEVEL

    name = "llvm"
    platform = "cpu"
    packs = True

    @property
    def fma(self) -> bool:
        """Whether the processor has fused multiply-add."""
        return processor().fma

    @property
    def lanes(self) -> int:
        """The doubles that fit a vector register."""
        return processor().width

    def lanes_of(self, length: int) -> int:
        """Twice as many for short programs where there are registers for them: else units wait for each other."""
        return self.lanes * (2 if processor().registers >= MANY and length <= SHORT else 1)

    def tag(self) -> tuple[Any, ...]:
        """The processor, LLVM's version, and how much it does."""
        return *versions(), self.level

    def source(self, program: Program, lanes: int = 1, shared: Sequence[bool] = ()) -> str:
        """LLVM IR, before LLVM's own passes; long programs in parts, for the time that LLVM takes."""
        return print_llvm(split(program, loops=True), lanes, shared)

    def build(self, source: str) -> bytes:
        """An object file."""
        return object_code(source, level=self.level)

    def load(self, code: bytes, layout: Layout, lanes: int) -> Any:
        """The object file, linked into the process: a `Kernel`, or a `TableKernel` of a program with memories."""
        return (LaneKernel if layout.memories is None else TableKernel)(code, layout, lanes)

    def assembly(self, source: str) -> str:
        """The processor's own."""
        return assembly(source, level=self.level)
