"""The abstract machine: whole grids, batches of warps, bit for bit."""
