"""GEMM kernel with tensor memory, for the targets sm_100a and sm_103a."""
