"""Driver functions for 2D and 3D copies."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.graph import NodeKind, Operation
from warploom.integrations.cuda_driver.memory import LARGEST_PITCH, copy, segment_at
from warploom.integrations.cuda_driver.statuses import DriverError, Status
from warploom.integrations.cuda_driver.streams import enqueue

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import DriverCall

_PLANE = struct.Struct("=2QI4x4Q2QI4x4Q2Q")
_BOX = struct.Struct("=4QI4x6Q4QI4x6Q3Q")
_HOST, _DEVICE, _ARRAY, _UNIFIED = 1, 2, 3, 4
_MOST_ROWS = 1 << 26


class _Side(NamedTuple):
    """Source or destination of a copy.

    Units: `pitch` bytes from row to row, `slice` bytes from plane to plane.
    """

    address: int
    pitch: int
    slice: int


def _side(
    call: DriverCall, kind: int, host: int, device: int, array: int, position: tuple[int, int, int], pitch: int,
    height: int, width: int,
) -> _Side:  # fmt: skip
    """Return one side of a copy.

    `position` is the offset of the box in bytes, rows and planes. Errors: DriverError.
    """
    if kind == _ARRAY and array:
        call.refuse("a copy from or to a CUDA array")
        raise DriverError(Status.NOT_SUPPORTED)
    if kind not in (_HOST, _DEVICE, _UNIFIED):
        raise DriverError(Status.INVALID_VALUE)
    x, y, z = position
    start = host if kind == _HOST else device
    pitch = pitch or x + width
    if not x + width <= pitch <= LARGEST_PITCH or (width and not start):
        raise DriverError(Status.INVALID_VALUE)
    plane = pitch * (height or 1)
    first = start + x + y * pitch + z * plane
    if width and kind == _DEVICE and not call.program.is_device_address(first):
        raise DriverError(Status.INVALID_VALUE)
    return _Side(first, pitch, plane)


def _copy(call: DriverCall, to: _Side, source: _Side, width: int, height: int, depth: int) -> None:
    """Copy a box. Units: `width` bytes."""
    _ = call.context
    if not (width and height and depth):
        return
    if height * depth > _MOST_ROWS:
        raise DriverError(Status.INVALID_VALUE)
    for plane in range(depth):
        first, second = to.address + plane * to.slice, source.address + plane * source.slice
        if to.pitch == source.pitch == width:
            copy(call, first, second, width * height)
            continue
        for row in range(height):
            copy(call, first + row * to.pitch, second + row * source.pitch, width)


def _checked(call: DriverCall, to: _Side, source: _Side, width: int, height: int, depth: int) -> Operation:
    """Return the copy of a box.

    Errors: DriverError INVALID_VALUE if a row is outside of the allocation of the first row.
    """
    for side in (to, source):
        if width and height and depth and call.program.is_device_address(side.address):
            size = (depth - 1) * side.slice + (height - 1) * side.pitch + width
            segment_at(call, side.address, size, is_planned=True)
    return lambda now: _copy(now, to, source, width, height, depth)


def copy_plane(call: DriverCall, address: int) -> Operation:
    """Return a function that performs the 2D copy of the CUDA_MEMCPY2D at an address. Errors: DriverError."""
    if not address:
        raise DriverError(Status.INVALID_VALUE)
    (
        x,
        y,
        kind,
        host,
        device,
        array,
        pitch,
        to_x,
        to_y,
        to_kind,
        to_host,
        to_device,
        to_array,
        to_pitch,
        width,
        height,
    ) = _PLANE.unpack(call.connection.read(address, _PLANE.size))
    source = _side(call, kind, host, device, array, (x, y, 0), pitch, 0, width)
    to = _side(call, to_kind, to_host, to_device, to_array, (to_x, to_y, 0), to_pitch, 0, width)
    return _checked(call, to, source, width, height, 1)


def copy_box(call: DriverCall, address: int, *, is_node: bool = False) -> Operation:
    """Return a function that performs the 3D copy of the CUDA_MEMCPY3D at an address.

    The copy of a node may not be empty. Errors: DriverError.
    """
    if not address:
        raise DriverError(Status.INVALID_VALUE)
    fields = _BOX.unpack(call.connection.read(address, _BOX.size))
    width, height, depth = fields[-3:]
    if is_node and not (width and height and depth):
        raise DriverError(Status.INVALID_VALUE)
    sides: list[_Side] = []
    for x, y, z, _, kind, host, device, array, _, pitch, rows in (fields[:11], fields[11:22]):
        if rows and rows < y + height:
            raise DriverError(Status.INVALID_VALUE)
        sides.append(_side(call, kind, host, device, array, (x, y, z), pitch, rows, width))
    source, to = sides
    return _checked(call, to, source, width, height, depth)


@driver("cuMemcpy2D_v2 cuMemcpy2DUnaligned_v2", "ptr parameters")
def _copy_plane(call: DriverCall, parameters: int) -> None:
    copy_plane(call, parameters)(call)


@driver("cuMemcpy2DAsync_v2", "ptr parameters, ptr stream")
def _copy_plane_async(call: DriverCall, parameters: int, stream: int) -> None:
    enqueue(call, stream, NodeKind.COPY, copy_plane(call, parameters))


@driver("cuMemcpy3D_v2", "ptr parameters")
def _copy_box(call: DriverCall, parameters: int) -> None:
    copy_box(call, parameters)(call)


@driver("cuMemcpy3DAsync_v2", "ptr parameters, ptr stream")
def _copy_box_async(call: DriverCall, parameters: int, stream: int) -> None:
    enqueue(call, stream, NodeKind.COPY, copy_box(call, parameters))
