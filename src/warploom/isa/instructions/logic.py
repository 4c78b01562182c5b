"""Bitwise logic on bits and predicates, including functions of three inputs by lookup table.

Source: PTX ISA 9.7.8.
"""

from warploom.isa.model.effects import Flow
from warploom.isa.model.form import Form
from warploom.isa.model.lanewise import Word
from warploom.isa.model.operands import immediate, inp, out, pred_in, pred_out
from warploom.numerics import bits, lanes
from warploom.numerics.lanes import Lane

BITWISE = Form(
    name="logic.bitwise",
    syntax="op.type  d, a, b;",
    rows="op type ptx\nand,or,xor pred,b16,b32,b64 1.0",
    operands={"d": out("type"), "a": inp("type"), "b": inp("type")},
    effects=(Flow(address=("a", "b"), unwritten="ignore"),),
    source="PTX ISA 9.7.8.1",
)
BITWISE.describe(
    "Computes the bitwise and, or, or exclusive or of integers or predicates. Use it for masks and conditions.",
    "and.b32 %r0, %r1, 31;",
)


@BITWISE.semantics
def bitwise(op: Word, a: Lane, b: Lane) -> Lane:
    return lanes.BITWISE[op](a, b)


NOT = Form(
    name="logic.not",
    syntax="op.type  d, a;",
    rows="""
        op    type
        not   pred,b16,b32,b64
        cnot  b16,b32,b64
    """,
    operands={"d": out("type"), "a": inp("type")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.8.4, 9.7.8.5",
)
NOT.describe(
    "Inverts all bits (`not`), or returns 1 for 0 and 0 for all other values (`cnot`). Use it for masks and"
    " conditions.",
    "not.b32 %r0, %r1;",
)


@NOT.semantics
def invert(op: Word, a: Lane) -> Lane:
    return ~a if op == "not" else (a == 0).astype(a.dtype)


_RESULT = out("b32", allows=("sink",))
_SOURCES = {"a": inp("b32"), "b": inp("b32"), "c": inp("b32"), "immLut": immediate()}

LOP3 = Form(
    name="logic.lop3",
    syntax="lop3.b32  d, a, b, c, immLut;",
    rows="ptx target\n4.3 sm_50",
    operands={"d": _RESULT, **_SOURCES},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.8.6",
)
LOP3.describe(
    "Computes an arbitrary Boolean function of three inputs; `immLut` is its truth table, F(0xF0, 0xCC, 0xAA)."
    " Use it to replace two logic instructions by one.",
    "lop3.b32 %r0, %r1, %r2, %r3, 0xEA;",
)


@LOP3.semantics
def lop3(a: Lane, b: Lane, c: Lane, immLut: int) -> Lane:
    return bits.lop3(a, b, c, immLut)


LOP3_BOOL = Form(
    name="logic.lop3_bool",
    syntax="lop3.BoolOp.b32  d|p, a, b, c, immLut, {!}q;",
    rows="BoolOp ptx target\nor,and 8.2 sm_70",
    operands={"d": _RESULT, "p": pred_out(sink=False), **_SOURCES, "q": pred_in()},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.8.6",
)
LOP3_BOOL.describe(
    'Computes an arbitrary Boolean function of three inputs, and combines the predicate "the result is not 0"'
    " with q. Use it to test masks.",
    "lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0xC0, %p1;",
)


@LOP3_BOOL.semantics
def lop3_bool(BoolOp: Word, a: Lane, b: Lane, c: Lane, immLut: int, q: Lane) -> tuple[Lane, Lane]:
    d = bits.lop3(a, b, c, immLut)
    return d, lanes.BITWISE[BoolOp](d != 0, q)
