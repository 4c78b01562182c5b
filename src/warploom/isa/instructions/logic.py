"""Logic and shift instructions (PTX ISA 9.7.8)."""

from __future__ import annotations

import numpy as np

from warploom.isa.model.form import Form
from warploom.isa.model.operands import arg, immediate, out, pred_in, pred_out
from warploom.isa.model.semantics import Bound, Warps
from warploom.numerics import bits

BITWISE = Form(
    name="logic.bitwise",
    syntax="op.type  d, a, b;",
    rows="""
        op          type             ptx
        and,or,xor  pred,b16,b32,b64 1.0
    """,
    operands={"d": out("type", eased="packed"), "a": arg("type"), "b": arg("type")},
    source="PTX ISA 9.7.8.1",
)

_UFUNCS = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


@BITWISE.meaning
def bitwise(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    d = _UFUNCS[i.op](a, b)
    # WRITE
    warps.write(i.d, d)


NOT = Form(
    name="logic.not",
    syntax="not.type  d, a;",
    rows="""
        type
        pred,b16,b32,b64
    """,
    operands={"d": out("type", eased="packed"), "a": arg("type")},
    source="PTX ISA 9.7.8.4",
)


@NOT.meaning
def invert(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # COMPUTE
    d = np.invert(a)
    # WRITE
    warps.write(i.d, d)


CNOT = Form(
    name="logic.cnot",
    syntax="cnot.type  d, a;",
    rows="""
        type
        b16,b32,b64
    """,
    operands={"d": out("type"), "a": arg("type")},
    source="PTX ISA 9.7.8.5",
)


@CNOT.meaning
def logical_not(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # COMPUTE
    d = (a == 0).astype(a.dtype)
    # WRITE
    warps.write(i.d, d)


LOP3 = Form(
    name="logic.lop3",
    syntax="lop3.b32  d, a, b, c, immLut;",
    rows="ptx target\n4.3 sm_50",
    operands={
        "d": out("b32", also="sink"),
        "a": arg("b32"),
        "b": arg("b32"),
        "c": arg("b32"),
        "immLut": immediate(),
    },
    source="PTX ISA 9.7.8.6",
)


@LOP3.meaning
def lop3(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = bits.lop3(a, b, c, i.immLut)
    # WRITE
    warps.write(i.d, d)


LOP3_BOOL = Form(
    name="logic.lop3_bool",
    syntax="lop3.BoolOp.b32  d|p, a, b, c, immLut, {!}q;",
    rows="""
        BoolOp  ptx  target
        or,and  8.2  sm_70
    """,
    operands={
        "d": out("b32", also="sink"),
        "p": pred_out(also=""),
        "a": arg("b32"),
        "b": arg("b32"),
        "c": arg("b32"),
        "immLut": immediate(),
        "q": pred_in(),
    },
    source="PTX ISA 9.7.8.6",
)


@LOP3_BOOL.meaning
def lop3_bool(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c, q = warps.read(i.a), warps.read(i.b), warps.read(i.c), warps.read(i.q)
    # COMPUTE
    d = bits.lop3(a, b, c, i.immLut)
    p = _UFUNCS[i.BoolOp](d != 0, q)
    # WRITE
    warps.write(i.d, d)
    warps.write(i.p, p)
