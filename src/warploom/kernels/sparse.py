"""Compression of 2:4 sparse matrices for the sparse tensor cores of Hopper.

A chunk is four neighbouring elements of a row, or two for tf32. At most half of a chunk is nonzero. Metadata give the
positions of the stored half, four bits (a nibble) for each chunk.
"""

import sys
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.gpu.arrays import as_numpy, is_foreign_type, is_on_gpu, is_torch_type, type_name
from warploom.kernels.hopper.plan import METADATA, SPAN, metadata_slots
from warploom.kernels.plan import ACCUMULATORS, ALIGNMENT, size_of
from warploom.kernels.problem import element_type
from warploom.layout import metadata as metadata_map
from warploom.layout import strided

_ROWS = 64  # rows of A that one consumer multiplies
_FIRST = 0b0100  # metadata of a chunk whose first half is stored: positions 0 and 1, or 0 for tf32
_NIBBLES = {2: (_FIRST, _FIRST, 0b1110, 0), 4: (_FIRST, _FIRST, _FIRST, _FIRST, 8, 8, 9, 0, 12, 12, 13, 0, 14, 0, 0, 0)}
"""Metadata by the width of a chunk and the bits of its nonzero elements. 0 is illegal: too many."""

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Compressed:
    """Compressed 2:4 sparse matrix. `columns` is the number of columns before compression.

    Shapes: values (..., M, K / 2), rows at multiples of 16 bytes; metadata (..., stages of K, blocks of 64 rows,
        128 threads * words) of 32 bits, in the order in which the kernel's threads load them.
    """

    values: Any
    metadata: Any
    columns: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the uncompressed matrix."""
        return (*self.values.shape[:-1], self.columns)


def compress(a: Any) -> Compressed:
    """Compress an array (..., M, K). At most half of the elements of each chunk along K may be nonzero.

    A chunk is four neighbouring elements, or two of tf32. `prune` makes any array compressible. Arrays on a GPU are
    copied to the host and back, so compress each matrix only once.

    Errors: UsageError kernels.type, kernels.shape; kernels.sparse if a chunk has too many nonzero elements.
    """
    like, a = a, _to_host(a)
    element = _element(a)
    chunks = _chunks(a, element)
    present = _magnitudes(chunks, element) != 0
    width, kept = chunks.shape[-1], chunks.shape[-1] // 2
    pattern = np.zeros(chunks.shape[:-1], np.uint8)
    for place in range(width):
        pattern |= present[..., place].view(np.uint8) << place
    nibbles = np.array(_NIBBLES[width], np.uint8)[pattern]
    if not nibbles.all():
        raise _too_full(a.shape, pattern, nibbles, width)
    stored = np.take_along_axis(chunks, _places(nibbles, width), axis=-1)
    shape = (*a.shape[:-1], chunks.shape[-2] * kept)
    step = ALIGNMENT // stored.itemsize
    whole = np.zeros((*shape[:-1], -(-shape[-1] // step) * step), stored.dtype)
    whole[..., : shape[-1]] = stored.reshape(shape)
    values = _to_device_of(like, whole.view(a.dtype))[..., : shape[-1]]
    return Compressed(values, _to_device_of(like, _metadata(nibbles, element)), a.shape[-1])


def decompress(compressed: Compressed) -> Any:
    """Return the matrix before compression, on the device of the values. Shapes: (..., M, K)."""
    values = _to_host(compressed.values)
    element = _element(values)
    width = _chunk_width(element)
    stored = _bits(values).reshape(*values.shape[:-1], -1, width // 2)
    metadata = _to_host(compressed.metadata).view(np.uint32)
    nibbles = _nibbles_of(metadata, element)[..., : stored.shape[-3], : stored.shape[-2]]
    chunks = np.zeros((*stored.shape[:-1], width), stored.dtype)
    np.put_along_axis(chunks, _places(nibbles, width), stored, axis=-1)
    return _from_chunks(compressed.values, chunks, values, compressed.columns)


def prune(a: Any) -> Any:
    """Return a copy in which half of each chunk along the last axis is zero: the smaller magnitudes.

    A chunk is four neighbouring elements, or two of tf32. Errors: UsageError kernels.type, kernels.shape.
    """
    like, a = a, _to_host(a)
    element = _element(a)
    chunks = _chunks(a, element)
    size = _magnitudes(chunks, element)
    width = chunks.shape[-1]
    larger = np.zeros(chunks.shape, np.uint8)  # for each element, the number of larger elements of its chunk
    for first in range(width):
        for second in range(first + 1, width):
            # Of equal elements, the earlier is kept.
            wins = size[..., first] >= size[..., second]
            larger[..., second] += wins
            larger[..., first] += ~wins
    left = np.where(larger < width // 2, chunks, chunks.dtype.type(0))
    return _from_chunks(like, left, a, a.shape[-1])


def check_compressed(values: Any, metadata: Any, element: str, m: int, k: int) -> None:
    """Refuse metadata that do not fit the values of a `Compressed`. Errors: UsageError kernels.shape."""
    values, metadata = strided(values), strided(metadata)
    order, per_row = _order(element)
    width = _chunk_width(element)
    chunks = -(-k // width)
    batch = values.shape[:-2]
    shape = (*batch, m, chunks * (width // 2))
    expected = (*batch, -(-chunks // per_row), -(-m // _ROWS), len(order))
    fits = values.shape == shape and metadata.shape == expected and metadata.itemsize == 4
    if not fits or not metadata.is_contiguous:
        raise UsageError(
            f"a Compressed of shape {(*shape[:-1], k)} has values of shape {values.shape} and metadata of"
            f" {metadata.dtype} of shape {metadata.shape}; expected {shape} and 32 bits of {expected}",
            code="kernels.shape",
            hint="`compress` returns both",
        )


# Arrays of other libraries ----------------------------------------------------------------------------------


def _to_host(a: Any) -> Array:
    if isinstance(a, np.ndarray):
        return cast("Array", a)
    if not is_foreign_type(a.__class__):
        raise UsageError(f"A is a {type_name(a)}; expected an array of NumPy, PyTorch or CuPy", code="kernels.type")
    if is_torch_type(a.__class__):
        return as_numpy(a.detach().cpu())
    if not is_on_gpu(a):
        return as_numpy(a)
    if _library(a) != "cupy":
        raise UsageError(
            f"A is a {type_name(a)} on a GPU; expected an array of PyTorch or CuPy there", code="kernels.type"
        )
    return cast("Array", a.get())


def _to_device_of(like: Any, made: Array) -> Any:
    """Return a NumPy array as an array of the library of `like`, on the device of `like`."""
    library = _library(like)
    if library == "torch":
        torch = sys.modules["torch"]
        bits = made.view(f"i{made.itemsize}")  # PyTorch does not accept all NumPy types
        dtype = bits.dtype if made.dtype == np.uint32 else made.dtype
        return torch.from_numpy(bits).to(like.device).view(getattr(torch, dtype.name))
    if library == "cupy":
        with like.device:
            return sys.modules["cupy"].asarray(made)
    return made


def _library(a: Any) -> str:
    return type(a).__module__.partition(".")[0]


# Elements and chunks ----------------------------------------------------------------------------------------


def _element(a: Array) -> str:
    """Return the PTX type of the elements of A."""
    word = element_type(a, "A")
    if word not in {first for first, _ in ACCUMULATORS}:
        raise UsageError(f"cannot multiply {word}", code="kernels.type")
    if a.ndim < 2 or 0 in a.shape:
        raise UsageError(f"A has shape {a.shape}; expected (M, K), none of them 0", code="kernels.shape")
    return word


def _chunk_width(element: str) -> int:
    return 2 if element == "tf32" else 4


def _bits(a: Array) -> Array:
    return np.ascontiguousarray(a).view(f"u{a.dtype.itemsize}")


def _chunks(a: Array, element: str) -> Array:
    """Return the bits of a matrix as (..., chunks, elements of a chunk)."""
    bits, width = _bits(a), _chunk_width(element)
    missing = -bits.shape[-1] % width
    if missing:
        bits = np.concatenate([bits, np.zeros((*bits.shape[:-1], missing), bits.dtype)], axis=-1)
    return bits.reshape(*bits.shape[:-1], -1, width)


def _from_chunks(like: Any, chunks: Array, a: Array, columns: int) -> Any:
    """Return chunks as a matrix with `columns` columns and the type of `a`, on the device of `like`."""
    flat = chunks.reshape(*a.shape[:-1], -1)[..., :columns]
    return _to_device_of(like, np.ascontiguousarray(flat).view(a.dtype))


def _magnitudes(bits: Array, element: str) -> Array:
    """Map the bits of each element to an integer that grows with the absolute value. Zeros become 0."""
    if element == "u8":
        return bits
    if element == "s8":
        return np.abs(bits.view(np.int8).astype(np.int16))
    # Floats are ordered as the bits without their sign.
    return bits & bits.dtype.type((1 << 8 * bits.dtype.itemsize - 1) - 1)


def _places(nibbles: NDArray[np.uint8], width: int) -> NDArray[np.intp]:
    """Return positions of stored elements in each chunk, as (..., chunks, stored elements of a chunk)."""
    shifts, mask = ([0, 2], 3) if width == 4 else ([1], 1)
    return (nibbles[..., None] >> np.array(shifts, np.uint8) & mask).astype(np.intp)


def _too_full(shape: tuple[int, ...], pattern: Array, nibbles: Array, width: int) -> UsageError:
    *batch, row, chunk = (int(each) for each in np.unravel_index(int(np.argmin(nibbles)), nibbles.shape))
    count = int(pattern[*batch, row, chunk]).bit_count()
    last = min(chunk * width + width, shape[-1]) - 1
    where = "".join(f"batch {each}, " for each in batch)
    return UsageError(
        f"{where}row {row} of A has {count} nonzero elements in columns {chunk * width} to {last};"
        f" expected at most {width // 2}",
        code="kernels.sparse",
        hint="`prune` keeps the largest",
    )


# Metadata ---------------------------------------------------------------------------------------------------


@cache
def _order(element: str) -> tuple[NDArray[np.int32], int]:
    """Return the chunk that each nibble of a stage's metadata describes, and the chunks of a row.

    A chunk is a flat index into (64 rows, chunks of a row). The indices have the shape (128 threads * words, 8).
    """
    slots = metadata_slots(element)
    size = size_of(element)
    words = 1 + max(word for word, _ in slots)
    shape = f"m64n8k{SPAN // len(slots) // size}"
    maps = [metadata_map("warpgroup", shape, element, selector) for _, selector in slots]
    per_row = sum(each.lane.shape[1] for each in maps)
    order = np.empty((METADATA // 4 * words, 8), np.int32)
    before = 0
    for each, (word, _) in zip(maps, slots, strict=True):
        row, chunk = np.indices(each.lane.shape)
        order[each.lane * words + word, each.bit // 4] = row * per_row + before + chunk
        before += each.lane.shape[1]
    return order, per_row


def _metadata(nibbles: NDArray[np.uint8], element: str) -> NDArray[np.uint32]:
    order, per_row = _order(element)
    *batch, rows, chunks = nibbles.shape
    blocks, stages = -(-rows // _ROWS), -(-chunks // per_row)
    whole = np.full((*batch, blocks * _ROWS, stages * per_row), _FIRST, np.uint8)
    whole[..., :rows, :chunks] = nibbles
    split = whole.reshape(*batch, blocks, _ROWS, stages, per_row)
    moved = np.moveaxis(split, -2, -4).reshape(*batch, stages, blocks, _ROWS * per_row)
    ordered = np.take(moved, order.reshape(-1), axis=-1)
    octets = ordered[..., 0::2] | ordered[..., 1::2] << 4
    return octets.view("<u4").astype(np.uint32, copy=False)


def _nibbles_of(metadata: NDArray[np.uint32], element: str) -> NDArray[np.uint8]:
    """Return the nibbles of metadata words, also those outside of the matrix."""
    order, per_row = _order(element)
    octets = np.ascontiguousarray(metadata, "<u4").view(np.uint8)
    pairs = octets[..., None] >> np.array([0, 4], np.uint8) & np.uint8(15)
    ordered = pairs.reshape(*metadata.shape[:-1], -1)
    *batch, stages, blocks, _ = ordered.shape
    moved = np.empty_like(ordered)
    moved[..., order.reshape(-1)] = ordered
    split = np.moveaxis(moved.reshape(*batch, stages, blocks, _ROWS, per_row), -4, -2)
    return split.reshape(*batch, blocks * _ROWS, stages * per_row)
