"""Warp-level matrix multiplication with a structured sparse A (PTX ISA 9.7.14.6)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from warploom.isa.instructions.fragments import (
    fragment,
    has_arithmetic,
    k_of,
    read_operands,
    select_model,
    variant,
    write_result,
)
from warploom.isa.instructions.mma import SCALES
from warploom.isa.model.effects import Collective, Multiply
from warploom.isa.model.form import Form
from warploom.isa.model.operand_layout import LayoutInputs, OperandLayout
from warploom.isa.model.operands import Slots, immediate, inp
from warploom.isa.model.semantics import Bound, Warps
from warploom.layout import FragmentMap
from warploom.layout import metadata as metadata_map
from warploom.layout.maps import TYPE_BITS
from warploom.numerics import fused


def selectors(slots: Slots) -> tuple[int, ...]:
    """Sparsity selectors: as many as four lanes of 32 metadata bits hold the metadata of two rows.

    A row has four bits for each chunk of A: 2 elements of tf32, 8 of four bits without padding, else 4.
    """
    unpadded = slots.get("kind", "").startswith("kind::mxf4")
    chunk = {32: 2, 4: 8}.get(4 if unpadded else TYPE_BITS[slots["atype"]], 4)
    return tuple(range(16 * chunk // k_of(slots["shape"])))


def is_ordered(slots: Slots) -> bool:
    """Whether the first index of every pair in the metadata must be the lower one."""
    return slots.get("spvariant", "") == "sp::ordered_metadata"


def _selector_bits(slots: Slots) -> int:
    """Of a selector beside floats of a byte or less the low 32 bits are looked at."""
    return 32 if slots["dtype"] != "s32" and TYPE_BITS[slots["atype"]] <= 8 else 0


def lying_metadata(family: str) -> OperandLayout:
    """How the metadata of a sparse A lie."""

    def held(slots: Slots, given: LayoutInputs) -> FragmentMap:
        return metadata_map(family, slots["shape"], slots["atype"], given.selector).fragment()

    return OperandLayout("metadata", held, ("selector",))


METADATA = replace(inp("b32", values=()), layout=lying_metadata("mma"))

_OPERANDS = {operand.lower(): fragment(operand, "mma", sparse=True) for operand in "ABCD"} | {
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
    limit=has_arithmetic("mma"),
    effects=(Collective("warp"), Multiply()),
    source="PTX ISA 9.7.14.6.3",
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
    limit=has_arithmetic("mma"),
    effects=(Collective("warp"), Multiply()),
    source="PTX ISA 9.7.14.6.3",
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
    effects=(Collective("warp"), Multiply()),
    source="PTX ISA 9.7.14.6.3, 9.7.14.3",
)
"""Block scaling of a sparse A. How its scaled sums are rounded is not known: nothing executes it."""


@FLOAT.execute
@INTEGER.execute
def multiply(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = read_operands(warps, i, "mma", sparse=True)
    metadata = np.broadcast_to(warps.read(i.e), (warps.count, 32))
    # COMPUTE
    index = metadata_map("mma", i.shape, i.atype, i.f).decode(metadata)
    model = select_model(warps, i, "mma")
    d = fused.multiply(a, b, c, model, index=index, **variant(i), workers=warps.pool())
    # WRITE
    write_result(warps, i, "mma", d)
