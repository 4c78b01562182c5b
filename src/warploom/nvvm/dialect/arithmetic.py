"""Arithmetic of one thread: dot products and permutations of bytes, reciprocals, descriptors."""

from collections.abc import Sequence

from xdsl.dialects.builtin import i32, i64
from xdsl.dialects.llvm import AndOp, OrOp, ShlOp
from xdsl.ir import SSAValue

from warploom.isa.instructions import approximate, bits, integer
from warploom.nvvm.dialect.lowering import Lowering
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.llvm_builder import LlvmBuilder

_DOT_TYPES = "a_type as atype: dot_accumulate_type, b_type as btype: dot_accumulate_type"
_DOT_SYNTAX = "$a $a_type `,` $b $b_type `,` $c attr-dict `:` type($a) `,` type($b)"

DotOfFour = operation(
    f"nvvm.dot.accumulate.4way(a: i8x4, b: i8x4, c: i32, {_DOT_TYPES}) -> res as d: i32",
    "Sum of c and of the four products of the bytes of a and b.",
    integer.DP4A,
    syntax=_DOT_SYNTAX,
)
DotOfTwo = operation(
    f"nvvm.dot.accumulate.2way(a: i16x2, b: i8x4, c: i32, {_DOT_TYPES}, b_hi: bool) -> res as d: i32",
    "Sum of c and of the products of the 16-bit halves of a with the lower two bytes of b, or the upper if `b_hi`.",
    integer.DP2A,
    syntax=_DOT_SYNTAX,
    lower=lambda op: op.instruction({"mode": "hi" if op.has("b_hi") else "lo"}),
)
Permute = operation(
    "nvvm.prmt(lo as a: i32, hi as b?: i32, selector as c: i32, mode: permute_mode) -> res as d: i32",
    "Four bytes of `lo` and `hi` that `selector` chooses. Only the modes default, f4e and b4e use `hi`.",
    bits.PRMT,
    syntax="$mode $selector `,` $lo (`,` $hi^)? attr-dict `:` type($res)",
    rules="""
        mode=default|f4e|b4e !hi: mode is {mode} and hi is absent; expected the operand hi
        mode!=default|f4e|b4e hi: mode is {mode} and hi is present; expected no operand hi
    """,
    lower=lambda op: op.instruction(b=op.optional("hi") or 0),
)
Reciprocal = operation(
    "nvvm.rcp.approx.ftz.f(arg as a: f32) -> res as d: f32",
    "Approximate reciprocal of an f32. Subnormal arguments and results become zero.",
    approximate.FUNCTION,
    syntax="$arg attr-dict `:` type($res)",
    words={"op": "rcp", "ftz": "ftz", "type": "f32"},
)

_DESCRIPTOR_FIELDS = {
    "startAddr": (14, 0),
    "leadingDimOffset": (14, 16),
    "strideDimOffset": (14, 32),
    "constant": (3, 46),
    "baseOffset": (3, 49),
    "leadingDimMode": (1, 52),
    "swizzleMode": (3, 61),
}
"""Width and position of each field of a matrix descriptor in bits. The constant is 1."""


def _pack_descriptor(op: Operation, build: LlvmBuilder) -> Sequence[SSAValue]:
    packed = build.constant(0, i64)
    for name, (width, position) in _DESCRIPTOR_FIELDS.items():
        if name == "constant":
            packed = build.binary(OrOp, packed, 1 << position)
            continue
        kept = build.binary(AndOp, build.resized(op.value(name), i32), (1 << width) - 1)
        packed = build.binary(OrOp, packed, build.binary(ShlOp, build.resized(kept, i64), position))
    return [packed]


MatrixDescriptor = operation(
    "nvvm.tcgen05.mma_smem_desc(startAddr: i32, leadingDimOffset: i32, strideDimOffset: i32, baseOffset: i8,"
    " leadingDimMode: i1, swizzleMode: i8) -> res: i64",
    "Descriptor of a matrix in shared memory for tensor-memory multiplications, packed from its fields.",
    syntax="`(` operands `)` attr-dict `:` `(` type(operands) `)` `->` type($res)",
    lower=lambda op: Lowering([]),
    to_llvm=_pack_descriptor,
)
