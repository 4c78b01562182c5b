"""Multiplication in tensor memory: the operations whose names begin with nvvm.tcgen05.mma."""

import re
from collections.abc import Mapping
from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr, VectorType, i1, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import BaseAttr, IRDLOperation, eq, operand_def, opt_operand_def, opt_prop_def, prop_def
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from warploom.isa.instructions import tcgen05_mma
from warploom.nvvm.dialect.attributes import BlockScale, Collector, CollectorBuffer, CtaGroup, ScaleKind, TensorKind
from warploom.nvvm.dialect.lowering import Lowering, Registers
from warploom.nvvm.dialect.operation import SEGMENTED, Operation, operation
from warploom.nvvm.dialect.types import TENSOR_SPACE, pointer, registers_of

_LANE_WORDS = {"cta_1": 4, "cta_2": 8}
"""Number of 32-bit registers in the mask of disabled lanes, which has one bit for each lane."""


@irdl_custom_directive
class OptionalTypes(CustomDirective):
    """Assembly-format directive for the types of the optional scale and mask."""

    scale: TypeDirective
    mask: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        types: list[Attribute] = []
        while parser.parse_optional_punctuation(","):
            types.append(parser.parse_type())
        self.scale.set(state, [each for each in types if each == i64])
        self.mask.set(state, [each for each in types if each != i64])

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        for each in (*self.scale.get(op), *self.mask.get(op)):
            printer.print_string(", ")
            printer.print_attribute(each)


class _Multiplication(Operation):
    """Base class of all multiplications.

    A is in shared memory (a descriptor) or in tensor memory (a pointer).
    """

    matrixD = operand_def(pointer(TENSOR_SPACE))
    matrixA = operand_def(eq(i64) | pointer(TENSOR_SPACE))
    matrixB = operand_def(i64)
    idesc = operand_def(i32)
    enableInputD = operand_def(i1)
    collectorOp = prop_def(Collector, default_value=Collector("discard"))

    NAMES: ClassVar[Mapping[str, str]] = {
        "matrixD": "d_tmem",
        "matrixA": "a_desc",
        "matrixB": "b_desc",
        "enableInputD": "enable_input_d",
        "sparseMetadata": "sp_meta_tmem",
        "scaleInputD": "scale_input_d",
        "scaleA": "scale_A_tmem",
        "scaleB": "scale_B_tmem",
        "zeroColMask": "zero_column_mask_desc",
        "ctaGroup": "cta_group",
        "blockScale": "scale_vectorsize",
        "aShift": "ashift",
    }

    def lower(self) -> Lowering:
        a = {} if self.matrixA.type == i64 else {"a_desc": None, "a_tmem": self.matrixA}
        mask = self.disableOutputLane if isinstance(self, _Unscaled) else None
        lanes = None if mask is None else Registers([mask])
        late = ("ashift",) if mask is None else ()
        buffer = self.collectorBBuffer.data if isinstance(self, _Stationary) else "a"
        words = {"collector_usage": f"collector::{buffer}::{self.collectorOp.data}"}
        return Lowering([self.declared(words, late, disable_output_lane=lanes, **a)])


class _Sparse(Operation):
    """Multiplication with a sparse A. The metadata of A are in tensor memory."""

    sparseMetadata = operand_def(pointer(TENSOR_SPACE))


_OPERANDS = "$matrixD `,` $matrixA `,` $matrixB `,` $idesc `,` $enableInputD"
_SPARSE_OPERANDS = f"{_OPERANDS} `,` $sparseMetadata"
_TYPES = "attr-dict `:` `(` type(operands) `)`"


def _format_with_options(operands: str) -> str:
    """Return an assembly format: the operands, then an optional scale and an optional mask."""
    types = re.sub(r"\$\w+", r"type(\g<0>)", operands)
    return (
        f"{operands} (`scale` `=` $scaleInputD^)? (`mask` `=` $disableOutputLane^)? attr-dict `:` `(` {types}"
        " custom<OptionalTypes>(type($scaleInputD), type($disableOutputLane)) `)`"
    )


class _Unscaled(Operation):
    """Multiplication without block scales."""

    irdl_options = SEGMENTED
    scaleInputD = opt_operand_def(i64)
    disableOutputLane = opt_operand_def(BaseAttr(VectorType))
    kind = prop_def(TensorKind)
    ctaGroup = prop_def(CtaGroup)
    aShift = opt_prop_def(UnitAttr)
    custom_directives = (OptionalTypes,)

    def check(self) -> None:
        _, a, *_ = self.operands
        if self.disableOutputLane is not None:
            length = len(registers_of(self.disableOutputLane.type))
            if length != _LANE_WORDS[self.ctaGroup.data]:
                raise self.error(f"Disable Output Lane of length {length} is incompatible with CtaGroupAttr")
        if self.aShift is None:
            return
        if a.type == i64:
            raise self.error("A-shift can be applied only when matrix A is in tensor memory")
        if self.properties.get("collectorOp") in (Collector("fill"), Collector("use")):
            raise self.error("Cannot use collector buffer operation fill or use with ashift")


@operation("nvvm.tcgen05.mma", tcgen05_mma.MMA, tcgen05_mma.MMA_TENSOR)
class Mma(_Multiplication, _Unscaled):
    """Multiplication of matrices into tensor memory."""

    assembly_format = _format_with_options(_OPERANDS)


@operation("nvvm.tcgen05.mma.sp", tcgen05_mma.MMA, tcgen05_mma.MMA_TENSOR)
class MmaSp(_Multiplication, _Sparse, _Unscaled):
    """Multiplication of a sparse A and a dense B into tensor memory."""

    assembly_format = _format_with_options(_SPARSE_OPERANDS)


class _Scaled(Operation):
    """Multiplication with block scales."""

    scaleA = operand_def(pointer(TENSOR_SPACE))
    scaleB = operand_def(pointer(TENSOR_SPACE))
    kind = prop_def(ScaleKind)
    ctaGroup = prop_def(CtaGroup)
    blockScale = prop_def(BlockScale, default_value=BlockScale("default"))

    def check(self) -> None:
        kind, scale = self.kind.data, self.blockScale.data
        if kind == "mxf4nvf4" and scale == "default":
            raise self.error("mxf4nvf4 requires block scale attribute")
        if kind != "mxf4nvf4" and scale == "block16":
            raise self.error(f"{kind} kind does not support block16 attribute")


@operation("nvvm.tcgen05.mma.block_scale", tcgen05_mma.BLOCK, tcgen05_mma.BLOCK_TENSOR)
class MmaBlockScale(_Multiplication, _Scaled):
    """Multiplication of matrices with block scales into tensor memory."""

    assembly_format = f"{_OPERANDS} `,` $scaleA `,` $scaleB {_TYPES}"


@operation("nvvm.tcgen05.mma.sp.block_scale", tcgen05_mma.BLOCK, tcgen05_mma.BLOCK_TENSOR)
class MmaSpBlockScale(_Multiplication, _Sparse, _Scaled):
    """Multiplication of a sparse A and a dense B with block scales into tensor memory."""

    assembly_format = f"{_SPARSE_OPERANDS} `,` $scaleA `,` $scaleB {_TYPES}"


class _Stationary(Operation):
    """Base class of one-CTA multiplications that keep B in a collector buffer."""

    zeroColMask = opt_operand_def(i64)
    kind = prop_def(TensorKind)
    collectorBBuffer = prop_def(CollectorBuffer, default_value=CollectorBuffer("b0"))

    WORDS: ClassVar[Mapping[str, str]] = {"cta_group": "cta_group::1"}


@operation("nvvm.tcgen05.mma.ws", tcgen05_mma.STATIONARY, tcgen05_mma.STATIONARY_TENSOR)
class MmaWs(_Multiplication, _Stationary):
    """Multiplication with a B that stays in a collector buffer."""

    assembly_format = f"{_OPERANDS} (`,` $zeroColMask^)? {_TYPES}"


@operation("nvvm.tcgen05.mma.ws.sp", tcgen05_mma.STATIONARY, tcgen05_mma.STATIONARY_TENSOR)
class MmaWsSp(_Multiplication, _Sparse, _Stationary):
    """Multiplication of a sparse A with a B that stays in a collector buffer."""

    assembly_format = f"{_SPARSE_OPERANDS} (`,` $zeroColMask^)? {_TYPES}"
