# pyright: reportUnknownMemberType=false
"""Which bytes of the arena were touched, and how: one flag for each byte, and what is made of all of them.

A flag says READ, WROTE, or which combination (a number from COMBINED on, in steps of COMBINED) all that touched the
byte were. What is combined in two ways, or in one and read or written besides, counts as read and written.

Pages let what was never touched be passed over.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.num._compile import njit

READ, WROTE = 1, 2
BOTH = READ | WROTE
COMBINED = 4
PAGE = 12  # bits of an offset within a page

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
def runs(flags: Array, pages: Array, flag: int, starts: Array, ends: Array) -> int:
    """Runs of bytes that are read (READ), written (WROTE), or combined in the one way `flag`.

    Returns how many there are; as many are filled in as there is room for.
    """
    words = flags.view(np.uint64)
    found = 0
    inside = False
    alike = np.uint64(0)  # eight flags that leave us where we are
    for page in range(len(pages)):
        if pages[page] == 0:
            if inside:
                if found < len(ends):
                    ends[found] = page << PAGE
                found += 1
                inside = False
            alike = np.uint64(0)
            continue
        for word in range(page << PAGE - 3, min((page + 1) << PAGE - 3, len(words))):
            if words[word] == alike:
                continue
            for at in range(word << 3, (word + 1) << 3):
                held = flags[at]
                here = held == flag if flag >= COMBINED else held < COMBINED and held & flag != 0
                if here and not inside and found < len(starts):
                    starts[found] = at
                elif not here and inside:
                    if found < len(ends):
                        ends[found] = at
                    found += 1
                inside = here
            alike = np.uint64(flags[(word << 3) + 7]) * np.uint64(0x0101010101010101)
    if inside:
        if found < len(ends):
            ends[found] = len(flags)
        found += 1
    return found
