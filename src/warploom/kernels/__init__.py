"""GEMM kernels for tensor cores, written with `author`."""

from __future__ import annotations

from warploom.kernels.api import gemm
from warploom.kernels.compress import Compressed, compress, decompress, prune
from warploom.kernels.grouped import grouped_gemm
from warploom.kernels.plan import Blocks, Epilogue, Plan, Tile
from warploom.kernels.warp_level.plan import WarpTile

__all__ = [
    "Blocks",
    "Compressed",
    "Epilogue",
    "Plan",
    "Tile",
    "WarpTile",
    "compress",
    "decompress",
    "gemm",
    "grouped_gemm",
    "prune",
]
