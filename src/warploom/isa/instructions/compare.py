"""Comparison and selection (PTX ISA 9.7.6) and half-precision comparison (PTX ISA 9.7.7)."""

from __future__ import annotations

import numpy as np

from warploom.isa.model.form import Form
from warploom.isa.model.operands import Slots, arg, out, pred_in, pred_out
from warploom.isa.model.semantics import Array, Bound, Lanes, Warps
from warploom.isa.model.types import TYPES
from warploom.numerics import compare
from warploom.numerics.formats import FORMATS

_BOOL_OPS = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def _compare(i: Bound, word: str, a: Array, b: Array) -> Lanes:
    """Compare operands of one type by the CmpOp of `i`."""
    if TYPES[word].kind != "float":
        return compare.integers(i.CmpOp, a, b)
    if TYPES[word].bits == 16:
        return compare.halves(i.CmpOp, a, b, FORMATS[word], ftz=bool(i.ftz))
    return compare.floats(i.CmpOp, a, b, ftz=bool(i.ftz))


def _combine(warps: Warps, i: Bound, truth: Lanes) -> Lanes:
    """The truth and the predicate operand, combined by the BoolOp of `i` where there is one."""
    return _BOOL_OPS[i.BoolOp](truth, warps.read(i.c)) if i.BoolOp else truth


def _constants(slots: Slots) -> tuple[int, ...] | None:
    """Beside bf16 the predicate may not be a constant."""
    return () if any(word.startswith("bf16") for word in slots.values()) else None


def _compare_pairs(i: Bound, word: str, a: Array, b: Array) -> tuple[Lanes, Lanes]:
    """Compare the lower and the upper halves of packed operands."""
    return compare.pairs(i.CmpOp, a, b, FORMATS[word.removesuffix("x2")], ftz=bool(i.ftz))


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
    operands={
        "p": pred_out(),
        "q": pred_out(),
        "a": arg("type"),
        "b": arg("type"),
        "c": pred_in(_constants, when="BoolOp"),
    },
    source="PTX ISA 9.7.6.2",
)

SETP_HALF = Form(
    name="compare.setp_half",
    syntax="setp.CmpOp{.BoolOp}{.ftz}.type  p, a, b{, {!}c};",
    rows="""
        CmpOp                                              BoolOp        ftz    type  ptx  target
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -,ftz  f16   4.2  sm_53
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -      bf16  7.8  sm_90
    """,
    operands={"p": pred_out(), "a": arg("type"), "b": arg("type"), "c": pred_in(_constants, when="BoolOp")},
    source="PTX ISA 9.7.7.2",
)

SETP_PAIR = Form(
    name="compare.setp_pair",
    syntax="setp.CmpOp{.BoolOp}{.ftz}.type  p|q, a, b{, {!}c};",
    rows="""
        CmpOp                                              BoolOp        ftz    type    ptx  target
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -,ftz  f16x2   4.2  sm_53
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -      bf16x2  7.8  sm_90
    """,
    operands={
        "p": pred_out(),
        "q": pred_out(),
        "a": arg("type"),
        "b": arg("type"),
        "c": pred_in(_constants, when="BoolOp"),
    },
    source="PTX ISA 9.7.7.2",
)


@SETP.meaning
def setp(warps: Warps, i: Bound) -> None:
    """The second predicate takes the complement of the comparison."""
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    truth = _compare(i, i.type, a, b)
    p = _combine(warps, i, truth)
    q = None if i.q is None else _combine(warps, i, ~truth)
    # WRITE
    warps.write(i.p, p)
    if q is not None:
        warps.write(i.q, q)


@SETP_HALF.meaning
def setp_half(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    p = _combine(warps, i, _compare(i, i.type, a, b))
    # WRITE
    warps.write(i.p, p)


@SETP_PAIR.meaning
def setp_pair(warps: Warps, i: Bound) -> None:
    """A predicate for each half, the lower one first."""
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    p, q = (_combine(warps, i, truth) for truth in _compare_pairs(i, i.type, a, b))
    # WRITE
    warps.write(i.p, p)
    warps.write(i.q, q)


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
    operands={
        "d": out("dtype"),
        "a": arg("stype"),
        "b": arg("stype"),
        "c": pred_in(_constants, when="BoolOp"),
    },
    source="PTX ISA 9.7.6.1",
)

# Truth as a number: one in a floating type, all ones (-1) in an integer type.
_ONE = {"f32": 1, "f16": 0x3C00, "bf16": 0x3F80, "f16x2": 0x3C00, "bf16x2": 0x3F80}


@SET.meaning
def set_number(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    dtype = TYPES[i.dtype].dtype
    if TYPES[i.stype].kind == "packed":
        low, high = (_combine(warps, i, truth) for truth in _compare_pairs(i, i.stype, a, b))
        one = np.uint32(_ONE.get(i.dtype, 0xFFFF))
        d = (low * one | high * (one << np.uint32(16))).astype(dtype)
    else:
        truth = _combine(warps, i, _compare(i, i.stype, a, b))
        d = np.where(truth, np.array(_ONE.get(i.dtype, -1)).astype(dtype), dtype.type(0))
    # WRITE
    warps.write(i.d, d)


SELP = Form(
    name="compare.selp",
    syntax="selp.type  d, a, b, c;",
    rows="""
        type
        b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64
    """,
    operands={"d": out("type"), "a": arg("type"), "b": arg("type"), "c": pred_in()},
    source="PTX ISA 9.7.6.3",
)


@SELP.meaning
def selp(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = np.where(c, a, b)
    # WRITE
    warps.write(i.d, d)


SLCT = Form(
    name="compare.slct",
    syntax="slct{.ftz}.dtype.stype  d, a, b, c;",
    rows="""
        ftz    dtype                                        stype
        -      b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64  s32
        -,ftz  b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64  f32
    """,
    operands={"d": out("dtype"), "a": arg("dtype"), "b": arg("dtype"), "c": arg("stype")},
    source="PTX ISA 9.7.6.4",
)


@SLCT.meaning
def slct(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    zero = np.zeros_like(c)
    positive = (
        compare.integers("ge", c, zero) if i.stype == "s32" else compare.floats("ge", c, zero, bool(i.ftz))
    )
    d = np.where(positive, a, b)
    # WRITE
    warps.write(i.d, d)
