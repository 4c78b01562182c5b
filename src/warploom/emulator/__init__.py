"""Bit-exact execution of whole grids on the CPU, in batches of warps.

docs/architecture.md defines the terms of this package, such as wave, warp split, slot, batch, position and epoch.
"""
