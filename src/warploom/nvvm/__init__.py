"""Lowering of compiler builtins, MLIR's nvvm dialect and LLVM intrinsics to PTX, and raising of PTX.

A slot is the name of a modifier in the syntax of a Form, such as `shape`. The `words` of an instruction map slots to
modifiers.
"""

from warploom.nvvm.api import lower, protocol_warnings
from warploom.nvvm.errors import LowerError

__all__ = ["LowerError", "lower", "protocol_warnings"]
