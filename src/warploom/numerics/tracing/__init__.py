"""Translation of lane-wise semantics to LLVM IR: traced lane values, and traced scalar kernels."""
