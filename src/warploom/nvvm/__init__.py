"""The compiler's path in the open: builtins, operations of MLIR's nvvm dialect, LLVM's intrinsics, packed words, and PTX."""

from __future__ import annotations

from warploom.nvvm.api import lower

__all__ = ["lower"]
