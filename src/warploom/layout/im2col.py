"""Columns of pixels: which pixels of a batch of images a map for convolutions reads, in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warploom.diagnostics import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from warploom.layout.tensormap import TensorMapFields

OFFSET_BITS = {3: 16, 4: 8, 5: 5}
"""Bits of a corner of the box of pixels, and of an offset into the filter, by the tensor's rank."""


def spatial_axes(fields: TensorMapFields) -> range:
    """The dimensions of an image, W first: those after the channels, or in an interleaved tensor the first."""
    first = 0 if fields.interleave else 1
    return range(first, first + fields.rank - 2)


def pixels(
    fields: TensorMapFields, coordinates: Sequence[int], offsets: Sequence[int]
) -> dict[int, NDArray[np.int64]]:
    """Positions of a column's pixels along each dimension but that of the channels.

    From the pixel at the coordinates on, W runs fastest by its traversal stride; what passes the upper corner
    of the box goes on at the lower corner one step further along the next dimension, in the end one image on.
    The box is that of the pixels' positions without the offsets; the coordinates are inside it.

    Shapes: each (pixels,).
    Errors: UsageError for a number of offsets other than the dimensions of an image.
    Source: PTX ISA 5.5.4 (im2col mode).
    """
    axes = spatial_axes(fields)
    shifts = [int(each) % (1 << OFFSET_BITS[fields.rank]) for each in offsets] or [0] * len(axes)
    if len(shifts) != len(axes):
        raise UsageError(
            f"{len(shifts)} offsets into the filter of a tensor map of rank {fields.rank}; expected {len(axes)}"
        )
    found: dict[int, NDArray[np.int64]] = {}
    index = np.arange(fields.pixels_per_column, dtype=np.int64)
    for number, axis in enumerate(axes):
        start, step = int(coordinates[axis]), fields.element_stride[axis]
        low = fields.im2col_lower[number]
        end = fields.global_dim[axis] + fields.im2col_upper[number]
        first, each = -(-(end - start) // step), -(-(end - low) // step)
        later, place = np.divmod(index - first, each)
        is_first = index < first
        found[axis] = np.where(is_first, start + index * step, low + place * step) + shifts[number]
        index = np.where(is_first, 0, later + 1)
    batch = fields.rank - 1
    found[batch] = int(coordinates[batch]) + index * fields.element_stride[batch]
    if fields.interleave:
        found[fields.rank - 2] = np.full(
            fields.pixels_per_column, int(coordinates[fields.rank - 2]), np.int64
        )
    return found
