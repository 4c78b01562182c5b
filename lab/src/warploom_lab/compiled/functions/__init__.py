"""Source of kernels for Triton, numba-cuda and clang, whose LLVM IR `lower` accepts."""
