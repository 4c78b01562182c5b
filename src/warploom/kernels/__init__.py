"""GEMM kernels for tensor cores, written with `author`."""
