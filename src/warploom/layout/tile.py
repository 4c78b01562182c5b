"""Offsets of the rows of a tensor copy's box in global and in shared memory."""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.layout.element_map import read_only
from warploom.layout.swizzle import swizzle, swizzle_atoms
from warploom.layout.tensormap import INTERLEAVES, TensorMapFields

_OOB_NAN = bytes.fromhex("f77f")
"""NaN fill pattern of out-of-bounds elements. It repeats every 16 bits of an element of any type."""


class TileRows(NamedTuple):
    """Rows of one box, each along dimension 0. In the order of the rows, dimension 1 varies fastest.

    In every row, `first` is the index of the first element in bounds, and `valid` the number of elements in bounds.

    Shapes: `global_offset` and `shared_offset` are (rows,).
    Units: bytes. `global_offset` counts from the tensor's global address to the first element in bounds; -1 for a row
        out of bounds. `shared_offset` counts from the start of the box to the start of the row, before the swizzle.
    """

    global_offset: NDArray[np.int64]
    first: int
    valid: int
    shared_offset: NDArray[np.int64]


def tile_rows(fields: TensorMapFields, coordinates: Sequence[int], offsets: Sequence[int] = ()) -> TileRows:
    """Return the rows of the box at the coordinates of a tensor copy.

    `coordinates` lists the dimensions from the innermost to the outermost. Entries may be negative. The rows of an
    im2col map are pixels, to which the filter offsets `offsets` are added. Five coordinates of a map of rank 2 are a
    column and four rows.

    Errors: UsageError for a map that cannot be used, and for a number of coordinates other than the rank of the map.
    Source: PTX ISA 5.5 (tensors).
    """
    if fields.rank == 2 and len(coordinates) == 1 + FOUR:
        return _four_rows(fields, coordinates)
    relative, shared_offset, counts = _box(fields)
    if len(coordinates) != fields.rank:
        raise UsageError(
            f"a copy has {len(coordinates)} coordinates, but its map has rank {fields.rank}; expected {fields.rank}"
        )
    along = _rows_along(fields)
    if fields.is_im2col:
        at = _pixels(fields, coordinates, offsets)
        inside = np.ones(len(shared_offset), np.bool_)
        relative = np.zeros(len(shared_offset), np.int64)
        for axis, position in at.items():
            inside &= (position >= 0) & (position < fields.global_dim[axis])
            relative += position * _stride(fields, axis)
        base = 0
    else:
        inside, base = None, 0
        for axis in range(along, fields.rank):
            start, step, extent = int(coordinates[axis]), fields.element_stride[axis], fields.global_dim[axis]
            base += start * _stride(fields, axis)
            if start < 0 or start + (counts[axis] - 1) * step >= extent:
                at_axis = start + step * np.arange(counts[axis], dtype=np.int64)
                shape = [1] * (fields.rank - along)
                shape[fields.rank - 1 - axis] = counts[axis]
                legal = ((at_axis >= 0) & (at_axis < extent)).reshape(shape)
                inside = legal if inside is None else inside & legal
        if inside is not None:
            inside = np.broadcast_to(inside, tuple(counts[along:][::-1])).reshape(-1)
    first, valid = 0, 1
    if along:
        inner, whole = int(coordinates[0]), _counts(fields)[0]
        first = min(max(-inner, 0), whole)
        valid = max(min(fields.global_dim[0] - inner, whole) - first, 0)
        base += (inner + first) * (8 * INTERLEAVES[fields.interleave] or fields.element_bits) // 8
    if valid == 0:
        return TileRows(np.full(shared_offset.shape, -1, np.int64), first, valid, shared_offset)
    offset = relative + base if inside is None else np.where(inside, relative + base, -1)
    return TileRows(offset, first, valid, shared_offset)


FOUR = 4
"""Number of rows of a gather or a scatter."""


def _four_rows(fields: TensorMapFields, coordinates: Sequence[int]) -> TileRows:
    if fields.box[1] != 1 or fields.interleave or fields.is_im2col:
        raise UsageError(
            f"a copy of four rows uses a tensor map with a box of {fields.box[1]} rows;"
            " expected a tiled map with a box of one row and no interleave"
        )
    parts = [tile_rows(fields, [coordinates[0], row]) for row in coordinates[1:]]
    found = next((part for part in parts if part.valid), parts[0])
    return TileRows(
        np.concatenate([part.global_offset for part in parts]), found.first, found.valid,
        np.arange(FOUR, dtype=np.int64) * _row_pitch(fields),
    )  # fmt: skip


WIDE_PIXELS = 128
"""Number of pixels of a copy in mode im2col::w::128, without the halo."""
_WIDE_PART = 32
"""Number of pixels in mode im2col::w::128 before each halo."""


def wide_pixels(fields: TensorMapFields, halo: int, by_parts: bool) -> int:
    """Return the number of pixels of a copy in mode im2col::w, or im2col::w::128 if `by_parts` is set."""
    if not by_parts:
        return fields.pixels_per_column + halo
    return WIDE_PIXELS + WIDE_PIXELS // _WIDE_PART * halo


def wide_rows(
    fields: TensorMapFields, coordinates: Sequence[int], halo: int, offset: int, by_parts: bool
) -> TileRows:  # fmt: skip
    """Return the pixels of a copy in mode im2col::w, or im2col::w::128 if `by_parts` is set.

    The copy walks along W in the bounding box, which `offset` shifts, and continues in the next image. `halo` more
    pixels along W follow the last pixel, or each 32 pixels if `by_parts` is set. `tile_rows` describes the result and
    the errors.

    Source: PTX ISA 5.5.5.
    """
    _box(fields)
    if len(coordinates) != fields.rank or not fields.is_im2col or fields.interleave:
        raise UsageError("a copy in mode im2col::w uses another kind of tensor map; expected im2col, no interleave")
    main, part = (WIDE_PIXELS, _WIDE_PART) if by_parts else (fields.pixels_per_column,) * 2
    step, start = fields.element_stride[1], int(coordinates[1]) + offset
    low, end = fields.im2col_lower[0] + offset, fields.global_dim[1] + fields.im2col_upper[0] + offset
    first, each = -(-(end - start) // step), max(-(-(end - low) // step), 1)
    index = np.arange(main, dtype=np.int64)
    later, within = np.divmod(index - first, each)
    column = np.where(index < first, start + index * step, low + within * step)
    image = np.where(index < first, 0, later + 1)
    # (parts, pixels of a part and its halo)
    edge = column.reshape(-1, part)[:, -1:] + step * np.arange(1, halo + 1)
    column = np.concatenate([column.reshape(-1, part), edge], axis=1).reshape(-1)
    image = image.reshape(-1, part)
    image = np.concatenate([image, np.repeat(image[:, -1:], halo, axis=1)], axis=1).reshape(-1)
    batch = fields.rank - 1
    at = {axis: np.full(len(column), int(coordinates[axis])) for axis in range(2, batch)}
    at |= {1: column, batch: int(coordinates[batch]) + image * fields.element_stride[batch]}
    inside = np.ones(len(column), np.bool_)
    relative = np.zeros(len(column), np.int64)
    for axis, position in at.items():
        inside &= (position >= 0) & (position < fields.global_dim[axis])
        relative += position * _stride(fields, axis)
    channel, whole = int(coordinates[0]), fields.channels_per_pixel
    skipped = min(max(-channel, 0), whole)
    valid = max(min(fields.global_dim[0] - channel, whole) - skipped, 0)
    base = (channel + skipped) * fields.element_bits // 8
    offsets = np.where(inside & (valid > 0), relative + base, -1)
    return TileRows(offsets, skipped, valid, np.arange(len(column), dtype=np.int64) * _row_pitch(fields))


def shared_addresses(fields: TensorMapFields, addresses: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the swizzled addresses of the bytes of a box in shared memory."""
    if fields.swizzle_atomicity:
        return swizzle_atoms(addresses, fields.swizzle_atomicity)
    return swizzle(addresses, fields.swizzle_span)


def is_simple(fields: TensorMapFields) -> bool:
    """Return True if a copy moves chunks of 16 bytes: no padded elements, and atoms of 16 bytes."""
    return fields.shared_bits == fields.element_bits and not fields.swizzle_atomicity and fields.swizzle_span != 96


def _pixels(
    fields: TensorMapFields, coordinates: Sequence[int], offsets: Sequence[int]
) -> dict[int, NDArray[np.int64]]:
    """Return the coordinates of a column's pixels along each dimension except the channels.

    Shapes: each (pixels,).
    Errors: UsageError if the number of offsets differs from the number of dimensions of an image.
    Source: PTX ISA 5.5.4 (im2col mode).
    """
    axes = fields.spatial_axes
    shifts = [int(offset) % (1 << fields.offset_bits) for offset in offsets] or [0] * len(axes)
    if len(shifts) != len(axes):
        raise UsageError(
            f"a copy has {len(shifts)} im2col offsets; expected {len(axes)},"
            f" because its tensor map has rank {fields.rank}"
        )
    found: dict[int, NDArray[np.int64]] = {}
    index = np.arange(fields.pixels_per_column, dtype=np.int64)
    for number, axis in enumerate(axes):
        start, step = int(coordinates[axis]), fields.element_stride[axis]
        low = fields.im2col_lower[number]
        end = fields.global_dim[axis] + fields.im2col_upper[number]
        # After the upper corner, the column continues at the lower corner, one step along the next axis.
        first, each = -(-(end - start) // step), -(-(end - low) // step)
        later, within = np.divmod(index - first, each)
        is_first = index < first
        found[axis] = np.where(is_first, start + index * step, low + within * step) + shifts[number]
        index = np.where(is_first, 0, later + 1)
    batch = fields.rank - 1
    found[batch] = int(coordinates[batch]) + index * fields.element_stride[batch]
    if fields.interleave:
        slices = int(coordinates[fields.rank - 2])
        found[fields.rank - 2] = np.full(fields.pixels_per_column, slices, np.int64)
    return found


class Boxes(NamedTuple):
    """Boxes of one tensor map at many coordinates. `inside` is True for a box entirely in bounds.

    Shapes: `global_offset` and `inside` are (boxes,). `row_offset` and `shared_offset` are (rows of a box,), where
        dimension 1 varies fastest.
    Units: bytes. `global_offset` counts from the tensor's global address to the box. `row_offset` (global memory) and
        `shared_offset` (shared memory, before the swizzle) count from the start of the box to the row.
    """

    global_offset: NDArray[np.int64]
    inside: NDArray[np.bool_]
    row_offset: NDArray[np.int64]
    shared_offset: NDArray[np.int64]


def boxes(fields: TensorMapFields, coordinates: NDArray[np.int64]) -> Boxes:
    """Return the boxes of a tiled map at the coordinates of many tensor copies.

    Shapes: coordinates (rank, boxes), the innermost dimension first.
    Errors: UsageError for a map that cannot be used.
    """
    last, strides, relative, shared_offset = box_geometry(fields)
    inside: NDArray[np.bool_] = np.logical_and.reduce((coordinates >= 0) & (coordinates <= last))
    return Boxes(strides @ coordinates >> 3, inside, relative, shared_offset)


@lru_cache(maxsize=1024)
def box_geometry(
    fields: TensorMapFields,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the largest coordinates of a box inside the tensor, the strides, and the offsets of rows.

    At the last coordinates, the whole box is in bounds. The offsets are those in global and in shared memory.

    Shapes: coordinates (rank, 1), strides (rank,), offsets (rows,). Units: strides in bits, offsets in bytes.
    """
    relative, shared_offset, counts = _box(fields)
    reach = [fields.box[0], *((counts[axis] - 1) * fields.element_stride[axis] + 1 for axis in range(1, fields.rank))]
    last = np.array(fields.global_dim[: fields.rank], np.int64) - reach
    strides = [fields.element_bits, *(8 * stride for stride in fields.global_stride[: fields.rank - 1])]
    return last[:, None], np.array(strides, np.int64), relative, shared_offset


def stored_ranges(
    fields: TensorMapFields, address: int, coordinates: Sequence[int], offsets: Sequence[int] = ()
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the starts and sizes of the shared-memory ranges that the store of one box reads.

    The store does not read elements out of bounds of the tensor, nor the padding of rows. `address` is the shared
    address of the box. `coordinates` and `offsets` are as in `tile_rows`.

    Shapes: both (ranges,). Units: bytes.
    Errors: UsageError as in `tile_rows`.
    """
    part = tile_rows(fields, coordinates, offsets)
    rows = address + part.shared_offset[part.global_offset >= 0]
    size = part.valid * unit_bits(fields) // 8
    if not fields.swizzle_span:
        return rows, np.full(len(rows), size, np.int64)
    chunks = np.arange(0, size, 16, dtype=np.int64)
    starts = swizzle(rows[:, None] + chunks, fields.swizzle_span)
    return starts.reshape(-1), np.tile(np.minimum(size - chunks, 16), len(rows))


def box_rows(fields: TensorMapFields) -> tuple[NDArray[np.int64], int]:
    """Return the shared-memory offsets of the rows of a box, and the length of a row.

    Shapes: the offsets are (rows,); in the order of the rows, dimension 1 varies fastest.
    Units: the offsets in bytes from the start of the box, before the swizzle; the length in elements, or in slices of
        an interleaved box.
    Errors: UsageError for a map that cannot be used.
    """
    _, shared_offset, counts = _box(fields)
    return shared_offset, counts[0] if _rows_along(fields) else 1


def box_indices(fields: TensorMapFields, offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[int]]:
    """Return the index in its box of each byte at `offsets` from the start of a box without interleave.

    Entry 0 of an index is the byte in its row, and the other entries count elements. The second result has the extents
    of the box in the same units. An offset outside of the box has an index outside of the extents. The pixels of an
    im2col box are its dimension 1.

    Shapes: offsets (...); indices (dimensions, ...).
    Units: `offsets` in bytes, before the swizzle.
    Errors: UsageError for a map that cannot be used.
    """
    counts = _box(fields)[2]
    row, byte = np.divmod(offsets, _row_pitch(fields))
    found = [byte]
    for count in counts[1:-1]:
        found.append(row % count)
        row = row // count
    if len(counts) > 1:
        found.append(row)
    return np.stack(found), [row_bytes(fields), *counts[1:]]


def box_bytes(fields: TensorMapFields) -> int:
    """Return the number of bytes that the load of a box adds to an mbarrier."""
    # Bytes out of bounds count, too.
    return prod(_counts(fields)) * unit_bits(fields) // 8


def shared_bytes(fields: TensorMapFields) -> int:
    """Return the number of bytes of shared memory that a box covers, with the padding of its rows."""
    rows = prod(_counts(fields)[_rows_along(fields) :])
    return rows * _row_pitch(fields)


def fill_bytes(fields: TensorMapFields) -> bytes:
    """Return the bytes that a load writes to shared memory for an element out of bounds."""
    if fields.fill == 0:
        return bytes(-(-fields.shared_bits // 8))
    return _OOB_NAN * (fields.shared_bits // 16)


def coordinate_error(
    fields: TensorMapFields, coordinates: Sequence[int], *, stores: bool = False, wide: bool = False
) -> str:  # fmt: skip
    """Return the reason why the hardware refuses a tensor copy at the coordinates, or "".

    `stores` is True for a store, and `wide` for the modes im2col::w and im2col::w::128.
    """
    bits = int(coordinates[0]) * fields.element_bits
    if fields.shared_bits != fields.element_bits and (stores or coordinates[0] % 128):
        what = "a store has elements" if stores else f"the innermost coordinate is {int(coordinates[0])} in elements"
        expected = "a type without padding" if stores else "a multiple of 128"
        return f"{what} of {fields.element_type}; expected {expected}"
    if not fields.interleave and bits % 128:
        return (
            f"the innermost coordinate {int(coordinates[0])} is at byte {bits / 8:g}; expected a multiple of 16 bytes"
        )
    if stores and min(coordinates) < 0:
        return f"a store has the coordinates {tuple(int(at) for at in coordinates)}; expected at least 0"
    if not fields.is_im2col or wide:
        return ""
    if stores and (min(fields.im2col_lower) < 0 or max(fields.im2col_upper) > 0):
        return (
            f"a store of pixels uses a tensor map with corners {fields.im2col_lower} and {fields.im2col_upper};"
            " expected a bounding box inside the images"
        )
    for axis, low, high in zip(fields.spatial_axes, fields.im2col_lower, fields.im2col_upper):
        end = fields.global_dim[axis] + high
        if not low <= coordinates[axis] < end:
            return (
                f"the coordinate {int(coordinates[axis])} along dimension {axis} is outside the bounding box of"
                f" the map; expected {low} to {end - 1}"
            )
    return ""


def row_bytes(fields: TensorMapFields) -> int:
    """Return the number of bytes of a row of a box in global memory."""
    return (_counts(fields)[0] if _rows_along(fields) else 1) * unit_bits(fields) // 8


def unit_bits(fields: TensorMapFields) -> int:
    """Return the shared-memory width of an element, or of a slice if interleaved. Units: bits."""
    return 8 * INTERLEAVES[fields.interleave] or fields.shared_bits


def _rows_along(fields: TensorMapFields) -> int:
    """Return the first dimension that counts rows: 1, or 0 if each slice of channels is a row."""
    return int(not fields.interleave or (fields.element_stride[0] == 1 and not fields.is_im2col))


def _stride(fields: TensorMapFields, axis: int) -> int:
    return fields.global_stride[axis - 1] if axis else unit_bits(fields) // 8


def _counts(fields: TensorMapFields) -> list[int]:
    """Return the number of copied elements of a box along each dimension."""
    if fields.is_im2col:
        # Dimensions: channels (or one slice of them), pixels.
        return [1 if fields.interleave else fields.channels_per_pixel, fields.pixels_per_column]
    steps = list(fields.element_stride[: fields.rank])
    # The element stride of dimension 0 is ignored.
    if not fields.interleave:
        steps[0] = 1
    counts = [-(-extent // step) for extent, step in zip(fields.box, steps)]
    if fields.interleave:
        counts[fields.rank - 2] = 1
    return counts


def is_padded(fields: TensorMapFields) -> bool:
    """Return True if the rows of a box are shorter than their distance in shared memory."""
    return row_bytes(fields) < _row_pitch(fields)


def _row_pitch(fields: TensorMapFields) -> int:
    own = row_bytes(fields)
    return own if fields.interleave else fields.swizzle_span or own


@lru_cache(maxsize=256)
def _box(fields: TensorMapFields) -> tuple[NDArray[np.int64], NDArray[np.int64], list[int]]:
    """Return the offsets of all rows in global and shared memory, and the extents of the box.

    Units: bytes, counted from the first row. The global offsets are unused for an im2col map.
    """
    if errors := [*fields.validate(), *_unsupported(fields)]:
        raise UsageError(f"the tensor map cannot be used: {errors[0]}")
    counts = _counts(fields)
    relative = np.zeros(1, np.int64)
    for axis in range(_rows_along(fields), 0 if fields.is_im2col else fields.rank):
        step = fields.element_stride[axis] * _stride(fields, axis)
        relative = (np.arange(counts[axis], dtype=np.int64)[:, None] * step + relative).reshape(-1)
    rows = fields.pixels_per_column if fields.is_im2col else relative.size
    shared_offset = np.arange(rows, dtype=np.int64) * _row_pitch(fields)
    read_only(relative, shared_offset)
    return relative, shared_offset, counts


def _unsupported(fields: TensorMapFields) -> list[str]:
    """Return one sentence for each property of a map with which copies cannot use it."""
    found: list[str] = []
    steps = zip(fields.global_dim[1 : fields.rank], fields.global_stride)
    span = sum((extent - 1) * stride for extent, stride in steps)
    if span >> 62:
        found.append(f"it spans {span} bytes; expected less than 2^62")
    return found
