"""Table of the tensor maps that native code can use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import CHUNK_MASK, GLOBAL_BASE
from warploom.emulator.arena import Arena
from warploom.layout import TensorMapFields, box_bytes, box_geometry
from warploom.layout.tile import is_simple

Array = NDArray[np.int64]

TF32_WORDS = ("tf32", "tf32.ftz")
"""Element types of tensor maps that a load rounds to tf32."""
MAP_BYTES = 128
MOST_DIMENSIONS = 5
_DIMENSIONS = (np.int64, MOST_DIMENSIONS)
MAP = np.dtype(
    [
        ("address", np.int64), ("content", np.int64, MAP_BYTES // 8), ("rank", np.int64), ("last", *_DIMENSIONS),
        ("strides", *_DIMENSIONS), ("rows", np.int64), ("row_offsets", np.int64), ("shared_offsets", np.int64),
        ("row_bytes", np.int64), ("chunk_mask", np.int64), ("covered", np.int64), ("reach", np.int64),
        ("bytes", np.int64), ("element_bits", np.int64), ("start", np.int64),
    ]
)  # fmt: skip
"""Tensor map with the geometry of its boxes, as 64-bit numbers.

- `address`, `content`: global address of the map, and its bytes
- `last`: greatest coordinates of a box inside the tensor
- `strides`: strides of the tensor in bits
- `rows`, `row_offsets`, `shared_offsets`: number of rows of a box, and host addresses of the offsets of the rows from
  the start of the box in global and in shared memory
- `row_bytes`, `bytes`: size of a row, and bytes that an mbarrier counts for a box
- `covered`, `reach`: size of the range of a box in shared memory and in global memory
- `start`: global address of the tensor
"""


def is_tiled(fields: TensorMapFields) -> bool:
    """Return True if a copy of a box moves whole rows and converts no elements."""
    is_whole = not fields.is_im2col and not fields.interleave and fields.element_type not in TF32_WORDS
    return is_whole and is_simple(fields)


class KnownMaps:
    """Table of tensor maps.

    The interpreter adds a tensor map when it executes a tensor copy that uses this map. `table` contains `count` maps.
    The table outlives a launch: native code compares a map with the bytes at its address before each use.
    """

    def __init__(self) -> None:
        self.table: NDArray[Any] = np.zeros(16, MAP)
        self.count = 0
        self._numbers: dict[int, int] = {}  # address -> index in the table
        self._offsets: dict[int, tuple[Array, Array]] = {}  # index -> arrays whose addresses are in the table

    def add(self, arena: Arena, addresses: NDArray[Any], fields: TensorMapFields) -> None:
        """Add the map with the fields `fields` at several global addresses, or replace other maps there."""
        if not is_tiled(fields):
            return
        content = {address: _content(arena, address) for address in set(addresses.tolist())}
        new = [address for address, found in content.items() if not self._has(address, found)]
        if not new:
            return
        last, strides, row_offset, shared_offset = box_geometry(fields)
        row_bytes = fields.box[0] * fields.element_bits // 8
        entry = np.zeros((), MAP)
        entry["rank"], entry["rows"], entry["row_bytes"] = fields.rank, len(row_offset), row_bytes
        entry["last"][: fields.rank], entry["strides"][: fields.rank] = last[:, 0], strides
        entry["row_offsets"], entry["shared_offsets"] = row_offset.ctypes.data, shared_offset.ctypes.data
        entry["chunk_mask"] = CHUNK_MASK[fields.swizzle_span]
        entry["covered"] = int(shared_offset[-1]) + max(row_bytes, fields.swizzle_span)
        entry["reach"], entry["bytes"] = int(row_offset[-1]) + row_bytes, box_bytes(fields)
        entry["element_bits"], entry["start"] = fields.element_bits, fields.global_address
        for address in new:
            entry["address"], entry["content"] = address, content[address]
            number = self._numbers.setdefault(address, self.count)
            if number == len(self.table):
                self.table = np.concatenate([self.table, np.zeros(number, MAP)])
            self.table[number] = entry
            self._offsets[number] = row_offset, shared_offset
            self.count = len(self._numbers)

    def _has(self, address: int, content: Array) -> bool:
        number = self._numbers.get(address)
        return number is not None and bool((self.table["content"][number] == content).all())


def _content(arena: Arena, address: int) -> Array:
    first = address - GLOBAL_BASE
    return arena.bytes[first : first + MAP_BYTES].view(np.int64)
