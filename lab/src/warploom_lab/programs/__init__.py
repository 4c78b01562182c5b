"""Public CUDA programs: compilation with nvcc, runs under `warploom exec`, and their results."""
