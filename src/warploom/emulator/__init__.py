"""Bit-exact execution of whole grids on the CPU, in batches of warps."""
