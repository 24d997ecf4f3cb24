"""Machine code from LLVM IR, for the processor at hand."""

import ctypes
import functools
import itertools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import llvmlite.binding as llvm

T = TypeVar("T")

LEVEL = 1  # of LLVM's passes: programs come simplified, and more passes take longer than they save; 0: none at all
SELDOM = -1  # for code that runs so seldom that it need not be good: it is made in a tenth of the time


class Processor(NamedTuple):
    """The processor: its name, its features, the doubles that fit a vector register, how many of these there are,
    whether it has fused multiply-add, and whether it is an ARM."""

    triple: str
    name: str
    features: str
    width: int
    registers: int
    fma: bool
    arm: bool


@functools.cache
def processor() -> Processor:
    """The processor at hand."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    triple = llvm.get_default_triple()
    arm = triple.startswith(("aarch64", "arm64"))
    width = 8 if features.get("avx512f") else 4 if features.get("avx") else 2
    registers = 32 if arm or width == 8 else 16
    fma = arm or bool(features.get("fma"))
    return Processor(triple, llvm.get_host_cpu_name(), features.flatten(), width, registers, fma, arm)


def versions() -> tuple[Any, ...]:
    """What machine code depends on besides the program."""
    return (*processor(), llvm.llvm_version_info)


def object_code(ir: str, *, level: int = LEVEL) -> bytes:
    """The object file of a module."""
    target = _target(level)
    module = _optimised(ir, target, level)
    return target.emit_object(module)


def assembly(ir: str, *, level: int = LEVEL) -> str:
    """The assembly of a module, to look at."""
    target = _target(level)
    return target.emit_assembly(_optimised(ir, target, level))


def _target(level: int) -> Any:
    cpu = processor()
    features = cpu.features + (",-prefer-256-bit" if cpu.width == 8 else "")
    return llvm.Target.from_triple(cpu.triple).create_target_machine(
        opt=0 if level == SELDOM else 2, cpu=cpu.name, features=features, reloc="pic", codemodel="small", jit=True
    )


def _optimised(ir: str, target: Any, level: int) -> Any:
    module = llvm.parse_assembly(ir)
    module.verify()
    if level <= 0:
        return module
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.slp_vectorization = options.loop_unrolling = False
    options.loop_vectorization = True  # of loops over arrays in memory
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    return module


class Loaded:
    """Object code in memory; `run(in, out, work, first, last)` is called without the interpreter's lock."""

    def __init__(self, code: bytes):
        name = f"program{next(_NUMBERS)}"
        library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process().export_symbol("run")
        self._library = library.link(_linker(), name)  # the code stays as long as this does
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        self.address: int = self._library["run"]
        self.run = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, number, number)(self.address)


_NUMBERS = itertools.count()


def once(make: Callable[[], T]) -> Callable[[], T]:
    """What `make` makes, once: threads that come at the same time get the same. (Of `functools.cache` each of them gets
    its own, of which one stays: code that only another holds would be gone.)"""
    made: list[T] = []
    lock = threading.Lock()

    @functools.wraps(make)
    def get() -> T:
        if not made:
            with lock:
                if not made:
                    made.append(make())
        return made[0]

    return get


@once
def _linker() -> Any:
    """Lays code and constants of a program side by side: within reach of each other, also in a large process."""
    return llvm.create_lljit_compiler(_target(0), use_jit_link=True)
