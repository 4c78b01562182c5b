"""Floating-point arithmetic of f32, f64 and f32x2 with IEEE rounding.

`approximate` declares the approximations, and `half` the half-precision instructions.

Source: PTX ISA 9.7.3.
"""

from functools import partial

from warploom.isa.model.form import Form
from warploom.isa.model.lanewise import Word
from warploom.isa.model.operands import inp, out, pred_out
from warploom.numerics import floats, packed
from warploom.numerics.lanes import Lane

ADD = Form(
    name="floating.add",
    syntax="op{.rnd}{.ftz}{.sat}.type  d, a, b;",
    rows="""
        op           rnd            ftz    sat    type   ptx  target
        add,sub,mul  -,rn,rz,rm,rp  -,ftz  -,sat  f32    1.0  -
        add,sub,mul  -,rn,rz,rm,rp  -      -      f64    1.0  -
        add,sub,mul  -,rn,rz,rm,rp  -,ftz  -      f32x2  8.6  sm_100
    """,
    operands={"d": out("type"), "a": inp("type"), "b": inp("type")},
    source="PTX ISA 9.7.3.3",
)
ADD.describe(
    "Adds, subtracts or multiplies with one IEEE rounding. Use `.rn` to prevent the fusion of a multiplication and"
    " an addition, which is allowed without a rounding modifier.",
    "add.rn.f32 %f0, %f1, %f2;",
)

_BINARY = {"add": floats.add, "sub": floats.sub, "mul": floats.mul}


@ADD.semantics
def add(op: Word, rnd: Word, ftz: Word, sat: Word, type: Word, a: Lane, b: Lane) -> Lane:
    if type == "f32x2":
        return packed.f32x2(_BINARY[op], a, b, rounding=rnd or "rn", ftz=bool(ftz))
    return _BINARY[op](a, b, rnd or "rn", ftz=bool(ftz), sat=bool(sat))


FMA = Form(
    name="floating.fma",
    syntax="op{.rnd}{.ftz}{.sat}.type  d, a, b, c;",
    rows="""
        op       rnd          ftz    sat    type   ptx  target
        fma,mad  rn,rz,rm,rp  -,ftz  -,sat  f32    2.0  -
        fma,mad  rn,rz,rm,rp  -      -      f64    1.4  -
        fma      rn,rz,rm,rp  -,ftz  -      f32x2  8.6  sm_100
    """,
    operands={"d": out("type"), "a": inp("type"), "b": inp("type"), "c": inp("type")},
    source="PTX ISA 9.7.3.6",
)
FMA.describe(
    "Computes `a*b + c` with one rounding. Use it instead of a multiplication and an addition: it is faster and"
    " more exact.",
    "fma.rn.f32 %f0, %f1, %f2, %f3;",
)


@FMA.semantics
def fma(rnd: Word, ftz: Word, sat: Word, type: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    if type == "f32x2":
        return packed.f32x2(floats.fma, a, b, c, rounding=rnd, ftz=bool(ftz))
    return floats.fma(a, b, c, rnd, ftz=bool(ftz), sat=bool(sat))


DIV = Form(
    name="floating.div",
    syntax="div.rnd{.ftz}.type  d, a, b;",
    rows="""
        rnd          ftz    type  ptx
        rn,rz,rm,rp  -,ftz  f32   2.0
        rn,rz,rm,rp  -      f64   1.4
    """,
    operands={"d": out("type"), "a": inp("type"), "b": inp("type")},
    source="PTX ISA 9.7.3.8",
)
DIV.describe(
    "Divides with IEEE rounding. Use it where the result must be exact; it takes many instructions, and"
    " `div.approx` takes few.",
    "div.rn.f32 %f0, %f1, %f2;",
)


@DIV.semantics
def div(rnd: Word, ftz: Word, a: Lane, b: Lane) -> Lane:
    return floats.div(a, b, rnd, ftz=bool(ftz))


ROOT = Form(
    name="floating.root",
    syntax="op.rnd{.ftz}.type  d, a;",
    rows="""
        op        rnd          ftz    type  ptx
        rcp,sqrt  rn,rz,rm,rp  -,ftz  f32   2.0
        rcp,sqrt  rn,rz,rm,rp  -      f64   1.4
    """,
    operands={"d": out("type"), "a": inp("type")},
    source="PTX ISA 9.7.3.13",
)
ROOT.describe(
    "Computes 1/a or the square root with IEEE rounding. Use it where the result must be exact.",
    "sqrt.rn.f32 %f0, %f1;",
)

_ROOTS = {"rcp": floats.rcp, "sqrt": floats.sqrt}


@ROOT.semantics
def root(op: Word, rnd: Word, ftz: Word, a: Lane) -> Lane:
    return _ROOTS[op](a, rnd, ftz=bool(ftz))


ABS = Form(
    name="floating.abs",
    syntax="op{.ftz}.type  d, a;",
    rows="""
        op       ftz    type
        abs,neg  -,ftz  f32
        abs,neg  -      f64
    """,
    operands={"d": out("type"), "a": inp("type")},
    source="PTX ISA 9.7.3.9",
)
ABS.describe("Clears or inverts the sign. Use it for absolute values and negation.", "abs.f32 %f0, %f1;")

_SIGNS = {"abs": floats.absolute, "neg": floats.negate}


@ABS.semantics
def absolute(op: Word, ftz: Word, a: Lane) -> Lane:
    return _SIGNS[op](a, ftz=bool(ftz))


MIN = Form(
    name="floating.min",
    syntax="op{.ftz}{.NaN}{.xorsign}{.abs}.type  d, a, b;",
    rows="""
        op       ftz    NaN    xorsign  abs  type  ptx  target
        min,max  -,ftz  -      -        -    f32   1.0  -
        min,max  -,ftz  NaN    -        -    f32   7.0  sm_80
        min,max  -,ftz  -,NaN  xorsign  abs  f32   7.2  sm_86
        min,max  -      -      -        -    f64   1.0  -
    """,
    operands={"d": out("type"), "a": inp("type"), "b": inp("type")},
    source="PTX ISA 9.7.3.11",
)
MIN.describe(
    "Returns the smaller or larger number; a NaN is ignored unless `.NaN` is stated. Use it for clamps and row maxima.",
    "max.f32 %f0, %f1, %f2;",
)

_EXTREMES = {"min": floats.minimum, "max": floats.maximum}


@MIN.semantics
def minimum(op: Word, ftz: Word, NaN: Word, xorsign: Word, a: Lane, b: Lane) -> Lane:
    return _EXTREMES[op](a, b, ftz=bool(ftz), nan=bool(NaN), xorsign_abs=bool(xorsign))


MIN3 = Form(
    name="floating.min3",
    syntax="op{.ftz}{.NaN}{.abs}.f32  d, a, b, c;",
    rows="""
        op       ftz    NaN    abs    ptx  target
        min,max  -,ftz  -,NaN  -,abs  8.8  sm_100
    """,
    operands={"d": out("f32"), "a": inp("f32"), "b": inp("f32"), "c": inp("f32")},
    source="PTX ISA 9.7.3.11",
)
MIN3.describe(
    "Returns the smallest or largest of three numbers. Use it to halve the number of instructions of a reduction.",
    "max.f32 %f0, %f1, %f2, %f3;",
)


@MIN3.semantics
def minimum3(op: Word, ftz: Word, NaN: Word, abs: Word, a: Lane, b: Lane, c: Lane) -> Lane:
    if abs:
        a, b, c = floats.absolute(a), floats.absolute(b), floats.absolute(c)
    extreme = partial(_EXTREMES[op], ftz=bool(ftz), nan=bool(NaN))
    return extreme(extreme(a, b), c)


COPYSIGN = Form(
    name="floating.copysign",
    syntax="copysign.type  d, a, b;",
    rows="type ptx\nf32,f64 2.0",
    operands={"d": out("type"), "a": inp("type"), "b": inp("type")},
    source="PTX ISA 9.7.3.2",
)
COPYSIGN.describe("Returns b with the sign of a. Use it to transfer a sign.", "copysign.f32 %f0, %f1, %f2;")

COPYSIGN.semantics(floats.copysign)

TESTP = Form(
    name="floating.testp",
    syntax="testp.property.type  p, a;",
    rows="property type ptx\nfinite,infinite,number,notanumber,normal,subnormal f32,f64 2.0",
    operands={"p": pred_out(sink=False), "a": inp("type")},
    source="PTX ISA 9.7.3.1",
)
TESTP.describe(
    "Tests whether a number is finite, infinite, a NaN, normal or subnormal. Use it to handle special values.",
    "testp.finite.f32 %p0, %f0;",
)

TESTP.semantics(floats.testp)
