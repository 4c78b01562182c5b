"""Video instructions on one byte or half of a register, and SIMD on all bytes or halves of a register.

A selector after a register chooses the bytes or halves, as in `%r1.b0`.

Source: PTX ISA 9.7.18.1, 9.7.18.2.
"""

from warploom.isa.model.effects import Flow
from warploom.isa.model.form import Form
from warploom.isa.model.lanewise import Word
from warploom.isa.model.operands import Allowance, OperandSpec, Slots, inp, out
from warploom.numerics import compare, video
from warploom.numerics.lanes import Lane

_PART = "b[0-3]|h[01]"
_MASKS = {"2": "h(?!$)1?0?", "4": "b(?!$)3?2?1?0?"}
_SHUFFLES = {"2": "h[0-3]{2}", "4": "b[0-7]{4}"}
_DEFAULTS = {"2": ("h10", "h32", "h10"), "4": ("b3210", "b7654", "b3210")}
"""Selectors of a, b and d that an instruction omits, by the number of parts."""


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


def _compute(
    vop: Word, dtype: Word, sat: Word, mode: Word, a: Lane, b: Lane, sources: tuple[str, str], dsel: str
) -> Lane:
    """Return the result of an operation on parts of a and b, saturated to the part `dsel` of the result."""
    x, y = video.part(a, sources[0]), video.part(b, sources[1])
    result = video.operate(vop[1:], x, video.shift_count(y, mode) if mode else y)
    return video.saturate(result, dsel, dtype == "s32") if sat else result


def _second(result: Lane, op2: Word, dsel: str, c: Lane) -> Lane:
    """Combine a result with c, or merge the result into a part of c."""
    if op2:
        result = video.operate(op2, result, video.part(c, ""))
    return video.merge(result, dsel, c) if dsel else result.astype("u4")


@ARITHMETIC.semantics
def arithmetic(
    vop: Word, dtype: Word, sat: Word, mode: Word, asel: Word, bsel: Word, a: Lane, b: Lane
) -> Lane:  # fmt: skip
    return _compute(vop, dtype, sat, mode, a, b, (asel, bsel), "").astype("u4")


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


@ARITHMETIC_MERGED.semantics
def arithmetic_merged(
    vop: Word, dtype: Word, sat: Word, mode: Word, op2: Word, dsel: Word, asel: Word, bsel: Word,
    a: Lane, b: Lane, c: Lane,
) -> Lane:  # fmt: skip
    return _second(_compute(vop, dtype, sat, mode, a, b, (asel, bsel), dsel), op2, dsel, c)


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


def _mad(a: Lane, b: Lane, c: Lane, sources: tuple[str, str], negate: str, po: Word, sat: Word, scale: Word) -> Lane:
    signed = bool(negate) or "i" in (a.dtype.kind, b.dtype.kind)
    x, y = video.part(a, sources[0]), video.part(b, sources[1])
    return video.multiply_add(x, y, c, signed, negate, bool(po), int(scale[3:] or 0), bool(sat))


@MAD.semantics
def mad(
    sat: Word, scale: Word, minus_a: Word, minus_b: Word, asel: Word, bsel: Word, a: Lane, b: Lane, c: Lane
) -> Lane:  # fmt: skip
    return _mad(a, b, c, (asel, bsel), "product" if minus_a != minus_b else "", "", sat, scale)


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


@MAD_NEGATED.semantics
def mad_negated(
    po: Word, sat: Word, scale: Word, minus_c: Word, asel: Word, bsel: Word, a: Lane, b: Lane, c: Lane
) -> Lane:  # fmt: skip
    return _mad(a, b, c, (asel, bsel), "c" if minus_c else "", po, sat, scale)


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


@SET.semantics
def set_result(cmp: Word, asel: Word, bsel: Word, a: Lane, b: Lane) -> Lane:
    return compare.integers(cmp, video.part(a, asel), video.part(b, bsel)).astype("u4")


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


@SET_MERGED.semantics
def set_merged(cmp: Word, op2: Word, dsel: Word, asel: Word, bsel: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    result = compare.integers(cmp, video.part(a, asel), video.part(b, bsel)).astype("i8")
    return _second(result, op2, dsel, c)


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


def _sources(vop: Word, asel: Word, bsel: Word, mask: Word, a: Lane, b: Lane) -> tuple[list[Lane], list[Lane], str]:
    """Return the parts of both sources, and the selector of the parts of the result."""
    first, second, result = _DEFAULTS[vop[-1]]
    x = video.parts(a, b, asel or first, a.dtype.kind == "i")
    return x, video.parts(a, b, bsel or second, b.dtype.kind == "i"), mask or result


@QUAD.semantics
@LANES.semantics
def lanes(
    vop: Word, dtype: Word, second: Word, mask: Word, asel: Word, bsel: Word, a: Lane, b: Lane, c: Lane
) -> Lane:  # fmt: skip
    xs, ys, chosen = _sources(vop, asel, bsel, mask, a, b)
    results = [video.operate(vop[1:-1], x, y) for x, y in zip(xs, ys, strict=True)]
    if second == "sat":
        results = [video.saturate(each, f"{chosen[0]}0", dtype == "s32") for each in results]
    return video.combine(results, chosen, c, second == "add")


@LANES_SET.semantics
def lanes_set(
    vop: Word, cmp: Word, add: Word, mask: Word, asel: Word, bsel: Word, a: Lane, b: Lane, c: Lane
) -> Lane:  # fmt: skip
    xs, ys, chosen = _sources(vop, asel, bsel, mask, a, b)
    results = [compare.integers(cmp, x, y) for x, y in zip(xs, ys, strict=True)]
    return video.combine(results, chosen, c, bool(add))
