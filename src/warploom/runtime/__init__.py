"""Launches of kernels from Python or from a launch file. Callers use the functions of `api`."""
