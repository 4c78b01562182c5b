"""Forms that the manual does not have and assemblers take. Nothing executes them.

Source: ptxas 12.9 to 13.5, asked
"""

from __future__ import annotations

from warploom.isa.kit import Form
from warploom.isa.operands import Slots, address, inp, out


def _eighth(slots: Slots) -> int:
    """Registers of an 8x8x4 fragment of A or B: eight elements of a quad, in fours or in pairs."""
    return 4 if slots["atype"] == "tf32" else 2


def _depth(slots: Slots) -> int:
    return 8 if slots["shape"] == "m16n16k16" else 4


EIGHT_BY_EIGHT = Form(
    name="lenient.eight_by_eight",
    syntax="mma.sync.aligned.shape.alayout.blayout.dtype.atype.btype.ctype  d, a, b, c;",
    rows="""
        shape   alayout  blayout  dtype  atype  btype  ctype  ptx  target
        m8n8k4  row,col  row,col  f32    bf16   bf16   f32    7.0  sm_80
        m8n8k4  row,col  row,col  f32    tf32   tf32   f32    7.0  sm_80
    """,
    operands={"d": out("f32", 8), "a": inp("b32", _eighth), "b": inp("b32", _eighth), "c": inp("f32", 8)},
    lenient=True,
    source="PTX ISA 9.7.14.5.14",
)

WIDE_DOUBLE = Form(
    name="lenient.wide_double",
    syntax="wmma.mma.sync.aligned.alayout.blayout.shape{.rnd}.dtype.atype.btype.ctype  d, a, b, c;",
    rows="""
        alayout  blayout  shape                rnd            dtype  atype  btype  ctype  ptx  target
        row,col  row,col  m16n16k16,m16n16k8   -,rn,rz,rm,rp  f64    f64    f64    f64    7.0  sm_80
    """,
    operands={"d": out("f64", 8), "a": inp("f64", _depth), "b": inp("f64", _depth), "c": inp("f64", 8)},
    lenient=True,
    source="PTX ISA 9.7.14.4.5",
)


LOAD_EIGHT = tuple(
    Form(
        name=f"lenient.load_eight_{count}",
        syntax="ldmatrix.sync.aligned.shape.x8{.trans}{.ss}.b16  r, [p];",
        rows="""
            shape  trans    ss                    ptx  target
            m8n8   -,trans  -,shared,shared::cta  6.5  sm_75
        """,
        operands={"r": out("b32", count), "p": address()},
        lenient=True,
        source="PTX ISA 9.7.14.5.15",
    )
    for count in (1, 2, 4)
)

STORE_EIGHT = tuple(
    Form(
        name=f"lenient.store_eight_{count}",
        syntax="stmatrix.sync.aligned.shape.x8{.trans}{.ss}.b16  [p], r;",
        rows="""
            shape  trans    ss                    ptx  target
            m8n8   -,trans  -,shared,shared::cta  7.8  sm_90
        """,
        operands={"p": address(), "r": inp("b32", count)},
        lenient=True,
        source="PTX ISA 9.7.14.5.16",
    )
    for count in (1, 2, 4)
)

FREE_MULTIPLE = Form(
    name="lenient.free_multiple",
    syntax="tcgen05.dealloc.cta_group.sync.aligned.b32  taddr, nCols;",
    rows="cta_group ptx target\ncta_group::1,cta_group::2 8.6 sm_100f,sm_110f",
    operands={"taddr": inp("u32"), "nCols": inp("u32", values=range(-(1 << 63), 1 << 63, 32))},
    lenient=True,
    source="PTX ISA 9.7.16.7.1",
)
