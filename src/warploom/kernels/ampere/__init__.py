"""GEMM kernels whose warps multiply by themselves, stage by stage, from sm_80 on."""
