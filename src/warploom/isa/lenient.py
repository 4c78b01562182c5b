"""Forms that the manual does not have and assemblers take. Nothing executes them.

Source: ptxas 12.9 to 13.5, asked
"""

from __future__ import annotations

from warploom.isa.fragments import fragment
from warploom.isa.kit import Form
from warploom.isa.sparse import METADATA
from warploom.isa.operands import Slots, address, immediate, inp, out


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

_DENSE = {operand.lower(): fragment(operand, "mma") for operand in "ABCD"}
_SPARSE = {operand.lower(): fragment(operand, "mma", sparse=True) for operand in "ABCD"}

KIND_DENSE = Form(
    name="lenient.kind_dense",
    syntax="mma.sync.aligned.shape.row.col.kind.dtype.atype.btype.ctype  d, a, b, c;",
    rows="""
        shape     kind                                                         dtype  atype      btype      ctype  ptx  target
        m16n8k32  kind::f8f6f4,kind::mxf8f6f4,kind::mxf4,kind::mxf4nvf4        f32    e4m3,e5m2  e4m3,e5m2  f32    8.6  sm_100f,sm_110f,sm_120f
        m16n8k32  kind::f16,kind::tf32                                         f32    e4m3,e5m2  e4m3,e5m2  f32    8.6  sm_100f,sm_110f
        m16n8k32  kind::i8                                                     f32    e4m3,e5m2  e4m3,e5m2  f32    8.6  sm_100a,sm_110a
        m16n8k32  kind::f8f6f4,kind::mxf8f6f4,kind::mxf4,kind::mxf4nvf4        f16    e4m3,e5m2  e4m3,e5m2  f16    8.7  sm_100f,sm_110f,sm_120f
        m16n8k32  kind::f16,kind::tf32                                         f16    e4m3,e5m2  e4m3,e5m2  f16    8.7  sm_100f,sm_110f
        m16n8k32  kind::i8                                                     f16    e4m3,e5m2  e4m3,e5m2  f16    8.7  sm_100a,sm_110a
        m16n8k16  kind::f8f6f4,kind::mxf8f6f4,kind::mxf4,kind::mxf4nvf4        f32    e4m3,e5m2  e4m3,e5m2  f32    8.7  sm_100f,sm_110f,sm_120f
        m16n8k16  kind::f16,kind::tf32                                         f32    e4m3,e5m2  e4m3,e5m2  f32    8.7  sm_100f,sm_110f
        m16n8k16  kind::i8                                                     f32    e4m3,e5m2  e4m3,e5m2  f32    8.7  sm_100a,sm_110a
        m16n8k16  kind::f8f6f4,kind::mxf8f6f4,kind::mxf4,kind::mxf4nvf4        f16    e4m3,e5m2  e4m3,e5m2  f16    8.7  sm_100f,sm_110f,sm_120f
        m16n8k16  kind::f16,kind::tf32                                         f16    e4m3,e5m2  e4m3,e5m2  f16    8.7  sm_100f,sm_110f
        m16n8k16  kind::i8                                                     f16    e4m3,e5m2  e4m3,e5m2  f16    8.7  sm_100a,sm_110a
    """,  # noqa: E501
    operands=_DENSE,
    lenient=True,
    source="PTX ISA 9.7.14.5.14",
)

KIND_SPARSE = Form(
    name="lenient.kind_sparse",
    syntax="mma.sp::ordered_metadata.sync.aligned.shape.row.col.kind.dtype.atype.btype.ctype  d, a, b, c, e, f;",
    rows="""
        shape     kind                           dtype  atype      btype      ctype  ptx  target
        m16n8k64  kind::f8f6f4,kind::mxf8f6f4    f32    e4m3,e5m2  e4m3,e5m2  f32    8.6  sm_100f,sm_110f,sm_120f
        m16n8k64  kind::mxf4,kind::mxf4nvf4      f32    e4m3,e5m2  e4m3,e5m2  f32    8.6  sm_100a,sm_103a,sm_110a,sm_120a,sm_121a
        m16n8k64  kind::f16,kind::tf32           f32    e4m3,e5m2  e4m3,e5m2  f32    8.6  sm_100f,sm_110f
        m16n8k64  kind::i8                       f32    e4m3,e5m2  e4m3,e5m2  f32    8.6  sm_100a,sm_110a
        m16n8k64  kind::mxf8f6f4                 f16    e4m3,e5m2  e4m3,e5m2  f16    8.7  sm_120f
        m16n8k64  kind::mxf4,kind::mxf4nvf4      f16    e4m3,e5m2  e4m3,e5m2  f16    8.7  sm_120a,sm_121a
    """,  # noqa: E501
    operands=_SPARSE | {"e": METADATA, "f": immediate(values=(0,), bits=32)},
    lenient=True,
    source="PTX ISA 9.7.14.6.3",
)

FOUR_BITS = Form(
    name="lenient.four_bits",
    syntax="mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype.bitOp{.popc}  d, a, b, c;",
    rows="""
        shape              dtype  atype  btype  ctype  bitOp       ptx  target
        m8n8k32            s32    u4,s4  u4,s4  s32    and,or,xor  6.5  sm_75
        m16n8k32,m16n8k64  s32    u4,s4  u4,s4  s32    and,or,xor  7.0  sm_80
    """,
    operands=_DENSE,
    lenient=True,
    source="PTX ISA 9.7.14.5.14",
)

WIDE_SUBBYTE_LOAD = Form(
    name="lenient.subbyte_load",
    syntax="wmma.load.c.sync.aligned.layout.shape{.ss}.f32  r, [p]{, stride};",
    rows="""
        layout   shape             ss                           ptx  target
        row,col  m8n8k32,m8n8k128  -,global,shared,shared::cta  6.3  sm_75
    """,
    operands={"r": out("f32", 2), "p": address(), "stride": inp("u32")},
    lenient=True,
    source="PTX ISA 9.7.14.4.3",
)

WIDE_SUBBYTE_STORE = Form(
    name="lenient.subbyte_store",
    syntax="wmma.store.d.sync.aligned.layout.shape{.ss}.f32  [p], r{, stride};",
    rows="""
        layout   shape             ss                           ptx  target
        row,col  m8n8k32,m8n8k128  -,global,shared,shared::cta  6.3  sm_75
    """,
    operands={"p": address(), "r": inp("f32", 2), "stride": inp("u32")},
    lenient=True,
    source="PTX ISA 9.7.14.4.4",
)

LOAD_UNTYPED = Form(
    name="lenient.load_untyped",
    syntax="wmma.load.matrix.sync{.aligned}.layout.shape{.ss}  r, [p]{, stride};",
    rows="""
        matrix  aligned  layout   shape                        ss                           ptx  target  gone
        a,b     -        row,col  m16n16k16                    -,global,shared              6.0  sm_70   6.3@sm_70
        a,b     -        row,col  m8n32k16,m32n8k16            -,global,shared              6.1  sm_70   6.3@sm_70
        a,b     aligned  row,col  m16n16k16,m8n32k16,m32n8k16  -,global,shared,shared::cta  6.3  sm_70   1.0@sm_75
    """,
    operands={"r": out("f16x2", 8), "p": address(), "stride": inp("u32")},
    lenient=True,
    source="PTX ISA 9.7.14.4.3",
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


FENCE_RESTRICTED = Form(
    name="lenient.modifier_fence",
    syntax="fence.mbarrier_init.release.sync_restrict.cluster;",
    rows="""
        sync_restrict                                              ptx target
        sync_restrict::shared::cta,sync_restrict::shared::cluster  8.6 sm_90
    """,
    operands={},
    lenient=True,
    source="PTX ISA 9.7.13.4",
)

FENCE_PROXY = Form(
    name="lenient.modifier_fence_proxy",
    syntax="fence.proxy.proxykind{.space}.sync_restrict;",
    rows="""
        proxykind  space                                 sync_restrict           ptx target
        alias      -                                     {restrict}              8.6 sm_90
        async      -,global,shared::cta,shared::cluster  {restrict}              8.6 sm_90
    """.replace("{restrict}", "sync_restrict::shared::cta,sync_restrict::shared::cluster"),
    operands={},
    lenient=True,
    source="PTX ISA 9.7.13.4",
)

FENCE_PROXY_RELEASE = Form(
    name="lenient.modifier_fence_proxy_release",
    syntax="fence.proxy.to_proxykind::from_proxykind.sem{.space}{.sync_restrict}.scope;",
    rows="""
        to_proxykind::from_proxykind  sem      space      sync_restrict  scope                ptx target
        tensormap::generic            release  {space}    -              cta,cluster,gpu,sys  8.3 sm_90
        tensormap::generic            release  -,{space}  {cta}          cta,cluster,gpu,sys  8.6 sm_90
        tensormap::generic            release  -,{space}  {cluster}      cta,cluster,gpu,sys  8.6 sm_90
        async::generic                release  {space}    {cta}          cluster              8.6 sm_90
        async::generic                acquire  {space}    {cluster}      cluster              8.6 sm_90
    """.replace("{cluster}", "sync_restrict::shared::cluster")
    .replace("{cta}", "sync_restrict::shared::cta")
    .replace("{space}", "global,shared,shared::cta,shared::cluster"),
    operands={},
    lenient=True,
    source="PTX ISA 9.7.13.4",
)

FENCE_EARLY = Form(
    name="lenient.modifier_fence_early",
    syntax="fence.sem.scope;",
    rows="""
        sem              scope        ptx target gone
        acquire,release  cta,gpu,sys  6.0 sm_70  6.0@sm_75
    """,
    operands={},
    lenient=True,
    source="PTX ISA 9.7.13.4",
)

SETMAXNREG_SIGNED = Form(
    name="lenient.modifier_setmaxnreg",
    syntax="setmaxnreg.action.sync.aligned.s32  imm-reg-count;",
    rows="""
        action   ptx target
        inc,dec  8.0 sm_90a,sm_100f,sm_103f,sm_110f,sm_120f
    """,
    operands={"imm_reg_count": immediate("s32", range(24, 257, 8))},
    lenient=True,
    source="PTX ISA 9.7.19.5",
)

FREE_MULTIPLE = Form(
    name="lenient.free_multiple",
    syntax="tcgen05.dealloc.cta_group.sync.aligned.b32  taddr, nCols;",
    rows="cta_group ptx target\ncta_group::1,cta_group::2 8.6 sm_100f,sm_110f",
    operands={"taddr": inp("u32"), "nCols": inp("u32", values=range(-(1 << 63), 1 << 63, 32))},
    lenient=True,
    source="PTX ISA 9.7.16.7.1",
)
