"""Matrix multiplication by a warp (`mma`): dense matrices in registers, with optional block scales.

Source: PTX ISA 9.7.14.3, 9.7.14.5.14.
"""

from dataclasses import replace
from typing import Literal

from warploom.isa.instructions.fragments import fragment, product
from warploom.isa.model.effects import Collective, Multiply
from warploom.isa.model.form import Form
from warploom.isa.model.multiplication import BlockScales, Multiplication
from warploom.isa.model.operand_layout import LayoutInputs, OperandLayout
from warploom.isa.model.operands import OperandSpec, Slots, inp
from warploom.isa.model.semantics import Bound
from warploom.layout import FragmentMap, scale_factors

_OPERANDS = {name.lower(): fragment(name, "warp") for name in ("D", "A", "B", "C")}

HALF = Form(
    name="mma.half",
    syntax="mma.sync.aligned.shape.alayout.blayout.dtype.atype.btype.ctype  d, a, b, c;",
    rows="""
        shape     alayout  blayout  dtype    atype  btype  ctype  ptx  target
        m8n8k4    row,col  row,col  f16,f32  f16    f16    f16    6.4  sm_70
        m8n8k4    row,col  row,col  f32      f16    f16    f32    6.4  sm_70
        m16n8k8   row      col      f16      f16    f16    f16    6.5  sm_75
        m16n8k8   row      col      f32      f16    f16    f32    6.5  sm_75
        m16n8k16  row      col      f16      f16    f16    f16    7.0  sm_80
        m16n8k16  row      col      f32      f16    f16    f32    7.0  sm_80
    """,
    operands=_OPERANDS,
    spellings=("mma.sync.aligned.alayout.blayout.shape.dtype.atype.btype.ctype",),
    effects=(Collective("warp"), Multiply("warp")),
    source="PTX ISA 9.7.14.5.14",
)
HALF.describe(
    "Multiplies f16 matrices in the registers of a warp and adds C: `D = A*B + C`, in f16 or f32. Use it on sm_70"
    " to sm_89 and sm_120; on sm_90 and sm_100, wgmma and tcgen05 are faster.",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5},"
    " {%f0, %f1, %f2, %f3};",
)

FLOAT = Form(
    name="mma.float",
    syntax="mma.sync.aligned.shape.row.col{.kind}.dtype.atype.btype.ctype  d, a, b, c;",
    rows="""
        shape     kind          dtype  atype                     btype                     ctype  ptx  target
        m16n8k4   -             f32    tf32                      tf32                      f32    7.0  sm_80
        m16n8k8   -             f32    tf32                      tf32                      f32    7.0  sm_80
        m16n8k8   -             f32    bf16                      bf16                      f32    7.0  sm_80
        m16n8k16  -             f32    bf16                      bf16                      f32    7.0  sm_80
        m16n8k32  -             f32    e4m3,e5m2                 e4m3,e5m2                 f32    8.4  sm_89
        m16n8k32  -             f16    e4m3,e5m2                 e4m3,e5m2                 f16    8.7  sm_89
        m16n8k16  -             f32    e4m3,e5m2                 e4m3,e5m2                 f32    8.7  sm_89
        m16n8k16  -             f16    e4m3,e5m2                 e4m3,e5m2                 f16    8.7  sm_89
        m16n8k32  kind::f8f6f4  f32    e4m3,e5m2,e3m2,e2m3,e2m1  e4m3,e5m2,e3m2,e2m3,e2m1  f32    8.7  sm_120a,sm_120f
        m16n8k32  kind::f8f6f4  f16    e4m3,e5m2,e3m2,e2m3,e2m1  e4m3,e5m2,e3m2,e2m3,e2m1  f16    8.7  sm_120a,sm_120f
    """,
    operands=_OPERANDS,
    spellings=("mma.sync.aligned.row.col.shape{.kind}.dtype.atype.btype.ctype",),
    effects=(Collective("warp"), Multiply("warp")),
    source="PTX ISA 9.7.14.5.14",
)
FLOAT.describe(
    "Multiplies tf32, bf16 or 8-, 6- and 4-bit floating-point matrices in the registers of a warp and adds C: `D"
    " = A*B + C`. Use it on sm_80 to sm_89 and sm_120; on sm_90 and sm_100, wgmma and tcgen05 are faster.",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5},"
    " {%f0, %f1, %f2, %f3};",
)

DOUBLE = Form(
    name="mma.double",
    syntax="mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype{.rnd}  d, a, b, c;",
    rows="""
        shape                      rnd            dtype  atype  btype  ctype  ptx  target
        m8n8k4                     -,rn,rz,rm,rp  f64    f64    f64    f64    7.0  sm_80
        m16n8k4,m16n8k8,m16n8k16   -,rn,rz,rm,rp  f64    f64    f64    f64    7.8  sm_90
    """,
    operands=_OPERANDS,
    spellings=("mma.sync.aligned.shape.row.col{.rnd}.dtype.atype.btype.ctype",),
    effects=(Collective("warp"), Multiply("warp")),
    source="PTX ISA 9.7.14.5.14",
)
DOUBLE.describe(
    "Multiplies f64 matrices in the registers of a warp and adds C with fused multiply-adds. Use it for linear"
    " algebra in double precision on sm_80 and sm_90.",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0, %d1}, {%d2}, {%d3}, {%d4, %d5};",
)

INTEGER = Form(
    name="mma.integer",
    syntax="mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype  d, a, b, c;",
    rows="""
        shape              dtype  atype  btype  ctype  ptx  target
        m8n8k16            s32    u8,s8  u8,s8  s32    6.5  sm_75
        m16n8k16,m16n8k32  s32    u8,s8  u8,s8  s32    7.0  sm_80
        m8n8k32            s32    u4,s4  u4,s4  s32    6.5  sm_75
        m16n8k32,m16n8k64  s32    u4,s4  u4,s4  s32    7.0  sm_80
    """,
    operands=_OPERANDS,
    spellings=("mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype{.satfinite}",),
    effects=(Collective("warp"), Multiply("warp")),
    source="PTX ISA 9.7.14.5.14",
)
INTEGER.describe(
    "Multiplies 8- or 4-bit integer matrices in the registers of a warp and adds C in s32; `.satfinite` clamps"
    " instead of wrapping. Use it for quantised networks.",
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8, %r9},"
    " {%r0, %r1, %r2, %r3};",
)

BIT = Form(
    name="mma.bit",
    syntax="mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype.bitOp.popc  d, a, b, c;",
    rows="""
        shape                         dtype  atype  btype  ctype  bitOp  ptx  target
        m8n8k128                      s32    b1     b1     s32    xor    7.0  sm_75
        m16n8k128,m16n8k256           s32    b1     b1     s32    xor    7.0  sm_80
        m8n8k128,m16n8k128,m16n8k256  s32    b1     b1     s32    and    7.1  sm_80
    """,
    operands=_OPERANDS,
    effects=(Collective("warp"), Multiply("warp")),
    source="PTX ISA 9.7.14.5.14",
)
BIT.describe(
    "Counts the ones of the bitwise and, or of the exclusive or, of rows of A and columns of B, and adds C. Use"
    " it for binary networks and set intersections.",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8,"
    " %r9}, {%r0, %r1, %r2, %r3};",
)


@HALF.multiplication
@FLOAT.multiplication
@DOUBLE.multiplication
@INTEGER.multiplication
@BIT.multiplication
def multiply(i: Bound) -> Multiplication:
    """Return d = sum(a, b, c)."""
    return product("warp", i)


def _byte_ids(slots: Slots) -> tuple[int, ...]:
    return tuple(range(0, 4, _vectors(slots["kind"], slots["scale_vec"])))


def _vectors(kind: str, scale_vec: str) -> int:
    """Return the number of scale factors for each row of A."""
    return int(scale_vec[-2]) if scale_vec else 1 if kind == "kind::mxf8f6f4" else 2


def _scales(operand: Literal["A", "B"]) -> OperandSpec:

    def find_map(slots: Slots, given: LayoutInputs) -> FragmentMap:
        vectors = _vectors(slots["kind"], slots["scale_vec"])
        return scale_factors(operand, vectors, given.byte_id, given.thread_id).fragment()

    layout = OperandLayout(f"scale {operand}", find_map, ("byte_id", "thread_id"))
    return replace(inp("b32", values=(), allows=("braces",)), layout=layout)


SCALES = {
    "scale_a_data": _scales("A"),
    "byte_id_a": inp("u16", values=_byte_ids),
    "thread_id_a": inp("u16", values=(0, 1)),
    "scale_b_data": _scales("B"),
    "byte_id_b": inp("u16", values=_byte_ids),
    "thread_id_b": inp("u16", values=(0, 1, 2, 3)),
}
"""Operands of the block scales of A and B: the factors, and the selectors of their bytes and lanes."""

SCALED = Form(
    name="mma.scaled",
    syntax="mma.sync.aligned.shape.row.col.kind.block_scale{.scale_vec}.dtype.atype.btype.ctype.stype"
    "  d, a, b, c, scale-a-data, {byte-id-a, thread-id-a}, scale-b-data, {byte-id-b, thread-id-b};",
    rows="""
        shape     kind            scale_vec        dtype  atype                     btype                     ctype  stype  ptx  target
        m16n8k64  kind::mxf4      -,scale_vec::2X  f32    e2m1                      e2m1                      f32    ue8m0  8.7  sm_120a,sm_120f
        m16n8k64  kind::mxf4nvf4  scale_vec::2X    f32    e2m1                      e2m1                      f32    ue8m0  8.7  sm_120a,sm_120f
        m16n8k64  kind::mxf4nvf4  scale_vec::4X    f32    e2m1                      e2m1                      f32    ue4m3  8.7  sm_120a,sm_120f
        m16n8k64  kind::mxf4nvf4  scale_vec::4X    f32    e2m1                      e2m1                      f32    ue8m0  9.1  sm_120a,sm_120f
        m16n8k32  kind::mxf8f6f4  -,scale_vec::1X  f32    e4m3,e5m2,e3m2,e2m3,e2m1  e4m3,e5m2,e3m2,e2m3,e2m1  f32    ue8m0  8.7  sm_120a,sm_120f
    """,  # noqa: E501
    operands=_OPERANDS | SCALES,
    effects=(Collective("warp"), Multiply("warp")),
    source="PTX ISA 9.7.14.5.14, 9.7.14.3",
)
SCALED.describe(
    "Multiplies narrow floating-point matrices whose blocks along K have scale factors, and adds C in f32. Use it"
    " on sm_120 for mxfp8, mxfp4 and nvfp4 data.",
    "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 {%f0, %f1, %f2, %f3},"
    " {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3}, %r6, {0, 0}, %r7, {0, 0};",
)


def scales_of(i: Bound) -> tuple[BlockScales, BlockScales]:
    """Return the records of the block scales of A and B."""
    vectors = _vectors(i.kind, i.scale_vec)
    return (
        BlockScales("A", i.scale_a_data, i.byte_id_a, i.thread_id_a, vectors),
        BlockScales("B", i.scale_b_data, i.byte_id_b, i.thread_id_b, vectors),
    )


@SCALED.multiplication
def multiply_scaled(i: Bound) -> Multiplication:
    """Return d = sum(a, b, c, scale_a, scale_b)."""
    return product("warp", i, scales=scales_of(i))
