"""Driver functions for memory: allocations, copies, fills and the attributes of addresses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from warploom.diagnostics import UsageError
from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.arena import Segment
from warploom.integrations.cuda_driver.functions import driver
from warploom.integrations.cuda_driver.graph import NodeKind, Operation, do_nothing
from warploom.integrations.cuda_driver.program import CudaProgram, GraphMemory, Mapped
from warploom.integrations.cuda_driver.statuses import DriverError, Status
from warploom.integrations.cuda_driver.streams import enqueue
from warploom.runtime.sessions.device_memory import PAGE_BYTES

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.program import DriverCall

_PITCH = 512
LARGEST_PITCH = (1 << 31) - 1
"""Largest number of bytes from row to row. Source: the device's attribute MAX_PITCH."""
_MOST_BYTES = 1 << 24  # of a copy through the connection
_HOST_FLAGS = 7  # portable, mapped, write-combined
_IS_MAPPED = 2  # flag that all host memory has
_REGISTER_FLAGS = 15  # portable, mapped, memory of a device, read-only
_MANAGED_FLAGS = (1, 2)  # global, host

# Allocations ------------------------------------------------------------------------------------------------------


def allocate(call: DriverCall, size: int, alignment: int = _PITCH) -> Segment:
    """Allocate device memory. Errors: DriverError INVALID_VALUE, OUT_OF_MEMORY."""
    context, program = call.context, call.program
    if size == 0:
        raise DriverError(Status.INVALID_VALUE)
    try:
        segment = program.memory.allocate(program.allocation_name(), size, alignment=alignment)
    except UsageError:
        raise DriverError(Status.OUT_OF_MEMORY) from None
    program.owners[segment.start] = context
    return segment


def _allocate_mapped(call: DriverCall, size: int, *, is_managed: bool, flags: int) -> int:
    """Allocate memory that the program and kernels can access at the same address, and return the address."""
    segment = allocate(call, size, PAGE_BYTES)
    try:
        map_segment(call, segment, is_managed=is_managed, flags=flags)
    except DriverError:
        call.program.memory.free(segment)
        raise
    return segment.start


def map_segment(call: DriverCall, segment: Segment, *, is_managed: bool, flags: int) -> None:
    """Let the program access an allocation that starts at a page. Errors: DriverError OUT_OF_MEMORY."""
    mapped = -(-segment.size // PAGE_BYTES) * PAGE_BYTES
    if not call.connection.map(segment.start - GLOBAL_BASE, segment.start, mapped):
        raise DriverError(Status.OUT_OF_MEMORY)
    call.program.mapped[segment.start] = Mapped(segment, mapped, is_managed, flags)


def unmap_segment(call: DriverCall, segment: Segment) -> None:
    """Remove an allocation from the program if the program can access it."""
    mapped = call.program.mapped.pop(segment.start, None)
    if mapped is not None:
        call.connection.unmap(segment.start, mapped.size)


def text_address(call: DriverCall, text: str) -> int:
    """Return an address at which the program can read a text. The text remains there."""
    return data_address(call, text.encode() + b"\0")


def data_address(call: DriverCall, data: bytes) -> int:
    """Return an address at which the program can read bytes. The bytes remain there."""
    constants = call.program.constants
    if data not in constants:
        constants[data] = _allocate_mapped(call, len(data), is_managed=False, flags=0)
        call.program.memory.view(constants[data], len(data))[:] = memoryview(data)
    return constants[data]


def segment_at(call: DriverCall, address: int, size: int = 0, *, is_planned: bool = False) -> Segment:
    """Return the allocation that contains `size` bytes at an address.

    `is_planned` is True for an operation that may run later, when the memory of a graph exists.

    Errors: DriverError INVALID_VALUE.
    """
    found = call.program.memory.find(address, hidden=is_planned)
    if found is None or address + size > found.start + found.size:
        raise DriverError(Status.INVALID_VALUE)
    return found


@driver("cuMemGetInfo_v2", "out? size free, out? size total")
def _info(call: DriverCall) -> tuple[int, int]:
    _ = call.context
    return call.program.memory.free_bytes, call.program.model.memory


@driver("cuMemAlloc_v2", "out u64 address, size bytes")
def _allocate(call: DriverCall, size: int) -> int:
    return allocate(call, size).start


@driver("cuMemAllocPitch_v2", "out u64 address, out size pitch, size width, size height, u32 element")
def _allocate_pitch(call: DriverCall, width: int, height: int, element: int) -> tuple[int, int]:
    if element not in (4, 8, 16):
        raise DriverError(Status.INVALID_VALUE)
    pitch = -(-width // _PITCH) * _PITCH
    return allocate(call, pitch * height).start, pitch


def free(call: DriverCall, address: int) -> None:
    """Free an allocation. Errors: DriverError INVALID_VALUE."""
    if (memory := call.program.graph_memory.get(address)) is not None:
        if not memory.is_live:
            raise DriverError(Status.INVALID_VALUE)
        free_graph_memory(call.program, memory)
        return
    if call.program.owners.pop(address, None) is None:
        raise DriverError(Status.INVALID_VALUE)
    segment = segment_at(call, address)
    unmap_segment(call, segment)
    call.program.memory.free(segment)


def free_graph_memory(program: CudaProgram, memory: GraphMemory) -> None:
    """Free the memory of a graph. Its addresses remain reserved while a graph can allocate it again."""
    memory.is_live = False
    program.memory.hide(memory.segment)
    release_graph_memory(program, memory)


def release_graph_memory(program: CudaProgram, memory: GraphMemory) -> None:
    """Give up the addresses of a graph's memory if it is freed and no graph can allocate it again."""
    if not memory.users and not memory.is_live and program.graph_memory.pop(memory.segment.start, None) is not None:
        program.owners.pop(memory.segment.start, None)
        program.memory.free(memory.segment)


@driver("cuMemFree_v2", "u64 address")
def _free_memory(call: DriverCall, address: int) -> None:
    if not address:
        return
    _ = call.context
    if (mapped := call.program.mapped.get(address)) is not None and not mapped.is_managed:
        raise DriverError(Status.INVALID_VALUE)
    free(call, address)


@driver("cuMemHostAlloc", "out ptr address, size bytes, u32 flags")
def _allocate_host(call: DriverCall, size: int, flags: int) -> int:
    _ = call.context
    if flags & ~_HOST_FLAGS:
        raise DriverError(Status.INVALID_VALUE)
    return _allocate_mapped(call, size, is_managed=False, flags=flags | _IS_MAPPED) if size else 0


@driver("cuMemAllocHost_v2", "out ptr address, size bytes")
def _allocate_pinned(call: DriverCall, size: int) -> int:
    return _allocate_host(call, size, 0)


@driver("cuMemAllocManaged", "out u64 address, size bytes, u32 flags")
def _allocate_managed(call: DriverCall, size: int, flags: int) -> int:
    if flags not in _MANAGED_FLAGS:
        raise DriverError(Status.INVALID_VALUE)
    return _allocate_mapped(call, size, is_managed=True, flags=flags)


@driver("cuMemFreeHost", "ptr address")
def _free_host(call: DriverCall, address: int) -> None:
    _ = call.context
    if not address:
        return
    mapped = call.program.mapped.get(address)
    if address and (mapped is None or mapped.is_managed):
        raise DriverError(Status.INVALID_VALUE)
    if address:
        free(call, address)


@driver("cuMemHostGetDevicePointer_v2", "out u64 address, ptr host, u32 flags")
def _device_pointer(call: DriverCall, address: int, flags: int) -> int:
    _ = call.context
    if _registered_at(call, address) is not None and not flags:
        call.refuse("the device address of memory that cuMemHostRegister registered")
        raise DriverError(Status.NOT_SUPPORTED)
    mapped = _mapped_at(call, address)
    if flags or mapped is None or mapped.is_managed:
        raise DriverError(Status.INVALID_VALUE)
    return address


def _mapped_at(call: DriverCall, address: int) -> Mapped | None:
    """Return the allocation at an address if the program can access it."""
    found = call.program.memory.find(address)
    return None if found is None else call.program.mapped.get(found.start)


def _registered_at(call: DriverCall, address: int) -> int | None:
    """Return the start of the registered memory of the program at an address, or None."""
    ranges = call.program.registered.items()
    return next((start for start, size in ranges if start <= address < start + size), None)


@driver("cuMemHostGetFlags", "out u32 flags, ptr address")
def _host_flags(call: DriverCall, address: int) -> int:
    _ = call.context
    if _registered_at(call, address) is not None:
        return _IS_MAPPED
    mapped = _mapped_at(call, address)
    if mapped is None:
        raise DriverError(Status.INVALID_VALUE)
    return _IS_MAPPED if mapped.is_managed else mapped.flags


@driver("cuMemHostRegister_v2", "ptr address, size bytes, u32 flags")
def _register(call: DriverCall, address: int, size: int, flags: int) -> None:
    _ = call.context
    program = call.program
    if not address or not size or flags & ~_REGISTER_FLAGS:
        raise DriverError(Status.INVALID_VALUE)
    if program.memory.find(address) is not None:
        raise DriverError(Status.INVALID_VALUE)
    if any(start < address + size and address < start + length for start, length in program.registered.items()):
        raise DriverError(Status.HOST_MEMORY_ALREADY_REGISTERED)
    program.registered[address] = size


@driver("cuMemHostUnregister", "ptr address")
def _unregister(call: DriverCall, address: int) -> None:
    _ = call.context
    if not address:
        raise DriverError(Status.INVALID_VALUE)
    if address not in call.program.registered:
        is_known = call.program.memory.find(address) is not None or _registered_at(call, address) is not None
        raise DriverError(Status.INVALID_VALUE if is_known else Status.HOST_MEMORY_NOT_REGISTERED)
    del call.program.registered[address]


@driver("cuMemGetAddressRange_v2", "out? u64 start, out? size bytes, u64 address")
def _range(call: DriverCall, address: int) -> tuple[int, int]:
    found = call.program.memory.find(address)
    if found is None:
        raise DriverError(Status.NOT_FOUND)
    return found.start, found.size


# Copies -----------------------------------------------------------------------------------------------------------


def check_copy(call: DriverCall, to: int, source: int, size: int, *, is_planned: bool = False) -> None:
    """Refuse null pointers, and ranges of device memory that are not within one allocation.

    `segment_at` describes `is_planned`. Errors: DriverError INVALID_VALUE.
    """
    for address in (to, source):
        if size and not address:
            raise DriverError(Status.INVALID_VALUE)
        if size and call.program.is_device_address(address):
            segment_at(call, address, size, is_planned=is_planned)


def copy(call: DriverCall, to: int, source: int, size: int) -> None:
    """Copy bytes between the program's memory and device memory, or within one of them.

    Errors: DriverError INVALID_VALUE if a range of device memory is not within one allocation.
    """
    if not size:
        return
    check_copy(call, to, source, size)
    program, connection = call.program, call.connection
    to_device, from_device = program.is_device_address(to), program.is_device_address(source)
    if to_device and from_device:
        connection.synchronize()
        program.memory.view(to, size)[:] = program.memory.view(source, size)
    elif to_device:
        connection.to_device(to - GLOBAL_BASE, source, size)
    elif from_device:
        connection.from_device(source - GLOBAL_BASE, to, size)
    else:
        for start in range(0, size, _MOST_BYTES):
            part = min(_MOST_BYTES, size - start)
            connection.write(to + start, connection.read(source + start, part))


def _copy_checked(call: DriverCall, to: int, source: int, size: int) -> None:
    _ = call.context
    copy(call, to, source, size)


def _enqueue_copy(
    call: DriverCall, stream: int, run: Callable[[DriverCall, int, int, int], None], to: int, source: int, size: int
) -> None:  # fmt: skip
    """Copy bytes in the order of a stream. Errors: as `check_copy`, before the copy."""
    check_copy(call, to, source, size, is_planned=True)
    enqueue(call, stream, NodeKind.COPY, lambda now: run(now, to, source, size))


def _on_device(call: DriverCall, size: int, *addresses: int) -> None:
    """Refuse a copy of `size` bytes at addresses that are not in the device memory.

    Errors: DriverError INVALID_VALUE.
    """
    _ = call.context
    if size and not all(map(call.program.is_device_address, addresses)):
        raise DriverError(Status.INVALID_VALUE)


@driver("cuMemcpy", "u64 to, u64 source, size bytes")
def _copy_any(call: DriverCall, to: int, source: int, size: int) -> None:
    _copy_checked(call, to, source, size)


@driver("cuMemcpyAsync", "u64 to, u64 source, size bytes, ptr stream")
def _copy_any_async(call: DriverCall, to: int, source: int, size: int, stream: int) -> None:
    _enqueue_copy(call, stream, _copy_checked, to, source, size)


@driver("cuMemcpyHtoD_v2", "u64 to, ptr source, size bytes")
def _copy_in(call: DriverCall, to: int, source: int, size: int) -> None:
    _on_device(call, size, to)
    _copy_checked(call, to, source, size)


@driver("cuMemcpyHtoDAsync_v2", "u64 to, ptr source, size bytes, ptr stream")
def _copy_in_async(call: DriverCall, to: int, source: int, size: int, stream: int) -> None:
    _enqueue_copy(call, stream, _copy_in, to, source, size)


@driver("cuMemcpyDtoH_v2", "ptr to, u64 source, size bytes")
def _copy_out(call: DriverCall, to: int, source: int, size: int) -> None:
    _on_device(call, size, source)
    _copy_checked(call, to, source, size)


@driver("cuMemcpyDtoHAsync_v2", "ptr to, u64 source, size bytes, ptr stream")
def _copy_out_async(call: DriverCall, to: int, source: int, size: int, stream: int) -> None:
    _enqueue_copy(call, stream, _copy_out, to, source, size)


@driver("cuMemcpyDtoD_v2", "u64 to, u64 source, size bytes")
def _copy_within(call: DriverCall, to: int, source: int, size: int) -> None:
    _on_device(call, size, to, source)
    _copy_checked(call, to, source, size)


@driver("cuMemcpyDtoDAsync_v2", "u64 to, u64 source, size bytes, ptr stream")
def _copy_within_async(call: DriverCall, to: int, source: int, size: int, stream: int) -> None:
    _enqueue_copy(call, stream, _copy_within, to, source, size)


@driver("cuMemcpyPeer", "u64 to, ptr context, u64 source, ptr other, size bytes")
def _copy_peer(call: DriverCall, to: int, context: int, source: int, other: int, size: int) -> None:
    for handle in filter(None, (context, other)):  # null is the current context
        call.context_of(handle)
    _copy_within(call, to, source, size)


@driver("cuMemcpyPeerAsync", "u64 to, ptr context, u64 source, ptr other, size bytes, ptr stream")
def _copy_peer_async(
    call: DriverCall, to: int, context: int, source: int, other: int, size: int, stream: int
) -> None:  # fmt: skip
    for handle in filter(None, (context, other)):  # null is the current context
        call.context_of(handle)
    _enqueue_copy(call, stream, _copy_within, to, source, size)


# Fills ------------------------------------------------------------------------------------------------------------


def fill(
    call: DriverCall, address: int, value: int, element: int, width: int, pitch: int = 0, height: int = 1
) -> Operation:  # fmt: skip
    """Return the operation that fills rows of device memory with a value of `element` bytes.

    Units: `width` elements, `pitch` bytes. Errors: DriverError INVALID_VALUE.
    """
    _ = call.context
    if not width or not height:
        return do_nothing
    if address % element or (height > 1 and (pitch < width * element or pitch % element)):
        raise DriverError(Status.INVALID_VALUE)
    segment_at(call, address, (height - 1) * pitch + width * element, is_planned=True)

    def run(now: DriverCall) -> None:
        segment_at(now, address, (height - 1) * pitch + width * element)
        now.connection.synchronize()
        for i in range(height):
            row = now.program.memory.view(address + i * pitch, width * element)
            row.view(f"u{element}")[:] = value & ((1 << 8 * element) - 1)

    return run


def _declare_fill(element: int) -> None:
    """Register the functions that fill memory with values of `element` bytes."""

    def fill_row(call: DriverCall, address: int, value: int, count: int, stream: int = 0) -> None:
        enqueue(call, stream, NodeKind.FILL, fill(call, address, value, element, count))

    def fill_rows(
        call: DriverCall, address: int, pitch: int, value: int, width: int, height: int, stream: int = 0
    ) -> None:  # fmt: skip
        enqueue(call, stream, NodeKind.FILL, fill(call, address, value, element, width, pitch, height))

    row, rows = "u64 address, u32 value, size count", "u64 address, size pitch, u32 value, size width, size height"
    bits = 8 * element
    driver(f"cuMemsetD{bits}_v2", row)(fill_row)
    driver(f"cuMemsetD{bits}Async", f"{row}, ptr stream")(fill_row)
    driver(f"cuMemsetD2D{bits}_v2", rows)(fill_rows)
    driver(f"cuMemsetD2D{bits}Async", f"{rows}, ptr stream")(fill_rows)


for _element in (1, 2, 4):
    _declare_fill(_element)
