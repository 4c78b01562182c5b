"""GEMM kernels for sm_80 and later: asynchronous copies and warp-level multiplication."""
