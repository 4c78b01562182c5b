"""Numbers that raw bits represent in a PTX type, and matrices of such numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import counted, did_you_mean
from warploom.isa.model.types import TYPES
from warploom.lazy_dataclass import dataclass
from warploom.numerics.formats import FORMATS, decode

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Matrix of numbers that was read from registers, shared memory or tensor memory.

    `name` describes the matrix and its location. `element` is the PTX type of the elements. A row has the number
    `first_row` plus its index, and a column accordingly. Shapes: numbers (rows, columns).
    """

    name: str
    element: str
    numbers: Array
    first_row: int = 0
    first_col: int = 0

    def part(self, rows: slice, cols: slice) -> Matrix:
        """Return some rows and columns, with their numbers in the whole matrix. The slices have no step."""
        first_row, first_col = rows.indices(len(self.numbers))[0], cols.indices(self.numbers.shape[1])[0]
        return Matrix(
            self.name, self.element, self.numbers[rows, cols], self.first_row + first_row, self.first_col + first_col
        )


def width_of(type: str) -> int:
    """Return the number of bytes of a value in memory. Errors: UsageError debug.type for an unknown type."""
    found = TYPES.get(type)
    if found is None:
        raise UsageError(f"unknown type '{type}'", code="debug.type", hint=did_you_mean(type, TYPES, "'"))
    return max(found.dtype.itemsize, 1)


def numbers(bits: Array, type: str) -> Array:
    """Return the numbers that raw bits represent in a PTX type.

    Floating-point numbers narrower than 32 bits become f64, which represents them exactly. A packed type adds an axis
    for its elements, the lowest bits first. A value of 128 bits becomes a Python integer. Higher bits than the type has
    are ignored.

    Shapes: bits (...) of an unsigned type, bool or 128 bits; the result is (...) or (..., elements).
    Errors: UsageError debug.type for an unknown type, or for a type that is wider than the bits.
    """
    width = width_of(type)
    kind = TYPES[type]
    if (kind.kind == "predicate") != (bits.dtype == np.bool_) or width > bits.dtype.itemsize:
        held = "a predicate" if bits.dtype == np.bool_ else counted(8 * bits.dtype.itemsize, "bit")
        raise UsageError(f"a value of {held} cannot be read as .{type}", code="debug.type")
    if kind.kind == "predicate":
        return bits.copy()
    if bits.dtype.itemsize == 16:
        words = np.ascontiguousarray(bits)[..., None].view(np.uint64).astype(object)
        if type == "b128":
            return words[..., 0] | words[..., 1] << 64
        bits = words[..., 0].astype(np.uint64)
    narrow = np.ascontiguousarray(bits.astype(f"u{width}", copy=False))
    if kind.kind == "packed":
        return _elements(narrow, type, 8 * width)
    if kind.dtype.kind == "f":
        return narrow.view(kind.dtype)
    if kind.kind == "float":
        return decode(narrow, FORMATS[type])
    return narrow.view(kind.dtype)


def element_numbers(bits: Array, element: str) -> Array:
    """Return the numbers that the raw bits of matrix elements represent.

    Elements narrower than a byte are in the low bits of bytes, or 32 of them in a word if they are single bits.

    Errors: UsageError debug.type.
    """
    if element == "s4":
        return ((bits & 15 ^ 8) - np.uint8(8)).view(np.int8)
    if element in ("u4", "b1"):
        return bits
    return decode(bits, FORMATS[element]) if element in FORMATS else numbers(bits, element)


def _elements(bits: Array, type: str, width: int) -> Array:
    """Return the elements of values of a packed type such as f16x2. `width` is that of a value in bits."""
    element, _, count = type.rpartition("x")
    each = width // int(count)
    shifts = np.arange(int(count), dtype=bits.dtype) * bits.dtype.type(each)
    parts = bits[..., None] >> shifts & bits.dtype.type((1 << each) - 1)
    if element in TYPES:
        return numbers(parts.astype(f"u{max(each // 8, 1)}"), element)
    return (parts.astype(np.uint8).view(np.int8)) / 64  # s2f6, a fixed-point number with 6 fractional bits
