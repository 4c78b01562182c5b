"""Shared-memory maps: the byte and the bank of every element of a tile."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.layout.element_map import ElementMap, read_only
from warploom.layout.swizzle import swizzle as swizzle_address
from warploom.layout.swizzle import swizzle_text
from warploom.layout.tensormap import ELEMENT_TYPES, INTERLEAVES, SWIZZLE_SPANS, TensorMapFields, pad_to_five
from warploom.layout.tile import box_rows, unit_bits
from warploom.lazy_dataclass import dataclass

BANKS = 32
"""Number of banks of shared memory; consecutive 4-byte words are in consecutive banks."""


@dataclass(frozen=True, eq=False, repr=False)
class SharedMap(ElementMap):
    """Map (row, col) -> bit of shared memory, for a tile.

    Shapes: `at` is (rows, cols).
    Units: `at` is the first bit of each element, counted from the beginning of the CTA's shared memory. `bits` is the
        width of an element.
    Source: PTX ISA 5.5, 9.7.15.
    """

    at: NDArray[np.int64]

    @property
    def byte(self) -> NDArray[np.int64]:
        """First byte of every element in shared memory. Shapes: (rows, cols)."""
        return self.at >> 3

    @property
    def bank(self) -> NDArray[np.int64]:
        """Bank of the first byte of every element. Shapes: (rows, cols)."""
        return self.at >> 5 & BANKS - 1

    def location(self, row: int, col: int) -> tuple[int, int]:
        """Return the first byte of the element (row, col), and the element's lowest bit in this byte."""
        self.check_element(row, col)
        return divmod(int(self.at[row, col]), 8)

    def elements(self, byte: int) -> tuple[tuple[int, int], ...]:
        """Return the (row, col) of every element with bits in `byte`, in the order of these bits."""
        low = 8 * byte
        rows, cols = np.nonzero((self.at < low + 8) & (self.at + self.bits > low))
        order = np.argsort(self.at[rows, cols], kind="stable")
        return tuple((int(rows[k]), int(cols[k])) for k in order)

    def cells(self) -> list[list[str]]:
        """Return the first byte of every element as text."""
        return [[str(byte) for byte in line] for line in self.byte.tolist()]


def box_map(fields: TensorMapFields, start: int = 0) -> SharedMap:
    """Return the shared-memory map of a tensor copy's box, which begins at `start`.

    A row of the map is a row of the box along dimension 0. The rows are in the order of the box: dimension 1 varies
    fastest. For an interleaved tensor, a row is a slice of channels.

    Units: `start` in bytes from the beginning of shared memory.
    Errors: UsageError for a tensor map that cannot be used, and for a start that is no multiple of 128.
    Source: PTX ISA 5.5 (tensors, interleave and swizzle modes).
    """
    if start % 128 or start < 0:
        raise UsageError(f"a box begins at byte {start} of shared memory; expected a multiple of 128")
    offsets, units = box_rows(fields)
    bits = fields.shared_bits
    cols = units * unit_bits(fields) // bits
    # (rows,cols) : (pitch,bits); the swizzle then exchanges 16-byte chunks.
    at = 8 * (offsets[:, None] + start) + bits * np.arange(cols, dtype=np.int64)
    at = swizzle_address(at >> 3, fields.swizzle_span) << 3 | at & 7
    read_only(at)
    box = "x".join(str(extent) for extent in fields.box[: fields.rank][::-1])
    name = f"box {box} {fields.element_type}"
    legend = f"({len(offsets)},{cols}) -> byte, {swizzle_text(fields.swizzle_span)}"
    if fields.interleave:
        legend += f", interleaved by {unit_bits(fields) // 8} bytes"
    return SharedMap(name, legend, len(offsets), cols, bits, at)


def box_fields(box: Sequence[int], element: str, *, swizzle: int = 0, interleave: int = 0) -> TensorMapFields:
    """Return the fields of a tensor map over a tensor that is as large as one box.

    `box` lists the extents, outermost dimension first. `element` is an element type such as "bf16". In an interleaved
    tensor, the second dimension counts slices of channels.

    Units: `box` in elements; `swizzle` (0, 32, 64, 128) and `interleave` (0, 16, 32) in bytes.
    Errors: UsageError for an unknown element type, swizzle or interleave.
    """
    words = [word for word, _, _ in ELEMENT_TYPES]
    if element not in words:
        raise UsageError(f"unknown element type {element!r} of a tensor map; expected {', '.join(words)}")
    for name, value, legal in (("swizzle", swizzle, SWIZZLE_SPANS[:4]), ("interleave", interleave, INTERLEAVES)):
        if value not in legal:
            raise UsageError(f"unknown {name} of {value} bytes; expected {', '.join(map(str, legal))}")
    if not 1 <= len(box) <= 5:
        raise UsageError(f"a box has {len(box)} dimensions; expected 1 to 5")
    inner = list(box[::-1])
    code = words.index(element)
    row_bits = inner[0] * (8 * interleave or ELEMENT_TYPES[code][1])
    strides = [-(-row_bits // 256) * 32]  # every map may have row strides that are multiples of 32 bytes
    for extent in inner[1:-1]:
        strides.append(strides[-1] * extent)
    return TensorMapFields(
        rank=len(inner),
        global_dim=pad_to_five(inner),
        global_stride=pad_to_five(strides)[:4],
        box=pad_to_five(inner),
        element_stride=pad_to_five([1] * len(inner)),
        elemtype=code,
        interleave=INTERLEAVES.index(interleave),
        swizzle=SWIZZLE_SPANS.index(swizzle),
    )
