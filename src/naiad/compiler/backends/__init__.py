"""Back ends, which make code of finished programs: `LLVM`, for the processor at hand; modules of WebAssembly."""

from naiad.compiler.backends.backend import Backend, Kernel
from naiad.compiler.backends.llvm.backend import LLVM
from naiad.compiler.backends.wasm.module import Names, WasmModule, wasm_module

__all__ = ["LLVM", "Backend", "Kernel", "Names", "WasmModule", "default_backend", "wasm_module"]


def default_backend() -> Backend:
    """The one that is taken if nobody names another."""
    return LLVM()
