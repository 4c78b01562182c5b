"""Multiplication in tensor memory: the operations whose names begin with nvvm.tcgen05.mma."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr, VectorType, i1, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    BaseAttr,
    IRDLOperation,
    eq,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
)
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from warploom.nvvm.dialect.operation import SEGMENTED, Operation
from warploom.nvvm.dialect.pieces import (
    TENSOR_SPACE,
    At,
    Code,
    Constant,
    Fragment,
    Piece,
    Statement,
    pointer,
    registers_of,
)
from warploom.nvvm.dialect.tcgen05 import group_word
from warploom.nvvm.dialect.vocabulary import (
    BlockScale,
    Collector,
    CollectorBuffer,
    CtaGroup,
    ScaleKind,
    TensorKind,
)

_DISCARD = Collector("discard")
_OTHERS = "custom<Others>(type($scaleInputD), type($disableOutputLane))"
_TYPES = "attr-dict `:` `(` type(operands) `)`"
_LANES = {"cta_1": 4, "cta_2": 8}
"""Words of 32 lanes that a mask has."""


def _tensor() -> AttrConstraint:
    return pointer(TENSOR_SPACE)


def _matrix() -> AttrConstraint:
    """A: in tensor memory, or behind a descriptor."""
    return eq(i64) | pointer(TENSOR_SPACE)


def _a(value: SSAValue, forms: tuple[str, ...]) -> tuple[str, dict[str, Piece]]:
    """The form of an instruction with this A, and A at its place."""
    described, tensor = forms
    return (described, {"a_desc": value}) if value.type == i64 else (tensor, {"a_tmem": At(value)})


def _kept(collector: Collector) -> dict[str, str]:
    return {"collector_usage": f"collector::a::{collector.data}"}


@irdl_custom_directive
class Others(CustomDirective):
    """The types of the two operands that may be left out, each after a comma."""

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


class _Plain(Operation):
    """What multiplications without block scales share."""

    FORMS: ClassVar[tuple[str, ...]] = ("tcgen05.mma", "tcgen05.mma-tensor")

    irdl_options = SEGMENTED
    kind = prop_def(TensorKind)
    ctaGroup = prop_def(CtaGroup)
    collectorOp = prop_def(Collector, default_value=_DISCARD)
    aShift = opt_prop_def(UnitAttr)

    def _check(self, a: SSAValue, mask: SSAValue | None) -> None:
        group = self.ctaGroup.data
        if mask is not None:
            length = len(registers_of(mask.type))
            if length != _LANES[group]:
                raise self.refuse(f"Disable Output Lane of length {length} is incompatible with CtaGroupAttr")
        if self.aShift is None:
            return
        if a.type == i64:
            raise self.refuse("A-shift can be applied only when matrix A is in tensor memory")
        if self.collectorOp.data in {"fill", "use"}:
            raise self.refuse("Cannot use collector buffer operation fill or use with ashift")

    def _code(
        self, operands: dict[str, Piece], a: SSAValue, scale: SSAValue | None, mask: SSAValue | None
    ) -> Code:
        form, where = _a(a, self.FORMS)
        words = {
            **group_word(self.ctaGroup),
            "kind": f"kind::{self.kind.data}",
            **_kept(self.collectorOp),
            "ashift": "" if self.aShift is None else "ashift",
        }
        if "sp_meta_tmem" in operands:
            words["sp"] = "sp"
        if mask is not None:
            operands["disable_output_lane"] = Fragment.of(mask)
        if scale is not None:
            operands["scale_input_d"] = Constant(scale)
        late = () if mask is not None else ("ashift",)
        return Code([Statement((form,), words, where | operands, late=late)])


@irdl_op_definition
class Mma(_Plain):
    """Multiplies matrices into tensor memory."""

    name = "nvvm.tcgen05.mma"
    matrixD = operand_def(_tensor())
    matrixA = operand_def(_matrix())
    matrixB = operand_def(i64)
    idesc = operand_def(i32)
    enableInputD = operand_def(i1)
    scaleInputD = opt_operand_def(i64)
    disableOutputLane = opt_operand_def(BaseAttr(VectorType))
    custom_directives = (Others,)
    assembly_format = (
        "$matrixD `,` $matrixA `,` $matrixB `,` $idesc `,` $enableInputD (`scale` `=` $scaleInputD^)?"
        " (`mask` `=` $disableOutputLane^)? attr-dict `:` `(` type($matrixD) `,` type($matrixA) `,`"
        f" type($matrixB) `,` type($idesc) `,` type($enableInputD) {_OTHERS} `)`"
    )

    def check(self) -> None:
        self._check(self.matrixA, self.disableOutputLane)

    def code(self) -> Code:
        operands: dict[str, Piece] = {
            "d_tmem": At(self.matrixD),
            "b_desc": self.matrixB,
            "idesc": self.idesc,
            "enable_input_d": self.enableInputD,
        }
        return self._code(operands, self.matrixA, self.scaleInputD, self.disableOutputLane)


@irdl_op_definition
class MmaSp(_Plain):
    """Multiplies a sparse A and a dense B into tensor memory."""

    name = "nvvm.tcgen05.mma.sp"
    matrixD = operand_def(_tensor())
    matrixA = operand_def(_matrix())
    matrixB = operand_def(i64)
    idesc = operand_def(i32)
    enableInputD = operand_def(i1)
    sparseMetadata = operand_def(_tensor())
    scaleInputD = opt_operand_def(i64)
    disableOutputLane = opt_operand_def(BaseAttr(VectorType))
    custom_directives = (Others,)
    assembly_format = (
        "$matrixD `,` $matrixA `,` $matrixB `,` $idesc `,` $enableInputD `,` $sparseMetadata"
        " (`scale` `=` $scaleInputD^)? (`mask` `=` $disableOutputLane^)?"
        " attr-dict `:` `(` type($matrixD) `,` type($matrixA) `,` type($matrixB) `,` type($idesc) `,`"
        f" type($enableInputD) `,` type($sparseMetadata) {_OTHERS} `)`"
    )

    def check(self) -> None:
        self._check(self.matrixA, self.disableOutputLane)

    def code(self) -> Code:
        operands: dict[str, Piece] = {
            "d_tmem": At(self.matrixD),
            "b_desc": self.matrixB,
            "sp_meta_tmem": At(self.sparseMetadata),
            "idesc": self.idesc,
            "enable_input_d": self.enableInputD,
        }
        return self._code(operands, self.matrixA, self.scaleInputD, self.disableOutputLane)


class _Scaled(Operation):
    """What multiplications with block scales share."""

    FORMS: ClassVar[tuple[str, ...]] = ("tcgen05.block", "tcgen05.block-tensor")

    kind = prop_def(ScaleKind)
    ctaGroup = prop_def(CtaGroup)
    blockScale = prop_def(BlockScale, default_value=BlockScale("default"))
    collectorOp = prop_def(Collector, default_value=_DISCARD)

    def check(self) -> None:
        kind, scale = self.kind.data, self.blockScale.data
        if kind == "mxf4nvf4" and scale == "default":
            raise self.refuse("mxf4nvf4 requires block scale attribute")
        if kind != "mxf4nvf4" and scale == "block16":
            raise self.refuse(f"{kind} kind does not support block16 attribute")

    def _code(self, operands: dict[str, Piece], a: SSAValue) -> Code:
        form, where = _a(a, self.FORMS)
        scale = self.blockScale.data
        words = {
            **group_word(self.ctaGroup),
            "kind": f"kind::{self.kind.data}",
            "scale_vectorsize": "" if scale == "default" else scale,
            **_kept(self.collectorOp),
        }
        if "sp_meta_tmem" in operands:
            words["sp"] = "sp"
        return Code([Statement((form,), words, where | operands)])


@irdl_op_definition
class MmaBlockScale(_Scaled):
    """Multiplies matrices whose blocks have scales into tensor memory."""

    name = "nvvm.tcgen05.mma.block_scale"
    matrixD = operand_def(_tensor())
    matrixA = operand_def(_matrix())
    matrixB = operand_def(i64)
    idesc = operand_def(i32)
    enableInputD = operand_def(i1)
    scaleA = operand_def(_tensor())
    scaleB = operand_def(_tensor())
    assembly_format = (
        "$matrixD `,` $matrixA `,` $matrixB `,` $idesc `,` $enableInputD `,` $scaleA `,` $scaleB " + _TYPES
    )

    def code(self) -> Code:
        operands: dict[str, Piece] = {
            "d_tmem": At(self.matrixD),
            "b_desc": self.matrixB,
            "idesc": self.idesc,
            "scale_A_tmem": At(self.scaleA),
            "scale_B_tmem": At(self.scaleB),
            "enable_input_d": self.enableInputD,
        }
        return self._code(operands, self.matrixA)


@irdl_op_definition
class MmaSpBlockScale(_Scaled):
    """Multiplies a sparse A and a dense B whose blocks have scales into tensor memory."""

    name = "nvvm.tcgen05.mma.sp.block_scale"
    matrixD = operand_def(_tensor())
    matrixA = operand_def(_matrix())
    matrixB = operand_def(i64)
    idesc = operand_def(i32)
    enableInputD = operand_def(i1)
    sparseMetadata = operand_def(_tensor())
    scaleA = operand_def(_tensor())
    scaleB = operand_def(_tensor())
    assembly_format = (
        "$matrixD `,` $matrixA `,` $matrixB `,` $idesc `,` $enableInputD `,` $sparseMetadata `,` $scaleA `,` $scaleB "
        + _TYPES
    )

    def code(self) -> Code:
        operands: dict[str, Piece] = {
            "d_tmem": At(self.matrixD),
            "b_desc": self.matrixB,
            "sp_meta_tmem": At(self.sparseMetadata),
            "idesc": self.idesc,
            "scale_A_tmem": At(self.scaleA),
            "scale_B_tmem": At(self.scaleB),
            "enable_input_d": self.enableInputD,
        }
        return self._code(operands, self.matrixA)


class _Stationary(Operation):
    """What multiplications that keep B share. They are of one CTA."""

    FORMS: ClassVar[tuple[str, ...]] = ("tcgen05.ws", "tcgen05.ws-tensor")

    kind = prop_def(TensorKind)
    collectorBBuffer = prop_def(CollectorBuffer, default_value=CollectorBuffer("b0"))
    collectorOp = prop_def(Collector, default_value=_DISCARD)

    def _code(self, operands: dict[str, Piece], a: SSAValue, mask: SSAValue | None) -> Code:
        form, where = _a(a, self.FORMS)
        words = {
            **group_word(CtaGroup("cta_1")),
            "kind": f"kind::{self.kind.data}",
            "collector_usage": f"collector::{self.collectorBBuffer.data}::{self.collectorOp.data}",
        }
        if "sp_meta_tmem" in operands:
            words["sp"] = "sp"
        if mask is not None:
            operands["zero_column_mask_desc"] = mask
        return Code([Statement((form,), words, where | operands)])


@irdl_op_definition
class MmaWs(_Stationary):
    """Multiplies with a B that stays in a buffer."""

    name = "nvvm.tcgen05.mma.ws"
    matrixD = operand_def(_tensor())
    matrixA = operand_def(_matrix())
    matrixB = operand_def(i64)
    idesc = operand_def(i32)
    enableInputD = operand_def(i1)
    zeroColMask = opt_operand_def(i64)
    assembly_format = (
        "$matrixD `,` $matrixA `,` $matrixB `,` $idesc `,` $enableInputD (`,` $zeroColMask^)? " + _TYPES
    )

    def code(self) -> Code:
        operands: dict[str, Piece] = {
            "d_tmem": At(self.matrixD),
            "b_desc": self.matrixB,
            "idesc": self.idesc,
            "enable_input_d": self.enableInputD,
        }
        return self._code(operands, self.matrixA, self.zeroColMask)


@irdl_op_definition
class MmaWsSp(_Stationary):
    """Multiplies a sparse A with a B that stays in a buffer."""

    name = "nvvm.tcgen05.mma.ws.sp"
    matrixD = operand_def(_tensor())
    matrixA = operand_def(_matrix())
    matrixB = operand_def(i64)
    idesc = operand_def(i32)
    enableInputD = operand_def(i1)
    sparseMetadata = operand_def(_tensor())
    zeroColMask = opt_operand_def(i64)
    assembly_format = (
        "$matrixD `,` $matrixA `,` $matrixB `,` $idesc `,` $enableInputD `,` $sparseMetadata"
        " (`,` $zeroColMask^)? " + _TYPES
    )

    def code(self) -> Code:
        operands: dict[str, Piece] = {
            "d_tmem": At(self.matrixD),
            "b_desc": self.matrixB,
            "sp_meta_tmem": At(self.sparseMetadata),
            "idesc": self.idesc,
            "enable_input_d": self.enableInputD,
        }
        return self._code(operands, self.matrixA, self.zeroColMask)
