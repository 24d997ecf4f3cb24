"""Back ends, which make code of finished programs: `LLVM`, for the processor at hand, and `CUDA`, for GPUs; modules of
WebAssembly."""

from naiad.compiler.backends.backend import Backend, Kernel
from naiad.compiler.backends.llvm.backend import LLVM
from naiad.compiler.backends.llvm.chain import chained
from naiad.compiler.backends.llvm.machine import SELDOM
from naiad.compiler.backends.places import Place, address, empty
from naiad.compiler.backends.resident import Resident
from naiad.compiler.backends.wasm.module import Names, WasmModule, wasm_module

__all__ = [
    "LLVM",
    "SELDOM",
    "Backend",
    "Kernel",
    "Names",
    "Place",
    "Resident",
    "WasmModule",
    "address",
    "chained",
    "default_backend",
    "empty",
    "gpu_backend",
    "wasm_module",
]


def default_backend() -> Backend:
    """The one that is taken if nobody names another."""
    return LLVM()


def gpu_backend(*, remember: bool) -> Backend:
    """The one for GPUs; `remember`: what it finds out about them is kept on disk."""
    from naiad.compiler.backends.cuda.backend import CUDA

    return CUDA(remember=remember)
