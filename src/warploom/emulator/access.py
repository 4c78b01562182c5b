# pyright: reportUnknownMemberType=false
"""Compiled loads and stores of lanes: one lane after the other, every access checked.

The address kernels convert addresses (int64) to byte offsets and return the flat index (warp * 32 + lane) of the first
faulty lane, or -1. `words` is memory as elements of the access's width; a vector access has consecutive elements.
Checked offsets are unsigned indices, which the compiled code need not test for being negative.

Each array layout and dtype of an argument compiles anew on first use. Callers pass C-contiguous, writeable arrays
(`uniform`), so that the address kernels compile once and the others once for each width.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.faults import Fault
from warploom.numerics._compile import njit

OUT_OF_BOUNDS = 1
MISALIGNED = 2
REMOTE = 3
READ_ONLY = 4

CLEAN, DIRTY, LOCKED = 0, 1, 2  # state of a segment

Array = NDArray[Any]


def uniform(array: Array) -> Array:
    """Return the array, or a copy of it, C-contiguous and writeable as compiled code expects it."""
    return array if array.flags.c_contiguous and array.flags.writeable else array.copy(order="C")


def signed(addresses: Array) -> NDArray[np.int64]:
    """Return addresses as signed integers for compiled code; from 2**63 on they are out of bounds."""
    return uniform(addresses.view(np.int64) if addresses.dtype == np.uint64 else addresses.astype(np.int64))


def element(addresses: Array, shape: tuple[int, ...], lane: int) -> Any:
    """Return the address of a flat lane index, where the addresses may be broadcast to a shape."""
    return np.broadcast_to(addresses, shape).reshape(-1)[lane]


def misaligned(size: int, what: str, lane: int) -> Fault:
    """Return the fault of a misaligned access."""
    message = f"{size}-byte {what} is misaligned; expected a multiple of {size}"
    return Fault("emulator.misaligned", message, lane)


def window_size(name: str, low: int, high: int) -> str:
    """Return a phrase for the extent of shared or local memory."""
    if high > low:
        return f"{high - low} bytes of {name} memory, at {low:#x} to {high:#x}"
    return f"no {name} memory"


@njit
def find_segment(starts: Array, ends: Array, address: int, size: int, hint: int) -> int:
    """Return the index of the segment that holds [address, address + size), or -1; try `hint` first."""
    if hint >= 0 and starts[hint] <= address and address + size <= ends[hint]:
        return hint
    low, high = 0, len(starts)
    while low < high:
        middle = (low + high) // 2
        if starts[middle] <= address:
            low = middle + 1
        else:
            high = middle
    found = low - 1
    if found >= 0 and address + size <= ends[found]:
        return found
    return -1


@njit
def arena_index(
    addresses: Array, mask: Array, base: int, size: int, starts: Array, ends: Array, state: Array, storing: bool,
    out: Array, fault: Array,
) -> int:  # fmt: skip
    """Compute byte offsets in the arena, whose first byte has the virtual address `base`.

    With `storing`, `state[segment]` becomes DIRTY for each accessed segment.
    """
    warps, lanes = mask.shape
    rows, columns = addresses.shape
    segment = -1
    for w in range(warps):
        for lane in range(lanes):
            if not mask[w, lane]:
                continue
            address = addresses[w if rows > 1 else 0, lane if columns > 1 else 0]
            if address % size != 0:
                fault[0] = MISALIGNED
                return w * 32 + lane
            segment = find_segment(starts, ends, address, size, segment)
            if segment < 0:
                fault[0] = OUT_OF_BOUNDS
                return w * 32 + lane
            if storing:
                if state[segment] == LOCKED:
                    fault[0] = READ_ONLY
                    return w * 32 + lane
                state[segment] = DIRTY
            out[w, lane] = address - base
    return -1


@njit
def window_index(
    addresses: Array, mask: Array, low: int, high: int, stride: int, lane_stride: int, first: Array, rank: Array,
    ranks: int, remote: bool, size: int, out: Array, fault: Array,
) -> int:  # fmt: skip
    """Compute byte offsets of addresses in per-CTA or per-lane windows.

    The offsets index the array that holds all windows. A window is [low, high) of the low 24 bits of an address; the
    bits above are a cluster rank. `first[w]` is the byte offset of the window of rank 0 in the warp's cluster, or of
    the warp's first lane. `stride` is the distance between ranks, `lane_stride` between lanes.
    """
    warps, lanes = mask.shape
    rows, columns = addresses.shape
    for w in range(warps):
        for lane in range(lanes):
            if not mask[w, lane]:
                continue
            address = addresses[w if rows > 1 else 0, lane if columns > 1 else 0]
            if address % size != 0:
                fault[0] = MISALIGNED
                return w * 32 + lane
            target = address >> 24
            offset = address & 0xFFFFFF
            if target != rank[w]:
                if target >= ranks or target < 0:
                    fault[0] = OUT_OF_BOUNDS
                    return w * 32 + lane
                if not remote:
                    fault[0] = REMOTE
                    return w * 32 + lane
            if offset < low or offset + size > high:
                fault[0] = OUT_OF_BOUNDS
                return w * 32 + lane
            out[w, lane] = first[w] + target * stride + lane * lane_stride + offset - low
    return -1


@njit
def load_indexed(words: Array, index: Array, mask: Array, out: Array) -> None:
    """Load elements at checked byte offsets."""
    count, warps, lanes = out.shape
    width = np.uint64(out.itemsize)
    for w in range(warps):
        for lane in range(lanes):
            if mask[w, lane]:
                first = np.uint64(index[w, lane]) // width
                for item in range(count):
                    out[item, w, lane] = words[first + np.uint64(item)]


@njit
def store_indexed(words: Array, index: Array, mask: Array, values: Array) -> None:
    """Store elements at checked byte offsets."""
    count = values.shape[0]
    warps, lanes = mask.shape
    width = np.uint64(values.itemsize)
    value_rows, value_columns = values.shape[1], values.shape[2]
    for w in range(warps):
        for lane in range(lanes):
            if mask[w, lane]:
                first = np.uint64(index[w, lane]) // width
                for item in range(count):
                    words[first + np.uint64(item)] = values[
                        item, w if value_rows > 1 else 0, lane if value_columns > 1 else 0
                    ]


@njit
def gather_tiles(
    words: Array, origins: Array, starts: Array, offsets: Array, chunk_mask: int, phase: int, low: int, high: int,
    out: Array, down: bool,
) -> int:  # fmt: skip
    """Read swizzled tiles of 8-byte words for each group.

    Word (r, k) of a tile is at starts[g, t] + offsets[r, k], with its chunk swizzled. Returns group * tiles + tile of a
    tile that leaves its window, or -1.
    """
    groups, tiles = starts.shape
    rows, columns = offsets.shape
    # The swizzle moves chunks within 1024 bytes, so tiles far enough from the ends of the window are in bounds.
    least, most = offsets.min() - 1024, offsets.max() + 1024
    for g in range(groups):
        for t in range(tiles):
            row, column = (t * rows, 0) if down else (0, t * columns)
            start = starts[g, t]
            inside = start + least >= low and start + most <= high
            for r in range(rows):
                for c in range(columns):
                    address = start + offsets[r, c]
                    address ^= (((address >> 7) - phase) & chunk_mask) << 4
                    if not inside and (address < low or address + 8 > high):
                        return g * tiles + t
                    source = np.uint64(origins[g] + address - low) >> np.uint64(3)
                    out[g, np.uint64(row + r), np.uint64(column + c)] = words[source]
    return -1
