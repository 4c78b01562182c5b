"""Arithmetic of f16, bf16 and their pairs, and mixed precision with f32.

Source: PTX ISA 9.7.4, 9.7.5.
"""

from warploom.isa.model.form import Form
from warploom.isa.model.lanewise import Word
from warploom.isa.model.operands import inp, out
from warploom.numerics import floats, packed
from warploom.numerics.formats import FORMATS, element_format
from warploom.numerics.lanes import Lane

ADD = Form(
    name="half.add",
    syntax="op{.rnd}{.ftz}{.sat}.type  d, a, b;",
    rows="""
        op           rnd   ftz    sat    type         ptx  target
        add,sub,mul  -,rn  -,ftz  -,sat  f16,f16x2    4.2  sm_53
        add,sub,mul  -,rn  -      -      bf16,bf16x2  7.8  sm_90
    """,
    operands={"d": out("type"), "a": inp("type"), "b": inp("type")},
    source="PTX ISA 9.7.4.1",
)
ADD.describe(
    "Adds, subtracts or multiplies one or two half-precision numbers. Use the packed types: they compute two"
    " results per instruction.",
    "add.rn.f16x2 %r0, %r1, %r2;",
)

_BINARY = {"add": packed.add, "sub": packed.sub, "mul": packed.mul}


@ADD.semantics
def add(op: Word, ftz: Word, sat: Word, type: Word, a: Lane, b: Lane) -> Lane:
    return _BINARY[op](a, b, element_format(type), ftz=bool(ftz), sat=bool(sat))


FMA = Form(
    name="half.fma",
    syntax="fma.rn{.ftz}{.sat}{.relu}.type  d, a, b, c;",
    rows="""
        ftz    sat    relu    type         ptx  target
        -,ftz  -,sat  -       f16,f16x2    4.2  sm_53
        -,ftz  -      relu    f16,f16x2    7.0  sm_80
        -      -      -,relu  bf16,bf16x2  7.0  sm_80
    """,
    operands={"d": out("type"), "a": inp("type"), "b": inp("type"), "c": inp("type")},
    source="PTX ISA 9.7.4.4",
)
FMA.describe(
    "Computes `a*b + c` with one rounding for one or two half-precision numbers; `.relu` replaces negative"
    " results by 0. Use it for arithmetic on packed data.",
    "fma.rn.relu.f16x2 %r0, %r1, %r2, %r3;",
)


@FMA.semantics
def fma(ftz: Word, sat: Word, relu: Word, type: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    return packed.fma(a, b, c, element_format(type), ftz=bool(ftz), sat=bool(sat), relu=bool(relu))


FMA_OOB = Form(
    name="half.fma_oob",
    syntax="fma.rn.oob{.relu}.type  d, a, b, c;",
    rows="relu type ptx target\n-,relu f16,f16x2,bf16,bf16x2 8.1 sm_90",
    operands={"d": out("type"), "a": inp("type"), "b": inp("type"), "c": inp("type")},
    source="PTX ISA 9.7.4.4",
)
FMA_OOB.describe(
    "Computes `a*b + c`, or 0 where a or b is the NaN with which tensor copies can fill elements out of bounds"
    " (0x7ff7 or 0xfff7). Use it after a copy with the fill mode NaN.",
    "fma.rn.oob.f16x2 %r0, %r1, %r2, %r3;",
)


@FMA_OOB.semantics
def fma_oob(relu: Word, type: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    return packed.fma_oob(a, b, c, element_format(type), relu=bool(relu))


ABS = Form(
    name="half.abs",
    syntax="op{.ftz}.type  d, a;",
    rows="""
        op       ftz    type         ptx  target
        neg      -,ftz  f16,f16x2    6.0  sm_53
        abs      -,ftz  f16,f16x2    6.5  sm_53
        abs,neg  -      bf16,bf16x2  7.0  sm_80
    """,
    operands={"d": out("type"), "a": inp("type")},
    source="PTX ISA 9.7.4.6",
)
ABS.describe(
    "Clears or inverts the sign of one or two half-precision numbers. Use it for absolute values and negation.",
    "neg.f16x2 %r0, %r1;",
)

_SIGNS = {"abs": packed.absolute, "neg": packed.negate}


@ABS.semantics
def absolute(op: Word, ftz: Word, type: Word, a: Lane) -> Lane:
    return _SIGNS[op](a, element_format(type), ftz=bool(ftz))


MIN = Form(
    name="half.min",
    syntax="op{.ftz}{.NaN}{.xorsign}{.abs}.type  d, a, b;",
    rows="""
        op       ftz    NaN    xorsign  abs  type         ptx  target
        min,max  -,ftz  -,NaN  -        -    f16,f16x2    7.0  sm_80
        min,max  -,ftz  -,NaN  xorsign  abs  f16,f16x2    7.2  sm_86
        min,max  -      -,NaN  -        -    bf16,bf16x2  7.0  sm_80
        min,max  -      -,NaN  xorsign  abs  bf16,bf16x2  7.2  sm_86
    """,
    operands={"d": out("type"), "a": inp("type"), "b": inp("type")},
    source="PTX ISA 9.7.4.7",
)
MIN.describe(
    "Returns the smaller or larger of two half-precision numbers, or of each pair. Use it for clamps and maxima.",
    "max.f16x2 %r0, %r1, %r2;",
)

_EXTREMES = {"min": packed.minimum, "max": packed.maximum}


@MIN.semantics
def minimum(op: Word, ftz: Word, NaN: Word, xorsign: Word, type: Word, a: Lane, b: Lane) -> Lane:
    return _EXTREMES[op](a, b, element_format(type), ftz=bool(ftz), nan=bool(NaN), xorsign_abs=bool(xorsign))


MIXED_ADD = Form(
    name="half.mixed_add",
    syntax="op{.rnd}{.sat}.f32.atype  d, a, c;",
    rows="""
        op       rnd            sat    atype     ptx  target
        add,sub  -,rn,rz,rm,rp  -,sat  f16,bf16  8.6  sm_100
    """,
    operands={"d": out("f32"), "a": inp("atype"), "c": inp("f32")},
    source="PTX ISA 9.7.5.1",
)
MIXED_ADD.describe(
    "Adds a half-precision number to an f32 number, or subtracts them, with one rounding. Use it to accumulate"
    " half-precision values without a conversion.",
    "add.rn.f32.f16 %f0, %h0, %f1;",
)

_MIXED = {"add": floats.add, "sub": floats.sub}


@MIXED_ADD.semantics
def mixed_add(op: Word, rnd: Word, sat: Word, atype: Word, a: Lane, c: Lane) -> Lane:
    return _MIXED[op](packed.float_from_half(a, FORMATS[atype]), c, rnd or "rn", sat=bool(sat))


MIXED_FMA = Form(
    name="half.mixed_fma",
    syntax="fma.rnd{.sat}.f32.abtype  d, a, b, c;",
    rows="rnd sat abtype ptx target\nrn,rz,rm,rp -,sat f16,bf16 8.6 sm_100",
    operands={"d": out("f32"), "a": inp("abtype"), "b": inp("abtype"), "c": inp("f32")},
    source="PTX ISA 9.7.5.3",
)
MIXED_FMA.describe(
    "Multiplies two half-precision numbers and adds an f32 number with one rounding. Use it to accumulate"
    " products of half-precision values without conversions.",
    "fma.rn.f32.f16 %f0, %h0, %h1, %f1;",
)


@MIXED_FMA.semantics
def mixed_fma(rnd: Word, sat: Word, abtype: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    return packed.fma_mixed(a, b, c, FORMATS[abtype], rnd, sat=bool(sat))
