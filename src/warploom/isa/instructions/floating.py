"""Floating-point arithmetic of f32, f64 and f32x2 (PTX ISA 9.7.3).

The approximations of 9.7.3 are in `approximate`, the half-precision instructions in `half`.
"""

from __future__ import annotations

from dataclasses import replace

from warploom.isa.model.form import Form
from warploom.isa.model.operands import Slots, arg, out, pred_out
from warploom.isa.model.semantics import Bound, Warps
from warploom.numerics import floats, packed

ADD = Form(
    name="floating.add",
    syntax="op{.rnd}{.ftz}{.sat}.type  d, a, b;",
    rows="""
        op           rnd            ftz    sat    type
        add,sub,mul  -,rn,rz,rm,rp  -,ftz  -,sat  f32
        add,sub,mul  -,rn,rz,rm,rp  -      -      f64
    """,
    operands={"d": out("type"), "a": arg("type"), "b": arg("type")},
    source="PTX ISA 9.7.3.3",
)

_BINARY = {"add": floats.add, "sub": floats.sub, "mul": floats.mul}


@ADD.meaning
def add(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    d = _BINARY[i.op](a, b, i.rnd or "rn", ftz=bool(i.ftz), sat=bool(i.sat))
    # WRITE
    warps.write(i.d, d)


FMA = Form(
    name="floating.fma",
    syntax="op{.rnd}{.ftz}{.sat}.type  d, a, b, c;",
    rows="""
        op       rnd          ftz    sat    type  ptx
        fma,mad  rn,rz,rm,rp  -,ftz  -,sat  f32   2.0
        fma,mad  rn,rz,rm,rp  -      -      f64   1.4
    """,
    operands={"d": out("type"), "a": arg("type"), "b": arg("type"), "c": arg("type")},
    source="PTX ISA 9.7.3.6",
)


@FMA.meaning
def fma(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = floats.fma(a, b, c, i.rnd, ftz=bool(i.ftz), sat=bool(i.sat))
    # WRITE
    warps.write(i.d, d)


ADD2 = Form(
    name="floating.add2",
    syntax="op{.rnd}{.ftz}.f32x2  d, a, b;",
    rows="""
        op           rnd            ftz    ptx  target
        add,sub,mul  -,rn,rz,rm,rp  -,ftz  8.6  sm_100
    """,
    operands={"d": out("f32x2"), "a": arg("f32x2"), "b": arg("f32x2")},
    source="PTX ISA 9.7.3.3",
)


@ADD2.meaning
def add2(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    d = packed.f32x2(_BINARY[i.op], a, b, rounding=i.rnd or "rn", ftz=bool(i.ftz))
    # WRITE
    warps.write(i.d, d)


FMA2 = Form(
    name="floating.fma2",
    syntax="fma.rnd{.ftz}.f32x2  d, a, b, c;",
    rows="""
        rnd          ftz    ptx  target
        rn,rz,rm,rp  -,ftz  8.6  sm_100
    """,
    operands={"d": out("f32x2"), "a": arg("f32x2"), "b": arg("f32x2"), "c": arg("f32x2")},
    source="PTX ISA 9.7.3.6",
)


@FMA2.meaning
def fma2(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = packed.f32x2(floats.fma, a, b, c, rounding=i.rnd, ftz=bool(i.ftz))
    # WRITE
    warps.write(i.d, d)


def _by_rounding(slots: Slots) -> dict[str, str]:
    """Where assemblers write a call for the instruction, they take no address of a function."""
    called = slots["rnd"] != "rn" and (slots.get("op") is None or slots["type"] == "f64")
    return {"eased": ""} if called else {}


_ROUNDED = replace(arg("type"), by=_by_rounding)

DIV = Form(
    name="floating.div",
    syntax="div.rnd{.ftz}.type  d, a, b;",
    rows="""
        rnd          ftz    type  ptx
        rn,rz,rm,rp  -,ftz  f32   2.0
        rn,rz,rm,rp  -      f64   1.4
    """,
    operands={"d": out("type"), "a": _ROUNDED, "b": _ROUNDED},
    source="PTX ISA 9.7.3.8",
)


@DIV.meaning
def div(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    d = floats.div(a, b, i.rnd, ftz=bool(i.ftz))
    # WRITE
    warps.write(i.d, d)


ROOT = Form(
    name="floating.root",
    syntax="op.rnd{.ftz}.type  d, a;",
    rows="""
        op        rnd          ftz    type  ptx
        rcp,sqrt  rn,rz,rm,rp  -,ftz  f32   2.0
        rcp,sqrt  rn,rz,rm,rp  -      f64   1.4
    """,
    operands={"d": out("type"), "a": _ROUNDED},
    source="PTX ISA 9.7.3.13",
)

_ROOTS = {"rcp": floats.rcp, "sqrt": floats.sqrt}


@ROOT.meaning
def root(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # COMPUTE
    d = _ROOTS[i.op](a, i.rnd, ftz=bool(i.ftz))
    # WRITE
    warps.write(i.d, d)


ABS = Form(
    name="floating.abs",
    syntax="op{.ftz}.type  d, a;",
    rows="""
        op       ftz    type
        abs,neg  -,ftz  f32
        abs,neg  -      f64
    """,
    operands={"d": out("type"), "a": arg("type")},
    source="PTX ISA 9.7.3.9",
)

_SIGNS = {"abs": floats.absolute, "neg": floats.negate}


@ABS.meaning
def absolute(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # COMPUTE
    d = _SIGNS[i.op](a, ftz=bool(i.ftz))
    # WRITE
    warps.write(i.d, d)


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
    operands={"d": out("type"), "a": arg("type"), "b": arg("type")},
    source="PTX ISA 9.7.3.11",
)

_EXTREMES = {"min": floats.minimum, "max": floats.maximum}


@MIN.meaning
def minimum(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    d = _EXTREMES[i.op](a, b, ftz=bool(i.ftz), nan=bool(i.NaN), xorsign_abs=bool(i.xorsign))
    # WRITE
    warps.write(i.d, d)


MIN3 = Form(
    name="floating.min3",
    syntax="op{.ftz}{.NaN}{.abs}.f32  d, a, b, c;",
    rows="""
        op       ftz    NaN    abs    ptx  target
        min,max  -,ftz  -,NaN  -,abs  8.8  sm_100
    """,
    operands={"d": out("f32"), "a": arg("f32"), "b": arg("f32"), "c": arg("f32")},
    source="PTX ISA 9.7.3.11",
)


@MIN3.meaning
def minimum3(warps: Warps, i: Bound) -> None:
    # READ
    numbers = [warps.read(operand) for operand in (i.a, i.b, i.c)]
    # COMPUTE
    if i.abs:
        numbers = [floats.absolute(number) for number in numbers]
    extreme, modifiers = _EXTREMES[i.op], {"ftz": bool(i.ftz), "nan": bool(i.NaN)}
    d = extreme(extreme(numbers[0], numbers[1], **modifiers), numbers[2], **modifiers)
    # WRITE
    warps.write(i.d, d)


COPYSIGN = Form(
    name="floating.copysign",
    syntax="copysign.type  d, a, b;",
    rows="""
        type     ptx
        f32,f64  2.0
    """,
    operands={"d": out("type"), "a": arg("type"), "b": arg("type")},
    source="PTX ISA 9.7.3.2",
)


@COPYSIGN.meaning
def copysign(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    d = floats.copysign(a, b)
    # WRITE
    warps.write(i.d, d)


TESTP = Form(
    name="floating.testp",
    syntax="testp.property.type  p, a;",
    rows="""
        property                                             type     ptx
        finite,infinite,number,notanumber,normal,subnormal  f32,f64  2.0
    """,
    operands={"p": pred_out(also=""), "a": arg("type")},
    source="PTX ISA 9.7.3.1",
)


@TESTP.meaning
def testp(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # COMPUTE
    p = floats.testp(i.property, a)
    # WRITE
    warps.write(i.p, p)
