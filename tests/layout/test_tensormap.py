from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.diagnostics import UsageError
from warploom.layout import TensorMap, TensorMapFields
from warploom.layout.tensormap import ELEMENT_TYPES, PACKED

GOOD = TensorMapFields(
    global_address=0x7000,
    rank=3,
    global_dim=(64, 32, 8, 0, 0),
    global_stride=(128, 4096, 0, 0),
    box=(64, 16, 2, 0, 0),
    element_stride=(1, 1, 1, 0, 0),
    elemtype=6,
    swizzle=3,
)


def five(bound: int, count: int = 5):
    return st.tuples(*[st.integers(0, bound)] * count)


@given(
    st.builds(
        TensorMapFields,
        st.integers(0, 2**64 - 1),
        st.integers(1, 5),
        five(2**32),
        five(2**40, 4),
        five(2**32 - 1),
        five(255),
        st.integers(0, 15),
        st.integers(0, 2),
        st.integers(0, 4),
        st.integers(0, 3),
        st.integers(0, 1),
        st.integers(0, 3),
        st.tuples(*[st.integers(-(2**15), 2**15 - 1)] * 3),
        st.tuples(*[st.integers(-(2**15), 2**15 - 1)] * 3),
        st.integers(0, 256),
        st.integers(0, 1024),
    )
)
def test_unpack_undoes_pack(fields):
    packed = fields.pack()
    assert len(packed) == 128
    assert TensorMapFields.unpack(packed) == fields
    assert TensorMapFields.unpack(np.frombuffer(packed, np.uint8)) == fields


def test_the_record_fills_128_bytes():
    assert PACKED.itemsize == 128


def test_all_zeros_is_a_map_not_yet_filled_in():
    fields = TensorMapFields.unpack(bytes(128))
    assert fields == TensorMapFields()
    assert fields.validate() == (
        "dimension 0 (the innermost) has 0 elements; expected 1 to 2^32",
        "the box has 0 elements along dimension 0 (the innermost); expected 1 to 256",
        "the element stride of dimension 0 (the innermost) is 0; expected 1 to 8",
    )


def test_a_map_filled_in_field_by_field():
    fields = TensorMapFields.unpack(bytes(128))
    for field, ordinal, value in (
        ("global_address", None, 0x7000),
        ("rank", None, 2),
        ("box_dim", 0, 64),
        ("box_dim", 1, 16),
        ("box_dim", 2, 2),
        ("global_dim", 0, 64),
        ("global_dim", 1, 32),
        ("global_dim", 2, 8),
        ("global_stride", 0, 128),
        ("global_stride", 1, 4096),
        ("element_stride", 0, 1),
        ("element_stride", 1, 1),
        ("element_stride", 2, 1),
        ("elemtype", None, 6),
        ("interleave_layout", None, 0),
        ("swizzle_mode", None, 3),
        ("swizzle_atomicity", None, 0),
        ("fill_mode", None, 0),
    ):
        fields = TensorMapFields.unpack(fields.replace(field, value, ordinal).pack())
    assert fields == GOOD
    assert fields.validate() == ()


def test_the_codes_of_element_types():
    words = "u8 u16 u32 s32 u64 s64 f16 f32 f32.ftz f64 bf16 tf32 tf32.ftz b4x16 b4x16_p64 b6x16_p32"
    assert [word for word, _, _ in ELEMENT_TYPES] == words.split()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"global_address": 0x7008}, "the global address is 0x7008; expected a multiple of 16"),
        ({"global_dim": (64, 0, 8, 0, 0)}, "dimension 1 has 0 elements; expected 1 to 2^32"),
        (
            {"global_dim": (2**32 + 1, 32, 8, 0, 0)},
            "dimension 0 (the innermost) has 4294967297 elements; expected 1 to 2^32",
        ),
        (
            {"global_stride": (120, 4096, 0, 0)},
            "the stride of dimension 1 is 120 bytes; expected a multiple of 16 below 2^40",
        ),
        (
            {"global_stride": (128, 2**40, 0, 0)},
            "the stride of dimension 2 is 1099511627776 bytes; expected a multiple of 16 below 2^40",
        ),
        ({"box": (64, 257, 2, 0, 0)}, "the box has 257 elements along dimension 1; expected 1 to 256"),
        ({"element_stride": (1, 9, 1, 0, 0)}, "the element stride of dimension 1 is 9; expected 1 to 8"),
        (
            {"box": (12, 16, 2, 0, 0)},
            "the box is 24 bytes along dimension 0 (the innermost); expected a multiple of 16",
        ),
        (
            {"box": (72, 16, 2, 0, 0)},
            (
                "the box is 144 bytes along dimension 0 (the innermost) with a swizzle of 128 bytes;"
                " expected at most 128"
            ),
        ),
        ({"rank": 2, "interleave": 1}, "the rank is 2 with an interleave of 16 bytes; expected 3 to 5"),
        ({"box": (64, 256, 16, 0, 0), "swizzle": 0}, "the box is 524288 bytes; expected at most 233472"),
        (
            {"interleave": 2, "swizzle": 1, "global_stride": (144, 4096, 0, 0)},
            "the stride of dimension 1 is 144 bytes; expected a multiple of 32 below 2^40",
        ),
        (
            {"fill": 1, "elemtype": 1},
            (
                "elements out of bounds are filled with NaN and are of type u16;"
                " expected a type with NaN (f16, f32, f32.ftz, f64, bf16, tf32, tf32.ftz)"
            ),
        ),
        (
            {"elemtype": 14, "box": (128, 16, 2, 0, 0)},
            "dimension 0 (the innermost) has 64 elements of b4x16_p64; expected a multiple of 128",
        ),
        (
            {"elemtype": 15, "global_dim": (128, 32, 8, 0, 0)},
            "the box has 64 elements of b6x16_p32 along dimension 0 (the innermost); expected 128",
        ),
    ],
)
def test_validate_says_what_is_wrong(changes, sentence):
    assert replace(GOOD, **changes).validate() == (sentence,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: GOOD.replace("size", 1),
            (
                "a tensor map has no field 'size'; expected global_address, rank, box_dim, global_dim,"
                " global_stride, element_stride, elemtype, interleave_layout, swizzle_mode,"
                " swizzle_atomicity, fill_mode"
            ),
        ),
        (lambda: GOOD.replace("rank", 5), "rank of a tensor map cannot be 5; expected 0 to 4"),
        (lambda: GOOD.replace("rank", 1, 0), "rank of a tensor map takes no ordinal; found 0"),
        (lambda: GOOD.replace("box_dim", 1, 5), "box_dim of a tensor map takes an ordinal from 0 to 4; found 5"),
        (
            lambda: GOOD.replace("global_stride", 16),
            "global_stride of a tensor map takes an ordinal from 0 to 3; found None",
        ),
        (lambda: TensorMapFields.unpack(bytes(64)), "a tensor map is 128 bytes; found 64"),
        (lambda: TensorMapFields.unpack(b"\xff" * 128), "the 128 bytes are not a tensor map: their rank is 256"),
    ],
)
def test_mistakes_with_fields(call, message):
    with pytest.raises(UsageError) as caught:
        call()
    assert str(caught.value) == message


def test_sizes_and_strides_come_from_the_array():
    array = np.zeros((6, 40, 64), np.float16)[1:5, ::2]
    map_ = TensorMap.tiled(array, (2, 8, 64), element_strides=(1, 2, 1), swizzle=128, oob_fill="nan", l2_promotion=128)
    assert map_.array is array
    fields = map_.fields(0x2000)
    assert fields == TensorMapFields(
        global_address=0x2000,
        rank=3,
        global_dim=(64, 20, 4, 0, 0),
        global_stride=(256, 40 * 128, 0, 0),
        box=(64, 8, 2, 0, 0),
        element_stride=(1, 2, 1, 0, 0),
        elemtype=6,
        swizzle=3,
        fill=1,
        l2_promotion=2,
    )


@pytest.mark.parametrize(
    ("dtype", "asked", "word"),
    [
        (np.uint8, None, "u8"),
        (np.int8, None, "u8"),
        (ml_dtypes.float8_e4m3fn, None, "u8"),
        (ml_dtypes.float8_e5m2, None, "u8"),
        (np.int32, None, "s32"),
        (np.uint32, None, "u32"),
        (np.float32, "tf32", "tf32"),
        (np.float64, None, "f64"),
        (ml_dtypes.bfloat16, None, "bf16"),
        (np.uint16, "bf16", "bf16"),
    ],
)
def test_element_types_come_from_the_dtype(dtype, asked, word):
    array = np.zeros((4, 64), dtype)
    assert TensorMap.tiled(array, (4, 32), dtype=asked).fields(0).element_type == word


def test_an_axis_of_one_element_may_have_any_stride():
    array = np.zeros((1, 20), np.float16)
    assert array.strides == (40, 2)
    assert TensorMap.tiled(array, (1, 16)).fields(0).global_stride[0] % 16 == 0


HALF = np.zeros((32, 64), np.float16)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: TensorMap.tiled(np.zeros((1,) * 6), (1,) * 6),
            "the array of a tensor map has 6 axes; expected 1 to 5",
        ),
        (lambda: TensorMap.tiled(HALF, (64,)), "box has 1 entries for 2 axes; expected 2"),
        (
            lambda: TensorMap.tiled(HALF, (8, 64), element_strides=(1, 1, 1)),
            "element_strides has 3 entries for 2 axes; expected 2",
        ),
        (lambda: TensorMap.tiled(HALF, (-1, 64)), "box is (-1, 64); expected positive extents"),
        (
            lambda: TensorMap.tiled(HALF, (0, 64)),
            "the tensor map cannot be made: the box has 0 elements along dimension 1; expected 1 to 256",
        ),
        (
            lambda: TensorMap.tiled(HALF, (8, 64), swizzle=64),
            (
                "the tensor map cannot be made: the box is 128 bytes along dimension 0 (the innermost)"
                " with a swizzle of 64 bytes; expected at most 64"
            ),
        ),
        (lambda: TensorMap.tiled(HALF, (8, 64), swizzle=48), "swizzle is 48; expected 0, 32, 64, 128, 96"),
        (lambda: TensorMap.tiled(HALF, (8, 64), interleave=8), "interleave is 8; expected 0, 16, 32"),
        (lambda: TensorMap.tiled(HALF, (8, 64), oob_fill="one"), "oob_fill is 'one'; expected zero, nan"),
        (lambda: TensorMap.tiled(HALF, (8, 64), l2_promotion=32), "l2_promotion is 32; expected 'none', 64, 128, 256"),
        (
            lambda: TensorMap.tiled(HALF, (8, 64), element_strides=(300, 1)),
            "the tensor map cannot be made: the element stride of dimension 1 is 300; expected 1 to 8",
        ),
        (
            lambda: TensorMap.tiled(HALF[:, ::2], (8, 32)),
            "the array's last axis has a stride of 4 bytes; expected a contiguous last axis (2 bytes)",
        ),
        (
            lambda: TensorMap.tiled(HALF[::-1], (8, 64)),
            "axis 0 of the array has a stride of -128 bytes; expected at least 0",
        ),
        (
            lambda: TensorMap.tiled(np.zeros((4, 20), np.float16), (4, 16)),
            (
                "the tensor map cannot be made: the stride of dimension 1 is 40 bytes;"
                " expected a multiple of 16 below 2^40"
            ),
        ),
        (
            lambda: TensorMap.tiled(np.zeros((0, 64), np.float16), (8, 64)),
            "the array of a tensor map has shape (0, 64); expected at least one element",
        ),
        (
            lambda: TensorMap.tiled(np.zeros((8, 64), np.complex64), (8, 16)),
            (
                "the array of a tensor map has elements of complex64; expected bool, int8, uint8, int16, uint16, int32,"
                " uint32, int64, uint64, float16, float32, float64, bfloat16 or 8-bit elements"
            ),
        ),
        (
            lambda: TensorMap.tiled(HALF, (8, 64), dtype="f32"),
            "dtype 'f32' has 4 bytes, but the array's type float16 has 2; expected the same width",
        ),
        (
            lambda: TensorMap.tiled(HALF, (8, 64), dtype="half"),
            (
                "dtype is 'half'; expected u8, u16, u32, s32, u64, s64, f16, f32, f32.ftz, f64, bf16, tf32, tf32.ftz,"
                " b4x16, b4x16_p64, b6x16_p32"
            ),
        ),
        (
            lambda: TensorMap.tiled(HALF, (8, 64)).fields(0x1008),
            "the tensor map cannot be placed: the global address is 0x1008; expected a multiple of 16",
        ),
    ],
)
def test_mistakes_with_arrays(call, message):
    with pytest.raises(UsageError) as caught:
        call()
    assert str(caught.value) == message


IMAGES = np.zeros((2, 6, 7, 32), np.float16)
SLICES = np.zeros((2, 4, 6, 7, 8), np.float16)


def test_a_map_for_convolutions_has_its_corners_innermost_first():
    made = TensorMap.im2col(IMAGES, (-1, -2), (1, 0), 32, 64, element_strides=(1, 2, 3, 1), swizzle=64)
    fields = made.fields(0x1000)
    assert fields.is_im2col
    assert fields.global_dim == (32, 7, 6, 2, 0)
    assert fields.global_stride == (64, 448, 2688, 0)
    assert (fields.im2col_lower, fields.im2col_upper) == ((-2, -1, 0), (0, 1, 0))
    assert (fields.channels_per_pixel, fields.pixels_per_column) == (32, 64)
    assert fields.element_stride == (1, 3, 2, 1, 0)


def test_slices_of_channels_are_no_dimension():
    fields = TensorMap.tiled(SLICES, (1, 1, 3, 8), interleave=16).fields(0x1000)
    assert (fields.rank, fields.global_dim) == (4, (7, 6, 4, 2, 0))
    assert fields.global_stride == (112, 672, 2688, 0)
    pixels = TensorMap.im2col(SLICES, (0, 0), (0, 0), 8, 4, interleave=16).fields(0x1000)
    assert (pixels.rank, pixels.global_dim) == (4, (7, 6, 4, 2, 0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TensorMap.im2col(HALF, (), (), 8, 4), "the tensor of an im2col map has 2 dimensions; expected 3 to 5"),
        (
            lambda: TensorMap.im2col(IMAGES, (0,), (0, 0), 8, 4),
            "lower_corner has 1 entries for images of 2 dimensions; expected 2",
        ),
        (lambda: TensorMap.im2col(IMAGES, (0, 0), (0, 0), 8, 0), "pixels_per_column is 0; expected 1 to 1024"),
        (
            lambda: TensorMap.im2col(IMAGES, (0, 129), (0, 0), 8, 4),
            (
                "the tensor map cannot be made: the lower corner of the bounding box is 129 along dimension 1;"
                " expected -128 to 127"
            ),
        ),
        (
            lambda: TensorMap.im2col(IMAGES, (0, 0), (0, -7), 8, 4),
            (
                "the tensor map cannot be made: the bounding box is 0 to 0 along dimension 1;"
                " expected at least one pixel"
            ),
        ),
        (
            lambda: TensorMap.im2col(IMAGES, (0, 0), (0, 0), 264, 4),
            "the tensor map cannot be made: a pixel has 264 channels; expected 1 to 256",
        ),
        (
            lambda: TensorMap.im2col(IMAGES, (0, 0), (0, 0), 8, 1025),
            "the tensor map cannot be made: a column has 1025 pixels; expected 1 to 1024",
        ),
        (
            lambda: TensorMap.tiled(SLICES, (1, 1, 3, 8), interleave=32),
            "the last axis of an array interleaved by 32 bytes is 16 bytes; expected 32",
        ),
        (
            lambda: TensorMap.tiled(HALF, (1, 8), interleave=16),
            "an interleaved array has 2 axes; expected 4 to 6 with the channels last",
        ),
    ],
)
def test_mistakes_in_maps_of_images(call, message):
    with pytest.raises(UsageError) as caught:
        call()
    assert str(caught.value) == message
