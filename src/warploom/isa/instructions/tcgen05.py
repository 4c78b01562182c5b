"""Tensor memory of Blackwell: allocation, loads, stores, copies, fences and commits.

An address in tensor memory is a 32-bit register with the lane in its upper half and the column in its lower half.
`tcgen05_mma` declares the multiplications. The emulator executes none of these instructions.

Source: PTX ISA 9.7.16.
"""

import re
from dataclasses import replace
from math import prod

from warploom.isa.model.effects import Access, Allocate, Collective, Fence, Issue, Wait
from warploom.isa.model.form import Form
from warploom.isa.model.operand_layout import LayoutInputs, OperandLayout
from warploom.isa.model.operands import Slots, address, immediate, inp, out, tensor_address
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
    effects=(Collective("warp"), Allocate("tensor memory", amount="nCols"), Access("write", "dst")),
    source="PTX ISA 9.7.16.7.1",
)

DEALLOC = Form(
    name="tcgen05.dealloc",
    syntax="tcgen05.dealloc.cta_group.sync.aligned.b32  taddr, nCols;",
    rows=_GROUPS,
    operands={"taddr": inp("u32"), "nCols": inp("u32", values=_COLUMNS, bits=32)},
    effects=(Collective("warp"), Allocate("tensor memory", "release", "nCols")),
    source="PTX ISA 9.7.16.7.1",
)

RELINQUISH = Form(
    name="tcgen05.relinquish",
    syntax="tcgen05.relinquish_alloc_permit.cta_group.sync.aligned;",
    rows=_GROUPS,
    effects=(Collective("warp"), Allocate("permit", "release")),
    source="PTX ISA 9.7.16.7.1",
)


def _rows(packing: str) -> str:
    """Return the table of shapes with one range of tensor memory. `packing` is "pack" or "unpack"."""
    return f"""
        shape           num              {packing}            ptx  target
        32x32b,16x64b   x1,{_REPEATS}    -,{packing}::16b     8.6  {_TARGETS}
        16x128b         x1,x2,x4,x8,x16,x32,x64  -,{packing}::16b  8.6  {_TARGETS}
        16x256b         x1,x2,x4,x8,x16,x32      -,{packing}::16b  8.6  {_TARGETS}
    """


def _split_rows(packing: str) -> str:
    """Return the table of the shape with two ranges of tensor memory. `packing` is "pack" or "unpack"."""
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

LD_SPLIT = Form(
    name="tcgen05.ld-split",
    syntax="tcgen05.ld.sync.aligned.shape.num{.pack}.b32  r, [taddr], immHalfSplitoff;",
    rows=_split_rows("pack"),
    operands={"r": _LOADED, "taddr": tensor_address()} | _SPLIT_OFF,
    effects=(Collective("warp"), Issue(), Access("read", "taddr", "r")),
    source="PTX ISA 9.7.16.8.3",
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

LD_RED_SPLIT = Form(
    name="tcgen05.ld-red-split",
    syntax="tcgen05.ld.red.sync.aligned.shape.num.redOp{.abs}{.NaN}.type  r, redval, [taddr], immHalfSplitoff;",
    rows=_reduced_rows("16x32bx2"),
    operands=_REDUCED | _SPLIT_OFF,
    spellings=("tcgen05.ld.red.sync.aligned.shape.num.type.redOp{.abs}{.NaN}",),
    effects=(Collective("warp"), Issue(), Access("read", "taddr", "r")),
    source="PTX ISA 9.7.16.8.3",
)

ST = Form(
    name="tcgen05.st",
    syntax="tcgen05.st.sync.aligned.shape.num{.unpack}.b32  [taddr], r;",
    rows=_rows("unpack"),
    operands={"taddr": tensor_address(), "r": _STORED},
    effects=(Collective("warp"), Issue(), Access("write", "taddr", "r")),
    source="PTX ISA 9.7.16.8.4",
)

ST_SPLIT = Form(
    name="tcgen05.st-split",
    syntax="tcgen05.st.sync.aligned.shape.num{.unpack}.b32  [taddr], immHalfSplitoff, r;",
    rows=_split_rows("unpack"),
    operands={"taddr": tensor_address(), "r": _STORED} | _SPLIT_OFF,
    effects=(Collective("warp"), Issue(), Access("write", "taddr", "r")),
    source="PTX ISA 9.7.16.8.4",
)

WAIT = Form(
    name="tcgen05.wait",
    syntax="tcgen05.op.sync.aligned;",
    rows=f"op ptx target\nwait::ld,wait::st 8.6 {_TARGETS}",
    effects=(Collective("warp"), Wait("tensor memory", suspends=True)),
    source="PTX ISA 9.7.16.8.5",
)

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

SHIFT = Form(
    name="tcgen05.shift",
    syntax="tcgen05.shift.cta_group.down  [taddr];",
    rows="cta_group ptx target\ncta_group::1,cta_group::2 8.6 sm_100a,sm_103a,sm_110a",
    operands={"taddr": tensor_address()},
    effects=(Issue(), Access("update", "taddr", proxy="async")),
    source="PTX ISA 9.7.16.9.3",
)

FENCE = Form(
    name="tcgen05.fence",
    syntax="tcgen05.op;",
    rows=f"op ptx target\nfence::before_thread_sync,fence::after_thread_sync 8.6 {_TARGETS}",
    effects=(Fence("memory", scope="cta"),),
    source="PTX ISA 9.7.16.11.1",
)

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
