"""Integer arithmetic (PTX ISA 9.7.1) and extended-precision integer arithmetic (PTX ISA 9.7.2).

The bit-field instructions of 9.7.1 are in `bits`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from warploom.isa.model.form import Form
from warploom.isa.model.operands import Slots, arg, inp, out
from warploom.isa.model.semantics import Array, Bound, Warps
from warploom.isa.model.types import TYPES
from warploom.numerics import integers


def _wide(slots: Slots) -> str:
    """The type of a result: twice as wide under `.wide`."""
    word = slots["type"]
    return f"{word[0]}{2 * TYPES[word].bits}" if slots["mode"] == "wide" else word


ADD = Form(
    name="integer.add",
    syntax="op{.sat}.type  d, a, b;",
    rows="""
        op       sat    type                     ptx  target
        add,sub  -      u16,u32,u64,s16,s32,s64  1.0  -
        add,sub  sat    s32                      1.0  -
        add      -      u16x2,s16x2              8.0  sm_90
    """,
    operands={"d": out("type"), "a": arg("type"), "b": arg("type")},
    source="PTX ISA 9.7.1.1",
)

_SUMS = {
    ("add", ""): np.add,
    ("sub", ""): np.subtract,
    ("add", "sat"): integers.add_sat,
    ("sub", "sat"): integers.sub_sat,
}


@ADD.meaning
def add(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    if TYPES[i.type].kind == "packed":
        d = integers.halves(i.op, a, b, signed=i.type == "s16x2")
    else:
        d = _SUMS[i.op, i.sat](a, b)
    # WRITE
    warps.write(i.d, d)


MUL = Form(
    name="integer.mul",
    syntax="mul.mode.type  d, a, b;",
    rows="""
        mode   type
        hi,lo  u16,u32,u64,s16,s32,s64
        wide   u16,u32,s16,s32
    """,
    operands={"d": out(_wide), "a": arg("type"), "b": arg("type")},
    source="PTX ISA 9.7.1.3",
)

_PRODUCTS = {"hi": integers.mul_hi, "lo": integers.mul_lo, "wide": integers.mul_wide}


@MUL.meaning
def mul(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    d = _PRODUCTS[i.mode](a, b)
    # WRITE
    warps.write(i.d, d)


MAD = Form(
    name="integer.mad",
    syntax="mad.mode{.sat}.type  d, a, b, c;",
    rows="""
        mode   sat  type
        hi,lo  -    u16,u32,u64,s16,s32,s64
        wide   -    u16,u32,s16,s32
        hi     sat  s32
    """,
    operands={"d": out(_wide), "a": arg("type"), "b": arg("type"), "c": arg(_wide)},
    source="PTX ISA 9.7.1.4",
)


@MAD.meaning
def mad(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = _SUMS["add", i.sat](_PRODUCTS[i.mode](a, b), c)
    # WRITE
    warps.write(i.d, d)


MUL24 = Form(
    name="integer.mul24",
    syntax="mul24.mode.type  d, a, b;",
    rows="""
        mode   type
        hi,lo  u32,s32
    """,
    operands={"d": out("type"), "a": arg("type"), "b": arg("type")},
    source="PTX ISA 9.7.1.5",
)


@MUL24.meaning
def mul24(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    d = integers.mul24(a, b, i.mode)
    # WRITE
    warps.write(i.d, d)


MAD24 = Form(
    name="integer.mad24",
    syntax="mad24.mode{.sat}.type  d, a, b, c;",
    rows="""
        mode   sat  type
        hi,lo  -    u32,s32
        hi     sat  s32
    """,
    operands={"d": out("type"), "a": arg("type"), "b": arg("type"), "c": arg("type")},
    source="PTX ISA 9.7.1.6",
)


@MAD24.meaning
def mad24(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = integers.mad24(a, b, c, i.mode, sat=bool(i.sat))
    # WRITE
    warps.write(i.d, d)


SAD = Form(
    name="integer.sad",
    syntax="sad.type  d, a, b, c;",
    rows="""
        type
        u16,u32,u64,s16,s32,s64
    """,
    operands={"d": out("type"), "a": arg("type"), "b": arg("type"), "c": arg("type")},
    source="PTX ISA 9.7.1.7",
)


@SAD.meaning
def sad(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = integers.sad(a, b, c)
    # WRITE
    warps.write(i.d, d)


def _by_width(slots: Slots) -> Mapping[str, str]:
    """Assemblers divide by routines, which take the address of a function in 32 bits alone."""
    return {} if TYPES[slots["type"]].bits == 32 else {"eased": ""}


_DIVIDED = replace(arg("type"), by=_by_width)

DIV = Form(
    name="integer.div",
    syntax="op.type  d, a, b;",
    rows="""
        op       type
        div,rem  u16,u32,u64,s16,s32,s64
    """,
    operands={"d": out("type"), "a": _DIVIDED, "b": _DIVIDED},
    source="PTX ISA 9.7.1.8",
)

_QUOTIENTS = {"div": integers.div, "rem": integers.rem}


@DIV.meaning
def div(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    d = _QUOTIENTS[i.op](a, b)
    # WRITE
    warps.write(i.d, d)


ABS = Form(
    name="integer.abs",
    syntax="op.type  d, a;",
    rows="""
        op       type
        abs,neg  s16,s32,s64
    """,
    operands={"d": out("type"), "a": arg("type")},
    source="PTX ISA 9.7.1.10",
)

_SIGNS = {"abs": integers.absolute, "neg": integers.negate}


@ABS.meaning
def absolute(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # COMPUTE
    d = _SIGNS[i.op](a)
    # WRITE
    warps.write(i.d, d)


MIN = Form(
    name="integer.min",
    syntax="op{.relu}.type  d, a, b;",
    rows="""
        op       relu  type                     ptx  target
        min,max  -     u16,u32,u64,s16,s32,s64  1.0  -
        min,max  -     u16x2,s16x2              8.0  sm_90
        min,max  relu  s16x2,s32                8.0  sm_90
    """,
    operands={"d": out("type"), "a": arg("type"), "b": arg("type")},
    source="PTX ISA 9.7.1.12",
)

_EXTREMES = {"min": integers.minimum, "max": integers.maximum}


@MIN.meaning
def minimum(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    if TYPES[i.type].kind == "packed":
        d = integers.halves(i.op, a, b, signed=i.type == "s16x2", relu=bool(i.relu))
    else:
        d = _EXTREMES[i.op](a, b, relu=bool(i.relu))
    # WRITE
    warps.write(i.d, d)


DP4A = Form(
    name="integer.dp4a",
    syntax="dp4a.atype.btype  d, a, b, c;",
    rows="""
        atype    btype    ptx  target
        u32,s32  u32,s32  5.0  sm_61
    """,
    operands={"d": out("s32"), "a": arg("atype"), "b": arg("btype"), "c": inp("s32")},
    source="PTX ISA 9.7.1.23",
)


@DP4A.meaning
def dp4a(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = integers.dp4a(a, b, c, a_signed=i.atype == "s32", b_signed=i.btype == "s32")
    # WRITE
    warps.write(i.d, d)


DP2A = Form(
    name="integer.dp2a",
    syntax="dp2a.mode.atype.btype  d, a, b, c;",
    rows="""
        mode   atype    btype    ptx  target
        lo,hi  u32,s32  u32,s32  5.0  sm_61
    """,
    operands={"d": out("s32"), "a": arg("atype"), "b": arg("btype"), "c": inp("s32")},
    source="PTX ISA 9.7.1.24",
)


@DP2A.meaning
def dp2a(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = integers.dp2a(a, b, c, i.mode, a_signed=i.atype == "s32", b_signed=i.btype == "s32")
    # WRITE
    warps.write(i.d, d)


# Extended precision: the carry flag CC.CF of each thread chains the parts of a long number -----------------

ADD_CARRY = Form(
    name="integer.addc",
    syntax="op{.cc}.type  d, a, b;",
    rows="""
        op         cc    type     ptx
        add,sub    cc    u32,s32  1.2
        addc,subc  -,cc  u32,s32  1.2
        add,sub    cc    u64,s64  4.3
        addc,subc  -,cc  u64,s64  4.3
    """,
    operands={"d": out("type"), "a": arg("type"), "b": arg("type")},
    source="PTX ISA 9.7.2.1",
)


def _subtract(a: Array, b: Array, carry: Array | None) -> tuple[Array, Array]:
    """The flag is the carry of a + ~b + 1, the borrow's inverse: an addc behind it shows that (H200)."""
    d, borrow = integers.sub_borrow(a, b, None if carry is None else ~carry)
    return d, ~borrow


_CARRIES = {"add": integers.add_carry, "sub": _subtract}


@ADD_CARRY.meaning
def add_carry(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    carry = warps.read_carry() if i.op.endswith("c") else None
    # COMPUTE
    d, carry_out = _CARRIES[i.op[:3]](a, b, carry)
    # WRITE
    warps.write(i.d, d)
    if i.cc:
        warps.write_carry(carry_out)


MAD_CARRY = Form(
    name="integer.madc",
    syntax="op.mode{.cc}.type  d, a, b, c;",
    rows="""
        op    mode   cc    type     ptx
        mad   hi,lo  cc    u32,s32  3.0
        madc  hi,lo  -,cc  u32,s32  3.0
        mad   hi,lo  cc    u64,s64  4.3
        madc  hi,lo  -,cc  u64,s64  4.3
    """,
    operands={"d": out("type"), "a": arg("type"), "b": arg("type"), "c": arg("type")},
    source="PTX ISA 9.7.2.5",
)


@MAD_CARRY.meaning
def mad_carry(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    carry = warps.read_carry() if i.op == "madc" else None
    # COMPUTE
    d, carry_out = integers.mad_carry(a, b, c, i.mode, carry)
    # WRITE
    warps.write(i.d, d)
    if i.cc:
        warps.write_carry(carry_out)
