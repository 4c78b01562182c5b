"""Driver functions for memory pools, and for allocations in the order of a stream.

All pools share the memory of the device.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.graph_memory import add_allocation, add_free, memory_of
from warploom.integrations.cuda_driver.memory import allocate, free
from warploom.integrations.cuda_driver.statuses import DriverError, Status
from warploom.integrations.cuda_driver.streams import valid_capture_of

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


# Allocations in the order of a stream -------------------------------------------------------------------------------


@driver("cuMemAllocAsync", "out u64 address, size bytes, ptr stream")
def _allocate_async(call: DriverCall, size: int, stream: int) -> int:
    found = valid_capture_of(call, stream)
    if not size:
        return 0
    if found is None:
        return allocate(call, size).start
    origin, capture = found
    node = add_allocation(call, capture.graph, capture.latest[origin], size)
    capture.latest[origin] = [node]
    return memory_of(node, node.kind).segment.start


@driver("cuMemAllocFromPoolAsync", "out u64 address, size bytes, ptr pool, ptr stream")
def _allocate_from_pool(call: DriverCall, size: int, pool: int, stream: int) -> int:
    if not pool:
        raise DriverError(Status.INVALID_VALUE)
    return _allocate_async(call, size, stream)


@driver("cuMemFreeAsync", "u64 address, ptr stream")
def _free_async(call: DriverCall, address: int, stream: int) -> None:
    found = valid_capture_of(call, stream)
    if not address:
        return
    if (mapped := call.program.mapped.get(address)) is not None:
        raise DriverError(Status.NOT_SUPPORTED if mapped.is_managed else Status.INVALID_VALUE)
    if found is None:
        free(call, address)
        return
    origin, capture = found
    capture.latest[origin] = [add_free(call, capture.graph, capture.latest[origin], address)]


# Memory of graphs -------------------------------------------------------------------------------------------------

_GRAPH_ATTRIBUTES = range(4)  # used, its maximum, reserved, its maximum
_GRAPH_MAXIMA = (1, 3)


@driver("cuDeviceGetGraphMemAttribute", "i32 device, i32 attribute, ptr value")
def _get_graph_attribute(call: DriverCall, device: int, attribute: int, address: int) -> None:
    call.device(device)
    if attribute not in _GRAPH_ATTRIBUTES or not address:
        raise DriverError(Status.INVALID_VALUE)
    used = sum(each.segment.size for each in call.program.graph_memory.values() if each.is_live)
    call.connection.write(address, struct.pack("=Q", used))


@driver("cuDeviceSetGraphMemAttribute", "i32 device, i32 attribute, ptr value")
def _set_graph_attribute(call: DriverCall, device: int, attribute: int, address: int) -> None:
    call.device(device)
    if attribute not in _GRAPH_MAXIMA or not address or call.connection.read_word(address):
        raise DriverError(Status.INVALID_VALUE)


@driver("cuDeviceGraphMemTrim", "i32 device")
def _trim_graph_memory(call: DriverCall, device: int) -> None:
    call.device(device)
