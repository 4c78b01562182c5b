"""The compressor: a matrix with zeros in half of its places becomes what the sparse kernels take for A.

Of four elements side by side in a row two may be other than zero; of tf32 one of two. These chunks are stored
without what is left out, with four bits beside them that say where the stored ones belong.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.gpu.arrays import as_numpy, is_foreign_type, is_on_gpu, is_torch_type, type_name
from warploom.kernels.plan import METADATA, SPAN, SUMS, metadata_places, size_of
from warploom.kernels.problem import type_word
from warploom.layout import metadata as metadata_map

_ROWS = 64  # that a consumer has
_ROW = 16  # bytes: what rows of values begin at multiples of
_FIRST = 0b0100  # the bits of a chunk whose first half is stored: places 1 and 0, and tf32's word for place 0
_SECOND = 0b1110  # tf32's for place 1

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Compressed:
    """A sparse matrix as the kernels take it.

    `columns` is K as it was. Both arrays are of the library of the matrix, and on its device. Rows of `values` begin at
    multiples of 16 bytes.

    Shapes: values (..., M, chunks of K times what is stored of one); metadata (..., stages of K, blocks of 64 rows,
        128 threads * words) of 32 bits: what a thread loads for the instructions of a stage.
    """

    values: Any
    metadata: Any
    columns: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the matrix before."""
        return (*self.values.shape[:-1], self.columns)


def shapes(
    element: str, batch: tuple[int, ...], rows: int, columns: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shapes of the values and of the metadata of a matrix."""
    order, of_row = _order(element)
    width = _chunk(element)
    chunks = -(-columns // width)
    blocks, stages = -(-rows // _ROWS), -(-chunks // of_row)
    return (*batch, rows, chunks * (width // 2)), (*batch, stages, blocks, len(order))


def compress(a: Any) -> Compressed:
    """Compress an array whose chunks along the last axis, K, are at most half full.

    What is on a GPU, of PyTorch or CuPy, goes to the host, is compressed there, and comes back: that is slow, and done
    once for a matrix. Elements that are left out are zeros of either sign. `prune` makes any array such a one.

    Shapes: a (..., M, K).
    Errors: UsageError kernels.type; kernels.shape; kernels.sparse, which names the first chunk that has too many.
    """
    like, a = a, _host(a)
    element = _element(a)
    chunks = _chunks(_bits(a), element)
    present = _magnitudes(chunks, element) != 0
    width, kept = chunks.shape[-1], chunks.shape[-1] // 2
    pattern = np.zeros(chunks.shape[:-1], np.uint8)
    for place in range(width):
        pattern |= present[..., place].view(np.uint8) << place
    nibbles = _nibbles(width)[pattern]
    if not nibbles.all():
        _refuse(a.shape, pattern, nibbles, width)
    stored = np.take_along_axis(chunks, _places(nibbles, width), axis=-1)
    shape = (*a.shape[:-1], chunks.shape[-2] * kept)
    step = _ROW // stored.itemsize
    whole = np.zeros((*shape[:-1], -(-shape[-1] // step) * step), stored.dtype)
    whole[..., : shape[-1]] = stored.reshape(shape)
    values = _where(like, whole.view(a.dtype))[..., : shape[-1]]
    return Compressed(values, _where(like, _arranged(nibbles, element)), a.shape[-1])


def decompress(compressed: Compressed) -> Any:
    """The matrix before, where the values are. Shapes: (..., M, K)."""
    values = _host(compressed.values)
    element = _element(values)
    width = _chunk(element)
    stored = _bits(values).reshape(*values.shape[:-1], -1, width // 2)
    metadata = _host(compressed.metadata).view(np.uint32)
    nibbles = _nibbles_of(metadata, element)[..., : stored.shape[-3], : stored.shape[-2]]
    chunks = np.zeros((*stored.shape[:-1], width), stored.dtype)
    np.put_along_axis(chunks, _places(nibbles, width), stored, axis=-1)
    flat = chunks.reshape(*values.shape[:-1], -1)[..., : compressed.columns]
    return _where(compressed.values, np.ascontiguousarray(flat).view(values.dtype))


def prune(a: Any) -> Any:
    """A copy, where the array is, with only the larger half of each chunk along the last axis, the first among equals.

    Errors: UsageError kernels.type, kernels.shape.
    """
    like, a = a, _host(a)
    element = _element(a)
    chunks = _chunks(_bits(a), element)
    size = _magnitudes(chunks, element)
    width = chunks.shape[-1]
    beaten = np.zeros(chunks.shape, np.uint8)
    for first in range(width):
        for second in range(first + 1, width):
            wins = size[..., first] >= size[..., second]
            beaten[..., second] += wins
            beaten[..., first] += ~wins
    left = np.where(beaten < width // 2, chunks, chunks.dtype.type(0))
    flat = left.reshape(*a.shape[:-1], -1)[..., : a.shape[-1]]
    return _where(like, np.ascontiguousarray(flat).view(a.dtype))


# Elements and chunks ----------------------------------------------------------------------------------------


def _host(a: Any) -> Array:
    """An array as NumPy's: in the host's memory the same, from a GPU a copy.

    Errors: UsageError kernels.type, gpu.array.
    """
    if isinstance(a, np.ndarray):
        return cast("Array", a)
    if not is_foreign_type(a.__class__):
        raise UsageError(
            f"A is a {type_name(a)}; expected an array of NumPy, PyTorch or CuPy", code="kernels.type"
        )
    there = is_on_gpu(a)
    if is_torch_type(a.__class__):
        return as_numpy(a.detach().cpu())
    if there and _library(a) != "cupy":
        raise UsageError(
            f"A is a {type_name(a)} on a GPU; expected an array of PyTorch or CuPy there", code="kernels.type"
        )
    return cast("Array", a.get()) if there else as_numpy(a)


def _where(like: Any, made: Array) -> Any:
    """An array as one of the library, and on the device, of another."""
    library = _library(like)
    if library == "torch":
        torch = sys.modules["torch"]
        bits = made.view(f"i{made.itemsize}")  # which PyTorch takes over, whatever they mean
        dtype = bits.dtype if made.dtype == np.uint32 else made.dtype
        return torch.from_numpy(bits).to(like.device).view(getattr(torch, dtype.name))
    if library == "cupy":
        with like.device:
            return sys.modules["cupy"].asarray(made)
    return made


def _library(a: Any) -> str:
    return type(a).__module__.partition(".")[0]


def _element(a: Array) -> str:
    """The type of a matrix that may be A."""
    word = type_word(a, "A")
    if word not in {first for first, _ in SUMS}:
        raise UsageError(f"no products of {word}", code="kernels.type")
    if a.ndim < 2 or 0 in a.shape:
        raise UsageError(f"A has shape {a.shape}; expected (M, K), none of them 0", code="kernels.shape")
    return word


def _chunk(element: str) -> int:
    """Elements of a chunk."""
    return 2 if element == "tf32" else 4


def _bits(a: Array) -> Array:
    """The elements as unsigned integers."""
    return np.ascontiguousarray(a).view(f"u{a.dtype.itemsize}")


def _chunks(bits: Array, element: str) -> Array:
    """(..., chunks, elements of a chunk), with zeros behind the end of a row."""
    width = _chunk(element)
    missing = -bits.shape[-1] % width
    if missing:
        bits = np.concatenate([bits, np.zeros((*bits.shape[:-1], missing), bits.dtype)], axis=-1)
    return bits.reshape(*bits.shape[:-1], -1, width)


def _magnitudes(bits: Array, element: str) -> Array:
    """Unsigned integers in the order of the elements' magnitudes; 0 for zeros."""
    if element == "u8":
        return bits
    if element == "s8":
        return np.abs(bits.view(np.int8).astype(np.int16))
    # Formats of a sign and a magnitude are ordered as the bits below the sign are.
    return bits & bits.dtype.type((1 << 8 * bits.dtype.itemsize - 1) - 1)


@cache
def _nibbles(width: int) -> NDArray[np.uint8]:
    """The four bits of a chunk by which of its elements are there; 0, which is no legal value, for too many."""
    if width == 2:
        return np.array([_FIRST, _FIRST, _SECOND, 0], np.uint8)
    found = np.zeros(16, np.uint8)
    for pattern in range(16):
        there = [place for place in range(4) if pattern >> place & 1]
        others = [place for place in range(4) if place not in there]
        if len(there) <= 2:
            first, second = sorted([*there, *others][:2])
            found[pattern] = first | second << 2
    return found


def _places(nibbles: NDArray[np.uint8], width: int) -> NDArray[np.intp]:
    """Where in its chunk each stored element stands: (..., chunks, stored)."""
    first = nibbles[..., None] >> np.array([0, 2] if width == 4 else [1], np.uint8) & (3 if width == 4 else 1)
    return first.astype(np.intp)


def _refuse(shape: tuple[int, ...], pattern: Array, nibbles: Array, width: int) -> None:
    *batch, row, chunk = (int(each) for each in np.unravel_index(int(np.argmin(nibbles)), nibbles.shape))
    count = int(pattern[*batch, row, chunk]).bit_count()
    last = min(chunk * width + width, shape[-1]) - 1
    where = "".join(f"batch {each}, " for each in batch)
    raise UsageError(
        f"{where}row {row} of A has {count} elements that are not zero in columns {chunk * width} to {last};"
        f" expected at most {width // 2}",
        code="kernels.sparse",
        hint="`prune` keeps the largest",
    )


# Metadata as threads have them ------------------------------------------------------------------------------


@cache
def _order(element: str) -> tuple[NDArray[np.int32], int]:
    """Which chunk of (64 rows, chunks of a stage) each four bits of (128 threads * words, 8) belong to, and how many
    chunks of a row a stage has.
    """
    places = metadata_places(element)
    size = size_of(element)
    words = 1 + max(word for word, _ in places)
    maps = [
        metadata_map("wgmma", f"m64n8k{SPAN // len(places) // size}", element, selector)
        for _, selector in places
    ]
    of_row = sum(each.lane.shape[1] for each in maps)
    order = np.empty((METADATA // 4 * words, 8), np.int32)
    before = 0
    for each, (word, _) in zip(maps, places, strict=True):
        row, chunk = np.indices(each.lane.shape)
        order[each.lane * words + word, each.bit // 4] = row * of_row + before + chunk
        before += each.lane.shape[1]
    return order, of_row


def _arranged(nibbles: NDArray[np.uint8], element: str) -> NDArray[np.uint32]:
    """The words of metadata for four bits of each chunk (..., M, chunks)."""
    order, of_row = _order(element)
    *batch, rows, chunks = nibbles.shape
    blocks, stages = -(-rows // _ROWS), -(-chunks // of_row)
    whole = np.full((*batch, blocks * _ROWS, stages * of_row), _FIRST, np.uint8)
    whole[..., :rows, :chunks] = nibbles
    split = whole.reshape(*batch, blocks, _ROWS, stages, of_row)
    moved = np.moveaxis(split, -2, -4).reshape(*batch, stages, blocks, _ROWS * of_row)
    halves = np.take(moved, order.reshape(-1), axis=-1)
    octets = halves[..., 0::2] | halves[..., 1::2] << 4
    return octets.view("<u4").astype(np.uint32, copy=False)


def _nibbles_of(metadata: NDArray[np.uint32], element: str) -> NDArray[np.uint8]:
    """Four bits of each chunk, those behind the end of the matrix too."""
    order, of_row = _order(element)
    octets = np.ascontiguousarray(metadata, "<u4").view(np.uint8)
    pairs = octets[..., None] >> np.array([0, 4], np.uint8) & np.uint8(15)
    halves = pairs.reshape(*metadata.shape[:-1], -1)
    *batch, stages, blocks, _ = halves.shape
    moved = np.empty_like(halves)
    moved[..., order.reshape(-1)] = halves
    split = np.moveaxis(moved.reshape(*batch, stages, blocks, _ROWS, of_row), -4, -2)
    return split.reshape(*batch, blocks * _ROWS, stages * of_row)
