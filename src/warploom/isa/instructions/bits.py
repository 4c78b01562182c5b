"""Shifts, bit fields, bit counting and byte permutation (PTX ISA 9.7.1.14-22, 9.7.8.7-9, 9.7.9.7)."""

from __future__ import annotations

from warploom.isa.model.form import Form
from warploom.isa.model.operands import arg, inp, out
from warploom.isa.model.semantics import Bound, Warps
from warploom.numerics import bits

_FIELD = range(256)
"""Constants that may say where a bit field is and how long."""

SHIFT = Form(
    name="bits.shift",
    syntax="op.type  d, a, b;",
    rows="""
        op   type
        shl  b16,b32,b64
        shr  b16,b32,b64,u16,u32,u64,s16,s32,s64
    """,
    operands={"d": out("type"), "a": arg("type"), "b": inp("u32")},
    source="PTX ISA 9.7.8.8",
)

_SHIFTS = {"shl": bits.shl, "shr": bits.shr}


@SHIFT.meaning
def shift(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    d = _SHIFTS[i.op](a, b)
    # WRITE
    warps.write(i.d, d)


FUNNEL = Form(
    name="bits.shf",
    syntax="shf.side.mode.b32  d, a, b, c;",
    rows="""
        side  mode        ptx
        l,r   clamp,wrap  3.1
    """,
    operands={"d": out("b32"), "a": arg("b32"), "b": arg("b32"), "c": inp("u32")},
    source="PTX ISA 9.7.8.7",
)


@FUNNEL.meaning
def funnel(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = bits.shf(a, b, c, i.side, i.mode)
    # WRITE
    warps.write(i.d, d)


COUNT = Form(
    name="bits.count",
    syntax="op.type  d, a;",
    rows="""
        op        type     ptx
        popc,clz  b32,b64  2.0
    """,
    operands={"d": out("u32"), "a": arg("type")},
    source="PTX ISA 9.7.1.14",
)

_COUNTS = {"popc": bits.popc, "clz": bits.clz}


@COUNT.meaning
def count(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # COMPUTE
    d = _COUNTS[i.op](a)
    # WRITE
    warps.write(i.d, d)


BFIND = Form(
    name="bits.bfind",
    syntax="bfind{.shiftamt}.type  d, a;",
    rows="""
        type             ptx
        u32,u64,s32,s64  2.0
    """,
    operands={"d": out("u32"), "a": arg("type")},
    source="PTX ISA 9.7.1.16",
)


@BFIND.meaning
def bfind(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # COMPUTE
    d = bits.bfind(a, shiftamt=bool(i.shiftamt))
    # WRITE
    warps.write(i.d, d)


FNS = Form(
    name="bits.fns",
    syntax="fns.b32  d, mask, base, offset;",
    rows="ptx target\n6.0 sm_30",
    operands={"d": out("b32"), "mask": arg("b32"), "base": arg("b32"), "offset": arg("b32")},
    source="PTX ISA 9.7.1.17",
)


@FNS.meaning
def fns(warps: Warps, i: Bound) -> None:
    # READ
    mask, base, offset = warps.read(i.mask), warps.read(i.base), warps.read(i.offset)
    # COMPUTE
    d = bits.fns(mask, base, offset)
    # WRITE
    warps.write(i.d, d)


BREV = Form(
    name="bits.brev",
    syntax="brev.type  d, a;",
    rows="""
        type     ptx
        b32,b64  2.0
    """,
    operands={"d": out("type"), "a": arg("type")},
    source="PTX ISA 9.7.1.18",
)


@BREV.meaning
def brev(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # COMPUTE
    d = bits.brev(a)
    # WRITE
    warps.write(i.d, d)


BFE = Form(
    name="bits.bfe",
    syntax="bfe.type  d, a, b, c;",
    rows="""
        type             ptx
        u32,u64,s32,s64  2.0
    """,
    operands={
        "d": out("type"),
        "a": arg("type"),
        "b": inp("u32", values=_FIELD),
        "c": inp("u32", values=_FIELD),
    },
    source="PTX ISA 9.7.1.19",
)


@BFE.meaning
def bfe(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = bits.bfe(a, b, c)
    # WRITE
    warps.write(i.d, d)


BFI = Form(
    name="bits.bfi",
    syntax="bfi.type  f, a, b, c, d;",
    rows="""
        type     ptx
        b32,b64  2.0
    """,
    operands={
        "f": out("type"),
        "a": arg("type"),
        "b": arg("type"),
        "c": inp("u32", values=_FIELD),
        "d": inp("u32", values=_FIELD),
    },
    source="PTX ISA 9.7.1.20",
)


@BFI.meaning
def bfi(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c, d = warps.read(i.a), warps.read(i.b), warps.read(i.c), warps.read(i.d)
    # COMPUTE
    f = bits.bfi(a, b, c, d)
    # WRITE
    warps.write(i.f, f)


SZEXT = Form(
    name="bits.szext",
    syntax="szext.mode.type  d, a, b;",
    rows="""
        mode        type     ptx  target
        clamp,wrap  u32,s32  7.6  sm_70
    """,
    operands={"d": out("type"), "a": arg("type"), "b": inp("u32")},
    source="PTX ISA 9.7.1.21",
)


@SZEXT.meaning
def szext(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    d = bits.szext(a, b, i.mode)
    # WRITE
    warps.write(i.d, d)


BMSK = Form(
    name="bits.bmsk",
    syntax="bmsk.mode.b32  d, a, b;",
    rows="""
        mode        ptx  target
        clamp,wrap  7.6  sm_70
    """,
    operands={"d": out("u32"), "a": inp("u32"), "b": inp("u32")},
    source="PTX ISA 9.7.1.22",
)


@BMSK.meaning
def bmsk(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    d = bits.bmsk(a, b, i.mode)
    # WRITE
    warps.write(i.d, d)


PRMT = Form(
    name="bits.prmt",
    syntax="prmt.b32{.mode}  d, a, b, c;",
    rows="""
        mode                        ptx
        -,f4e,b4e,rc8,ecl,ecr,rc16  2.0
    """,
    operands={"d": out("b32"), "a": arg("b32"), "b": arg("b32"), "c": arg("b32")},
    source="PTX ISA 9.7.9.7",
)


@PRMT.meaning
def prmt(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = bits.prmt(a, b, c, i.mode)
    # WRITE
    warps.write(i.d, d)
