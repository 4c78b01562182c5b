"""Comparison and selection (PTX ISA 9.7.6) and half-precision comparison (PTX ISA 9.7.7)."""

from __future__ import annotations

import numpy as np

from warploom.isa.kit import Form
from warploom.isa.operands import inp, out, pred_in, pred_out
from warploom.isa.protocol import Array, Bound, Lanes, Warps
from warploom.isa.types import TYPES
from warploom.num import compare
from warploom.num.formats import FORMATS

_COMBINE = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def _compare(i: Bound, type: str, a: Array, b: Array) -> Lanes:
    """Compare operands of one type by the CmpOp of `i`."""
    if TYPES[type].kind != "float":
        return compare.integers(i.CmpOp, a, b)
    if TYPES[type].bits == 16:
        return compare.halves(i.CmpOp, a, b, FORMATS[type], ftz=bool(i.ftz))
    return compare.floats(i.CmpOp, a, b, ftz=bool(i.ftz))


def _compare_pairs(i: Bound, type: str, a: Array, b: Array) -> tuple[Lanes, Lanes]:
    """Compare the lower and the upper halves of packed operands."""
    return compare.pairs(i.CmpOp, a, b, FORMATS[type.removesuffix("x2")], ftz=bool(i.ftz))


# setp: one predicate, and its complement after the bar ----------------------------------------------------

_SETP = """
    CmpOp                                              ftz    type         ptx  target
    eq,ne                                              -      b16,b32,b64  1.0  -
    eq,ne,lt,le,gt,ge,lo,ls,hi,hs                      -      u16,u32,u64  1.0  -
    eq,ne,lt,le,gt,ge                                  -      s16,s32,s64  1.0  -
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,ftz  f32          1.0  -
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -      f64          1.0  -
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,ftz  f16          4.2  sm_53
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -      bf16         7.8  sm_90
"""


def _with_boolop(rows: str) -> str:
    """The same rows with the column of the predicate's combination."""
    head, *body = rows.strip().splitlines()
    return "\n".join([f"BoolOp {head}", *(f"and,or,xor {row}" for row in body)])


SETP = Form(
    name="compare.setp",
    syntax="setp.CmpOp{.ftz}.type  p{|q}, a, b;",
    rows=_SETP,
    operands={"p": pred_out(), "q": pred_out(), "a": inp("type"), "b": inp("type")},
    source="PTX ISA 9.7.6.2",
)


@SETP.meaning
def setp(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    p = _compare(i, i.type, a, b)
    # WRITE
    warps.write(i.p, p)
    warps.write(i.q, ~p)


SETP_BOOL = Form(
    name="compare.setp_bool",
    syntax="setp.CmpOp.BoolOp{.ftz}.type  p{|q}, a, b, c;",
    rows=_with_boolop(_SETP),
    operands={"p": pred_out(), "q": pred_out(), "a": inp("type"), "b": inp("type"), "c": pred_in()},
    source="PTX ISA 9.7.6.2",
)


@SETP_BOOL.meaning
def setp_bool(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    truth = _compare(i, i.type, a, b)
    p, q = _COMBINE[i.BoolOp](truth, c), _COMBINE[i.BoolOp](~truth, c)
    # WRITE
    warps.write(i.p, p)
    warps.write(i.q, q)


# setp of packed halves: a predicate for each half ---------------------------------------------------------

_SETP2 = """
    CmpOp                                              ftz    type    ptx  target
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,ftz  f16x2   4.2  sm_53
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -      bf16x2  7.8  sm_90
"""

SETP2 = Form(
    name="compare.setp2",
    syntax="setp.CmpOp{.ftz}.type  p|q, a, b;",
    rows=_SETP2,
    operands={"p": pred_out(), "q": pred_out(), "a": inp("type"), "b": inp("type")},
    source="PTX ISA 9.7.7.2",
)


@SETP2.meaning
def setp_pair(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    p, q = _compare_pairs(i, i.type, a, b)
    # WRITE
    warps.write(i.p, p)
    warps.write(i.q, q)


SETP2_BOOL = Form(
    name="compare.setp2_bool",
    syntax="setp.CmpOp.BoolOp{.ftz}.type  p|q, a, b, c;",
    rows=_with_boolop(_SETP2),
    operands={"p": pred_out(), "q": pred_out(), "a": inp("type"), "b": inp("type"), "c": pred_in()},
    source="PTX ISA 9.7.7.2",
)


@SETP2_BOOL.meaning
def setp_pair_bool(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    p, q = (_COMBINE[i.BoolOp](truth, c) for truth in _compare_pairs(i, i.type, a, b))
    # WRITE
    warps.write(i.p, p)
    warps.write(i.q, q)


# set: the truth as a number -------------------------------------------------------------------------------

_SET = """
    CmpOp                                              ftz    dtype                ptx  target  stype
    eq,ne                                              -      u32,s32,f32          1.0  -       b16,b32,b64
    eq,ne,lt,le,gt,ge,lo,ls,hi,hs                      -      u32,s32,f32          1.0  -       u16,u32,u64
    eq,ne,lt,le,gt,ge                                  -      u32,s32,f32          1.0  -       s16,s32,s64
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,ftz  u32,s32,f32          1.0  -       f32
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -      u32,s32,f32          1.0  -       f64
    eq,ne                                              -      f16                  4.2  sm_53   b16,b32,b64
    eq,ne,lt,le,gt,ge,lo,ls,hi,hs                      -      f16                  4.2  sm_53   u16,u32,u64
    eq,ne,lt,le,gt,ge                                  -      f16                  4.2  sm_53   s16,s32,s64
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,ftz  f16                  4.2  sm_53   f16,f32
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -      f16                  4.2  sm_53   f64
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,ftz  u16,s16,u32,s32      6.5  sm_53   f16
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,ftz  f16x2,u32,s32        4.2  sm_53   f16x2
    eq,ne                                              -      bf16                 7.8  sm_90   b16,b32,b64
    eq,ne,lt,le,gt,ge,lo,ls,hi,hs                      -      bf16                 7.8  sm_90   u16,u32,u64
    eq,ne,lt,le,gt,ge                                  -      bf16                 7.8  sm_90   s16,s32,s64
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -      bf16                 7.8  sm_90   f16,f32,f64
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -      bf16,u16,s16,u32,s32 7.8  sm_90   bf16
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -      bf16x2,u32,s32       7.8  sm_90   bf16x2
"""

_ONE = {"f32": 1, "f16": 0x3C00, "bf16": 0x3F80, "f16x2": 0x3C00, "bf16x2": 0x3F80}


def _set(i: Bound, a: Array, b: Array, c: Lanes | None) -> Array:
    """The number of the truth: one in a floating type, all ones in an integer type, per half where packed."""
    packed = TYPES[i.stype].kind == "packed"
    truths = _compare_pairs(i, i.stype, a, b) if packed else (_compare(i, i.stype, a, b),)
    if c is not None:
        truths = tuple(_COMBINE[i.BoolOp](truth, c) for truth in truths)
    dtype = TYPES[i.dtype].dtype
    if packed:
        one = np.uint32(_ONE.get(i.dtype, 0xFFFF))
        return (truths[0] * one | truths[1] * (one << np.uint32(16))).astype(dtype)
    return np.where(truths[0], np.array(_ONE.get(i.dtype, -1)).astype(dtype), dtype.type(0))


SET = Form(
    name="compare.set",
    syntax="set.CmpOp{.ftz}.dtype.stype  d, a, b;",
    rows=_SET,
    operands={"d": out("dtype"), "a": inp("stype"), "b": inp("stype")},
    source="PTX ISA 9.7.6.1",
)


@SET.meaning
def set_number(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    d = _set(i, a, b, None)
    # WRITE
    warps.write(i.d, d)


SET_BOOL = Form(
    name="compare.set_bool",
    syntax="set.CmpOp.BoolOp{.ftz}.dtype.stype  d, a, b, c;",
    rows=_with_boolop(_SET),
    operands={"d": out("dtype"), "a": inp("stype"), "b": inp("stype"), "c": pred_in()},
    source="PTX ISA 9.7.6.1",
)


@SET_BOOL.meaning
def set_number_bool(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = _set(i, a, b, c)
    # WRITE
    warps.write(i.d, d)


# Selection ------------------------------------------------------------------------------------------------

SELP = Form(
    name="compare.selp",
    syntax="selp.type  d, a, b, c;",
    rows="""
        type
        b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64
    """,
    operands={"d": out("type"), "a": inp("type"), "b": inp("type"), "c": pred_in()},
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
    operands={"d": out("dtype"), "a": inp("dtype"), "b": inp("dtype"), "c": inp("stype")},
    source="PTX ISA 9.7.6.4",
)


@SLCT.meaning
def slct(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    if i.stype == "s32":
        d = np.where(compare.integers("ge", c, np.int32(0)), a, b)
    else:
        d = np.where(compare.floats("ge", c, np.float32(0), ftz=bool(i.ftz)), a, b)
    # WRITE
    warps.write(i.d, d)
