"""GEMM kernels for tensor cores, written with `author`."""

from __future__ import annotations

from warploom.kernels.api import gemm
from warploom.kernels.grouped import grouped_gemm
from warploom.kernels.plan import Blocks, Epilogue, Plan, Tile

__all__ = ["Blocks", "Epilogue", "Plan", "Tile", "gemm", "grouped_gemm"]
