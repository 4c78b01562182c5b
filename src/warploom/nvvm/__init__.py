"""The compiler's path in the open: operations of MLIR's nvvm dialect, LLVM's intrinsics, and PTX."""

from __future__ import annotations

from warploom.nvvm.api import lower

__all__ = ["lower"]
