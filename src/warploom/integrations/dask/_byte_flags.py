# pyright: reportUnknownMemberType=false
"""Which bytes of the arena were touched, and how: one flag for each byte, and what is made of all of them.

A flag says READ, WROTE, or which combination (a number from COMBINED on, in steps of COMBINED) all that touched the
byte were. What is combined in two ways, or in one and read or written besides, counts as read and written.

Pages let what was never touched be passed over. What a word needs is written out in both loops: in a function of its
own it would count references to three arrays each time, and a GEMM that loads by threads would take half as long again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import njit

READ, WROTE = 1, 2
BOTH = READ | WROTE
COMBINED = 4
PAGE = 12  # bits of an offset within a page
_GROUP = 32  # words that are looked at together
_EACH = np.uint64(0x0101010101010101)

Array = NDArray[Any]


@njit
def _touch(flags: Array, pages: Array, first: int, size: int, flag: int) -> None:
    for page in range(first >> PAGE, (first + size - 1 >> PAGE) + 1):
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
def touch_lanes(flags: Array, pages: Array, index: Array, lanes: Array, size: int, flag: int) -> None:
    """Lanes touch `size` bytes each. Shapes: index and lanes (warps, 32)."""
    words = flags.view(np.uint32)
    pattern = np.uint32(flag * 0x01010101)
    for warp in range(index.shape[0]):
        for lane in range(index.shape[1]):
            if not lanes[warp, lane]:
                continue
            first = index[warp, lane]
            if size & 3:
                _touch(flags, pages, first, size, flag)
                continue
            for at in range(first, first + size, 4):
                old = words[at >> 2]
                if old != pattern:
                    if old == 0:
                        words[at >> 2] = pattern
                        pages[at >> PAGE] = 1
                    else:
                        _touch(flags, pages, at, 4, flag)


@njit
def touch_pieces(flags: Array, pages: Array, starts: Array, sizes: Array, flag: int) -> None:
    """Pieces are touched. Shapes: (pieces,)."""
    words = flags.view(np.uint64)
    pattern = np.uint64(flag) * np.uint64(0x0101010101010101)
    for piece in range(len(starts)):
        at, end = starts[piece], starts[piece] + sizes[piece]
        while at < end:
            if at & 7 == 0 and at + 8 <= end:
                old = words[at >> 3]
                if old != pattern:
                    if old == 0:
                        words[at >> 3] = pattern
                        pages[at >> PAGE] = 1
                    else:
                        _touch(flags, pages, at, 8, flag)
                at += 8
            else:
                _touch(flags, pages, at, 1, flag)
                at += 1


@njit
def stretches(flags: Array, pages: Array, starts: Array, ends: Array, kinds: Array) -> int:
    """Where bytes that were touched in one way begin and end, and in which: as far as there is room for it.

    Returns how many stretches there are.
    """
    words = flags.view(np.uint64)
    found = 0
    now = 0  # the flag of the bytes that come
    for page in range(len(pages)):
        first, end = page << PAGE - 3, min((page + 1) << PAGE - 3, len(words))
        if pages[page] == 0:
            if now:
                if found <= len(ends):
                    ends[found - 1] = page << PAGE
                now = 0
            continue
        for group in range(first, end, _GROUP):
            last = min(group + _GROUP, end)
            differ, alike = np.uint64(0), np.uint64(now) * _EACH
            for word in range(group, last):
                differ |= words[word] ^ alike
            if differ == 0:
                continue
            for at in range(group << 3, last << 3):
                flag = flags[at]
                if flag == now:
                    continue
                if now and found <= len(ends):
                    ends[found - 1] = at
                if flag:
                    if found < len(starts):
                        starts[found], kinds[found] = at, flag
                    found += 1
                now = flag
    if now and found <= len(ends):
        ends[found - 1] = len(flags)
    return found


@njit
def take(held: Array, starts: Array, ends: Array, out: Array) -> None:
    """The bytes of runs, one after the other. Shapes: starts and ends (runs,), out (bytes of all runs,)."""
    to = 0
    for run in range(len(starts)):
        size = ends[run] - starts[run]
        out[to : to + size] = held[starts[run] : ends[run]]
        to += size


@njit
def put(held: Array, starts: Array, ends: Array, data: Array) -> None:
    """Give runs their bytes, of which `data` has one after the other. Shapes: as of `take`."""
    at = 0
    for run in range(len(starts)):
        size = ends[run] - starts[run]
        held[starts[run] : ends[run]] = data[at : at + size]
        at += size
