"""Lifting of PTX modules to MLIR modules with the nvvm and llvm dialects."""

from warploom.nvvm.lifting.module import lift

__all__ = ["lift"]
