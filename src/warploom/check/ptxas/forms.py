"""Forms that ptxas accepts and the manual does not have. The emulator does not execute them.

Source: answers of ptxas 12.9 to 13.5
"""

from __future__ import annotations

from warploom.check.ptxas.extension import ExtensionForm
from warploom.isa.instructions import mma, sparse
from warploom.isa.instructions.bulk import SIZES
from warploom.isa.instructions.matrix import ROWS
from warploom.isa.instructions.multimem import EIGHTS
from warploom.isa.instructions.sparse import METADATA
from warploom.isa.instructions.tensor import FOUR_ROWS, SOURCE
from warploom.isa.model.operands import OperandSpec, Slots, address, immediate, inp, out, pred_in, pred_out


def _eighth(slots: Slots) -> int:
    """Return the number of registers of an 8x8x4 fragment of A or B: eight elements for each quad."""
    return 4 if slots["atype"] == "tf32" else 2


def _loaded(count: int) -> OperandSpec:
    return out("b32", count)


def _depth(slots: Slots) -> int:
    return 8 if slots["shape"] == "m16n16k16" else 4


CARRY_ADD = ExtensionForm(
    reason="modifier",
    name="ptxas.modifier_carry_add",
    syntax="op{.sat}.type  d, a, b;",
    rows="""
        op         sat  type
        addc,subc  -    u16,s16
        addc,subc  sat  s32
    """,
    operands={"d": out("type"), "a": inp("type"), "b": inp("type")},
    source="PTX ISA 9.7.2.1",
)

CARRY_MAD = ExtensionForm(
    reason="modifier",
    name="ptxas.modifier_carry_mad",
    syntax="madc.mode{.sat}.type  d, a, b, c;",
    rows="""
        mode   sat  type
        hi,lo  -    u16,s16
        hi     sat  s32
    """,
    operands={"d": out("type"), "a": inp("type"), "b": inp("type"), "c": inp("type")},
    source="PTX ISA 9.7.2.5",
)

EIGHT_BY_EIGHT = ExtensionForm(
    reason="bf16-m8n8k4",
    name="ptxas.eight_by_eight",
    syntax="mma.sync.aligned.shape.alayout.blayout.dtype.atype.btype.ctype  d, a, b, c;",
    rows="""
        shape   alayout  blayout  dtype  atype  btype  ctype  ptx  target
        m8n8k4  row,col  row,col  f32    bf16   bf16   f32    7.0  sm_80
        m8n8k4  row,col  row,col  f32    tf32   tf32   f32    7.0  sm_80
    """,
    operands={"d": out("f32", 8), "a": inp("b32", _eighth), "b": inp("b32", _eighth), "c": inp("f32", 8)},
    source="PTX ISA 9.7.14.5.14",
)

WIDE_DOUBLE = ExtensionForm(
    reason="f64-wmma",
    name="ptxas.wide_double",
    syntax="wmma.mma.sync.aligned.alayout.blayout.shape{.rnd}.dtype.atype.btype.ctype  d, a, b, c;",
    rows="""
        alayout  blayout  shape                rnd            dtype  atype  btype  ctype  ptx  target
        row,col  row,col  m16n16k16,m16n16k8   -,rn,rz,rm,rp  f64    f64    f64    f64    7.0  sm_80
    """,
    operands={"d": out("f64", 8), "a": inp("f64", _depth), "b": inp("f64", _depth), "c": inp("f64", 8)},
    source="PTX ISA 9.7.14.4.5",
)

_DENSE = mma.HALF.operands
_SPARSE = {name: sparse.FLOAT.operands[name] for name in "abcd"}

KIND_DENSE = ExtensionForm(
    reason="kind",
    name="ptxas.kind_dense",
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
    source="PTX ISA 9.7.14.5.14",
)

KIND_SPARSE = ExtensionForm(
    reason="kind",
    name="ptxas.kind_sparse",
    syntax="mma.spvariant.sync.aligned.shape.row.col.kind.dtype.atype.btype.ctype  d, a, b, c, e, f;",
    rows="""
        spvariant             shape     kind                           dtype  atype      btype      ctype  ptx  target
        sp::ordered_metadata  m16n8k64  kind::f8f6f4,kind::mxf8f6f4    f32    e4m3,e5m2  e4m3,e5m2  f32    8.6  sm_100f,sm_110f,sm_120f
        sp::ordered_metadata  m16n8k64  kind::mxf4,kind::mxf4nvf4      f32    e4m3,e5m2  e4m3,e5m2  f32    8.6  sm_100a,sm_103a,sm_110a,sm_120a,sm_121a
        sp::ordered_metadata  m16n8k64  kind::f16,kind::tf32           f32    e4m3,e5m2  e4m3,e5m2  f32    8.6  sm_100f,sm_110f
        sp::ordered_metadata  m16n8k64  kind::i8                       f32    e4m3,e5m2  e4m3,e5m2  f32    8.6  sm_100a,sm_110a
        sp::ordered_metadata  m16n8k64  kind::mxf8f6f4                 f16    e4m3,e5m2  e4m3,e5m2  f16    8.7  sm_120f
        sp::ordered_metadata  m16n8k64  kind::mxf4,kind::mxf4nvf4      f16    e4m3,e5m2  e4m3,e5m2  f16    8.7  sm_120a,sm_121a
    """,  # noqa: E501
    operands=_SPARSE | {"e": METADATA, "f": immediate(values=(0,), bits=32)},
    source="PTX ISA 9.7.14.6.3",
)

FOUR_BITS = ExtensionForm(
    reason="bit-operation",
    name="ptxas.four_bits",
    syntax="mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype.bitOp{.popc}  d, a, b, c;",
    rows="""
        shape              dtype  atype  btype  ctype  bitOp       ptx  target
        m8n8k32            s32    u4,s4  u4,s4  s32    and,or,xor  6.5  sm_75
        m16n8k32,m16n8k64  s32    u4,s4  u4,s4  s32    and,or,xor  7.0  sm_80
    """,
    operands=_DENSE,
    source="PTX ISA 9.7.14.5.14",
)

WIDE_SUBBYTE_LOAD = ExtensionForm(
    reason="moved",
    name="ptxas.moved_f32",
    syntax="wmma.load.c.sync.aligned.layout.shape{.ss}.f32  r, [p]{, stride};",
    rows="""
        layout   shape             ss                           ptx  target
        row,col  m8n8k32,m8n8k128  -,global,shared,shared::cta  6.3  sm_75
    """,
    operands={"r": out("f32", 2), "p": address(), "stride": inp("u32")},
    source="PTX ISA 9.7.14.4.3",
)

WIDE_SUBBYTE_STORE = ExtensionForm(
    reason="moved",
    name="ptxas.moved_f32_back",
    syntax="wmma.store.d.sync.aligned.layout.shape{.ss}.f32  [p], r{, stride};",
    rows="""
        layout   shape             ss                           ptx  target
        row,col  m8n8k32,m8n8k128  -,global,shared,shared::cta  6.3  sm_75
    """,
    operands={"p": address(), "r": inp("f32", 2), "stride": inp("u32")},
    source="PTX ISA 9.7.14.4.4",
)

LOAD_UNTYPED = ExtensionForm(
    reason="moved",
    name="ptxas.moved_untyped",
    syntax="wmma.load.matrix.sync{.aligned}.layout.shape{.ss}  r, [p]{, stride};",
    rows="""
        matrix  aligned  layout   shape                        ss                           ptx  target  gone
        a,b     -        row,col  m16n16k16                    -,global,shared              6.0  sm_70   6.3@sm_70
        a,b     -        row,col  m8n32k16,m32n8k16            -,global,shared              6.1  sm_70   6.3@sm_70
        a,b     aligned  row,col  m16n16k16,m8n32k16,m32n8k16  -,global,shared,shared::cta  6.3  sm_70   1.0@sm_75
    """,
    operands={"r": out("f16x2", 8), "p": address(), "stride": inp("u32")},
    source="PTX ISA 9.7.14.4.3",
)

MANY_LOADED = tuple(
    ExtensionForm(
        reason="x8",
        name=f"ptxas.many_loaded_{count}",
        syntax="ldmatrix.sync.aligned.shape.num{.trans}{.ss}.type  r, [p];",
        rows="""
            shape   num                  trans    ss                    type  ptx  target
            m8n8    x8,x16,x32,x64,x128  -,trans  -,shared,shared::cta  b16   6.5  sm_75
            m16n16  x8,x16,x32,x64,x128  trans    -,shared,shared::cta  b8    8.6  sm_100a,sm_100f,sm_110a,sm_110f,sm_120a,sm_120f
        """,  # noqa: E501
        operands={"r": _loaded(count), "p": ROWS},
        source="PTX ISA 9.7.14.5.15",
    )
    for count in (1, 2, 4)
)

MANY_WIDENED = tuple(
    ExtensionForm(
        reason="x8",
        name=f"ptxas.many_widened_{count}",
        syntax="ldmatrix.sync.aligned.shape.num{.trans}{.ss}.dst_fmt.src_fmt  r, [p];",
        rows="""
            shape   num                  trans  ss                    dst_fmt  src_fmt              ptx  target
            m8n16   x8,x16,x32,x64,x128  -      -,shared,shared::cta  b8x16    b6x16_p32,b4x16_p64  8.6  sm_100a,sm_100f,sm_110a,sm_110f,sm_120a,sm_120f
            m16n16  x8,x16,x32,x64,x128  trans  -,shared,shared::cta  b8x16    b6x16_p32,b4x16_p64  8.6  sm_100a,sm_100f,sm_110a,sm_110f,sm_120a,sm_120f
        """,  # noqa: E501
        operands={"r": _loaded(count), "p": ROWS},
        source="PTX ISA 9.7.14.5.15",
    )
    for count in (1, 2, 4)
)

MANY_STORED = tuple(
    ExtensionForm(
        reason="x8",
        name=f"ptxas.many_stored_{count}",
        syntax="stmatrix.sync.aligned.shape.num{.trans}{.ss}.type  [p], r;",
        rows="""
            shape  num                  trans    ss                    type  ptx  target
            m8n8   x8,x16,x32,x64,x128  -,trans  -,shared,shared::cta  b16   7.8  sm_90
            m16n8  x8,x16,x32,x64,x128  trans    -,shared,shared::cta  b8    8.6  sm_100a,sm_100f,sm_110a,sm_110f,sm_120a,sm_120f
        """,  # noqa: E501
        operands={"p": ROWS, "r": inp("b32", count)},
        source="PTX ISA 9.7.14.5.16",
    )
    for count in (1, 2, 4)
)

WITHOUT_PROPERTY = ExtensionForm(
    reason="without",
    name="ptxas.without_property",
    syntax="testp.type  p, a;",
    rows="type ptx\nf32,f64 2.0",
    operands={"p": pred_out(sink=False), "a": inp("type")},
    source="PTX ISA 9.7.3.1",
)

WITHOUT_PAIR = ExtensionForm(
    reason="without",
    name="ptxas.without_pair",
    syntax="setp.CmpOp{.BoolOp}{.ftz}.type  p, a, b{, {!}c};",
    rows="""
        CmpOp                                              BoolOp        ftz    type    ptx  target
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -,ftz  f16x2   4.2  sm_53
        eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -      bf16x2  7.8  sm_90
    """,
    operands={"p": pred_out(), "a": inp("type"), "b": inp("type"), "c": pred_in(when="BoolOp")},
    source="PTX ISA 9.7.7.2",
)

ROW_FMA = ExtensionForm(
    reason="row",
    name="ptxas.row_fma",
    syntax="fma.rnd{.sat}{.oob}{.relu}.type  d, a, b, c;",
    rows="""
        rnd       sat  oob  relu    type         ptx  target
        rz,rm,rp  -    -    -,relu  bf16,bf16x2  7.0  sm_80
        rz,rm,rp  -    oob  -,relu  bf16,bf16x2  8.1  sm_90
        rn        sat  oob  -       f16,f16x2    8.1  sm_90
    """,
    operands={"d": out("type"), "a": inp("type"), "b": inp("type"), "c": inp("type")},
    source="PTX ISA 9.7.4.4",
)

WITH_FLUSH = ExtensionForm(
    reason="with",
    name="ptxas.with_flush",
    syntax="rcp.rnd.ftz.f64  d, a;",
    rows="rnd ptx\nrn,rz,rm,rp 2.0",
    operands={"d": out("f64"), "a": inp("f64")},
    source="PTX ISA 9.7.3.13",
)


WITH_SCALE = ExtensionForm(
    reason="with",
    name="ptxas.with_scale",
    syntax="cvt.rnd{.satfinite}{.relu}.dtype.atype  d, a, scale;",
    rows="""
        rnd    satfinite    relu    dtype                        atype    ptx  target
        rz,rp  -,satfinite  -       ue8m0x2                      bf16x2   8.6  sm_100f,sm_110f,sm_120f
        rn     -            -       bf16x2                       ue8m0x2  8.6  sm_100f,sm_110f,sm_120f
        rn     satfinite    -,relu  e4m3x2,e5m2x2,e2m3x2,e3m2x2  bf16x2   9.1  sm_100f,sm_110f,sm_120f
    """,
    operands={"d": out("dtype"), "a": inp("atype"), "scale": inp("u16")},
    source="PTX ISA 9.7.9.21",
)

FENCE_RESTRICTED = ExtensionForm(
    reason="modifier",
    name="ptxas.modifier_fence",
    syntax="fence.mbarrier_init.release.sync_restrict.cluster;",
    rows="""
        sync_restrict                                              ptx target
        sync_restrict::shared::cta,sync_restrict::shared::cluster  8.6 sm_90
    """,
    operands={},
    source="PTX ISA 9.7.13.4",
)

FENCE_PROXY = ExtensionForm(
    reason="modifier",
    name="ptxas.modifier_fence_proxy",
    syntax="fence.proxy.proxykind{.space}.sync_restrict;",
    rows="""
        proxykind  space                                 sync_restrict           ptx target
        alias      -                                     {restrict}              8.6 sm_90
        async      -,global,shared::cta,shared::cluster  {restrict}              8.6 sm_90
    """.replace("{restrict}", "sync_restrict::shared::cta,sync_restrict::shared::cluster"),
    operands={},
    source="PTX ISA 9.7.13.4",
)

FENCE_PROXY_RELEASE = ExtensionForm(
    reason="modifier",
    name="ptxas.modifier_fence_proxy_release",
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
    source="PTX ISA 9.7.13.4",
)

FENCE_EARLY = ExtensionForm(
    reason="modifier",
    name="ptxas.modifier_fence_early",
    syntax="fence.sem.scope;",
    rows="""
        sem              scope        ptx target gone
        acquire,release  cta,gpu,sys  6.0 sm_70  6.0@sm_75
    """,
    operands={},
    source="PTX ISA 9.7.13.4",
)

SETMAXNREG_SIGNED = ExtensionForm(
    reason="modifier",
    name="ptxas.modifier_setmaxnreg",
    syntax="setmaxnreg.action.sync.aligned.s32  imm-reg-count;",
    rows="""
        action   ptx target
        inc,dec  8.0 sm_90a,sm_100f,sm_103f,sm_110f,sm_120f
    """,
    operands={"imm_reg_count": immediate("s32", range(24, 257, 8))},
    source="PTX ISA 9.7.19.5",
)

FREE_MULTIPLE = ExtensionForm(
    reason="free",
    name="ptxas.free_multiple",
    syntax="tcgen05.dealloc.cta_group.sync.aligned.b32  taddr, nCols;",
    rows="cta_group ptx target\ncta_group::1,cta_group::2 8.6 sm_100f,sm_110f",
    operands={"taddr": inp("u32"), "nCols": inp("u32", values=range(-(1 << 63), 1 << 63, 32))},
    source="PTX ISA 9.7.16.7.1",
)

# Copies that take the operands of other copies: a mask, or a number, where the barrier's address belongs.

_COPIED = {"dstMem": address(space="shared"), "srcMem": address(), "size": inp("u32", values=SIZES, bits=32)}

COPY_MASKED = ExtensionForm(
    reason="copy",
    name="ptxas.copy_masked",
    syntax=(
        "cp.async.bulk.dst.src.mbarrier::complete_tx::bytes{.level::cache_hint}"
        "  [dstMem], [srcMem], size{, cache-policy}, byteMask;"
    ),
    rows="""
        dst              src          level::cache_hint  ptx target
        shared::cta      global       -,L2::cache_hint   8.6 sm_90
        shared::cluster  global       -,L2::cache_hint   8.0 sm_90
        shared::cluster  shared::cta  -                  8.0 sm_90
    """,
    operands=_COPIED | {"cache_policy": inp("u64", when="level::cache_hint"), "byteMask": inp("u16")},
    source="PTX ISA 9.7.9.25.5.2",
)

COPY_NUMBERED = ExtensionForm(
    reason="copy",
    name="ptxas.copy_numbered",
    syntax="cp.async.bulk.dst.src.mbarrier::complete_tx::bytes  [dstMem], [srcMem], size, mbar;",
    rows="""
        dst              src                 ptx target
        shared::cta      global              8.6 sm_90
        shared::cluster  global,shared::cta  8.0 sm_90
    """,
    operands=_COPIED | {"mbar": inp("u64")},
    source="PTX ISA 9.7.9.25.5.2",
)

COPY_REDUCING = ExtensionForm(
    reason="copy",
    name="ptxas.copy_reducing",
    syntax=("cp.reduce.async.bulk.dst.src.mbarrier::complete_tx::bytes.redOp.type  [dstMem], [srcMem], size, mbar;"),
    rows="""
        dst              src          redOp       type         ptx target
        shared::cluster  shared::cta  and,or,xor  b32          8.0 sm_90
        shared::cluster  shared::cta  add         u32,s32,u64  8.0 sm_90
        shared::cluster  shared::cta  inc,dec     u32          8.0 sm_90
        shared::cluster  shared::cta  min,max     u32,s32      8.0 sm_90
    """,
    operands=_COPIED | {"mbar": inp("u64")},
    source="PTX ISA 9.7.9.25.5.3",
)

# Combinations of words that a Form of the manual lacks.

ROW_SCATTER = ExtensionForm(
    reason="row",
    name="ptxas.row_scatter",
    syntax=(
        "cp.reduce.async.bulk.tensor.dim.global.src.redOp.tile::scatter4.bulk_group{.level::cache_hint}"
        "  [tensorMap, tensorCoords], [srcMem]{, cache-policy};"
    ),
    rows="""
        dim  src          redOp                           level::cache_hint  ptx target
        2d   shared::cta  add,min,max,inc,dec,and,or,xor  -,L2::cache_hint   8.6 sm_100f,sm_110f
    """,
    operands=SOURCE | {"tensorMap": FOUR_ROWS},
    source="PTX ISA 9.7.9.27.1.3",
)

ROW_FIFTH_STRIDE = ExtensionForm(
    reason="row",
    name="ptxas.row_fifth_stride",
    syntax="tensormap.replace.tile.global_stride{.ss}.b1024.type  [addr], ord, new-val;",
    rows="""
        ss                    type  ptx target
        -,global,shared::cta  b64   8.3 sm_90a,sm_100f,sm_103f,sm_110f,sm_120f
    """,
    operands={"addr": address(), "ord": immediate(values=(4,)), "new_val": inp("type")},
    source="PTX ISA 9.7.9.26.1",
)

ROW_MULTIMEM = ExtensionForm(
    reason="row",
    name="ptxas.row_multimem",
    syntax="multimem.red{.sem}{.scope}{.ss}.op.vec.type  [a], b;",
    rows="""
        sem              scope                ss        op       vec       type          ptx target
        -                -                    -,global  min,max  v2,v4,v8  f16,bf16      8.1 sm_90
        -                -                    -,global  min,max  v2,v4     f16x2,bf16x2  8.1 sm_90
        relaxed,release  cta,cluster,gpu,sys  -,global  min,max  v2,v4,v8  f16,bf16      8.1 sm_90
        relaxed,release  cta,cluster,gpu,sys  -,global  min,max  v2,v4     f16x2,bf16x2  8.1 sm_90
    """,
    operands={"a": address(), "b": inp("type", "vec", allows=("integers",))},
    source="PTX ISA 9.7.9.14",
)

ROW_PREDICATE = ExtensionForm(
    reason="row",
    name="ptxas.row_predicate",
    syntax="multimem.ld_reduce{.sem}{.scope}{.ss}.op{.acc}{.vec}.type  d, [a];",
    rows="sem scope ss op acc vec type ptx target"
    + "".join(
        f"""
        {sem}  {scope}  -,global  min,max,add  -         -,v2,v4  e4m3x4,e5m2x4  8.6 {EIGHTS}
        {sem}  {scope}  -,global  add          acc::f16  -,v2,v4  e4m3x4,e5m2x4  8.6 {EIGHTS}
        """
        for sem, scope in (("-,weak", "-"), ("relaxed,acquire", "cta,cluster,gpu,sys"))
    ),
    operands={"d": out("pred", "vec"), "a": address()},
    source="PTX ISA 9.7.9.14",
)

ROW_RESPONSES = ExtensionForm(
    reason="row",
    name="ptxas.row_responses",
    syntax="clusterlaunchcontrol.query_cancel.query.vec.b32.type  d, response;",
    rows="""
        query            vec  type  ptx target
        get_first_ctaid  v4   b128  8.6 sm_100
    """,
    operands={"d": out("b32", "vec"), "response": inp("type", "vec")},
    source="PTX ISA 9.7.13.18.2",
)
