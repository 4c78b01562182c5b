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
    """Copy matrix g from the tensor memory of CTA ctas[g] to out[g].

    The columns of a matrix are divided into equal parts, called folds. Part f of row r is in lane
    lanes[g] + table[f, r], in consecutive columns from columns[g] on.

    Shapes: ctas, lanes and columns (G,); table (folds, rows); out (G, rows, folds * width).
    """
    folds, rows = table.shape
    width = out.shape[2] // folds
    for g in range(len(ctas)):
        for r in range(rows):
            for f in range(folds):
                row = words[ctas[g], lanes[g] + table[f, r]]
                first = columns[g]
                for c in range(width):
                    out[g, r, f * width + c] = row[first + c]


@njit
def write_rows(
    words: Words, ctas: Numbers, lanes: Numbers, columns: Numbers, table: Numbers, values: Words, skipped: Any
) -> None:
    """Copy values[g] to the tensor memory of CTA ctas[g]. This is the inverse of `read_rows`.

    The lanes of the mask `skipped` keep their contents. Shapes: skipped (G, 128), or (0, 0) for no mask.
    """
    folds, rows = table.shape
    width = values.shape[2] // folds
    for g in range(len(ctas)):
        for r in range(rows):
            for f in range(folds):
                lane = lanes[g] + table[f, r]
                if len(skipped) and skipped[g, lane]:
                    continue
                row = words[ctas[g], lane]
                first = columns[g]
                for c in range(width):
                    row[first + c] = values[g, r, f * width + c]


@njit
def load(
    words: Words, ctas: Numbers, lanes: Numbers, columns: Numbers, offsets: Numbers, row: Any, col: Any, out: Words
) -> None:
    """Copy words of tensor memory to the registers out[r, w, t] of lane t of warp w.

    The word is in lane lanes[w, h] + row[t, r] and column columns[w, h] + col[t, r], where h = offsets[t] is the number
    of the half of the access.

    Shapes: ctas (warps,); lanes and columns (warps, 2); offsets (32,); row and col (32, registers).
    """
    for r in range(out.shape[0]):
        for w in range(out.shape[1]):
            for t in range(32):
                h = offsets[t]
                out[r, w, t] = words[ctas[w], lanes[w, h] + row[t, r], columns[w, h] + col[t, r]]


@njit
def store(
    words: Words, ctas: Numbers, lanes: Numbers, columns: Numbers, offsets: Numbers, row: Any, col: Any, values: Words
) -> None:
    """Copy registers to tensor memory. This is the inverse of `load`."""
    for r in range(values.shape[0]):
        for w in range(values.shape[1]):
            for t in range(32):
                h = offsets[t]
                words[ctas[w], lanes[w, h] + row[t, r], columns[w, h] + col[t, r]] = values[r, w, t]


@njit
def read_chunks(
    words: NDArray[np.uint64], origins: Numbers, starts: Numbers, second: Numbers, offsets: Numbers, mask: int,
    phase: int, shift: int, low: int, high: int, out: NDArray[np.uint64],
) -> int:  # fmt: skip
    """Copy swizzled 16-byte chunks of shared memory to out[g].

    Return -1, or the first g with a chunk that is out of bounds.

    The address of a chunk is starts[g] + offsets[l, c], with the bits of the swizzle (`mask`, `phase`, `shift`)
    exchanged. If second[g] is not negative, a chunk that would leave its 128-byte line is read from this address on.
    `origins` has the byte offset of each CTA's shared memory, which begins at the address `low`.

    Shapes: origins, starts and second (G,); offsets (lines, chunks); out (G, lines, 2 * chunks).
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
