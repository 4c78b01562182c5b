"""Video instructions on one byte or half of a register, and SIMD on all bytes or halves of a register.

A selector after a register chooses the bytes or halves, as in `%r1.b0`. The emulator executes neither instructions with
selectors nor Forms without semantics.

Source: PTX ISA 9.7.18.1, 9.7.18.2.
"""

import numpy as np

from warploom.isa.model.effects import Flow
from warploom.isa.model.form import Form
from warploom.isa.model.lanewise import Word
from warploom.isa.model.operands import Allowance, OperandSpec, Slots, inp, out
from warploom.numerics import integers
from warploom.numerics.lanes import Lane

_PART = "b[0-3]|h[01]"
_MASKS = {"2": "h(?!$)1?0?", "4": "b(?!$)3?2?1?0?"}
_SHUFFLES = {"2": "h[0-3]{2}", "4": "b[0-7]{4}"}


def _source(type: str) -> OperandSpec:
    return inp(type, selector=_PART)


def _merged(slots: Slots) -> str:
    return "" if slots["op2"] else _PART  # with a second operation, d has no selector


def _negated(slots: Slots) -> tuple[Allowance, ...]:
    """Allow a negated addend, except with the modifier `.po`."""
    return () if slots["po"] else ("minus",)


def _mask(slots: Slots) -> str:
    return _MASKS[slots["vop"][-1]]


def _shuffle(slots: Slots) -> str:
    return _SHUFFLES[slots["vop"][-1]]


_LANES = {"a": inp("atype", values=(), selector=_shuffle), "b": inp("btype", values=(), selector=_shuffle)}

ARITHMETIC = Form(
    name="video.arithmetic",
    syntax="vop.dtype.atype.btype{.sat}{.mode}  d, a{.asel}, b{.bsel};",
    rows="""
        vop                           dtype    atype    btype    mode        ptx  target
        vadd,vsub,vabsdiff,vmin,vmax  u32,s32  u32,s32  u32,s32  -           2.0  sm_20
        vshl,vshr                     u32,s32  u32,s32  u32      clamp,wrap  2.0  sm_20
    """,
    operands={"d": out("dtype"), "a": _source("atype"), "b": _source("btype")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.18.1.1, 9.7.18.1.2",
)
ARITHMETIC.describe(
    "Adds, subtracts or compares a byte, a half or the whole of a and b, with saturation. Use ordinary"
    " instructions in new code: most targets emulate this one.",
    "vadd.s32.s32.s32.sat %r0, %r1.b0, %r2.h1;",
)

ARITHMETIC_MERGED = Form(
    name="video.arithmetic_merged",
    syntax="vop.dtype.atype.btype{.sat}{.mode}{.op2}  d{.dsel}, a{.asel}, b{.bsel}, c;",
    rows="""
        vop                           dtype    atype    btype    mode        op2            ptx  target
        vadd,vsub,vabsdiff,vmin,vmax  u32,s32  u32,s32  u32,s32  -           -,add,min,max  2.0  sm_20
        vshl,vshr                     u32,s32  u32,s32  u32      clamp,wrap  -,add,min,max  2.0  sm_20
    """,
    operands={"d": out("dtype", selector=_merged), "a": _source("atype"), "b": _source("btype"), "c": inp("dtype")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.18.1.1, 9.7.18.1.2",
)
ARITHMETIC_MERGED.describe(
    "Adds, subtracts or compares a byte, a half or the whole of a and b, and merges the result into c or combines"
    " it with c. Use ordinary instructions in new code: most targets emulate this one.",
    "vadd.s32.s32.s32.add %r0, %r1.b0, %r2.b1, %r3;",
)

MAD = Form(
    name="video.mad",
    syntax="vmad.dtype.atype.btype{.sat}{.scale}  d, {-}a{.asel}, {-}b{.bsel}, c;",
    rows="""
        dtype    atype    btype    scale         ptx  target
        u32,s32  u32,s32  u32,s32  -,shr7,shr15  2.0  sm_20
    """,
    operands={
        "d": out("dtype"),
        "a": inp("atype", allows=("minus",), selector=_PART),
        "b": inp("btype", allows=("minus",), selector=_PART),
        "c": inp("dtype"),
    },
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.18.1.3",
)
MAD.describe(
    "Multiplies a byte or a half of a and b, adds c, and can scale the result. Use `mad` in new code: most"
    " targets emulate this instruction.",
    "vmad.s32.s32.s32 %r0, %r1.h0, %r2.h0, %r3;",
)

MAD_NEGATED = Form(
    name="video.mad_negated",
    syntax="vmad.dtype.atype.btype{.po}{.sat}{.scale}  d, a{.asel}, b{.bsel}, {-}c;",
    rows="""
        dtype    atype    btype    scale         ptx  target
        u32,s32  u32,s32  u32,s32  -,shr7,shr15  2.0  sm_20
    """,
    operands={"d": out("dtype"), "a": _source("atype"), "b": _source("btype"), "c": inp("dtype", allows=_negated)},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.18.1.3",
)
MAD_NEGATED.describe(
    "Multiplies a byte or a half of a and b, adds c or subtracts it, and can add one. Use `mad` in new code: most"
    " targets emulate this instruction.",
    "vmad.s32.s32.s32.po %r0, %r1.h0, %r2.h0, %r3;",
)

SET = Form(
    name="video.set",
    syntax="vset.atype.btype.cmp  d, a{.asel}, b{.bsel};",
    rows="atype btype cmp ptx target\nu32,s32 u32,s32 eq,ne,lt,le,gt,ge 2.0 sm_20",
    operands={"d": out("u32"), "a": _source("atype"), "b": _source("btype")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.18.1.4",
)
SET.describe(
    "Compares a byte, a half or the whole of a and b and returns 1 or 0. Use `set` in new code: most targets"
    " emulate this instruction.",
    "vset.s32.s32.lt %r0, %r1.b0, %r2.b1;",
)

SET_MERGED = Form(
    name="video.set_merged",
    syntax="vset.atype.btype.cmp{.op2}  d{.dsel}, a{.asel}, b{.bsel}, c;",
    rows="""
        atype    btype    cmp                op2            ptx  target
        u32,s32  u32,s32  eq,ne,lt,le,gt,ge  -,add,min,max  2.0  sm_20
    """,
    operands={"d": out("u32", selector=_merged), "a": _source("atype"), "b": _source("btype"), "c": inp("u32")},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.18.1.4",
)
SET_MERGED.describe(
    "Compares a byte, a half or the whole of a and b, and merges the result into c or combines it with c. Use"
    " `set` in new code: most targets emulate this instruction.",
    "vset.s32.s32.lt.add %r0, %r1.b0, %r2.b1, %r3;",
)

QUAD = Form(
    name="video.quad",
    syntax="vop.dtype.atype.btype{.second}  d{.mask}, a{.asel}, b{.bsel}, c;",
    rows="""
        vop                                dtype    atype    btype    second     ptx  target
        vadd4,vsub4,vabsdiff4,vmin4,vmax4  u32,s32  u32,s32  u32,s32  -,sat,add  3.0  sm_30
    """,
    operands={"d": out("dtype", selector=_mask), **_LANES, "c": inp("dtype", values=())},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.18.2.3",
)
QUAD.describe(
    "Adds, subtracts or compares the four bytes of a and b, and can add the results to c. Use `dp4a` or packed"
    " arithmetic in new code: most targets emulate this instruction.",
    "vadd4.u32.u32.u32 %r0, %r1, %r2, %r3;",
)


@QUAD.semantics
def quad(vop: Word, dtype: Word, second: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    d = integers.quarters(vop[1:-1], a, b, dtype == "s32", second == "sat")
    if second == "add":
        d = integers.sum_quarters(d, dtype == "s32") + c.view(np.uint32)
    return d


LANES = Form(
    name="video.lanes",
    syntax="vop.dtype.atype.btype{.second}  d{.mask}, a{.asel}, b{.bsel}, c;",
    rows="""
        vop                                             dtype    atype    btype    second     ptx  target
        vadd2,vsub2,vavrg2,vabsdiff2,vmin2,vmax2,vavrg4  u32,s32  u32,s32  u32,s32  -,sat,add  3.0  sm_30
    """,
    operands={"d": out("dtype", selector=_mask), **_LANES, "c": inp("dtype", values=())},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.18.2.1, 9.7.18.2.3",
)
LANES.describe(
    "Adds, subtracts, averages or compares the two halves or four bytes of a and b, and can add the results to c."
    " Use packed arithmetic in new code: most targets emulate this instruction.",
    "vadd2.u32.u32.u32 %r0, %r1, %r2, %r3;",
)

LANES_SET = Form(
    name="video.lanes_set",
    syntax="vop.atype.btype.cmp{.add}  d{.mask}, a{.asel}, b{.bsel}, c;",
    rows="""
        vop          atype    btype    cmp                ptx  target
        vset2,vset4  u32,s32  u32,s32  eq,ne,lt,le,gt,ge  3.0  sm_30
    """,
    operands={"d": out("u32", selector=_mask), **_LANES, "c": inp("u32", values=())},
    effects=(Flow(unwritten="ignore"),),
    source="PTX ISA 9.7.18.2.2",
)
LANES_SET.describe(
    "Compares the two halves or four bytes of a and b, and can add the number of true results to c. Use packed"
    " arithmetic in new code: most targets emulate this instruction.",
    "vset4.u32.u32.lt %r0, %r1, %r2, %r3;",
)
