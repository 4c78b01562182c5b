"""Matrix multiplication by a warp (`wmma`), the older interface with its own loads and stores.

The loads and stores define the layout of the matrices in registers.

Source: PTX ISA 9.7.14.4.
"""

from dataclasses import replace

import numpy as np

from warploom.isa.instructions.fragments import fragment, gather, product, register_type, scatter
from warploom.isa.model.effects import Access, Collective, Multiply
from warploom.isa.model.form import Form
from warploom.isa.model.multiplication import Multiplication
from warploom.isa.model.operand_layout import OperandLayout
from warploom.isa.model.operands import Slots, address, inp, out
from warploom.isa.model.semantics import Array, Bound, Lanes, Warps
from warploom.isa.model.types import TYPES, bits_of
from warploom.layout import FragmentMap, maps


def _map(slots: Slots) -> FragmentMap:
    return maps.tiled_fragment("wmma", slots.get("matrix", "d").upper(), slots["shape"], slots["type"])


_MOVED = OperandLayout("R", lambda slots, _: _map(slots))
_LOADED, _STORED = (
    replace(operand(lambda slots: register_type(slots["type"]), lambda slots: _map(slots).registers), layout=_MOVED)
    for operand in (out, inp)
)

LOAD = Form(
    name="wmma.load",
    syntax="wmma.load.matrix.sync{.aligned}.layout.shape{.ss}.type  r, [p]{, stride};",
    rows="""
        matrix  aligned  layout   shape                        ss                           type     ptx  target  gone
        a,b     -        row,col  m16n16k16                    -,global,shared              f16      6.0  sm_70   6.3@sm_70
        a,b     -        row,col  m8n32k16,m32n8k16            -,global,shared              f16      6.1  sm_70   6.3@sm_70
        c       -        row,col  m16n16k16                    -,global,shared              f16,f32  6.0  sm_70   6.3@sm_70
        c       -        row,col  m8n32k16,m32n8k16            -,global,shared              f16,f32  6.1  sm_70   6.3@sm_70
        a,b     aligned  row,col  m16n16k16,m8n32k16,m32n8k16  -,global,shared,shared::cta  f16      6.3  sm_70   -
        c       aligned  row,col  m16n16k16,m8n32k16,m32n8k16  -,global,shared,shared::cta  f16,f32  6.3  sm_70   -
        a,b     aligned  row,col  m16n16k16,m8n32k16,m32n8k16  -,global,shared,shared::cta  u8,s8    6.3  sm_72   -
        c       aligned  row,col  m16n16k16,m8n32k16,m32n8k16  -,global,shared,shared::cta  s32      6.3  sm_72   -
        a,b     aligned  row,col  m16n16k16,m8n32k16,m32n8k16  -,global,shared,shared::cta  bf16     7.0  sm_80   -
        a,b     aligned  row,col  m16n16k8                     -,global,shared,shared::cta  tf32     7.0  sm_80   -
        c       aligned  row,col  m16n16k8                     -,global,shared,shared::cta  f32      7.0  sm_80   -
        a,b,c   aligned  row,col  m8n8k4                       -,global,shared,shared::cta  f64      7.0  sm_80   -
        a       aligned  row      m8n8k32                      -,global,shared,shared::cta  u4,s4    6.3  sm_75   -
        b       aligned  col      m8n8k32                      -,global,shared,shared::cta  u4,s4    6.3  sm_75   -
        a       aligned  row      m8n8k128                     -,global,shared,shared::cta  b1       6.3  sm_75   -
        b       aligned  col      m8n8k128                     -,global,shared,shared::cta  b1       6.3  sm_75   -
        c       aligned  row,col  m8n8k32,m8n8k128             -,global,shared,shared::cta  s32      6.3  sm_75   -
    """,  # noqa: E501
    operands={"r": _LOADED, "p": address(), "stride": inp("u32")},
    spellings=(
        "wmma.load.matrix.sync{.aligned}.shape.layout{.ss}.type",
        "wmma.load.matrix.sync{.aligned}.shape{.ss}.layout.type",
    ),
    effects=(Collective("warp"), Access("read", "p", "r")),
    source="PTX ISA 9.7.14.4.3",
)
LOAD.describe(
    "Loads a matrix from memory into opaque fragments of a warp; the stride counts elements between rows. Use"
    " `ldmatrix` and `mma` in new code: they define which lane holds which element.",
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%rd0], 16;",
)


@LOAD.execute
def load_matrix(warps: Warps, i: Bound) -> None:
    found = _map(vars(i))
    addresses, unit, units, lanes = _accesses(warps, i, found)
    loaded = [warps.load(i.ss, where, unit, units, lanes=lanes) for where in addresses]
    matrix = np.ascontiguousarray(np.concatenate(loaded).transpose(1, 2, 0)[:, lanes[0]])
    if bits_of(i.type) == 4:
        matrix = np.stack([matrix & 15, matrix >> 4], axis=3).reshape(*matrix.shape[:2], -1)
    scatter(warps, i.r, found, i.type, matrix, transposed=i.layout == "col")


def _accesses(warps: Warps, i: Bound, found: FragmentMap) -> tuple[list[Array], str, int, Lanes]:
    """Return the memory accesses that move a matrix with the fragment map `found`.

    The results are the addresses of each access, the PTX type and the number of the units that an access moves, and the
    mask of participating lanes.
    """
    count, elements = (found.rows, found.cols) if i.layout == "row" else (found.cols, found.rows)
    bits = bits_of(i.type)
    stride = np.uint64(elements) if i.stride is None else warps.read(i.stride).astype(np.uint64)
    # Lane n moves row or column n in accesses of equal size.
    starts = warps.addresses(i.p) + np.arange(32, dtype=np.uint64) * (stride * np.uint64(bits) // np.uint64(8))
    # A unit is one element, a byte of two 4-bit elements, or a word of 32 single bits.
    unit = i.type if register_type(i.type) == i.type else f"b{max(bits, 8) if bits > 1 else 32}"
    # The hardware requires the alignment of a line, of a fragment or of 16 bytes, whichever is smallest.
    size = min(elements * bits, found.registers * found.register_bits, 128) // 8
    addresses = [starts + np.uint64(at) for at in range(0, elements * bits // 8, size)]
    return addresses, unit, 8 * size // bits_of(unit), np.arange(32)[None, :] < count


STORE = Form(
    name="wmma.store",
    syntax="wmma.store.d.sync{.aligned}.layout.shape{.ss}.type  [p], r{, stride};",
    rows="""
        aligned  layout   shape                        ss                           type     ptx  target  gone
        -        row,col  m16n16k16                    -,global,shared              f16,f32  6.0  sm_70   6.3@sm_70
        -        row,col  m8n32k16,m32n8k16            -,global,shared              f16,f32  6.1  sm_70   6.3@sm_70
        aligned  row,col  m16n16k16,m8n32k16,m32n8k16  -,global,shared,shared::cta  f16,f32  6.3  sm_70   -
        aligned  row,col  m16n16k16,m8n32k16,m32n8k16  -,global,shared,shared::cta  s32      6.3  sm_72   -
        aligned  row,col  m8n8k32,m8n8k128             -,global,shared,shared::cta  s32      6.3  sm_75   -
        aligned  row,col  m16n16k8                     -,global,shared,shared::cta  f32      7.0  sm_80   -
        aligned  row,col  m8n8k4                       -,global,shared,shared::cta  f64      7.0  sm_80   -
    """,
    operands={"p": address(), "r": _STORED, "stride": inp("u32")},
    spellings=(
        "wmma.store.d.sync{.aligned}.shape.layout{.ss}.type",
        "wmma.store.d.sync{.aligned}.shape{.ss}.layout.type",
    ),
    effects=(Collective("warp"), Access("write", "p", "r")),
    source="PTX ISA 9.7.14.4.4",
)
STORE.describe(
    "Stores opaque fragments of a warp as a matrix in memory. Use it after `wmma.mma`.",
    "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd0], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, 16;",
)


@STORE.execute
def store_matrix(warps: Warps, i: Bound) -> None:
    found = _map(vars(i))
    addresses, unit, units, lanes = _accesses(warps, i, found)
    matrix = gather(warps, i.r, found, i.type, transposed=i.layout == "col")
    values = np.zeros((matrix.shape[2], warps.count, 32), matrix.dtype)
    values[:, :, lanes[0]] = matrix.transpose(2, 0, 1)
    values = values.view(TYPES[unit].dtype)
    for part, where in enumerate(addresses):
        warps.store(i.ss, where, unit, values[part * units : (part + 1) * units], lanes=lanes)


_OPERANDS = {name.lower(): fragment(name, "warp tiles") for name in ("D", "A", "B", "C")}


HALF = Form(
    name="wmma.half",
    syntax="wmma.mma.sync{.aligned}.alayout.blayout.shape.dtype.ctype{.satfinite}  d, a, b, c;",
    rows="""
        aligned  alayout  blayout  shape                        dtype    ctype    satfinite    ptx  target  gone
        -        row,col  row,col  m16n16k16                    f16,f32  f16,f32  -,satfinite  6.0  sm_70   6.3@sm_70
        -        row,col  row,col  m8n32k16,m32n8k16            f16,f32  f16,f32  -,satfinite  6.1  sm_70   6.3@sm_70
        aligned  row,col  row,col  m16n16k16,m8n32k16,m32n8k16  f16,f32  f16,f32  -            6.3  sm_70   -
        aligned  row,col  row,col  m16n16k16,m8n32k16,m32n8k16  f16,f32  f16,f32  satfinite    6.3  sm_70   6.5@sm_70
    """,
    operands=_OPERANDS,
    spellings=("wmma.mma.sync{.aligned}.shape.alayout.blayout.dtype.ctype{.satfinite}",),
    # Only old PTX versions have .satfinite for floats, and nobody has measured its results.
    limit=lambda slots: "the saturation of f16 and f32 sums is not known" if slots["satfinite"] else "",
    effects=(Collective("warp"), Multiply("warp tiles")),
    source="PTX ISA 9.7.14.4.5",
)
HALF.describe(
    "Multiplies f16 matrices in opaque fragments of a warp and adds C: `D = A*B + C`. Use `mma` in new code.",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%r0, %r1, %r2,"
    " %r3, %r4, %r5, %r6, %r7}, {%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}, {%f0, %f1, %f2, %f3, %f4, %f5,"
    " %f6, %f7};",
)

FLOAT = Form(
    name="wmma.float",
    syntax="wmma.mma.sync.aligned.alayout.blayout.shape{.rnd}.dtype.atype.btype.ctype  d, a, b, c;",
    rows="""
        alayout  blayout  shape                        rnd            dtype  atype  btype  ctype  ptx  target
        row,col  row,col  m16n16k16,m8n32k16,m32n8k16  -              f32    bf16   bf16   f32    7.0  sm_80
        row,col  row,col  m16n16k8                     -              f32    tf32   tf32   f32    7.0  sm_80
        row,col  row,col  m8n8k4                       -,rn,rz,rm,rp  f64    f64    f64    f64    7.0  sm_80
    """,
    operands=_OPERANDS,
    spellings=(
        "wmma.mma.sync.aligned.alayout.blayout.shape.dtype.atype.btype.ctype{.rnd}",
        "wmma.mma.sync.aligned.shape.alayout.blayout.dtype.atype.btype.ctype{.rnd}",
    ),
    effects=(Collective("warp"), Multiply("warp tiles")),
    source="PTX ISA 9.7.14.4.5",
)
FLOAT.describe(
    "Multiplies bf16, tf32 or f64 matrices in opaque fragments of a warp and adds C: `D = A*B + C`. Use `mma` in"
    " new code.",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%r0,"
    " %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};",
)

INTEGER = Form(
    name="wmma.integer",
    syntax="wmma.mma.sync.aligned.alayout.blayout.shape.dtype.atype.btype.ctype{.satfinite}  d, a, b, c;",
    rows="""
        alayout  blayout  shape                        dtype  atype  btype  ctype  ptx  target
        row,col  row,col  m16n16k16,m8n32k16,m32n8k16  s32    s8     s8     s32    6.3  sm_72
        row,col  row,col  m16n16k16,m8n32k16,m32n8k16  s32    u8     u8     s32    6.3  sm_72
        row      col      m8n8k32                      s32    s4     s4     s32    6.3  sm_75
        row      col      m8n8k32                      s32    u4     u4     s32    6.3  sm_75
    """,
    operands=_OPERANDS,
    spellings=("wmma.mma.sync.aligned.shape.alayout.blayout.dtype.atype.btype.ctype{.satfinite}",),
    effects=(Collective("warp"), Multiply("warp tiles")),
    source="PTX ISA 9.7.14.4.5",
)
INTEGER.describe(
    "Multiplies 8- or 4-bit integer matrices in opaque fragments of a warp and adds C in s32; `.satfinite` clamps"
    " instead of wrapping. Use `mma` in new code.",
    "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, {%r8, %r9},"
    " {%r10, %r11}, {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7};",
)

BIT = Form(
    name="wmma.bit",
    syntax="wmma.mma.bitOp.popc.sync.aligned.alayout.blayout.shape.dtype.atype.btype.ctype  d, a, b, c;",
    rows="""
        bitOp  alayout  blayout  shape     dtype  atype  btype  ctype  ptx  target
        xor    row      col      m8n8k128  s32    b1     b1     s32    6.3  sm_75
        and    row      col      m8n8k128  s32    b1     b1     s32    7.1  sm_80
    """,
    operands=_OPERANDS,
    spellings=("wmma.mma.bitOp.popc.sync.aligned.shape.alayout.blayout.dtype.atype.btype.ctype",),
    effects=(Collective("warp"), Multiply("warp tiles")),
    source="PTX ISA 9.7.14.4.5",
)
BIT.describe(
    "Counts the ones of the bitwise and, or of the exclusive or, of rows of A and columns of B, and adds C. Use"
    " `mma` in new code.",
    "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r0, %r1}, {%r2}, {%r3}, {%r0, %r1};",
)


@HALF.multiplication
@FLOAT.multiplication
@INTEGER.multiplication
@BIT.multiplication
def multiply(i: Bound) -> Multiplication:
    """Return d = sum(a, b, c)."""
    return product("warp tiles", i)
