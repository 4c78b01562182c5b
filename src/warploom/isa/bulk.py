"""Bulk copies (PTX ISA 9.7.9.25.4 to 9.7.9.25.5), and what a bulk instruction asks of the copy engine.

A request stands for one copy per active lane. Its operands were read when the instruction was issued, so
the engine may carry it out at any later time. Arrays hold one element per lane of the batch, shapes
(warps, 32) unless they say otherwise; lanes that are not active ask for nothing.

The reduction words mean what `reductions.combine(op, type)(old, value)` computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

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
    """A copy of one box of a tensor between global memory and shared memory (tile mode).

    `tensor_map` are generic addresses of 128-byte tensor maps in global, const or param space; they are
    decoded when the request is carried out. A "load" writes the box at `shared` and counts the bytes of the
    whole box, out-of-bounds elements included, off the mbarrier, which is in the space of the destination; a
    multicast mask is as in BulkCopy. A "store" joins the lane's open bulk group and touches the elements in
    bounds only; with a reduction word it combines them with what is there, in the element type of the map.

    Shapes: coordinates (dimensions, warps, 32), int32, innermost dimension first; other arrays (warps, 32).
    Units: coordinates count elements of the tensor.
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
    cta_group: int = 1  # 2: the mbarrier may be in either CTA of the pair that owns the destination


Request = BulkCopy | TensorCopy
