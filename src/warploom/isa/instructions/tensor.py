"""Bulk copies, reductions and prefetches of tensors through tensor maps (TMA).

Source: PTX ISA 9.7.9.25.5.2, 9.7.9.27.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from warploom.diagnostics import UsageError
from warploom.isa.instructions.bulk import CTA_MASK, POLICY, SHARED, address_of, mask_of
from warploom.isa.instructions.lanes import spread
from warploom.isa.model.effects import Access, Issue
from warploom.isa.model.form import Form
from warploom.isa.model.operand_layout import LayoutInputs, OperandLayout
from warploom.isa.model.operands import Slots, address, inp
from warploom.isa.model.records import TensorCopy
from warploom.isa.model.semantics import Bound, Warps
from warploom.layout import SharedMap, box_map

_DIMENSIONS = "1d,2d,3d,4d,5d"
_VOLUMES = "3d,4d,5d"
_CTA_GROUPS = "cta_group::1,cta_group::2"
_PAIRED = "sm_100f,sm_110f"
"""Targets that support CTA pairs, gathers, scatters and the modes im2col::w."""
_HINT_FIRST = "{.multicast}{.level::cache_hint}{.cta_group}"
"""Last words of opcodes in which the cache hint precedes the CTA group, as some compilers write them."""


def _rank(slots: Slots) -> int:
    return int(slots["dim"][0])


def _offsets(slots: Slots) -> int:
    """Return the number of im2col offsets: one for each dimension of the filter, or two for im2col::w."""
    return 2 if slots["load_mode"].startswith("im2col::w") else _rank(slots) - 2


def _box(slots: Slots, given: LayoutInputs) -> SharedMap:
    if given.tensor_map is None:
        raise UsageError("the layout of a box depends on its tensor map; expected the fields of a tensor map")
    if given.tensor_map.rank != _rank(slots):
        raise UsageError(
            f"the tensor map has rank {given.tensor_map.rank}, but the copy has {_rank(slots)} dimensions;"
            f" expected rank {_rank(slots)}"
        )
    return box_map(given.tensor_map)


_BOX = OperandLayout("box", _box, ("tensor_map",))
_TILE, _MAP = replace(SHARED, layout=_BOX), address(_rank, space="global")
DESTINATION = {"dstMem": _TILE, "tensorMap": _MAP, "mbar": SHARED, "ctaMask": CTA_MASK, "cache_policy": POLICY}
SOURCE = {"tensorMap": _MAP, "srcMem": _TILE, "cache_policy": POLICY}
PREFETCHED = {"tensorMap": _MAP, "cache_policy": POLICY}
OFFSETS = {"im2colInfo": inp("u16", _offsets)}

_LOADS = (
    Issue(mbarrier="mbar"),
    Access("read", "tensorMap", proxy="tensormap"),
    Access("write", "dstMem", proxy="async"),
)

LOAD = Form(
    name="tensor.load",
    syntax="cp.async.bulk.tensor.dim.dst.global{.tile}.mbarrier::complete_tx::bytes{.multicast}{.cta_group}"
    "{.level::cache_hint}  [dstMem], [tensorMap, tensorCoords], [mbar]{, ctaMask}{, cache-policy};",
    rows=f"""
        dim            dst              multicast             cta_group      level::cache_hint  ptx target
        {_DIMENSIONS}  shared::cta      -                     -              -,L2::cache_hint   8.6 sm_90
        {_DIMENSIONS}  shared::cta      -                     {_CTA_GROUPS}  -,L2::cache_hint   8.6 {_PAIRED}
        {_DIMENSIONS}  shared::cluster  -,multicast::cluster  -              -,L2::cache_hint   8.0 sm_90
        {_DIMENSIONS}  shared::cluster  -,multicast::cluster  {_CTA_GROUPS}  -,L2::cache_hint   8.6 {_PAIRED}
    """,
    operands=DESTINATION,
    spellings=("cp.async.bulk.tensor.dim.dst.global{.tile}.mbarrier::complete_tx::bytes" + _HINT_FIRST,),
    effects=_LOADS,
    source="PTX ISA 9.7.9.27.1.2",
)
LOAD.describe(
    "Starts a copy of a box of a tensor from global to shared memory and reports the bytes to an mbarrier; a mask"
    " sends the box to several CTAs. Use it to load tiles of matrices on sm_90 and newer.",
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r1, %r2}],"
    " [%r3];",
)


def _record(warps: Warps, i: Bound, **fields: Any) -> TensorCopy:
    """Return the record of a tensor copy. `fields` are the fields other than tensor map and coordinates."""
    return TensorCopy(
        dimensions=int(i.dim[0]),
        tensor_map=spread(warps, warps.addresses(i.tensorMap)),
        coordinates=warps.read_vector(i.tensorMap.extra[0]).astype(np.int32),
        **fields,
    )


def _wide(i: Bound) -> str:
    """Return the variant of an im2col mode along W: "w", "w::128", or "" for other modes."""
    return getattr(i, "load_mode", "").removeprefix("im2col").removeprefix("::")


@LOAD.copy
def load(warps: Warps, i: Bound) -> TensorCopy:
    is_im2col = hasattr(i, "im2colInfo")
    return _record(
        warps,
        i,
        direction="load",
        shared_space=i.dst,
        shared=spread(warps, warps.addresses(i.dstMem)),
        completion="mbarrier",
        mbarrier=address_of(warps, i.mbar),
        multicast=mask_of(warps, i.ctaMask),
        is_im2col=is_im2col,
        offsets=warps.read_vector(i.im2colInfo).astype(np.uint16) if is_im2col else None,
        wide=_wide(i),
        cta_group=2 if i.cta_group == "cta_group::2" else 1,
    )


STORE = Form(
    name="tensor.store",
    syntax="cp.async.bulk.tensor.dim.global.src{.tile}.bulk_group{.level::cache_hint}"
    "  [tensorMap, tensorCoords], [srcMem]{, cache-policy};",
    rows=f"""
        dim            src          level::cache_hint  ptx target
        {_DIMENSIONS}  shared::cta  -,L2::cache_hint   8.0 sm_90
    """,
    operands=SOURCE,
    effects=(Issue("bulk"), Access("read", "srcMem", proxy="async"), Access("write", "tensorMap", proxy="tensormap")),
    source="PTX ISA 9.7.9.27.1.2",
)
STORE.describe(
    "Starts a copy of a box from shared memory to a tensor in global memory, in a bulk group. Use it in an"
    " epilogue, after a proxy fence; elements out of bounds are not written.",
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r1, %r2}], [%r0];",
)

REDUCE = Form(
    name="tensor.reduce",
    syntax="cp.reduce.async.bulk.tensor.dim.global.src.redOp{.tile}.bulk_group{.level::cache_hint}"
    "  [tensorMap, tensorCoords], [srcMem]{, cache-policy};",
    rows=f"""
        dim            src          redOp                           level::cache_hint  ptx target
        {_DIMENSIONS}  shared::cta  add,min,max,inc,dec,and,or,xor  -,L2::cache_hint   8.0 sm_90
    """,
    operands=SOURCE,
    effects=(Issue("bulk"), Access("read", "srcMem", proxy="async"), Access("update", "tensorMap", proxy="tensormap")),
    source="PTX ISA 9.7.9.27.1.3",
)
REDUCE.describe(
    "Combines a box of a tensor in global memory with values in shared memory, in a bulk group. Use it to"
    " accumulate results of several CTAs, as in split-K.",
    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd0, {%r1, %r2}], [%r0];",
)


def _store(warps: Warps, i: Bound, *, is_im2col: bool) -> TensorCopy:
    shared, reduction = spread(warps, warps.addresses(i.srcMem)), getattr(i, "redOp", "")
    return _record(
        warps, i,
        direction="store", shared_space=i.src, shared=shared,
        completion="group", reduction=reduction, is_im2col=is_im2col,
    )  # fmt: skip


@STORE.copy
@REDUCE.copy
def store(warps: Warps, i: Bound) -> TensorCopy:
    return _store(warps, i, is_im2col=False)


PREFETCH = Form(
    name="tensor.prefetch",
    syntax="cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}{.level::cache_hint}"
    "  [tensorMap, tensorCoords]{, cache-policy};",
    rows=f"dim level::cache_hint ptx target\n{_DIMENSIONS} -,L2::cache_hint 8.0 sm_90",
    operands=PREFETCHED,
    effects=(Access("read", "tensorMap", proxy="tensormap"),),
    source="PTX ISA 9.7.9.27.1.4",
)
PREFETCH.describe(
    "Starts a prefetch of a box of a tensor to the L2 cache. Use it some tiles before the tensor load.",
    "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd0, {%r1, %r2}];",
)


@PREFETCH.execute
def prefetch(warps: Warps, i: Bound) -> None:
    shared, is_im2col = np.zeros((warps.count, 32), np.uint64), hasattr(i, "im2colInfo")
    warps.prefetch(
        _record(
            warps, i,
            direction="load", shared_space="shared::cta", shared=shared, completion="group", is_im2col=is_im2col,
            wide=_wide(i),
        )
    )  # fmt: skip


# Four rows at once ------------------------------------------------------------------------------------------

FOUR_ROWS = address(5, space="global")  # one column and four rows

GATHER = Form(
    name="tensor.gather",
    syntax="cp.async.bulk.tensor.dim.dst.global.tile::gather4.mbarrier::complete_tx::bytes{.multicast}{.cta_group}"
    "{.level::cache_hint}  [dstMem], [tensorMap, tensorCoords], [mbar]{, ctaMask}{, cache-policy};",
    rows=f"""
        dim  dst              multicast             cta_group        level::cache_hint  ptx target
        2d   shared::cta      -                     -                -,L2::cache_hint   8.6 sm_100
        2d   shared::cta      -                     {_CTA_GROUPS}    -,L2::cache_hint   8.6 {_PAIRED}
        2d   shared::cluster  -,multicast::cluster  -,{_CTA_GROUPS}  -,L2::cache_hint   8.6 {_PAIRED}
    """,
    operands=DESTINATION | {"dstMem": SHARED, "tensorMap": FOUR_ROWS},
    spellings=("cp.async.bulk.tensor.dim.dst.global.tile::gather4.mbarrier::complete_tx::bytes" + _HINT_FIRST,),
    effects=_LOADS,
    source="PTX ISA 9.7.9.27.1.2",
)
GATHER.describe(
    "Starts a copy of four rows of a two-dimensional tensor to shared memory. Use it for paged or sorted data,"
    " such as tokens of an expert.",
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%r0], [%rd0,"
    " {%r1, %r2, %r3, %r4, %r5}], [%r6];",
)

GATHER.copy(load)

SCATTER = Form(
    name="tensor.scatter",
    syntax="cp.async.bulk.tensor.dim.global.src.tile::scatter4.bulk_group{.level::cache_hint}"
    "  [tensorMap, tensorCoords], [srcMem]{, cache-policy};",
    rows=f"dim src level::cache_hint ptx target\n2d shared::cta -,L2::cache_hint 8.6 {_PAIRED}",
    operands=SOURCE | {"tensorMap": FOUR_ROWS, "srcMem": SHARED},
    effects=(Issue("bulk"), Access("read", "srcMem", proxy="async"), Access("write", "tensorMap", proxy="tensormap")),
    source="PTX ISA 9.7.9.27.1.2",
)
SCATTER.describe(
    "Starts a copy from shared memory to four rows of a two-dimensional tensor, in a bulk group. Use it to write"
    " sorted data back.",
    "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd0, {%r1, %r2, %r3, %r4, %r5}], [%r0];",
)


@SCATTER.copy
def scatter(warps: Warps, i: Bound) -> TensorCopy:
    return _store(warps, i, is_im2col=False)


PREFETCH_ROWS = Form(
    name="tensor.prefetch_rows",
    syntax="cp.async.bulk.prefetch.tensor.dim.L2.global.tile::gather4{.level::cache_hint}"
    "  [tensorMap, tensorCoords]{, cache-policy};",
    rows=f"dim level::cache_hint ptx target\n2d -,L2::cache_hint 8.6 {_PAIRED}",
    operands=PREFETCHED | {"tensorMap": FOUR_ROWS},
    effects=(Access("read", "tensorMap", proxy="tensormap"),),
    source="PTX ISA 9.7.9.27.1.4",
)
PREFETCH_ROWS.describe(
    "Starts a prefetch of four rows of a two-dimensional tensor to the L2 cache. Use it before a gather.",
    "cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%rd0, {%r1, %r2, %r3, %r4, %r5}];",
)

PREFETCH_ROWS.execute(prefetch)

# Columns of images ------------------------------------------------------------------------------------------


LOAD_IM2COL = Form(
    name="tensor.load_im2col",
    syntax="cp.async.bulk.tensor.dim.dst.global.load_mode.mbarrier::complete_tx::bytes{.multicast}{.cta_group}"
    "{.level::cache_hint}"
    "  [dstMem], [tensorMap, tensorCoords], [mbar], im2colInfo{, ctaMask}{, cache-policy};",
    rows=f"""
        dim         dst              load_mode       multicast             cta_group        level::cache_hint  ptx target
        {_VOLUMES}  shared::cta      im2col          -                     -                -,L2::cache_hint   8.6 sm_90
        {_VOLUMES}  shared::cta      im2col          -                     {_CTA_GROUPS}    -,L2::cache_hint   8.6 {_PAIRED}
        {_VOLUMES}  shared::cluster  im2col          -,multicast::cluster  -                -,L2::cache_hint   8.0 sm_90
        {_VOLUMES}  shared::cluster  im2col          -,multicast::cluster  {_CTA_GROUPS}    -,L2::cache_hint   8.6 {_PAIRED}
        {_VOLUMES}  shared::cta      im2col::w       -                     -                -,L2::cache_hint   8.6 sm_100
        {_VOLUMES}  shared::cta      im2col::w       -                     {_CTA_GROUPS}    -,L2::cache_hint   8.6 {_PAIRED}
        {_VOLUMES}  shared::cta      im2col::w::128  -                     -,{_CTA_GROUPS}  -,L2::cache_hint   8.6 {_PAIRED}
        {_VOLUMES}  shared::cluster  im2col::w       -,multicast::cluster  -,{_CTA_GROUPS}  -,L2::cache_hint   8.6 {_PAIRED}
        {_VOLUMES}  shared::cluster  im2col::w::128  -,multicast::cluster  -,{_CTA_GROUPS}  -,L2::cache_hint   8.6 {_PAIRED}
    """,  # noqa: E501
    operands=DESTINATION | OFFSETS,
    spellings=(
        "cp.async.bulk.tensor.dim.dst.global.load_mode.mbarrier::complete_tx::bytes" + _HINT_FIRST,
        "cp.async.bulk.tensor.dim.dst.global.mbarrier::complete_tx::bytes.load_mode" + _HINT_FIRST,
    ),
    effects=_LOADS,
    source="PTX ISA 9.7.9.27.1.2",
)
LOAD_IM2COL.describe(
    "Starts a copy of pixels of a tensor for one filter position to shared memory, as rows of a matrix. Use it"
    " for convolutions as matrix multiplications.",
    "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r1, %r2,"
    " %r3, %r4}], [%r5], {%h0, %h1};",
)

LOAD_IM2COL.copy(load)

STORE_IM2COL = Form(
    name="tensor.store_im2col",
    syntax="cp.async.bulk.tensor.dim.global.src.im2col_no_offs.bulk_group{.level::cache_hint}"
    "  [tensorMap, tensorCoords], [srcMem]{, cache-policy};",
    rows=f"dim src level::cache_hint ptx target\n{_VOLUMES} shared::cta -,L2::cache_hint 8.0 sm_90",
    operands=SOURCE,
    effects=(Issue("bulk"), Access("read", "srcMem", proxy="async"), Access("write", "tensorMap", proxy="tensormap")),
    source="PTX ISA 9.7.9.27.1.2",
)
STORE_IM2COL.describe(
    "Starts a copy of rows of a matrix in shared memory to pixels of a tensor, in a bulk group. Use it to store"
    " the results of a convolution.",
    "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%rd0, {%r1, %r2, %r3, %r4}], [%r0];",
)

REDUCE_IM2COL = Form(
    name="tensor.reduce_im2col",
    syntax="cp.reduce.async.bulk.tensor.dim.global.src.redOp.im2col_no_offs.bulk_group{.level::cache_hint}"
    "  [tensorMap, tensorCoords], [srcMem]{, cache-policy};",
    rows=f"""
        dim         src          redOp                           level::cache_hint  ptx target
        {_VOLUMES}  shared::cta  add,min,max,inc,dec,and,or,xor  -,L2::cache_hint   8.0 sm_90
    """,
    operands=SOURCE,
    effects=(Issue("bulk"), Access("read", "srcMem", proxy="async"), Access("update", "tensorMap", proxy="tensormap")),
    source="PTX ISA 9.7.9.27.1.3",
)
REDUCE_IM2COL.describe(
    "Combines pixels of a tensor with rows of a matrix in shared memory, in a bulk group. Use it to accumulate"
    " the results of a convolution.",
    "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs.bulk_group [%rd0, {%r1, %r2, %r3,"
    " %r4}], [%r0];",
)


@STORE_IM2COL.copy
@REDUCE_IM2COL.copy
def store_im2col(warps: Warps, i: Bound) -> TensorCopy:
    return _store(warps, i, is_im2col=True)


PREFETCH_IM2COL = Form(
    name="tensor.prefetch_im2col",
    syntax="cp.async.bulk.prefetch.tensor.dim.L2.global.load_mode{.level::cache_hint}"
    "  [tensorMap, tensorCoords], im2colInfo{, cache-policy};",
    rows=f"""
        dim         load_mode                 level::cache_hint  ptx target
        {_VOLUMES}  im2col                    -,L2::cache_hint   8.0 sm_90
        {_VOLUMES}  im2col::w,im2col::w::128  -,L2::cache_hint   8.6 {_PAIRED}
    """,
    operands=PREFETCHED | OFFSETS,
    effects=(Access("read", "tensorMap", proxy="tensormap"),),
    source="PTX ISA 9.7.9.27.1.4",
)
PREFETCH_IM2COL.describe(
    "Starts a prefetch of pixels of a tensor for one filter position to the L2 cache. Use it before a tensor load"
    " in im2col mode.",
    "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%rd0, {%r1, %r2, %r3, %r4}], {%h0, %h1};",
)

PREFETCH_IM2COL.execute(prefetch)
