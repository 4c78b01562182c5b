"""Operation `llvm.switch`, which xDSL lacks."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, DenseIntElementsAttr, VectorType, i32
from xdsl.ir import Block, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    successor_def,
    traits_def,
    var_operand_def,
    var_successor_def,
)
from xdsl.traits import IsTerminator


@irdl_op_definition
class SwitchOp(IRDLOperation):
    """Jump to one of several blocks, by the value of an integer."""

    name = "llvm.switch"
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    value = operand_def()
    defaultOperands = var_operand_def()
    caseOperands = var_operand_def()
    case_values = opt_prop_def()
    case_operand_segments = prop_def()
    branch_weights = opt_prop_def()
    defaultDestination = successor_def()
    caseDestinations = var_successor_def()
    traits = traits_def(IsTerminator())

    @classmethod
    def of(cls, value: SSAValue, default: Block, cases: Sequence[tuple[Block, Sequence[SSAValue]]]) -> SwitchOp:
        """Return a switch that jumps to `cases[n]` with values if `value` is n, and otherwise to `default`."""
        numbers = list(range(len(cases)))
        return cls(
            operands=[value, [], [each for _, values in cases for each in values]],
            properties={
                "case_values": DenseIntElementsAttr.from_list(VectorType(i32, [len(cases)]), numbers),
                "case_operand_segments": DenseArrayBase.from_list(i32, [len(values) for _, values in cases]),
            },
            successors=[default, [block for block, _ in cases]],
        )
