# pyright: reportUnknownMemberType=false
"""Layouts with which tensor copies and threads wrote shared memory."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.emulator.address_space import SHARED_START
from warploom.emulator.events import Launch
from warploom.layout import TensorMapFields, swizzle
from warploom.layout.tile import box_indices
from warploom.numerics._compile import njit
from warploom.observe.sanitize._shared_shadow import SharedArrays
from warploom.observe.sanitize._tiles import Tiles
from warploom.observe.sanitize.clock_arrays import ASYNC, GENERIC, THREAD_COPY
from warploom.observe.sanitize.registers import once_per_program
from warploom.observe.sanitize.shared_shadow import SharedShadow

Array = NDArray[Any]

UNKNOWN, THREAD, UNWRITTEN = 0, -1, -2  # in place of the number of a tensor
OUTSIDE = -1  # in place of the hash of a tile
_DIMENSIONS = 5
_MOST_LAYOUTS = 4096  # that launches of one program share
_MULTIPLIER = 0x100000001B3  # of the FNV hash


class CopyArrays(NamedTuple):
    """Tensor copies by number, for compiled functions; number 0 is unused.

    `layouts` has the number of the layout of each copy, `starts` its shared address, and `coordinates` its position in
    the tensor, innermost dimension first. Shapes: (copies,), (copies,), (copies, 5).
    """

    layouts: Array
    starts: Array
    coordinates: Array


@dataclass(frozen=True, slots=True)
class Contents:
    """Contents of 16-byte chunks of shared memory.

    `tensor` is the number of the tensor that a tensor copy read, THREAD for data that threads copied from global
    memory, UNWRITTEN if nothing wrote the chunk, and UNKNOWN for other data. `copy` is the number of the tensor copy.
    `position` is the position in the tensor, `index` the position in the box, `extent` the size of the box, and `step`
    the distance of adjacent elements of the box in the tensor. `source` is the global address of data that threads
    copied. `overwritten` is True for chunks of a box that threads overwrote.

    Shapes: tensor, copy, source and overwritten (...); the others (5, ...), the innermost dimension first.
    Units: chunks in the innermost dimension, elements in the others.
    """

    tensor: Array
    copy: Array
    position: Array
    index: Array
    extent: Array
    step: Array
    source: Array
    overwritten: Array

    def at(self, where: tuple[Any, ...]) -> Contents:
        """Return the contents of the chunks that `where` selects."""
        wide = (slice(None), *where)
        return Contents(
            self.tensor[where], self.copy[where], self.position[wide], self.index[wide], self.extent[wide],
            self.step[wide], self.source[where], self.overwritten[where],
        )  # fmt: skip


class Known:
    """Layouts and tensors by number, and the multiplications whose tiles agree with their descriptors.

    Launches of one program share the object. A key of `agreeing` has the program counter of the first of one or several
    adjacent multiplications, the fields of the descriptors, and the hashes of the tiles.
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._next = count(1)
        self.agreeing: set[tuple[int, ...]] = set()

    @property
    def is_full(self) -> bool:
        """True if the launches had so many layouts that the next launch should start anew."""
        return len(self._numbers) > _MOST_LAYOUTS

    def number(self, key: Hashable) -> int:
        """Return the number of a layout or a tensor."""
        return self._numbers.setdefault(key, next(self._next))


class WrittenLayouts:
    """Record of the tensor copies into the shared memory of one wave of CTAs.

    Layouts and tensors keep their numbers from wave to wave.
    """

    shadow: SharedShadow

    def __init__(self, launch: Launch) -> None:
        holder = _known_layouts(launch)
        if holder[0].is_full:
            holder[0] = Known()
        self.known = holder[0]

    def start(self, shadow: SharedShadow) -> None:
        """Prepare for the CTAs whose shared memory has the shadow `shadow`."""
        self.shadow = shadow
        self.count = 1
        self.arrays = CopyArrays(np.zeros(64, np.int32), np.zeros(64, np.int64), np.zeros((64, _DIMENSIONS), np.int64))
        self.fields = [TensorMapFields()]
        self.sites = [-1]

    def add(self, fields: TensorMapFields, starts: Array, coordinates: Array, offsets: Array, pc: int) -> Array:
        """Record tensor copies to shared addresses. Return their numbers, 0 if their layout is not known.

        `coordinates` has the tensor coordinates of the boxes, the innermost dimension first. `offsets` has their im2col
        offsets, which are added to the coordinates from the second one on. Shapes: starts and result (copies,);
        coordinates (dimensions, copies); offsets (im2col offsets, copies).
        """
        copies = len(starts)
        if fields.interleave or len(coordinates) != fields.rank:
            return np.zeros(copies, np.int64)
        first, last = self.count, self.count + copies
        while last > len(self.arrays.layouts):
            self.arrays = CopyArrays(*(np.concatenate([array, np.zeros_like(array)]) for array in self.arrays))
        self.arrays.layouts[first:last] = self.known.number(fields)
        self.arrays.starts[first:last] = starts
        self.arrays.coordinates[first:last, : len(coordinates)] = coordinates.T
        self.arrays.coordinates[first:last, 1 : 1 + len(offsets)] += offsets.T
        self.fields += [fields] * copies
        self.sites += [pc] * copies
        self.count = last
        return np.arange(first, last)

    def hashes(self, origins: Array, starts: Array, tiles: Tiles) -> Array:
        """Return a hash of the contents of each tile, which does not depend on the position in the tensors.

        The start address of tile m is starts[m, i] in the shared memory of a CTA, whose byte offset is origins[i]. If
        threads have overwritten chunks of a box, the hash also depends on the positions of these chunks in the box. The
        hash is 0 for a tile of unknown contents, and OUTSIDE for a tile that leaves the shared memory. Shapes: hashes
        and starts (tiles, CTAs), origins (CTAs,).
        """
        found = np.empty(starts.shape, np.int64)
        _hash_tiles(
            self.shadow.arrays, self.arrays, origins, starts, tiles, SHARED_START, self.shadow.shared.end, found
        )
        return found

    def contents(self, cta: int, chunks: Array, *, restored: bool = False) -> Contents:
        """Return the contents of chunks of a CTA's shared memory.

        With `restored`, a chunk of a box that threads overwrote has its place in the box if other chunks of the box
        remain. For example, threads overwrite the rows behind the end of a sequence with zeros.

        Shapes: chunks (chunks,); the result as in `Contents`, where ... is (chunks,).
        """
        shadow = self.shadow.arrays
        here = chunks + (cta * self.shadow.shared.stride >> 4)
        records = shadow.records[here << 4 - shadow.shift]
        kinds = np.where(records == 0, -1, records >> 10 & 63)
        copies = np.where(kinds == ASYNC, shadow.origins[here], 0)
        words = shadow.sources[here[:, None] * 4 + np.arange(4)]
        by_thread = ((kinds == THREAD_COPY) | (kinds == GENERIC)) & (np.diff(words, axis=1) == 4).all(axis=1)
        sources = np.where(by_thread, words[:, 0], 0)
        position, index, extent, step = np.zeros((4, _DIMENSIONS, len(chunks)), np.int64)
        tensor = np.where(records == 0, UNWRITTEN, np.where(sources > 0, THREAD, UNKNOWN))
        last = shadow.origins[here]
        overwritten = restored & (tensor == UNKNOWN) & (copies == 0) & np.isin(last, copies[copies > 0])
        copies = np.where(overwritten, last, copies)
        found = Contents(tensor, copies, position, index, extent, step, sources, overwritten)
        for copy in np.unique(copies[copies > 0]).tolist():
            self._describe(copy, chunks, found)
        return found

    def _describe(self, copy: int, chunks: Array, found: Contents) -> None:
        """Fill in the contents of those of `chunks` that a tensor copy wrote."""
        fields = self.fields[copy]
        here = np.flatnonzero(found.copy == copy)
        try:
            offsets = swizzle(chunks[here] * 16 + SHARED_START, fields.swizzle_span) - self.arrays.starts[copy]
            indices, extents = box_indices(fields, offsets)
        except UsageError:
            return  # the emulator will report the illegal copy
        inside = indices[0] < extents[0]  # the padding of a row has unknown contents
        here, indices = here[inside], indices[:, inside]
        indices[0] >>= 4
        where = self.arrays.coordinates[copy]
        steps = [1, *fields.element_stride[1 : len(extents)]]
        first = [int(where[0]) * fields.element_bits // 128, *where[1 : len(extents)].tolist()]
        tensor: tuple[Hashable, ...] = (fields.global_address, fields.global_stride, fields.elemtype, fields.rank)
        if fields.is_im2col:
            # Pixels are numbered within their copy.
            steps[1], first[1] = 1, 0
            tensor = (*tensor, *where.tolist())
        found.tensor[here] = self.known.number(tensor)
        for axis, extent in enumerate([extents[0] >> 4, *extents[1:]]):
            found.index[axis, here] = indices[axis]
            found.extent[axis, here] = extent
            found.step[axis, here] = steps[axis]
            found.position[axis, here] = first[axis] + indices[axis] * steps[axis]
        found.extent[len(extents) :, here] = 1


@once_per_program
def _known_layouts(launch: Launch) -> list[Known]:
    """Return a list with the layouts that launches of a program share."""
    return [Known()]


@njit
def _hash_tiles(
    s: SharedArrays, c: CopyArrays, origins: Array, starts: Array, tiles: Tiles, low: int, high: int, found: Array
) -> None:  # fmt: skip
    for m in range(found.shape[0]):
        for i in range(found.shape[1]):
            found[m, i] = _hash_tile(s, c, origins[i], starts[m, i], tiles, m, low, high)


@njit
def _hash_tile(
    s: SharedArrays, c: CopyArrays, origin: int, start: int, tiles: Tiles, m: int, low: int, high: int
) -> Any:  # fmt: skip
    value, first, last = np.int64(0), 0, 0
    source, is_known = np.int64(0), False
    mask, base_offset, begin = tiles.masks[m], tiles.base_offsets[m], tiles.first[m]
    for k in range(tiles.first[m + 1] - begin):
        address = start + tiles.chunks[begin + k]
        address ^= (((address >> 7) - base_offset) & mask) << 4
        if address < low or address + 16 > high:
            return OUTSIDE
        chunk = (origin + address - low) >> 4
        record = s.records[chunk << (4 - s.shift)]
        kind = (record >> 10) & 63
        # The number of the copy, negated and minus 1 for an overwritten chunk; -1 for data from threads.
        number = 0
        if record and kind == ASYNC:
            number = s.origins[chunk]
            is_known = is_known or number > 0
        elif record:
            at = s.sources[4 * chunk]
            is_copied = kind in (THREAD_COPY, GENERIC) and at != 0
            for word in range(1, 4):
                is_copied = is_copied and s.sources[4 * chunk + word] == at + 4 * word
            if is_copied:
                if source == 0:
                    source = at
                value = (value ^ (at - source) ^ k) * _MULTIPLIER
                number, is_known = -1, True
            elif s.origins[chunk] > 0:
                number = -1 - s.origins[chunk]
        if number != last:
            last = number
            copy = max(number, -1 - number)
            value = (value ^ (k + 1 if number >= -1 else -k - 1)) * _MULTIPLIER
            if copy > 0:
                if first == 0:
                    first = copy
                value = (value ^ c.layouts[copy] ^ ((address - c.starts[copy]) << 20)) * _MULTIPLIER
                for axis in range(_DIMENSIONS):
                    step = c.coordinates[copy, axis] - c.coordinates[first, axis]
                    value = (value ^ step) * _MULTIPLIER
    return value if is_known else 0
