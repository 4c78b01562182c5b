"""Matrix multiplication by a warp (`mma.sp`) with a structured sparse A.

Source: PTX ISA 9.7.14.6.
"""

from dataclasses import replace

from warploom.isa.instructions.fragments import fragment, metadata_layout, metadata_of, product, selectors
from warploom.isa.instructions.mma import SCALES, scales_of
from warploom.isa.model.effects import Collective, Multiply
from warploom.isa.model.form import Form
from warploom.isa.model.multiplication import Multiplication
from warploom.isa.model.operands import Slots, immediate, inp
from warploom.isa.model.semantics import Bound
from warploom.layout.maps import TYPE_BITS


def _selector_bits(slots: Slots) -> int:
    """Return the number of low selector bits that ptxas examines, or 0 for all bits."""
    return 32 if slots["dtype"] != "s32" and TYPE_BITS[slots["atype"]] <= 8 else 0


METADATA = replace(inp("b32", values=()), layout=metadata_layout("warp"))

_OPERANDS = {name.lower(): fragment(name, "warp", sparse=True) for name in ("D", "A", "B", "C")} | {
    "e": METADATA,
    "f": immediate(values=selectors, bits=_selector_bits),
}

FLOAT = Form(
    name="sparse.float",
    syntax="mma.spvariant.sync.aligned.shape.row.col{.kind}.dtype.atype.btype.ctype  d, a, b, c, e, f;",
    rows="""
        spvariant             shape              kind          dtype  atype                     btype                     ctype  ptx  target
        sp                    m16n8k16,m16n8k32  -             f16    f16                       f16                       f16    7.1  sm_80
        sp                    m16n8k16,m16n8k32  -             f32    f16                       f16                       f32    7.1  sm_80
        sp                    m16n8k16,m16n8k32  -             f32    bf16                      bf16                      f32    7.1  sm_80
        sp                    m16n8k8,m16n8k16   -             f32    tf32                      tf32                      f32    7.1  sm_80
        sp                    m16n8k64           -             f32    e4m3,e5m2                 e4m3,e5m2                 f32    8.4  sm_89
        sp::ordered_metadata  m16n8k16,m16n8k32  -             f16    f16                       f16                       f16    8.5  sm_80
        sp::ordered_metadata  m16n8k16,m16n8k32  -             f32    f16                       f16                       f32    8.5  sm_80
        sp::ordered_metadata  m16n8k16,m16n8k32  -             f32    bf16                      bf16                      f32    8.5  sm_80
        sp::ordered_metadata  m16n8k8,m16n8k16   -             f32    tf32                      tf32                      f32    8.5  sm_80
        sp::ordered_metadata  m16n8k64           -             f32    e4m3,e5m2                 e4m3,e5m2                 f32    8.5  sm_89
        sp::ordered_metadata  m16n8k64           -             f16    e4m3,e5m2                 e4m3,e5m2                 f16    8.7  sm_120a,sm_120f
        sp::ordered_metadata  m16n8k64           kind::f8f6f4  f32    e4m3,e5m2,e3m2,e2m3,e2m1  e4m3,e5m2,e3m2,e2m3,e2m1  f32    8.7  sm_120a,sm_120f
        sp::ordered_metadata  m16n8k64           kind::f8f6f4  f16    e4m3,e5m2,e3m2,e2m3,e2m1  e4m3,e5m2,e3m2,e2m3,e2m1  f16    8.7  sm_120a,sm_120f
    """,  # noqa: E501
    operands=_OPERANDS,
    effects=(Collective("warp"), Multiply("warp")),
    source="PTX ISA 9.7.14.6.3",
)
FLOAT.describe(
    "Multiplies a structured sparse floating-point matrix A by B in the registers of a warp and adds C; e holds"
    " the positions of the stored elements. Use it if 2 of 4 elements of each row group of A are zero: K is twice"
    " as large at the same time per instruction.",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1},"
    " {%r2, %r3}, {%f0, %f1, %f2, %f3}, %r4, 0;",
)

INTEGER = Form(
    name="sparse.integer",
    syntax="mma.spvariant.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype  d, a, b, c, e, f;",
    rows="""
        spvariant             shape               dtype  atype  btype  ctype  ptx  target
        sp                    m16n8k32,m16n8k64   s32    u8,s8  u8,s8  s32    7.1  sm_80
        sp                    m16n8k64,m16n8k128  s32    u4,s4  u4,s4  s32    7.1  sm_80
        sp::ordered_metadata  m16n8k32,m16n8k64   s32    u8,s8  u8,s8  s32    8.5  sm_80
        sp::ordered_metadata  m16n8k64,m16n8k128  s32    u4,s4  u4,s4  s32    8.5  sm_80
    """,
    operands=_OPERANDS,
    spellings=("mma.spvariant.sync.aligned.shape.row.col.dtype.atype.btype.ctype{.satfinite}",),
    effects=(Collective("warp"), Multiply("warp")),
    source="PTX ISA 9.7.14.6.3",
)
INTEGER.describe(
    "Multiplies a structured sparse integer matrix A by B in the registers of a warp and adds C in s32. Use it"
    " for quantised networks with pruned weights.",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6,"
    " %r7}, {%r0, %r1, %r2, %r3}, %r8, 0;",
)

SCALED = Form(
    name="sparse.scaled",
    syntax="mma.spvariant.sync.aligned.shape.row.col.kind.block_scale{.scale_vec}.dtype.atype.btype.ctype.stype"
    "  d, a, b, c, e, f, scale-a-data, {byte-id-a, thread-id-a}, scale-b-data, {byte-id-b, thread-id-b};",
    rows="""
        spvariant             shape      kind            scale_vec        dtype  atype                     btype                     ctype  stype  ptx  target
        sp::ordered_metadata  m16n8k128  kind::mxf4      -,scale_vec::2X  f32    e2m1                      e2m1                      f32    ue8m0  8.7  sm_120a,sm_121a
        sp::ordered_metadata  m16n8k128  kind::mxf4nvf4  scale_vec::2X    f32    e2m1                      e2m1                      f32    ue8m0  8.7  sm_120a,sm_121a
        sp::ordered_metadata  m16n8k128  kind::mxf4nvf4  scale_vec::4X    f32    e2m1                      e2m1                      f32    ue4m3  8.7  sm_120a,sm_121a
        sp::ordered_metadata  m16n8k128  kind::mxf4nvf4  scale_vec::4X    f32    e2m1                      e2m1                      f32    ue8m0  9.1  sm_120a,sm_121a
        sp::ordered_metadata  m16n8k64   kind::mxf8f6f4  -,scale_vec::1X  f32    e4m3,e5m2,e3m2,e2m3,e2m1  e4m3,e5m2,e3m2,e2m3,e2m1  f32    ue8m0  8.7  sm_120a,sm_120f
    """,  # noqa: E501
    operands=_OPERANDS | SCALES,
    effects=(Collective("warp"), Multiply("warp")),
    source="PTX ISA 9.7.14.6.3, 9.7.14.3",
)
SCALED.describe(
    "Multiplies a structured sparse matrix A by B, with scale factors of blocks along K, and adds C in f32. Use"
    " it on sm_120 for pruned mxfp8, mxfp4 and nvfp4 weights.",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0"
    " {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%f0, %f1, %f2, %f3}, %r8, 0, %r9, {0, 0},"
    " %r10, {0, 0};",
)


@SCALED.multiplication
def multiply_scaled(i: Bound) -> Multiplication:
    """Return d = sum(a, the elements of b that the metadata e selects, c, scale_a, scale_b)."""
    return product("warp", i, metadata=metadata_of("warp", i, "e", i.f, ordered=True), scales=scales_of(i))


@FLOAT.multiplication
@INTEGER.multiplication
def multiply(i: Bound) -> Multiplication:
    """Return d = sum(a, the elements of b that the metadata e selects, c)."""
    ordered = i.spvariant == "sp::ordered_metadata"
    return product("warp", i, metadata=metadata_of("warp", i, "e", i.f, ordered=ordered))
