"""Stop conditions of native code, which let the emulator search for endless loops."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.semantics import Array
from warploom.lazy_dataclass import dataclass

SPACING = 128  # batches between two comparisons of the registers with a snapshot
COLUMNS = ("registers", "saved", "count", "stride", "words")
"""Columns of `Watch.table`.

They contain two addresses, the number of registers, the distance in bytes from a register to the next one, and the
number of 64-bit words to compare of each register.
"""


@dataclass(frozen=True, slots=True)
class Watch:
    """Stop conditions of native code for the search for endless loops.

    After batch number `due`, native code compares the registers in `table` with their saved values before a batch at
    the program counter `pc`, or before any batch if `pc` is -1. It stops if they are equal. Otherwise the next
    comparison follows at least `SPACING` batches later. After batch number `limit`, it stops before any batch.

    Shapes: table (register files, len(COLUMNS)).
    """

    due: int
    pc: int
    limit: int
    table: NDArray[np.int64]


def compared(pairs: Iterable[tuple[Array, Array]], warp: int) -> NDArray[np.int64]:
    """Return the table for the registers of one warp.

    `pairs` contains register files and their saved copies. Shapes: each array (registers, warps, 32), C-contiguous.
    """
    rows: list[tuple[int, ...]] = []
    for file, saved in pairs:
        if file.size:
            addresses = (each[0, warp].__array_interface__["data"][0] for each in (file, saved))
            rows.append((*addresses, len(file), file.strides[0], file.strides[1] // 8))
    return np.array(rows, np.int64).reshape(-1, len(COLUMNS))


NOTHING = compared((), 0)
"""Table without registers."""
