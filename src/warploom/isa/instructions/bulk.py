"""Bulk copies (PTX ISA 9.7.9.25.4 to 9.7.9.25.5) and stores, and what they ask of the copy engine.

A request stands for one copy per active lane. Its operands were read when the instruction was issued, so
the engine may carry it out at any later time. Arrays hold one element per lane of the batch, shapes
(warps, 32) unless they say otherwise; lanes that are not active ask for nothing.

The reduction words mean what `reductions.combine_bulk(op, type)(old, value)` computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from warploom.isa.instructions.lanes import spread
from warploom.isa.model.effects import Access, Commit, Issue, Wait
from warploom.isa.model.form import Form, no_effect
from warploom.isa.model.operands import Slots, address, immediate, inp
from warploom.isa.model.semantics import Bound, Value, Warps

SIZES = range(0, 1 << 20, 16)
"""What a constant number of bytes may be."""

Completion = Literal["mbarrier", "group"]


@dataclass(frozen=True, slots=True, eq=False)
class BulkCopy:
    """A copy of consecutive bytes between two state spaces.

    With completion "mbarrier" the bytes written are counted off the transactions of the mbarrier, which is
    in the space of the destination and, for shared::cluster, in the CTA that owns the destination. With a
    multicast mask the bytes, and the count, go to the same offsets (destination, mbarrier) of every CTA of
    the cluster whose rank has its bit set. With completion "group" the copy joins the lane's open bulk
    group: "read" once the source has been read, complete once the destination has been written.

    Shapes: every array is (warps, 32), or broadcasts to it.
    Units: `bytes` are bytes, a multiple of 16; bit i of `byte_mask` lets byte i of every 16 be written.
    Errors: the engine checks bounds, and the alignment of 16 of both addresses.
    Source: PTX ISA 9.7.9.25.5.
    """

    source_space: str  # "global", "shared::cta"
    source: NDArray[np.uint64]
    destination_space: str  # "global", "shared::cta", "shared::cluster"
    destination: NDArray[np.uint64]
    bytes: NDArray[np.uint32]
    completion: Completion
    mbarrier: NDArray[np.uint64] | None = None
    multicast: NDArray[np.uint16] | None = None
    byte_mask: NDArray[np.uint16] | None = None
    reduction: str = ""  # and, or, xor, add, inc, dec, min, max
    type: str = ""  # element type of the reduction, a PTX type word


@dataclass(frozen=True, slots=True, eq=False)
class TensorCopy:
    """A copy of one box of a tensor, or one column of its pixels, between global memory and shared memory.

    `tensor_map` are generic addresses of 128-byte tensor maps in global, const or param space; they are
    decoded when the request is carried out. A "load" writes the box at `shared` and counts the bytes of the
    whole box, out-of-bounds elements included, off the mbarrier, which is in the space of the destination; a
    multicast mask is as in BulkCopy. A "store" joins the lane's open bulk group and touches the elements in
    bounds only; with a reduction word it combines them with what is there, in the element type of the map.

    `is_im2col` is the instruction's mode, which must be the map's; `offsets` into the filter are those of a load
    of pixels.

    Shapes: coordinates (dimensions, warps, 32), int32, and offsets (dimensions - 2, warps, 32), innermost
        dimension first; other arrays (warps, 32).
    Units: coordinates count elements of the tensor, or of an interleaved one slices.
    Errors: the engine checks the map, its rank against `dimensions`, and alignment.
    Source: PTX ISA 9.7.9.27.
    """

    direction: Literal["load", "store"]
    dimensions: int
    tensor_map: NDArray[np.uint64]
    coordinates: NDArray[np.int32]
    shared_space: str  # "shared::cta", "shared::cluster"
    shared: NDArray[np.uint64]
    completion: Completion
    mbarrier: NDArray[np.uint64] | None = None
    multicast: NDArray[np.uint16] | None = None
    reduction: str = ""  # add, min, max, inc, dec, and, or, xor
    is_im2col: bool = False
    offsets: NDArray[np.uint16] | None = None
    cta_group: int = 1  # 2: the mbarrier may be in either CTA of the pair that owns the destination


Request = BulkCopy | TensorCopy


def address_of(warps: Warps, operand: Value | None) -> NDArray[np.uint64] | None:
    """The addresses of an operand that may be absent."""
    return None if operand is None else spread(warps, warps.addresses(operand))


def mask_of(warps: Warps, operand: Value | None) -> NDArray[np.uint16] | None:
    """The 16-bit masks of an operand that may be absent."""
    return None if operand is None else spread(warps, warps.read(operand).astype(np.uint16))


# Copies ---------------------------------------------------------------------------------------------------


LOAD = Form(
    name="bulk.load",
    syntax=(
        "cp.async.bulk.dst.global.mbarrier::complete_tx::bytes{.multicast}{.level::cache_hint}"
        "  [dstMem], [srcMem], size, [mbar]{, ctaMask}{, cache-policy};"
    ),
    rows="""
        dst              multicast             level::cache_hint  ptx target
        shared::cta      -                     -,L2::cache_hint   8.6 sm_90
        shared::cluster  -,multicast::cluster  -,L2::cache_hint   8.0 sm_90
    """,
    operands={
        "dstMem": address(space="shared"),
        "srcMem": address(space="global"),
        "size": inp("u32", values=SIZES, bits=32),
        "mbar": address(space="shared"),
        "ctaMask": inp("u16", when="multicast"),
        "cache_policy": inp("u64", when="level::cache_hint"),
    },
    effects=(
        Issue(mbarrier="mbar"),
        Access("read", "srcMem", proxy="async"),
        Access("write", "dstMem", proxy="async"),
    ),
    source="PTX ISA 9.7.9.25.5.2",
)


@LOAD.execute
def load(warps: Warps, i: Bound) -> None:
    warps.bulk(
        BulkCopy(
            source_space="global",
            source=spread(warps, warps.addresses(i.srcMem)),
            destination_space=i.dst,
            destination=spread(warps, warps.addresses(i.dstMem)),
            bytes=spread(warps, warps.read(i.size)),
            completion="mbarrier",
            mbarrier=address_of(warps, i.mbar),
            multicast=mask_of(warps, i.ctaMask),
        )
    )


COPY_IN_CLUSTER = Form(
    name="bulk.copy_in_cluster",
    syntax="cp.async.bulk.dst.shared::cta.mbarrier::complete_tx::bytes  [dstMem], [srcMem], size, [mbar];",
    rows="""
        dst              ptx target
        shared::cluster  8.0 sm_90
    """,
    operands={
        "dstMem": address(space="shared"),
        "srcMem": address(space="shared"),
        "size": inp("u32", values=SIZES, bits=32),
        "mbar": address(space="shared"),
    },
    effects=(
        Issue(mbarrier="mbar"),
        Access("read", "srcMem", proxy="async"),
        Access("write", "dstMem", proxy="async"),
    ),
    source="PTX ISA 9.7.9.25.5.2",
)


@COPY_IN_CLUSTER.execute
def copy_in_cluster(warps: Warps, i: Bound) -> None:
    warps.bulk(
        BulkCopy(
            source_space="shared::cta",
            source=spread(warps, warps.addresses(i.srcMem)),
            destination_space=i.dst,
            destination=spread(warps, warps.addresses(i.dstMem)),
            bytes=spread(warps, warps.read(i.size)),
            completion="mbarrier",
            mbarrier=address_of(warps, i.mbar),
        )
    )


STORE = Form(
    name="bulk.store",
    syntax=(
        "cp.async.bulk.global.shared::cta.bulk_group{.level::cache_hint}{.cp_mask}"
        "  [dstMem], [srcMem], size{, cache-policy}{, byteMask};"
    ),
    rows="""
        level::cache_hint  cp_mask  ptx target
        -,L2::cache_hint   -        8.0 sm_90
        -,L2::cache_hint   cp_mask  8.6 sm_100
    """,
    operands={
        "dstMem": address(space="global"),
        "srcMem": address(space="shared"),
        "size": inp("u32", values=SIZES, bits=32),
        "cache_policy": inp("u64", when="level::cache_hint"),
        "byteMask": inp("u16", when="cp_mask"),
    },
    effects=(
        Issue("bulk"),
        Access("read", "srcMem", proxy="async"),
        Access("write", "dstMem", proxy="async"),
    ),
    source="PTX ISA 9.7.9.25.5.2",
)


@STORE.execute
def store(warps: Warps, i: Bound) -> None:
    warps.bulk(
        BulkCopy(
            source_space="shared::cta",
            source=spread(warps, warps.addresses(i.srcMem)),
            destination_space="global",
            destination=spread(warps, warps.addresses(i.dstMem)),
            bytes=spread(warps, warps.read(i.size)),
            completion="group",
            byte_mask=mask_of(warps, i.byteMask),
        )
    )


# Reductions -----------------------------------------------------------------------------------------------

REDUCE_IN_CLUSTER = Form(
    name="bulk.reduce_in_cluster",
    syntax=(
        "cp.reduce.async.bulk.dst.shared::cta.mbarrier::complete_tx::bytes.redOp.type"
        "  [dstMem], [srcMem], size, [mbar];"
    ),
    rows="""
        dst              redOp       type         ptx target
        shared::cluster  and,or,xor  b32          8.0 sm_90
        shared::cluster  add         u32,s32,u64  8.0 sm_90
        shared::cluster  inc,dec     u32          8.0 sm_90
        shared::cluster  min,max     u32,s32      8.0 sm_90
    """,
    operands={
        "dstMem": address(space="shared"),
        "srcMem": address(space="shared"),
        "size": inp("u32", values=SIZES, bits=32),
        "mbar": address(space="shared"),
    },
    effects=(
        Issue(mbarrier="mbar"),
        Access("read", "srcMem", proxy="async"),
        Access("update", "dstMem", proxy="async"),
    ),
    source="PTX ISA 9.7.9.25.5.3",
)


@REDUCE_IN_CLUSTER.execute
def reduce_in_cluster(warps: Warps, i: Bound) -> None:
    warps.bulk(
        BulkCopy(
            source_space="shared::cta",
            source=spread(warps, warps.addresses(i.srcMem)),
            destination_space=i.dst,
            destination=spread(warps, warps.addresses(i.dstMem)),
            bytes=spread(warps, warps.read(i.size)),
            completion="mbarrier",
            mbarrier=address_of(warps, i.mbar),
            reduction=i.redOp,
            type=i.type,
        )
    )


REDUCE = Form(
    name="bulk.reduce",
    syntax=(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group{.level::cache_hint}.redOp{.noftz}.type"
        "  [dstMem], [srcMem], size{, cache-policy};"
    ),
    rows="""
        level::cache_hint  redOp       noftz  type                     ptx target
        -,L2::cache_hint   and,or,xor  -      b32,b64                  8.0 sm_90
        -,L2::cache_hint   add         -      u32,s32,u64,f32,f64      8.0 sm_90
        -,L2::cache_hint   add         noftz  f16,bf16                 8.0 sm_90
        -,L2::cache_hint   inc,dec     -      u32                      8.0 sm_90
        -,L2::cache_hint   min,max     -      u32,s32,u64,s64,f16,bf16  8.0 sm_90
    """,
    operands={
        "dstMem": address(space="global"),
        "srcMem": address(space="shared"),
        "size": inp("u32", values=SIZES, bits=32),
        "cache_policy": inp("u64", when="level::cache_hint"),
    },
    effects=(
        Issue("bulk"),
        Access("read", "srcMem", proxy="async"),
        Access("update", "dstMem", proxy="async"),
    ),
    source="PTX ISA 9.7.9.25.5.3",
)


@REDUCE.execute
def reduce(warps: Warps, i: Bound) -> None:
    warps.bulk(
        BulkCopy(
            source_space="shared::cta",
            source=spread(warps, warps.addresses(i.srcMem)),
            destination_space="global",
            destination=spread(warps, warps.addresses(i.dstMem)),
            bytes=spread(warps, warps.read(i.size)),
            completion="group",
            reduction=i.redOp,
            type=i.type,
        )
    )


# Groups ---------------------------------------------------------------------------------------------------

PREFETCH = Form(
    name="bulk.prefetch",
    syntax="cp.async.bulk.prefetch.L2.global{.level::cache_hint}  [srcMem], size{, cache-policy};",
    rows="""
        level::cache_hint  ptx target
        -,L2::cache_hint   8.0 sm_90
    """,
    operands={
        "srcMem": address(space="global"),
        "size": inp("u32", values=SIZES),
        "cache_policy": inp("u64", when="level::cache_hint"),
    },
    source="PTX ISA 9.7.9.25.5.4",
)

PREFETCH.execute(no_effect)

COMMIT = Form(
    name="bulk.commit_group",
    syntax="cp.async.bulk.commit_group;",
    rows="ptx target\n8.0 sm_90",
    operands={},
    effects=(Commit("bulk"),),
    source="PTX ISA 9.7.9.25.5.5",
)


@COMMIT.execute
def commit(warps: Warps, i: Bound) -> None:
    warps.commit("bulk")


WAIT_GROUP = Form(
    name="bulk.wait_group",
    syntax="cp.async.bulk.wait_group{.read}  N;",
    rows="ptx target\n8.0 sm_90",
    operands={"N": immediate("u32")},
    effects=(Wait("bulk", pending="N", reads_only="read"),),
    source="PTX ISA 9.7.9.25.5.6",
)


@WAIT_GROUP.execute
def wait_group(warps: Warps, i: Bound) -> None:
    warps.wait("bulk", i.N, read_only=i.read != "")


# Stores -----------------------------------------------------------------------------------------------------


def _space(slots: Slots) -> str:
    return "register" if slots["ss"] else ""  # assemblers add to a shared address


_STARTS = address(space=_space)

ZERO = Form(
    name="bulk.zero",
    syntax="st.bulk{.weak}{.ss}  [a], size, initval;",
    rows="""
        ss             ptx target
        -,shared::cta  8.6 sm_100
    """,
    operands={
        "a": _STARTS,
        "size": inp("u64", values=range(0, (1 << 24) + 1, 8)),
        "initval": immediate("u64", values=(0,)),
    },
    effects=(Access("write", "a"),),
    source="PTX ISA 9.7.9.13",
)

ZERO_NARROW = Form(
    name="bulk.zero_narrow",
    syntax="st.bulk{.weak}{.ss}  [a], size, initval;",
    rows="""
        ss             ptx target
        -,shared::cta  9.0 sm_100
    """,
    operands={"a": _STARTS, "size": inp("u32", values=()), "initval": immediate("u64", values=(0,))},
    effects=(Access("write", "a"),),
    source="PTX ISA 9.7.9.13",
)


@ZERO_NARROW.execute
@ZERO.execute
def zero(warps: Warps, i: Bound) -> None:
    # READ
    where = spread(warps, warps.addresses(i.a))
    size = spread(warps, warps.read(i.size))
    # WRITE
    for amount in np.unique(size[warps.active()]):
        zeros = np.zeros((int(amount) // 8, *size.shape), np.uint64)
        warps.store(i.ss, where, "b64", zeros, lanes=size == amount)
