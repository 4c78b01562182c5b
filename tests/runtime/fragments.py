"""Where matrix elements stand in registers and in shared memory, from the manual's formulas.

Shares nothing with `warploom.layout`, so that the two check each other.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "b1": 1}
NUMPY: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2, "s8": np.int8, "u8": np.uint8, "s4": np.int8, "b1": np.uint8,
}  # fmt: skip

_LANE = np.arange(32)
_GROUP, _THREAD = _LANE // 4, _LANE % 4


def patterns(values: Array, kind: str) -> NDArray[np.uint64]:
    """The bits of every element."""
    raw = values.astype(NUMPY[kind]).view(f"u{np.dtype(NUMPY[kind]).itemsize}").astype(np.uint64)
    return raw & np.uint64((1 << BITS[kind]) - 1)


def packed(elements: NDArray[np.uint64], kind: str) -> NDArray[np.uint32]:
    """Elements along the last axis packed into 32-bit registers, the first in the low bits."""
    count = 32 // BITS[kind]
    shaped = elements.reshape(*elements.shape[:-1], -1, count)
    shifts = (BITS[kind] * np.arange(count)).astype(np.uint64)
    return (shaped << shifts).sum(-1).astype(np.uint32)


def a_registers(a: Array, kind: str) -> NDArray[np.uint32]:
    """A of mma.m16n8: (T32, V) -> (M16, K). Element e of register r is at row g + 8 (r % 2)."""
    n = 32 // BITS[kind]
    lane, register, element = np.indices((32, 4, n))
    row = lane // 4 + 8 * (register % 2)
    column = lane % 4 * n + element + 4 * n * (register // 2)
    return packed(patterns(a, kind)[row, column], kind)[..., 0]


def b_registers(b: Array, kind: str, registers: int) -> NDArray[np.uint32]:
    """B of mma.m16n8: (T32, V) -> (K, N8). `b` is (N, K)."""
    n = 32 // BITS[kind]
    lane, register, element = np.indices((32, registers, n))
    return packed(patterns(b, kind)[lane // 4, lane % 4 * n + element + 4 * n * register], kind)[..., 0]


def accumulator(matrix: Array) -> Array:
    """C or D of mma.m16n8 with 32-bit elements: (T32, V4) -> (M16, N8)."""
    lane, item = np.indices((32, 4))
    return matrix[lane // 4 + 8 * (item // 2), 2 * (lane % 4) + item % 2]


def warpgroup_accumulator(matrix: Array) -> Array:
    """C or D of wgmma with 32-bit elements: (T128, V) -> (M64, N)."""
    thread, item = np.indices((128, matrix.shape[1] // 2))
    row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (item // 2 % 2)
    return matrix[row, 8 * (item // 4) + 2 * (thread % 4) + item % 2]


def metadata(nibbles: Array, kind: str, selector: int) -> NDArray[np.uint32]:
    """The metadata registers of a sparse mma.m16n8 of the larger K; `nibbles` is (16, chunks)."""
    registers = np.zeros(32, np.uint32)
    row, chunk = np.indices(nibbles.shape)
    if BITS[kind] >= 16:
        lane, bit = 4 * (row % 8) + 2 * selector + chunk // 4, 16 * (row // 8) + 4 * (chunk % 4)
    else:
        lane, bit = 4 * (row % 8) + row // 8 + 2 * (chunk // 8), 4 * (chunk % 8)
    np.bitwise_or.at(registers, lane, nibbles.astype(np.uint32) << bit.astype(np.uint32))
    return registers


# Eight by eight matrices of 16-bit elements -----------------------------------------------------------------


def fragment_of(matrix: NDArray[np.uint16]) -> NDArray[np.uint32]:
    """The register of every lane that holds an 8x8 matrix: row g, columns 2t and 2t + 1."""
    low, high = matrix[_GROUP, 2 * _THREAD], matrix[_GROUP, 2 * _THREAD + 1]
    return low.astype(np.uint32) | high.astype(np.uint32) << np.uint32(16)


def matrix_of(registers: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """The 8x8 matrix that a register of every lane holds."""
    matrix = np.zeros((8, 8), np.uint16)
    matrix[_GROUP, 2 * _THREAD] = registers & np.uint32(0xFFFF)
    matrix[_GROUP, 2 * _THREAD + 1] = registers >> np.uint32(16)
    return matrix


# Matrices in shared memory ----------------------------------------------------------------------------------

_SWIZZLE_BITS = {0: 0, 128: 1, 64: 2, 32: 3}


def _image(offsets: Array, data: NDArray[np.uint8], swizzle: int, leading: int, stride: int) -> tuple[Array, int]:
    rows = {0: 0, 32: 1, 64: 3, 128: 7}[swizzle]
    at = offsets ^ ((offsets >> 7 & rows) << 4)
    image = np.full(-(-(int(at.max()) + 1) // 1024) * 1024, 0xA5, np.uint8)
    image[at] = data
    return image, leading // 16 << 16 | stride // 16 << 32 | _SWIZZLE_BITS[swizzle] << 62


def k_major(matrix: Array, kind: str, swizzle: int, spread: bool = False) -> tuple[NDArray[np.uint8], int]:
    """A shared-memory image of (rows, K), and its descriptor without the address.

    Core matrices are 8 rows by 16 bytes, neighbours along K the leading byte offset apart and along the
    rows the stride byte offset; `spread` puts those along the rows next to each other. With a swizzle, rows
    are one span apart and eight of them the stride byte offset.
    """
    rows = packed(patterns(matrix, kind), kind).view(np.uint8).reshape(len(matrix), -1)
    row, byte = np.indices(rows.shape)
    if swizzle:
        stride = 8 * swizzle
        return _image(row // 8 * stride + row % 8 * swizzle + byte, rows, swizzle, 16, stride)
    groups, chunks = -(-len(matrix) // 8), rows.shape[1] // 16
    leading, stride = (128 * groups, 128) if spread else (128, 128 * chunks)
    offsets = row // 8 * stride + byte // 16 * leading + row % 8 * 16 + byte % 16
    return _image(offsets, rows, 0, leading, stride)


def mn_major(matrix: Array, kind: str, swizzle: int) -> tuple[NDArray[np.uint8], int]:
    """The image of (rows, K) with the rows side by side, and its descriptor without the address.

    One k is a line of 16 bytes, or of a swizzle's span; eight lines are a core matrix.
    """
    columns = patterns(matrix, kind).T.astype(np.uint16)
    data = np.ascontiguousarray(columns).view(np.uint8).reshape(len(columns), -1)
    k, byte = np.indices(data.shape)
    span = swizzle or 16
    across = 8 * span
    along = across * -(-len(columns) // 8)
    offsets = byte // span * along + byte % span + k // 8 * across + k % 8 * span
    leading, stride = (along, across) if swizzle else (across, along)
    return _image(offsets, data, swizzle, leading, stride)
