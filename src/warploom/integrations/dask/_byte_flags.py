# pyright: reportUnknownMemberType=false
"""Flags of the bytes of global memory that a part of a grid reads, writes or combines.

A flag is READ, WRITTEN, both, or the number of the combining operation of all accesses to the byte, in steps of
COMBINED. A byte with two operations, or with one besides a read or a write, counts as read and written.

`pages` marks the pages that have flags. Both loops repeat the update of a word: in a function of its own it would count
references to three arrays each time, and a GEMM that loads by threads would take half as long again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import njit

READ, WRITTEN = 1, 2
BOTH = READ | WRITTEN
COMBINED = 4
PAGE_BITS = 12

Array = NDArray[Any]


@njit
def _mark(flags: Array, pages: Array, first: int, size: int, flag: int) -> None:
    for page in range(first >> PAGE_BITS, (first + size - 1 >> PAGE_BITS) + 1):
        pages[page] = 1
    for at in range(first, first + size):
        old = flags[at]
        if old == flag:
            continue
        if flag >= COMBINED:
            flags[at] = flag if old == 0 else BOTH
        else:
            flags[at] = BOTH if old >= COMBINED else old | flag


@njit
def mark_lanes(flags: Array, pages: Array, index: Array, lanes: Array, size: int, flag: int) -> None:
    """Mark `size` bytes from `index` on for each lane. Shapes: index and lanes (warps, 32)."""
    words = flags.view(np.uint32)
    pattern = np.uint32(flag * 0x01010101)
    for warp in range(index.shape[0]):
        for lane in range(index.shape[1]):
            if not lanes[warp, lane]:
                continue
            first = index[warp, lane]
            if size & 3:
                _mark(flags, pages, first, size, flag)
                continue
            for at in range(first, first + size, 4):
                old = words[at >> 2]
                if old != pattern:
                    if old == 0:
                        words[at >> 2] = pattern
                        pages[at >> PAGE_BITS] = 1
                    else:
                        _mark(flags, pages, at, 4, flag)


@njit
def mark_ranges(flags: Array, pages: Array, starts: Array, sizes: Array, flag: int) -> None:
    """Mark byte ranges. Shapes: (ranges,)."""
    words = flags.view(np.uint64)
    pattern = np.uint64(flag) * np.uint64(0x0101010101010101)
    for number in range(len(starts)):
        at, end = starts[number], starts[number] + sizes[number]
        while at < end:
            if at & 7 == 0 and at + 8 <= end:
                old = words[at >> 3]
                if old != pattern:
                    if old == 0:
                        words[at >> 3] = pattern
                        pages[at >> PAGE_BITS] = 1
                    else:
                        _mark(flags, pages, at, 8, flag)
                at += 8
            else:
                _mark(flags, pages, at, 1, flag)
                at += 1


def marked_ranges(flags: Array, pages: Array) -> tuple[Array, Array, Array]:
    """Return starts, ends and flags of the byte ranges with one flag, in order.

    A range ends at the end of a page at the latest.
    """
    touched = np.flatnonzero(pages)
    held = flags.reshape(-1, 1 << PAGE_BITS)[touched]
    begins = np.ones(held.shape, np.bool_)
    begins[:, 1:] = held[:, 1:] != held[:, :-1]
    edges = np.append(np.flatnonzero(begins), held.size)
    chosen = held.reshape(-1)[edges[:-1]] > 0
    first, last = edges[:-1][chosen], edges[1:][chosen] - 1

    def address(offset: Array) -> Array:
        return (touched[offset >> PAGE_BITS] << PAGE_BITS) + (offset & (1 << PAGE_BITS) - 1)

    return address(first), address(last) + 1, held.reshape(-1)[first]


@njit
def gather_ranges(contents: Array, starts: Array, ends: Array, out: Array) -> None:
    """Copy byte ranges of an array into a packed one. Shapes: starts and ends (ranges,), out (bytes,)."""
    to = 0
    for number in range(len(starts)):
        size = ends[number] - starts[number]
        out[to : to + size] = contents[starts[number] : ends[number]]
        to += size


@njit
def scatter_ranges(contents: Array, starts: Array, ends: Array, data: Array) -> None:
    """Copy a packed array into byte ranges of another. Shapes: as of `gather_ranges`."""
    at = 0
    for number in range(len(starts)):
        size = ends[number] - starts[number]
        contents[starts[number] : ends[number]] = data[at : at + size]
        at += size
