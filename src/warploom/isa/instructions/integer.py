"""Integer arithmetic, and additions with carry for integers of several registers.

`bits` declares the bit-field instructions.

Source: PTX ISA 9.7.1, 9.7.2.
"""

import numpy as np

from warploom.isa.model.effects import Flow
from warploom.isa.model.form import Form
from warploom.isa.model.lanewise import Word
from warploom.isa.model.operands import Slots, inp, out
from warploom.isa.model.types import TYPES
from warploom.numerics import integers
from warploom.numerics.lanes import Lane


def _wide(slots: Slots) -> str:
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
    operands={"d": out("type"), "a": inp("type"), "b": inp("type")},
    effects=(Flow(address=("a", "b"), offset=True),),
    source="PTX ISA 9.7.1.1",
)
ADD.describe(
    "Adds or subtracts modulo 2^n; `.sat` clamps the result of s32. Use it for index and address arithmetic.",
    "add.s32 %r0, %r1, %r2;",
)

_SUMS = {
    ("add", ""): np.add,
    ("sub", ""): np.subtract,
    ("add", "sat"): integers.add_sat,
    ("sub", "sat"): integers.sub_sat,
}


@ADD.semantics
def add(op: Word, sat: Word, type: Word, a: Lane, b: Lane) -> Lane:
    if TYPES[type].kind == "packed":
        return integers.halves(op, a, b, signed=type == "s16x2")
    return _SUMS[op, sat](a, b)


MUL = Form(
    name="integer.mul",
    syntax="mul.mode.type  d, a, b;",
    rows="""
        mode   type
        hi,lo  u16,u32,u64,s16,s32,s64
        wide   u16,u32,s16,s32
    """,
    operands={"d": out(_wide), "a": inp("type"), "b": inp("type")},
    effects=(Flow(numbers=frozenset({"scaled"})),),
    source="PTX ISA 9.7.1.3",
)
MUL.describe(
    "Multiplies and returns the low half, the high half, or with `.wide` the whole product. Use `.wide` for"
    " 64-bit addresses from 32-bit indices.",
    "mul.wide.u32 %rd0, %r0, 4;",
)

_PRODUCTS = {"hi": integers.mul_hi, "lo": integers.mul_lo, "wide": integers.mul_wide}


@MUL.semantics
def mul(mode: Word, a: Lane, b: Lane) -> Lane:
    return _PRODUCTS[mode](a, b)


MAD = Form(
    name="integer.mad",
    syntax="mad.mode{.sat}.type  d, a, b, c;",
    rows="""
        mode   sat  type
        hi,lo  -    u16,u32,u64,s16,s32,s64
        wide   -    u16,u32,s16,s32
        hi     sat  s32
    """,
    operands={"d": out(_wide), "a": inp("type"), "b": inp("type"), "c": inp(_wide)},
    effects=(Flow(address=("c",), numbers=frozenset({"scaled"})),),
    source="PTX ISA 9.7.1.4",
)
MAD.describe(
    "Multiplies and adds c to the selected part of the product. Use it for addresses such as base + row * pitch.",
    "mad.lo.s32 %r0, %r1, %r2, %r3;",
)


@MAD.semantics
def mad(mode: Word, sat: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    return _SUMS["add", sat](_PRODUCTS[mode](a, b), c)


MUL24 = Form(
    name="integer.mul24",
    syntax="mul24.mode.type  d, a, b;",
    rows="mode type\nhi,lo u32,s32",
    operands={"d": out("type"), "a": inp("type"), "b": inp("type")},
    source="PTX ISA 9.7.1.5",
)
MUL24.describe(
    "Multiplies the low 24 bits of a and b. Use `mul.lo` on current GPUs, where it is faster.",
    "mul24.lo.u32 %r0, %r1, %r2;",
)


@MUL24.semantics
def mul24(mode: Word, a: Lane, b: Lane) -> Lane:
    return integers.mul24(a, b, mode)


MAD24 = Form(
    name="integer.mad24",
    syntax="mad24.mode{.sat}.type  d, a, b, c;",
    rows="""
        mode   sat  type
        hi,lo  -    u32,s32
        hi     sat  s32
    """,
    operands={"d": out("type"), "a": inp("type"), "b": inp("type"), "c": inp("type")},
    source="PTX ISA 9.7.1.6",
)
MAD24.describe(
    "Multiplies the low 24 bits of a and b and adds c. Use `mad.lo` on current GPUs, where it is faster.",
    "mad24.lo.u32 %r0, %r1, %r2, %r3;",
)


@MAD24.semantics
def mad24(mode: Word, sat: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    return integers.mad24(a, b, c, mode, sat=bool(sat))


SAD = Form(
    name="integer.sad",
    syntax="sad.type  d, a, b, c;",
    rows="type\nu16,u32,u64,s16,s32,s64",
    operands={"d": out("type"), "a": inp("type"), "b": inp("type"), "c": inp("type")},
    source="PTX ISA 9.7.1.7",
)
SAD.describe(
    "Computes c + |a - b|. Use it for sums of absolute differences, such as in image comparison.",
    "sad.u32 %r0, %r1, %r2, %r3;",
)

SAD.semantics(integers.sad)

DIV = Form(
    name="integer.div",
    syntax="op.type  d, a, b;",
    rows="op type\ndiv,rem u16,u32,u64,s16,s32,s64",
    operands={"d": out("type"), "a": inp("type"), "b": inp("type")},
    source="PTX ISA 9.7.1.8",
)
DIV.describe(
    "Computes the quotient, truncated toward zero, or the remainder. Use it sparingly: it takes many instructions.",
    "div.u32 %r0, %r1, %r2;",
)

_QUOTIENTS = {"div": integers.div, "rem": integers.rem}


@DIV.semantics
def div(op: Word, a: Lane, b: Lane) -> Lane:
    return _QUOTIENTS[op](a, b)


ABS = Form(
    name="integer.abs",
    syntax="op.type  d, a;",
    rows="op type\nabs,neg s16,s32,s64",
    operands={"d": out("type"), "a": inp("type")},
    source="PTX ISA 9.7.1.10",
)
ABS.describe("Computes the absolute value or the negative of a. Use it on signed integers.", "abs.s32 %r0, %r1;")

_SIGNS = {"abs": integers.absolute, "neg": integers.negate}


@ABS.semantics
def absolute(op: Word, a: Lane) -> Lane:
    return _SIGNS[op](a)


MIN = Form(
    name="integer.min",
    syntax="op{.relu}.type  d, a, b;",
    rows="""
        op       relu  type                     ptx  target
        min,max  -     u16,u32,u64,s16,s32,s64  1.0  -
        min,max  -     u16x2,s16x2              8.0  sm_90
        min,max  relu  s16x2,s32                8.0  sm_90
    """,
    operands={"d": out("type"), "a": inp("type"), "b": inp("type")},
    effects=(Flow(address=("a", "b"), numbers=frozenset({"compared"})),),
    source="PTX ISA 9.7.1.12",
)
MIN.describe(
    "Returns the smaller or larger integer; `.relu` replaces negative results by 0. Use it for clamps and bounds.",
    "min.s32 %r0, %r1, %r2;",
)

_EXTREMES = {"min": integers.minimum, "max": integers.maximum}


@MIN.semantics
def minimum(op: Word, relu: Word, type: Word, a: Lane, b: Lane) -> Lane:
    if TYPES[type].kind == "packed":
        return integers.halves(op, a, b, signed=type == "s16x2", relu=bool(relu))
    return _EXTREMES[op](a, b, relu=bool(relu))


def _bytes(slots: Slots) -> str:
    return f"{slots['type'][0]}32"


QUAD = Form(
    name="integer.quad",
    syntax="op.type  d, a, b;",
    rows="op type ptx target\nadd,sub,min,max u8x4,s8x4 9.2 sm_107f,sm_120f",
    operands={name: part(_bytes, accepts="packed") for name, part in (("d", out), ("a", inp), ("b", inp))},
    source="PTX ISA 9.7.1.1",
)
QUAD.describe(
    "Adds, subtracts or compares the four bytes of a and b separately. Use it for arithmetic on 8-bit data.",
    "add.u8x4 %r0, %r1, %r2;",
)


@QUAD.semantics
def quad(op: Word, type: Word, a: Lane, b: Lane) -> Lane:
    return integers.quarters(op, a, b, signed=type == "s8x4")


QUAD_NEG = Form(
    name="integer.quad_neg",
    syntax="neg.type  d, a;",
    rows="type ptx target\ns8x4 9.2 sm_107f,sm_120f",
    operands={"d": out("s32", accepts="packed"), "a": inp("s32", accepts="packed")},
    source="PTX ISA 9.7.1.11",
)
QUAD_NEG.describe("Negates the four bytes of a separately. Use it for arithmetic on 8-bit data.", "neg.s8x4 %r0, %r1;")


@QUAD_NEG.semantics
def quad_neg(a: Lane) -> Lane:
    return integers.quarters("sub", a ^ a, a, signed=True)


DP4A = Form(
    name="integer.dp4a",
    syntax="dp4a.atype.btype  d, a, b, c;",
    rows="atype btype ptx target\nu32,s32 u32,s32 5.0 sm_61",
    operands={"d": out("s32"), "a": inp("atype"), "b": inp("btype"), "c": inp("s32")},
    source="PTX ISA 9.7.1.23",
)
DP4A.describe(
    "Computes the dot product of four bytes of a and b, plus c. Use it for 8-bit arithmetic without tensor cores.",
    "dp4a.s32.s32 %r0, %r1, %r2, %r3;",
)


@DP4A.semantics
def dp4a(atype: Word, btype: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    return integers.dp4a(a, b, c, a_signed=atype == "s32", b_signed=btype == "s32")


DP2A = Form(
    name="integer.dp2a",
    syntax="dp2a.mode.atype.btype  d, a, b, c;",
    rows="mode atype btype ptx target\nlo,hi u32,s32 u32,s32 5.0 sm_61",
    operands={"d": out("s32"), "a": inp("atype"), "b": inp("btype"), "c": inp("s32")},
    source="PTX ISA 9.7.1.24",
)
DP2A.describe(
    "Computes the dot product of the two halves of a and two bytes of b, plus c. Use it for products of 16-bit"
    " and 8-bit integers.",
    "dp2a.lo.s32.s32 %r0, %r1, %r2, %r3;",
)


@DP2A.semantics
def dp2a(mode: Word, atype: Word, btype: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    return integers.dp2a(a, b, c, mode, a_signed=atype == "s32", b_signed=btype == "s32")


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
    operands={"d": out("type"), "a": inp("type"), "b": inp("type")},
    effects=(Flow(address=("a", "b")),),
    source="PTX ISA 9.7.2.1",
)
ADD_CARRY.describe(
    "Adds or subtracts with the carry flag as input, output or both. Use it for integers of several registers.",
    "add.cc.u32 %r0, %r1, %r2;",
)


def _subtract(a: Lane, b: Lane, carry: Lane | None) -> tuple[Lane, Lane]:
    """Return a - b and the carry flag, which is the inverted borrow (measured on an H200)."""
    d, borrow = integers.sub_borrow(a, b, None if carry is None else ~carry)
    return d, ~borrow


_CARRIES = {"add": integers.add_carry, "sub": _subtract}


@ADD_CARRY.semantics
def add_carry(op: Word, cc: Word, a: Lane, b: Lane, carry: Lane) -> tuple[Lane, Lane]:
    d, carry_out = _CARRIES[op[:3]](a, b, carry if op.endswith("c") else None)
    return d, carry_out if cc else carry


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
    operands={"d": out("type"), "a": inp("type"), "b": inp("type"), "c": inp("type")},
    effects=(Flow(address=("c",), numbers=frozenset({"scaled"})),),
    source="PTX ISA 9.7.2.5",
)
MAD_CARRY.describe(
    "Multiplies and adds with the carry flag as input, output or both. Use it for products of integers of several"
    " registers.",
    "mad.lo.cc.u32 %r0, %r1, %r2, %r3;",
)


@MAD_CARRY.semantics
def mad_carry(op: Word, mode: Word, cc: Word, a: Lane, b: Lane, c: Lane, carry: Lane) -> tuple[Lane, Lane]:
    d, carry_out = integers.mad_carry(a, b, c, mode, carry if op == "madc" else None)
    return d, carry_out if cc else carry
