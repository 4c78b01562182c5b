from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.diagnostics import UsageError
from warploom.layout import TensorMapFields, box_bytes, coordinate_error, fill_bytes, row_bytes, shared_bytes, tile_rows


@st.composite
def maps_and_coordinates(draw):
    rank = draw(st.integers(1, 5))
    elemtype, size = draw(st.sampled_from([(0, 1), (6, 2), (7, 4), (9, 8)]))
    span_code = draw(st.integers(0, 3))
    span = (0, 32, 64, 128)[span_code]
    inner = draw(st.integers(1, (span or 96) // 16)) * 16 // size
    dims = [draw(st.integers(1, 90))] + [draw(st.integers(1, 6)) for _ in range(rank - 1)]
    box = [inner] + [draw(st.integers(1, 4)) for _ in range(rank - 1)]
    steps = [draw(st.integers(1, 8))] + [draw(st.integers(1, 3)) for _ in range(rank - 1)]
    strides: list[int] = []
    pitch = -(-dims[0] * size // 16) * 16
    for extent in dims[1:]:
        strides.append(pitch + 16 * draw(st.integers(0, 2)))
        pitch = strides[-1] * extent
    coordinates = [draw(st.integers(-5, 6)) * 16 // size] + [draw(st.integers(-4, 7)) for _ in range(rank - 1)]
    fields = TensorMapFields(
        global_address=0x10000,
        rank=rank,
        global_dim=tuple(dims + [0] * (5 - rank)),
        global_stride=tuple(strides + [0] * (5 - rank))[:4],
        box=tuple(box + [0] * (5 - rank)),
        element_stride=tuple(steps + [0] * (5 - rank)),
        elemtype=elemtype,
        swizzle=span_code,
    )
    return fields, coordinates


@given(maps_and_coordinates())
def test_rows_agree_with_a_loop_over_elements(drawn):
    fields, coordinates = drawn
    size = fields.element_bits // 8
    pitch = fields.swizzle_span or fields.box[0] * size
    # What every byte of the tile should hold: the global offset it comes from, or -1 for the fill value.
    expected: dict[int, int] = {}
    outer = [range(0, fields.box[axis], fields.element_stride[axis]) for axis in range(1, fields.rank)]
    for row, places in enumerate(product(*outer[::-1])):
        at = [coordinate + place for coordinate, place in zip(coordinates[1:], places[::-1])]
        for element in range(fields.box[0]):
            whole = [coordinates[0] + element, *at]
            inside = all(0 <= c < extent for c, extent in zip(whole, fields.global_dim))
            source = whole[0] * size + sum(c * stride for c, stride in zip(at, fields.global_stride))
            expected[row * pitch + element * size] = source if inside else -1
    rows = tile_rows(fields, coordinates)
    found: dict[int, int] = {}
    for source, target in zip(rows.global_offset.tolist(), rows.shared_offset.tolist()):
        for element in range(fields.box[0]):
            valid = source >= 0 and rows.first <= element < rows.first + rows.valid
            found[target + element * size] = source + (element - rows.first) * size if valid else -1
    assert found == expected
    assert box_bytes(fields) == len(expected) * size
    assert shared_bytes(fields) == rows.shared_offset.size * pitch


HALF = TensorMapFields(
    global_address=0x10000,
    rank=2,
    global_dim=(64, 32, 0, 0, 0),
    global_stride=(128, 0, 0, 0),
    box=(32, 4, 0, 0, 0),
    element_stride=(1, 1, 0, 0, 0),
    elemtype=6,
    swizzle=3,
)


PIXELS = TensorMapFields(
    global_address=0x10000,
    rank=4,
    global_dim=(16, 5, 4, 3, 0),
    global_stride=(32, 160, 640, 0),
    element_stride=(1, 2, 1, 1, 0),
    elemtype=6,
    im2col_lower=(-1, 0, 0),
    im2col_upper=(0, -1, 0),
    channels_per_pixel=16,
    pixels_per_column=9,
)


@given(st.integers(-1, 4), st.integers(0, 2), st.integers(0, 2), st.tuples(*[st.integers(0, 3)] * 2))
def test_pixels_agree_with_a_walk(w, h, image, offsets):
    at, expected = [w, h, image], []
    for _ in range(9):
        whole = at[0] + offsets[0], at[1] + offsets[1], at[2]
        inside = all(0 <= c < extent for c, extent in zip(whole, (5, 4, 3)))
        expected.append(whole[0] * 32 + whole[1] * 160 + whole[2] * 640 if inside else -1)
        at[0] += 2
        if at[0] >= 5:
            at[0], at[1] = -1, at[1] + 1
        if at[1] >= 3:
            at[1], at[2] = 0, at[2] + 1
    rows = tile_rows(PIXELS, (0, w, h, image), offsets)
    assert rows.global_offset.tolist() == expected
    assert rows.shared_offset.tolist() == list(range(0, 9 * 32, 32))
    assert (rows.first, rows.valid, box_bytes(PIXELS), shared_bytes(PIXELS)) == (0, 16, 288, 288)


SLICES = TensorMapFields(
    global_address=0x10000,
    rank=4,
    global_dim=(6, 5, 4, 3, 0),
    global_stride=(96, 480, 1920, 0),
    box=(8, 3, 2, 2, 0),
    element_stride=(1, 1, 1, 1, 0),
    elemtype=6,
    interleave=1,
)


@pytest.mark.parametrize("step", [1, 2, 3])
@given(coordinates=st.tuples(*[st.integers(-3, 6)] * 4))
def test_a_box_of_an_interleaved_tensor_has_one_slice_of_channels(step, coordinates):
    fields = replace(SLICES, element_stride=(step, 1, 1, 1, 0))
    expected = []
    for n, h, w in product(range(2), range(3), range(0, 8, step)):
        whole = [at + by for at, by in zip(coordinates, (w, h, 0, n))]
        inside = all(0 <= c < extent for c, extent in zip(whole, (6, 5, 4, 3)))
        expected.append(sum(c * s for c, s in zip(whole, (16, 96, 480, 1920))) if inside else -1)
    rows = tile_rows(fields, coordinates)
    whole = row_bytes(fields) // 16
    found = [
        source + 16 * (k - rows.first) if source >= 0 and rows.first <= k < rows.first + rows.valid else -1
        for source in rows.global_offset.tolist()
        for k in range(whole)
    ]
    assert found == expected
    assert box_bytes(fields) == shared_bytes(fields) == 16 * len(expected)


def test_a_narrow_swizzled_box_advances_a_span_a_row():
    rows = tile_rows(HALF, (32, 30))
    assert rows.shared_offset.tolist() == [0, 128, 256, 384]
    assert rows.global_offset.tolist() == [30 * 128 + 64, 31 * 128 + 64, -1, -1]
    assert (rows.first, rows.valid) == (0, 32)
    assert (box_bytes(HALF), shared_bytes(HALF)) == (256, 512)


def test_rows_hang_over_either_edge():
    left = tile_rows(HALF, (-8, 0))
    assert (left.first, left.valid, left.global_offset[0]) == (8, 24, 0)
    right = tile_rows(HALF, (56, 0))
    assert (right.first, right.valid, right.global_offset[0]) == (0, 8, 112)
    for coordinates in ((64, 0), (-32, 0), (2**31 - 8, 0), (-(2**31), 0), (0, 2**31 - 1), (0, -(2**31))):
        assert tile_rows(HALF, coordinates).global_offset.tolist() == [-1] * 4


def test_the_innermost_coordinate_stands_at_16_bytes():
    assert coordinate_error(HALF, (8, 0)) == ""
    assert coordinate_error(HALF, (-8, 1)) == ""
    assert coordinate_error(HALF, (3, 0)) == "the innermost coordinate 3 is at byte 6; expected a multiple of 16 bytes"


def test_fill_values():
    assert fill_bytes(HALF) == b"\0\0"
    for elemtype, dtype in ((6, "<f2"), (8, "<f4"), (9, "<f8")):
        nan = fill_bytes(replace(HALF, fill=1, elemtype=elemtype))
        assert set(np.frombuffer(nan, "<u2").tolist()) == {0x7FF7}
        assert np.isnan(np.frombuffer(nan, dtype)).tolist() == [True]


@pytest.mark.parametrize(
    ("fields", "coordinates", "message"),
    [
        (HALF, (0,), "a copy has 1 coordinates, but its map has rank 2; expected 2"),
        (
            TensorMapFields(),
            (0,),
            ("the tensor map cannot be used: dimension 0 (the innermost) has 0 elements; expected 1 to 2^32"),
        ),
        (
            replace(HALF, pixels_per_column=4, channels_per_pixel=8),
            (0, 0),
            "the tensor map cannot be used: the rank of an im2col map is 2; expected 3 to 5",
        ),
        (PIXELS, (0, 0, 0, 0), "a copy has 1 im2col offsets; expected 2, because its tensor map has rank 4"),
        (
            replace(HALF, swizzle=0, swizzle_atomicity=1),
            (0, 0),
            ("the tensor map cannot be used: the swizzle atomicity is 32B with a swizzle of 0 bytes; expected 16B"),
        ),
        (
            replace(HALF, global_dim=(64, 2**32, 0, 0, 0), global_stride=(2**39, 0, 0, 0)),
            (0, 0),
            ("the tensor map cannot be used: it spans 2361183240885066792960 bytes; expected less than 2^62"),
        ),
    ],
)
def test_mistakes_end_in_one_sentence(fields, coordinates, message):
    with pytest.raises(UsageError) as caught:
        tile_rows(fields, coordinates, (1,) if fields is PIXELS else ())
    assert str(caught.value) == message
