"""Matrix multiplication and attention kernels for tensor cores, written with `warploom.author`."""

from warploom.kernels.ampere.plan import WarpTile
from warploom.kernels.api import gemm, grouped_gemm
from warploom.kernels.attention_api import attention
from warploom.kernels.backward_api import attention_backward
from warploom.kernels.blackwell.plan import TensorPlan, TensorTile
from warploom.kernels.block_formats import arrange_scales, pack_e2m1
from warploom.kernels.hopper.plan import BlockScales, Plan, Tile
from warploom.kernels.plan import Epilogue
from warploom.kernels.sparse import Compressed, compress, decompress, prune

__all__ = [
    "BlockScales", "Compressed", "Epilogue", "Plan", "TensorPlan", "TensorTile", "Tile", "WarpTile",
    "arrange_scales", "attention", "attention_backward", "compress", "decompress", "gemm", "grouped_gemm",
    "pack_e2m1", "prune",
]  # fmt: skip
