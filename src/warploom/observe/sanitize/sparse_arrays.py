"""Arrays for large address ranges of which a kernel uses few parts."""

import math
import mmap
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LARGE = 1 << 26  # bytes; smaller arrays come faster from NumPy
_NO_RESERVE = 0x4000  # MAP_NORESERVE of Linux, which Python 3.11 does not define


def sparse_zeros(shape: tuple[int, ...], dtype: type[np.integer[Any]]) -> NDArray[Any]:
    """Return an array of zeros, whose parts take memory when they are first written.

    Linux refuses an allocation that is larger than the memory of the host, unless it is mapped without a reservation.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size < _LARGE or sys.platform != "linux":
        return np.zeros(shape, dtype)
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    return np.frombuffer(memory, dtype).reshape(shape)


def used_ranges(starts: NDArray[np.int64], ends: NDArray[np.int64], shift: int) -> list[tuple[int, int]]:
    """Return the ranges of granules that contain the byte ranges. Ranges near each other are joined.

    A granule has `1 << shift` bytes. Shapes: starts and ends (ranges,), in ascending order.
    """
    found: list[tuple[int, int]] = []
    for start, end in zip((starts >> shift).tolist(), ((ends - 1 >> shift) + 1).tolist(), strict=True):
        if found and start - found[-1][1] < mmap.PAGESIZE:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif end > start:
            found.append((start, end))
    return found
