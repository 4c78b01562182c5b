"""Shared-memory swizzles, which spread the rows of a tile over the banks."""

from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError

# Span in bytes -> mask of the chunk bits (address bits 6-4) that are combined with the row bits (address bits 9-7).
_CHUNK_MASK = {0: 0, 32: 1, 64: 3, 96: 1, 128: 7}


Address = TypeVar("Address", bound=int | NDArray[Any])


def swizzle(address: Address, mode: int, base_offset: int = 0) -> Address:
    """Return the swizzled shared-memory address of one address, or of an array of addresses.

    The function is its own inverse. A mode of 128 changes bits 6-4 to their exclusive or with bits 9-7. A mode of 64
    changes bits 5-4 with bits 8-7, and a mode of 32 or 96 changes bit 4 with bit 7. `base_offset` is the base offset of
    the matrix descriptor: the row (address >> 7) & 7 at which the pattern begins.

    Units: bytes. `mode` is the span of the swizzle, 0, 32, 64, 96 or 128; 0 leaves the address unchanged.
    Errors: UsageError for another mode.
    """
    mask = chunk_mask(mode)
    row = (address >> 7) - base_offset
    return cast("Address", address ^ ((row & mask) << 4))


def chunk_mask(mode: int) -> int:
    """Return the mask of the bits that a swizzle changes in the chunk number (address >> 4) & 7.

    Units: `mode` is the span of the swizzle in bytes, 0, 32, 64, 96 or 128.
    Errors: UsageError for another mode.
    """
    if mode not in _CHUNK_MASK:
        raise UsageError(f"unknown swizzle of {mode} bytes; expected 0, 32, 64, 96 or 128")
    return _CHUNK_MASK[mode]


_ATOMS: dict[int, tuple[int, int]] = {0: (3, 0x70), 1: (2, 0x60), 2: (2, 0x60), 3: (1, 0x40)}
"""Distance between the bits of the line and of the atom, and bits of the atom, by atomicity."""
_FLIP_8B = 2


def swizzle_atoms(address: NDArray[np.int64], atomicity: int) -> NDArray[np.int64]:
    """Return addresses with a swizzle of 128 bytes that keeps atoms together.

    The function is its own inverse. `atomicity` is an index of `tensormap.SWIZZLE_ATOMICITIES`. The flip exchanges the
    8-byte halves of each 16-byte chunk in every other line of 128 bytes.

    Source: PTX ISA 5.5.7.
    """
    distance, mask = _ATOMS[atomicity]
    found = address ^ (address >> distance & mask)
    return found ^ (address >> 4 & 8) if atomicity == _FLIP_8B else found


def swizzle_text(span: int) -> str:
    """Describe a swizzle in words. Units: `span` in bytes, 0 without a swizzle."""
    return f"swizzled by {span} bytes" if span else "not swizzled"


def bank_picture(mode: int, rows: int = 8) -> str:
    """Return a text table that shows the banks of each chunk of a swizzled tile.

    A line is 128 bytes of shared memory. A cell is a 16-byte chunk, which takes four banks. The text `3.1` is chunk 1
    of row 3 of the tile. A row is as wide as the swizzle, or 128 bytes without one.

    Units: `mode` is the span of the swizzle in bytes. `rows` is the number of lines.
    """
    span = mode or 128
    lines = ["banks " + "".join(f" {f'{4 * cell}-{4 * cell + 3}':>6}" for cell in range(8))]
    for line in range(rows):
        physical = np.arange(8, dtype=np.int64) * 16 + 128 * line
        logical = swizzle(physical, mode)
        cells = [f"{int(at) // span}.{int(at) % span // 16}" for at in logical]
        lines.append(f"{128 * line:>6}" + "".join(f" {cell:>6}" for cell in cells))
    return "\n".join(lines)
