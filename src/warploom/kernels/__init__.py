"""GEMM kernels for tensor cores, written with `author`."""

from __future__ import annotations

from warploom.kernels.ampere.plan import WarpTile
from warploom.kernels.api import gemm
from warploom.kernels.grouped import grouped_gemm
from warploom.kernels.hopper.plan import Blocks, Epilogue, Plan, Tile
from warploom.kernels.sparse import Compressed, compress, decompress, prune

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
