"""Cases of the CUDA driver API, run with any `libcuda.so.1`; they need only the standard library."""
