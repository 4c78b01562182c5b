"""Cases of tensor maps: each breaks one rule of the encoding."""

from __future__ import annotations

import ctypes
from typing import Any

from warploom_lab.driver.case import Driver, Isolation, add, case

_U8, _U16, _U32, _F16, _F32, _F64, _TF32, _B4X16, _B4X16_P64, _B6X16 = 0, 1, 2, 6, 7, 8, 11, 13, 14, 15
_MAP_BYTES = 128
_PLAIN: dict[str, Any] = {
    "type": _F16, "rank": 2, "offset": 0, "extents": (64, 64), "strides": (128,), "box": (32, 8), "steps": (1, 1),
    "interleave": 0, "swizzle": 0, "promotion": 0, "fill": 0,
}  # fmt: skip
_CUBE: dict[str, Any] = {"rank": 3, "extents": (64, 8, 8), "strides": (128, 1024), "box": (8, 4, 4), "steps": (1, 1, 1)}
_BLOCKS: dict[str, Any] = {
    "rank": 3, "extents": (8, 8, 16), "strides": (256, 2048), "box": (8, 4, 4), "steps": (1, 1, 1), "interleave": 1,
}  # fmt: skip
_FOURS: dict[str, Any] = {"type": _B4X16, "extents": (128, 64), "strides": (64,), "box": (64, 8)}

_TILED: dict[str, dict[str, Any]] = {
    "plain": {},
    "type_negative": {"type": -1}, "type_16": {"type": 16}, "type_100": {"type": 100},
    "rank_0": {"rank": 0}, "rank_1": {"rank": 1, "extents": (64,), "strides": (), "box": (32,), "steps": (1,)},
    "rank_3": _CUBE, "rank_6": {"rank": 6, "extents": (8,) * 6, "strides": (16,) * 5, "box": (8,) * 6,
                                "steps": (1,) * 6},
    "rank_5": {"rank": 5, "extents": (8,) * 5, "strides": (16, 128, 1024, 8192), "box": (8, 1, 1, 1, 1),
               "steps": (1,) * 5},
    "null_address": {"offset": None}, "address_8": {"offset": 8}, "address_1": {"offset": 1},
    "address_16": {"offset": 16}, "address_16_interleave_16": {**_BLOCKS, "offset": 16},
    "address_16_interleave_32": {**_BLOCKS, "interleave": 2, "extents": (16, 8, 16), "box": (16, 4, 4), "offset": 16,
                                 "swizzle": 1},
    "extent_0": {"extents": (0, 64)}, "extent_0_outer": {"extents": (64, 0)},
    "extent_2_32": {"extents": (64, 1 << 32)}, "extent_above_2_32": {"extents": (64, (1 << 32) + 1)},
    "extents_null": {"extents": None}, "strides_null": {"strides": None}, "box_null": {"box": None},
    "steps_null": {"steps": None},
    "strides_null_rank_1": {"rank": 1, "extents": (64,), "strides": None, "box": (32,), "steps": (1,)},
    "stride_0": {"strides": (0,)}, "stride_8": {"strides": (136,)}, "stride_small": {"strides": (64,)},
    "stride_16": {"strides": (16,)}, "stride_2_40": {"strides": (1 << 40,)}, "stride_below_2_40": {
        "strides": ((1 << 40) - 16,)},
    "stride_decreasing": {**_CUBE, "strides": (1024, 128)}, "stride_overlapping": {**_CUBE, "strides": (128, 128)},
    "box_0": {"box": (0, 8)}, "box_0_outer": {"box": (32, 0)}, "box_257": {"box": (32, 257)},
    "box_256": {"box": (32, 256)}, "box_wide": {"box": (264, 8)}, "box_narrow": {"box": (4, 8)},
    "box_odd": {"box": (12, 8)}, "box_larger_than_extent": {"box": (128, 128)},
    "box_too_large_for_shared": {"box": (256, 256), "type": _F64, "strides": (512,)},
    "box_bytes": {"type": _U8, "box": (17, 8)}, "box_16_bytes": {"type": _U8, "box": (16, 8)},
    "step_0": {"steps": (1, 0)}, "step_0_inner": {"steps": (0, 1)}, "step_8": {"steps": (1, 8)},
    "step_9": {"steps": (1, 9)}, "step_2_inner": {"steps": (2, 1)}, "step_9_inner": {"steps": (9, 1)},
    "interleave_negative": {"interleave": -1}, "interleave_3": {"interleave": 3},
    "interleave_rank_2": {"interleave": 1},
    "interleave_16": _BLOCKS, "interleave_32_without_swizzle": {**_BLOCKS, "interleave": 2},
    "interleave_32": {**_BLOCKS, "interleave": 2, "extents": (16, 8, 16), "box": (16, 4, 4), "swizzle": 1},
    "interleave_32_stride": {**_BLOCKS, "interleave": 2, "extents": (16, 8, 16), "box": (16, 4, 4), "swizzle": 1,
                             "strides": (272, 2048)},
    "interleave_16_swizzle": {**_BLOCKS, "swizzle": 1},
    "swizzle_negative": {"swizzle": -1}, "swizzle_7": {"swizzle": 7}, "swizzle_32": {"swizzle": 1, "box": (16, 8)},
    "swizzle_32_wide": {"swizzle": 1, "box": (24, 8)}, "swizzle_64": {"swizzle": 2, "box": (32, 8)},
    "swizzle_64_wide": {"swizzle": 2, "box": (40, 8)}, "swizzle_128": {"swizzle": 3, "box": (64, 8)},
    "swizzle_128_wide": {"swizzle": 3, "box": (72, 8)}, "swizzle_128_narrow": {"swizzle": 3, "box": (32, 8)},
    "swizzle_4": {"swizzle": 4, "box": (64, 8)}, "swizzle_5": {"swizzle": 5, "box": (64, 8)},
    "swizzle_6": {"swizzle": 6, "box": (64, 8)},
    "promotion_negative": {"promotion": -1}, "promotion_3": {"promotion": 3}, "promotion_4": {"promotion": 4},
    "fill_negative": {"fill": -1}, "fill_2": {"fill": 2}, "fill_nan_float": {"fill": 1},
    "fill_nan_integer": {"fill": 1, "type": _U16}, "fill_nan_tf32": {"fill": 1, "type": _TF32, "strides": (256,)},
    "fours": _FOURS, "fours_extent": {**_FOURS, "extents": (130, 64), "strides": (80,)},
    "fours_p64": {**_FOURS, "type": _B4X16_P64, "box": (128, 8)},
    "fours_p64_box": {**_FOURS, "type": _B4X16_P64}, "sixes": {**_FOURS, "type": _B6X16, "box": (128, 8),
                                                              "strides": (96,)},
    "many_rules": {"rank": 9, "type": 99, "box": (0, 0)},
}  # fmt: skip

_IMAGE: dict[str, Any] = {
    "type": _F16, "rank": 4, "offset": 0, "extents": (64, 16, 16, 4), "strides": (128, 2048, 32768),
    "lower": (-1, -1), "upper": (-1, -1), "channels": 32, "pixels": 64, "steps": (1, 1, 1, 1), "interleave": 0,
    "swizzle": 0, "promotion": 0, "fill": 0,
}  # fmt: skip
_IM2COL: dict[str, dict[str, Any]] = {
    "plain": {}, "rank_2": {"rank": 2}, "rank_6": {"rank": 6}, "type_16": {"type": 16},
    "rank_3": {"rank": 3, "extents": (64, 16, 4), "strides": (128, 2048), "lower": (-1,), "upper": (-1,),
               "steps": (1, 1, 1)},
    "null_address": {"offset": None}, "address_8": {"offset": 8}, "lower_null": {"lower": None},
    "upper_null": {"upper": None}, "extents_null": {"extents": None}, "lower_small": {"lower": (-129, 0)},
    "lower_128": {"lower": (-128, 0)}, "lower_large": {"lower": (128, 0)}, "upper_small": {"upper": (-129, 0)},
    "upper_large": {"upper": (128, 0)}, "channels_0": {"channels": 0}, "channels_257": {"channels": 257},
    "channels_256": {"channels": 256}, "channels_4": {"channels": 4}, "pixels_0": {"pixels": 0},
    "pixels_1024": {"pixels": 1024}, "pixels_1025": {"pixels": 1025}, "step_0": {"steps": (1, 0, 1, 1)},
    "step_9": {"steps": (1, 9, 1, 1)}, "swizzle_32_wide": {"swizzle": 1}, "swizzle_64": {"swizzle": 2},
    "swizzle_9": {"swizzle": 9}, "interleave_3": {"interleave": 3}, "promotion_4": {"promotion": 4},
    "fill_2": {"fill": 2}, "extent_0": {"extents": (0, 16, 16, 4)}, "stride_8": {"strides": (136, 2048, 32768)},
    "empty_box": {"lower": (8, 8), "upper": (-8, -8)},
    "b4x16_p64": {"type": _B4X16_P64, "extents": (128, 16, 16, 4), "channels": 128},
}  # fmt: skip
_WIDE: dict[str, dict[str, Any]] = {
    "plain": {}, "mode_128": {"mode": 1}, "mode_2": {"mode": 2}, "mode_negative": {"mode": -1}, "rank_2": {"rank": 2},
    "rank_3": {"rank": 3, "extents": (64, 16, 4), "strides": (128, 2048), "steps": (1, 1, 1)},
    "rank_5": {"rank": 5, "extents": (64, 16, 16, 4, 2), "strides": (128, 2048, 32768, 131072), "steps": (1,) * 5},
    "lower_small": {"lower": -129}, "lower_small_rank_5": {
        "rank": 5, "extents": (64, 16, 16, 4, 2), "strides": (128, 2048, 32768, 131072), "steps": (1,) * 5,
        "lower": -17},
    "upper_large": {"upper": 128}, "channels_0": {"channels": 0}, "channels_257": {"channels": 257},
    "pixels_0": {"pixels": 0}, "pixels_1024": {"pixels": 1024}, "pixels_1025": {"pixels": 1025},
    "swizzle_0": {"swizzle": 0}, "swizzle_32": {"swizzle": 1, "channels": 16}, "swizzle_64": {"swizzle": 2},
    "swizzle_128": {"swizzle": 3, "channels": 64}, "interleave_16": {"interleave": 1},
    "interleave_32": {"interleave": 2, "swizzle": 1}, "step_2": {"steps": (1, 2, 1, 1)},
    "null_address": {"offset": None},
}  # fmt: skip
_WIDE_IMAGE: dict[str, Any] = {**_IMAGE, "lower": -1, "upper": -2, "mode": 0, "swizzle": 3, "channels": 64}


def _words(values: tuple[int, ...] | None, kind: Any) -> object:
    return None if values is None else (kind * max(len(values), 1))(*values)


def _encode(cuda: Driver, at: dict[str, Any]) -> None:
    """Encode a tensor map, and record the status.

    For a wide map, also record whether the bytes are those of an im2col map whose box has the same corners in the
    direction of the width, and 0 in the other directions.
    """
    storage = ctypes.create_string_buffer(256)
    target = -(-ctypes.addressof(storage) // 64) * 64
    address = 0 if at["offset"] is None else cuda.allocate(1 << 20) + at["offset"]
    common = (
        target, at["type"], at["rank"], address, _words(at["extents"], ctypes.c_uint64),
        _words(at["strides"], ctypes.c_uint64),
    )  # fmt: skip
    steps, layout = _words(at["steps"], ctypes.c_uint32), (at["swizzle"], at["promotion"], at["fill"])
    if "mode" in at:
        corners = (at["lower"], at["upper"], at["channels"], at["pixels"], steps, at["interleave"], at["mode"])
        if cuda("cuTensorMapEncodeIm2colWide", *common, *corners, *layout) == 0:
            found, directions = ctypes.string_at(target, _MAP_BYTES), at["rank"] - 2
            boxes = (_words((at[corner], 0, 0)[:directions], ctypes.c_int) for corner in ("lower", "upper"))
            others = (at["channels"], at["pixels"], steps, at["interleave"])
            cuda("cuTensorMapEncodeIm2col", *common, *boxes, *others, *layout)
            cuda.note("equal", ctypes.string_at(target, _MAP_BYTES) == found)
    elif "lower" in at:
        corners = (_words(at["lower"], ctypes.c_int), _words(at["upper"], ctypes.c_int), at["channels"], at["pixels"])
        cuda("cuTensorMapEncodeIm2col", *common, *corners, steps, at["interleave"], *layout)
    else:
        box = _words(at["box"], ctypes.c_uint32)
        cuda("cuTensorMapEncodeTiled", *common, box, steps, at["interleave"], *layout)


for _kind, _defaults, _rows in (
    ("tiled", _PLAIN, _TILED), ("im2col", _IMAGE, _IM2COL), ("wide", _WIDE_IMAGE, _WIDE),
):  # fmt: skip
    for _name, _changes in _rows.items():
        _fields = _defaults | _changes
        add(f"tensor_maps.{_kind}_{_name}", lambda cuda, at=_fields: _encode(cuda, at), Isolation.SHARED)


@case
def null_map(cuda: Driver) -> None:
    address = cuda.allocate()
    extents, box = (ctypes.c_uint64 * 1)(64), (ctypes.c_uint32 * 1)(32)
    steps = (ctypes.c_uint32 * 1)(1)
    cuda("cuTensorMapEncodeTiled", None, _F16, 1, address, extents, None, box, steps, 0, 0, 0, 0)
    cuda("cuTensorMapReplaceAddress", None, address)


@case
def misplaced_map(cuda: Driver) -> None:
    address, storage = cuda.allocate(), ctypes.create_string_buffer(512)
    start = -(-ctypes.addressof(storage) // 128) * 128
    extents, box = (ctypes.c_uint64 * 1)(64), (ctypes.c_uint32 * 1)(32)
    steps = (ctypes.c_uint32 * 1)(1)
    for offset in (0, 64, 32, 16, 8, 1):
        cuda("cuTensorMapEncodeTiled", start + offset, _F16, 1, address, extents, None, box, steps, 0, 0, 0, 0)


@case
def replaced_address(cuda: Driver) -> None:
    address, storage = cuda.allocate(), ctypes.create_string_buffer(512)
    start = -(-ctypes.addressof(storage) // 128) * 128
    extents, box = (ctypes.c_uint64 * 1)(64), (ctypes.c_uint32 * 1)(32)
    steps = (ctypes.c_uint32 * 1)(1)
    cuda("cuTensorMapEncodeTiled", start, _F16, 1, address, extents, None, box, steps, 0, 0, 0, 0)
    for new in (address + 256, address + 8, address + 16, 0, 0x1000):
        cuda("cuTensorMapReplaceAddress", start, new)


@case
def host_address(cuda: Driver) -> None:
    host, storage = cuda.new("cuMemAllocHost_v2", 4096), ctypes.create_string_buffer(512)
    start = -(-ctypes.addressof(storage) // 128) * 128
    extents, box, steps = (ctypes.c_uint64 * 1)(64), (ctypes.c_uint32 * 1)(32), (ctypes.c_uint32 * 1)(1)
    for address in (host, cuda.new("cuMemAllocManaged", 4096, 1), 0x7000_0000_0000):
        cuda("cuTensorMapEncodeTiled", start, _F16, 1, address, extents, None, box, steps, 0, 0, 0, 0)


@case(alone=True)
def without_a_context(cuda: Driver) -> None:
    cuda("cuCtxSetCurrent", None)
    storage = ctypes.create_string_buffer(512)
    start = -(-ctypes.addressof(storage) // 128) * 128
    extents, box, steps = (ctypes.c_uint64 * 1)(64), (ctypes.c_uint32 * 1)(32), (ctypes.c_uint32 * 1)(1)
    cuda("cuTensorMapEncodeTiled", start, _F16, 1, 1 << 20, extents, None, box, steps, 0, 0, 0, 0)
