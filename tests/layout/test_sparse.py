from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.diagnostics import UsageError
from warploom.layout import metadata, scale_factors, warp_fragment

# family, shape, type, selectors, elements in a chunk
KINDS = [
    ("mma", "m16n8k16", "f16", 4, 4),
    ("mma", "m16n8k32", "bf16", 2, 4),
    ("mma", "m16n8k8", "tf32", 4, 2),
    ("mma", "m16n8k16", "tf32", 2, 2),
    ("mma", "m16n8k32", "s8", 2, 4),
    ("mma", "m16n8k64", "u8", 1, 4),
    ("mma", "m16n8k64", "e4m3", 1, 4),
    ("mma", "m16n8k64", "e2m1", 1, 4),
    ("mma", "m16n8k64", "u4", 2, 8),
    ("mma", "m16n8k128", "s4", 1, 8),
    ("mma", "m16n8k128", "e2m1", 1, 8),
    ("wgmma", "m64n64k32", "f16", 2, 4),
    ("wgmma", "m64n8k16", "tf32", 2, 2),
    ("wgmma", "m64n8k64", "e5m2", 1, 4),
]
CASES = [(*kind[:3], selector, kind[4]) for kind in KINDS for selector in range(kind[3])]
LEGAL = {2: (0b0100, 0b1110), 4: (0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110)}


@pytest.mark.parametrize(("family", "shape", "element", "selector", "chunk"), CASES)
def test_every_chunk_has_bits_of_its_own(family, shape, element, selector, chunk):
    map_ = metadata(family, shape, element, selector)
    assert map_.chunk == chunk
    assert map_.lane.shape == (16 if family == "mma" else 64, map_.k // chunk)
    # The contributing lanes hold nothing but metadata: 32 bits each, every bit used once.
    places = set(zip(map_.lane.ravel().tolist(), map_.bit.ravel().tolist()))
    assert places == {(lane, bit) for lane in map_.lanes for bit in range(0, 32, 4)}
    assert len(places) == map_.lane.size


@pytest.mark.parametrize(("family", "shape", "element", "selector", "chunk"), CASES)
@given(data=st.data())
def test_decode_reads_what_was_written(family, shape, element, selector, chunk, data):
    map_ = metadata(family, shape, element, selector)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    nibbles = rng.choice(LEGAL[min(chunk, 4)], map_.lane.shape)
    registers = np.zeros((2, 32 if family == "mma" else 128), np.uint32)
    for lane, bit, nibble in zip(map_.lane.ravel(), map_.bit.ravel(), nibbles.ravel()):
        registers[1, lane] |= np.uint32(int(nibble) << int(bit))
    found = map_.decode(registers)
    assert found.shape == (2, map_.rows, map_.k // 2)
    for row in range(map_.rows):
        expected: list[int] = []
        for index in range(map_.k // chunk):
            first, second = int(nibbles[row, index]) & 3, int(nibbles[row, index]) >> 2
            start = index * chunk
            if chunk == 2:
                expected.append(start + first // 2)
            elif chunk == 4:
                expected += [start + first, start + second]
            else:
                expected += [start + 2 * pair + e for pair in (first, second) for e in (0, 1)]
        assert found[1, row].tolist() == expected
    is_defined = map_.defined_nibbles(ordered=True)[map_.nibbles(registers)]
    assert is_defined[1].all()
    assert not is_defined[0].any()


def test_which_lanes_say_what():
    # One lane of the group: row g in its lower half, row g + 8 in its upper.
    half = metadata("mma", "m16n8k16", "f16", 2)
    assert half.lanes == tuple(range(2, 32, 4))
    assert (half.lane[3, 1], half.bit[3, 1], half.lane[11, 1], half.bit[11, 1]) == (14, 4, 14, 20)
    # A pair along k for 16-bit types, a pair of rows for 8-bit ones.
    pair = metadata("mma", "m16n8k32", "f16", 1)
    assert pair.lane[0].tolist() == [2, 2, 2, 2, 3, 3, 3, 3]
    assert pair.bit[8].tolist() == [16, 20, 24, 28] * 2
    rows = metadata("mma", "m16n8k32", "s8", 1)
    assert (set(rows.lane[0]), set(rows.lane[8])) == ({2}, {3})
    # All four: the upper pair has the upper half of k.
    whole = metadata("wgmma", "m64n8k64", "s8")
    assert whole.lane[16].tolist() == [32] * 8 + [34] * 8
    assert whole.lane[24].tolist() == [33] * 8 + [35] * 8


def test_stored_elements_stand_where_the_manual_says():
    # Section 9.7.14.6.2: a register of A comes from the columns firstcol to lastcol of its lane.
    for shape, element, span in (("m16n8k32", "f16", 4), ("m16n8k64", "s8", 8), ("m16n8k128", "u4", 16)):
        a = warp_fragment("mma", "A", shape, element, sparse=True)
        at = metadata("mma", shape, element).decode(np.full((1, 32), 0xEEEEEEEE, np.uint32))[0]
        for lane in range(32):
            for item in range(a.items):
                row, stored = a.element(lane, item)
                firstcol = lane % 4 * span + (a.cols if item >= a.items // 2 else 0)
                assert firstcol <= at[row, stored] < firstcol + span


def test_unordered_metadata_may_be_in_either_order():
    map_ = metadata("mma", "m16n8k16", "f16")
    registers = np.full((1, 32), 0x4141_1414, np.uint32)
    assert map_.defined_nibbles(ordered=False)[map_.nibbles(registers)].all()
    assert map_.defined_nibbles(ordered=True)[map_.nibbles(registers)][0, 0].tolist() == [True, False, True, False]


def test_scale_factors_of_the_selected_lanes():
    registers = (np.arange(32, dtype=np.uint32) * 4)[None] + np.uint32(0x03020100)
    one = scale_factors("A", 1, 2, 1).gather(registers)[0]
    assert one[:, 0].tolist() == [2] * 16
    lanes = scale_factors("A", 1, 0, 1).lane[:, 0].tolist()
    assert lanes == [4 * g + 2 for g in range(8)] + [4 * g + 3 for g in range(8)]
    two = scale_factors("B", 2, 2, 3)
    assert two.lane[:, 0].tolist() == [4 * g + 3 for g in range(8)]
    assert two.byte[0].tolist() == [2, 3]
    four = scale_factors("A", 4, 0, 0).gather(registers)
    assert four.shape == (1, 16, 4)
    assert four[0, 9].tolist() == [(4 * 5) & 255, 1, 2, 3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: metadata("mma", "m16n8k32", "f16", 2),
            "mma sparse m16n8k32 f16 metadata: the selector is 2; expected 0 to 1",
        ),
        (
            lambda: metadata("mma", "m16n8k64", "s8", 1),
            "mma sparse m16n8k64 s8 metadata: the selector is 1; expected 0",
        ),
        (
            lambda: metadata("mma", "m16n8k64", "f16"),
            ("mma sparse m16n8k64 f16 metadata does not exist: no sparse multiplication of this type has this K"),
        ),
        (
            lambda: metadata("wmma", "m8n32k16", "f16"),
            ("wmma sparse m8n32k16 f16 metadata does not exist; expected M = 16 or 64 and names such as m16n8k32 s8"),
        ),
        (
            lambda: scale_factors("C", 1, 0, 0),
            "unknown operand 'C' with 1 scale factors; expected A or B with 1, 2 or 4",
        ),
        (lambda: scale_factors("A", 1, 0, 2), "the thread id of scale A is 2; expected 0 to 1"),
        (lambda: scale_factors("B", 2, 1, 0), "the byte id of scale B is 1; expected 0, 2 with 2X"),
    ],
)
def test_mistakes_end_in_one_sentence(call, message):
    with pytest.raises(UsageError) as caught:
        call()
    assert str(caught.value) == message
