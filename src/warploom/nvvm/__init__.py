"""Lowering of compiler builtins, MLIR's nvvm dialect and LLVM's intrinsics to PTX, and raising of PTX."""

from __future__ import annotations

from warploom.nvvm.api import lower, protocol_warnings
from warploom.nvvm.errors import LowerError

__all__ = ["LowerError", "lower", "protocol_warnings"]
