"""Driver functions for the attributes of addresses, and hints about managed memory."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.graph import NodeKind, do_nothing
from warploom.integrations.cuda_driver.memory import segment_at
from warploom.integrations.cuda_driver.statuses import DriverError, Status
from warploom.integrations.cuda_driver.streams import DEFAULT_STREAMS, enqueue, invalidate, valid_capture_of

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import DriverCall

_HOST_MEMORY, _DEVICE_MEMORY = 1, 2
_SYNCHRONOUS = 6
_READ_AND_WRITE = 3
_RANGE = (11, 12)  # attributes that are not written for unknown addresses
_WORDS = (2, 6, 8, 9, 10, 13, 15, 16, 21)  # attributes of 4 bytes


def _pointer_attribute(call: DriverCall, attribute: int, address: int) -> bytes | None:
    """Return an attribute of an address, or None if it has no such attribute."""
    segment = call.program.memory.find(address)
    if segment is None:
        return None
    mapped = call.program.mapped.get(segment.start)
    is_host = mapped is not None and not mapped.is_managed
    host = address if mapped is not None else 0
    context = call.thread.contexts[-1] if call.thread.contexts else call.program.primary
    values: dict[int, tuple[str, int]] = {
        1: ("Q", call.program.handle_of(context)),
        2: ("I", _HOST_MEMORY if is_host else _DEVICE_MEMORY),
        3: ("Q", address),
        4: ("Q", host),
        _SYNCHRONOUS: ("I", int(call.program.synchronous.get(segment.start, host != 0 and not is_host))),
        7: ("Q", segment.start),
        8: ("I", int(mapped is not None and mapped.is_managed)),
        9: ("I", 0),
        10: ("I", int(mapped is None)),
        11: ("Q", segment.start),
        12: ("Q", segment.size),
        13: ("I", 1),
        14: ("Q", 0),  # no handles that other processes can open
        15: ("I", 0),
        16: ("I", _READ_AND_WRITE),
        17: ("Q", 0),
        18: ("Q", segment.size),
        19: ("Q", segment.start),
        20: ("Q", segment.start),
        21: ("I", 0),
    }
    if attribute not in values:
        raise DriverError(Status.INVALID_VALUE)
    layout, value = values[attribute]
    return struct.pack(f"={layout}", value)


@driver("cuPointerGetAttribute", "ptr data, i32 attribute, u64 address")
def _get_attribute(call: DriverCall, data: int, attribute: int, address: int) -> None:
    found = _pointer_attribute(call, attribute, address)
    if found is None or not data or (attribute == 4 and found == bytes(8)):
        raise DriverError(Status.INVALID_VALUE)
    call.connection.write(data, found)


@driver("cuPointerGetAttributes", "u32 count, ptr attributes, ptr data, u64 address")
def _get_attributes(call: DriverCall, count: int, attributes: int, data: int, address: int) -> None:
    _ = call.context
    if not (count and attributes and data):
        raise DriverError(Status.INVALID_VALUE)
    numbers, targets = call.connection.read_all([(attributes, 4 * count), (data, 8 * count)])
    for attribute, target in zip(
        struct.unpack(f"={count}i", numbers), struct.unpack(f"={count}Q", targets), strict=True
    ):
        found = _pointer_attribute(call, attribute, address)
        if found is None and attribute in _RANGE:
            continue
        size = 4 if attribute in _WORDS else 8
        unknown = b"\xfe\xff\xff\xff" if attribute == 9 else bytes(size)  # device -2 for memory without a device
        call.connection.write(target, unknown if found is None else found)


@driver("cuPointerSetAttribute", "ptr value, i32 attribute, u64 address")
def _set_attribute(call: DriverCall, value: int, attribute: int, address: int) -> None:
    segment = segment_at(call, address)
    if attribute != _SYNCHRONOUS or not value:
        raise DriverError(Status.INVALID_VALUE)
    call.program.synchronous[segment.start] = call.connection.read(value, 4) != bytes(4)


# Hints about managed memory ---------------------------------------------------------------------------------------

_ADVICE = range(1, 7)
_HOST = -1  # number of the host as a place
_ONE_STREAM = 4
_ATTACH_FLAGS = (1, 2, _ONE_STREAM)  # all streams, only the host, one stream


def _check_managed(call: DriverCall, address: int, size: int, device: int = 0) -> None:
    """Refuse addresses outside of managed memory, and unknown devices. Errors: DriverError."""
    _ = call.context
    if not size:
        raise DriverError(Status.INVALID_VALUE)
    mapped = call.program.mapped.get(segment_at(call, address, size).start)
    if mapped is None or not mapped.is_managed:
        raise DriverError(Status.INVALID_VALUE)
    if device not in (_HOST, 0):
        raise DriverError(Status.INVALID_DEVICE)


@driver("cuMemAdvise", "u64 address, size bytes, i32 advice, i32 device")
def _advise(call: DriverCall, address: int, size: int, advice: int, device: int) -> None:
    if advice not in _ADVICE:
        raise DriverError(Status.INVALID_VALUE)
    _check_managed(call, address, size, device)


@driver("cuMemAdvise_v2", "u64 address, size bytes, i32 advice, u64 place")
def _advise_2(call: DriverCall, address: int, size: int, advice: int, place: int) -> None:
    _advise(call, address, size, advice, 0)


@driver("cuMemPrefetchAsync", "u64 address, size bytes, i32 device, ptr stream")
def _prefetch(call: DriverCall, address: int, size: int, device: int, stream: int) -> None:
    _check_managed(call, address, size, device)
    enqueue(call, stream, NodeKind.EMPTY, do_nothing)


@driver("cuMemPrefetchAsync_v2", "u64 address, size bytes, u64 place, u32 flags, ptr stream")
def _prefetch_2(call: DriverCall, address: int, size: int, place: int, flags: int, stream: int) -> None:
    if flags:
        raise DriverError(Status.INVALID_VALUE)
    _prefetch(call, address, size, 0, stream)


@driver("cuStreamAttachMemAsync", "ptr stream, u64 address, size bytes, u32 flags")
def _attach(call: DriverCall, stream: int, address: int, size: int, flags: int) -> None:
    found = valid_capture_of(call, stream)
    invalidate(() if found is None else found[1:], Status.STREAM_CAPTURE_UNSUPPORTED)
    if flags not in _ATTACH_FLAGS or (flags == _ONE_STREAM and stream in DEFAULT_STREAMS):
        raise DriverError(Status.INVALID_VALUE)
    segment = segment_at(call, address)
    if segment.start != address or size not in (0, segment.size):
        raise DriverError(Status.INVALID_VALUE)
    _check_managed(call, address, segment.size)
