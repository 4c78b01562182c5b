"""Loads, stores and transposition of 8-bit and 16-bit matrices in the registers of a warp.

Source: PTX ISA 9.7.14.5.15 to 9.7.14.5.17.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.effects import Access, Collective, Flow
from warploom.isa.model.form import Form
from warploom.isa.model.operand_layout import OperandLayout
from warploom.isa.model.operands import Slots, address, inp, out
from warploom.isa.model.semantics import Bound, Warps
from warploom.layout import FragmentMap, maps

_ROW_BYTES = 16
_MATRIX_ROWS = {"m8n8": 8, "m8n16": 8, "m16n16": 16, "m16n8": 8}


def _matrices(slots: Slots) -> int:
    return int(slots["num"].lstrip("x"))


def _registers(slots: Slots) -> int:
    """Return the number of registers of each lane."""
    return _matrices(slots) * _MATRIX_ROWS[slots["shape"]] // 8


def _rows(i: Bound) -> int:
    """Return the number of rows of all matrices. Lane l supplies the address of row l."""
    return _matrices(vars(i)) * _MATRIX_ROWS[i.shape]


def _fragment(family: str, slots: Slots) -> FragmentMap:
    """Return the map from registers to matrix elements for the family "ldmatrix" or "stmatrix"."""
    found = maps.store_fragment if family == "stmatrix" else maps.load_fragment
    element = slots.get("dst_fmt", "") or slots["type"]
    return found(family, slots["shape"], element, num=_matrices(slots), trans=bool(slots.get("trans", "")))


def _transposed(operand: str, slots: Slots) -> FragmentMap:
    """Return the register layout of the matrix before ("A") or after ("D") transposition."""
    return maps.transpose_fragment("movmatrix", operand, slots["shape"], slots["type"])


def _load_rows(warps: Warps, i: Bound) -> NDArray[np.uint8]:
    """Load all rows of the matrices. Return their bytes, with shape (warps, rows, 16)."""
    return warps.load_rows(i.ss, warps.addresses(i.p), _rows(i))


def _write(warps: Warps, i: Bound, matrix: NDArray[Any]) -> None:
    """Write the stacked matrices of each warp, of shape (warps, rows, columns), to registers."""
    order = _fragment("ldmatrix", vars(i)).order()
    assert order is not None
    warps.write_fragment(i.r, order, matrix.reshape(warps.count, -1).view(order.dtype))


ROWS = address()
_STORED = replace(inp("b32", _registers), layout=OperandLayout("R", lambda slots, _: _fragment("stmatrix", slots)))
_LOADED = replace(out("b32", _registers), layout=OperandLayout("R", lambda slots, _: _fragment("ldmatrix", slots)))

LDMATRIX = Form(
    name="matrix.ldmatrix",
    syntax="ldmatrix.sync.aligned.shape.num{.trans}{.ss}.type  r, [p];",
    rows="""
        shape   num       trans    ss                    type  ptx  target
        m8n8    x1,x2,x4  -,trans  -,shared,shared::cta  b16   6.5  sm_75
        m16n16  x1,x2     trans    -,shared,shared::cta  b8    8.6  sm_100a,sm_100f,sm_110a,sm_110f,sm_120a,sm_120f
    """,
    operands={"r": _LOADED, "p": ROWS},
    spellings=("ldmatrix.sync.aligned.shape.num{.ss}{.trans}.type",),
    effects=(Collective("warp"), Access("read", "p", "r")),
    source="PTX ISA 9.7.14.5.15",
)
LDMATRIX.describe(
    "Loads one, two or four matrices of 8 rows from shared memory into the fragments of a warp; each lane"
    " supplies the address of one row. Use it to load operands of `mma.sync`; `.trans` transposes them.",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%r4];",
)


@LDMATRIX.execute
def load_matrices(warps: Warps, i: Bound) -> None:
    rows = _load_rows(warps, i)
    _write(warps, i, rows.view(np.uint16) if i.type == "b16" else rows)


LDMATRIX_WIDENED = Form(
    name="matrix.ldmatrix-widened",
    syntax="ldmatrix.sync.aligned.shape.num{.trans}{.ss}.dst_fmt.src_fmt  r, [p];",
    rows="""
        shape   num       trans  ss                    dst_fmt  src_fmt              ptx  target
        m8n16   x1,x2,x4  -      -,shared,shared::cta  b8x16    b6x16_p32,b4x16_p64  8.6  sm_100a,sm_100f,sm_110a,sm_110f,sm_120a,sm_120f
        m16n16  x1,x2     trans  -,shared,shared::cta  b8x16    b6x16_p32,b4x16_p64  8.6  sm_100a,sm_100f,sm_110a,sm_110f,sm_120a,sm_120f
    """,  # noqa: E501
    operands={"r": _LOADED, "p": ROWS},
    effects=(Collective("warp"), Access("read", "p", "r")),
    source="PTX ISA 9.7.14.5.15",
)
LDMATRIX_WIDENED.describe(
    "Loads matrices of packed 6- or 4-bit elements and widens each element to 8 bits. Use it to load operands of"
    " `mma.sync` with mixed 8-, 6- and 4-bit types.",
    "ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64 {%r0, %r1}, [%r4];",
)

LDMATRIX_WIDENED.execute(lambda warps, i: _write(warps, i, _WIDEN[i.src_fmt](_load_rows(warps, i))))


def _widen_fours(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Expand the sixteen 4-bit elements in the first 8 bytes of each row to bytes."""
    packed = rows[..., :8, None] >> np.array([0, 4], np.uint8) & np.uint8(15)
    return packed.reshape(*rows.shape[:-1], _ROW_BYTES)


def _widen_sixes(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Expand the sixteen 6-bit elements in the first 12 bytes of each row to bytes."""
    triples = rows[..., :12].reshape(*rows.shape[:-1], 4, 3).astype(np.uint32)
    words = triples[..., 0] | triples[..., 1] << 8 | triples[..., 2] << 16
    spread = words[..., None] >> np.array([0, 6, 12, 18], np.uint32) & 63
    return spread.astype(np.uint8).reshape(*rows.shape[:-1], _ROW_BYTES)


_WIDEN: dict[str, Any] = {"b4x16_p64": _widen_fours, "b6x16_p32": _widen_sixes}


STMATRIX = Form(
    name="matrix.stmatrix",
    syntax="stmatrix.sync.aligned.shape.num{.trans}{.ss}.type  [p], r;",
    rows="""
        shape  num       trans    ss                    type  ptx  target
        m8n8   x1,x2,x4  -,trans  -,shared,shared::cta  b16   7.8  sm_90
        m16n8  x1,x2,x4  trans    -,shared,shared::cta  b8    8.6  sm_100a,sm_100f,sm_110a,sm_110f,sm_120a,sm_120f
    """,
    operands={"p": ROWS, "r": _STORED},
    spellings=("stmatrix.sync.aligned.shape.num{.ss}{.trans}.type",),
    effects=(Collective("warp"), Access("write", "p", "r")),
    source="PTX ISA 9.7.14.5.16",
)
STMATRIX.describe(
    "Stores fragments of a warp as one, two or four matrices of 8 rows to shared memory. Use it in an epilogue"
    " before a tensor store.",
    "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r4], {%r0, %r1, %r2, %r3};",
)


@STMATRIX.execute
def store_matrices(warps: Warps, i: Bound) -> None:
    order = _fragment("stmatrix", vars(i)).order()
    assert order is not None
    matrix = warps.read_fragment(i.r, order).view(np.uint8)
    warps.store_rows(i.ss, warps.addresses(i.p), matrix.reshape(warps.count, _rows(i), _ROW_BYTES))


MOVMATRIX = Form(
    name="matrix.movmatrix",
    syntax="movmatrix.sync.aligned.shape.trans.type  d, a;",
    rows="shape type ptx target\nm8n8 b16 7.8 sm_75",
    operands={
        "d": replace(out("b32"), layout=OperandLayout("D", lambda slots, _: _transposed("D", slots))),
        "a": replace(inp("b32", values=()), layout=OperandLayout("A", lambda slots, _: _transposed("A", slots))),
    },
    effects=(Collective("warp"), Flow(elements=("a",), unwritten="ignore")),
    source="PTX ISA 9.7.14.5.17",
)
MOVMATRIX.describe(
    "Transposes an 8x8 matrix of 16-bit elements in the registers of a warp. Use it to use a result as the other"
    " operand of a multiplication.",
    "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;",
)


@MOVMATRIX.execute
def transpose_matrix(warps: Warps, i: Bound) -> None:
    a = np.broadcast_to(warps.read(i.a), (warps.count, 32))
    matrix = _transposed("A", vars(i)).gather(a[:, None, :])
    d = _transposed("D", vars(i)).scatter(matrix)
    warps.write(i.d, d[:, 0, :])
