"""Warp-level matrix multiplication, dense (PTX ISA 9.7.14.5.14, block scaling 9.7.14.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from warploom.isa.instructions.fragments import (
    Matrix,
    fragment,
    has_arithmetic,
    multiply_run,
    read_operands,
    select_model,
    variant,
    write_result,
)
from warploom.isa.model.effects import Collective, Multiply
from warploom.isa.model.form import Form
from warploom.isa.model.operand_layout import LayoutInputs, OperandLayout
from warploom.isa.model.operands import OperandSpec, Slots, inp
from warploom.isa.model.semantics import Bound, Value, Warps
from warploom.layout import FragmentMap, scale_factors
from warploom.numerics import fused

_OPERANDS = {operand.lower(): fragment(operand, "mma") for operand in "ABCD"}

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
    limit=has_arithmetic("mma"),
    effects=(Collective("warp"), Multiply()),
    source="PTX ISA 9.7.14.5.14",
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
    limit=has_arithmetic("mma"),
    effects=(Collective("warp"), Multiply()),
    source="PTX ISA 9.7.14.5.14",
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
    limit=has_arithmetic("mma"),
    effects=(Collective("warp"), Multiply()),
    source="PTX ISA 9.7.14.5.14",
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
    limit=has_arithmetic("mma"),
    effects=(Collective("warp"), Multiply()),
    source="PTX ISA 9.7.14.5.14",
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
    limit=has_arithmetic("mma"),
    effects=(Collective("warp"), Multiply()),
    source="PTX ISA 9.7.14.5.14",
)


@HALF.execute
@FLOAT.execute
@DOUBLE.execute
@INTEGER.execute
@BIT.execute
def multiply(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = read_operands(warps, i, "mma")
    # COMPUTE
    d = fused.multiply(a, b, c, select_model(warps, i, "mma"), **variant(i), workers=warps.pool())
    # WRITE
    write_result(warps, i, "mma", d)


def _product(warps: Warps, i: Bound) -> Matrix:
    # READ
    a, b, c = read_operands(warps, i, "mma")
    # COMPUTE
    return fused.multiply(a, b, c, select_model(warps, i, "mma"), **variant(i))


@HALF.execute_run
@FLOAT.execute_run
@DOUBLE.execute_run
@INTEGER.execute_run
@BIT.execute_run
def multiply_several(warps: Warps, run: Sequence[Bound]) -> None:
    multiply_run(warps, run, "mma", _product)


def _byte_ids(slots: Slots) -> tuple[int, ...]:
    return tuple(range(0, 4, _vectors(slots["kind"], slots["scale_vec"])))


def _vectors(kind: str, scale_vec: str) -> int:
    """Scale factors of a row of A: the digit of `scale_vec::2X`, or the kind's default."""
    return int(scale_vec[-2]) if scale_vec else 1 if kind == "kind::mxf8f6f4" else 2


def _scales(operand: str) -> OperandSpec:
    """The register of the scale factors of A or B."""

    def held(slots: Slots, given: LayoutInputs) -> FragmentMap:
        vectors = _vectors(slots["kind"], slots["scale_vec"])
        return scale_factors(operand, vectors, given.byte_id, given.thread_id).fragment()

    lying = OperandLayout(f"scale {operand}", held, ("byte_id", "thread_id"))
    return replace(inp("b32", values=()), layout=lying)


SCALES = {
    "scale_a_data": _scales("A"),
    "byte_id_a": inp("u16", values=_byte_ids),
    "thread_id_a": inp("u16", values=(0, 1)),
    "scale_b_data": _scales("B"),
    "byte_id_b": inp("u16", values=_byte_ids),
    "thread_id_b": inp("u16", values=(0, 1, 2, 3)),
}
"""The places of block scales and of what selects them."""

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
    limit=has_arithmetic("mma"),
    effects=(Collective("warp"), Multiply()),
    source="PTX ISA 9.7.14.5.14, 9.7.14.3",
)


@SCALED.execute
def multiply_scaled(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = read_operands(warps, i, "mma")
    scale_a = _scale_factors(warps, i, "A", i.scale_a_data, i.byte_id_a, i.thread_id_a)
    scale_b = _scale_factors(warps, i, "B", i.scale_b_data, i.byte_id_b, i.thread_id_b)
    # COMPUTE
    model = select_model(warps, i, "mma")
    d = fused.multiply(a, b, c, model, scale_a=scale_a, scale_b=scale_b, workers=warps.pool())
    # WRITE
    write_result(warps, i, "mma", d)


def _scale_factors(
    warps: Warps, i: Bound, operand: str, data: Value, byte_id: Value, thread_id: Value
) -> Matrix:
    """The scale factors of A or B. Shapes: (warps, M or N, factors of a row)."""
    registers = np.broadcast_to(warps.read(data), (warps.count, 32))
    bytes_, threads = (
        np.broadcast_to(warps.read(selector), (warps.count, 32))[:, 0] for selector in (byte_id, thread_id)
    )
    vectors = _vectors(i.kind, i.scale_vec)
    if (bytes_ == bytes_[0]).all() and (threads == threads[0]).all():  # as compilers write it
        return scale_factors(operand, vectors, int(bytes_[0]), int(threads[0])).gather(registers)
    factors = np.empty((warps.count, 16 if operand == "A" else 8, vectors), np.uint8)
    for byte, thread in np.unique(np.stack([bytes_, threads], axis=1), axis=0).tolist():
        chosen = (bytes_ == byte) & (threads == thread)
        factors[chosen] = scale_factors(operand, vectors, byte, thread).gather(registers[chosen])
    return factors
