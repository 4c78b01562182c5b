"""Arithmetic of one thread: dot products and permutations of bytes, reciprocals, descriptors."""

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr, VectorType, f32, i1, i8, i16, i32, i64
from xdsl.dialects.llvm import AndOp, OrOp, ShlOp
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, prop_def, result_def

from warploom.isa.instructions import approximate, bits, integer
from warploom.nvvm.dialect.attributes import DotType, PermuteMode
from warploom.nvvm.dialect.intrinsic import IntrinsicOperation
from warploom.nvvm.dialect.lowering import Lowering
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.llvm_builder import LlvmBuilder

_BYTES = VectorType(i8, [4])
_DOT_NAMES = {"a_type": "atype", "b_type": "btype", "res": "d"}
_DOT_FORMAT = "$a $a_type `,` $b $b_type `,` $c attr-dict `:` type($a) `,` type($b)"


@operation("nvvm.dot.accumulate.4way", integer.DP4A, names=_DOT_NAMES)
class DotOfFour(IntrinsicOperation):
    """Sum of c and of the four products of the bytes of a and b."""

    a = operand_def(_BYTES)
    a_type = prop_def(DotType)
    b = operand_def(_BYTES)
    b_type = prop_def(DotType)
    c = operand_def(i32)
    res = result_def(i32)
    assembly_format = _DOT_FORMAT


@operation("nvvm.dot.accumulate.2way", integer.DP2A, names=_DOT_NAMES)
class DotOfTwo(IntrinsicOperation):
    """Sum of c and of the products of the halves of a with two bytes of b."""

    a = operand_def(VectorType(i16, [2]))
    a_type = prop_def(DotType)
    b = operand_def(_BYTES)
    b_type = prop_def(DotType)
    c = operand_def(i32)
    b_hi = prop_def(BoolAttr)
    res = result_def(i32)
    assembly_format = _DOT_FORMAT

    def lower(self) -> Lowering:
        return Lowering([self.declared({"mode": "hi" if self.b_hi.value.data else "lo"})])

    def arguments(self, build: LlvmBuilder) -> Sequence[SSAValue]:
        return (self.a, self.b, build.flag(self.b_hi.value.data), self.c)


@operation("nvvm.prmt", bits.PRMT, names={"res": "d", "lo": "a", "hi": "b", "selector": "c"})
class Permute(IntrinsicOperation):
    """Four bytes that a selector chooses from one or two integers."""

    lo = operand_def(i32)
    hi = opt_operand_def(i32)
    selector = operand_def(i32)
    mode = prop_def(PermuteMode)
    res = result_def(i32)
    assembly_format = "$mode $selector `,` $lo (`,` $hi^)? attr-dict `:` type($res)"

    def check(self) -> None:
        mode = self.mode.data
        if (self.hi is None) != (mode not in ("default", "f4e", "b4e")):
            raise self.error(f"{mode} {'lacks the operand hi' if self.hi is None else 'does not use the operand hi'}")

    def lower(self) -> Lowering:
        return Lowering([self.declared(b=0 if self.hi is None else self.hi)])


@operation(
    "nvvm.rcp.approx.ftz.f",
    approximate.FUNCTION,
    words={"op": "rcp", "ftz": "ftz", "type": "f32"},
    names={"arg": "a", "res": "d"},
)
class Reciprocal(IntrinsicOperation):
    """Approximate reciprocal. Subnormal numbers become zero."""

    arg = operand_def(f32)
    res = result_def(f32)
    assembly_format = "$arg attr-dict `:` type($res)"


@operation("nvvm.tcgen05.mma_smem_desc")
class MatrixDescriptor(Operation):
    """Descriptor of a matrix in shared memory for tensor-memory multiplications, packed from its fields."""

    startAddr = operand_def(i32)
    leadingDimOffset = operand_def(i32)
    strideDimOffset = operand_def(i32)
    baseOffset = operand_def(i8)
    leadingDimMode = operand_def(i1)
    swizzleMode = operand_def(i8)
    res = result_def(i64)
    assembly_format = "`(` operands `)` attr-dict `:` `(` type(operands) `)` `->` type($res)"

    def lower(self) -> Lowering:
        return Lowering([])

    def to_llvm(self, build: LlvmBuilder) -> Sequence[SSAValue]:
        fields: list[tuple[SSAValue | None, int, int]] = [
            (self.startAddr, 14, 0),
            (self.leadingDimOffset, 14, 16),
            (self.strideDimOffset, 14, 32),
            # Constant 1
            (None, 3, 46),
            (self.baseOffset, 3, 49),
            (self.leadingDimMode, 1, 52),
            (self.swizzleMode, 3, 61),
        ]
        packed = build.constant(0, i64)
        for value, width, at in fields:
            if value is None:
                packed = build.binary(OrOp, packed, 1 << at)
                continue
            kept = build.binary(AndOp, build.resized(value, i32), (1 << width) - 1)
            packed = build.binary(OrOp, packed, build.binary(ShlOp, build.resized(kept, i64), at))
        return [packed]
