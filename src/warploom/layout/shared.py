"""Shared-memory maps: at which byte, and so in which bank, every element of a tile lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from warploom.diagnostics import UsageError
from warploom.display import Displayed
from warploom.layout.swizzle import swizzle as swizzle_address
from warploom.layout.tensormap import ELEMENT_TYPES, INTERLEAVES, SWIZZLE_SPANS, TensorMapFields, five
from warploom.layout.tile import box_rows, unit_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BANKS = 32
"""Banks of shared memory: consecutive words of 4 bytes lie in consecutive banks."""


@dataclass(frozen=True, eq=False, repr=False)
class SharedMap(Displayed):
    """The map (row, col) -> bit of shared memory of a tile: what a descriptor reads, or what a tensor copy writes.

    Shapes: ``at`` is (rows, cols).
    Units: ``at`` in bits from the beginning of the CTA's shared memory, for elements may be less than a byte
        wide; ``bits`` is the width of an element.
    Source: PTX ISA 5.5, 9.7.15.
    """

    display_kind: ClassVar[str] = "layout"

    name: str
    legend: str
    rows: int
    cols: int
    bits: int
    at: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"<SharedMap {self.name}: {self.legend}>"

    @property
    def byte(self) -> NDArray[np.int64]:
        """The byte in which every element begins. Shapes: (rows, cols)."""
        return self.at >> 3

    @property
    def bank(self) -> NDArray[np.int64]:
        """The bank in which every element begins. Shapes: (rows, cols)."""
        return self.at >> 5 & BANKS - 1

    def place(self, row: int, col: int) -> tuple[int, int]:
        """The byte in which an element begins, and the bit of it."""
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            raise UsageError(
                f"{self.name}: there is no element ({row}, {col}) in a tile of {self.rows} by {self.cols}"
            )
        return divmod(int(self.at[row, col]), 8)

    def elements(self, byte: int) -> tuple[tuple[int, int], ...]:
        """Every (row, col) that has bits in a byte, in order of their bits; none where the byte is a gap."""
        low = 8 * byte
        rows, cols = np.nonzero((self.at < low + 8) & (self.at + self.bits > low))
        order = np.argsort(self.at[rows, cols], kind="stable")
        return tuple((int(rows[k]), int(cols[k])) for k in order)

    def __str__(self) -> str:
        """The map as a table, each cell the byte at which the element begins."""
        cells = [[str(byte) for byte in line] for line in self.byte.tolist()]
        width = max((len(cell) for line in cells for cell in line), default=1)
        margin = len(str(self.rows - 1))
        lines = [f"{self.name}  {self.legend}"]
        lines.append(" " * margin + "".join(f" {col:>{width}}" for col in range(self.cols)))
        lines.extend(
            f"{row:>{margin}}" + "".join(f" {cell:>{width}}" for cell in line)
            for row, line in enumerate(cells)
        )
        return "\n".join(lines)


def box_map(fields: TensorMapFields, start: int = 0) -> SharedMap:
    """Where a tensor copy puts the elements of a box that begins at ``start`` in shared memory.

    Rows are those of the box along dimension 0, dimension 1 fastest; of an interleaved tensor the positions
    of a slice, whose elements are the columns.

    Units: bytes.
    Errors: UsageError for a map that cannot be used, and for a start that a copy refuses.
    Source: PTX ISA 5.5 (tensors, interleave and swizzle modes).
    """
    if start % 128 or start < 0:
        raise UsageError(f"a box begins at byte {start} of shared memory; expected a multiple of 128")
    offsets, units = box_rows(fields)
    bits = fields.shared_bits
    cols = units * unit_bits(fields) // bits
    # (rows,cols) : (pitch,bits), the 16-byte chunks then exchanged by the swizzle.
    at = 8 * (offsets[:, None] + start) + bits * np.arange(cols, dtype=np.int64)
    at = swizzle_address(at >> 3, fields.swizzle_span) << 3 | at & 7
    at.flags.writeable = False
    box = "x".join(str(extent) for extent in fields.box[: fields.rank][::-1])
    name = f"box {box} {fields.element_type}"
    legend = f"({len(offsets)},{cols}) -> byte, {swizzle_words(fields.swizzle_span)}"
    if fields.interleave:
        legend += f", interleaved by {unit_bits(fields) // 8} bytes"
    return SharedMap(name, legend, len(offsets), cols, bits, at)


def box_fields(box: Sequence[int], element: str, *, swizzle: int = 0, interleave: int = 0) -> TensorMapFields:
    """The fields of a map over a tensor as large as its box, which is all that ``box_map`` needs.

    ``box`` is in elements, outermost first; of an interleaved tensor the outermost but one counts slices
    of channels, of which a box has one.

    Units: ``swizzle`` (0, 32, 64, 128) and ``interleave`` (0, 16, 32) in bytes.
    Errors: UsageError for an element type, a swizzle or an interleave that there is not.
    """
    words = [word for word, _, _ in ELEMENT_TYPES]
    if element not in words:
        raise UsageError(f"a tensor map has no elements of {element!r}; expected {', '.join(words)}")
    for name, value, legal in (
        ("swizzle", swizzle, SWIZZLE_SPANS[:4]),
        ("interleave", interleave, INTERLEAVES),
    ):
        if value not in legal:
            raise UsageError(f"there is no {name} of {value} bytes; expected {', '.join(map(str, legal))}")
    if not 1 <= len(box) <= 5:
        raise UsageError(f"a box of {len(box)} dimensions; expected 1 to 5")
    inner = list(box[::-1])
    code = words.index(element)
    row_bits = inner[0] * (8 * interleave or ELEMENT_TYPES[code][1])
    strides = [-(-row_bits // 256) * 32]  # rows lie at multiples of 32 bytes, which every map may have
    for extent in inner[1:-1]:
        strides.append(strides[-1] * extent)
    return TensorMapFields(
        rank=len(inner),
        global_dim=five(inner),
        global_stride=five(strides)[:4],
        box=five(inner),
        element_stride=five([1] * len(inner)),
        elemtype=code,
        interleave=INTERLEAVES.index(interleave),
        swizzle=SWIZZLE_SPANS.index(swizzle),
    )


def swizzle_words(span: int) -> str:
    """A swizzle in words."""
    return f"swizzled by {span} bytes" if span else "not swizzled"
