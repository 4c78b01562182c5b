from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.diagnostics import UsageError
from warploom.layout import bank_picture, swizzle

MODES = st.sampled_from([0, 32, 64, 128])
ADDRESSES = st.integers(0, 2**18 - 1)


@given(ADDRESSES, MODES, st.integers(0, 7))
def test_a_swizzle_is_its_own_inverse(address, mode, base_offset):
    there = swizzle(address, mode, base_offset)
    assert swizzle(there, mode, base_offset) == address
    assert there >> 7 == address >> 7
    assert there % 16 == address % 16


@given(ADDRESSES, MODES, st.integers(0, 7))
def test_a_base_offset_moves_the_pattern_by_rows(address, mode, base_offset):
    moved = address + 128 * base_offset
    assert swizzle(moved, mode, base_offset) - 128 * base_offset == swizzle(address, mode)


@pytest.mark.parametrize(
    ("mode", "at"),
    [
        (0, {0x0: 0x0, 0x3F0: 0x3F0}),
        (32, {0x80: 0x90, 0x90: 0x80, 0x100: 0x100, 0x3E7: 0x3F7}),
        (64, {0x80: 0x90, 0x100: 0x120, 0x1B0: 0x180, 0x200: 0x200}),
        (128, {0x80: 0x90, 0x100: 0x120, 0x200: 0x240, 0x3F0: 0x380, 0x400: 0x400}),
    ],
)
def test_known_addresses(mode, at):
    assert {address: swizzle(address, mode) for address in at} == at
    many = np.array(list(at), np.int32)
    found = swizzle(many, mode)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, list(at.values()))


def test_eight_rows_of_one_chunk_use_every_bank():
    for mode in (32, 64, 128):
        chunks = swizzle(np.arange(8) * mode, mode) % 128 // 16
        assert len(set(chunks.tolist())) == 8, mode


def test_the_picture_of_the_banks():
    assert bank_picture(128, rows=3) == (
        "banks     0-3    4-7   8-11  12-15  16-19  20-23  24-27  28-31\n"
        "     0    0.0    0.1    0.2    0.3    0.4    0.5    0.6    0.7\n"
        "   128    1.1    1.0    1.3    1.2    1.5    1.4    1.7    1.6\n"
        "   256    2.2    2.3    2.0    2.1    2.6    2.7    2.4    2.5"
    )


def test_an_unknown_mode():
    with pytest.raises(UsageError) as caught:
        swizzle(0, 16)
    assert str(caught.value) == "unknown swizzle of 16 bytes; expected 0, 32, 64, 96 or 128"
