"""Lowering of CUDA C with compiler builtins, MLIR and LLVM IR to PTX, and lifting of PTX to MLIR."""

from warploom.nvvm.api import Lowered, lower, notes, protocol_warnings
from warploom.nvvm.errors import LowerError

__all__ = ["LowerError", "Lowered", "lower", "notes", "protocol_warnings"]
