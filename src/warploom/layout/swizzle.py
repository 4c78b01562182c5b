"""Shared-memory swizzles: the exclusive or that distributes rows over the banks."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError

# Span in bytes -> mask of the chunk bits (address bits 6-4) that are combined with the row bits (address bits 9-7).
_CHUNK_MASK = {0: 0, 32: 1, 64: 3, 128: 7}


Address = TypeVar("Address", bound=int | NDArray[Any])


def swizzle(address: Address, mode: int, base_offset: int = 0) -> Address:
    """Return the shared-memory address to which a swizzle maps an address.

    The function is its own inverse.

    The pattern is anchored in shared memory, not in the tile, so the address is absolute. With 128, bits 6-4 become
    their exclusive or with bits 9-7; with 64, bits 5-4 with bits 8-7; with 32, bit 4 with bit 7. `base_offset` is that
    of the matrix descriptor: the row, (address >> 7) & 7, at which the pattern begins.

    Units: `mode` is the span in bytes, 0, 32, 64 or 128; 0 returns the address.
    Errors: UsageError for another mode.
    """
    mask = chunk_mask(mode)
    row = (address >> 7) - base_offset
    return cast("Address", address ^ ((row & mask) << 4))


def chunk_mask(mode: int) -> int:
    """Return the mask of the chunk number that a swizzle combines with the row number.

    The chunk number is (address >> 4) & 7.

    Units: `mode` is the span in bytes, 0, 32, 64 or 128.
    Errors: UsageError for another mode.
    """
    if mode not in _CHUNK_MASK:
        raise UsageError(f"unknown swizzle of {mode} bytes; expected 0, 32, 64 or 128")
    return _CHUNK_MASK[mode]


def swizzle_text(span: int) -> str:
    """Return a swizzle in words."""
    return f"swizzled by {span} bytes" if span else "not swizzled"


def bank_picture(mode: int, rows: int = 8) -> str:
    """Return a text picture of the 32 banks and the 16-byte chunk that each group of four banks holds.

    A line is 128 bytes of shared memory, each bank once. A cell is four banks and shows `row.chunk`; a row is one span
    long (128 bytes without a swizzle).
    """
    span = mode or 128
    lines = ["banks " + "".join(f" {f'{4 * cell}-{4 * cell + 3}':>6}" for cell in range(8))]
    for line in range(rows):
        physical = np.arange(8, dtype=np.int64) * 16 + 128 * line
        logical = swizzle(physical, mode)
        cells = [f"{int(at) // span}.{int(at) % span // 16}" for at in logical]
        lines.append(f"{128 * line:>6}" + "".join(f" {cell:>6}" for cell in cells))
    return "\n".join(lines)
