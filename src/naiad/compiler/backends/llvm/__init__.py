"""Machine code through LLVM."""
