# pyright: reportUnknownMemberType=false
"""Compiled loads and stores of many lanes, with checked addresses."""

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
    """Return a C-contiguous, writeable array equal to `array`, without a copy if possible."""
    # Numba compiles a kernel again for each new array layout and dtype of an argument.
    return array if array.flags.c_contiguous and array.flags.writeable else array.copy(order="C")


def signed(addresses: Array) -> NDArray[np.int64]:
    """Return addresses as int64. Addresses from 2**63 on become negative."""
    return uniform(addresses.view(np.int64) if addresses.dtype == np.uint64 else addresses.astype(np.int64))


def element(addresses: Array, shape: tuple[int, ...], lane: int) -> Any:
    """Return the address of the lane with the flat index `lane` (warp * 32 + lane).

    `addresses` is first broadcast to `shape`.
    """
    return np.broadcast_to(addresses, shape).reshape(-1)[lane]


def misaligned(size: int, what: str, lane: int) -> Fault:
    """Return the fault of an access that is not aligned to `size` bytes.

    `what` names the access in the message. `lane` is the flat index warp * 32 + lane.
    """
    message = f"{size}-byte {what} is misaligned; expected a multiple of {size}"
    return Fault("emulator.misaligned", message, lane)


def window_size(name: str, low: int, high: int) -> str:
    """Return a phrase such as "256 bytes of shared memory, at 0x400 to 0x500"."""
    if high > low:
        return f"{high - low} bytes of {name} memory, at {low:#x} to {high:#x}"
    return f"no {name} memory"


@njit
def _last_segment(starts: Array, address: int) -> int:
    """Return the index of the last segment that starts at or before an address, or -1."""
    low, high = 0, len(starts)  # Numba needs 0.2 s to compile np.searchsorted
    while low < high:
        middle = (low + high) // 2
        if starts[middle] <= address:
            low = middle + 1
        else:
            high = middle
    return low - 1


@njit
def arena_index(
    addresses: Array, mask: Array, base: int, size: int, starts: Array, ends: Array, state: Array, storing: bool,
    out: Array, fault: Array,
) -> int:  # fmt: skip
    """Check the addresses of lanes, and write their offsets in `Arena.bytes` to `out`.

    Return -1, or the flat index w * 32 + l of the first faulty lane. In this case, `fault[0]` receives the cause, such
    as MISALIGNED. `starts`, `ends` and `state` describe the segments of the arena.

    Shapes: mask and out (warps, 32), addresses broadcastable to them. Units: `size` in bytes per lane.
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
                segment = _last_segment(starts, address)
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
    """Check addresses in shared or local memory, and write byte offsets to `out`.

    The memory has one window of addresses [low, high) for each CTA or lane. Unless `remote` is set, warp w must access
    the CTA of cluster rank `rank[w]`. The result, `fault` and the shapes are those of `arena_index`.
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
            # The high bits are a cluster rank (0 in local memory), the low 24 bits an address in the window.
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
            # `first[w]` is the offset of the window of cluster rank 0 or of lane 0.
            out[w, lane] = first[w] + target * stride + lane * lane_stride + offset - low
    return -1


@njit
def load_indexed(words: Array, index: Array, mask: Array, out: Array) -> None:
    """Load elements of `words` into `out` for each lane in `mask`.

    Lane (w, l) loads consecutive elements from the byte offset index[w, l]. Shapes: out (elements, warps, 32).
    """
    count, warps, lanes = out.shape
    # Unsigned, because compiled code tests signed indices for negative values.
    width = np.uint64(out.itemsize)
    for w in range(warps):
        for lane in range(lanes):
            if mask[w, lane]:
                first = np.uint64(index[w, lane]) // width
                for item in range(count):
                    out[item, w, lane] = words[first + np.uint64(item)]


@njit
def store_indexed(words: Array, index: Array, mask: Array, values: Array) -> None:
    """Store elements of `values` in `words` for each lane in `mask`.

    Lane (w, l) stores consecutive elements from the byte offset index[w, l] on.

    Shapes: values (elements, warps, 32) or broadcastable.
    """
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
    words: Array, origins: Array, descriptors: Array, offsets: Array, chunk_mask: int, phase: int, low: int, high: int,
    out: Array, transposed: bool,
) -> int:  # fmt: skip
    """Copy swizzled tiles of the shared memory `words` to one matrix `out[g]` for each warpgroup g.

    Tile t has the columns [t * k, (t + 1) * k) of a matrix. Its rows are stored in shared memory, or its columns if
    `transposed` is set. The elements of a transposed tile have 16 bits.

    The low 14 bits of descriptors[g, t] have the start address of tile t in units of 16 bytes. Return -1, or
    g * tiles + t for the first tile (g, t) that exceeds the shared addresses [low, high).

    Shapes: origins (groups,), descriptors (groups, tiles), offsets (lines, chunks). A line is a stored row or column.
    Units: `words` and `out` of 8 bytes, chunks of 16 bytes.
    """
    groups, tiles = descriptors.shape
    lines, chunks = offsets.shape
    elements = out.view(np.uint16)
    for g in range(groups):
        for t in range(tiles):
            start = np.int64(descriptors[g, t] & np.uint64(0x3FFF)) << 4
            for line in range(lines):
                for chunk in range(chunks):
                    address = start + offsets[line, chunk]  # of the chunk, before the swizzle
                    address ^= (((address >> 7) - phase) & chunk_mask) << 4
                    if address < low or address + 16 > high:
                        return g * tiles + t
                    # `origins[g]` is the byte offset of the CTA's window.
                    source = np.uint64(origins[g] + address - low) >> np.uint64(3)
                    for half in range(2):
                        word = words[source + np.uint64(half)]
                        place = 2 * chunk + half
                        if transposed:
                            column = np.uint64(t * lines + line)
                            for item in range(4):
                                elements[g, np.uint64(4 * place + item), column] = word >> np.uint64(16 * item)
                        else:
                            out[g, np.uint64(line), np.uint64(t * 2 * chunks + place)] = word
    return -1
