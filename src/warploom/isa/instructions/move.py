"""Moves between registers, and packing and unpacking of vectors.

Source: PTX ISA 9.7.9.3, 9.7.9.4.
"""

from collections.abc import Callable

from warploom.isa.model.effects import Flow
from warploom.isa.model.form import Form
from warploom.isa.model.lanewise import Word
from warploom.isa.model.operands import Allowance, OperandSpec, Slots, inp, out
from warploom.isa.model.types import TYPES, bits_of
from warploom.numerics import lanes
from warploom.numerics.lanes import Lane


def _part(count: int) -> Callable[[Slots], str]:
    """Return a function that computes the type of one of `count` equal parts of a register."""
    return lambda slots: f"b{bits_of(slots['type']) // count}"


def _with_gaps(slots: Slots) -> tuple[Allowance, ...]:
    return ("gap",) if slots["type"] == "b32" else ()  # the bits of an element `_` are undefined


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
MOV.describe(
    "Copies a register, a constant, a special register or the address of a variable. Use it to read `%tid.x`, and"
    " to get the address of a shared variable.",
    "mov.u32 %r0, %tid.x;",
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
MOV_PREDICATE.describe("Copies a predicate or its negation. Use it to keep a condition.", "mov.pred %p0, !%p1;")


@MOV.semantics
@MOV_PREDICATE.semantics
def mov(a: Lane) -> Lane:
    return a


_VECTORS = ((1, "b16,b32,b64"), (2, "b16,b32,b64"), (4, "b32,b64"))
"""Numbers of vector elements, with the types of the registers that hold all elements."""

PACK1, PACK2, PACK4 = (
    Form(
        name=f"move.pack{count}",
        syntax="mov.type  d, a;",
        rows=f"""
            type     ptx target
            {types}  1.0 -
            b128     8.3 sm_70
        """,
        operands={"d": out("type"), "a": inp(_part(count), count, allows=_with_gaps if count > 1 else ())},
        effects=(Flow(elements=("a",), unwritten="ignore"),),
        source="PTX ISA 9.7.9.4",
    )
    for count, types in _VECTORS
)
PACK1.describe(
    "Copies a vector of one register to a scalar. Use it where generated code has a vector of variable length.",
    "mov.b32 %r0, {%r1};",
)
PACK2.describe(
    "Packs two registers into one of twice the width; the first is in the low half. Use it to build f16x2 pairs"
    " and 64-bit values.",
    "mov.b32 %r0, {%h0, %h1};",
)
PACK4.describe(
    "Packs four registers into one of four times the width; the first is in the lowest part. Use it to build"
    " words from bytes or halves.",
    "mov.b64 %rd0, {%h0, %h1, %h2, %h3};",
)


@PACK1.semantics
@PACK2.semantics
@PACK4.semantics
def pack(type: Word, a: Lane) -> Lane:
    """Concatenate the elements of the vector a to a value of `type`, with the first in the lowest bits."""
    return lanes.concatenate(a, TYPES[type].bits)


UNPACK1, UNPACK2, UNPACK4 = (
    Form(
        name=f"move.unpack{count}",
        syntax="mov.type  d, a;",
        rows=f"""
            type     ptx target
            {types}  1.0 -
            b128     8.3 sm_70
        """,
        operands={"d": out(_part(count), count), "a": inp("type", allows=("special", "symbol"))},
        effects=(Flow(elements=("a",), unwritten="ignore"),),
        source="PTX ISA 9.7.9.4",
    )
    for count, types in _VECTORS
)
UNPACK1.describe(
    "Copies a scalar to a vector of one register. Use it where generated code has a vector of variable length.",
    "mov.b32 {%r0}, %r1;",
)
UNPACK2.describe(
    "Splits a register into two of half the width; the low half is first. Use it to read f16x2 pairs and 64-bit"
    " values.",
    "mov.b32 {%h0, %h1}, %r0;",
)
UNPACK4.describe(
    "Splits a register into four of a quarter of the width; the lowest part is first. Use it to read bytes or"
    " halves of a word.",
    "mov.b64 {%h0, %h1, %h2, %h3}, %rd0;",
)


def _unpack(count: int) -> Callable[[Word, Lane], Lane]:
    """Return the function that splits a register into `count` equal parts, the lowest part first."""

    def unpack(type: Word, a: Lane) -> Lane:
        return lanes.split(a, TYPES[type].bits, count)

    return unpack


for _form, _count in ((UNPACK1, 1), (UNPACK2, 2), (UNPACK4, 4)):
    _form.semantics(_unpack(_count))
