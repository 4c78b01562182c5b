"""Driver functions that encode tensor maps."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from warploom.diagnostics import UsageError
from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.statuses import DriverError, Status
from warploom.layout.tensormap import ELEMENT_TYPES, TENSOR_MAP_BYTES, TensorMapFields, pad_to_five

if TYPE_CHECKING:
    from collections.abc import Callable

    from warploom.integrations.cuda_driver.program import DriverCall
    from warploom.integrations.cuda_driver.protocol import Connection

_TYPES = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz",
    "b4x16", "b4x16_p64", "b6x16_p32",
)  # fmt: skip
"""Element types in the order of the driver's enumeration."""
_CODES = {name: code for code, (name, *_) in enumerate(ELEMENT_TYPES)}
_SWIZZLE_128 = 3  # the larger codes are a swizzle of 128 bytes with another atomicity
_LARGEST_RANK = 5
_BLACKWELL = (10, 0)
_HOPPER_TYPES = 13  # the other types, and other atomicities of the swizzle, need compute capability 10.0
_ALIGNMENT = 64  # bytes, of a tensor map
_ADDRESS_ALIGNMENT = 16  # bytes, of the address of a tensor
_WIDE_MODES = (0, 1)  # rows of any number of pixels, and of 128
_COMMON = "ptr map, i32 type, u32 rank, ptr address, ptr extents, ptr strides"
_TILE = "i32 swizzle, i32 promotion, i32 fill"
_LAYOUT = f"ptr steps, i32 interleave, {_TILE}"
"""Parameters that all functions have."""


def _numbers(connection: Connection, address: int, count: int, format: str) -> tuple[int, ...]:
    """Return numbers of the program. Errors: DriverError INVALID_VALUE for a null pointer."""
    if not count:
        return ()
    if not address:
        raise DriverError(Status.INVALID_VALUE)
    return struct.unpack(f"={count}{format}", connection.read(address, count * struct.calcsize(format)))


def _fields(
    connection: Connection, common: tuple[int, ...], layout: tuple[int, ...], **fields: int | tuple[int, ...]
) -> TensorMapFields:  # fmt: skip
    """Return the fields of the tensor map that a call describes.

    Errors: DriverError, ValueError, struct.error.
    """
    _, element, rank, address, extents, strides = common
    steps, interleave, swizzle, promotion, fill = layout
    return TensorMapFields(
        global_address=address,
        rank=rank,
        global_dim=pad_to_five(_numbers(connection, extents, rank, "Q")),
        global_stride=pad_to_five(_numbers(connection, strides, rank - 1, "Q"))[: _LARGEST_RANK - 1],
        element_stride=pad_to_five(_numbers(connection, steps, rank, "I")),
        elemtype=_CODES[_TYPES[element]],
        interleave=interleave,
        swizzle=min(swizzle, _SWIZZLE_128),
        swizzle_atomicity=max(swizzle - _SWIZZLE_128, 0),
        l2_promotion=promotion,
        fill=fill,
        **fields,  # pyright: ignore[reportArgumentType]
    )


def _tiled_fields(connection: Connection, words: tuple[int, ...]) -> TensorMapFields:
    """Return the tensor map that the arguments of cuTensorMapEncodeTiled describe. Errors: as `_fields`."""
    box = _numbers(connection, words[6], words[2] if words[2] <= _LARGEST_RANK else 0, "I")
    return _fields(connection, words[:6], words[7:], box=pad_to_five(box))


def _im2col_fields(connection: Connection, words: tuple[int, ...]) -> TensorMapFields:
    """Return the tensor map that the arguments of cuTensorMapEncodeIm2col describe. Errors: as `_fields`."""
    rank = words[2]
    if not 3 <= rank <= _LARGEST_RANK:
        raise DriverError(Status.INVALID_VALUE)
    lower, upper = (_numbers(connection, each, rank - 2, "i") for each in words[6:8])
    return _fields(
        connection, words[:6], words[10:], im2col_lower=(*lower, 0, 0)[:3], im2col_upper=(*upper, 0, 0)[:3],
        channels_per_pixel=words[8], pixels_per_column=words[9],
    )  # fmt: skip


def _wide_fields(connection: Connection, words: tuple[int, ...]) -> TensorMapFields:
    """Return the tensor map that the arguments of cuTensorMapEncodeIm2colWide describe.

    It is that of im2col with a box in the direction of the width only. The mode is not part of it (H100).

    Errors: as `_fields`.
    """
    lower, upper, channels, pixels, steps, interleave, mode, *layout = words[6:]
    if mode not in _WIDE_MODES or not 3 <= words[2] <= _LARGEST_RANK:
        raise DriverError(Status.INVALID_VALUE)
    return _fields(
        connection, words[:6], (steps, interleave, *layout), im2col_lower=(lower, 0, 0), im2col_upper=(upper, 0, 0),
        channels_per_pixel=channels, pixels_per_column=pixels,
    )  # fmt: skip


TENSOR_MAP_READERS: dict[str, Callable[[Connection, tuple[int, ...]], TensorMapFields]] = {
    "cuTensorMapEncodeTiled": _tiled_fields,
    "cuTensorMapEncodeIm2col": _im2col_fields,
    "cuTensorMapEncodeIm2colWide": _wide_fields,
}
"""Functions that return the tensor map of a call, by the driver function. Errors: as `_fields`."""


def _encode(call: DriverCall, symbol: str, values: tuple[int, ...], interleave: int) -> None:
    """Write a tensor map to the program. `interleave` is the index of this argument.

    Errors: DriverError INVALID_VALUE.
    """
    target, element, rank, _, _, strides = values[:6]
    _ = call.context
    is_blackwell = call.program.model.capability >= _BLACKWELL
    types, swizzles = (len(_TYPES), 7) if is_blackwell else (_HOPPER_TYPES, _SWIZZLE_128 + 1)
    if not strides or not target or target % _ALIGNMENT or not 1 <= rank <= _LARGEST_RANK or not 0 <= element < types:
        raise DriverError(Status.INVALID_VALUE)
    codes = (values[interleave], *values[-3:])
    if not all(0 <= code < count for code, count in zip(codes, (3, swizzles, 4, 2), strict=True)):
        raise DriverError(Status.INVALID_VALUE)
    try:
        found = TENSOR_MAP_READERS[symbol](call.connection, values)
        broken = found.validate()
        data = found.pack() if not broken else b""
    except (ValueError, OverflowError, struct.error) as error:
        broken, data = [str(error)], b""
    if broken:
        call.program.log.error(UsageError(f"invalid tensor map: {'; '.join(broken)}", code="exec.tensor-map"))
        raise DriverError(Status.INVALID_VALUE)
    call.connection.write(target, data)


@driver("cuTensorMapEncodeTiled", f"{_COMMON}, ptr box, {_LAYOUT}")
def _encode_tiled(call: DriverCall, *values: int) -> None:
    _encode(call, "cuTensorMapEncodeTiled", values, 8)


@driver("cuTensorMapEncodeIm2col", f"{_COMMON}, ptr lower, ptr upper, u32 channels, u32 pixels, {_LAYOUT}")
def _encode_im2col(call: DriverCall, *values: int) -> None:
    _encode(call, "cuTensorMapEncodeIm2col", values, 11)


@driver(
    "cuTensorMapEncodeIm2colWide",
    f"{_COMMON}, i32 lower, i32 upper, u32 channels, u32 pixels, ptr steps, i32 interleave, i32 mode, {_TILE}",
)
def _encode_im2col_wide(call: DriverCall, *values: int) -> None:
    _encode(call, "cuTensorMapEncodeIm2colWide", values, 11)


@driver("cuTensorMapReplaceAddress", "ptr map, ptr address")
def _replace_address(call: DriverCall, target: int, address: int) -> None:
    if not target or not address or address % _ADDRESS_ALIGNMENT:
        raise DriverError(Status.INVALID_VALUE)
    data = call.connection.read(target, TENSOR_MAP_BYTES)
    call.connection.write(target, struct.pack("<Q", address) + data[8:])
