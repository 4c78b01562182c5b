"""Records of asynchronous copies, with one copy for each active lane.

The operands have been read when the instruction is issued, so that the emulator may execute a record at any later time.
Observers read the ranges from the same record. Arrays have one element for each lane of the batch; those of inactive
lanes have no meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Completion = Literal["mbarrier", "group"]


@dataclass(frozen=True, slots=True, eq=False)
class ThreadCopy:
    """Copy of up to `size` bytes from global to shared memory, in the copy group of its thread.

    Only the first `amount` bytes are read; the rest of the destination is filled with zeros.

    Shapes: every array is (warps, 32).
    Units: bytes. `size` is 4, 8 or 16.
    Source: PTX ISA 9.7.9.25.3.1.
    """

    source: NDArray[np.uint64]
    destination: NDArray[np.uint64]
    amount: NDArray[np.uint32]
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class BulkCopy:
    """Copy of consecutive bytes between two state spaces.

    With completion "mbarrier" the bytes written are subtracted from the transactions of the mbarrier, which is in the
    space of the destination and, for shared::cluster, in the CTA that owns the destination. With a multicast mask the
    bytes are written at the same offset in every CTA of the cluster whose rank has its bit set, and counted at the
    mbarrier there. With completion "group" the copy joins the lane's open bulk group. A reduction word combines the
    bytes with those at the destination (`reductions.combine_bulk`).

    With `ignored`, some bytes at the start and at the end of the source are not read. All bytes of the destination may
    change: those that receive no byte of the source are indeterminate, and the emulator leaves them unchanged. All
    bytes are counted.

    Shapes: every array is (warps, 32), or broadcasts to it.
    Units: `bytes` is a multiple of 16; bit i of `byte_mask` lets byte i of every 16 be written; `ignored` is the number
        of bytes at the start and that at the end, each 0 to 15.
    Errors: the emulator checks bounds, the alignment of both addresses to 16 bytes, and the range of `ignored`.
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
    ignored: tuple[NDArray[np.uint32], NDArray[np.uint32]] | None = None

    def source_range(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the offset of the first byte that each copy reads, and the number of bytes that it reads."""
        size = self.bytes.astype(np.int64)
        if self.ignored is None:
            return np.zeros((1, 1), np.int64), size
        left, right = (each.astype(np.int64) for each in self.ignored)
        return np.minimum(left, size), np.maximum(size - left - right, 0)


@dataclass(frozen=True, slots=True, eq=False)
class TensorCopy:
    """Copy of one box of a tensor, or of one column of its pixels.

    The copy is between global memory and shared memory.

    `tensor_map` has the generic addresses of 128-byte tensor maps in global, const or param space, which are decoded
    when the copy is executed. A "load" writes the box at `shared` and subtracts the bytes of the whole box, elements
    out of bounds included, from the transactions of the mbarrier; the multicast mask is that of `BulkCopy`. A "store"
    joins the lane's open bulk group and accesses elements in bounds only; a reduction word combines them with those in
    global memory, in the element type of the map.

    `is_im2col` is the mode of the instruction, which must be that of the map; `offsets` into the filter are those of a
    load of pixels.

    Shapes: coordinates (dimensions, warps, 32), int32, and offsets (dimensions - 2, warps, 32), innermost
        dimension first; other arrays (warps, 32).
    Units: coordinates count elements of the tensor, or slices of an interleaved tensor.
    Errors: the emulator checks the map, its rank against `dimensions`, and alignment.
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


BulkRecord = BulkCopy | TensorCopy
CopyRecord = ThreadCopy | BulkCopy | TensorCopy
