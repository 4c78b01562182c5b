"""Tensor memory of Blackwell: allocation, loads, stores, copies, fences and commits.

An address in tensor memory is a 32-bit register with the lane in its upper half and the column in its lower half.
`tcgen05_mma` declares the multiplications.

Source: PTX ISA 9.7.16.
"""

import re
from dataclasses import replace
from math import prod
from typing import Any, Literal

import numpy as np

from warploom.isa.instructions.bulk import mask_of
from warploom.isa.instructions.lanes import spread
from warploom.isa.model.effects import Access, Allocate, Collective, Fence, Issue, Wait
from warploom.isa.model.form import Form
from warploom.isa.model.operand_layout import LayoutInputs, OperandLayout
from warploom.isa.model.operands import Slots, address, immediate, inp, out, tensor_address
from warploom.isa.model.semantics import Bound, Value, Warps
from warploom.isa.model.tensor_memory import TensorCommit, TensorMemoryCopy, TensorMemoryShift, TensorTransfer
from warploom.layout import FragmentMap
from warploom.layout.tensor_memory import transfer_fragment

_COLUMNS = tuple(32 << k for k in range(5))
_TARGETS = "sm_100f,sm_110f"
_GROUPS = f"cta_group ptx target\ncta_group::1,cta_group::2 8.6 {_TARGETS}"
_REPEATS = "x2,x4,x8,x16,x32,x64,x128"


def _registers(slots: Slots) -> int:
    """Return the number of registers per lane."""
    return prod(map(int, re.findall(r"\d+", slots["shape"]))) * int(slots["num"][1:]) // 1024  # 32 lanes of 32 bits


ALLOC = Form(
    name="tcgen05.alloc",
    syntax="tcgen05.alloc.cta_group.sync.aligned{.ss}.b32  [dst], nCols;",
    rows=f"cta_group ss ptx target\ncta_group::1,cta_group::2 -,shared::cta 8.6 {_TARGETS}",
    operands={"dst": address(), "nCols": inp("u32", values=_COLUMNS, bits=32)},
    effects=(Collective("warp"), Allocate("tensor memory", amount="nCols"), Access("write", "dst", proxy="any")),
    source="PTX ISA 9.7.16.7.1",
)
ALLOC.describe(
    "Allocates columns of tensor memory and writes their address to shared memory; the warp waits until enough"
    " columns are free. Use it in one warp at the start of a kernel.",
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 128;",
)


@ALLOC.execute
def allocate(warps: Warps, i: Bound) -> None:
    """Allocate columns, and store their address to shared memory.

    The warp waits until enough adjacent columns are free. With `.cta_group::2`, it also waits for a warp of the peer.
    """
    warps.first_lane(warps.addresses(i.dst), "destination of an allocation")
    addresses = warps.allocate_tensor_memory(_columns(warps, i.nCols), ctas(i))
    if warps.count:
        where = spread(warps, warps.addresses(i.dst))
        if not i.ss:
            where = warps.in_shared(where, "emulator.tensor-allocation", "the destination of an allocation")
        one = np.arange(32)[None] == 0
        warps.store("shared::cta", where, "b32", addresses.astype(np.uint32)[None, :, None], lanes=one)


def _columns(warps: Warps, operand: Value) -> Any:
    """Return the number of columns of each warp. Shapes: (warps,)."""
    return warps.first_lane(warps.read(operand), "number of columns")


def ctas(i: Bound) -> int:
    """Return the number of CTAs of the modifier `.cta_group`."""
    return int(i.cta_group[-1])


DEALLOC = Form(
    name="tcgen05.dealloc",
    syntax="tcgen05.dealloc.cta_group.sync.aligned.b32  taddr, nCols;",
    rows=_GROUPS,
    operands={"taddr": inp("u32"), "nCols": inp("u32", values=_COLUMNS, bits=32)},
    effects=(Collective("warp"), Allocate("tensor memory", "release", "nCols")),
    source="PTX ISA 9.7.16.7.1",
)
DEALLOC.describe(
    "Releases columns of tensor memory. Use it in one warp before the kernel ends; every allocation must be released.",
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r0, 128;",
)


@DEALLOC.execute
def release(warps: Warps, i: Bound) -> None:
    """Release the columns of an allocation."""
    addresses = warps.first_lane(warps.read(i.taddr), "address of a release")
    warps.release_tensor_memory(addresses, _columns(warps, i.nCols), ctas(i))


RELINQUISH = Form(
    name="tcgen05.relinquish",
    syntax="tcgen05.relinquish_alloc_permit.cta_group.sync.aligned;",
    rows=_GROUPS,
    effects=(Collective("warp"), Allocate("permit", "release")),
    source="PTX ISA 9.7.16.7.1",
)
RELINQUISH.describe(
    "Gives up the right of the CTA to allocate tensor memory. Use it after the last allocation, so that another"
    " CTA on the multiprocessor can allocate.",
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
)

RELINQUISH.execute(lambda warps, i: warps.relinquish_tensor_memory(ctas(i)))


def _rows(packing: str) -> str:
    """Return the rows of the shapes that use one range of tensor memory. `packing` is "pack" or "unpack"."""
    return f"""
        shape           num              {packing}            ptx  target
        32x32b,16x64b   x1,{_REPEATS}    -,{packing}::16b     8.6  {_TARGETS}
        16x128b         x1,x2,x4,x8,x16,x32,x64  -,{packing}::16b  8.6  {_TARGETS}
        16x256b         x1,x2,x4,x8,x16,x32      -,{packing}::16b  8.6  {_TARGETS}
    """


def _split_rows(packing: str) -> str:
    """Return the rows of the shape that uses two ranges of tensor memory. `packing` is "pack" or "unpack"."""
    return f"shape num {packing} ptx target\n16x32bx2 x1,{_REPEATS} -,{packing}::16b 8.6 {_TARGETS}"


def _reduced_rows(shape: str) -> str:
    return f"""
        shape    num         redOp    abs    NaN    type     ptx  target
        {shape}  {_REPEATS}  min,max  -,abs  -,NaN  f32      8.8  sm_103f,sm_110f
        {shape}  {_REPEATS}  min,max  -      -      u32,s32  8.8  sm_103f,sm_110f
    """


def _fragment_map(slots: Slots, _: LayoutInputs) -> FragmentMap:
    packed = bool(slots.get("pack", "") or slots.get("unpack", ""))
    return transfer_fragment(slots["shape"], int(slots["num"][1:]), packed=packed)


_LAYOUT = OperandLayout("R", _fragment_map)
_LOADED = replace(out("b32", _registers), layout=_LAYOUT)
_STORED = replace(inp("b32", _registers), layout=_LAYOUT)
_REDUCED = {"r": _LOADED, "redval": out("b32", allows=("braces",)), "taddr": tensor_address()}
_SPLIT_OFF = {"immHalfSplitoff": immediate()}

LD = Form(
    name="tcgen05.ld",
    syntax="tcgen05.ld.sync.aligned.shape.num{.pack}.b32  r, [taddr];",
    rows=_rows("pack"),
    operands={"r": _LOADED, "taddr": tensor_address()},
    effects=(Collective("warp"), Issue(), Access("read", "taddr", "r")),
    source="PTX ISA 9.7.16.8.3",
)
LD.describe(
    "Starts a load from tensor memory into the registers of a warp, which can access its quarter of the lanes."
    " Use it in an epilogue, followed by `tcgen05.wait::ld`.",
    "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r0, %r1, %r2, %r3}, [%r4];",
)

LD_SPLIT = Form(
    name="tcgen05.ld-split",
    syntax="tcgen05.ld.sync.aligned.shape.num{.pack}.b32  r, [taddr], immHalfSplitoff;",
    rows=_split_rows("pack"),
    operands={"r": _LOADED, "taddr": tensor_address()} | _SPLIT_OFF,
    effects=(Collective("warp"), Issue(), Access("read", "taddr", "r")),
    source="PTX ISA 9.7.16.8.3",
)
LD_SPLIT.describe(
    "Starts a load of two parts of tensor memory: the second half of the lanes reads columns at an offset. Use it"
    " for the results of multiplications with 64 rows.",
    "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%r0, %r1}, [%r4], 2;",
)

LD_RED = Form(
    name="tcgen05.ld-red",
    syntax="tcgen05.ld.red.sync.aligned.shape.num.redOp{.abs}{.NaN}.type  r, redval, [taddr];",
    rows=_reduced_rows("32x32b"),
    operands=_REDUCED,
    spellings=("tcgen05.ld.red.sync.aligned.shape.num.type.redOp{.abs}{.NaN}",),
    effects=(Collective("warp"), Issue(), Access("read", "taddr", "r")),
    source="PTX ISA 9.7.16.8.3",
)
LD_RED.describe(
    "Starts a load from tensor memory that also returns the smallest or largest value of each lane. Use it for"
    " the row maxima of attention.",
    "tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%f0, %f1}, %f2, [%r4];",
)

LD_RED_SPLIT = Form(
    name="tcgen05.ld-red-split",
    syntax="tcgen05.ld.red.sync.aligned.shape.num.redOp{.abs}{.NaN}.type  r, redval, [taddr], immHalfSplitoff;",
    rows=_reduced_rows("16x32bx2"),
    operands=_REDUCED | _SPLIT_OFF,
    spellings=("tcgen05.ld.red.sync.aligned.shape.num.type.redOp{.abs}{.NaN}",),
    effects=(Collective("warp"), Issue(), Access("read", "taddr", "r")),
    source="PTX ISA 9.7.16.8.3",
)
LD_RED_SPLIT.describe(
    "Starts a load of two parts of tensor memory that also returns the smallest or largest value of each lane."
    " Use it for the row maxima of attention with 64 rows.",
    "tcgen05.ld.red.sync.aligned.16x32bx2.x2.max.f32 {%f0, %f1}, %f2, [%r4], 2;",
)


@LD.tensor_operation
@LD_SPLIT.tensor_operation
@LD_RED.tensor_operation
@LD_RED_SPLIT.tensor_operation
def load(warps: Warps, i: Bound) -> TensorTransfer:
    """Load words of tensor memory into registers. With `.red`, also reduce the words of each thread."""
    return _transfer(warps, i, "load")


def _transfer(warps: Warps, i: Bound, action: Literal["load", "store"]) -> TensorTransfer:
    slots = vars(i)
    packed = bool(slots.get("pack") or slots.get("unpack"))
    reduction = (i.redOp, i.type, i.abs != "", i.NaN != "") if "redOp" in slots else None
    return TensorTransfer(
        action, transfer_fragment(i.shape, int(i.num[1:]), packed=packed), i.r, spread(warps, warps.addresses(i.taddr)),
        packed, slots.get("immHalfSplitoff"), reduction, slots.get("redval"),
    )  # fmt: skip


ST = Form(
    name="tcgen05.st",
    syntax="tcgen05.st.sync.aligned.shape.num{.unpack}.b32  [taddr], r;",
    rows=_rows("unpack"),
    operands={"taddr": tensor_address(), "r": _STORED},
    effects=(Collective("warp"), Issue(), Access("write", "taddr", "r")),
    source="PTX ISA 9.7.16.8.4",
)
ST.describe(
    "Starts a store from the registers of a warp to tensor memory. Use it to write an operand A or scaled"
    " accumulators, followed by `tcgen05.wait::st`.",
    "tcgen05.st.sync.aligned.32x32b.x4.b32 [%r4], {%r0, %r1, %r2, %r3};",
)

ST_SPLIT = Form(
    name="tcgen05.st-split",
    syntax="tcgen05.st.sync.aligned.shape.num{.unpack}.b32  [taddr], immHalfSplitoff, r;",
    rows=_split_rows("unpack"),
    operands={"taddr": tensor_address(), "r": _STORED} | _SPLIT_OFF,
    effects=(Collective("warp"), Issue(), Access("write", "taddr", "r")),
    source="PTX ISA 9.7.16.8.4",
)
ST_SPLIT.describe(
    "Starts a store to two parts of tensor memory: the second half of the lanes writes columns at an offset. Use"
    " it for matrices with 64 rows.",
    "tcgen05.st.sync.aligned.16x32bx2.x2.b32 [%r4], 2, {%r0, %r1};",
)


@ST.tensor_operation
@ST_SPLIT.tensor_operation
def store(warps: Warps, i: Bound) -> TensorTransfer:
    """Copy the registers of each warp to tensor memory."""
    return _transfer(warps, i, "store")


def _awaited(slots: Slots) -> str:
    return "loads" if slots["op"] == "wait::ld" else ""


WAIT = Form(
    name="tcgen05.wait",
    syntax="tcgen05.op.sync.aligned;",
    rows=f"op ptx target\nwait::ld,wait::st 8.6 {_TARGETS}",
    effects=(Collective("warp"), Wait("tensor memory", reads_only=_awaited, suspends=True)),
    source="PTX ISA 9.7.16.8.5",
)
WAIT.describe(
    "Waits for all earlier loads (`wait::ld`) or stores (`wait::st`) of tensor memory by the warp. Use it before"
    " loaded registers are read, or before another instruction uses stored data.",
    "tcgen05.wait::ld.sync.aligned;",
)


@WAIT.execute
def wait(warps: Warps, i: Bound) -> None:
    """Complete the earlier loads or stores of the warp."""
    channel = "tensor load" if i.op == "wait::ld" else "tensor store"
    warps.commit(channel)
    warps.wait(channel, 0)


CP = Form(
    name="tcgen05.cp",
    syntax="tcgen05.cp.cta_group.shape{.multicast}{.dst_fmt}{.src_fmt}  [taddr], s-desc;",
    rows=f"""
        cta_group                  shape                    multicast                     dst_fmt  src_fmt              ptx  target
        cta_group::1,cta_group::2  128x256b,4x256b,128x128b  -                             -        -                    8.6  {_TARGETS}
        cta_group::1,cta_group::2  128x256b,4x256b,128x128b  -                             b8x16    b6x16_p32,b4x16_p64  8.6  {_TARGETS}
        cta_group::1,cta_group::2  64x128b                   warpx2::02_13,warpx2::01_23   -        -                    8.6  {_TARGETS}
        cta_group::1,cta_group::2  64x128b                   warpx2::02_13,warpx2::01_23   b8x16    b6x16_p32,b4x16_p64  8.6  {_TARGETS}
        cta_group::1,cta_group::2  32x128b                   warpx4                        -        -                    8.6  {_TARGETS}
        cta_group::1,cta_group::2  32x128b                   warpx4                        b8x16    b6x16_p32,b4x16_p64  8.6  {_TARGETS}
    """,  # noqa: E501 - a table is as wide as it is
    operands={"taddr": tensor_address(), "s_desc": inp("u64")},
    effects=(Issue(), Access("write", "taddr", proxy="async")),
    source="PTX ISA 9.7.16.9.2",
)
CP.describe(
    "Starts a copy from shared memory to tensor memory, which a descriptor describes. Use it for scale factors of"
    " block-scaled multiplications.",
    "tcgen05.cp.cta_group::1.128x256b [%r0], %rd0;",
)


_SOURCES = {
    "": (0, 32, 64, 96), "warpx2::02_13": (0, 32, 0, 32), "warpx2::01_23": (0, 0, 32, 32), "warpx4": (0, 0, 0, 0),
}  # fmt: skip
"""First source row of each group of 32 lanes."""


@CP.tensor_operation
def copy(warps: Warps, i: Bound) -> TensorMemoryCopy:
    """Copy a matrix from shared memory to tensor memory."""
    rows, bits = (int(number) for number in re.findall(r"\d+", i.shape))
    target = spread(warps, warps.addresses(i.taddr)).astype(np.uint32)
    return TensorMemoryCopy(
        ctas(i), rows, bits, _SOURCES[i.multicast], i.src_fmt, target, spread(warps, warps.read(i.s_desc))
    )  # fmt: skip


SHIFT = Form(
    name="tcgen05.shift",
    syntax="tcgen05.shift.cta_group.down  [taddr];",
    rows="cta_group ptx target\ncta_group::1,cta_group::2 8.6 sm_100a,sm_103a,sm_107a,sm_110a",
    operands={"taddr": tensor_address()},
    effects=(Issue(), Access("update", "taddr", proxy="async")),
    source="PTX ISA 9.7.16.9.3",
)
SHIFT.describe(
    "Starts a shift of the rows of tensor memory down by one. Use it for convolutions with operand A in tensor memory.",
    "tcgen05.shift.cta_group::1.down [%r0];",
)


@SHIFT.tensor_operation
def shift(warps: Warps, i: Bound) -> TensorMemoryShift:
    """Shift 32 rows of tensor memory by one row."""
    return TensorMemoryShift(ctas(i), spread(warps, warps.addresses(i.taddr)).astype(np.uint32))


def _fence_order(slots: Slots) -> str:
    return "release" if slots["op"] == "fence::before_thread_sync" else "acquire"


FENCE = Form(
    name="tcgen05.fence",
    syntax="tcgen05.op;",
    rows=f"op ptx target\nfence::before_thread_sync,fence::after_thread_sync 8.6 {_TARGETS}",
    effects=(Fence("tensor memory", order=_fence_order),),
    source="PTX ISA 9.7.16.11.1",
)
FENCE.describe(
    "Orders tcgen05 instructions with a barrier or another synchronisation of threads. Use `before_thread_sync`"
    " in the thread that signals, and `after_thread_sync` in the thread that waits.",
    "tcgen05.fence::after_thread_sync;",
)

FENCE.execute(lambda warps, i: warps.fence_tensor_memory(i.op == "fence::before_thread_sync"))

COMMIT = Form(
    name="tcgen05.commit",
    syntax="tcgen05.commit.cta_group.mbarrier::arrive::one{.ss}{.multicast}.b64  [mbar]{, ctaMask};",
    rows=f"""
        cta_group                  ss                 multicast             ptx  target
        cta_group::1,cta_group::2  -,shared::cluster  -,multicast::cluster  8.6  {_TARGETS}
    """,
    operands={"mbar": address(), "ctaMask": inp("u16", when="multicast", values=())},
    effects=(Issue(mbarrier="mbar"),),
    source="PTX ISA 9.7.16.12.1",
)
COMMIT.describe(
    "Makes an mbarrier receive an arrival when all earlier asynchronous tcgen05 operations of the thread have"
    " finished. Use it to free stages in shared memory and to start the epilogue.",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r0];",
)


@COMMIT.tensor_operation
def commit(warps: Warps, i: Bound) -> TensorCommit:
    """Arrive at an mbarrier when the earlier operations of the thread are complete."""
    # The lower half of a generic address is the address in shared memory. Triton 3.6 passes this half alone.
    mbarrier = spread(warps, warps.addresses(i.mbar))
    if not i.ss:
        short = mbarrier >> np.uint64(32) == 0
        wide = np.where(short, warps.to_generic("shared", mbarrier), mbarrier)
        mbarrier = warps.in_shared(wide, "emulator.mbarrier", "an mbarrier")
    mbarrier = mbarrier & np.uint64(0xFFFF_FFFF)
    return TensorCommit(ctas(i), "shared::cluster", mbarrier, mask_of(warps, i.ctaMask))
