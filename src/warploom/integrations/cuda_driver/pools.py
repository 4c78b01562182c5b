"""Driver functions for memory pools. All pools share the memory of the device."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.statuses import DriverError, Status

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import DriverCall

_RESERVED, _RESERVED_HIGH, _USED, _USED_HIGH = 5, 6, 7, 8
_REUSE = (1, 2, 3)
_PROPERTIES = 88  # bytes of CUmemPoolProps


@dataclass(eq=False)
class Pool:
    """Memory pool. `attributes` has the numbers of CUmemPool_attribute as keys."""

    attributes: dict[int, int] = field(default_factory=lambda: dict.fromkeys(_REUSE, 1) | dict.fromkeys(range(4, 9), 0))


def _pool(call: DriverCall, handle: int) -> Pool:
    return call.get(Pool, handle, Status.INVALID_VALUE)


def _current(call: DriverCall) -> object:
    """Return the current pool of the device. The first call creates the default pool."""
    program = call.program
    if program.pool is None:
        program.pool = program.default_pool = Pool()
    return program.pool


@driver("cuDeviceGetDefaultMemPool", "out ptr pool, i32 device")
def _get_default(call: DriverCall, device: int) -> int:
    call.device(device)
    _current(call)
    return call.program.handle_of(call.program.default_pool)


@driver("cuDeviceGetMemPool", "out ptr pool, i32 device")
def _get(call: DriverCall, device: int) -> int:
    call.device(device)
    return call.program.handle_of(_current(call))


@driver("cuDeviceSetMemPool", "i32 device, ptr pool")
def _set(call: DriverCall, device: int, handle: int) -> None:
    call.device(device)
    _current(call)
    call.program.pool = _pool(call, handle)


@driver("cuMemPoolCreate", "out ptr pool, ptr properties")
def _create(call: DriverCall, properties: int) -> int:
    if not properties:
        raise DriverError(Status.INVALID_VALUE)
    (kind,) = struct.unpack_from("=i", call.connection.read(properties, _PROPERTIES))
    if kind != 1:
        raise DriverError(Status.INVALID_VALUE)
    return call.program.handle_of(Pool())


@driver("cuMemPoolDestroy", "ptr pool")
def _destroy(call: DriverCall, handle: int) -> None:
    pool = _pool(call, handle)
    if pool is call.program.default_pool:
        raise DriverError(Status.INVALID_VALUE)
    call.program.drop(pool)


@driver("cuMemPoolTrimTo", "ptr pool, size bytes")
def _trim(call: DriverCall, handle: int, size: int) -> None:
    _pool(call, handle)


@driver("cuMemPoolGetAttribute", "ptr pool, i32 attribute, ptr value")
def _get_attribute(call: DriverCall, handle: int, attribute: int, address: int) -> None:
    attributes = _pool(call, handle).attributes
    if attribute not in attributes or not address:
        raise DriverError(Status.INVALID_VALUE)
    value = attributes[attribute]
    if attribute in (_USED, _RESERVED):
        value = call.program.model.memory - call.program.memory.free_bytes
    call.connection.write(address, struct.pack("=i" if attribute in _REUSE else "=Q", value))


@driver("cuMemPoolSetAttribute", "ptr pool, i32 attribute, ptr value")
def _set_attribute(call: DriverCall, handle: int, attribute: int, address: int) -> None:
    attributes = _pool(call, handle).attributes
    if attribute not in attributes or not address or attribute in (_RESERVED, _USED):
        raise DriverError(Status.INVALID_VALUE)
    layout = struct.Struct("=i" if attribute in _REUSE else "=Q")
    (value,) = layout.unpack(call.connection.read(address, layout.size))
    if attribute in (_RESERVED_HIGH, _USED_HIGH) and value:
        raise DriverError(Status.INVALID_VALUE)
    attributes[attribute] = value


@driver("cuMemPoolSetAccess", "ptr pool, ptr descriptions, size count")
def _set_access(call: DriverCall, handle: int, descriptions: int, count: int) -> None:
    _pool(call, handle)
