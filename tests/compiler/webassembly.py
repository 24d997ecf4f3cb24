"""Programs as WebAssembly, run by wasmtime with the functions of the C library, which machine code calls too: so not a
bit may differ."""

import base64
import ctypes
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import wasmtime

from naiad.compiler import Compiled
from naiad.compiler.backends import LLVM, Backend
from naiad.compiler.backends.llvm.machine import processor
from naiad.compiler.backends.wasm.printer import print_wasm
from naiad.compiler.ir.program import Program
from naiad.compiler.passes.branches import branches
from naiad.compiler.passes.split import split
from tests.compiler.compare import assert_same, leaves

ENGINE = wasmtime.Engine()


class Wasmtime(Backend):
    """Runs rows one by one."""

    name = "wasm"
    platform = "cpu"
    fma = False
    lanes = 1

    def tag(self):
        return ()

    def source(self, program, lanes=1, shared=()):
        return base64.b64encode(print_wasm(split(branches(program)))).decode()

    def build(self, source):
        return base64.b64decode(source)

    def load(self, code, layout, lanes):
        return Kernel(code, layout)

    def assembly(self, source):
        return source


class Kernel:
    """A module in wasmtime."""

    def __init__(self, code: bytes, layout):
        self.layout = layout
        self.store = wasmtime.Store(ENGINE)
        module = wasmtime.Module(ENGINE, code)
        imports = [wasmtime.Func(self.store, each.type, library(each.name)) for each in module.imports]
        self.exports = wasmtime.Instance(self.store, module, imports).exports(self.store)

    def __call__(self, leaves, own, size):
        rows = [self._row([x[k] if each else x for x, each in zip(leaves, own, strict=True)]) for k in range(size)]
        return [
            np.array([row[i] for row in rows], slot.dtype).reshape(size, *slot.shape)
            for i, slot in enumerate(self.layout.outputs)
        ]

    def _row(self, leaves):
        for slot, leaf in zip(self.layout.inputs, leaves, strict=True):
            leaf = np.asarray(leaf)
            inside = leaf if leaf.dtype == np.float64 else leaf.astype(np.int64)
            self.exports["memory"].write(self.store, inside.tobytes(), 8 * slot.offset)
        self.exports["run"](self.store)
        return [self._read(slot) for slot in self.layout.outputs]

    def _read(self, slot):
        start = 8 * (self.layout.in_size + slot.offset)
        held = self.exports["memory"].read(self.store, start, start + 8 * math.prod(slot.shape))
        kind = np.float64 if slot.dtype == "float64" else np.int64
        return np.frombuffer(bytes(held), kind).astype(slot.dtype).reshape(slot.shape)


@functools.cache
def library(name: str):
    """A function of the C library, by its name in JavaScript."""
    function = getattr(ctypes.CDLL(None), {"rem": "fmod"}.get(name, name))
    function.restype = ctypes.c_double
    return lambda *args: function(*map(ctypes.c_double, args))


def kernels(made: Callable[[], Program]) -> tuple[Program, list[Any]]:
    """A program that is finished without fused multiply-adds, as machine code and as WebAssembly, and how it was
    printed for that: each makes it anew, and cuts it into parts of its own."""
    native, program = made(), made()
    machine = LLVM().load(LLVM().build(LLVM().source(native)), native.layout, 1)
    code = print_wasm(split(branches(program)))
    return program, [machine, Kernel(code, program.layout)]


def assert_alike(got: Any, want: Any, operations: Any, what: str = "") -> None:
    """Bit by bit. LLVM's larger and smaller of two zeros of either sign is the second, but on ARM."""
    if not processor().arm and {"max", "min"} & set(operations):
        got, want = ([np.where(x == 0, 0, x) for x in leaves(each)] for each in (got, want))
    assert_same(got, want, what)


def check(function: Any, *args: Any, parameters=(), rows: int = 0) -> Program:
    """A function gives the same as machine code and as WebAssembly; of `rows`, for each row of the arguments."""
    compiled = Compiled(function, fma=False, cache=False, parameters=parameters)
    examples = tuple(arg[0] for arg in args) if rows else args
    signature, given = compiled._signature(examples)
    program, both = kernels(lambda: compiled._traced(signature, examples)[0])
    given = list(args) if rows else given
    want, got = (kernel(given, [bool(rows)] * len(given), rows or 1) for kernel in both)
    assert_alike(got, want, program.stats)
    return program
