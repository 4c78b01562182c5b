"""PTX as it is: nvvm.inline_ptx."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i1, i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_operand_def, prop_def, var_operand_def, var_result_def

from warploom.nvvm.dialect.operation import SEGMENTED, Operation
from warploom.nvvm.dialect.pieces import Code


@irdl_op_definition
class InlinePtx(Operation):
    """A text of PTX, with values that it reads, changes and writes."""

    name = "nvvm.inline_ptx"
    irdl_options = SEGMENTED
    readOnlyArgs = var_operand_def()
    readWriteArgs = var_operand_def()
    ptxCode = prop_def(StringAttr)
    predicate = opt_operand_def(i1)
    writeOnlyArgs = var_result_def()
    NONE: ClassVar[Mapping[str, Attribute]] = {
        "operandSegmentSizes": DenseArrayBase.from_list(i32, [0, 0, 0])
    }
    """The property of one without values."""

    assembly_format = (
        "$ptxCode (`ro` `(` $readOnlyArgs^ `:` type($readOnlyArgs) `)`)?"
        " (`rw` `(` $readWriteArgs^ `:` type($readWriteArgs) `)`)?"
        " (`,` `predicate` `=` $predicate^)? attr-dict (`->` type($writeOnlyArgs)^)?"
    )

    def code(self) -> Code:
        return Code([])
