"""Multiplication in tensor memory: the operations whose names begin with nvvm.tcgen05.mma."""

from __future__ import annotations

import re
from abc import abstractmethod

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
from warploom.nvvm.dialect.lowering import Immediate, Lowering, Memory, OperandTemplate, Registers
from warploom.nvvm.dialect.operation import SEGMENTED, Operation, operation
from warploom.nvvm.dialect.types import TENSOR_SPACE, pointer, registers_of

_LANE_WORDS = {"cta_1": 4, "cta_2": 8}
"""Number of 32-bit registers in the mask of disabled lanes, which has one bit for each lane."""


@irdl_custom_directive
class OptionalTypes(CustomDirective):
    """Types of the scale and of the mask, each after a comma if it is present."""

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


class _Variant(Operation):
    """Variant of the multiplication, with modifiers and operands of its own."""

    @abstractmethod
    def variant_words(self) -> dict[str, str]:
        """Return the variant's modifiers by name."""

    @abstractmethod
    def variant_operands(self) -> dict[str, OperandTemplate | None]:
        """Return the variant's own operands by name."""


class _Multiplication(_Variant):
    """Multiplication with the operands of all variants. A is behind a descriptor or in tensor memory."""

    matrixD = operand_def(pointer(TENSOR_SPACE))
    matrixA = operand_def(eq(i64) | pointer(TENSOR_SPACE))
    matrixB = operand_def(i64)
    idesc = operand_def(i32)
    enableInputD = operand_def(i1)

    def lower(self) -> Lowering:
        is_described = self.matrixA.type == i64
        operands = self.variant_operands()
        return self.instruction(
            self.variant_words(),
            None,
            ("ashift",) if operands.get("disable_output_lane") is None else (),
            d_tmem=self.matrixD,
            a_desc=self.matrixA if is_described else None,
            a_tmem=None if is_described else self.matrixA,
            b_desc=self.matrixB,
            sp_meta_tmem=self.sparseMetadata if isinstance(self, _Sparse) else None,
            idesc=self.idesc,
            enable_input_d=self.enableInputD,
            **operands,
        )


class _Sparse(Operation):
    """Multiplication with a sparse A, whose metadata are in tensor memory."""

    sparseMetadata = operand_def(pointer(TENSOR_SPACE))


_OPERANDS = "$matrixD `,` $matrixA `,` $matrixB `,` $idesc `,` $enableInputD"
_SPARSE_OPERANDS = f"{_OPERANDS} `,` $sparseMetadata"
_TYPES = "attr-dict `:` `(` type(operands) `)`"


def _format_with_options(operands: str) -> str:
    """Return the assembly format of operands that a scale and a mask may follow."""
    types = re.sub(r"\$\w+", r"type(\g<0>)", operands)
    return (
        f"{operands} (`scale` `=` $scaleInputD^)? (`mask` `=` $disableOutputLane^)? attr-dict `:` `(` {types}"
        " custom<OptionalTypes>(type($scaleInputD), type($disableOutputLane)) `)`"
    )


class _Unscaled(_Variant):
    """Multiplication without block scales."""

    irdl_options = SEGMENTED
    scaleInputD = opt_operand_def(i64)
    disableOutputLane = opt_operand_def(BaseAttr(VectorType))
    kind = prop_def(TensorKind)
    ctaGroup = prop_def(CtaGroup)
    collectorOp = prop_def(Collector, default_value=Collector("discard"))
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
        if self.collectorOp.data in {"fill", "use"}:
            raise self.error("Cannot use collector buffer operation fill or use with ashift")

    def variant_words(self) -> dict[str, str]:
        return {
            "cta_group": self.ctaGroup.word,
            "kind": f"kind::{self.kind.data}",
            "collector_usage": f"collector::a::{self.collectorOp.data}",
            "ashift": "" if self.aShift is None else "ashift",
        }

    def variant_operands(self) -> dict[str, OperandTemplate | None]:
        mask, scale = self.disableOutputLane, self.scaleInputD
        return {
            "disable_output_lane": None if mask is None else Registers([mask]),
            "scale_input_d": None if scale is None else Immediate(scale),
        }


@operation("nvvm.tcgen05.mma", tcgen05_mma.MMA, tcgen05_mma.MMA_TENSOR)
class Mma(_Multiplication, _Unscaled):
    """Multiplication of matrices into tensor memory."""

    assembly_format = _format_with_options(_OPERANDS)


@operation("nvvm.tcgen05.mma.sp", tcgen05_mma.MMA, tcgen05_mma.MMA_TENSOR)
class MmaSp(_Multiplication, _Sparse, _Unscaled):
    """Multiplication of a sparse A and a dense B into tensor memory."""

    assembly_format = _format_with_options(_SPARSE_OPERANDS)


class _Scaled(_Variant):
    """Multiplication with block scales."""

    scaleA = operand_def(pointer(TENSOR_SPACE))
    scaleB = operand_def(pointer(TENSOR_SPACE))
    kind = prop_def(ScaleKind)
    ctaGroup = prop_def(CtaGroup)
    blockScale = prop_def(BlockScale, default_value=BlockScale("default"))
    collectorOp = prop_def(Collector, default_value=Collector("discard"))

    def check(self) -> None:
        kind, scale = self.kind.data, self.blockScale.data
        if kind == "mxf4nvf4" and scale == "default":
            raise self.error("mxf4nvf4 requires block scale attribute")
        if kind != "mxf4nvf4" and scale == "block16":
            raise self.error(f"{kind} kind does not support block16 attribute")

    def variant_words(self) -> dict[str, str]:
        scale = self.blockScale.data
        return {
            "cta_group": self.ctaGroup.word,
            "kind": f"kind::{self.kind.data}",
            "scale_vectorsize": "" if scale == "default" else scale,
            "collector_usage": f"collector::a::{self.collectorOp.data}",
        }

    def variant_operands(self) -> dict[str, OperandTemplate | None]:
        return {"scale_A_tmem": Memory(self.scaleA), "scale_B_tmem": Memory(self.scaleB)}


@operation("nvvm.tcgen05.mma.block_scale", tcgen05_mma.BLOCK, tcgen05_mma.BLOCK_TENSOR)
class MmaBlockScale(_Multiplication, _Scaled):
    """Multiplication of matrices with block scales into tensor memory."""

    assembly_format = f"{_OPERANDS} `,` $scaleA `,` $scaleB {_TYPES}"


@operation("nvvm.tcgen05.mma.sp.block_scale", tcgen05_mma.BLOCK, tcgen05_mma.BLOCK_TENSOR)
class MmaSpBlockScale(_Multiplication, _Sparse, _Scaled):
    """Multiplication of a sparse A and a dense B with block scales into tensor memory."""

    assembly_format = f"{_SPARSE_OPERANDS} `,` $scaleA `,` $scaleB {_TYPES}"


class _Stationary(_Variant):
    """Multiplication of one CTA that keeps B in a collector buffer."""

    zeroColMask = opt_operand_def(i64)
    kind = prop_def(TensorKind)
    collectorBBuffer = prop_def(CollectorBuffer, default_value=CollectorBuffer("b0"))
    collectorOp = prop_def(Collector, default_value=Collector("discard"))

    def variant_words(self) -> dict[str, str]:
        return {
            "cta_group": "cta_group::1",
            "kind": f"kind::{self.kind.data}",
            "collector_usage": f"collector::{self.collectorBBuffer.data}::{self.collectorOp.data}",
        }

    def variant_operands(self) -> dict[str, OperandTemplate | None]:
        return {"zero_column_mask_desc": self.zeroColMask}


@operation("nvvm.tcgen05.mma.ws", tcgen05_mma.STATIONARY, tcgen05_mma.STATIONARY_TENSOR)
class MmaWs(_Multiplication, _Stationary):
    """Multiplication with a B that stays in a collector buffer."""

    assembly_format = f"{_OPERANDS} (`,` $zeroColMask^)? {_TYPES}"


@operation("nvvm.tcgen05.mma.ws.sp", tcgen05_mma.STATIONARY, tcgen05_mma.STATIONARY_TENSOR)
class MmaWsSp(_Multiplication, _Sparse, _Stationary):
    """Multiplication of a sparse A with a B that stays in a collector buffer."""

    assembly_format = f"{_SPARSE_OPERANDS} (`,` $zeroColMask^)? {_TYPES}"
