"""The compiler's path in the open: builtins, MLIR's nvvm dialect, LLVM's intrinsics, packed words, and PTX."""

from __future__ import annotations

from warploom.nvvm.api import LowerError, lower, remarks

__all__ = ["LowerError", "lower", "remarks"]
