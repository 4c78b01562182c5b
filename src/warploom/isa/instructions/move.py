"""Moves between registers, and packing and unpacking of vectors (PTX ISA 9.7.9.3-4)."""

from __future__ import annotations

import numpy as np

from warploom.isa.model.form import Form
from warploom.isa.model.operands import Place, Slots, inp, out
from warploom.isa.model.semantics import Bound, Warps
from warploom.isa.model.types import TYPES, bits_of


def _half(slots: Slots) -> str:
    return f"b{bits_of(slots['type']) // 2}"


def _quarter(slots: Slots) -> str:
    return f"b{bits_of(slots['type']) // 4}"


def _with_gaps(slots: Slots) -> dict[str, str]:
    """In 32 bits `_` may stand for a part, whatever is then in its bits."""
    return {"also": "gap"} if slots["type"] == "b32" else {}


MOV = Form(
    name="move.mov",
    syntax="mov.type  d, a;",
    rows="""
        type                                             ptx target
        b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64      1.0 -
        b128                                             8.3 sm_70
    """,
    operands={"d": out("type"), "a": inp("type", also="special symbol", eased="function")},
    source="PTX ISA 9.7.9.3",
)

MOV_PREDICATE = Form(
    name="move.mov_predicate",
    syntax="mov.type  d, {!}a;",
    rows="type\npred",
    operands={
        "d": Place("predicate", "write", "type", eased="packed"),
        "a": Place("predicate", "read", "type", also="special", eased="function packed"),
    },
    source="PTX ISA 9.7.9.3",
)


@MOV.meaning
@MOV_PREDICATE.meaning
def mov(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # WRITE
    warps.write(i.d, a)


PACK1 = Form(
    name="move.pack1",
    syntax="mov.type  d, a;",
    rows="""
        type         ptx target
        b16,b32,b64  1.0 -
        b128         8.3 sm_70
    """,
    operands={"d": out("type"), "a": inp("type", 1)},
    source="PTX ISA 9.7.9.4",
)

PACK2 = Form(
    name="move.pack2",
    syntax="mov.type  d, a;",
    rows="""
        type         ptx target
        b16,b32,b64  1.0 -
        b128         8.3 sm_70
    """,
    operands={"d": out("type"), "a": inp(_half, 2, by=_with_gaps)},
    source="PTX ISA 9.7.9.4",
)

PACK4 = Form(
    name="move.pack4",
    syntax="mov.type  d, a;",
    rows="""
        type     ptx target
        b32,b64  1.0 -
        b128     8.3 sm_70
    """,
    operands={"d": out("type"), "a": inp(_quarter, 4, by=_with_gaps)},
    source="PTX ISA 9.7.9.4",
)


@PACK1.meaning
@PACK2.meaning
@PACK4.meaning
def pack(warps: Warps, i: Bound) -> None:
    # READ
    parts = warps.read_vector(i.a)
    # COMPUTE
    dtype = TYPES[i.type].dtype
    width = dtype.type(TYPES[i.type].bits // len(parts))
    d = parts[-1].astype(dtype)
    for part in parts[-2::-1]:
        d = d << width | part
    # WRITE
    warps.write(i.d, d)


_PACKED = inp("type", also="special symbol", eased="function")

UNPACK1 = Form(
    name="move.unpack1",
    syntax="mov.type  d, a;",
    rows="""
        type         ptx target
        b16,b32,b64  1.0 -
        b128         8.3 sm_70
    """,
    operands={"d": out("type", 1), "a": _PACKED},
    source="PTX ISA 9.7.9.4",
)

UNPACK2 = Form(
    name="move.unpack2",
    syntax="mov.type  d, a;",
    rows="""
        type         ptx target
        b16,b32,b64  1.0 -
        b128         8.3 sm_70
    """,
    operands={"d": out(_half, 2), "a": _PACKED},
    source="PTX ISA 9.7.9.4",
)

UNPACK4 = Form(
    name="move.unpack4",
    syntax="mov.type  d, a;",
    rows="""
        type     ptx target
        b32,b64  1.0 -
        b128     8.3 sm_70
    """,
    operands={"d": out(_quarter, 4), "a": _PACKED},
    source="PTX ISA 9.7.9.4",
)


@UNPACK1.meaning
@UNPACK2.meaning
@UNPACK4.meaning
def unpack(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # COMPUTE
    part = TYPES[i.d.type]
    shifts = np.arange(0, TYPES[i.type].bits, part.bits, dtype=a.dtype)
    parts = (a >> shifts[:, None, None]).astype(part.dtype)
    # WRITE
    warps.write_vector(i.d, parts)
