"""Records of asynchronous copies, with one copy for each active lane.

A record contains the values of the operands at the time of the instruction. Array elements of inactive lanes have no
meaning.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from warploom.lazy_dataclass import dataclass

Completion = Literal["mbarrier", "group"]


@dataclass(frozen=True, slots=True, eq=False)
class ThreadCopy:
    """Copy from global to shared memory by `cp.async`, in the copy group of its thread.

    The destination has `size` bytes. The copy reads the first `amount` bytes of the source and fills the rest of the
    destination with zeros.

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
    """Copy of consecutive bytes between two state spaces by `cp.async.bulk` or `cp.reduce.async.bulk`.

    With the source space "clusters", the copy cancels a cluster that has not started, and writes the response. A
    multicast then goes to all CTAs of the cluster.

    - `completion`: "mbarrier" if the bytes are subtracted from the pending transactions of `mbarrier`, or "group" if
      the copy joins the open bulk group of its lane
    - `mbarrier`: address in the state space of the destination; for shared::cluster, in the CTA that owns the
      destination
    - `multicast`: mask of the CTAs in the cluster that receive the bytes at the same offset; in each of these CTAs, the
      mbarrier at the same offset counts the bytes
    - `byte_mask`: bit i allows byte i of every 16 bytes to be written
    - `reduction`: operation that combines the bytes with the destination (see `reductions.combine_bulk`)
    - `ignored`: numbers of unread bytes at the start and at the end of the source, each 0 to 15; the emulator does not
      change their destination bytes, and the mbarrier counts all bytes

    Shapes: every array is (warps, 32), or broadcasts to (warps, 32).

    Units: `bytes` is a multiple of 16.

    Errors: the emulator checks bounds, the alignment of both addresses to 16 bytes, and the range of `ignored`.

    Source: PTX ISA 9.7.9.25.5.
    """

    source_space: str  # "global", "shared::cta", "clusters"
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
        """Return the offset of the first source byte that each copy reads, and the number of bytes.

        Shapes: both arrays broadcast to (warps, 32).

        Units: bytes from the source address.
        """
        size = self.bytes.astype(np.int64)
        if self.ignored is None:
            return np.zeros((1, 1), np.int64), size
        left, right = (each.astype(np.int64) for each in self.ignored)
        return np.minimum(left, size), np.maximum(size - left - right, 0)


@dataclass(frozen=True, slots=True, eq=False)
class TensorCopy:
    """Copy of one box of a tensor, tiled or im2col, between global and shared memory.

    - `direction`: "load" into shared memory, or "store" into global memory; a store skips elements out of bounds
    - `tensor_map`: generic addresses of 128-byte tensor maps, which the emulator decodes when it executes the copy
    - `shared`: address of the box in shared memory
    - `completion`, `mbarrier`, `multicast`: as in `BulkCopy`; the mbarrier counts the bytes of the whole box, including
      elements out of bounds
    - `reduction`: operation of a store that combines the elements with global memory, in the element type of the map
    - `is_im2col`: mode of the instruction, which must equal the mode of the map
    - `offsets`: positions in the filter for an im2col load; with `wide`, the halo and the offset along W

    Shapes: coordinates are (dimensions, warps, 32), int32. A copy of four rows has 5 coordinates: the column and the
        rows. Offsets are (dimensions - 2, warps, 32), or (2, warps, 32) with `wide`. Both have the
    innermost dimension first. Other arrays are (warps, 32).

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
    wide: str = ""  # "w" or "w::128" for im2col::w and im2col::w::128
    cta_group: int = 1  # 2: the mbarrier may be in either CTA of the pair that owns the destination


CopyRecord = ThreadCopy | BulkCopy | TensorCopy
