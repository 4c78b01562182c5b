"""GEMM kernels for Hopper (sm_90a): TMA loads, warpgroup multiplication, persistent CTAs."""
