"""Changes of tensor maps in memory, and the fence that makes these changes visible to TMA.

Source: PTX ISA 9.7.9.26, 9.7.13.15.
"""

from typing import LiteralString, cast

import numpy as np

from warploom.isa.instructions.bulk import GLOBAL, SHARED
from warploom.isa.model.effects import Access, Barrier, Collective, Fence, Flow
from warploom.isa.model.form import Form
from warploom.isa.model.operands import address, immediate, inp
from warploom.isa.model.semantics import Array, Bound, Warps
from warploom.layout.tensormap import PACKED, TENSOR_MAP_BYTES

_SPACES = "-,global,shared::cta"
_TARGETS = "sm_90a,sm_100f,sm_103f,sm_110f,sm_120f"
_ORDINALS = {"box_dim": 5, "global_dim": 5, "global_stride": 4, "element_stride": 5}
_CODES = {
    "elemtype": range(13),
    "interleave_layout": range(3),
    "swizzle_mode": range(4),
    "swizzle_atomicity": range(4),
    "fill_mode": range(2),
}
_NEW_CODES = {"elemtype": range(13, 16), "swizzle_mode": range(4, 5)}
"""Codes for the packed 6-bit and 4-bit formats, and for the 96-byte swizzle."""
_PACKED_NAMES: dict[str, LiteralString] = {
    "rank": "rank_minus_one",
    "box_dim": "box",
    "interleave_layout": "interleave",
    "swizzle_mode": "swizzle",
    "fill_mode": "fill",
}
"""Field names of the instruction that differ from the names in `PACKED`."""


def _replace(warps: Warps, i: Bound, ordinal: int, value: Array) -> None:
    """Store `value` in a field of the tensor map. `ordinal` is the index in a field with several entries."""
    assert PACKED.fields is not None
    field: str = i.field
    layout, offset = PACKED.fields[_PACKED_NAMES.get(field) or cast("LiteralString", field)][:2]
    entry = layout.base
    where = warps.addresses(i.addr) + np.uint64(offset + ordinal * entry.itemsize)
    warps.store(i.ss, where, f"b{8 * entry.itemsize}", value.astype(entry)[np.newaxis])


REPLACE = Form(
    name="tensormap.replace",
    syntax="tensormap.replace.tile.field{.ss}.b1024.type  [addr], new-val;",
    rows=f"field ss type ptx target\nglobal_address {_SPACES} b64 8.3 {_TARGETS}",
    operands={"addr": address(), "new_val": inp("type")},
    effects=(Access("update", "addr", "new_val"), Flow(address=("new_val",), space="global", unwritten="use")),
    source="PTX ISA 9.7.9.26.1",
)
REPLACE.describe(
    "Changes the address or a stride of a tensor map in memory. Use it for grouped GEMM, where each problem has"
    " its own tensor.",
    "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r0], %rd1;",
)

REPLACE_RANK = Form(
    name="tensormap.replace_rank",
    syntax="tensormap.replace.tile.field{.ss}.b1024.type  [addr], new-val;",
    rows=f"field ss type ptx target\nrank {_SPACES} b32 8.3 {_TARGETS}",
    operands={"addr": address(), "new_val": inp("type")},
    effects=(Access("update", "addr", "new_val"),),
    source="PTX ISA 9.7.9.26.1",
)
REPLACE_RANK.describe(
    "Changes the rank of a tensor map in memory. Use it for a tensor with another number of dimensions.",
    "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r0], 1;",
)


@REPLACE_RANK.execute
@REPLACE.execute
def replace(warps: Warps, i: Bound) -> None:
    _replace(warps, i, 0, warps.read(i.new_val))


REPLACE_ENTRY = Form(
    name="tensormap.replace_entry",
    syntax="tensormap.replace.tile.field{.ss}.b1024.type  [addr], ord, new-val;",
    rows=f"""
        field                              ss         type  ptx target
        box_dim,global_dim,element_stride  {_SPACES}  b32   8.3 {_TARGETS}
        global_stride                      {_SPACES}  b64   8.3 {_TARGETS}
    """,
    operands={
        "addr": address(),
        "ord": immediate(values=lambda slots: range(_ORDINALS[slots["field"]])),
        # ptxas computes with 32-bit entries, so they are integers.
        "new_val": inp(lambda slots: "u32" if slots["type"] == "b32" else slots["type"]),
    },
    effects=(Access("update", "addr", "new_val"),),
    source="PTX ISA 9.7.9.26.1",
)
REPLACE_ENTRY.describe(
    "Changes an extent of the box or the tensor, or an element stride, of a tensor map in memory. Use it for"
    " grouped GEMM, where each problem has its own size.",
    "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r0], 1, %r1;",
)

replace_entry = REPLACE_ENTRY.execute(lambda warps, i: _replace(warps, i, i.ord, warps.read(i.new_val)))

REPLACE_CODE = Form(
    name="tensormap.replace_code",
    syntax="tensormap.replace.tile.field{.ss}.b1024.b32  [addr], new-val;",
    rows=f"""
        field                                              ss         ptx target
        elemtype,interleave_layout,swizzle_mode,fill_mode  {_SPACES}  8.3 {_TARGETS}
        swizzle_atomicity                                  {_SPACES}  8.6 sm_100a,sm_100f,sm_110f,sm_120f
    """,
    operands={"addr": address(), "new_val": immediate(values=lambda slots: _CODES[slots["field"]])},
    effects=(Access("update", "addr", "new_val"),),
    source="PTX ISA 9.7.9.26.1",
)
REPLACE_CODE.describe(
    "Changes the element type, the interleave, the swizzle or the fill of a tensor map in memory. Use it if one"
    " kernel serves several data types.",
    "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r0], 3;",
)


@REPLACE_CODE.execute
def replace_code(warps: Warps, i: Bound) -> None:
    _replace(warps, i, 0, np.full((1, 1), i.new_val))


REPLACE_NEW_CODE = Form(
    name="tensormap.replace_new_code",
    syntax="tensormap.replace.tile.field{.ss}.b1024.b32  [addr], new-val;",
    rows=f"""
        field         ss         ptx target
        elemtype      {_SPACES}  8.7 sm_100f,sm_110f,sm_120f
        swizzle_mode  {_SPACES}  8.8 sm_103a,sm_107a
    """,
    operands={"addr": address(), "new_val": immediate(values=lambda slots: _NEW_CODES[slots["field"]])},
    effects=(Access("update", "addr", "new_val"),),
    source="PTX ISA 9.7.9.26.1",
)
REPLACE_NEW_CODE.describe(
    "Changes the element type or the swizzle of a tensor map in memory to one that sm_100 introduced. Use it for"
    " 4- and 6-bit types.",
    "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r0], 13;",
)

REPLACE_NEW_CODE.execute(replace_code)

CP_FENCEPROXY = Form(
    name="tensormap.cp_fenceproxy",
    syntax="tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned"
    "  [dst], [src], size;",
    rows="scope ptx target\ncta,cluster,gpu,sys 8.3 sm_90",
    operands={"dst": GLOBAL, "src": SHARED, "size": immediate(values=(TENSOR_MAP_BYTES,))},
    effects=(
        Collective("warp"),
        Barrier("warp", order="weak"),
        Access("read", "src"),
        Access("write", "dst"),
        Fence("proxy", order="release", scope="scope", proxy="tensormap", address="dst"),
    ),
    source="PTX ISA 9.7.13.15.18",
)
CP_FENCEPROXY.describe(
    "Copies a tensor map from shared to global memory and makes it visible to a later acquire fence of the"
    " tensormap proxy. Use it after `tensormap.replace` in shared memory.",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd0], [%r0], 128;",
)


@CP_FENCEPROXY.execute
def copy_map(warps: Warps, i: Bound) -> None:
    values = warps.load("shared::cta", warps.addresses(i.src), "b64", TENSOR_MAP_BYTES // 8)
    warps.store("global", warps.addresses(i.dst), "b64", values)
