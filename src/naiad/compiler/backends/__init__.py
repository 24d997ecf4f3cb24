"""From a program to a kernel: LLVM for the processor at hand."""
