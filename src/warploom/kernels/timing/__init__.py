"""Timing of GEMM kernels on a GPU in comparison with cuBLAS, and the search for the fastest tiles."""
