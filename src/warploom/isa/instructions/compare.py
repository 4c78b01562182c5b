"""Comparison and selection of integers, floating-point numbers and half-precision numbers.

Source: PTX ISA 9.7.6, 9.7.7.
"""

from warploom.isa.model.effects import Flow
from warploom.isa.model.form import Form
from warploom.isa.model.lanewise import Word
from warploom.isa.model.operands import inp, out, pred_in, pred_out
from warploom.isa.model.types import TYPES
from warploom.numerics import compare, lanes
from warploom.numerics.formats import FORMATS, element_format
from warploom.numerics.lanes import Lane


def _compare(operation: str, ftz: str, type: str, a: Lane, b: Lane) -> Lane:
    if TYPES[type].kind != "float":
        return compare.integers(operation, a, b)
    if TYPES[type].bits == 16:
        return compare.halves(operation, a, b, FORMATS[type], ftz=bool(ftz))
    return compare.floats(operation, a, b, ftz=bool(ftz))


def _compare_pairs(operation: str, ftz: str, type: str, a: Lane, b: Lane) -> tuple[Lane, Lane]:
    return compare.pairs(operation, a, b, element_format(type), ftz=bool(ftz))


def _combine(operation: str, truth: Lane, predicate: Lane) -> Lane:
    return lanes.BITWISE[operation](truth, predicate) if operation else truth


_COMBINED = pred_in(lambda slots: () if any(word[:4] == "bf16" for word in slots.values()) else None, when="BoolOp")
"""Predicate operand. It may be a constant, except in comparisons of bf16."""

SETP = Form(
    name="compare.setp",
    syntax="setp.CmpOp{.BoolOp}{.ftz}.type  p{|q}, a, b{, {!}c};",
    rows="""
        CmpOp                                              BoolOp        ftz    type         ptx  target
        eq,ne                                              -,and,or,xor  -      b16,b32,b64  1.0  -
        eq,ne,lt,le,gt,ge,lo,ls,hi,hs                      -,and,or,xor  -      u16,u32,u64  1.0  -
        eq,ne,lt,le,gt,ge                                  -,and,or,xor  -      s16,s32,s64  1.0  -
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -,ftz  f32          1.0  -
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -      f64          1.0  -
    """,
    operands={"p": pred_out(), "q": pred_out(), "a": inp("type"), "b": inp("type"), "c": _COMBINED},
    effects=(Flow(numbers=frozenset({"compared"})),),
    source="PTX ISA 9.7.6.2",
)
SETP.describe(
    "Compares a and b and writes the result to a predicate, and its negation to a second one; a Boolean operation"
    " can combine it with c. Use it before branches and guarded instructions.",
    "setp.lt.s32 %p0, %r0, %r1;",
)

SETP_HALF = Form(
    name="compare.setp_half",
    syntax="setp.CmpOp{.BoolOp}{.ftz}.type  p, a, b{, {!}c};",
    rows="""
        CmpOp                                              BoolOp        ftz    type  ptx  target
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -,ftz  f16   4.2  sm_53
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -      bf16  7.8  sm_90
    """,
    operands={"p": pred_out(), "a": inp("type"), "b": inp("type"), "c": _COMBINED},
    source="PTX ISA 9.7.7.2",
)
SETP_HALF.describe(
    "Compares two half-precision numbers and writes a predicate. Use it before branches and guarded instructions.",
    "setp.gt.f16 %p0, %h0, %h1;",
)

SETP_PAIR = Form(
    name="compare.setp_pair",
    syntax="setp.CmpOp{.BoolOp}{.ftz}.type  p|q, a, b{, {!}c};",
    rows="""
        CmpOp                                              BoolOp        ftz    type    ptx  target
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -,ftz  f16x2   4.2  sm_53
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -      bf16x2  7.8  sm_90
    """,
    operands={"p": pred_out(), "q": pred_out(), "a": inp("type"), "b": inp("type"), "c": _COMBINED},
    source="PTX ISA 9.7.7.2",
)
SETP_PAIR.describe(
    "Compares two pairs of half-precision numbers and writes one predicate for each half. Use it for packed data.",
    "setp.gt.f16x2 %p0|%p1, %r0, %r1;",
)


@SETP.semantics
def setp(CmpOp: Word, BoolOp: Word, ftz: Word, type: Word, q: bool, a: Lane, b: Lane, c: Lane) -> tuple[Lane, Lane]:
    """Compare a with b, and combine the result with c if the opcode has the modifier `BoolOp`.

    `q` is True if the instruction has a second destination. That destination receives the complement of the comparison,
    also combined with c.
    """
    truth = _compare(CmpOp, ftz, type, a, b)
    return _combine(BoolOp, truth, c), _combine(BoolOp, ~truth, c) if q else None


@SETP_HALF.semantics
def setp_half(CmpOp: Word, BoolOp: Word, ftz: Word, type: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    return _combine(BoolOp, _compare(CmpOp, ftz, type, a, b), c)


@SETP_PAIR.semantics
def setp_pair(CmpOp: Word, BoolOp: Word, ftz: Word, type: Word, a: Lane, b: Lane, c: Lane) -> tuple[Lane, Lane]:
    """Compare the lower halves of a and b into p, and the upper halves into q. `setp` explains c."""
    low, high = _compare_pairs(CmpOp, ftz, type, a, b)
    return _combine(BoolOp, low, c), _combine(BoolOp, high, c)


SET = Form(
    name="compare.set",
    syntax="set.CmpOp{.BoolOp}{.ftz}.dtype.stype  d, a, b{, {!}c};",
    rows="""
        CmpOp                                              BoolOp        ftz    dtype                 stype        ptx  target
        eq,ne                                              -,and,or,xor  -      u32,s32,f32           b16,b32,b64  1.0  -
        eq,ne,lt,le,gt,ge,lo,ls,hi,hs                      -,and,or,xor  -      u32,s32,f32           u16,u32,u64  1.0  -
        eq,ne,lt,le,gt,ge                                  -,and,or,xor  -      u32,s32,f32           s16,s32,s64  1.0  -
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -,ftz  u32,s32,f32           f32          1.0  -
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -      u32,s32,f32           f64          1.0  -
        eq,ne                                              -,and,or,xor  -      f16                   b16,b32,b64  4.2  sm_53
        eq,ne,lt,le,gt,ge,lo,ls,hi,hs                      -,and,or,xor  -      f16                   u16,u32,u64  4.2  sm_53
        eq,ne,lt,le,gt,ge                                  -,and,or,xor  -      f16                   s16,s32,s64  4.2  sm_53
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -,ftz  f16                   f16,f32      4.2  sm_53
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -      f16                   f64          4.2  sm_53
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -,ftz  u16,s16,u32,s32       f16          6.5  sm_53
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -,ftz  f16x2                 f16x2        4.2  sm_53
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -,ftz  u32,s32               f16x2        6.5  sm_53
        eq,ne                                              -,and,or,xor  -      bf16                  b16,b32,b64  7.8  sm_90
        eq,ne,lt,le,gt,ge,lo,ls,hi,hs                      -,and,or,xor  -      bf16                  u16,u32,u64  7.8  sm_90
        eq,ne,lt,le,gt,ge                                  -,and,or,xor  -      bf16                  s16,s32,s64  7.8  sm_90
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -      bf16                  f16,f32,f64  7.8  sm_90
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -      bf16,u16,s16,u32,s32  bf16         7.8  sm_90
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -      bf16x2,u32,s32        bf16x2       7.8  sm_90
    """,  # noqa: E501
    operands={"d": out("dtype"), "a": inp("stype"), "b": inp("stype"), "c": _COMBINED},
    effects=(Flow(numbers=frozenset({"compared"})),),
    source="PTX ISA 9.7.6.1",
)
SET.describe(
    "Compares a and b and writes all ones or 1.0 for true, and 0 for false. Use it where the result is a number"
    " or a mask.",
    "set.lt.u32.f32 %r0, %f0, %f1;",
)

_ONE = {"f32": 1, "f16": 0x3C00, "bf16": 0x3F80, "f16x2": 0x3C00, "bf16x2": 0x3F80}
"""Bits of 1.0, the result of a true comparison in a floating-point type. Integer types have -1."""


@SET.semantics
def set_number(CmpOp: Word, BoolOp: Word, ftz: Word, dtype: Word, stype: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    if TYPES[stype].kind == "packed":
        low, high = (_combine(BoolOp, truth, c) for truth in _compare_pairs(CmpOp, ftz, stype, a, b))
        one = _ONE.get(dtype, 0xFFFF)
        return _number(low, one, dtype) | _number(high, one << 16, dtype)
    return _number(_combine(BoolOp, _compare(CmpOp, ftz, stype, a, b), c), _ONE.get(dtype, -1), dtype)


def _number(truth: Lane, one: int, type: str) -> Lane:
    dtype = TYPES[type].dtype
    return lanes.select(truth, lanes.constant(one, dtype), lanes.constant(0, dtype))


SELP = Form(
    name="compare.selp",
    syntax="selp.type  d, a, b, c;",
    rows="type\nb16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64",
    operands={"d": out("type"), "a": inp("type"), "b": inp("type"), "c": pred_in()},
    effects=(Flow(elements=("a", "b"), address=("a", "b"), selects="c"),),
    source="PTX ISA 9.7.6.3",
)
SELP.describe(
    "Returns a if the predicate c is true, else b. Use it instead of a short branch.", "selp.f32 %f0, %f1, %f2, %p0;"
)


@SELP.semantics
def selp(a: Lane, b: Lane, c: Lane) -> Lane:
    return lanes.select(c, a, b)


SLCT = Form(
    name="compare.slct",
    syntax="slct{.ftz}.dtype.stype  d, a, b, c;",
    rows="""
        ftz    dtype                                        stype
        -      b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64  s32
        -,ftz  b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64  f32
    """,
    operands={"d": out("dtype"), "a": inp("dtype"), "b": inp("dtype"), "c": inp("stype")},
    source="PTX ISA 9.7.6.4",
)
SLCT.describe(
    "Returns a if c is at least zero, else b. Use it to select by the sign of a number.",
    "slct.f32.s32 %f0, %f1, %f2, %r0;",
)


@SLCT.semantics
def slct(ftz: Word, stype: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    positive = c >= 0 if stype == "s32" else compare.floats("ge", c, c * 0, bool(ftz))
    return lanes.select(positive, a, b)
