# pyright: reportUnknownMemberType=false
"""Agreement between the elements of a tile and the layout in which copies wrote them.

A tile is a grid of 16-byte chunks. One axis of the grid counts rows, which are the index M of A or N of B, and the
other axis counts K. A tensor copy gives each chunk a position in its tensor. The tile agrees with the copy if each
coordinate of the tensor depends on the row alone or on K alone, and if adjacent chunks of the tile are adjacent in the
box. Chunks of a box that threads overwrote count with their places in the box. A thread that copies data gives each
chunk a global address. The tile agrees if the addresses are affine in both axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import SHARED_START
from warploom.isa.model.multiplication import SharedMatrix
from warploom.layout import Descriptor, swizzle
from warploom.layout.maps import TYPE_BITS
from warploom.observe.sanitize.written_layouts import THREAD, UNKNOWN, UNWRITTEN, Contents

Array = NDArray[Any]

# Disagreements.
TENSORS = "elements of one row come from different tensors"
ROWS = "elements of one row come from different rows of the box"
ORDER = "adjacent rows are not adjacent in the box"
K_ORDER = "adjacent columns are not adjacent in the box"
PART = "the tile consists of a part of a box and of other data"
GAPS = "the tile consists of a part of the data and of bytes that nothing wrote"
SOURCES = "adjacent elements are not equally spaced in global memory"

_FARTHEST = 1 << 16  # largest byte offset of a search
_SPANS = (0, 32, 64, 128)


@dataclass(frozen=True, slots=True)
class Span:
    """Elements of a box that a tile covers along K.

    The tile covers the elements `start` + p of the box for each p in `profile`. The box has `extent` elements along K.
    """

    start: int
    extent: int
    profile: tuple[int, ...]

    def matches(self, other: Span | None) -> bool:
        """Return True if the tiles of A and B begin at the same element along K of boxes with one extent."""
        # A longer box counts as several of the shorter ones. Spans that are not known match.
        return other is None or (self.start - other.start) % gcd(self.extent, other.extent) == 0


def chunks_of(descriptor: Descriptor, matrix: SharedMatrix) -> Array:
    """Return the number of each 16-byte chunk of a tile in the CTA's shared memory.

    A chunk outside of shared memory has a negative number or a number that is too large. Shapes: as
    `SharedMatrix.chunks`.
    """
    base, leading, stride = _coefficients(matrix, descriptor.swizzle)
    offsets = base + leading * descriptor.leading_byte_offset + stride * descriptor.stride_byte_offset
    addresses = swizzle(descriptor.start_address + offsets, descriptor.swizzle, descriptor.base_offset)
    return (addresses - SHARED_START) >> 4


@lru_cache(maxsize=64)
def _coefficients(matrix: SharedMatrix, span: int) -> tuple[Array, Array, Array]:
    """Return constant, a and b for each chunk, whose byte offset is constant + a * LBO + b * SBO.

    LBO and SBO are the leading and the stride byte offset of the descriptor, and the byte offset is that before the
    swizzle. Shapes: as `SharedMatrix.chunks`.
    """

    def offsets(leading: int, stride: int) -> Array:
        return matrix.chunks(Descriptor(0, leading, stride, 0, span).encode() >> 14)[0]

    base = offsets(0, 0)
    return base, offsets(16, 0) - base >> 4, offsets(0, 16) - base >> 4


def used_fields(descriptor: Descriptor, matrix: SharedMatrix) -> tuple[str, ...]:
    """Return the names of the descriptor's fields that determine the addresses of the tile."""
    _, leading, stride = _coefficients(matrix, descriptor.swizzle)
    return (
        *(("leading_byte_offset",) if leading.any() else ()), *(("stride_byte_offset",) if stride.any() else ()),
        "swizzle", *(("base_offset",) if descriptor.swizzle else ()), "start_address",
    )  # fmt: skip


def overlaps(chunks: Array) -> bool:
    """Return True if two chunks of a tile are the same."""
    return np.unique(chunks).size < chunks.size


# Agreement ------------------------------------------------------------------------------------------------


def disagreement(tile: Contents, matrix: SharedMatrix) -> str:
    """Return how a tile disagrees with the layout of its contents, "" if it agrees.

    Chunks of unknown contents agree with copies by threads, but not with tensor copies. Shapes: as
    `SharedMatrix.chunks`.
    """
    rows = _row_axis(matrix)
    if (tile.tensor == UNWRITTEN).any():
        return GAPS
    if (tile.tensor <= UNKNOWN).all():
        return _source_disagreement(tile, matrix)
    if (tile.tensor != tile.tensor.take([0], axis=1 - rows)).any():
        return TENSORS
    of_row = tile.tensor.take(0, axis=1 - rows)
    tensors = np.unique(of_row)
    is_split, found = len(tensors) > 1, ""
    for tensor in tensors[tensors != UNKNOWN].tolist():
        here = np.flatnonzero(of_row == tensor)
        part = tile.at((here,) if rows == 0 else (slice(None), here))
        if tensor == THREAD:
            problem, jumps = _source_disagreement(part, matrix), False
        else:
            problem, jumps = _disagreement_within(part, rows)
        if problem and problem != K_ORDER:
            return problem
        found, is_split = found or problem, is_split or jumps
    return PART if is_split and not _covers_boxes(tile, rows) else found


def are_rows_of_box(tile: Contents) -> bool:
    """Return True if each line of a tile of known contents comes from one row of a box."""
    return bool((tile.tensor == tile.tensor[:, :1]).all()) and not _disagreement_within(tile, 0)[0]


def _row_axis(matrix: SharedMatrix) -> int:
    return 0 if matrix.major == "K" else 1


def _source_disagreement(tile: Contents, matrix: SharedMatrix) -> str:
    """Return how the global addresses of a tile disagree with an affine function of its lines and chunks.

    A line is the sequence of chunks along the major axis: a row of a K-major tile, or the chunks of an MN-major tile
    with one index K.
    """
    line, chunk = np.nonzero(tile.source)
    source = tile.source[line, chunk]
    relative = source - 16 * chunk
    later = np.flatnonzero(line != line[0])
    if not len(later):
        return "" if (relative == relative[0]).all() else SOURCES
    at = later[0]
    step, rest = divmod(int(relative[at] - relative[0]), int(line[at] - line[0]))
    # The elements of a line follow each other. The lines of a K-major tile have more elements than the tile.
    if rest or (relative != relative[0] + step * (line - line[0])).any() or abs(step) < 16 * tile.source.shape[1]:
        is_same_in_rows = (
            matrix.major == "K" and tile.source.all() and not np.diff(np.diff(tile.source, axis=1), axis=0).any()
        )
        return K_ORDER if is_same_in_rows else SOURCES
    return ""


def _has_whole_lines(tile: Contents) -> bool:
    """Return True if threads copied each line of a tile from adjacent bytes of global memory."""
    return bool((tile.source > 0).all() and (np.diff(tile.source, axis=1) == 16).all())


def _varying(position: Array, axis: int) -> Array:
    """Return True for each dimension in which positions differ along `axis`.

    Shapes: position (5, lines, chunks).
    """
    return (position != position.take([0], axis=1 + axis)).any(axis=(1, 2))


def _rank_in_box(tile: Contents, dimensions: Array) -> Array:
    """Return the index of each chunk in its box, counted over some dimensions."""
    found, weight = np.zeros_like(tile.copy, np.int64), np.ones_like(tile.copy, np.int64)
    for axis in np.flatnonzero(dimensions).tolist():
        found += tile.index[axis] * weight
        weight = weight * tile.extent[axis]
    return found


def _disagreement_within(tile: Contents, rows: int) -> tuple[str, bool]:
    """Return how a tile of one tensor disagrees, and whether its rows jump from box to box."""
    varying = [_varying(tile.position, axis) for axis in (0, 1)]
    # The elements of a chunk are adjacent in the innermost dimension.
    if (varying[0] & varying[1]).any() or varying[0][0]:
        return ROWS, False
    jumps, found = False, ""
    for axis in (rows, 1 - rows):
        same = np.diff(tile.copy, axis=axis) == 0
        in_order = bool((np.diff(_rank_in_box(tile, varying[axis]), axis=axis)[same] == 1).all())
        moved = np.diff(tile.position, axis=1 + axis)
        steps = tile.step[:, 1:] if axis == 0 else tile.step[:, :, 1:]
        by_one = ((moved == 0) | (moved == steps)).all(axis=0) & ((moved != 0).sum(axis=0) == 1)
        adjacent = bool(by_one[~same].all())
        if axis == rows:
            if not in_order:
                return ORDER, False
            jumps = not adjacent
        elif not (in_order and adjacent):
            found = K_ORDER
    return found, jumps


def _covers_boxes(tile: Contents, rows: int) -> bool:
    """Return True if a tile covers all rows of each box that it reads."""
    for copy in np.unique(tile.copy[tile.tensor > UNKNOWN]).tolist():
        here = (tile.copy == copy) & (tile.tensor > UNKNOWN)
        at = np.argwhere(here)[0]
        part = tile.position[:, here]
        # Along K, the innermost dimension of a K-major tile varies, and others of a box of 16-byte rows.
        line = tile.position[:, at[0], :] if rows == 0 else tile.position[:, :, at[1]]
        mask = here[at[0], :] if rows == 0 else here[:, at[1]]
        along_k = (line[:, mask] != part[:, :1]).any(axis=1)
        along_k[0] = rows == 0
        extents = np.where(along_k, 1, tile.extent[:, at[0], at[1]])
        if np.count_nonzero(here.any(axis=1 - rows)) != extents.prod():
            return False
    return True


def span(tile: Contents, matrix: SharedMatrix) -> Span | None:
    """Return the elements of its boxes that a tile covers along K. None if the boxes differ along K."""
    rows = _row_axis(matrix)
    bits = TYPE_BITS[matrix.element]
    per_chunk = 128 // bits if rows == 0 else 1
    if matrix.major == "K" and (tile.tensor == THREAD).all():
        # The extent of the data is not known, so that any two spans match.
        return _span_of((tile.source[0] - tile.source[0, 0]) * 8 // bits, 1, per_chunk)
    if (tile.tensor <= UNKNOWN).any() or (tile.copy != tile.copy.take([0], axis=1 - rows)).any():
        return None
    along = _varying(tile.position, 1 - rows)
    along[0] |= rows == 0
    at = _rank_in_box(tile, along)
    if (at != at.take([0], axis=rows)).any():
        return None
    extent = int(np.where(along, tile.extent[:, 0, 0], 1).prod())
    return _span_of(at.take(0, axis=rows) * per_chunk, extent * per_chunk, per_chunk)


def _span_of(first: Array, extent: int, count: int) -> Span:
    """Return the span of groups of `count` elements. Group i begins at element first[i]."""
    at = (first[:, None] + np.arange(count)).reshape(-1)
    return Span(int(at[0]), extent, tuple((at - at[0]).tolist()))


# Search ---------------------------------------------------------------------------------------------------


def agreeing(
    descriptor: Descriptor, matrix: SharedMatrix, memory: Contents, other: Span | None = None
) -> Descriptor | None:
    """Return a descriptor that agrees with the shared memory and differs in few fields.

    `memory` has the contents of the CTA's shared memory. `other` is the span of the other matrix of the multiplication,
    None if it is not known. The result is None if the search finds none. Shapes: memory (chunks,).
    """
    before = chunks_of(descriptor, matrix)
    is_inside = bool(((before >= 0) & (before < len(memory.tensor))).all())
    tensors = memory.tensor[before[(before >= 0) & (before < len(memory.tensor))]]
    is_by_threads = (tensors == THREAD).any()
    has_whole_lines = is_inside and _has_whole_lines(memory.at((before,)))
    for candidate in _candidates(descriptor, matrix):
        chunks = chunks_of(candidate, matrix)
        if chunks.min() < 0 or chunks.max() >= len(memory.tensor) or overlaps(chunks):
            continue
        tile = memory.at((chunks,))
        if np.isin(tile.tensor, (UNKNOWN, UNWRITTEN)).any() or disagreement(tile, matrix):
            continue
        remaining = np.unique(tile.copy[~tile.overwritten])
        if not np.isin(tile.copy[tile.overwritten], remaining).all():
            continue
        # Addresses are weaker evidence than boxes: another start must not lead to another tile. If threads gather rows
        # by indices, a part of the rows can be equally spaced by chance.
        is_weak = is_by_threads or (tile.tensor == THREAD).any()
        moves = candidate.start_address != descriptor.start_address
        if is_weak and moves and (has_whole_lines or 2 * np.isin(chunks, before).sum() < chunks.size):
            continue
        covered = span(tile, matrix)
        if covered is None or covered.matches(other):
            return candidate
    return None


def _candidates(descriptor: Descriptor, matrix: SharedMatrix) -> Iterator[Descriptor]:
    """Return descriptors that differ from `descriptor`, those that differ in one field first."""
    used = used_fields(descriptor, matrix)
    spans = [each for each in _SPANS if each != descriptor.swizzle]
    yield from (replace(descriptor, swizzle=each, base_offset=0) for each in spans)
    if descriptor.swizzle:
        yield from (replace(descriptor, base_offset=each) for each in range(8) if each != descriptor.base_offset)
    for name in ("stride_byte_offset", "leading_byte_offset"):
        if name in used:
            yield from (replace(descriptor, **{name: each}) for each in range(128, _FARTHEST, 128))
    yield from _shifted(descriptor)
    for each in (descriptor.swizzle, *spans):
        same = replace(descriptor, swizzle=each, base_offset=0)
        group = 8 * (each or 16)
        if "leading_byte_offset" not in used_fields(same, matrix):
            yield replace(same, stride_byte_offset=group)
            continue
        for offset in range(group, _FARTHEST, group):
            yield replace(same, stride_byte_offset=group, leading_byte_offset=offset)
            if matrix.major == "K":
                yield replace(same, stride_byte_offset=offset, leading_byte_offset=group)


def _shifted(descriptor: Descriptor) -> Iterator[Descriptor]:
    """Return copies of a descriptor that begin at other chunks of a row or at other groups of rows."""
    group = 8 * (descriptor.swizzle or 16)
    distances = {16 * each for each in range(-8, 9)} | {group * each for each in range(-8, 9)}
    for distance in sorted(distances - {0}, key=abs):
        start = descriptor.start_address + distance
        if SHARED_START <= start < 1 << 18:
            yield replace(descriptor, start_address=start)
