"""Loads, stores and addresses (PTX ISA 9.7.9.8 to 9.7.9.24).

Memory order and scope, caching, eviction and prefetching have no effect here: the machine performs every
access in program order, and all threads see it at once.
"""

from __future__ import annotations

import numpy as np

from warploom.isa.kit import Form, no_effect
from warploom.isa.operands import address, immediate, inp, out
from warploom.isa.protocol import Array, Bound, Warps

_NARROW = "b8,b16,b32,u8,u16,u32,s8,s16,s32,f32"
_WIDE = "b64,u64,s64,f64"
_WORD = "b32,u32,s32,f32"
_LOAD_SPACES = "-,const,global,local,param,param::entry,param::func,shared,shared::cta,shared::cluster"
_STORE_SPACES = "-,global,local,param,param::func,shared,shared::cta,shared::cluster"
_SCOPES = "cta,cluster,gpu,sys"
_HINTS = "level1::eviction_priority level2::eviction_priority level::cache_hint"
_HINT_CELLS = (
    "-,L1::evict_normal,L1::evict_unchanged,L1::evict_first,L1::evict_last,L1::no_allocate"
    " -,L2::evict_normal,L2::evict_first,L2::evict_last -,L2::cache_hint"
)
_PREFETCH = "-,L2::64B,L2::128B,L2::256B"


def _vectors(columns: str, cells: str, spaces: str) -> str:
    """Table of the vector widths that a type may have: 128 bits, or 256 bits in global memory."""
    return f"""
        {columns} ss        vec   type               ptx target
        {cells}   {spaces}  -,v2  {_NARROW},{_WIDE}  1.0 -
        {cells}   {spaces}  v4    {_NARROW}          1.0 -
        {cells}   global    v4    {_WIDE}            8.8 sm_100
        {cells}   global    v8    {_WORD}            8.8 sm_100
    """


LD = Form(
    name="memory.ld",
    syntax=(
        "ld{.weak}{.ss}{.cop}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}"
        "{.level::prefetch_size}{.vec}.type  d, [a]{, cache-policy};"
    ),
    rows=_vectors(
        f"cop {_HINTS} level::prefetch_size", f"-,ca,cg,cs,lu,cv {_HINT_CELLS} {_PREFETCH}", _LOAD_SPACES
    ),
    operands={
        "d": out("type", "vec", "wide", "braces"),
        "a": address(),
        "cache_policy": inp("b64", when="level::cache_hint"),
    },
    source="PTX ISA 9.7.9.8",
)

LD_ORDERED = Form(
    name="memory.ld_ordered",
    syntax=(
        "ld.sem.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}"
        "{.level::prefetch_size}{.vec}.type  d, [a]{, cache-policy};"
    ),
    rows=_vectors(
        f"sem scope {_HINTS} level::prefetch_size",
        f"relaxed,acquire {_SCOPES} {_HINT_CELLS} {_PREFETCH}",
        _LOAD_SPACES,
    ),
    operands={
        "d": out("type", "vec", "wide", "braces"),
        "a": address(),
        "cache_policy": inp("b64", when="level::cache_hint"),
    },
    source="PTX ISA 9.7.9.8",
)

LD_VOLATILE = Form(
    name="memory.ld_volatile",
    syntax="ld.volatile{.ss}{.level::prefetch_size}{.vec}.type  d, [a];",
    rows=_vectors("level::prefetch_size", _PREFETCH, _LOAD_SPACES),
    operands={"d": out("type", "vec", "wide", "braces"), "a": address()},
    source="PTX ISA 9.7.9.8",
)

LD_MMIO = Form(
    name="memory.ld_mmio",
    syntax="ld.mmio.relaxed.sys{.ss}{.vec}.type  d, [a];",
    rows=f"""
        ss        vec  type               ptx target
        -,global  -    {_NARROW},{_WIDE}  8.2 sm_70
    """,
    operands={"d": out("type", "vec", "wide", "braces"), "a": address()},
    source="PTX ISA 9.7.9.8",
)

LD_NC = Form(
    name="memory.ld_nc",
    syntax=(
        "ld.ss{.cop}.nc{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}"
        "{.level::prefetch_size}{.vec}.type  d, [a]{, cache-policy};"
    ),
    rows=_vectors(f"cop {_HINTS} level::prefetch_size", f"-,ca,cg,cs {_HINT_CELLS} {_PREFETCH}", "global"),
    operands={
        "d": out("type", "vec", "wide", "braces"),
        "a": address(),
        "cache_policy": inp("b64", when="level::cache_hint"),
    },
    source="PTX ISA 9.7.9.9",
)

LDU = Form(
    name="memory.ldu",
    syntax="ldu{.ss}{.vec}.type  d, [a];",
    rows=f"""
        ss        vec   type               ptx
        -,global  -,v2  {_NARROW},{_WIDE}  2.0
        -,global  v4    {_NARROW}          2.0
    """,
    operands={"d": out("type", "vec", "wide", "braces"), "a": address()},
    source="PTX ISA 9.7.9.10",
)


@LD.meaning
@LD_ORDERED.meaning
@LD_VOLATILE.meaning
@LD_MMIO.meaning
@LD_NC.meaning
@LDU.meaning
def load(warps: Warps, i: Bound) -> None:
    # READ
    values = warps.load(i.ss, warps.addresses(i.a), i.type, int(i.vec[1:] or 1))
    # WRITE
    if i.vec:
        warps.write_vector(i.d, values)
    else:
        warps.write(i.d, values[0])


ST = Form(
    name="memory.st",
    syntax=(
        "st{.weak}{.ss}{.cop}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}"
        "{.vec}.type  [a], b{, cache-policy};"
    ),
    rows=_vectors(f"cop {_HINTS}", f"-,wb,cg,cs,wt {_HINT_CELLS}", _STORE_SPACES),
    operands={
        "a": address(),
        "b": inp("type", "vec", accepts="wide", also="braces"),
        "cache_policy": inp("b64", when="level::cache_hint"),
    },
    source="PTX ISA 9.7.9.11",
)

ST_ORDERED = Form(
    name="memory.st_ordered",
    syntax=(
        "st.sem.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}"
        "{.vec}.type  [a], b{, cache-policy};"
    ),
    rows=_vectors(f"sem scope {_HINTS}", f"relaxed,release {_SCOPES} {_HINT_CELLS}", _STORE_SPACES),
    operands={
        "a": address(),
        "b": inp("type", "vec", accepts="wide", also="braces"),
        "cache_policy": inp("b64", when="level::cache_hint"),
    },
    source="PTX ISA 9.7.9.11",
)

ST_VOLATILE = Form(
    name="memory.st_volatile",
    syntax="st.volatile{.ss}{.vec}.type  [a], b;",
    rows=_vectors("", "", _STORE_SPACES),
    operands={"a": address(), "b": inp("type", "vec", accepts="wide", also="braces")},
    source="PTX ISA 9.7.9.11",
)

ST_MMIO = Form(
    name="memory.st_mmio",
    syntax="st.mmio.relaxed.sys{.ss}{.vec}.type  [a], b;",
    rows=f"""
        ss        vec  type               ptx target
        -,global  -    {_NARROW},{_WIDE}  8.2 sm_70
    """,
    operands={"a": address(), "b": inp("type", "vec", accepts="wide", also="braces")},
    source="PTX ISA 9.7.9.11",
)


@ST.meaning
@ST_ORDERED.meaning
@ST_VOLATILE.meaning
@ST_MMIO.meaning
def store(warps: Warps, i: Bound) -> None:
    # READ
    values = warps.read_vector(i.b) if i.vec else warps.read(i.b)[np.newaxis]
    # WRITE
    warps.store(i.ss, warps.addresses(i.a), i.type, values)


ST_ASYNC = Form(
    name="memory.st_async",
    syntax="st.async{.weak}.ss.mbarrier::complete_tx::bytes{.vec}.type  [a], b, [mbar];",
    rows=f"""
        ss               vec   type               ptx target
        shared::cluster  -,v2  {_WORD},{_WIDE}    8.1 sm_90
        shared::cluster  v4    {_WORD}            8.1 sm_90
    """,
    operands={"a": address(), "b": inp("type", "vec", accepts="wide", also="braces"), "mbar": address()},
    touches="async",
    source="PTX ISA 9.7.9.12",
)


@ST_ASYNC.meaning
def store_async(warps: Warps, i: Bound) -> None:
    # READ
    values = warps.read_vector(i.b) if i.vec else warps.read(i.b)[np.newaxis]
    # WRITE
    warps.store(i.ss, warps.addresses(i.a), i.type, values)
    size = len(values) * int(i.type[1:]) // 8
    warps.mbarrier(i.ss, warps.addresses(i.mbar), "complete_tx", transactions=size)


# Addresses ------------------------------------------------------------------------------------------------

_SPACES = "const,global,local,shared,shared::cta,shared::cluster,param,param::entry"

CVTA = Form(
    name="memory.cvta",
    syntax="cvta.space.size  p, a;",
    rows=f"""
        space      size
        {_SPACES}  u32,u64
    """,
    operands={"p": out("size"), "a": inp("size", also="symbol")},
    source="PTX ISA 9.7.9.20",
)


@CVTA.meaning
def to_generic(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # COMPUTE
    p = warps.to_generic(i.space, a)
    # WRITE
    warps.write(i.p, p)


CVTA_TO = Form(
    name="memory.cvta_to",
    syntax="cvta.to.space.size  p, a;",
    rows=f"""
        space      size
        {_SPACES}  u32,u64
    """,
    operands={"p": out("size"), "a": inp("size", also="symbol")},
    source="PTX ISA 9.7.9.20",
)


@CVTA_TO.meaning
def from_generic(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # COMPUTE
    p = warps.from_generic(i.space, a)
    # WRITE
    warps.write(i.p, p)


ISSPACEP = Form(
    name="memory.isspacep",
    syntax="isspacep.space  p, a;",
    rows=f"""
        space
        {_SPACES}
    """,
    operands={"p": out("pred"), "a": inp("b64")},
    source="PTX ISA 9.7.9.19",
)


@ISSPACEP.meaning
def is_space(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # COMPUTE
    p = warps.is_space(i.space, a)
    # WRITE
    warps.write(i.p, p)


MAPA = Form(
    name="memory.mapa",
    syntax="mapa{.space}.type  d, a, b;",
    rows="""
        space              type     ptx target
        -,shared::cluster  u32,u64  7.8 sm_90
    """,
    operands={"d": out("type"), "a": inp("type", also="symbol"), "b": inp("u32")},
    source="PTX ISA 9.7.9.23",
)


@MAPA.meaning
def map_address(warps: Warps, i: Bound) -> None:
    # READ
    a, b = warps.read(i.a), warps.read(i.b)
    # COMPUTE
    d = warps.map_rank(a, b, generic=i.space == "")
    # WRITE
    warps.write(i.d, d)


GETCTARANK = Form(
    name="memory.getctarank",
    syntax="getctarank{.space}.type  d, a;",
    rows="""
        space              type     ptx target
        -,shared::cluster  u32,u64  7.8 sm_90
    """,
    operands={"d": out("u32"), "a": inp("type")},
    source="PTX ISA 9.7.9.24",
)


@GETCTARANK.meaning
def rank_of(warps: Warps, i: Bound) -> None:
    # READ
    a = warps.read(i.a)
    # COMPUTE
    d = warps.rank_of(a, generic=i.space == "")
    # WRITE
    warps.write(i.d, d)


# Caches ---------------------------------------------------------------------------------------------------

PREFETCH = Form(
    name="memory.prefetch",
    syntax="prefetch{.space}.level  [a];",
    rows="""
        space           level                            ptx target
        -,global,local  L1,L2                            2.0 sm_20
        global          L2::evict_last,L2::evict_normal  7.4 sm_80
        -,const,param   tensormap                        8.0 sm_90
    """,
    operands={"a": address()},
    source="PTX ISA 9.7.9.15",
)

PREFETCHU = Form(
    name="memory.prefetchu",
    syntax="prefetchu.L1  [a];",
    rows="ptx target\n2.0 sm_20",
    operands={"a": address()},
    source="PTX ISA 9.7.9.15",
)

APPLYPRIORITY = Form(
    name="memory.applypriority",
    syntax="applypriority{.global}.L2::evict_normal  [a], size;",
    rows="ptx target\n7.4 sm_80",
    operands={"a": address(), "size": immediate(values=(128,))},
    source="PTX ISA 9.7.9.16",
)

DISCARD = Form(
    name="memory.discard",
    syntax="discard{.global}.L2  [a], size;",
    rows="ptx target\n7.4 sm_80",
    operands={"a": address(), "size": immediate(values=(128,))},
    source="PTX ISA 9.7.9.17",
)

PREFETCH.meaning(no_effect)
PREFETCHU.meaning(no_effect)
APPLYPRIORITY.meaning(no_effect)
DISCARD.meaning(no_effect)

_PRIMARY = "L2::evict_last,L2::evict_normal,L2::evict_first,L2::evict_unchanged"

CREATEPOLICY = Form(
    name="memory.createpolicy",
    syntax="createpolicy.fractional.primary_priority{.secondary_priority}.b64  d{, fraction};",
    rows=f"""
        primary_priority  secondary_priority                   ptx target
        {_PRIMARY}        -,L2::evict_first,L2::evict_unchanged  7.4 sm_80
    """,
    operands={"d": out("b64"), "fraction": inp("f32")},
    source="PTX ISA 9.7.9.18",
)

CREATEPOLICY_RANGE = Form(
    name="memory.createpolicy_range",
    syntax=(
        "createpolicy.range{.global}.primary_priority{.secondary_priority}.b64"
        "  d, [a], primary-size, total-size;"
    ),
    rows=f"""
        primary_priority  secondary_priority                   ptx target
        {_PRIMARY}        -,L2::evict_first,L2::evict_unchanged  7.4 sm_80
    """,
    operands={"d": out("b64"), "a": address(), "primary_size": inp("u32"), "total_size": inp("u32")},
    source="PTX ISA 9.7.9.18",
)

CREATEPOLICY_CVT = Form(
    name="memory.createpolicy_cvt",
    syntax="createpolicy.cvt.L2.b64  d, access-property;",
    rows="ptx target\n7.4 sm_80",
    operands={"d": out("b64"), "access_property": inp("b64")},
    source="PTX ISA 9.7.9.18",
)


@CREATEPOLICY.meaning
@CREATEPOLICY_RANGE.meaning
@CREATEPOLICY_CVT.meaning
def create_policy(warps: Warps, i: Bound) -> None:
    # WRITE: a policy is opaque, and no policy has an effect
    policy: Array = np.zeros((1, 1), np.uint64)
    warps.write(i.d, policy)
