"""Half-precision arithmetic of f16, bf16 and their pairs (PTX ISA 9.7.4); mixed precision (PTX ISA 9.7.5)."""

from __future__ import annotations

from warploom.isa.model.form import Form
from warploom.isa.model.operands import arg, out
from warploom.isa.model.semantics import Bound, Warps
from warploom.numerics import floats, packed
from warploom.numerics.formats import FORMATS, Format


def _format(word: str) -> Format:
    """The format of a number, or of each number of a pair."""
    return FORMATS[word.removesuffix("x2")]


ADD = Form(
    name="half.add",
    syntax="op{.rnd}{.ftz}{.sat}.type  d, a, b;",
    rows="""
        op           rnd   ftz    sat    type         ptx  target
        add,sub,mul  -,rn  -,ftz  -,sat  f16,f16x2    4.2  sm_53
        add,sub,mul  -,rn  -      -      bf16,bf16x2  7.8  sm_90
    """,
    operands={"d": out("type"), "a": arg("type"), "b": arg("type")},
    source="PTX ISA 9.7.4.1",
)

_BINARY = {"add": packed.add, "sub": packed.sub, "mul": packed.mul}


@ADD.meaning
def add(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    d = _BINARY[i.op](a, b, _format(i.type), ftz=bool(i.ftz), sat=bool(i.sat))
    # WRITE
    warps.write(i.d, d)


FMA = Form(
    name="half.fma",
    syntax="fma.rn{.ftz}{.sat}{.relu}.type  d, a, b, c;",
    rows="""
        ftz    sat    relu    type         ptx  target
        -,ftz  -,sat  -       f16,f16x2    4.2  sm_53
        -,ftz  -      relu    f16,f16x2    7.0  sm_80
        -      -      -,relu  bf16,bf16x2  7.0  sm_80
    """,
    operands={"d": out("type"), "a": arg("type"), "b": arg("type"), "c": arg("type")},
    source="PTX ISA 9.7.4.4",
)


@FMA.meaning
def fma(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = packed.fma(a, b, c, _format(i.type), ftz=bool(i.ftz), sat=bool(i.sat), relu=bool(i.relu))
    # WRITE
    warps.write(i.d, d)


FMA_OOB = Form(
    name="half.fma_oob",
    syntax="fma.rn.oob{.relu}.type  d, a, b, c;",
    rows="""
        relu    type                   ptx  target
        -,relu  f16,f16x2,bf16,bf16x2  8.1  sm_90
    """,
    operands={"d": out("type"), "a": arg("type"), "b": arg("type"), "c": arg("type")},
    source="PTX ISA 9.7.4.4",
)


ABS = Form(
    name="half.abs",
    syntax="op{.ftz}.type  d, a;",
    rows="""
        op       ftz    type         ptx  target
        neg      -,ftz  f16,f16x2    6.0  sm_53
        abs      -,ftz  f16,f16x2    6.5  sm_53
        abs,neg  -      bf16,bf16x2  7.0  sm_80
    """,
    operands={"d": out("type"), "a": arg("type")},
    source="PTX ISA 9.7.4.6",
)

_SIGNS = {"abs": packed.absolute, "neg": packed.negate}


@ABS.meaning
def absolute(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # COMPUTE
    d = _SIGNS[i.op](a, _format(i.type), ftz=bool(i.ftz))
    # WRITE
    warps.write(i.d, d)


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
    operands={"d": out("type"), "a": arg("type"), "b": arg("type")},
    source="PTX ISA 9.7.4.7",
)

_EXTREMES = {"min": packed.minimum, "max": packed.maximum}


@MIN.meaning
def minimum(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    modifiers = {"ftz": bool(i.ftz), "nan": bool(i.NaN), "xorsign_abs": bool(i.xorsign)}
    d = _EXTREMES[i.op](a, b, _format(i.type), **modifiers)
    # WRITE
    warps.write(i.d, d)


MIXED_ADD = Form(
    name="half.mixed_add",
    syntax="op{.rnd}{.sat}.f32.atype  d, a, c;",
    rows="""
        op       rnd            sat    atype     ptx  target
        add,sub  -,rn,rz,rm,rp  -,sat  f16,bf16  8.6  sm_100
    """,
    operands={"d": out("f32"), "a": arg("atype"), "c": arg("f32")},
    source="PTX ISA 9.7.5.1",
)

_MIXED = {"add": floats.add, "sub": floats.sub}


@MIXED_ADD.meaning
def mixed_add(warps: Warps, i: Bound) -> None:
    # READ
    a, c = warps.read(i.a), warps.read(i.c)
    # COMPUTE
    d = _MIXED[i.op](packed.float_from_half(a, FORMATS[i.atype]), c, i.rnd or "rn", sat=bool(i.sat))
    # WRITE
    warps.write(i.d, d)


MIXED_FMA = Form(
    name="half.mixed_fma",
    syntax="fma.rnd{.sat}.f32.abtype  d, a, b, c;",
    rows="""
        rnd          sat    abtype    ptx  target
        rn,rz,rm,rp  -,sat  f16,bf16  8.6  sm_100
    """,
    operands={"d": out("f32"), "a": arg("abtype"), "b": arg("abtype"), "c": arg("f32")},
    source="PTX ISA 9.7.5.3",
)


@MIXED_FMA.meaning
def mixed_fma(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = packed.fma_mixed(a, b, c, FORMATS[i.abtype], i.rnd, sat=bool(i.sat))
    # WRITE
    warps.write(i.d, d)
