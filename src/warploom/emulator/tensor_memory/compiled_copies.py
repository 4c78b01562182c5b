"""Compiled copies between tensor memory, shared memory and arrays of matrices.

Tensor memory is an array of 32-bit words with the shape (CTAs, lanes, columns).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import njit

Words = NDArray[np.uint32]
Numbers = NDArray[np.int64]


@njit
def read_rows(words: Words, ctas: Numbers, lanes: Numbers, columns: Numbers, table: Numbers, out: Words) -> None:
    """Copy matrix i from the tensor memory of CTA ctas[i] to out[i].

    The columns of a matrix are divided equally among groups of lanes (see `LANE_GROUPS` in `layout.tensor_memory`).
    The part of row r in group g is in lane lanes[i] + table[g, r], and its columns begin with columns[i].

    Shapes: ctas, lanes and columns (matrices,); table (groups, rows); out (matrices, rows, columns of a matrix).
    """
    groups, rows = table.shape
    width = out.shape[2] // groups
    for i in range(len(ctas)):
        for r in range(rows):
            for g in range(groups):
                row = words[ctas[i], lanes[i] + table[g, r]]
                first = columns[i]
                for c in range(width):
                    out[i, r, g * width + c] = row[first + c]


@njit
def write_rows(
    words: Words, ctas: Numbers, lanes: Numbers, columns: Numbers, table: Numbers, values: Words, skipped: Any
) -> None:
    """Copy values[i] to the tensor memory of CTA ctas[i]. This is the inverse of `read_rows`.

    The lanes of the mask `skipped` keep their contents. Shapes: skipped (matrices, 128), or (0, 0) for no mask.
    """
    groups, rows = table.shape
    width = values.shape[2] // groups
    for i in range(len(ctas)):
        for r in range(rows):
            for g in range(groups):
                lane = lanes[i] + table[g, r]
                if len(skipped) and skipped[i, lane]:
                    continue
                row = words[ctas[i], lane]
                first = columns[i]
                for c in range(width):
                    row[first + c] = values[i, r, g * width + c]


@njit
def load(
    words: Words, ctas: Numbers, lanes: Numbers, columns: Numbers, ranges: Numbers, row: Any, col: Any, out: Words
) -> None:
    """Load words of tensor memory into registers. out[r, w, t] is register r of thread t of warp w.

    A warp accesses two ranges of tensor memory, which may be the same. The range ranges[t] of a thread begins at a lane
    in `lanes` and a column in `columns`. row[t, r] and col[t, r] are the distances of the word from these.

    Shapes: ctas (warps,); lanes and columns (warps, 2); ranges (32,); row and col (32, registers).
    """
    for r in range(out.shape[0]):
        for w in range(out.shape[1]):
            for t in range(32):
                h = ranges[t]
                out[r, w, t] = words[ctas[w], lanes[w, h] + row[t, r], columns[w, h] + col[t, r]]


@njit
def store(
    words: Words, ctas: Numbers, lanes: Numbers, columns: Numbers, ranges: Numbers, row: Any, col: Any, values: Words
) -> None:
    """Store registers to tensor memory. This is the inverse of `load`."""
    for r in range(values.shape[0]):
        for w in range(values.shape[1]):
            for t in range(32):
                h = ranges[t]
                words[ctas[w], lanes[w, h] + row[t, r], columns[w, h] + col[t, r]] = values[r, w, t]


@njit
def read_chunks(
    words: NDArray[np.uint64], origins: Numbers, starts: Numbers, second: Numbers, offsets: Numbers, mask: int,
    phase: int, shift: int, low: int, high: int, out: NDArray[np.uint64],
) -> int:  # fmt: skip
    """Copy the 16-byte chunks of swizzled matrices in shared memory to `out`.

    Return -1, or the index of the first matrix with a chunk that is out of bounds.

    The address of chunk c in line l of matrix i is starts[i] + offsets[l, c] before the swizzle. The swizzle is
    `address ^= ((address >> 7) - phase & mask) << shift`. If second[i] is not negative, a chunk that would leave its
    128-byte line is read from the address second[i] on instead. The shared memory of the CTA that reads matrix i has
    the addresses from `low` to `high` - 1. It begins at byte offset origins[i] of `words`.

    Shapes: origins, starts and second (matrices,); offsets (lines, chunks); out (matrices, lines, 2 * chunks).
    Units: `words` and `out` of 8 bytes.
    """
    lines, chunks = offsets.shape
    for g in range(len(origins)):
        for line in range(lines):
            for chunk in range(chunks):
                address = starts[g] + offsets[line, chunk]
                if second[g] >= 0:
                    within = (starts[g] & 127) + 16 * chunk
                    if within >= 128:
                        address = second[g] + offsets[line, 0] + within - 128
                address ^= (((address >> 7) - phase) & mask) << shift
                if address < low or address + 16 > high:
                    return g
                source = (origins[g] + address - low) >> 3
                out[g, line, 2 * chunk] = words[source]
                out[g, line, 2 * chunk + 1] = words[source + 1]
    return -1
