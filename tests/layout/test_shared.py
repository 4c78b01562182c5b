"""Tiles in shared memory: every element has a place of its own, and every place says whose it is."""

from __future__ import annotations

import numpy as np
import pytest

from warploom.diagnostics import UsageError
from warploom.layout import (
    Descriptor,
    SharedMap,
    TensorMapFields,
    box_fields,
    box_map,
    descriptor,
)
from warploom.layout.swizzle import swizzle

WIDTHS = {"b1": 1, "e4m3": 8, "f16": 16, "tf32": 32}
TILES = [(span, "K", word) for span in (0, 32, 64, 128) for word in WIDTHS] + [
    (span, "MN", "f16") for span in (0, 32, 64, 128)
]


def packed(span: int, major: str, word: str) -> tuple[Descriptor, SharedMap]:
    """A tile of two spans each way."""
    along = 2 * 8 * (span or 16) // WIDTHS[word]
    rows, k = (24, along) if major == "K" else (along, 24)
    made = descriptor(rows, k, word, swizzle=span, major=major, start_address=2048)
    return made, made.tile(rows, k, word, major)


@pytest.mark.parametrize(("span", "major", "word"), TILES)
def test_a_packed_tile_has_neither_gaps_nor_overlaps(span: int, major: str, word: str) -> None:
    _, tile = packed(span, major, word)
    bits = WIDTHS[word]
    expected = 8 * 2048 + bits * np.arange(tile.rows * tile.cols)
    np.testing.assert_array_equal(np.sort(tile.at, axis=None), expected)


@pytest.mark.parametrize(("span", "major", "word"), TILES)
def test_places_and_elements_undo_each_other(span: int, major: str, word: str) -> None:
    _, tile = packed(span, major, word)
    for row, col in ((0, 0), (1, 0), (0, 1), (tile.rows - 1, tile.cols - 1), (9, 3)):
        byte, bit = tile.location(row, col)
        assert tile.bank[row, col] == byte // 4 % 32
        found = tile.elements(byte)
        assert found[bit // tile.bits if tile.bits < 8 else 0] == (row, col)
        assert len(found) == max(8 // tile.bits, 1)
    assert tile.elements(2047) == ()


def test_a_descriptor_reads_what_its_addresses_say() -> None:
    made, tile = packed(128, "MN", "f16")
    np.testing.assert_array_equal(tile.byte, made.addresses(tile.rows, tile.cols, 2, "MN"))
    again = Descriptor.decode(made.encode()).tile(tile.rows, tile.cols, "f16", "MN")
    np.testing.assert_array_equal(again.at, tile.at)


@pytest.mark.parametrize(("element", "bits"), [("u8", 8), ("bf16", 16), ("f64", 64), ("b4x16", 4)])
@pytest.mark.parametrize("span", [0, 32, 64, 128])
def test_rows_of_a_box_are_a_span_apart(element: str, bits: int, span: int) -> None:
    row = (span or 64) * 8 // bits
    found = box_map(box_fields((3, 4, row), element, swizzle=span), 1024)
    plain = 8 * 1024 + np.arange(12 * row).reshape(12, row) * bits
    np.testing.assert_array_equal(found.at >> 3, swizzle(plain >> 3, span))
    np.testing.assert_array_equal(found.at & 7, plain & 7)


def test_narrow_rows_leave_gaps() -> None:
    found = box_map(box_fields((4, 8), "f16", swizzle=64))
    assert [found.location(row, 0)[0] for row in range(4)] == [0, 64, 144, 208]
    assert found.elements(16) == ()


def test_a_table() -> None:
    assert str(box_map(box_fields((2, 4), "f32"))).splitlines() == [
        "box 2x4 f32  (2,4) -> byte, not swizzled",
        "   0  1  2  3",
        "0  0  4  8 12",
        "1 16 20 24 28",
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: packed(32, "K", "f16")[1].location(24, 0),
            "tile 24x32 f16 from byte 2048: there is no element (24, 0) in a matrix of 24 by 32",
        ),
        (lambda: descriptor(8, 32, "s4"), "no descriptor describes a tile of 's4' elements; expected b1, s8, u8,"),
        (lambda: descriptor(8, 32, "f16", start_address=8), "the descriptor's start address is 8; expected"),
        (lambda: descriptor(8, 16, "f16", swizzle=16), "the descriptor's swizzle is 16 bytes; expected 0, 32,"),
        (lambda: descriptor(8, 16, "b1", major="MN"), "a tile of b1 elements is MN-major; expected 16-bit"),
        (
            lambda: box_map(box_fields((8, 8), "f16"), 64),
            "a box begins at byte 64 of shared memory; expected a multiple of 128",
        ),
        (lambda: box_map(TensorMapFields()), "the tensor map cannot be used: "),
        (lambda: box_fields((8, 8), "f16", interleave=8), "unknown interleave of 8 bytes; expected 0, 16, 32"),
    ],
)  # fmt: skip
def test_refusals(call, message) -> None:
    with pytest.raises(UsageError) as caught:
        call()
    assert str(caught.value).startswith(message)
