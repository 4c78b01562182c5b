"""Loads, stores, address conversions and cache control.

Memory order, scope, caching and eviction have no effect in the emulator. The emulator performs every access in program
order, and all threads see its result at once.

Source: PTX ISA 9.7.9.8 to 9.7.9.24.
"""

from collections.abc import Mapping

import numpy as np

from warploom.isa.instructions.lanes import defer_with_completion, spread
from warploom.isa.model.effects import Access, Flow, Issue
from warploom.isa.model.form import Form, no_effect
from warploom.isa.model.operands import Allowance, Slots, address, immediate, inp, out
from warploom.isa.model.semantics import Array, Bound, Warps
from warploom.isa.model.types import TYPES, bits_of

_NARROW = "b8,b16,b32,u8,u16,u32,s8,s16,s32,f32"
_WIDE = "b64,u64,s64,f64"
_WORD = "b32,u32,s32,f32"
_SMALL = "b8,b16,u8,u16,s8,s16"
_CACHED = "-,global"
_SHARED = "shared,shared::cta,shared::cluster"
_PARAMETERS = "param,param::entry,param::func"
_LEVEL1 = "L1::evict_normal,L1::evict_unchanged,L1::evict_first,L1::evict_last,L1::no_allocate"
_LEVEL2 = "-,L2::evict_normal,L2::evict_first,L2::evict_last"
_HINT = "-,L2::cache_hint"
_PREFETCH = "-,L2::64B,L2::128B,L2::256B"
_FIRST = {
    (_CACHED, True): ("6.0 sm_70", "8.3 sm_70"),
    (_SHARED, True): ("6.0 sm_70", "8.3 sm_70"),
    ("local", False): ("9.1 sm_75", "9.1 sm_75"),
}
"""Availability by state space, and by whether the accesses have a memory order.

Each entry has the availability of types up to 64 bits, then that of b128. Unlisted accesses are available from PTX 1.0,
with b128 from PTX 8.3.
"""


def _table(columns: str, *accesses: tuple[str, str], sem: bool = False) -> str:
    """Return the table of a load or store Form.

    `columns` names the first columns of the table. Each item of `accesses` is a pair of strings. The first string
    has the cells of `columns`, and the second string lists state spaces. The table has several rows for each item, with
    different data types. With `sem`, the table has a column for the scope.
    """
    lines = [f"{columns} level2::eviction_priority ss vec type scope ptx target"]
    if not sem:
        lines = [lines[0].replace(" scope", "")]
    for cells, spaces in accesses:
        narrow, whole = _FIRST.get((spaces, sem), ("1.0 -", "8.3 sm_70"))
        for scope, first in (("cta,cluster,gpu", whole), ("sys", "8.4 sm_70")) if sem else (("", whole),):
            lines += [
                f"{cells} - {spaces} -,v2 {_NARROW},{_WIDE} {scope} {narrow}",
                f"{cells} - {spaces} v4 {_NARROW} {scope} {narrow}",
                f"{cells} - {spaces} - b128 {scope} {first}",
            ]
            if spaces in (_CACHED, "global"):
                lines += [
                    f"{cells} {_LEVEL2} {spaces} v4 {_WIDE} {scope} 8.8 sm_100",
                    f"{cells} {_LEVEL2} {spaces} v8 {_WORD} {scope} 8.8 sm_100",
                ]
    return "\n".join(lines)


_LOADED = out("type", "vec", accepts="wide", allows=("braces", "integers"))


def _stored_elements(slots: Slots) -> tuple[Allowance, ...]:
    # The gap `_` skips an element of a 256-bit store.
    is_widest = int(slots["vec"][1:] or 1) * bits_of(slots["type"]) == 256
    return ("braces", "integers", "gap") if is_widest else ("braces", "integers")


_STORED = inp("type", "vec", accepts="wide", allows=_stored_elements)
_UNIFIED = address(allows=("unified",))
_OUTPUT = address(allows=("output",))
_POLICY = inp("u64", when="level::cache_hint")

_LD_CACHED = "level1::eviction_priority level::cache_hint level::prefetch_size"
_ST_CACHED = "level1::eviction_priority level::cache_hint"

LD = Form(
    name="memory.ld",
    syntax="ld{.weak}{.ss}{.cop}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}"
    "{.level::prefetch_size}{.vec}.type  d, [a]{, cache-policy};",
    rows=_table(
        f"cop {_LD_CACHED}",
        (f"-,ca,cg,cs,lu,cv - {_HINT} {_PREFETCH}", _CACHED),
        (f"- {_LEVEL1} {_HINT} {_PREFETCH}", _CACHED),
        ("-,ca,cg,cs,lu,cv - - -", f"const,local,{_PARAMETERS},{_SHARED}"),
    ),
    operands={"d": _LOADED, "a": _UNIFIED, "cache_policy": _POLICY},
    effects=(Access("read", "a", "d"),),
    source="PTX ISA 9.7.9.8",
)
LD.describe(
    "Loads a value or a vector from memory. Use vectors of 16 bytes (`.v4.f32`) where possible: they need fewer"
    " instructions.",
    "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0];",
)

LD_ORDERED = Form(
    name="memory.ld_ordered",
    syntax="ld.sem.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}"
    "{.level::prefetch_size}{.vec}.type  d, [a]{, cache-policy};",
    rows=_table(
        f"sem {_LD_CACHED}",
        (f"relaxed,acquire -,{_LEVEL1} {_HINT} {_PREFETCH}", _CACHED),
        ("relaxed,acquire - - -", _SHARED),
        sem=True,
    ),
    operands={"d": _LOADED, "a": _UNIFIED, "cache_policy": _POLICY},
    effects=(Access("read", "a", "d", order="sem", scope="scope"),),
    source="PTX ISA 9.7.9.8",
)
LD_ORDERED.describe(
    "Loads a value with a memory order and a scope. Use `.acquire` to read a flag that another thread releases,"
    " and `.relaxed` to poll.",
    "ld.acquire.gpu.global.u32 %r0, [%rd0];",
)

LD_VOLATILE = Form(
    name="memory.ld_volatile",
    syntax="ld.volatile{.ss}{.level2::eviction_priority}{.level::prefetch_size}{.vec}.type  d, [a];",
    rows=_table("level::prefetch_size", (_PREFETCH, _CACHED), ("-", _SHARED), ("-", "local")),
    operands={"d": _LOADED, "a": _UNIFIED},
    effects=(Access("read", "a", "d", order="volatile"),),
    source="PTX ISA 9.7.9.8",
)
LD_VOLATILE.describe(
    "Loads a value that other threads may change; the load is not removed or combined. Use `ld.relaxed` with a"
    " scope in new code.",
    "ld.volatile.global.u32 %r0, [%rd0];",
)

LD_MMIO = Form(
    name="memory.ld_mmio",
    syntax="ld.mmio.sem.sys{.ss}.type  d, [a];",
    rows=f"""
        sem      ss        type                    ptx target
        relaxed  -,global  {_NARROW},{_WIDE}       8.2 sm_70
        relaxed  -,global  b128                    8.4 sm_70
        acquire  -,global  {_NARROW},{_WIDE},b128  9.3 sm_70
    """,
    operands={"d": out("type", accepts="wide", allows=("braces",)), "a": _UNIFIED},
    effects=(Access("read", "a", "d", order="sem", scope="sys"),),
    source="PTX ISA 9.7.9.8, and answers of ptxas 13.5 on `.acquire`",
)
LD_MMIO.describe(
    "Loads a value of a memory-mapped device, exactly once and with the stated width. Use it for registers of devices.",
    "ld.mmio.relaxed.sys.global.u32 %r0, [%rd0];",
)

LD_NC = Form(
    name="memory.ld_nc",
    syntax="ld.ss{.cop}.nc{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}"
    "{.level::prefetch_size}{.vec}.type  d, [a]{, cache-policy};",
    rows=_table(
        f"cop {_LD_CACHED}",
        (f"-,ca,cg,cs - {_HINT} {_PREFETCH}", "global"),
        (f"- {_LEVEL1} {_HINT} {_PREFETCH}", "global"),
    ),
    operands={"d": _LOADED, "a": _UNIFIED, "cache_policy": _POLICY},
    effects=(Access("read", "a", "d", read_only=True),),
    source="PTX ISA 9.7.9.9",
)
LD_NC.describe(
    "Loads from global memory through the read-only cache. Use it for data that no thread writes while the kernel"
    " runs.",
    "ld.global.nc.L1::no_allocate.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0];",
)

LDU = Form(
    name="memory.ldu",
    syntax="ldu{.ss}{.vec}.type  d, [a];",
    rows=f"""
        ss        vec   type               ptx target
        -,global  -,v2  {_NARROW},{_WIDE}  2.0 -
        -,global  v4    {_NARROW}          2.0 -
        -,global  -     b128               8.3 sm_70
    """,
    operands={"d": _LOADED, "a": _UNIFIED},
    effects=(Access("read", "a", "d", read_only=True),),
    source="PTX ISA 9.7.9.10",
)
LDU.describe(
    "Loads read-only data from an address that is equal in all lanes. Use `ld.global.nc` in new code.",
    "ldu.global.f32 %f0, [%rd0];",
)


@LD.execute
@LD_ORDERED.execute
@LD_VOLATILE.execute
@LD_MMIO.execute
@LD_NC.execute
@LDU.execute
def load(warps: Warps, i: Bound) -> None:
    vector = getattr(i, "vec", "")
    values = warps.load(i.ss, warps.addresses(i.a), i.type, int(vector[1:] or 1))
    if vector:
        warps.write_vector(i.d, values)
    else:
        warps.write(i.d, values[0])


ST = Form(
    name="memory.st",
    syntax="st{.weak}{.ss}{.cop}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}"
    "{.vec}.type  [a], b{, cache-policy};",
    rows=_table(
        f"cop {_ST_CACHED}",
        (f"-,wb,cg,cs,wt - {_HINT}", _CACHED),
        (f"- {_LEVEL1} {_HINT}", _CACHED),
        ("-,wb,cg,cs,wt - -", f"local,param,param::func,{_SHARED}"),
    ),
    operands={"a": _OUTPUT, "b": _STORED, "cache_policy": _POLICY},
    effects=(Access("write", "a", "b"),),
    source="PTX ISA 9.7.9.11",
)
ST.describe(
    "Stores a value or a vector to memory. Use vectors of 16 bytes where possible; results that are not read"
    " again can have `.cs`.",
    "st.global.v4.f32 [%rd0], {%f0, %f1, %f2, %f3};",
)

ST_ORDERED = Form(
    name="memory.st_ordered",
    syntax="st.sem.scope{.ss}{.level1::eviction_priority}{.level2::eviction_priority}{.level::cache_hint}"
    "{.vec}.type  [a], b{, cache-policy};",
    rows=_table(
        f"sem {_ST_CACHED}",
        (f"relaxed,release -,{_LEVEL1} {_HINT}", _CACHED),
        ("relaxed,release - -", _SHARED),
        sem=True,
    ),
    operands={"a": _OUTPUT, "b": _STORED, "cache_policy": _POLICY},
    effects=(Access("write", "a", "b", order="sem", scope="scope"),),
    source="PTX ISA 9.7.9.11",
)
ST_ORDERED.describe(
    "Stores a value with a memory order and a scope. Use `.release` to set a flag after the data it announces.",
    "st.release.gpu.global.u32 [%rd0], %r0;",
)

ST_VOLATILE = Form(
    name="memory.st_volatile",
    syntax="st.volatile{.ss}{.level2::eviction_priority}{.vec}.type  [a], b;",
    rows=_table("", ("", _CACHED), ("", _SHARED), ("", "local")),
    operands={"a": _OUTPUT, "b": _STORED},
    effects=(Access("write", "a", "b", order="volatile"),),
    source="PTX ISA 9.7.9.11",
)
ST_VOLATILE.describe(
    "Stores a value that other threads may read; the store is not removed or combined. Use `st.relaxed` with a"
    " scope in new code.",
    "st.volatile.global.u32 [%rd0], %r0;",
)

ST_MMIO = Form(
    name="memory.st_mmio",
    syntax="st.mmio.sem.sys{.ss}.type  [a], b;",
    rows=f"""
        sem      ss        type                    ptx target
        relaxed  -,global  {_NARROW},{_WIDE}       8.2 sm_70
        relaxed  -,global  b128                    8.4 sm_70
        release  -,global  {_NARROW},{_WIDE},b128  9.3 sm_70
    """,
    operands={"a": address(), "b": inp("type", accepts="wide", allows=("braces",))},
    effects=(Access("write", "a", "b", order="sem", scope="sys"),),
    source="PTX ISA 9.7.9.11, and answers of ptxas 13.5 on `.release`",
)
ST_MMIO.describe(
    "Stores a value to a memory-mapped device, exactly once and with the stated width. Use it for registers of"
    " devices.",
    "st.mmio.relaxed.sys.global.u32 [%rd0], %r0;",
)


@ST.execute
@ST_ORDERED.execute
@ST_VOLATILE.execute
@ST_MMIO.execute
def store(warps: Warps, i: Bound) -> None:
    values = warps.read_vector(i.b) if getattr(i, "vec", "") else warps.read(i.b)[np.newaxis]
    warps.store(i.ss, warps.addresses(i.a), i.type, values)


ST_ASYNC = Form(
    name="memory.st_async",
    syntax="st.async{.weak}{.scope}{.ss}.mbarrier::complete_tx::bytes{.vec}.type  [a], b, [mbar];",
    rows="\n".join(
        (
            "weak scope ss vec type ptx target",
            *(
                f"{order} -,shared::cluster {elements} 8.1 sm_90"
                for order in ("-,weak -", "- cluster")
                for elements in (f"-,v2 {_WORD},{_WIDE}", f"v4 {_WORD}")
            ),
        )
    ),
    operands={"a": address(), "b": inp("type", "vec", allows=("braces", "integers")), "mbar": address()},
    effects=(Issue(mbarrier="mbar"), Access("write", "a", "b", scope="cluster", proxy="async")),
    source="PTX ISA 9.7.9.12",
)
ST_ASYNC.describe(
    "Starts a store to the shared memory of a CTA of the cluster and reports its bytes to an mbarrier there. Use"
    " it to send small results to another CTA.",
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r0], %r1, [%r2];",
)

ST_ASYNC_RELEASE = Form(
    name="memory.st_async_release",
    syntax="st.async{.mmio}.release.scope{.ss}.type  [a], b;",
    rows=f"""
        mmio  scope    ss        type                             ptx target
        -     gpu,sys  -,global  {_SMALL},{_WORD},{_WIDE}         8.7 sm_100
        mmio  sys      -,global  {_SMALL},{_WORD},{_WIDE}         8.7 sm_100
    """,
    operands={"a": address(), "b": inp("type")},
    effects=(Issue(), Access("write", "a", "b", order="release", scope="scope", proxy="async")),
    source="PTX ISA 9.7.9.12",
)
ST_ASYNC_RELEASE.describe(
    "Starts a store to global memory that is ordered after the earlier accesses of the thread. Use it to signal"
    " other GPUs or CTAs without waiting.",
    "st.async.release.gpu.global.u32 [%rd0], %r0;",
)


@ST_ASYNC.execute
def store_async(warps: Warps, i: Bound) -> None:
    values = warps.read_vector(i.b) if i.vec else spread(warps, warps.read(i.b))[np.newaxis]
    size = len(values) * TYPES[i.type].bytes

    def take_effect(warps: Warps, where: Array, captured: Mapping[str, Array]) -> None:
        warps.store(i.ss, where, i.type, np.moveaxis(captured["values"], -1, 0))

    defer_with_completion(warps, i, size, take_effect, {"values": np.moveaxis(values, 0, -1)})


ST_ASYNC_RELEASE.execute(store)


# Addresses ------------------------------------------------------------------------------------------------

_WINDOWS = """
        space                                          size  ptx target gone
        const,global,local,shared                      u64   2.0 sm_20  -
        shared::cta,shared::cluster                    u64   7.8 sm_20  -
        param                                          u64   7.7 sm_20  -
        param::entry                                   u64   8.3 sm_20  -
        const,global,local,shared                      u32   2.0 sm_20  1.0@sm_50
        shared::cta,shared::cluster,param,param::entry u32   7.7 sm_20  1.0@sm_50
"""
"""Table of the state spaces with generic addresses. 32-bit addresses are illegal from sm_50 on."""

CVTA = Form(
    name="memory.cvta",
    syntax="cvta.space.size  p, a;",
    rows=_WINDOWS,
    operands={"p": out("size"), "a": inp("size", allows=("symbol",))},
    effects=(Flow(address=("a",)),),
    source="PTX ISA 9.7.9.20",
)
CVTA.describe(
    "Converts an address of a state space to a generic address. Use it to pass the address of a shared or local"
    " variable to code with generic addresses.",
    "cvta.shared.u64 %rd0, %rd1;",
)

CVTA.execute(lambda warps, i: warps.write(i.p, warps.to_generic(i.space, warps.read(i.a))))

CVTA_TO = Form(
    name="memory.cvta_to",
    syntax="cvta.to.space.size  p, a;",
    rows=_WINDOWS,
    operands={"p": out("size"), "a": inp("size")},
    effects=(Flow(address=("a",), space="space"),),
    source="PTX ISA 9.7.9.20",
)
CVTA_TO.describe(
    "Converts a generic address to an address of a state space. Use it on kernel parameters before `ld.global`,"
    " and for operands that take shared addresses.",
    "cvta.to.global.u64 %rd0, %rd1;",
)

CVTA_TO.execute(lambda warps, i: warps.write(i.p, warps.from_generic(i.space, warps.read(i.a))))

ISSPACEP, ISSPACEP_NARROW = (
    Form(
        name=f"memory.isspacep{suffix}",
        syntax="isspacep.space  p, a;",
        rows="""
            space                   ptx target
            global,local,shared     2.0 sm_20
            const                   3.1 sm_20
            shared::cta             7.8 sm_30
            shared::cluster         7.8 sm_90
            param                   7.7 sm_70
            param::entry            8.3 sm_70
        """,
        operands={"p": out("pred"), "a": inp(word)},
        source="PTX ISA 9.7.9.19",
    )
    for suffix, word in (("", "u64"), ("_narrow", "u32"))
)
ISSPACEP.describe(
    "Tests whether a generic address is in a state space. Use it in functions with pointers of any state space.",
    "isspacep.shared %p0, %rd0;",
)
ISSPACEP_NARROW.describe(
    "Tests whether a 32-bit generic address is in a state space. Use it in code with 32-bit addresses.",
    "isspacep.shared %p0, %r0;",
)

for _isspacep in (ISSPACEP, ISSPACEP_NARROW):
    _isspacep.execute(lambda warps, i: warps.write(i.p, warps.is_space(i.space, warps.read(i.a))))

MAPA = Form(
    name="memory.mapa",
    syntax="mapa{.space}.type  d, a, b;",
    rows="space type ptx target\n-,shared::cluster u32,u64 7.8 sm_90",
    operands={"d": out("type"), "a": inp("type", allows=("symbol",), space="shared"), "b": inp("u32")},
    source="PTX ISA 9.7.9.23",
)
MAPA.describe(
    "Returns the address, in the CTA with rank b of the cluster, that corresponds to shared address a. Use it"
    " before remote accesses and arrivals.",
    "mapa.shared::cluster.u32 %r0, %r1, 0;",
)

MAPA.execute(lambda warps, i: warps.write(i.d, warps.map_rank(warps.read(i.a), warps.read(i.b), generic=i.space == "")))

GETCTARANK = Form(
    name="memory.getctarank",
    syntax="getctarank{.space}.type  d, a;",
    rows="space type ptx target\n-,shared::cluster u32,u64 7.8 sm_90",
    operands={"d": out("u32"), "a": inp("type", allows=("symbol",), space="shared")},
    source="PTX ISA 9.7.9.24",
)
GETCTARANK.describe(
    "Returns the rank in the cluster of the CTA that owns a shared address. Use it to find out where an address is.",
    "getctarank.shared::cluster.u32 %r0, %r1;",
)

GETCTARANK.execute(lambda warps, i: warps.write(i.d, warps.rank_of(warps.read(i.a), generic=i.space == "")))


# Caches ---------------------------------------------------------------------------------------------------

PREFETCH = Form(
    name="memory.prefetch",
    syntax="prefetch{.space}.level  [a];",
    rows="""
        space           level                            ptx target
        -,global,local  L1,L2                            2.0 sm_20
        -,global        L2::evict_last,L2::evict_normal  7.4 sm_80
        -,const,param   tensormap                        8.0 sm_90
    """,
    operands={"a": address()},
    source="PTX ISA 9.7.9.15",
)
PREFETCH.describe(
    "Starts to bring a cache line into the L1 or L2 cache, or a tensor map into its cache. Use it for a tensor"
    " map at the start of a kernel.",
    "prefetch.global.L2 [%rd0];",
)

PREFETCHU = Form(
    name="memory.prefetchu",
    syntax="prefetchu.L1  [a];",
    rows="ptx target\n2.0 sm_20",
    operands={"a": address(space="global")},
    source="PTX ISA 9.7.9.15",
)
PREFETCHU.describe(
    "Starts to bring a cache line into the uniform cache. Use it for constant data at an address that is equal in"
    " all lanes.",
    "prefetchu.L1 [%rd0];",
)

APPLYPRIORITY = Form(
    name="memory.applypriority",
    syntax="applypriority{.global}.L2::evict_normal  [a], size;",
    rows="ptx target\n7.4 sm_80",
    operands={"a": address(space=lambda slots: slots["global"]), "size": immediate(values=(128,))},
    source="PTX ISA 9.7.9.16",
)
APPLYPRIORITY.describe(
    "Resets the eviction priority of 128 bytes in the L2 cache to normal. Use it when data that was kept by"
    " `evict_last` is no longer needed.",
    "applypriority.global.L2::evict_normal [%rd0], 128;",
)

DISCARD = Form(
    name="memory.discard",
    syntax="discard{.global}.L2  [a], size;",
    rows="ptx target\n7.4 sm_80",
    operands={"a": address(space=lambda slots: slots["global"]), "size": immediate(values=(128,))},
    effects=(Access("write", "a", size="size"),),
    source="PTX ISA 9.7.9.17",
)
DISCARD.describe(
    "Discards 128 bytes in the L2 cache without writing them to memory. Use it for scratch data that nobody reads"
    " again.",
    "discard.global.L2 [%rd0], 128;",
)

for _hint in (PREFETCH, PREFETCHU, APPLYPRIORITY):
    _hint.execute(no_effect)

DISCARD.execute(lambda warps, i: warps.discard(warps.addresses(i.a), i.size))

_PRIMARY = "L2::evict_last,L2::evict_normal,L2::evict_first,L2::evict_unchanged"
_PRIORITIES = f"""
        primary_priority  secondary_priority                     ptx target
        {_PRIMARY}        -,L2::evict_first,L2::evict_unchanged  7.4 sm_80
"""

CREATEPOLICY = Form(
    name="memory.createpolicy",
    syntax="createpolicy.fractional.primary_priority{.secondary_priority}.b64  d{, fraction};",
    rows=_PRIORITIES,
    operands={"d": out("u64"), "fraction": inp("f32")},
    source="PTX ISA 9.7.9.18",
)
CREATEPOLICY.describe(
    "Makes a cache policy that applies a priority to a fraction of the accesses. Use it with `.L2::cache_hint`,"
    " for example to keep weights in the L2 cache.",
    "createpolicy.fractional.L2::evict_last.b64 %rd0, 1.0;",
)

CREATEPOLICY_RANGE = Form(
    name="memory.createpolicy_range",
    syntax=("createpolicy.range{.global}.primary_priority{.secondary_priority}.b64  d, [a], primary-size, total-size;"),
    rows=_PRIORITIES,
    operands={
        "d": out("u64"),
        "a": address(space=lambda slots: slots["global"], allows=("unified",)),
        "primary_size": inp("u32"),
        "total_size": inp("u32"),
    },
    source="PTX ISA 9.7.9.18",
)
CREATEPOLICY_RANGE.describe(
    "Makes a cache policy for an address range with a primary and a secondary part. Use it with `.L2::cache_hint`"
    " to keep a part of a buffer in the L2 cache.",
    "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %rd0, [%rd1], 0x100000, 0x200000;",
)

CREATEPOLICY_CVT = Form(
    name="memory.createpolicy_cvt",
    syntax="createpolicy.cvt.L2.b64  d, access-property;",
    rows="ptx target\n7.4 sm_80",
    operands={"d": out("u64"), "access_property": inp("u64")},
    source="PTX ISA 9.7.9.18",
)
CREATEPOLICY_CVT.describe(
    "Makes a cache policy from an access property of the host interface. Use it if the host chooses the policy.",
    "createpolicy.cvt.L2.b64 %rd0, %rd1;",
)


# A cache policy is opaque and has no effect in the emulator.
for _policy in (CREATEPOLICY, CREATEPOLICY_RANGE, CREATEPOLICY_CVT):
    _policy.execute(lambda warps, i: warps.write(i.d, np.zeros((1, 1), np.uint64)))
