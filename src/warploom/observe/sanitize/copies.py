# pyright: reportUnknownMemberType=false
"""Bulk copies that one instruction issues, and the shared memory that they write."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import SHARED_START
from warploom.emulator.events import CopyIssue
from warploom.emulator.grid import Topology
from warploom.emulator.shared_memory import SharedMemory
from warploom.emulator.tensor_boxes import lane_values
from warploom.isa.model.records import TensorCopy
from warploom.numerics._compile import njit

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Copies:
    """Some of the copies of an event. `index` has their indices in the event.

    Lane lanes[i] of warps[i] issues copy i, and positions[i] is the index of this warp in the arrays of the request.
    Shapes: (copies,).
    """

    event: CopyIssue
    index: Array
    positions: Array
    lanes: Array
    warps: Array

    def values(self, array: Array) -> Array:
        """Return the values that an operand has in the lanes that issued the copies. Shape: (copies,).

        `array` has the operand's values in all lanes.
        """
        return lane_values(array, self.positions, self.lanes).astype(np.int64)

    def box_positions(self) -> tuple[Array, Array]:
        """Return the coordinates and the im2col offsets of tensor copies.

        Shapes: (dimensions, copies) and (im2col offsets, copies).
        """
        request = self.event.request
        coordinates = request.coordinates[:, self.positions, self.lanes].astype(np.int64)
        if request.offsets is None:
            return coordinates, np.zeros((0, len(self.index)), np.int64)
        return coordinates, request.offsets[:, self.positions, self.lanes].astype(np.int64)


def copies_of(event: CopyIssue, index: Array) -> Copies:
    """Return the copies of an event with the given indices."""
    return Copies(event, index, event.positions[index], event.lanes[index], event.warps[index])


@dataclass(frozen=True, slots=True)
class Targets:
    """Ranges of shared memory that copies write, one for each copy and target CTA.

    Range i belongs to copy copy[i] and begins at byte offset starts[i]. The mbarrier that completes the copy is at byte
    offset words[i] and has the number found[i], -1 for none. Shapes: (ranges,).
    """

    copy: Array
    starts: Array
    words: Array
    found: Array


def find_targets(
    copies: Copies, addresses: Array, sizes: Array, at: Array, topology: Topology, shared: SharedMemory
) -> tuple[Array, Targets]:  # fmt: skip
    """Return the number of the mbarrier that completes each copy, and the ranges that the copies write.

    Copy i writes sizes[i] bytes at the shared address addresses[i]. Ranges outside of the shared memory are left out.
    `at` has the numbers of the mbarriers by byte offset / 8, -1 for none. The mbarrier of a multicast is that of its
    first CTA. Shapes: addresses, sizes and first result (copies,).
    """
    request = copies.event.request
    masks = np.zeros(0, np.int64) if request.multicast is None else copies.values(request.multicast)
    mbarriers, every = copies.values(request.mbarrier), np.arange(topology.cluster_size)
    signalled = np.empty((len(mbarriers), len(every)), np.int64)
    signalled[:] = request.mbarrier_rank(every, mbarriers[:, None]) if isinstance(request, TensorCopy) else every
    objects = np.empty(len(mbarriers), np.int64)
    rows = np.empty((4, signalled.size), np.int64)
    count = _find_targets(
        topology.cta_of, topology.rank, shared.stride, SHARED_START, shared.end, at, copies.warps, addresses, sizes,
        masks, mbarriers, signalled, objects, rows,
    )  # fmt: skip
    return objects, Targets(*(row[:count] for row in rows))


@njit
def _find_targets(
    cta_of: Array, rank_of: Array, stride: int, low: int, high: int, at: Array, warps: Array, addresses: Array,
    sizes: Array, masks: Array, mbarriers: Array, signalled: Array, objects: Array, rows: Array,
) -> int:  # fmt: skip
    """Write the results of `find_targets` to `objects` and `rows`. Return the number of ranges.

    The shared memory of a CTA has the addresses from `low` to `high` - 1. `masks` has the target CTAs of multicasts,
    and is empty for other copies. `mbarriers` has the addresses of the mbarriers. The mbarrier of the CTA of rank
    signalled[k, r] counts the bytes that copy k writes to the CTA of rank r.
    """
    count, size = 0, signalled.shape[1]
    for k in range(len(warps)):
        cta = cta_of[warps[k]]
        leader = np.int64(cta - rank_of[cta])
        address, rank, mbarrier = addresses[k] & 0xFFFFFF, addresses[k] >> 24, mbarriers[k] & 0xFFFFFF
        mask = masks[k] if len(masks) else np.int64(1) << (rank if 0 <= rank < 63 else 63)
        first = 0
        while first < size - 1 and (mask >> first) & 1 == 0:
            first += 1
        if mask == 0:
            first = 0
        word = (leader + signalled[k, first]) * stride + mbarrier - low
        objects[k] = at[min(max(word >> 3, 0), len(at) - 1)]
        for target in range(size):
            if (mask >> target) & 1 and address >= low and address + sizes[k] <= high:
                word = (leader + signalled[k, target]) * stride + max(mbarrier, low) - low
                rows[0, count] = k
                rows[1, count] = (leader + target) * stride + address - low
                rows[2, count] = word
                rows[3, count] = at[min(word >> 3, len(at) - 1)]
                count += 1
    return count
