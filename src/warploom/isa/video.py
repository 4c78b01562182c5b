"""SIMD video instructions on the four bytes of a register (PTX ISA 9.7.18)."""

from __future__ import annotations

from warploom.isa.kit import Form
from warploom.isa.operands import inp, out
from warploom.isa.protocol import Bound, Warps
from warploom.num import integers

QUAD = Form(
    name="video.quad",
    syntax="vop4.dtype.atype.btype{.second}  d, a, b, c;",
    rows="""
        vop4                               dtype    atype    btype    second     ptx  target
        vadd4,vsub4,vabsdiff4,vmin4,vmax4  u32,s32  u32,s32  u32,s32  -,sat,add  3.0  sm_30
    """,
    operands={"d": out("dtype"), "a": inp("atype"), "b": inp("btype"), "c": inp("u32")},
    source="PTX ISA 9.7.18.2",
)


@QUAD.meaning
def quad(warps: Warps, i: Bound) -> None:
    # READ
    a, b, c = warps.read(i.a), warps.read(i.b), warps.read(i.c)
    # COMPUTE
    d = integers.quarters(i.vop4[1:-1], a, b, i.dtype == "s32", i.second == "sat")
    if i.second == "add":
        d = integers.sum_quarters(d, i.dtype == "s32") + c
    # WRITE
    warps.write(i.d, d)
