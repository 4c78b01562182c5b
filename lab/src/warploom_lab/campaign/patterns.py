"""Bit patterns for operands that often reveal errors in sums, conversions and limits.

The patterns depend only on the seed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.types import TYPES
from warploom.numerics.formats import F64, FORMATS, Format

Patterns = NDArray[Any]
Raw = NDArray[np.uint64]

KINDS = ("raw", "normal", "spread", "cancelling", "subnormal", "near overflow", "zeros", "near limits")
"""Kinds of operand values. For integers, the kinds that describe floats give raw bits."""

_SPREAD = 24  # half the exponent range of the kind "spread"
_PACKED = ("x2", "x4")


def draw(seed: int, count: int) -> Raw:
    """Return `count` random 64-bit words."""
    return np.random.PCG64(seed).random_raw(count)


def container_bits(element: str) -> int:
    """Return the number of bits that an element takes in a register."""
    return TYPES[element].bits


def element_of(type_word: str) -> str:
    """Return the element type of a packed type, such as e4m3 for e4m3x2. Return other types unchanged."""
    head = type_word[:-2]
    return head if type_word.endswith(_PACKED) and head in TYPES else type_word


def patterns(element: str, kind: str, raw: Raw) -> Patterns:
    """Return the bits of one element for each word in `raw`, as unsigned integers.

    `element` is the type of the elements, and `kind` a word of KINDS.
    """
    number_format = F64 if element == "f64" else FORMATS.get(element)
    if number_format is not None:
        return _floats(number_format, kind, raw)
    bits = TYPES[element].bits
    mask = np.uint64((1 << bits) - 1)
    if kind != "near limits" or TYPES[element].kind == "bits":
        return raw & mask
    limits = np.array([0, 1 << (bits - 1), (1 << bits) - 1, (1 << (bits - 1)) - 1], np.uint64)
    nearby = limits[(raw >> np.uint64(8)).astype(np.int64) & 3] + (raw & np.uint64(3))
    return (nearby - np.uint64(1)) & mask


def _floats(number_format: Format, kind: str, raw: Raw) -> Patterns:
    width, top = number_format.mantissa_bits, (1 << number_format.exponent_bits) - 1
    sign = (raw >> np.uint64(63)) * np.uint64(int(number_format.signed))
    mantissa = raw & np.uint64((1 << width) - 1)
    choice = (raw >> np.uint64(54) & np.uint64(255)).astype(np.int64)
    bias = number_format.bias
    match kind:
        case "normal":
            field = bias - 2 + choice % 5
        case "spread":
            reach = min(_SPREAD, bias)
            field = bias - reach + choice % (2 * reach + 1)
        case "cancelling":
            field = bias + choice % 2 - (choice % 16 == 15) * min(_SPREAD, bias)
            ends = np.array([0, 1, (1 << width) - 1, 0], np.uint64)
            mantissa = ends[choice >> 4 & 3]
        case "subnormal":
            field = np.maximum(choice % 4 - 1, 0)
        case "near overflow" | "near limits":
            field = top - choice % 3
        case "zeros":
            field = np.where(choice % 4, 0, choice >> 2)
            mantissa = np.where(choice % 4, np.uint64(0), mantissa)
        case _:
            more = raw >> np.uint64(52) & np.uint64(3) | raw >> np.uint64(60) & np.uint64(4)
            field = (choice | more.astype(np.int64) << 8) & top
    field = np.clip(field, 0, top).astype(np.uint64)
    code = (sign << np.uint64(number_format.exponent_bits) | field) << np.uint64(width) | mantissa
    low = raw >> np.uint64(5) & np.uint64((1 << number_format.padding) - 1)
    return code << np.uint64(number_format.padding) | low


def registers(element: str, kind: str, register_bits: int, raw: Raw) -> Patterns:
    """Return registers of packed elements. Each element is made from one random word.

    `element` is the type of the elements, `kind` a word of KINDS, and `register_bits` the width of a register.

    Shapes: `raw` is (…, elements of a register); the result is (…).
    """
    bits = container_bits(element)
    found = patterns(element, kind, raw)
    places = np.arange(raw.shape[-1], dtype=np.uint64) * np.uint64(bits)
    words = np.bitwise_or.reduce(found << places, axis=-1) if raw.shape[-1] > 1 else found[..., 0]
    return words.astype(f"u{max(register_bits, 8) // 8}")
