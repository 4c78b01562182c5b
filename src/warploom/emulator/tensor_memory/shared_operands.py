"""Matrices in shared memory, as operands of multiplications in tensor memory and of copies to it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator import access
from warploom.emulator.address_space import SHARED_START
from warploom.emulator.faults import Fault
from warploom.emulator.shared_memory import SharedMemory
from warploom.emulator.tensor_memory import compiled_copies
from warploom.isa.model.tensor_memory import Matrix
from warploom.numerics.formats import STORAGE

_START_ADDRESS = np.uint64(0x3FFF)


def start_addresses(descriptors: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the start addresses of matrix descriptors. Units: bytes."""
    return (descriptors & _START_ADDRESS).astype(np.int64) << 4


def read_bytes(
    shared: SharedMemory, matrix: Matrix, ctas: NDArray[np.int64], starts: NDArray[np.int64]
) -> NDArray[np.uint8]:
    """Return the bytes of a matrix in shared memory, for each CTA and start address.

    A line is a row of a K-major matrix, otherwise the elements with one index along K.

    Shapes: ctas and starts (matrices,); the result is (matrices, lines, 16 * chunks).
    Errors: Fault emulator.out-of-bounds, whose `lane` is the index of the matrix.
    """
    lines, chunks = matrix.offsets.shape
    out = np.empty((len(ctas), lines, 2 * chunks), np.uint64)
    mask, shift = matrix.exchange
    second = np.full(len(ctas), matrix.second, np.int64)
    found = compiled_copies.read_chunks(
        shared.words, ctas * shared.stride, starts, second, matrix.offsets, mask, matrix.phase, shift, SHARED_START,
        shared.end, out,
    )  # fmt: skip
    if found >= 0:
        start, size = matrix.range(int(starts[found]))
        message = (
            f"a matrix at shared addresses {start:#x} to {start + size:#x} is out of bounds: the CTA has "
            f"{access.window_size('shared', SHARED_START, shared.end)}"
        )
        raise Fault("emulator.out-of-bounds", message, found)
    return out.view(np.uint8)


def read_matrix(
    shared: SharedMemory, matrix: Matrix, ctas: NDArray[np.int64], starts: NDArray[np.int64]
) -> NDArray[Any]:
    """Return the elements of a matrix in shared memory, for each CTA and start address.

    Each element of 4 or 6 bits becomes one byte.

    Shapes: ctas and starts (matrices,); the result is (matrices, rows, K).
    Errors: Fault emulator.out-of-bounds, whose `lane` is the index of the matrix.
    """
    raw = read_bytes(shared, matrix, ctas, starts)
    if matrix.element == "e2m1":
        elements = unpack_fours(raw, padded=matrix.padded)
    elif matrix.element in ("e2m3", "e3m2"):
        elements = unpack_sixes(raw)
    else:
        elements = raw.view(STORAGE[matrix.element])
    return elements if matrix.major == "K" else np.ascontiguousarray(elements.swapaxes(1, 2))


def unpack_fours(raw: NDArray[np.uint8], *, padded: bool) -> NDArray[np.uint8]:
    """Return the 4-bit elements of each line.

    With `padded`, the first 8 of each 16 bytes contain 16 elements, and the other 8 bytes are unused.
    """
    if padded:
        raw = raw.reshape(*raw.shape[:-1], -1, 16)[..., :8].reshape(*raw.shape[:-1], -1)
    out = np.empty((*raw.shape[:-1], 2 * raw.shape[-1]), np.uint8)
    np.bitwise_and(raw, 15, out=out[..., ::2])
    np.right_shift(raw, 4, out=out[..., 1::2])
    return out


def unpack_sixes(raw: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the 6-bit elements of each line. The first 12 of each 16 bytes contain 16 elements."""
    triples = raw.reshape(*raw.shape[:-1], -1, 16)[..., :12].reshape(*raw.shape[:-1], -1, 3).astype(np.uint32)
    words = triples[..., 0] | triples[..., 1] << 8 | triples[..., 2] << 16
    elements = words[..., None] >> np.array([0, 6, 12, 18], np.uint32) & 63
    return elements.astype(np.uint8).reshape(*raw.shape[:-1], -1)
