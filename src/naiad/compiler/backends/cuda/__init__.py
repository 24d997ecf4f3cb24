"""Code for NVIDIA's GPUs: a program printed as CUDA C, a thread a row."""
