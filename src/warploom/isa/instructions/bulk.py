"""Bulk copies and reductions between global and shared memory, their groups, and stores of zeros.

Source: PTX ISA 9.7.9.25.4, 9.7.9.25.5.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.isa.instructions.lanes import spread
from warploom.isa.model.effects import Access, Commit, Issue, Wait
from warploom.isa.model.form import Form, no_effect
from warploom.isa.model.operands import address, immediate, inp
from warploom.isa.model.records import BulkCopy
from warploom.isa.model.semantics import Bound, Value, Warps

SIZES = range(0, 1 << 20, 16)
"""Legal constants for the number of bytes."""
SHARED, GLOBAL = address(space="shared"), address(space="global")
SIZE = inp("u32", values=SIZES, bits=32)
BYTE_MASK, CTA_MASK = inp("u16", when="cp_mask"), inp("u16", when="multicast")
POLICY = inp("u64", when="level::cache_hint")
_LOADED = {"dstMem": SHARED, "srcMem": GLOBAL, "size": SIZE}


def address_of(warps: Warps, operand: Value | None) -> NDArray[np.uint64] | None:
    """Return the addresses in an operand, with shape (warps, 32), or None if the operand is absent."""
    return None if operand is None else spread(warps, warps.addresses(operand))


def mask_of(warps: Warps, operand: Value | None) -> NDArray[np.uint16] | None:
    """Return the 16-bit masks in an operand, with shape (warps, 32), or None if the operand is absent."""
    return None if operand is None else spread(warps, warps.read(operand).astype(np.uint16))


def _copy(warps: Warps, i: Bound, source_space: str, destination_space: str, **fields: Any) -> BulkCopy:
    return BulkCopy(
        source_space=source_space,
        source=spread(warps, warps.addresses(i.srcMem)),
        destination_space=destination_space,
        destination=spread(warps, warps.addresses(i.dstMem)),
        bytes=spread(warps, warps.read(i.size)),
        **fields,
    )


LOAD = Form(
    name="bulk.load",
    syntax="cp.async.bulk.dst.global.mbarrier::complete_tx::bytes{.multicast}{.level::cache_hint}"
    "  [dstMem], [srcMem], size, [mbar]{, ctaMask}{, cache-policy};",
    rows="""
        dst              multicast             level::cache_hint  ptx target
        shared::cta      -                     -,L2::cache_hint   8.6 sm_90
        shared::cluster  -,multicast::cluster  -,L2::cache_hint   8.0 sm_90
    """,
    operands={**_LOADED, "mbar": SHARED, "ctaMask": CTA_MASK, "cache_policy": POLICY},
    effects=(Issue(mbarrier="mbar"), Access("read", "srcMem", proxy="async"), Access("write", "dstMem", proxy="async")),
    source="PTX ISA 9.7.9.25.5.2",
)
LOAD.describe(
    "Starts a copy of contiguous bytes from global to shared memory and reports the bytes to an mbarrier; a mask"
    " sends the data to several CTAs. Use it for contiguous data that needs no tensor map.",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0], 1024, [%r1];",
)


@LOAD.copy
def load(warps: Warps, i: Bound) -> BulkCopy:
    """Copy from global to shared memory. The mbarrier counts the bytes."""
    mbarrier, multicast = address_of(warps, i.mbar), mask_of(warps, i.ctaMask)
    return _copy(warps, i, "global", i.dst, completion="mbarrier", mbarrier=mbarrier, multicast=multicast)


LOAD_PART = Form(
    name="bulk.load_part",
    syntax="cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{.level::cache_hint}.ignore_oob"
    "  [dstMem], [srcMem], size, ignoreBytesLeft, ignoreBytesRight, [mbar]{, cache-policy};",
    rows="level::cache_hint ptx target\n-,L2::cache_hint 9.2 sm_90",
    operands={
        **_LOADED,
        "size": inp("u32", values=SIZES),
        "ignoreBytesLeft": inp("u32", values=range(16), bits=32),
        "ignoreBytesRight": inp("u32", values=range(16), bits=32),
        "mbar": SHARED,
        "cache_policy": POLICY,
    },
    effects=(Issue(mbarrier="mbar"), Access("read", "srcMem", proxy="async"), Access("write", "dstMem", proxy="async")),
    source="PTX ISA 9.7.9.25.5.2",
)
LOAD_PART.describe(
    "Starts a bulk copy that does not read some bytes at both ends of the source. Use it if the first or last"
    " bytes are outside of an allocation.",
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%r0], [%rd0], 1024, 4, 4, [%r1];",
)


@LOAD_PART.copy
def load_part(warps: Warps, i: Bound) -> BulkCopy:
    """Copy from global to shared memory, without the ignored first and last bytes."""
    ignored = (spread(warps, warps.read(i.ignoreBytesLeft)), spread(warps, warps.read(i.ignoreBytesRight)))
    mbarrier = address_of(warps, i.mbar)
    return _copy(warps, i, "global", "shared::cta", completion="mbarrier", mbarrier=mbarrier, ignored=ignored)


COPY_IN_CLUSTER = Form(
    name="bulk.copy_in_cluster",
    syntax="cp.async.bulk.dst.shared::cta.mbarrier::complete_tx::bytes  [dstMem], [srcMem], size, [mbar];",
    rows="dst ptx target\nshared::cluster 8.0 sm_90",
    operands={"dstMem": SHARED, "srcMem": SHARED, "size": SIZE, "mbar": SHARED},
    effects=(Issue(mbarrier="mbar"), Access("read", "srcMem", proxy="async"), Access("write", "dstMem", proxy="async")),
    source="PTX ISA 9.7.9.25.5.2",
)
COPY_IN_CLUSTER.describe(
    "Starts a copy of contiguous bytes from the shared memory of this CTA to another CTA of the cluster, and"
    " reports the bytes to an mbarrier there. Use it to exchange tiles or partial results within a cluster.",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r0], [%r1], 1024, [%r2];",
)


@COPY_IN_CLUSTER.copy
def copy_in_cluster(warps: Warps, i: Bound) -> BulkCopy:
    """Copy between the shared memories of a cluster's CTAs. The mbarrier counts the bytes."""
    return _copy(warps, i, "shared::cta", i.dst, completion="mbarrier", mbarrier=address_of(warps, i.mbar))


STORE = Form(
    name="bulk.store",
    syntax="cp.async.bulk.global.shared::cta.bulk_group{.level::cache_hint}{.cp_mask}"
    "  [dstMem], [srcMem], size{, cache-policy}{, byteMask};",
    rows="""
        level::cache_hint  cp_mask  ptx target
        -,L2::cache_hint   -        8.0 sm_90
        -,L2::cache_hint   cp_mask  8.6 sm_100
    """,
    operands={"dstMem": GLOBAL, "srcMem": SHARED, "size": SIZE, "cache_policy": POLICY, "byteMask": BYTE_MASK},
    effects=(Issue("bulk"), Access("read", "srcMem", proxy="async"), Access("write", "dstMem", proxy="async")),
    source="PTX ISA 9.7.9.25.5.2",
)
STORE.describe(
    "Starts a copy of contiguous bytes from shared to global memory, in a bulk group. Use it for contiguous"
    " results, after a proxy fence.",
    "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r0], 1024;",
)


@STORE.copy
def store(warps: Warps, i: Bound) -> BulkCopy:
    """Copy from shared to global memory. The copy joins the open bulk group of its lane."""
    return _copy(warps, i, "shared::cta", "global", completion="group", byte_mask=mask_of(warps, i.byteMask))


REDUCE_IN_CLUSTER = Form(
    name="bulk.reduce_in_cluster",
    syntax="cp.reduce.async.bulk.dst.shared::cta.mbarrier::complete_tx::bytes.redOp.type"
    "  [dstMem], [srcMem], size, [mbar];",
    rows="""
        dst              redOp       type         ptx target
        shared::cluster  and,or,xor  b32          8.0 sm_90
        shared::cluster  add         u32,s32,u64  8.0 sm_90
        shared::cluster  inc,dec     u32          8.0 sm_90
        shared::cluster  min,max     u32,s32      8.0 sm_90
    """,
    operands={"dstMem": SHARED, "srcMem": SHARED, "size": SIZE, "mbar": SHARED},
    effects=(
        Issue(mbarrier="mbar"),
        Access("read", "srcMem", proxy="async"),
        Access("update", "dstMem", proxy="async"),
    ),
    source="PTX ISA 9.7.9.25.5.3",
)
REDUCE_IN_CLUSTER.describe(
    "Combines contiguous values in shared memory of another CTA with values of this CTA, and reports the bytes to"
    " an mbarrier there. Use it for reductions within a cluster.",
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r0], [%r1], 256, [%r2];",
)


@REDUCE_IN_CLUSTER.copy
def reduce_in_cluster(warps: Warps, i: Bound) -> BulkCopy:
    """Reduce shared memory into the shared memory of a CTA of the cluster. The mbarrier counts the bytes."""
    return _copy(
        warps, i, "shared::cta", i.dst,
        completion="mbarrier", mbarrier=address_of(warps, i.mbar), reduction=i.redOp, type=i.type,
    )  # fmt: skip


REDUCE = Form(
    name="bulk.reduce",
    syntax="cp.reduce.async.bulk.global.shared::cta.bulk_group{.level::cache_hint}.redOp{.noftz}.type"
    "  [dstMem], [srcMem], size{, cache-policy};",
    rows="""
        level::cache_hint  redOp       noftz  type                     ptx target
        -,L2::cache_hint   and,or,xor  -      b32,b64                  8.0 sm_90
        -,L2::cache_hint   add         -      u32,s32,u64,f32,f64      8.0 sm_90
        -,L2::cache_hint   add         noftz  f16,bf16                 8.0 sm_90
        -,L2::cache_hint   inc,dec     -      u32                      8.0 sm_90
        -,L2::cache_hint   min,max     -      u32,s32,u64,s64,f16,bf16  8.0 sm_90
    """,
    operands={"dstMem": GLOBAL, "srcMem": SHARED, "size": SIZE, "cache_policy": POLICY},
    effects=(Issue("bulk"), Access("read", "srcMem", proxy="async"), Access("update", "dstMem", proxy="async")),
    source="PTX ISA 9.7.9.25.5.3",
)
REDUCE.describe(
    "Combines contiguous values in global memory with values in shared memory, in a bulk group. Use it to"
    " accumulate results of several CTAs, as in split-K.",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd0], [%r0], 1024;",
)


@REDUCE.copy
def reduce(warps: Warps, i: Bound) -> BulkCopy:
    """Reduce shared memory into global memory. The reduction joins the open bulk group of its lane."""
    return _copy(warps, i, "shared::cta", "global", completion="group", reduction=i.redOp, type=i.type)


PREFETCH = Form(
    name="bulk.prefetch",
    syntax="cp.async.bulk.prefetch.L2.global{.level::cache_hint}  [srcMem], size{, cache-policy};",
    rows="level::cache_hint ptx target\n-,L2::cache_hint 8.0 sm_90",
    operands={"srcMem": GLOBAL, "size": inp("u32", values=SIZES), "cache_policy": POLICY},
    source="PTX ISA 9.7.9.25.5.4",
)
PREFETCH.describe(
    "Starts a prefetch of contiguous bytes of global memory to the L2 cache. Use it well before a copy that would"
    " wait for DRAM.",
    "cp.async.bulk.prefetch.L2.global [%rd0], 4096;",
)

PREFETCH.execute(no_effect)

COMMIT = Form(
    name="bulk.commit_group",
    syntax="cp.async.bulk.commit_group;",
    rows="ptx target\n8.0 sm_90",
    effects=(Commit("bulk"),),
    source="PTX ISA 9.7.9.25.5.5",
)
COMMIT.describe(
    "Closes a bulk group with all bulk and tensor stores that the thread has started since the previous group."
    " Use it after the stores of one tile.",
    "cp.async.bulk.commit_group;",
)

COMMIT.execute(lambda warps, i: warps.commit("bulk"))

WAIT_GROUP = Form(
    name="bulk.wait_group",
    syntax="cp.async.bulk.wait_group{.read}  N;",
    rows="ptx target\n8.0 sm_90",
    operands={"N": immediate("u32")},
    effects=(Wait("bulk", pending="N", reads_only="read"),),
    source="PTX ISA 9.7.9.25.5.6",
)
WAIT_GROUP.describe(
    "Waits until at most the N newest bulk groups are unfinished; with `.read`, until their sources in shared"
    " memory may be overwritten. Use it before a staging buffer is used again.",
    "cp.async.bulk.wait_group.read 0;",
)

WAIT_GROUP.execute(lambda warps, i: warps.wait("bulk", i.N, read_only=i.read != ""))

_STARTS = address(space=lambda slots: "register" if slots["ss"] else "")  # ptxas refuses shared variables

ZERO = Form(
    name="bulk.zero",
    syntax="st.bulk{.weak}{.ss}  [a], size, initval;",
    rows="ss ptx target\n-,shared::cta 8.6 sm_100",
    operands={
        "a": _STARTS,
        "size": inp("u64", values=range(0, (1 << 24) + 1, 8)),
        "initval": immediate("u64", values=(0,)),
    },
    effects=(Access("write", "a"),),
    source="PTX ISA 9.7.9.13",
)
ZERO.describe(
    "Writes zeros to a range of shared memory. Use it to clear accumulators or padding with one instruction.",
    "st.bulk.weak.shared::cta [%rd0], 1024, 0;",
)

ZERO_NARROW = Form(
    name="bulk.zero_narrow",
    syntax="st.bulk{.weak}{.ss}  [a], size, initval;",
    rows="ss ptx target\n-,shared::cta 9.0 sm_100",
    operands={"a": _STARTS, "size": inp("u32", values=()), "initval": immediate("u64", values=(0,))},
    effects=(Access("write", "a"),),
    source="PTX ISA 9.7.9.13",
)
ZERO_NARROW.describe(
    "Writes zeros to a range of shared memory whose size is in a 32-bit register. Use it in code with 32-bit"
    " addresses.",
    "st.bulk.weak.shared::cta [%r0], 1024, 0;",
)


@ZERO_NARROW.execute
@ZERO.execute
def zero(warps: Warps, i: Bound) -> None:
    where = spread(warps, warps.addresses(i.a))
    size = spread(warps, warps.read(i.size))
    for amount in np.unique(size[warps.active()]):
        zeros = np.zeros((int(amount) // 8, *size.shape), np.uint64)
        warps.store(i.ss, where, "b64", zeros, lanes=size == amount)
