"""Bulk copies of tensors, in tile mode (PTX ISA 9.7.9.25.5.2 and 9.7.9.27)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warploom.isa.bulk import TensorCopy, address_of, mask_of
from warploom.isa.kit import Form, no_effect
from warploom.isa.lanes import spread
from warploom.isa.operands import Slots, address, inp
from warploom.isa.protocol import Address, Bound, Warps

_DIMENSIONS = "1d,2d,3d,4d,5d"
_CTA_GROUPS = "cta_group::1,cta_group::2"


def _rank(slots: Slots) -> int:
    return int(slots["dim"][0])


def _coordinates(warps: Warps, tensor: Address) -> NDArray[np.int32]:
    """Coordinates of an address operand. Shapes: (dimensions, warps, 32), innermost first."""
    return warps.read_vector(tensor.extra[0]).astype(np.int32)


LOAD = Form(
    name="tensor.load",
    syntax=(
        "cp.async.bulk.tensor.dim.dst.global{.tile}.mbarrier::complete_tx::bytes{.multicast}{.cta_group}"
        "{.level::cache_hint}  [dstMem], [tensorMap, tensorCoords], [mbar]{, ctaMask}{, cache-policy};"
    ),
    rows=f"""
        dim            dst              multicast             cta_group      level::cache_hint  ptx target
        {_DIMENSIONS}  shared::cta      -                     -              -,L2::cache_hint   8.6 sm_90
        {_DIMENSIONS}  shared::cluster  -,multicast::cluster  -              -,L2::cache_hint   8.0 sm_90
        {_DIMENSIONS}  shared::cluster  -,multicast::cluster  {_CTA_GROUPS}  -,L2::cache_hint   8.6 sm_100a
    """,
    operands={
        "dstMem": address(space="shared"),
        "tensorMap": address(_rank),
        "mbar": address(space="shared"),
        "ctaMask": inp("u16", when="multicast"),
        "cache_policy": inp("b64", when="level::cache_hint"),
    },
    touches="async",
    source="PTX ISA 9.7.9.27.1.2",
)


@LOAD.meaning
def load(warps: Warps, i: Bound) -> None:
    warps.bulk(
        TensorCopy(
            direction="load",
            dimensions=int(i.dim[0]),
            tensor_map=spread(warps, warps.addresses(i.tensorMap)),
            coordinates=_coordinates(warps, i.tensorMap),
            shared_space=i.dst,
            shared=spread(warps, warps.addresses(i.dstMem)),
            completion="mbarrier",
            mbarrier=address_of(warps, i.mbar),
            multicast=mask_of(warps, i.ctaMask),
            cta_group=2 if i.cta_group == "cta_group::2" else 1,
        )
    )


STORE = Form(
    name="tensor.store",
    syntax=(
        "cp.async.bulk.tensor.dim.global.src{.tile}.bulk_group{.level::cache_hint}"
        "  [tensorMap, tensorCoords], [srcMem]{, cache-policy};"
    ),
    rows=f"""
        dim            src          level::cache_hint  ptx target
        {_DIMENSIONS}  shared::cta  -,L2::cache_hint   8.0 sm_90
    """,
    operands={
        "tensorMap": address(_rank),
        "srcMem": address(space="shared"),
        "cache_policy": inp("b64", when="level::cache_hint"),
    },
    touches="async",
    source="PTX ISA 9.7.9.27.1.2",
)

REDUCE = Form(
    name="tensor.reduce",
    syntax=(
        "cp.reduce.async.bulk.tensor.dim.global.src.redOp{.tile}.bulk_group{.level::cache_hint}"
        "  [tensorMap, tensorCoords], [srcMem]{, cache-policy};"
    ),
    rows=f"""
        dim            src          redOp                           level::cache_hint  ptx target
        {_DIMENSIONS}  shared::cta  add,min,max,inc,dec,and,or,xor  -,L2::cache_hint   8.0 sm_90
    """,
    operands={
        "tensorMap": address(_rank),
        "srcMem": address(space="shared"),
        "cache_policy": inp("b64", when="level::cache_hint"),
    },
    touches="async",
    source="PTX ISA 9.7.9.27.1.3",
)


def _store(warps: Warps, i: Bound, reduction: str) -> None:
    warps.bulk(
        TensorCopy(
            direction="store",
            dimensions=int(i.dim[0]),
            tensor_map=spread(warps, warps.addresses(i.tensorMap)),
            coordinates=_coordinates(warps, i.tensorMap),
            shared_space=i.src,
            shared=spread(warps, warps.addresses(i.srcMem)),
            completion="group",
            reduction=reduction,
        )
    )


@STORE.meaning
def store(warps: Warps, i: Bound) -> None:
    _store(warps, i, "")


@REDUCE.meaning
def reduce(warps: Warps, i: Bound) -> None:
    _store(warps, i, i.redOp)


PREFETCH = Form(
    name="tensor.prefetch",
    syntax=(
        "cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}{.level::cache_hint}"
        "  [tensorMap, tensorCoords]{, cache-policy};"
    ),
    rows=f"""
        dim            level::cache_hint  ptx target
        {_DIMENSIONS}  -,L2::cache_hint   8.0 sm_90
    """,
    operands={"tensorMap": address(_rank), "cache_policy": inp("b64", when="level::cache_hint")},
    source="PTX ISA 9.7.9.27.1.4",
)

PREFETCH.meaning(no_effect)
