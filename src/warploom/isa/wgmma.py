"""Warpgroup matrix multiplication, asynchronous (PTX ISA 9.7.15)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from warploom import layout
from warploom.isa.fragments import (
    Matrix,
    fragment,
    gather,
    has_arithmetic,
    k_of,
    scatter,
    select_model,
    variant,
)
from warploom.isa.kit import Form
from warploom.isa.operands import Place, Slots, immediate, inp, pred_in
from warploom.isa.protocol import Array, Bound, Warps
from warploom.isa.sparse import selectors
from warploom.layout.maps import TYPE_BITS
from warploom.num import fused
from warploom.num.elements import STORAGE
from warploom.num.models import Model

_SHAPE = {"shape": "m64n{n}k{k}"}
_SIGNS = {"imm_scale_a": immediate(values=(1, -1)), "imm_scale_b": immediate(values=(1, -1))}
_TRANSPOSE_A = {"imm_trans_a": immediate(values=(0, 1))}
_TRANSPOSE_B = {"imm_trans_b": immediate(values=(0, 1))}


def _selector_bits(slots: Slots) -> int:
    """Where there is one selector alone, the low bits of the constant are looked at."""
    return 32 if len(selectors(slots)) == 1 else 0


_METADATA = inp("b32", values=(), eased="vectors predicate")


def _registers_of_a(*, sparse: bool, integer: bool) -> Place:
    """Registers of A: those of integers and bits are any of 32 bits, those of floats hold pairs."""
    place = fragment("A", "wgmma", sparse=sparse)
    return replace(place, type="b32", eased="predicate") if integer else replace(place, type="f16x2")


def _operands(*, registers: bool, sparse: bool, integer: bool = False) -> dict[str, Place]:
    """What every multiplication has: D, A in registers or behind a descriptor, B behind one, scale-d."""
    a = (
        {"a": _registers_of_a(sparse=sparse, integer=integer)}
        if registers
        else {"a_desc": inp("u64", plain=True)}
    )
    metadata = (
        {"sp_meta": _METADATA, "sp_sel": immediate(values=selectors, bits=_selector_bits)} if sparse else {}
    )
    shared = {"b_desc": inp("u64", plain=True), "scale_d": pred_in(values=(0, 1))}
    return {"d": replace(fragment("D", "wgmma", updated=True), accepts="own")} | a | shared | metadata


_SHARED = _operands(registers=False, sparse=False)
_REGISTERS = _operands(registers=True, sparse=False)
_SPARSE_SHARED = _operands(registers=False, sparse=True)
_SPARSE_REGISTERS = _operands(registers=True, sparse=True)
_INTEGER_REGISTERS = _operands(registers=True, sparse=False, integer=True)
_SPARSE_INTEGER_REGISTERS = _operands(registers=True, sparse=True, integer=True)

_HALF_ROWS = """
    n         k   dtype    atype  btype  ptx  target
    8..256/8  16  f16,f32  f16    f16    8.0  sm_90a
    8..256/8  16  f32      bf16   bf16   8.0  sm_90a
"""
_FLOAT_ROWS = """
    n         k   dtype    atype      btype      ptx  target
    8..256/8  8   f32      tf32       tf32       8.0  sm_90a
    8..256/8  32  f16,f32  e4m3,e5m2  e4m3,e5m2  8.0  sm_90a
"""
_INTEGER_ROWS = """
    n                   k   dtype  atype  btype  ptx  target
    8..24/8,32..256/16  32  s32    s8     s8     8.0  sm_90a
    8..24/8,32..256/16  32  s32    u8     u8     8.0  sm_90a
    8..24/8,32..256/16  32  s32    s8     u8     8.4  sm_90a
    8..24/8,32..256/16  32  s32    u8     s8     8.4  sm_90a
"""
_BIT_ROWS = """
    n                   k    dtype  atype  btype  bitOp  ptx  target
    8..24/8,32..256/16  256  s32    b1     b1     and    8.0  sm_90a
"""
_SPARSE_HALF_ROWS = """
    n         k   dtype    atype  btype  ptx  target
    8..256/8  32  f16,f32  f16    f16    8.2  sm_90a
    8..256/8  32  f32      bf16   bf16   8.2  sm_90a
"""
_SPARSE_FLOAT_ROWS = """
    n         k   dtype    atype      btype      ptx  target
    8..256/8  16  f32      tf32       tf32       8.2  sm_90a
    8..256/8  64  f16,f32  e4m3,e5m2  e4m3,e5m2  8.2  sm_90a
"""
_SPARSE_INTEGER_ROWS = """
    n                   k   dtype  atype  btype  ptx  target
    8..24/8,32..256/16  64  s32    s8     s8     8.2  sm_90a
    8..24/8,32..256/16  64  s32    u8     u8     8.2  sm_90a
    8..24/8,32..256/16  64  s32    s8     u8     8.4  sm_90a
    8..24/8,32..256/16  64  s32    u8     s8     8.4  sm_90a
"""

HALF = Form(
    name="wgmma.half",
    syntax="wgmma.mma_async.sync.aligned.shape.dtype.atype.btype"
    "  d, a-desc, b-desc, scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b;",
    rows=_HALF_ROWS,
    words=_SHAPE,
    operands=_SHARED | _SIGNS | _TRANSPOSE_A | _TRANSPOSE_B,
    touches="warpgroup tensor async",
    limit=has_arithmetic("wgmma"),
    source="PTX ISA 9.7.15.5.2",
)

HALF_REGISTERS = Form(
    name="wgmma.half-registers",
    syntax="wgmma.mma_async.sync.aligned.shape.dtype.atype.btype"
    "  d, a, b-desc, scale-d, imm-scale-a, imm-scale-b, imm-trans-b;",
    rows=_HALF_ROWS,
    words=_SHAPE,
    operands=_REGISTERS | _SIGNS | _TRANSPOSE_B,
    touches="warpgroup tensor async",
    limit=has_arithmetic("wgmma"),
    source="PTX ISA 9.7.15.5.2",
)

FLOAT = Form(
    name="wgmma.float",
    syntax="wgmma.mma_async.sync.aligned.shape.dtype.atype.btype"
    "  d, a-desc, b-desc, scale-d, imm-scale-a, imm-scale-b;",
    rows=_FLOAT_ROWS,
    words=_SHAPE,
    operands=_SHARED | _SIGNS,
    touches="warpgroup tensor async",
    limit=has_arithmetic("wgmma"),
    source="PTX ISA 9.7.15.5.2",
)

FLOAT_REGISTERS = Form(
    name="wgmma.float-registers",
    syntax="wgmma.mma_async.sync.aligned.shape.dtype.atype.btype"
    "  d, a, b-desc, scale-d, imm-scale-a, imm-scale-b;",
    rows=_FLOAT_ROWS,
    words=_SHAPE,
    operands=_REGISTERS | _SIGNS,
    touches="warpgroup tensor async",
    limit=has_arithmetic("wgmma"),
    source="PTX ISA 9.7.15.5.2",
)

INTEGER = Form(
    name="wgmma.integer",
    syntax="wgmma.mma_async.sync.aligned.shape{.satfinite}.dtype.atype.btype  d, a-desc, b-desc, scale-d;",
    rows=_INTEGER_ROWS,
    words=_SHAPE,
    operands=_SHARED,
    spellings=("wgmma.mma_async.sync.aligned.shape.dtype.atype.btype{.satfinite}",),
    touches="warpgroup tensor async",
    limit=has_arithmetic("wgmma"),
    source="PTX ISA 9.7.15.5.2",
)

INTEGER_REGISTERS = Form(
    name="wgmma.integer-registers",
    syntax="wgmma.mma_async.sync.aligned.shape{.satfinite}.dtype.atype.btype  d, a, b-desc, scale-d;",
    rows=_INTEGER_ROWS,
    words=_SHAPE,
    operands=_INTEGER_REGISTERS,
    spellings=("wgmma.mma_async.sync.aligned.shape.dtype.atype.btype{.satfinite}",),
    touches="warpgroup tensor async",
    limit=has_arithmetic("wgmma"),
    source="PTX ISA 9.7.15.5.2",
)

BIT = Form(
    name="wgmma.bit",
    syntax="wgmma.mma_async.sync.aligned.shape.dtype.atype.btype.bitOp.popc  d, a-desc, b-desc, scale-d;",
    rows=_BIT_ROWS,
    words=_SHAPE,
    operands=_SHARED,
    touches="warpgroup tensor async",
    limit=has_arithmetic("wgmma"),
    source="PTX ISA 9.7.15.5.2",
)

BIT_REGISTERS = Form(
    name="wgmma.bit-registers",
    syntax="wgmma.mma_async.sync.aligned.shape.dtype.atype.btype.bitOp.popc  d, a, b-desc, scale-d;",
    rows=_BIT_ROWS,
    words=_SHAPE,
    operands=_INTEGER_REGISTERS,
    touches="warpgroup tensor async",
    limit=has_arithmetic("wgmma"),
    source="PTX ISA 9.7.15.5.2",
)

SPARSE_HALF = Form(
    name="wgmma.sparse-half",
    syntax="wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype"
    "  d, a-desc, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b;",
    rows=_SPARSE_HALF_ROWS,
    words=_SHAPE,
    operands=_SPARSE_SHARED | _SIGNS | _TRANSPOSE_A | _TRANSPOSE_B,
    touches="warpgroup tensor async",
    limit=has_arithmetic("wgmma"),
    source="PTX ISA 9.7.15.6.2",
)

SPARSE_HALF_REGISTERS = Form(
    name="wgmma.sparse-half-registers",
    syntax="wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype"
    "  d, a, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b, imm-trans-b;",
    rows=_SPARSE_HALF_ROWS,
    words=_SHAPE,
    operands=_SPARSE_REGISTERS | _SIGNS | _TRANSPOSE_B,
    touches="warpgroup tensor async",
    limit=has_arithmetic("wgmma"),
    source="PTX ISA 9.7.15.6.2",
)

SPARSE_FLOAT = Form(
    name="wgmma.sparse-float",
    syntax="wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype"
    "  d, a-desc, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b;",
    rows=_SPARSE_FLOAT_ROWS,
    words=_SHAPE,
    operands=_SPARSE_SHARED | _SIGNS,
    touches="warpgroup tensor async",
    limit=has_arithmetic("wgmma"),
    source="PTX ISA 9.7.15.6.2",
)

SPARSE_FLOAT_REGISTERS = Form(
    name="wgmma.sparse-float-registers",
    syntax="wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype"
    "  d, a, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b;",
    rows=_SPARSE_FLOAT_ROWS,
    words=_SHAPE,
    operands=_SPARSE_REGISTERS | _SIGNS,
    touches="warpgroup tensor async",
    limit=has_arithmetic("wgmma"),
    source="PTX ISA 9.7.15.6.2",
)

SPARSE_INTEGER = Form(
    name="wgmma.sparse-integer",
    syntax="wgmma.mma_async.sp.sync.aligned.shape{.satfinite}.dtype.atype.btype"
    "  d, a-desc, b-desc, sp-meta, sp-sel, scale-d;",
    rows=_SPARSE_INTEGER_ROWS,
    words=_SHAPE,
    operands=_SPARSE_SHARED,
    spellings=("wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype{.satfinite}",),
    touches="warpgroup tensor async",
    limit=has_arithmetic("wgmma"),
    source="PTX ISA 9.7.15.6.2",
)

SPARSE_INTEGER_REGISTERS = Form(
    name="wgmma.sparse-integer-registers",
    syntax="wgmma.mma_async.sp.sync.aligned.shape{.satfinite}.dtype.atype.btype"
    "  d, a, b-desc, sp-meta, sp-sel, scale-d;",
    rows=_SPARSE_INTEGER_ROWS,
    words=_SHAPE,
    operands=_SPARSE_INTEGER_REGISTERS,
    spellings=("wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype{.satfinite}",),
    touches="warpgroup tensor async",
    limit=has_arithmetic("wgmma"),
    source="PTX ISA 9.7.15.6.2",
)


@HALF.meaning
@HALF_REGISTERS.meaning
@FLOAT.meaning
@FLOAT_REGISTERS.meaning
@INTEGER.meaning
@INTEGER_REGISTERS.meaning
@BIT.meaning
@BIT_REGISTERS.meaning
@SPARSE_HALF.meaning
@SPARSE_HALF_REGISTERS.meaning
@SPARSE_FLOAT.meaning
@SPARSE_FLOAT_REGISTERS.meaning
@SPARSE_INTEGER.meaning
@SPARSE_INTEGER_REGISTERS.meaning
def issue(warps: Warps, i: Bound) -> None:
    # READ
    everywhere = (warps.count, 32)
    # Copies, for what is read may be a view of registers that change before this takes effect.
    captured = {
        name: np.broadcast_to(warps.read(getattr(i, name)), everywhere).copy()
        for name in ("a_desc", "b_desc", "scale_d")
        if getattr(i, name, None) is not None
    }
    # COMPUTE
    model = select_model(warps, i, "wgmma")
    # WRITE
    warps.defer("wgmma", lambda batch, taken: _multiply(batch, i, model, taken), captured)


def _multiply(warps: Warps, i: Bound, model: Model, captured: Mapping[str, Array]) -> None:
    """What an issued multiplication does when it takes effect."""
    # READ
    groups = warps.warpgroups()
    a, b = _read_a(warps, i, groups, captured), _read_b(warps, i, groups, captured)
    accumulator = layout.fragment("wgmma", "D", i.shape, i.dtype)
    keeps = captured["scale_d"][groups[:, 0], 0].astype(np.bool_)
    c = gather(warps, i.d, accumulator, i.dtype) if keeps.any() else None
    if c is not None and not keeps.all():
        c[~keeps] = 0
    index = None
    if (metadata := getattr(i, "sp_meta", None)) is not None:
        registers = np.broadcast_to(warps.read(metadata), (warps.count, 32))[groups].reshape(-1, 128)
        index = layout.metadata("wgmma", i.shape, i.atype, i.sp_sel).decode(registers)
    # COMPUTE
    d = fused.multiply(a, b, c, model, index=index, **variant(i), workers=warps.pool())
    # WRITE
    scatter(warps, i.d, accumulator, i.dtype, d)
    warps.count_macs(d.size * k_of(i.shape))


def _read_a(warps: Warps, i: Bound, groups: NDArray[np.intp], captured: Mapping[str, Array]) -> Matrix:
    sparse = getattr(i, "sp_meta", None) is not None
    if "a_desc" not in captured:
        return gather(warps, i.a, layout.fragment("wgmma", "A", i.shape, i.atype, sparse=sparse), i.atype)
    descriptors = captured["a_desc"][groups[:, 0], 0]
    stored = k_of(i.shape) // 2 if sparse else k_of(i.shape)
    return _read_tile(warps, descriptors, 64, stored, i.atype, bool(getattr(i, "imm_trans_a", 0)))


def _read_b(warps: Warps, i: Bound, groups: NDArray[np.intp], captured: Mapping[str, Array]) -> Matrix:
    descriptors = captured["b_desc"][groups[:, 0], 0]
    return _read_tile(
        warps, descriptors, int(i.n), k_of(i.shape), i.btype, bool(getattr(i, "imm_trans_b", 0))
    )


def _read_tile(
    warps: Warps, descriptors: NDArray[np.uint64], rows: int, k: int, element: str, transposed: bool
) -> Matrix:
    """The matrix behind each warpgroup's descriptor. Shapes: (warpgroups, rows, K).

    Descriptors differ in their start addresses and seldom in anything else: those that agree in the rest
    share one table of offsets.
    """
    fields = descriptors >> np.uint64(14)
    starts = (descriptors.astype(np.int64) & 0x3FFF) << 4
    kinds = np.unique(fields)
    if len(kinds) == 1:
        words = warps.shared_tile(starts, *_offsets(int(kinds[0]), rows, k, element, transposed), 8)
    else:
        parts = [np.flatnonzero(fields == kind) for kind in kinds]
        tiles = [
            warps.shared_tile(starts[part], *_offsets(int(kind), rows, k, element, transposed), 8, part)
            for kind, part in zip(kinds, parts, strict=True)
        ]
        words = np.empty((len(descriptors), *tiles[0].shape[1:]), np.uint64)
        for part, tile in zip(parts, tiles, strict=True):
            words[part] = tile
    elements = words.view(STORAGE[element])
    return np.ascontiguousarray(elements.swapaxes(1, 2)) if transposed else elements


@lru_cache(maxsize=256)
def _offsets(
    fields: int, rows: int, k: int, element: str, transposed: bool
) -> tuple[NDArray[np.int32], int, int]:
    """Offsets of the 8-byte words of a tile from its start, the swizzle and the base offset.

    `fields` is a descriptor without its start address. Words run along K, or along the rows of a transposed
    tile.
    """
    descriptor = layout.Descriptor.decode(fields << 14)
    unit = np.dtype(STORAGE[element]).itemsize
    table = layout.matrix_addresses(
        descriptor.leading_byte_offset,
        descriptor.stride_byte_offset,
        descriptor.swizzle,
        rows=rows,
        k=k * TYPE_BITS[element] // (8 * unit),
        element_bytes=unit,
        major="MN" if transposed else "K",
    )
    words = table[:: 8 // unit].T if transposed else table[:, :: 8 // unit]
    return np.ascontiguousarray(words), descriptor.swizzle, descriptor.base_offset


FENCE = Form(
    name="wgmma.fence",
    syntax="wgmma.fence.sync.aligned;",
    rows="ptx target\n8.0 sm_90a",
    operands={},
    touches="warpgroup",
    source="PTX ISA 9.7.15.7.1",
)


@FENCE.meaning
def fence(warps: Warps, i: Bound) -> None:
    """Registers are read and written where the schedule says; there is nothing left to order."""


COMMIT = Form(
    name="wgmma.commit_group",
    syntax="wgmma.commit_group.sync.aligned;",
    rows="ptx target\n8.0 sm_90a",
    operands={},
    touches="warpgroup async",
    source="PTX ISA 9.7.15.7.2",
)


@COMMIT.meaning
def commit(warps: Warps, i: Bound) -> None:
    # WRITE
    warps.commit("wgmma")


WAIT = Form(
    name="wgmma.wait_group",
    syntax="wgmma.wait_group.sync.aligned  N;",
    rows="ptx target\n8.0 sm_90a",
    operands={"N": immediate(values=range(1 << 63))},
    touches="warpgroup async",
    source="PTX ISA 9.7.15.7.3",
)


@WAIT.meaning
def wait(warps: Warps, i: Bound) -> None:
    # READ
    pending = i.N
    # WRITE
    warps.wait("wgmma", pending)
