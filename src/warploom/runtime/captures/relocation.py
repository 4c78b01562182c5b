"""Relocation of the addresses in a captured launch.

A replay places the allocations at other addresses than the program did. Each aligned 8-byte word in the parameters and
in the allocations that is an address in an allocation is replaced by the new address. So is the address after the last
byte of an allocation, which a program may use as the end of a loop. A number that equals an address in an allocation
is replaced by mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warploom.layout.tensormap import TENSOR_MAP_BYTES, TensorMapFields
from warploom.runtime.captures.capture_file import Allocation, CapturedLaunch

WORD = 8
_PIECE = 1 << 23  # words that are examined together
_MOST_ALIGNMENT = 2 << 20

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]


class Relocation:
    """Map from the addresses of ranges to new addresses.

    Shapes: starts, sizes and targets (ranges,). The ranges do not overlap.
    """

    def __init__(self, starts: Sequence[int], sizes: Sequence[int], targets: Sequence[int]) -> None:
        order = np.argsort(np.array(starts, np.uint64))
        self._starts, self._sizes, self._targets = (
            np.array(each, np.uint64)[order] for each in (starts, sizes, targets)
        )

    def inverse(self) -> Relocation:
        """Return the map from the new addresses to the old ones."""
        return Relocation(self._targets.tolist(), self._sizes.tolist(), self._starts.tolist())

    def words(self, values: Words) -> tuple[Words, NDArray[np.bool_]]:
        """Return the words with relocated addresses, and a mask of the words that are addresses."""
        if not len(self._starts):
            return values, np.zeros(len(values), np.bool_)
        position = np.searchsorted(self._starts, values, side="right").astype(np.int64) - 1
        offset = values - self._starts[np.maximum(position, 0)]
        # At the start of a range, the address may be the end of the range before it. It counts as the start.
        inside = (position >= 0) & (offset <= self._sizes[np.maximum(position, 0)])
        return np.where(inside, self._targets[np.maximum(position, 0)] + offset, values), inside

    def address(self, value: int) -> int:
        """Return an address after the relocation."""
        return int(self.words(np.array([value], np.uint64))[0][0])

    def contents(self, data: Bytes, fixed: Iterable[int] = ()) -> Bytes:
        """Return a copy of bytes with relocated addresses. The tensor maps at the offsets `fixed` remain."""
        result = data.copy()
        words = result[: len(result) // WORD * WORD].view(np.uint64)
        for start in range(0, len(words), _PIECE):
            words[start : start + _PIECE] = self.words(words[start : start + _PIECE])[0]
        for offset in fixed:
            result[offset : offset + TENSOR_MAP_BYTES] = data[offset : offset + TENSOR_MAP_BYTES]
        return result

    def tensor_map(self, fields: TensorMapFields) -> TensorMapFields:
        """Return a tensor map with a relocated address."""
        return replace(fields, global_address=self.address(fields.global_address))


def alignment_of(address: int) -> int:
    """Return the alignment of an address in bytes, at most 2 MiB."""
    return min(address & -address, _MOST_ALIGNMENT) or _MOST_ALIGNMENT


def maps_of(launch: CapturedLaunch, number: int) -> dict[int, TensorMapFields]:
    """Return the tensor maps in an allocation by their offsets, or in the parameters if `number` is -1."""
    return {each.offset: each.fields for each in launch.tensor_maps if each.allocation == number}


def differing_bytes(found: Bytes, allocation: Allocation, undo: Relocation, fixed: Iterable[int]) -> NDArray[np.bool_]:
    """Return a mask of the bytes of `found` that differ from the recorded result.

    An aligned word that is the recorded address after the relocation does not differ. The tensor maps at the offsets
    `fixed` are not compared.
    """
    differs = found != allocation.after
    words = len(found) // WORD
    rows = np.flatnonzero(differs[: words * WORD].reshape(words, WORD).any(axis=1))
    if len(rows):
        new, old = (each[: words * WORD].view(np.uint64)[rows] for each in (found, allocation.after))
        same = rows[undo.words(new)[0] == old]
        differs[: words * WORD].reshape(words, WORD)[same] = False
    for offset in fixed:
        differs[offset : offset + TENSOR_MAP_BYTES] = False
    return differs
