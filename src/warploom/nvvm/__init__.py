"""Lowering of compiler builtins, MLIR's nvvm dialect and LLVM intrinsics to PTX.

`raise_to_nvvm` translates PTX back to the nvvm dialect. `words` are the modifiers of an instruction by name.
"""

from warploom.nvvm.api import lower, notes, protocol_warnings
from warploom.nvvm.errors import LowerError

__all__ = ["LowerError", "lower", "notes", "protocol_warnings"]
