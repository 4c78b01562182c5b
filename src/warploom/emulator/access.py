# pyright: reportUnknownMemberType=false
"""Compiled loads and stores. Lanes access memory one after the other, and every address is checked.

The address kernels (`arena_index`, `window_index`) convert int64 addresses to byte offsets. They return the flat index
(warp * 32 + lane) of the first faulty lane and write the cause to `fault[0]`, or return -1. In the copy kernels,
`words` is the memory as an array of elements of the accessed width; a vector access takes consecutive elements. Checked
offsets are converted to unsigned integers, because compiled code tests signed indices for negative values.

Numba compiles a kernel again for each new array layout and dtype of an argument. Callers therefore pass C-contiguous,
writeable arrays (see `uniform`). The address kernels then compile once, and the copy kernels once for each width.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.faults import Fault
from warploom.isa.model.semantics import Array
from warploom.numerics._compile import njit

OUT_OF_BOUNDS = 1
MISALIGNED = 2
REMOTE = 3
READ_ONLY = 4

CLEAN, DIRTY, LOCKED = 0, 1, 2  # states of an arena segment: not written, written, read-only


def uniform(array: Array) -> Array:
    """Return `array` unchanged if it is C-contiguous and writeable, else a C-contiguous writeable copy."""
    return array if array.flags.c_contiguous and array.flags.writeable else array.copy(order="C")


def signed(addresses: Array) -> NDArray[np.int64]:
    """Return addresses as int64 for compiled code; addresses from 2**63 on become negative."""
    return uniform(addresses.view(np.int64) if addresses.dtype == np.uint64 else addresses.astype(np.int64))


def element(addresses: Array, shape: tuple[int, ...], lane: int) -> Any:
    """Return the address of one lane, after broadcasting `addresses` to `shape`.

    `lane` is the flat index warp * 32 + lane.
    """
    return np.broadcast_to(addresses, shape).reshape(-1)[lane]


def misaligned(size: int, what: str, lane: int) -> Fault:
    """Return the fault of an access that is not aligned to `size` bytes.

    `what` names the access in the message. `lane` is the flat index of the lane.
    """
    message = f"{size}-byte {what} is misaligned; expected a multiple of {size}"
    return Fault("emulator.misaligned", message, lane)


def window_size(name: str, low: int, high: int) -> str:
    """Return a phrase with the size and the address range [low, high) of shared or local memory."""
    if high > low:
        return f"{high - low} bytes of {name} memory, at {low:#x} to {high:#x}"
    return f"no {name} memory"


@njit
def arena_index(
    addresses: Array, mask: Array, base: int, size: int, starts: Array, ends: Array, state: Array, storing: bool,
    out: Array, fault: Array,
) -> int:  # fmt: skip
    """Check accesses of `size` bytes by the lanes in `mask`, and write offsets in `Arena.bytes` to `out`.

    The memory starts at the address `base`. Segment s covers the addresses [starts[s], ends[s]). If `storing` is set,
    `state[s]` becomes DIRTY for each accessed segment s. Returns -1, or w * 32 + l for the first faulty lane (w, l),
    with the cause (such as MISALIGNED) in `fault[0]`. Shapes: mask and out (warps, 32), addresses broadcastable to
    them.
    """
    warps, lanes = mask.shape
    rows, columns = addresses.shape
    segment = -1
    for w in range(warps):
        for lane in range(lanes):
            if not mask[w, lane]:
                continue
            address: int = addresses[w if rows > 1 else 0, lane if columns > 1 else 0]
            if address % size != 0:
                fault[0] = MISALIGNED
                return w * 32 + lane
            if segment < 0 or address < starts[segment] or address + size > ends[segment]:
                segment = np.searchsorted(starts, address, side="right") - 1
                if segment < 0 or address + size > ends[segment]:
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
    """Check accesses of `size` bytes to shared or local memory, and write byte offsets to `out`.

    Each CTA has a window in shared memory, and each lane one in local memory. The low 24 bits of an address must be in
    [low, high). The bits above them are a cluster rank below `ranks`, and must equal the rank `rank[w]` of the
    accessing warp w unless `remote` is set. `first[w]` is the byte offset of the window of cluster rank 0 or of lane 0.
    The windows of consecutive ranks are `stride` bytes apart, the windows of consecutive lanes `lane_stride` bytes.
    `mask`, `fault` and the result are as in `arena_index`.
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
    """Load consecutive elements of `words` from byte offset index[w, l] for each lane (w, l) in `mask`."""
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
    """Store consecutive elements in `words` at byte offset index[w, l] for each lane (w, l) in `mask`."""
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
    """Copy the swizzled tiles of each group g of warps from shared memory to the matrix `out[g]`.

    The 8-byte word (r, k) of tile t is at address starts[g, t] + offsets[r, k], before the swizzle. The swizzle XORs
    address bits 4-6 with `(address // 128 - phase) & chunk_mask`. `origins[g]` is the byte offset of the CTA's window.
    The tiles of a group are stacked vertically if `down` is set, else side by side.

    Returns -1, or g * tiles + t for the first tile that exceeds the window [low, high) of shared addresses.
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
