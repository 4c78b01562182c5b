"""Launches of kernels. Callers use the functions of `api`."""
