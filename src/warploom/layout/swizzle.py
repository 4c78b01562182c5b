"""Shared-memory swizzles: the exclusive or that spreads rows over the banks."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError

# Span in bytes -> the chunk-index bits (of bits 6-4) that take the row bits (of bits 9-7).
_CHUNK_MASK = {0: 0, 32: 1, 64: 3, 128: 7}


Address = TypeVar("Address", bound=int | NDArray[Any])


def swizzle(address: Address, mode: int, base_offset: int = 0) -> Address:
    """Where the byte at an unswizzled shared-memory address really lies; its own inverse.

    The address is absolute, for the pattern is anchored in shared memory and not in the tile: with 128, bits
    6-4 become themselves xor bits 9-7; with 64, bits 5-4 xor bits 8-7; with 32, bit 4 xor bit 7.
    ``base_offset`` is the matrix descriptor's: the row, (address >> 7) & 7, at which the pattern begins.

    Units: ``mode`` is the span in bytes, 0, 32, 64 or 128; 0 leaves an address as it is.
    Errors: UsageError for another mode.
    """
    mask = chunk_mask(mode)
    row = (address >> 7) - base_offset
    return cast("Address", address ^ ((row & mask) << 4))


def chunk_mask(mode: int) -> int:
    """The bits of a 16-byte chunk's number, (address >> 4) & 7, that become themselves xor the same bits of the
    row's, (address >> 7) & 7.

    Units: ``mode`` is the span in bytes, 0, 32, 64 or 128.
    Errors: UsageError for another mode.
    """
    if mode not in _CHUNK_MASK:
        raise UsageError(f"there is no swizzle of {mode} bytes; expected 0, 32, 64 or 128")
    return _CHUNK_MASK[mode]


def bank_picture(mode: int, rows: int = 8) -> str:
    """A text picture of the 32 banks: which 16-byte chunk of which row stands where.

    A line is 128 bytes of shared memory, all 32 banks once; a cell is four banks and reads ``row.chunk``,
    where a row is one span long (128 bytes without a swizzle) and chunks are counted along it.
    """
    span = mode or 128
    lines = ["banks " + "".join(f" {f'{4 * cell}-{4 * cell + 3}':>6}" for cell in range(8))]
    for line in range(rows):
        physical = np.arange(8, dtype=np.int64) * 16 + 128 * line
        logical = swizzle(physical, mode)
        cells = [f"{int(at) // span}.{int(at) % span // 16}" for at in logical]
        lines.append(f"{128 * line:>6}" + "".join(f" {cell:>6}" for cell in cells))
    return "\n".join(lines)
