"""Matrix multiplication kernels for tensor cores, written with `warploom.author`."""

from warploom.kernels.ampere.plan import WarpTile
from warploom.kernels.api import gemm, grouped_gemm
from warploom.kernels.hopper.plan import BlockScales, Plan, Tile
from warploom.kernels.plan import Epilogue
from warploom.kernels.sparse import Compressed, compress, decompress, prune

__all__ = [
    "BlockScales", "Compressed", "Epilogue", "Plan", "Tile", "WarpTile", "compress", "decompress", "gemm",
    "grouped_gemm", "prune",
]  # fmt: skip
