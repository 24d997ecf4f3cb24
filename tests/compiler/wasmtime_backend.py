"""Programs as WebAssembly, run by wasmtime, with the functions of the C library that machine code calls too."""

import base64
import ctypes
import ctypes.util
import math

import numpy as np
import wasmtime

from naiad.compiler.backends import Backend
from naiad.compiler.backends.wasm.operations import LIBRARY
from naiad.compiler.backends.wasm.printer import print_wasm
from naiad.compiler.passes.branches import branches
from naiad.compiler.passes.split import split

ENGINE = wasmtime.Engine()
C_NAMES = {"rem": "fmod"}


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
    """A module in wasmtime's memory."""

    def __init__(self, code: bytes, layout):
        self.layout = layout
        self.store = wasmtime.Store(ENGINE)
        module = wasmtime.Module(ENGINE, code)
        imports = [self._imported(each) for each in module.imports]
        self.exports = wasmtime.Instance(self.store, module, imports).exports(self.store)

    def _imported(self, each) -> wasmtime.Func:
        function = library(C_NAMES.get(each.name, each.name), len(each.type.params))
        return wasmtime.Func(self.store, each.type, function)

    def __call__(self, leaves, own, size):
        rows = [self._row([x[k] if each else x for x, each in zip(leaves, own, strict=True)]) for k in range(size)]
        return [
            np.array([row[i] for row in rows], slot.dtype).reshape(size, *slot.shape)
            for i, slot in enumerate(self.layout.outputs)
        ]

    def _row(self, leaves):
        memory = self.exports["memory"]
        for slot, leaf in zip(self.layout.inputs, leaves, strict=True):
            memory.write(self.store, inside(leaf).tobytes(), 8 * slot.offset)
        self.exports["run"](self.store)
        return [self._read(slot) for slot in self.layout.outputs]

    def _read(self, slot):
        start = 8 * (self.layout.in_size + slot.offset)
        held = self.exports["memory"].read(self.store, start, start + 8 * math.prod(slot.shape))
        kind = np.float64 if slot.dtype == "float64" else np.int64
        return np.frombuffer(bytes(held), kind).astype(slot.dtype).reshape(slot.shape)


def inside(leaf) -> np.ndarray:
    """A leaf as it lies in memory."""
    leaf = np.asarray(leaf)
    return leaf if leaf.dtype == np.float64 else leaf.astype(np.int64)


def library(name: str, count: int):
    """A function of the C library of `count` floats."""
    function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * count
    return function
