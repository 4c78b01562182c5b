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


@DIV_FULL.semantics
def div_full(ftz: Word, a: Lane, b: Lane) -> Lane:
    return approximate.div_full(a, b, ftz=bool(ftz))
