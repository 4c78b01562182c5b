"""The geometry of a tile copy: which bytes of global memory a box's rows are, and where they go."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warploom.diagnostics import UsageError
from warploom.layout.im2col import pixels, spatial_axes
from warploom.layout.tensormap import INTERLEAVES, SWIZZLE_ATOMICITIES, TensorMapFields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_OOB_NAN = bytes.fromhex("f77f")
"""What every 16 bits of an element are that is filled with NaN, whatever its type."""


class TileRows(NamedTuple):
    """A box, row by row: the rows along dimension 0, dimension 1 fastest.

    Shapes: ``global_offset`` and ``shared_offset`` are (rows,).
    Units: offsets in bytes: global ones of a row's first valid element from the map's address, -1 where the
        whole row is out of bounds; shared ones of a row's beginning from the tile's, before the swizzle.
        ``first`` is the first valid element of a row and ``valid`` their number, the same in every row that
        is not out of bounds.
    """

    global_offset: NDArray[np.int64]
    first: int
    valid: int
    shared_offset: NDArray[np.int64]


def tile_rows(fields: TensorMapFields, coordinates: Sequence[int], offsets: Sequence[int] = ()) -> TileRows:
    """The rows of the box at some coordinates (innermost first; negative ones are legal).

    Through a map for convolutions they are pixels, the one at the coordinates first; the offsets into the
    filter are added to each.

    Errors: UsageError for a map that cannot be used, and for a number of coordinates other than its rank.
    Source: PTX ISA 5.5 (tensors).
    """
    relative, shared_offset, counts = _box(fields)
    if len(coordinates) != fields.rank:
        raise UsageError(
            f"{len(coordinates)} coordinates into a tensor map of rank {fields.rank}; expected {fields.rank}"
        )
    along = _rows_along(fields)
    if fields.is_im2col:
        at = pixels(fields, coordinates, offsets)
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
        base += (inner + first) * unit_bits(fields) // 8
    if valid == 0 or (inside is not None and not inside.any()):
        return TileRows(np.full(shared_offset.shape, -1, np.int64), first, valid, shared_offset)
    if inside is None:
        return TileRows(relative + base, first, valid, shared_offset)
    return TileRows(np.where(inside, relative + base, -1), first, valid, shared_offset)


class Boxes(NamedTuple):
    """Boxes of one map at many coordinates.

    Shapes: ``global_offset`` and ``inside`` are (boxes,), the others (rows of a box,), dimension 1 fastest.
    Units: offsets in bytes: of a box from the map's address; of its rows from its beginning, in global memory
        and, before the swizzle, in shared. ``inside`` says which boxes have no element out of bounds.
    """

    global_offset: NDArray[np.int64]
    inside: NDArray[np.bool_]
    row_offset: NDArray[np.int64]
    shared_offset: NDArray[np.int64]


def boxes(fields: TensorMapFields, coordinates: NDArray[np.int64]) -> Boxes:
    """The boxes at some coordinates. Shapes: coordinates (rank, boxes), innermost first.

    Errors: UsageError for a map that cannot be used.
    """
    relative, shared_offset, counts = _box(fields)
    offset = coordinates[0] * fields.element_bits // 8
    inside = (coordinates[0] >= 0) & (coordinates[0] + fields.box[0] <= fields.global_dim[0])
    for axis in range(1, fields.rank):
        start = coordinates[axis]
        reach = (counts[axis] - 1) * fields.element_stride[axis]
        inside &= (start >= 0) & (start + reach < fields.global_dim[axis])
        offset = offset + start * fields.global_stride[axis - 1]
    return Boxes(offset, inside, relative, shared_offset)


def box_rows(fields: TensorMapFields) -> tuple[NDArray[np.int64], int]:
    """Where the rows of a box begin in shared memory, before the swizzle, and the units that a row has.

    Shapes: (rows,), dimension 1 fastest.
    Units: bytes from the box's beginning; what a unit is, ``unit_bits`` says.
    Errors: UsageError for a map that cannot be used.
    """
    _, shared_offset, counts = _box(fields)
    return shared_offset, counts[0] if _rows_along(fields) else 1


def box_bytes(fields: TensorMapFields) -> int:
    """The bytes of a box's own elements: what a copy counts as transferred, out of bounds or not."""
    return prod(_counts(fields)) * unit_bits(fields) // 8


def shared_bytes(fields: TensorMapFields) -> int:
    """The bytes of shared memory that a box covers, a swizzled row padded to its span."""
    rows = prod(_counts(fields)[_rows_along(fields) :])
    return rows * _row_pitch(fields)


def fill_bytes(fields: TensorMapFields) -> bytes:
    """One element as it arrives when it is out of bounds."""
    if fields.fill == 0:
        return bytes(-(-fields.shared_bits // 8))
    return _OOB_NAN * (fields.shared_bits // 16)


def misplaced(fields: TensorMapFields, coordinates: Sequence[int], *, stores: bool = False) -> str:
    """What the hardware refuses about coordinates, in a sentence; empty when nothing.

    Without an interleave, the innermost coordinate must stand at a multiple of 16 bytes. A column of pixels
    must begin inside the box of the map. Stores begin at no negative coordinate, and through maps whose box
    of pixels leaves the images there are none.
    """
    bits = int(coordinates[0]) * fields.element_bits
    if not fields.interleave and bits % 128:
        return (
            f"the innermost coordinate {int(coordinates[0])} is at byte {bits / 8:g};"
            " expected a multiple of 16 bytes"
        )
    if stores and min(coordinates) < 0:
        return f"a store to the coordinates {tuple(int(at) for at in coordinates)}; expected none below 0"
    if not fields.is_im2col:
        return ""
    if stores and (min(fields.im2col_lower) < 0 or max(fields.im2col_upper) > 0):
        return (
            f"a store of pixels through a map with corners {fields.im2col_lower} and {fields.im2col_upper};"
            " expected a box of pixels that does not leave the images"
        )
    for axis, low, high in zip(spatial_axes(fields), fields.im2col_lower, fields.im2col_upper):
        end = fields.global_dim[axis] + high
        if not low <= coordinates[axis] < end:
            return (
                f"the coordinate {int(coordinates[axis])} along dimension {axis} is outside the map's box of"
                f" pixels; expected {low} to {end - 1}"
            )
    return ""


def row_bytes(fields: TensorMapFields) -> int:
    """The bytes of a row of a box, all of them consecutive in global memory."""
    return (_counts(fields)[0] if _rows_along(fields) else 1) * unit_bits(fields) // 8


def unit_bits(fields: TensorMapFields) -> int:
    """Bits in shared memory of what rows consist of: elements, or of interleaved tensors whole slices."""
    return 8 * INTERLEAVES[fields.interleave] or fields.shared_bits


def slice_axis(fields: TensorMapFields) -> int:
    """The dimension that counts the slices of an interleaved tensor, the last but one; -1 without."""
    return fields.rank - 2 if fields.interleave else -1


def _rows_along(fields: TensorMapFields) -> int:
    """1 where rows are consecutive along dimension 0, 0 where slices, or pixels of slices, are rows of their own."""
    return int(not fields.interleave or (fields.element_stride[0] == 1 and not fields.is_im2col))


def _stride(fields: TensorMapFields, axis: int) -> int:
    """Bytes from one position of an interleaved tensor, or row of another, to the next along a dimension."""
    return fields.global_stride[axis - 1] if axis else unit_bits(fields) // 8


def _counts(fields: TensorMapFields) -> list[int]:
    """What a box has along each dimension; of a map for convolutions, channels or slices and pixels.

    Without an interleave the stride along dimension 0 is not used; with one, a box has one slice.
    """
    if fields.is_im2col:
        return [1 if fields.interleave else fields.channels_per_pixel, fields.pixels_per_column]
    steps = list(fields.element_stride[: fields.rank])
    if not fields.interleave:
        steps[0] = 1
    counts = [-(-extent // step) for extent, step in zip(fields.box, steps)]
    if fields.interleave:
        counts[slice_axis(fields)] = 1
    return counts


def _row_pitch(fields: TensorMapFields) -> int:
    own = row_bytes(fields)
    return own if fields.interleave else fields.swizzle_span or own


@lru_cache(maxsize=256)
def _box(fields: TensorMapFields) -> tuple[NDArray[np.int64], NDArray[np.int64], list[int]]:
    """Global and shared offset of every row from the first, and what the box has along each dimension.

    Where rows are pixels, the global offsets depend on where the box is, and are none here.
    """
    complaints = [*fields.validate(), *_uncovered(fields)]
    if complaints:
        raise UsageError(f"the tensor map cannot be used: {complaints[0]}")
    counts = _counts(fields)
    relative = np.zeros(1, np.int64)
    for axis in range(_rows_along(fields), 0 if fields.is_im2col else fields.rank):
        step = fields.element_stride[axis] * _stride(fields, axis)
        relative = (np.arange(counts[axis], dtype=np.int64)[:, None] * step + relative).reshape(-1)
    rows = fields.pixels_per_column if fields.is_im2col else relative.size
    shared_offset = np.arange(rows, dtype=np.int64) * _row_pitch(fields)
    relative.flags.writeable = False
    shared_offset.flags.writeable = False
    return relative, shared_offset, counts


def _uncovered(fields: TensorMapFields) -> list[str]:
    """What a map may say and this geometry does not follow."""
    found: list[str] = []
    if fields.swizzle_span == 96 or fields.swizzle_atomicity:
        atomicity = SWIZZLE_ATOMICITIES[fields.swizzle_atomicity]
        found.append(
            f"its swizzle is {fields.swizzle_span} bytes by {atomicity};"
            " only 32, 64 and 128 bytes by 16B are copied"
        )
    if fields.shared_bits != fields.element_bits:
        found.append(f"its elements are {fields.element_type}; padded elements are not copied")
    steps = zip(fields.global_dim[1 : fields.rank], fields.global_stride)
    span = sum((extent - 1) * stride for extent, stride in steps)
    if span >> 62:
        found.append(f"it spans {span} bytes; only spans below 2^62 are copied")
    return found
