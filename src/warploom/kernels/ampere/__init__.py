"""GEMM kernels for sm_80 and later: cp.async copies and warp-level multiplication."""
