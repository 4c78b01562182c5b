"""Moves between registers, and packing and unpacking of vectors.

Source: PTX ISA 9.7.9.3, 9.7.9.4.
"""

from __future__ import annotations

from warploom.isa.model.effects import Flow
from warploom.isa.model.form import Form
from warploom.isa.model.lanewise import Word
from warploom.isa.model.operands import Allowance, OperandSpec, Slots, inp, out
from warploom.isa.model.types import TYPES, bits_of
from warploom.numerics import lanes
from warploom.numerics.lanes import Lane


def _half(slots: Slots) -> str:
    return f"b{bits_of(slots['type']) // 2}"


def _quarter(slots: Slots) -> str:
    return f"b{bits_of(slots['type']) // 4}"


def _with_gaps(slots: Slots) -> tuple[Allowance, ...]:
    """Allow `_` for parts of 32 bits, whose bits are then undefined."""
    return ("gap",) if slots["type"] == "b32" else ()


MOV = Form(
    name="move.mov",
    syntax="mov.type  d, a;",
    rows="""
        type                                             ptx target
        b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64      1.0 -
        b128                                             8.3 sm_70
    """,
    operands={"d": out("type"), "a": inp("type", allows=("special", "symbol"))},
    effects=(Flow(elements=("a",), address=("a",)),),
    source="PTX ISA 9.7.9.3",
)

MOV_PREDICATE = Form(
    name="move.mov_predicate",
    syntax="mov.type  d, {!}a;",
    rows="type\npred",
    operands={
        "d": OperandSpec("predicate", "write", "type"),
        "a": OperandSpec("predicate", "read", "type", allows=("special",)),
    },
    source="PTX ISA 9.7.9.3",
)


@MOV.semantics
@MOV_PREDICATE.semantics
def mov(a: Lane) -> Lane:
    return a


PACK1 = Form(
    name="move.pack1",
    syntax="mov.type  d, a;",
    rows="""
        type         ptx target
        b16,b32,b64  1.0 -
        b128         8.3 sm_70
    """,
    operands={"d": out("type"), "a": inp("type", 1)},
    effects=(Flow(elements=("a",), unwritten="ignore"),),
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
    operands={"d": out("type"), "a": inp(_half, 2, allows=_with_gaps)},
    effects=(Flow(elements=("a",), unwritten="ignore"),),
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
    operands={"d": out("type"), "a": inp(_quarter, 4, allows=_with_gaps)},
    effects=(Flow(elements=("a",), unwritten="ignore"),),
    source="PTX ISA 9.7.9.4",
)


@PACK1.semantics
@PACK2.semantics
@PACK4.semantics
def pack(type: Word, a: Lane) -> Lane:
    """Concatenate the elements of a vector, the first in the lowest bits."""
    return lanes.concatenate(a, TYPES[type].bits)


_PACKED = inp("type", allows=("special", "symbol"))

UNPACK1 = Form(
    name="move.unpack1",
    syntax="mov.type  d, a;",
    rows="""
        type         ptx target
        b16,b32,b64  1.0 -
        b128         8.3 sm_70
    """,
    operands={"d": out("type", 1), "a": _PACKED},
    effects=(Flow(elements=("a",), unwritten="ignore"),),
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
    effects=(Flow(elements=("a",), unwritten="ignore"),),
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
    effects=(Flow(elements=("a",), unwritten="ignore"),),
    source="PTX ISA 9.7.9.4",
)


@UNPACK1.semantics
def unpack(type: Word, a: Lane) -> Lane:
    return lanes.split(a, TYPES[type].bits, 1)


@UNPACK2.semantics
def unpack_halves(type: Word, a: Lane) -> Lane:
    return lanes.split(a, TYPES[type].bits, 2)


@UNPACK4.semantics
def unpack_quarters(type: Word, a: Lane) -> Lane:
    return lanes.split(a, TYPES[type].bits, 4)
