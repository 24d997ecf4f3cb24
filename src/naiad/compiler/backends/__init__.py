"""Back ends, which make code of finished programs: `LLVM`, for the processor at hand."""

from naiad.compiler.backends.backend import Backend, Kernel
from naiad.compiler.backends.llvm.backend import LLVM

__all__ = ["LLVM", "Backend", "Kernel", "default_backend"]


def default_backend() -> Backend:
    """The one that is taken if nobody names another."""
    return LLVM()
