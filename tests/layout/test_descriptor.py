from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.diagnostics import UsageError
from warploom.layout import Descriptor, UmmaDescriptor, descriptor, matrix_addresses

FIELDS = st.integers(0, 2**14 - 1).map(lambda value: value * 16)
DESCRIPTORS = st.builds(Descriptor, FIELDS, FIELDS, FIELDS, st.integers(0, 7), st.sampled_from([0, 32, 64, 128]))


@given(DESCRIPTORS)
def test_decode_undoes_encode(descriptor):
    assert Descriptor.decode(descriptor.encode()) == descriptor


@given(st.integers(0, 2**64 - 1))
def test_encode_keeps_the_bits_that_belong_to_fields(value):
    assert Descriptor.decode(value).encode() == value & 0xC00E_3FFF_3FFF_3FFF


def test_every_field_has_its_bits():
    assert Descriptor(0x12340, 0, 0).encode() == 0x1234
    assert Descriptor(0, 0x20, 0).encode() == 2 << 16
    assert Descriptor(0, 0, 1024).encode() == 64 << 32
    assert Descriptor(0, 0, 0, base_offset=5).encode() == 5 << 49
    codes = {mode: Descriptor(0, 0, 0, swizzle=mode).encode() >> 62 for mode in (0, 128, 64, 32)}
    assert codes == {0: 0, 128: 1, 64: 2, 32: 3}


@pytest.mark.parametrize("span", [32, 64, 128])
def test_k_major_tiles_in_a_swizzled_panel(span):
    # 64 rows of one span of bytes; chunk c of a row lies at c xor the row's phase in the pattern.
    rows, start = 64, 0x2000
    for step in range(span // 32):
        found = Descriptor(start + 32 * step, 16, 8 * span, swizzle=span).addresses(rows, 16, 2)
        for row in range(rows):
            phase = row * span // 128 % (span // 16)
            for k in range(16):
                byte = 32 * step + 2 * k
                assert found[row, k] == start + row * span + (byte // 16 ^ phase) * 16 + byte % 16


def test_the_base_offset_says_in_which_row_the_pattern_begins():
    aligned = Descriptor(0x2000, 16, 1024, swizzle=128).addresses(64, 16, 2)
    moved = Descriptor(0x2000 + 3 * 128, 16, 1024, base_offset=3, swizzle=128).addresses(64, 16, 2)
    np.testing.assert_array_equal(moved, aligned + 3 * 128)


def test_k_major_tiles_without_a_swizzle_are_core_matrices():
    found = matrix_addresses(2048, 128, 0, rows=24, k=32, element_bytes=1)
    for row in range(24):
        for k in range(32):
            assert found[row, k] == row // 8 * 128 + k // 16 * 2048 + row % 8 * 16 + k % 16


def test_k_beyond_the_span_goes_by_the_leading_offset():
    found = matrix_addresses(4096, 256, 32, rows=8, k=32, element_bytes=2)
    assert found[0, 15] == 30
    assert found[0, 16] == 4096


@pytest.mark.parametrize("span", [32, 64, 128])
def test_mn_major_tiles_in_swizzled_panels(span):
    # Panels of one span along MN, one leading offset apart; k are the rows of the panel.
    wide, start = span // 2, 0x1000
    found = Descriptor(start, 8192, 8 * span, swizzle=span).addresses(128, 16, 2, "MN")
    for at in range(128):
        for k in range(16):
            phase = k * span // 128 % (span // 16)
            chunk = at % wide // 8
            assert found[at, k] == start + at // wide * 8192 + k * span + (chunk ^ phase) * 16 + at % 8 * 2


def test_mn_major_tiles_without_a_swizzle_change_the_offsets_about():
    found = matrix_addresses(512, 128, 0, rows=64, k=16, element_bytes=2, major="MN")
    for at in range(64):
        for k in range(16):
            assert found[at, k] == at // 8 * 128 + k // 8 * 512 + k % 8 * 16 + at % 8 * 2


@given(DESCRIPTORS, st.sampled_from([1, 2, 4]))
def test_no_two_elements_share_a_byte_when_the_strides_leave_room(descriptor, element_bytes):
    span = descriptor.swizzle or 16
    roomy = Descriptor(descriptor.start_address, 8 * span * 8, 8 * span, 0, descriptor.swizzle)
    found = roomy.addresses(64, 32 // element_bytes, element_bytes)
    assert len(np.unique(found)) == found.size


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: Descriptor(8, 0, 0),
            "the descriptor's start address is 8; expected a multiple of 16 from 0 to 262128",
        ),
        (
            lambda: Descriptor(0, 1 << 18, 0),
            "the descriptor's leading byte offset is 262144; expected a multiple of 16 from 0 to 262128",
        ),
        (
            lambda: Descriptor(0, 0, -16),
            "the descriptor's stride byte offset is -16; expected a multiple of 16 from 0 to 262128",
        ),
        (lambda: Descriptor(0, 0, 0, 8), "the descriptor's base offset is 8; expected 0 to 7"),
        (lambda: Descriptor(0, 0, 0, swizzle=96), "the descriptor's swizzle is 96 bytes; expected 0, 32, 64 or 128"),
        (lambda: Descriptor.decode(-1), "-1 is not a matrix descriptor; expected an unsigned 64-bit value"),
        (
            lambda: Descriptor(0, 0, 0, swizzle=128).addresses(8, 8, 4, "MN"),
            "a tile of 32-bit elements is MN-major; expected 16-bit elements",
        ),
        (
            lambda: matrix_addresses(0, 0, 128, rows=8, k=8, element_bytes=2, major="M"),
            "the major of a tile is 'M'; expected 'K' or 'MN'",
        ),
    ],
)
def test_mistakes_end_in_one_sentence(call, message):
    with pytest.raises(UsageError) as caught:
        call()
    assert str(caught.value) == message


# Those of the fifth generation ---------------------------------------------------------------------------------

UMMA = st.builds(
    lambda start, leading, stride, base, mode: UmmaDescriptor(start, leading, stride, base, *mode),
    FIELDS, FIELDS, FIELDS, st.integers(0, 7),
    st.sampled_from([(0, 16), (32, 16), (64, 16), (128, 16), (128, 32)]),
)  # fmt: skip


@given(UMMA)
def test_decode_undoes_encode_in_the_fifth_generation(fields):
    assert UmmaDescriptor.decode(fields.encode()) == fields


def test_the_fifth_generation_has_its_own_swizzle_codes():
    codes = {
        (swizzle, atom): UmmaDescriptor(0, 0, 0, 0, swizzle, atom).encode()
        for swizzle, atom in ((0, 16), (128, 32), (128, 16), (64, 16), (32, 16))
    }
    assert codes == {
        mode: 1 << 46 | code << 61
        for mode, code in (((0, 16), 0), ((128, 32), 1), ((128, 16), 2), ((64, 16), 4), ((32, 16), 6))
    }


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("major", ["K", "MN"])
def test_tiles_of_16_bits_lie_as_those_of_a_warpgroup(swizzle, major):
    old = Descriptor(0x2000, 512, 4096, 0, swizzle).tile(128, 16, "bf16", major)
    new = UmmaDescriptor(0x2000, 512, 4096, 0, swizzle).tile(128, 16, "bf16", major)
    np.testing.assert_array_equal(old.at, new.at)
    np.testing.assert_array_equal(
        UmmaDescriptor.packed(128, 16, "f16", swizzle=swizzle, major=major).tile(128, 16, "f16", major).at,
        layout_of_a_packed_tile(swizzle, major).at,
    )


def layout_of_a_packed_tile(swizzle, major):
    return descriptor(128, 16, "f16", swizzle=swizzle, major=major).tile(128, 16, "f16", major)


def test_mn_major_bytes():
    # ((16,4,m),(8,k)):((1,16,LBO),(64,SBO)) in bytes, chunk c of span k at c xor k // 2 % 4.
    found = UmmaDescriptor(0x400, 4096, 512, 0, 64).addresses(128, 32, 1, "MN")
    for row in (0, 17, 63, 64, 127):
        for k in range(32):
            chunk = row % 64 // 16 ^ k // 2 % 4
            assert found[row, k] == 0x400 + row // 64 * 4096 + k // 8 * 512 + k % 8 * 64 + chunk * 16 + row % 16


def test_mn_major_words_in_atoms_of_32_bytes():
    # ((8,4,m),(4,k)):((1,8,LBO),(32,SBO)) in words, atom a of span k at a xor k.
    found = UmmaDescriptor(0x400, 4096, 512, 0, 128, 32).addresses(64, 8, 4, "MN")
    for row in range(64):
        for k in range(8):
            atom = row % 32 // 8 ^ k % 4
            assert found[row, k] == 0x400 + row // 32 * 4096 + k // 4 * 512 + k % 4 * 128 + atom * 32 + row % 8 * 4


@pytest.mark.parametrize(("element", "bits"), [("e2m1", 4), ("e2m3", 6), ("e3m2", 6)])
def test_short_floats_are_padded_to_16_bytes(element, bits):
    found = UmmaDescriptor(0, 1024, 128).tile(64, 32, element)
    assert found.bits == bits
    for row in (0, 9, 63):
        for k in range(32):
            byte, bit = divmod(k % 16 * bits, 8)
            assert found.location(row, k) == (row // 8 * 128 + row % 8 * 16 + k // 16 * 1024 + byte, bit)


def test_short_floats_without_padding_lie_side_by_side():
    found = UmmaDescriptor(0, 16, 1024, 0, 128).tile(8, 64, "e2m1", padded=False)
    for row in range(8):
        for k in range(64):
            assert found.location(row, k) == (row * 128 + (k // 32 ^ row) * 16 + k % 32 // 2, k % 2 * 4)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            lambda: UmmaDescriptor(0, 0, 0, 0, 64, 32),
            "unknown swizzle of 64 bytes in atoms of 32; expected atoms of 16",
        ),
        (lambda: UmmaDescriptor(8, 0, 0), "the descriptor's start address is 8; expected a multiple of 16"),
        (lambda: UmmaDescriptor.decode(-1), "-1 is not a matrix descriptor"),
        (lambda: UmmaDescriptor.decode(1), "0x1 is no tcgen05 matrix descriptor; expected 0b001 in bits"),
        (lambda: UmmaDescriptor.decode(1 << 46 | 1 << 52), r"leading offset is an absolute address \(bit 52\)"),
        (lambda: UmmaDescriptor.decode(1 << 46 | 3 << 61), "the swizzle in bits 63-61 is 3; expected 0, 1, 2, 4 or 6"),
        (
            lambda: UmmaDescriptor(0, 0, 0, 0, 128, 32).tile(64, 8, "tf32"),
            "the tile is K-major with a swizzle in atoms of 32 bytes; expected an MN-major tile",
        ),
        (lambda: UmmaDescriptor(0, 0, 0).tile(64, 8, "tf32", "MN"), "expected a swizzle of 128 bytes in atoms of 32"),
        (lambda: UmmaDescriptor(0, 0, 0, 0, 128, 32).tile(64, 8, "f16", "MN"), "expected a swizzle of atoms of 16"),
        (lambda: UmmaDescriptor(0, 0, 0).tile(64, 8, "e2m1", "MN"), "expected elements of 8 bits or more"),
        (lambda: UmmaDescriptor.packed(64, 8, "tf32", major="MN"), "tile of tf32 elements is 0 bytes; expected 128"),
        (lambda: UmmaDescriptor(0, 0, 0).tile(64, 8, "f17"), "no descriptor describes a tile of 'f17' elements"),
    ],
)
def test_refusals_in_the_fifth_generation(asked, message):
    with pytest.raises(UsageError, match=message):
        asked()
