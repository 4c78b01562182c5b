"""Configurations of the GEMM kernels: legal plans, covering arrays, and trials of the kernels."""
