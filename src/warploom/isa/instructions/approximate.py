"""Approximations of elementary functions, divisions and roots, with the same bits as the hardware.

Source: PTX ISA 9.7.3.8 to 9.7.3.22, 9.7.4.9, 9.7.4.10.
"""

from warploom.isa.model.form import Form
from warploom.isa.model.lanewise import Word
from warploom.isa.model.operands import inp, out
from warploom.numerics import approximate
from warploom.numerics.formats import element_format
from warploom.numerics.lanes import Lane

FUNCTION = Form(
    name="approximate.function",
    syntax="op.approx{.ftz}.type  d, a;",
    rows="""
        op                              ftz    type  ptx
        ex2,lg2,sin,cos,rcp,sqrt,rsqrt  -,ftz  f32   1.0
        rsqrt                           -,ftz  f64   1.4
    """,
    operands={"d": out("type"), "a": inp("type")},
    source="PTX ISA 9.7.3.21",
)
FUNCTION.describe(
    "Approximates 2^a, log2 a, sin a, cos a, 1/a, the square root or its reciprocal in f32. Use it where an error"
    " of a few units in the last place is acceptable, such as in a softmax.",
    "ex2.approx.ftz.f32 %f0, %f1;",
)

_SINGLE = (approximate.ex2, approximate.lg2, approximate.sin, approximate.cos, approximate.rcp, approximate.sqrt)
_FUNCTIONS = {function.__name__: function for function in (*_SINGLE, approximate.rsqrt)}


@FUNCTION.semantics
def function(op: Word, ftz: Word, a: Lane) -> Lane:
    return _FUNCTIONS[op](a, ftz=bool(ftz))


RCP64 = Form(
    name="approximate.rcp64",
    syntax="rcp.approx.ftz.f64  d, a;",
    rows="ptx target\n2.1 sm_20",
    operands={"d": out("f64"), "a": inp("f64")},
    source="PTX ISA 9.7.3.14",
)
RCP64.describe(
    "Approximates 1/a in f64 from the upper 32 bits of a; the lower 32 bits of the result are zero. Use it as the"
    " start value of a Newton iteration.",
    "rcp.approx.ftz.f64 %d0, %d1;",
)


@RCP64.semantics
def rcp64(a: Lane) -> Lane:
    return approximate.rcp64(a)


TANH = Form(
    name="approximate.tanh",
    syntax="tanh.approx.type  d, a;",
    rows="type ptx target\nf32 7.0 sm_75",
    operands={"d": out("f32"), "a": inp("f32")},
    source="PTX ISA 9.7.3.22",
)
TANH.describe(
    "Approximates the hyperbolic tangent. Use it for activation functions such as GELU.", "tanh.approx.f32 %f0, %f1;"
)


@TANH.semantics
def tanh(a: Lane) -> Lane:
    return approximate.tanh(a)


HALF = Form(
    name="approximate.half",
    syntax="op.approx{.ftz}.type  d, a;",
    rows="""
        op    ftz  type         ptx  target
        ex2   -    f16,f16x2    7.0  sm_75
        ex2   ftz  bf16,bf16x2  7.8  sm_90
        tanh  -    f16,f16x2    7.0  sm_75
        tanh  -    bf16,bf16x2  7.8  sm_90
    """,
    operands={"d": out("type"), "a": inp("type")},
    source="PTX ISA 9.7.4.10",
)
HALF.describe(
    "Approximates 2^a or tanh a for one or two half-precision numbers. Use it for a softmax or an activation"
    " function in half precision.",
    "ex2.approx.f16x2 %r0, %r1;",
)


@HALF.semantics
def half(op: Word, ftz: Word, type: Word, a: Lane) -> Lane:
    fmt = element_format(type)
    return approximate.tanh_half(a, fmt) if op == "tanh" else approximate.ex2_half(a, fmt, ftz=bool(ftz))


DIV = Form(
    name="approximate.div",
    syntax="div.approx{.ftz}.f32  d, a, b;",
    rows="ftz ptx\n-,ftz 1.4",
    operands={"d": out("f32"), "a": inp("f32"), "b": inp("f32")},
    source="PTX ISA 9.7.3.8",
)
DIV.describe(
    "Approximates a/b as a times the approximate reciprocal of b. Use it if b is not larger than 2^126, for which"
    " the error is at most 2 units in the last place.",
    "div.approx.f32 %f0, %f1, %f2;",
)


@DIV.semantics
def div(ftz: Word, a: Lane, b: Lane) -> Lane:
    return approximate.div(a, b, ftz=bool(ftz))


DIV_FULL = Form(
    name="approximate.div_full",
    syntax="div.full{.ftz}.f32  d, a, b;",
    rows="ftz ptx\n-,ftz 1.4",
    operands={"d": out("f32"), "a": inp("f32"), "b": inp("f32")},
    source="PTX ISA 9.7.3.8",
)
DIV_FULL.describe(
    "Approximates a/b with a scaled range, so that the error is at most 2 units in the last place for all b. Use"
    " it for a fast division of arbitrary numbers.",
    "div.full.f32 %f0, %f1, %f2;",
)


@DIV_FULL.semantics
def div_full(ftz: Word, a: Lane, b: Lane) -> Lane:
    return approximate.div_full(a, b, ftz=bool(ftz))
