"""PTX text as an operation: nvvm.inline_ptx."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, i1
from xdsl.irdl import opt_operand_def, prop_def, var_operand_def, var_result_def

from warploom.nvvm.dialect.lowering import Lowering
from warploom.nvvm.dialect.operation import SEGMENTED, Operation, operation


@operation("nvvm.inline_ptx")
class InlinePtx(Operation):
    """PTX text with the values that the text reads, changes and writes."""

    irdl_options = SEGMENTED
    readOnlyArgs = var_operand_def()
    readWriteArgs = var_operand_def()
    ptxCode = prop_def(StringAttr)
    predicate = opt_operand_def(i1)
    writeOnlyArgs = var_result_def()
    assembly_format = (
        "$ptxCode (`ro` `(` $readOnlyArgs^ `:` type($readOnlyArgs) `)`)?"
        " (`rw` `(` $readWriteArgs^ `:` type($readWriteArgs) `)`)?"
        " (`,` `predicate` `=` $predicate^)? attr-dict (`->` type($writeOnlyArgs)^)?"
    )

    def lower(self) -> Lowering:
        return Lowering([])
