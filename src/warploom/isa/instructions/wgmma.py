"""Warpgroup matrix multiplication, asynchronous (PTX ISA 9.7.15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from warploom.isa.instructions.fragments import (
    Matrix,
    fragment,
    gather,
    has_arithmetic,
    k_of,
    select_model,
    update,
    variant,
)
from warploom.isa.instructions.sparse import lying_metadata, selectors
from warploom.isa.model.effects import Collective, Commit, Fence, Issue, Multiply, Wait
from warploom.isa.model.form import Form
from warploom.isa.model.operand_layout import LayoutInputs, OperandLayout
from warploom.isa.model.operands import OperandSpec, RegisterConstraint, Slots, immediate, inp, pred_in
from warploom.isa.model.semantics import Array, Bound, Warps
from warploom.layout import Descriptor, SharedMap, descriptor, maps, matrix_addresses
from warploom.layout import metadata as metadata_map
from warploom.layout.maps import TYPE_BITS
from warploom.numerics import fused
from warploom.numerics.formats import STORAGE
from warploom.numerics.models import Model

_SHAPE = {"shape": "m64n{n}k{k}"}
_SIGNS = {"imm_scale_a": immediate(values=(1, -1)), "imm_scale_b": immediate(values=(1, -1))}
_TRANSPOSE_A = {"imm_trans_a": immediate(values=(0, 1))}
_TRANSPOSE_B = {"imm_trans_b": immediate(values=(0, 1))}


def _selector_bits(slots: Slots) -> int:
    """Where there is one selector alone, the low bits of the constant are looked at."""
    return 32 if len(selectors(slots)) == 1 else 0


_METADATA = replace(inp("b32", values=()), layout=lying_metadata("wgmma"))


def _behind_descriptor(operand: str, *, sparse: bool) -> OperandSpec:
    """The descriptor of A or B in shared memory."""

    def read(slots: Slots, given: LayoutInputs) -> SharedMap:
        rows, k = (64 if operand == "A" else int(slots["n"])), k_of(slots["shape"])
        stored = k // 2 if sparse and operand == "A" else k
        element = slots[f"{operand.lower()}type"]
        found = given.descriptor_of_warpgroup() or descriptor(
            rows, stored, element, swizzle=given.swizzle, major=given.major
        )
        tile = found.tile(rows, stored, element, given.major)
        return replace(tile, name=f"wgmma{' sparse' if sparse else ''} {slots['shape']} {element} {operand}")

    return replace(inp("u64"), layout=OperandLayout(operand, read, ("descriptor", "swizzle", "major")))


def _registers_of_a(*, sparse: bool, integer: bool) -> OperandSpec:
    """Registers of A: those of integers and bits are any of 32 bits, those of floats hold pairs."""
    place = fragment("A", "wgmma", sparse=sparse)
    return replace(place, type="b32") if integer else replace(place, type="f16x2")


def _operands(*, registers: bool, sparse: bool, integer: bool = False) -> dict[str, OperandSpec]:
    """What every multiplication has: D, A in registers or behind a descriptor, B behind one, scale-d."""
    a = (
        {"a": _registers_of_a(sparse=sparse, integer=integer)}
        if registers
        else {"a_desc": _behind_descriptor("A", sparse=sparse)}
    )
    metadata = {"sp_meta": _METADATA, "sp_sel": immediate(values=selectors, bits=_selector_bits)} if sparse else {}
    shared = {"b_desc": _behind_descriptor("B", sparse=sparse), "scale_d": pred_in(values=(0, 1))}
    return (
        {"d": replace(fragment("D", "wgmma", updated=True), constraint=RegisterConstraint("own"))}
        | a
        | shared
        | metadata
    )


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
    limit=has_arithmetic("wgmma"),
    effects=(Collective("warpgroup"), Issue("multiplication"), Multiply(keeps="scale_d")),
    source="PTX ISA 9.7.15.5.2",
)

HALF_REGISTERS = Form(
    name="wgmma.half-registers",
    syntax="wgmma.mma_async.sync.aligned.shape.dtype.atype.btype"
    "  d, a, b-desc, scale-d, imm-scale-a, imm-scale-b, imm-trans-b;",
    rows=_HALF_ROWS,
    words=_SHAPE,
    operands=_REGISTERS | _SIGNS | _TRANSPOSE_B,
    limit=has_arithmetic("wgmma"),
    effects=(Collective("warpgroup"), Issue("multiplication"), Multiply(keeps="scale_d")),
    source="PTX ISA 9.7.15.5.2",
)

FLOAT = Form(
    name="wgmma.float",
    syntax="wgmma.mma_async.sync.aligned.shape.dtype.atype.btype"
    "  d, a-desc, b-desc, scale-d, imm-scale-a, imm-scale-b;",
    rows=_FLOAT_ROWS,
    words=_SHAPE,
    operands=_SHARED | _SIGNS,
    limit=has_arithmetic("wgmma"),
    effects=(Collective("warpgroup"), Issue("multiplication"), Multiply(keeps="scale_d")),
    source="PTX ISA 9.7.15.5.2",
)

FLOAT_REGISTERS = Form(
    name="wgmma.float-registers",
    syntax="wgmma.mma_async.sync.aligned.shape.dtype.atype.btype  d, a, b-desc, scale-d, imm-scale-a, imm-scale-b;",
    rows=_FLOAT_ROWS,
    words=_SHAPE,
    operands=_REGISTERS | _SIGNS,
    limit=has_arithmetic("wgmma"),
    effects=(Collective("warpgroup"), Issue("multiplication"), Multiply(keeps="scale_d")),
    source="PTX ISA 9.7.15.5.2",
)

INTEGER = Form(
    name="wgmma.integer",
    syntax="wgmma.mma_async.sync.aligned.shape{.satfinite}.dtype.atype.btype  d, a-desc, b-desc, scale-d;",
    rows=_INTEGER_ROWS,
    words=_SHAPE,
    operands=_SHARED,
    spellings=("wgmma.mma_async.sync.aligned.shape.dtype.atype.btype{.satfinite}",),
    limit=has_arithmetic("wgmma"),
    effects=(Collective("warpgroup"), Issue("multiplication"), Multiply(keeps="scale_d")),
    source="PTX ISA 9.7.15.5.2",
)

INTEGER_REGISTERS = Form(
    name="wgmma.integer-registers",
    syntax="wgmma.mma_async.sync.aligned.shape{.satfinite}.dtype.atype.btype  d, a, b-desc, scale-d;",
    rows=_INTEGER_ROWS,
    words=_SHAPE,
    operands=_INTEGER_REGISTERS,
    spellings=("wgmma.mma_async.sync.aligned.shape.dtype.atype.btype{.satfinite}",),
    limit=has_arithmetic("wgmma"),
    effects=(Collective("warpgroup"), Issue("multiplication"), Multiply(keeps="scale_d")),
    source="PTX ISA 9.7.15.5.2",
)

BIT = Form(
    name="wgmma.bit",
    syntax="wgmma.mma_async.sync.aligned.shape.dtype.atype.btype.bitOp.popc  d, a-desc, b-desc, scale-d;",
    rows=_BIT_ROWS,
    words=_SHAPE,
    operands=_SHARED,
    limit=has_arithmetic("wgmma"),
    effects=(Collective("warpgroup"), Issue("multiplication"), Multiply(keeps="scale_d")),
    source="PTX ISA 9.7.15.5.2",
)

BIT_REGISTERS = Form(
    name="wgmma.bit-registers",
    syntax="wgmma.mma_async.sync.aligned.shape.dtype.atype.btype.bitOp.popc  d, a, b-desc, scale-d;",
    rows=_BIT_ROWS,
    words=_SHAPE,
    operands=_INTEGER_REGISTERS,
    limit=has_arithmetic("wgmma"),
    effects=(Collective("warpgroup"), Issue("multiplication"), Multiply(keeps="scale_d")),
    source="PTX ISA 9.7.15.5.2",
)

SPARSE_HALF = Form(
    name="wgmma.sparse-half",
    syntax="wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype"
    "  d, a-desc, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b;",
    rows=_SPARSE_HALF_ROWS,
    words=_SHAPE,
    operands=_SPARSE_SHARED | _SIGNS | _TRANSPOSE_A | _TRANSPOSE_B,
    limit=has_arithmetic("wgmma"),
    effects=(Collective("warpgroup"), Issue("multiplication"), Multiply(keeps="scale_d")),
    source="PTX ISA 9.7.15.6.2",
)

SPARSE_HALF_REGISTERS = Form(
    name="wgmma.sparse-half-registers",
    syntax="wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype"
    "  d, a, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b, imm-trans-b;",
    rows=_SPARSE_HALF_ROWS,
    words=_SHAPE,
    operands=_SPARSE_REGISTERS | _SIGNS | _TRANSPOSE_B,
    limit=has_arithmetic("wgmma"),
    effects=(Collective("warpgroup"), Issue("multiplication"), Multiply(keeps="scale_d")),
    source="PTX ISA 9.7.15.6.2",
)

SPARSE_FLOAT = Form(
    name="wgmma.sparse-float",
    syntax="wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype"
    "  d, a-desc, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b;",
    rows=_SPARSE_FLOAT_ROWS,
    words=_SHAPE,
    operands=_SPARSE_SHARED | _SIGNS,
    limit=has_arithmetic("wgmma"),
    effects=(Collective("warpgroup"), Issue("multiplication"), Multiply(keeps="scale_d")),
    source="PTX ISA 9.7.15.6.2",
)

SPARSE_FLOAT_REGISTERS = Form(
    name="wgmma.sparse-float-registers",
    syntax="wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype"
    "  d, a, b-desc, sp-meta, sp-sel, scale-d, imm-scale-a, imm-scale-b;",
    rows=_SPARSE_FLOAT_ROWS,
    words=_SHAPE,
    operands=_SPARSE_REGISTERS | _SIGNS,
    limit=has_arithmetic("wgmma"),
    effects=(Collective("warpgroup"), Issue("multiplication"), Multiply(keeps="scale_d")),
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
    limit=has_arithmetic("wgmma"),
    effects=(Collective("warpgroup"), Issue("multiplication"), Multiply(keeps="scale_d")),
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
    limit=has_arithmetic("wgmma"),
    effects=(Collective("warpgroup"), Issue("multiplication"), Multiply(keeps="scale_d")),
    source="PTX ISA 9.7.15.6.2",
)


@HALF.execute
@HALF_REGISTERS.execute
@FLOAT.execute
@FLOAT_REGISTERS.execute
@INTEGER.execute
@INTEGER_REGISTERS.execute
@BIT.execute
@BIT_REGISTERS.execute
@SPARSE_HALF.execute
@SPARSE_HALF_REGISTERS.execute
@SPARSE_FLOAT.execute
@SPARSE_FLOAT_REGISTERS.execute
@SPARSE_INTEGER.execute
@SPARSE_INTEGER_REGISTERS.execute
def issue(warps: Warps, i: Bound) -> None:
    issue_several(warps, (i,))


@HALF.execute_run
@HALF_REGISTERS.execute_run
@FLOAT.execute_run
@FLOAT_REGISTERS.execute_run
@INTEGER.execute_run
@INTEGER_REGISTERS.execute_run
@BIT.execute_run
@BIT_REGISTERS.execute_run
@SPARSE_HALF.execute_run
@SPARSE_HALF_REGISTERS.execute_run
@SPARSE_FLOAT.execute_run
@SPARSE_FLOAT_REGISTERS.execute_run
@SPARSE_INTEGER.execute_run
@SPARSE_INTEGER_REGISTERS.execute_run
def issue_several(warps: Warps, run: Sequence[Bound]) -> None:
    # READ
    everywhere = (warps.count, 32)
    # Copies, for what is read may be a view of registers that change before this takes effect.
    captured = {
        name: np.stack([np.broadcast_to(warps.read(getattr(i, name)), everywhere) for i in run], axis=2)
        for name in ("a_desc", "b_desc", "scale_d")
        if getattr(run[0], name, None) is not None
    }
    # COMPUTE
    model = select_model(warps, run[0], "wgmma")
    # WRITE
    warps.defer("multiplication", lambda batch, taken: _multiply(batch, run, model, taken), captured)


def _multiply(warps: Warps, run: Sequence[Bound], model: Model, captured: Mapping[str, Array]) -> None:
    """What issued multiplications do when they take effect: those that go on with one sum are done as one."""
    # READ
    leaders = warps.warpgroups()[:, 0]
    taken = {name: array[leaders, 0] for name, array in captured.items()}
    keeps = taken["scale_d"].astype(np.bool_)
    first = 0
    while first < len(run):
        end = first + 1
        while end < len(run) and _continues(run[end - 1], run[end]) and keeps[:, end].all():
            end += 1
        part = {name: array[:, first:end] for name, array in taken.items() if name != "scale_d"}
        # COMPUTE, WRITE
        _sum(warps, run[first], model, part, keeps[:, first])
        first = end


def _continues(before: Bound, i: Bound) -> bool:
    """Whether a multiplication is the one before it once more, with other matrices behind its descriptors."""
    if i.d is not before.d or getattr(i, "a_desc", None) is None or getattr(i, "sp_meta", None) is not None:
        return False
    return not getattr(i, "satfinite", "") and all(getattr(i, name, 0) == getattr(before, name, 0) for name in _FIXED)


def _sum(warps: Warps, i: Bound, model: Model, descriptors: Mapping[str, Array], keeps: NDArray[np.bool_]) -> None:
    """Add the products of what descriptors name, (warpgroups, steps) of them, to the accumulators that are kept."""
    # READ
    groups = warps.warpgroups()
    sparse = getattr(i, "sp_meta", None) is not None
    k, registers, index = k_of(i.shape), None, None
    if "a_desc" not in descriptors:
        registers = gather(warps, i.a, maps.warpgroup_fragment("wgmma", "A", i.shape, i.atype, sparse=sparse), i.atype)
    if sparse:
        words = np.broadcast_to(warps.read(i.sp_meta), (warps.count, 32))[groups].reshape(-1, 128)
        index = metadata_map("wgmma", i.shape, i.atype, i.sp_sel).decode(words)

    products = len(groups) * 64 * int(i.n) * k * descriptors["b_desc"].shape[1]
    parts = fused.shares(warps.pool(), len(groups), products)

    def operands(part: slice) -> tuple[Matrix, Matrix]:
        def tiles(name: str, rows: int, depth: int, element: str, transposed: bool) -> Matrix:
            return _read_tiles(warps, descriptors[name][part], part, rows, depth, element, transposed)

        b = tiles("b_desc", int(i.n), k, i.btype, bool(getattr(i, "imm_trans_b", 0)))
        if registers is not None:
            return registers[part], b
        return tiles("a_desc", 64, k // 2 if sparse else k, i.atype, bool(getattr(i, "imm_trans_a", 0))), b

    taken = warps.each(operands, parts)

    # COMPUTE, WRITE
    def change(d: Matrix) -> list[Callable[[], object]]:
        if not keeps.all():
            d[~keeps] = 0
        c = d if keeps.any() else None
        workers = warps.pool() if len(parts) == 1 else None
        return [
            partial(
                fused.multiply, a, b, None if c is None else c[part], model, **variant(i),
                index=None if index is None else index[part], out=d[part], workers=workers,
            )
            for part, (a, b) in zip(parts, taken, strict=True)
        ]  # fmt: skip

    update(warps, i.d, maps.warpgroup_fragment("wgmma", "D", i.shape, i.dtype), i.dtype, change)
    warps.count_macs(products)


_FIXED = (
    "shape", "dtype", "atype", "btype", "bitOp", "imm_scale_a", "imm_scale_b", "imm_trans_a", "imm_trans_b"
)  # fmt: skip
"""What multiplications that are done as one have in common."""


def _read_tiles(
    warps: Warps, descriptors: NDArray[np.uint64], part: slice, rows: int, k: int, element: str, transposed: bool
) -> Matrix:
    """The matrix behind the descriptors of each warpgroup, (warpgroups, steps), step beside step along K.

    Descriptors differ in their start addresses and seldom in anything else: those that agree in the rest
    share one table of offsets.

    Shapes: (warpgroups, rows, steps * K).
    """
    fields = descriptors >> np.uint64(14)
    starts = (descriptors.astype(np.int64) & 0x3FFF) << 4
    if (fields == fields[0, 0]).all():
        table = _offsets(int(fields[0, 0]), rows, k, element, transposed)
        words = warps.shared_tile(starts, *table, part, transposed)
    else:
        words = _read_each(warps, fields, starts, part, rows, k, element, transposed)
    elements = words.view(STORAGE[element])
    return np.ascontiguousarray(elements.swapaxes(1, 2)) if transposed else elements


def _read_each(
    warps: Warps, fields: Array, starts: Array, part: slice, rows: int, k: int, element: str, transposed: bool
) -> Array:
    """Tiles whose descriptors do not agree in more than where they start, kind by kind."""
    numbers = np.arange(len(warps.warpgroups()))[part]
    steps: list[Array] = []
    for step in range(fields.shape[1]):
        kinds = np.unique(fields[:, step])
        parts = [np.flatnonzero(fields[:, step] == kind) for kind in kinds]
        tiles = [
            warps.shared_tile(
                starts[some, step, None], *_offsets(int(kind), rows, k, element, transposed), numbers[some], False
            )
            for kind, some in zip(kinds, parts, strict=True)
        ]
        words = np.empty((len(fields), *tiles[0].shape[1:]), np.uint64)
        for some, tile in zip(parts, tiles, strict=True):
            words[some] = tile
        steps.append(words)
    return np.concatenate(steps, axis=1 if transposed else 2)


@lru_cache(maxsize=256)
def _offsets(fields: int, rows: int, k: int, element: str, transposed: bool) -> tuple[NDArray[np.int64], int, int]:
    """Offsets of the 8-byte words of a tile, as `tile_offsets` says. Words run along K, or along the rows of a
    transposed tile.
    """
    table, swizzle, base_offset = tile_offsets(fields, rows, k, element, transposed)
    step = 8 // np.dtype(STORAGE[element]).itemsize
    words = table[::step].T if transposed else table[:, ::step]
    return np.ascontiguousarray(words, np.int64), swizzle, base_offset


def tile_offsets(fields: int, rows: int, k: int, element: str, transposed: bool) -> tuple[NDArray[np.int32], int, int]:
    """Offsets of the elements of a tile from its start, the swizzle and the base offset.

    `fields` is a descriptor without its start address.

    Shapes: (rows, K) of stored elements.
    """
    found = Descriptor.decode(fields << 14)
    unit = np.dtype(STORAGE[element]).itemsize
    table = matrix_addresses(
        found.leading_byte_offset,
        found.stride_byte_offset,
        found.swizzle,
        rows=rows,
        k=k * TYPE_BITS[element] // (8 * unit),
        element_bytes=unit,
        major="MN" if transposed else "K",
    )
    return table, found.swizzle, found.base_offset


FENCE = Form(
    name="wgmma.fence",
    syntax="wgmma.fence.sync.aligned;",
    rows="ptx target\n8.0 sm_90a",
    operands={},
    effects=(Collective("warpgroup"), Fence("registers")),
    source="PTX ISA 9.7.15.7.1",
)


@FENCE.execute
def fence(warps: Warps, i: Bound) -> None:
    """Registers are read and written where the schedule says; there is nothing left to order."""


COMMIT = Form(
    name="wgmma.commit_group",
    syntax="wgmma.commit_group.sync.aligned;",
    rows="ptx target\n8.0 sm_90a",
    operands={},
    effects=(Collective("warpgroup"), Commit("multiplication")),
    source="PTX ISA 9.7.15.7.2",
)


@COMMIT.execute
def commit(warps: Warps, i: Bound) -> None:
    # WRITE
    warps.commit("multiplication")


WAIT = Form(
    name="wgmma.wait_group",
    syntax="wgmma.wait_group.sync.aligned  N;",
    rows="ptx target\n8.0 sm_90a",
    operands={"N": immediate(values=range(1 << 63))},
    effects=(Collective("warpgroup"), Wait("multiplication", pending="N")),
    source="PTX ISA 9.7.15.7.3",
)


@WAIT.execute
def wait(warps: Warps, i: Bound) -> None:
    # READ
    pending = i.N
    # WRITE
    warps.wait("multiplication", pending)
