"""Forms that ptxas accepts and the manual does not have. The emulator does not execute them.

Source: answers of ptxas 12.9 to 13.5
"""

from warploom.check.ptxas.tolerated import ExtensionForm
from warploom.isa.instructions import mma, sparse
from warploom.isa.instructions.bulk import SIZES
from warploom.isa.instructions.matrix import ROWS
from warploom.isa.instructions.multimem import EIGHTS
from warploom.isa.instructions.sparse import METADATA
from warploom.isa.instructions.tensor import FOUR_ROWS, SOURCE
from warploom.isa.model.operands import Slots, address, immediate, inp, out, pred_in, pred_out


def _eighth(slots: Slots) -> int:
    """Return the number of registers for a lane's elements of operand A or B with shape 8x8x4."""
    return 4 if slots["atype"] == "tf32" else 2


def _depth(slots: Slots) -> int:
    return 8 if slots["shape"] == "m16n16k16" else 4


CARRY_ADD = ExtensionForm("modifier", "modifier_carry_add", "9.7.2.1", "op{.sat}.type  d, a, b;", """
    op         sat  type
    addc,subc  -    u16,s16
    addc,subc  sat  s32
""", {"d": out("type"), "a": inp("type"), "b": inp("type")})  # fmt: skip

CARRY_MAD = ExtensionForm("modifier", "modifier_carry_mad", "9.7.2.5", "madc.mode{.sat}.type  d, a, b, c;", """
    mode   sat  type
    hi,lo  -    u16,s16
    hi     sat  s32
""", {"d": out("type"), "a": inp("type"), "b": inp("type"), "c": inp("type")})  # fmt: skip

EIGHT_BY_EIGHT = ExtensionForm("bf16-m8n8k4", "eight_by_eight", "9.7.14.5.14",
    "mma.sync.aligned.shape.alayout.blayout.dtype.atype.btype.ctype  d, a, b, c;", """
    shape   alayout  blayout  dtype  atype  btype  ctype  ptx  target
    m8n8k4  row,col  row,col  f32    bf16   bf16   f32    7.0  sm_80
    m8n8k4  row,col  row,col  f32    tf32   tf32   f32    7.0  sm_80
""", {"d": out("f32", 8), "a": inp("b32", _eighth), "b": inp("b32", _eighth), "c": inp("f32", 8)})  # fmt: skip

WIDE_DOUBLE = ExtensionForm("f64-wmma", "wide_double", "9.7.14.4.5",
    "wmma.mma.sync.aligned.alayout.blayout.shape{.rnd}.dtype.atype.btype.ctype  d, a, b, c;", """
    alayout  blayout  shape                rnd            dtype  atype  btype  ctype  ptx  target
    row,col  row,col  m16n16k16,m16n16k8   -,rn,rz,rm,rp  f64    f64    f64    f64    7.0  sm_80
""", {"d": out("f64", 8), "a": inp("f64", _depth), "b": inp("f64", _depth), "c": inp("f64", 8)})  # fmt: skip

_DENSE = mma.HALF.operands
_SPARSE = {name: sparse.FLOAT.operands[name] for name in "abcd"}

KIND_DENSE = ExtensionForm("kind", "kind_dense", "9.7.14.5.14",
    "mma.sync.aligned.shape.row.col.kind.dtype.atype.btype.ctype  d, a, b, c;", """
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
""", _DENSE)  # noqa: E501  # fmt: skip

KIND_SPARSE = ExtensionForm("kind", "kind_sparse", "9.7.14.6.3",
    "mma.spvariant.sync.aligned.shape.row.col.kind.dtype.atype.btype.ctype  d, a, b, c, e, f;", """
    spvariant             shape     kind                           dtype  atype      btype      ctype  ptx  target
    sp::ordered_metadata  m16n8k64  kind::f8f6f4,kind::mxf8f6f4    f32    e4m3,e5m2  e4m3,e5m2  f32    8.6  sm_100f,sm_110f,sm_120f
    sp::ordered_metadata  m16n8k64  kind::mxf4,kind::mxf4nvf4      f32    e4m3,e5m2  e4m3,e5m2  f32    8.6  sm_100a,sm_103a,sm_110a,sm_120a,sm_121a
    sp::ordered_metadata  m16n8k64  kind::f16,kind::tf32           f32    e4m3,e5m2  e4m3,e5m2  f32    8.6  sm_100f,sm_110f
    sp::ordered_metadata  m16n8k64  kind::i8                       f32    e4m3,e5m2  e4m3,e5m2  f32    8.6  sm_100a,sm_110a
    sp::ordered_metadata  m16n8k64  kind::mxf8f6f4                 f16    e4m3,e5m2  e4m3,e5m2  f16    8.7  sm_120f
    sp::ordered_metadata  m16n8k64  kind::mxf4,kind::mxf4nvf4      f16    e4m3,e5m2  e4m3,e5m2  f16    8.7  sm_120a,sm_121a
""", _SPARSE | {"e": METADATA, "f": immediate(values=(0,), bits=32)})  # noqa: E501  # fmt: skip

FOUR_BITS = ExtensionForm("bit-operation", "four_bits", "9.7.14.5.14",
    "mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype.bitOp{.popc}  d, a, b, c;", """
    shape              dtype  atype  btype  ctype  bitOp       ptx  target
    m8n8k32            s32    u4,s4  u4,s4  s32    and,or,xor  6.5  sm_75
    m16n8k32,m16n8k64  s32    u4,s4  u4,s4  s32    and,or,xor  7.0  sm_80
""", _DENSE)  # fmt: skip

WIDE_SUBBYTE_LOAD = ExtensionForm("moved", "moved_f32", "9.7.14.4.3",
    "wmma.load.c.sync.aligned.layout.shape{.ss}.f32  r, [p]{, stride};", """
    layout   shape             ss                           ptx  target
    row,col  m8n8k32,m8n8k128  -,global,shared,shared::cta  6.3  sm_75
""", {"r": out("f32", 2), "p": address(), "stride": inp("u32")})  # fmt: skip

WIDE_SUBBYTE_STORE = ExtensionForm("moved", "moved_f32_back", "9.7.14.4.4",
    "wmma.store.d.sync.aligned.layout.shape{.ss}.f32  [p], r{, stride};", """
    layout   shape             ss                           ptx  target
    row,col  m8n8k32,m8n8k128  -,global,shared,shared::cta  6.3  sm_75
""", {"p": address(), "r": inp("f32", 2), "stride": inp("u32")})  # fmt: skip

LOAD_UNTYPED = ExtensionForm("moved", "moved_untyped", "9.7.14.4.3",
    "wmma.load.matrix.sync{.aligned}.layout.shape{.ss}  r, [p]{, stride};", """
    matrix  aligned  layout   shape                        ss                           ptx  target  gone
    a,b     -        row,col  m16n16k16                    -,global,shared              6.0  sm_70   6.3@sm_70
    a,b     -        row,col  m8n32k16,m32n8k16            -,global,shared              6.1  sm_70   6.3@sm_70
    a,b     aligned  row,col  m16n16k16,m8n32k16,m32n8k16  -,global,shared,shared::cta  6.3  sm_70   1.0@sm_75
""", {"r": out("f16x2", 8), "p": address(), "stride": inp("u32")})  # fmt: skip

LOAD_UNSIGNED = ExtensionForm("row", "load_unsigned", "9.7.14.4.3",
    "wmma.load.c.sync.aligned.layout.shape{.ss}.u32  r, [p]{, stride};", """
    layout   shape                        ss                           ptx  target  gone
    row,col  m16n16k16,m8n32k16,m32n8k16  -,global,shared,shared::cta  6.3  sm_72   1.0@sm_75
""", {"r": out("u32", 8), "p": address(), "stride": inp("u32")})  # fmt: skip

STORE_UNSIGNED = ExtensionForm("row", "store_unsigned", "9.7.14.4.4",
    "wmma.store.d.sync.aligned.layout.shape{.ss}.u32  [p], r{, stride};", """
    layout   shape                        ss                           ptx  target  gone
    row,col  m16n16k16,m8n32k16,m32n8k16  -,global,shared,shared::cta  6.3  sm_72   1.0@sm_75
""", {"p": address(), "r": inp("u32", 8), "stride": inp("u32")})  # fmt: skip

MANY_LOADED = tuple(
    ExtensionForm("x8", f"many_loaded_{count}", "9.7.14.5.15",
        "ldmatrix.sync.aligned.shape.num{.trans}{.ss}.type  r, [p];", """
        shape   num                  trans    ss                    type  ptx  target
        m8n8    x8,x16,x32,x64,x128  -,trans  -,shared,shared::cta  b16   6.5  sm_75
        m16n16  x8,x16,x32,x64,x128  trans    -,shared,shared::cta  b8    8.6  sm_100a,sm_100f,sm_110a,sm_110f,sm_120a,sm_120f
    """, {"r": out("b32", count), "p": ROWS})  # noqa: E501
    for count in (1, 2, 4)
)  # fmt: skip

MANY_WIDENED = tuple(
    ExtensionForm("x8", f"many_widened_{count}", "9.7.14.5.15",
        "ldmatrix.sync.aligned.shape.num{.trans}{.ss}.dst_fmt.src_fmt  r, [p];", """
        shape   num                  trans  ss                    dst_fmt  src_fmt              ptx  target
        m8n16   x8,x16,x32,x64,x128  -      -,shared,shared::cta  b8x16    b6x16_p32,b4x16_p64  8.6  sm_100a,sm_100f,sm_110a,sm_110f,sm_120a,sm_120f
        m16n16  x8,x16,x32,x64,x128  trans  -,shared,shared::cta  b8x16    b6x16_p32,b4x16_p64  8.6  sm_100a,sm_100f,sm_110a,sm_110f,sm_120a,sm_120f
    """, {"r": out("b32", count), "p": ROWS})  # noqa: E501
    for count in (1, 2, 4)
)  # fmt: skip

MANY_STORED = tuple(
    ExtensionForm("x8", f"many_stored_{count}", "9.7.14.5.16",
        "stmatrix.sync.aligned.shape.num{.trans}{.ss}.type  [p], r;", """
        shape  num                  trans    ss                    type  ptx  target
        m8n8   x8,x16,x32,x64,x128  -,trans  -,shared,shared::cta  b16   7.8  sm_90
        m16n8  x8,x16,x32,x64,x128  trans    -,shared,shared::cta  b8    8.6  sm_100a,sm_100f,sm_110a,sm_110f,sm_120a,sm_120f
    """, {"p": ROWS, "r": inp("b32", count)})  # noqa: E501
    for count in (1, 2, 4)
)  # fmt: skip

WITHOUT_PROPERTY = ExtensionForm("without", "without_property", "9.7.3.1",
    "testp.type  p, a;", """
    type     ptx
    f32,f64  2.0
""", {"p": pred_out(sink=False), "a": inp("type")})  # fmt: skip

WITHOUT_PAIR = ExtensionForm("without", "without_pair", "9.7.7.2",
    "setp.CmpOp{.BoolOp}{.ftz}.type  p, a, b{, {!}c};", """
    CmpOp                                              BoolOp        ftz    type    ptx  target
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -,ftz  f16x2   4.2  sm_53
    eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan  -,and,or,xor  -      bf16x2  7.8  sm_90
""", {"p": pred_out(), "a": inp("type"), "b": inp("type"), "c": pred_in(when="BoolOp")})  # fmt: skip

ROW_FMA = ExtensionForm("row", "row_fma", "9.7.4.4", "fma.rnd{.sat}{.oob}{.relu}.type  d, a, b, c;", """
    rnd       sat  oob  relu    type         ptx  target
    rz,rm,rp  -    -    -,relu  bf16,bf16x2  7.0  sm_80
    rz,rm,rp  -    oob  -,relu  bf16,bf16x2  8.1  sm_90
    rn        sat  oob  -       f16,f16x2    8.1  sm_90
""", {"d": out("type"), "a": inp("type"), "b": inp("type"), "c": inp("type")})  # fmt: skip

WITH_FLUSH = ExtensionForm("with", "with_flush", "9.7.3.13", "rcp.rnd.ftz.f64  d, a;", """
    rnd          ptx
    rn,rz,rm,rp  2.0
""", {"d": out("f64"), "a": inp("f64")})  # fmt: skip

WITH_SCALE = ExtensionForm("with", "with_scale", "9.7.9.21",
    "cvt.rnd{.satfinite}{.relu}.dtype.atype  d, a, scale;", """
    rnd    satfinite    relu    dtype                        atype    ptx  target
    rz,rp  -,satfinite  -       ue8m0x2                      bf16x2   8.6  sm_100f,sm_110f,sm_120f
    rn     -            -       bf16x2                       ue8m0x2  8.6  sm_100f,sm_110f,sm_120f
    rn     satfinite    -,relu  e4m3x2,e5m2x2,e2m3x2,e3m2x2  bf16x2   9.1  sm_100f,sm_110f,sm_120f
""", {"d": out("dtype"), "a": inp("atype"), "scale": inp("u16")})  # fmt: skip

FENCE_RESTRICTED = ExtensionForm("modifier", "modifier_fence", "9.7.13.4",
    "fence.mbarrier_init.release.sync_restrict.cluster;", """
    sync_restrict                                              ptx target
    sync_restrict::shared::cta,sync_restrict::shared::cluster  8.6 sm_90
""")  # fmt: skip

FENCE_PROXY = ExtensionForm("modifier", "modifier_fence_proxy", "9.7.13.4",
    "fence.proxy.proxykind{.space}.sync_restrict;", """
    proxykind  space                                 sync_restrict           ptx target
    alias      -                                     {restrict}              8.6 sm_90
    async      -,global,shared::cta,shared::cluster  {restrict}              8.6 sm_90
""".replace("{restrict}", "sync_restrict::shared::cta,sync_restrict::shared::cluster"))  # fmt: skip

FENCE_PROXY_RELEASE = ExtensionForm("modifier", "modifier_fence_proxy_release", "9.7.13.4",
    "fence.proxy.to_proxykind::from_proxykind.sem{.space}{.sync_restrict}.scope;", """
    to_proxykind::from_proxykind  sem      space      sync_restrict  scope                ptx target
    tensormap::generic            release  {space}    -              cta,cluster,gpu,sys  8.3 sm_90
    tensormap::generic            release  -,{space}  {cta}          cta,cluster,gpu,sys  8.6 sm_90
    tensormap::generic            release  -,{space}  {cluster}      cta,cluster,gpu,sys  8.6 sm_90
    async::generic                release  {space}    {cta}          cluster              8.6 sm_90
    async::generic                acquire  {space}    {cluster}      cluster              8.6 sm_90
    """.replace("{cluster}", "sync_restrict::shared::cluster")
    .replace("{cta}", "sync_restrict::shared::cta")
    .replace("{space}", "global,shared,shared::cta,shared::cluster"))  # fmt: skip

FENCE_EARLY = ExtensionForm("modifier", "modifier_fence_early", "9.7.13.4", "fence.sem.scope;", """
    sem              scope        ptx target gone
    acquire,release  cta,gpu,sys  6.0 sm_70  6.0@sm_75
""")  # fmt: skip

SETMAXNREG_SIGNED = ExtensionForm("modifier", "modifier_setmaxnreg", "9.7.19.5",
    "setmaxnreg.action.sync.aligned.s32  imm-reg-count;", """
    action   ptx target
    inc,dec  8.0 sm_90a,sm_100f,sm_103f,sm_110f,sm_120f
""", {"imm_reg_count": immediate("s32", range(24, 257, 8))})  # fmt: skip

FREE_MULTIPLE = ExtensionForm("free", "free_multiple", "9.7.16.7.1",
    "tcgen05.dealloc.cta_group.sync.aligned.b32  taddr, nCols;", """
    cta_group                  ptx  target           gone
    cta_group::1,cta_group::2  8.6  sm_100f,sm_110f  9.2@sm_100
""", {"taddr": inp("u32"), "nCols": inp("u32", values=range(-(1 << 63), 1 << 63, 32))})  # fmt: skip

COMMIT_CONSTANT = ExtensionForm("operand", "operand_commit_mask", "9.7.16.12.1",
    "tcgen05.commit.cta_group.mbarrier::arrive::one{.ss}.multicast::cluster.b64  [mbar], ctaMask;", """
    cta_group                  ss                 ptx  target
    cta_group::1,cta_group::2  -,shared::cluster  9.2  sm_100f,sm_110f
""", {"mbar": address(), "ctaMask": immediate("u16", range(1 << 16))})  # fmt: skip

# Copies that take the operands of other copies: a mask, or a number, where the barrier's address belongs.

_COPIED = {"dstMem": address(space="shared"), "srcMem": address(), "size": inp("u32", values=SIZES, bits=32)}

COPY_MASKED = ExtensionForm("copy", "copy_masked", "9.7.9.25.5.2",
    "cp.async.bulk.dst.src.mbarrier::complete_tx::bytes{.level::cache_hint}"
    "  [dstMem], [srcMem], size{, cache-policy}, byteMask;", """
    dst              src          level::cache_hint  ptx target
    shared::cta      global       -,L2::cache_hint   8.6 sm_90
    shared::cluster  global       -,L2::cache_hint   8.0 sm_90
    shared::cluster  shared::cta  -                  8.0 sm_90
""", _COPIED | {"cache_policy": inp("u64", when="level::cache_hint"), "byteMask": inp("u16")})  # fmt: skip

COPY_NUMBERED = ExtensionForm("copy", "copy_numbered", "9.7.9.25.5.2",
    "cp.async.bulk.dst.src.mbarrier::complete_tx::bytes  [dstMem], [srcMem], size, mbar;", """
    dst              src                 ptx target
    shared::cta      global              8.6 sm_90
    shared::cluster  global,shared::cta  8.0 sm_90
""", _COPIED | {"mbar": inp("u64")})  # fmt: skip

COPY_REDUCING = ExtensionForm("copy", "copy_reducing", "9.7.9.25.5.3",
    "cp.reduce.async.bulk.dst.src.mbarrier::complete_tx::bytes.redOp.type  [dstMem], [srcMem], size, mbar;", """
    dst              src          redOp       type         ptx target
    shared::cluster  shared::cta  and,or,xor  b32          8.0 sm_90
    shared::cluster  shared::cta  add         u32,s32,u64  8.0 sm_90
    shared::cluster  shared::cta  inc,dec     u32          8.0 sm_90
    shared::cluster  shared::cta  min,max     u32,s32      8.0 sm_90
""", _COPIED | {"mbar": inp("u64")})  # fmt: skip

# Combinations of words that a Form of the manual lacks.

ROW_SCATTER = ExtensionForm("row", "row_scatter", "9.7.9.27.1.3",
    "cp.reduce.async.bulk.tensor.dim.global.src.redOp.tile::scatter4.bulk_group{.level::cache_hint}"
    "  [tensorMap, tensorCoords], [srcMem]{, cache-policy};", """
    dim  src          redOp                           level::cache_hint  ptx target
    2d   shared::cta  add,min,max,inc,dec,and,or,xor  -,L2::cache_hint   8.6 sm_100f,sm_110f
""", SOURCE | {"tensorMap": FOUR_ROWS})  # fmt: skip

ROW_FIFTH_STRIDE = ExtensionForm("row", "row_fifth_stride", "9.7.9.26.1",
    "tensormap.replace.tile.global_stride{.ss}.b1024.type  [addr], ord, new-val;", """
    ss                    type  ptx target
    -,global,shared::cta  b64   8.3 sm_90a,sm_100f,sm_103f,sm_110f,sm_120f
""", {"addr": address(), "ord": immediate(values=(4,)), "new_val": inp("type")})  # fmt: skip

ROW_MULTIMEM = ExtensionForm("row", "row_multimem", "9.7.9.14",
    "multimem.red{.sem}{.scope}{.ss}.op.vec.type  [a], b;", """
    sem              scope                ss        op       vec       type          ptx target
    -                -                    -,global  min,max  v2,v4,v8  f16,bf16      8.1 sm_90
    -                -                    -,global  min,max  v2,v4     f16x2,bf16x2  8.1 sm_90
    relaxed,release  cta,cluster,gpu,sys  -,global  min,max  v2,v4,v8  f16,bf16      8.1 sm_90
    relaxed,release  cta,cluster,gpu,sys  -,global  min,max  v2,v4     f16x2,bf16x2  8.1 sm_90
""", {"a": address(), "b": inp("type", "vec", allows=("integers",))})  # fmt: skip

ROW_PREDICATE = ExtensionForm("row", "row_predicate", "9.7.9.14",
    "multimem.ld_reduce{.sem}{.scope}{.ss}.op{.acc}{.vec}.type  d, [a];", "sem scope ss op acc vec type ptx target"
    + "".join(
    f"""
    {sem}  {scope}  -,global  min,max,add  -         -,v2,v4  e4m3x4,e5m2x4  8.6 {EIGHTS}
    {sem}  {scope}  -,global  add          acc::f16  -,v2,v4  e4m3x4,e5m2x4  8.6 {EIGHTS}
    """
    for sem, scope in (("-,weak", "-"), ("relaxed,acquire", "cta,cluster,gpu,sys"))
    ), {"d": out("pred", "vec"), "a": address()})  # fmt: skip

ROW_RESPONSES = ExtensionForm("row", "row_responses", "9.7.13.18.2",
    "clusterlaunchcontrol.query_cancel.query.vec.b32.type  d, response;", """
    query            vec  type  ptx target
    get_first_ctaid  v4   b128  8.6 sm_100
""", {"d": out("b32", "vec"), "response": inp("type", "vec")})  # fmt: skip
