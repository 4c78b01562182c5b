"""Cases of allocations and fills."""

from __future__ import annotations

import ctypes

from warploom_lab.driver.case import Driver, Word, calls, case

_WORD = Word()
_PAGE = 4096
_ODD = 0x1000  # an address that no allocation has

calls("memory", {
    "allocate_null": ("cuMemAlloc_v2", None, 16),
    "allocate_nothing": ("cuMemAlloc_v2", _WORD, 0),
    "allocate_null_and_nothing": ("cuMemAlloc_v2", None, 0),
    "allocate_too_much": ("cuMemAlloc_v2", _WORD, 1 << 46),
    "allocate_everything": ("cuMemAlloc_v2", _WORD, (1 << 64) - 1),
    "free_null": ("cuMemFree_v2", 0),
    "free_unknown": ("cuMemFree_v2", _ODD),
    "free_host_null": ("cuMemFreeHost", None),
    "pitch_null": ("cuMemAllocPitch_v2", None, _WORD, 16, 16, 4),
    "pitch_null_pitch": ("cuMemAllocPitch_v2", _WORD, None, 16, 16, 4),
    "pitch_no_width": ("cuMemAllocPitch_v2", _WORD, _WORD, 0, 16, 4),
    "pitch_no_height": ("cuMemAllocPitch_v2", _WORD, _WORD, 16, 0, 4),
    "pitch_element_0": ("cuMemAllocPitch_v2", _WORD, _WORD, 16, 16, 0),
    "pitch_element_1": ("cuMemAllocPitch_v2", _WORD, _WORD, 16, 16, 1),
    "pitch_element_2": ("cuMemAllocPitch_v2", _WORD, _WORD, 16, 16, 2),
    "pitch_element_5": ("cuMemAllocPitch_v2", _WORD, _WORD, 16, 16, 5),
    "pitch_element_32": ("cuMemAllocPitch_v2", _WORD, _WORD, 16, 16, 32),
    "pitch_too_wide": ("cuMemAllocPitch_v2", _WORD, _WORD, 1 << 32, 1, 4),
    "host_null": ("cuMemAllocHost_v2", None, 16),
    "host_nothing": ("cuMemAllocHost_v2", _WORD, 0),
    "host_flags": ("cuMemHostAlloc", _WORD, 16, 0x100),
    "host_flags_8": ("cuMemHostAlloc", _WORD, 16, 8),
    "host_alloc_null": ("cuMemHostAlloc", None, 16, 0),
    "host_alloc_nothing": ("cuMemHostAlloc", _WORD, 0, 0),
    "managed_null": ("cuMemAllocManaged", None, 16, 1),
    "managed_nothing": ("cuMemAllocManaged", _WORD, 0, 1),
    "managed_flags_0": ("cuMemAllocManaged", _WORD, 16, 0),
    "managed_flags_3": ("cuMemAllocManaged", _WORD, 16, 3),
    "managed_flags_4": ("cuMemAllocManaged", _WORD, 16, 4),
    "managed_flags_8": ("cuMemAllocManaged", _WORD, 16, 8),
    "info_null_free": ("cuMemGetInfo_v2", None, _WORD),
    "info_null_total": ("cuMemGetInfo_v2", _WORD, None),
    "range_unknown": ("cuMemGetAddressRange_v2", _WORD, _WORD, _ODD),
    "range_null": ("cuMemGetAddressRange_v2", _WORD, _WORD, 0),
    "async_nothing": ("cuMemAllocAsync", _WORD, 0, 0),
    "async_null": ("cuMemAllocAsync", None, 16, 0),
    "async_too_much": ("cuMemAllocAsync", _WORD, 1 << 46, 0),
    "free_async_null": ("cuMemFreeAsync", 0, 0),
    "free_async_unknown": ("cuMemFreeAsync", _ODD, 0),
    "from_no_pool": ("cuMemAllocFromPoolAsync", _WORD, 16, None, 0),
    "register_null": ("cuMemHostRegister_v2", None, 16, 0),
    "unregister_null": ("cuMemHostUnregister", None),
    "unregister_unknown": ("cuMemHostUnregister", _ODD),
    "host_flags_null": ("cuMemHostGetFlags", None, _ODD),
    "host_flags_unknown": ("cuMemHostGetFlags", _WORD, _ODD),
    "device_pointer_unknown": ("cuMemHostGetDevicePointer_v2", _WORD, _ODD, 0),
    "device_pointer_null": ("cuMemHostGetDevicePointer_v2", None, None, 0),
    "fill_null": ("cuMemsetD8_v2", 0, 1, 16),
    "fill_null_nothing": ("cuMemsetD8_v2", 0, 1, 0),
    "fill_unknown": ("cuMemsetD32_v2", _ODD, 1, 16),
    "advise_unknown": ("cuMemAdvise_v2", _ODD, 16, 1, 1),
    "prefetch_unknown": ("cuMemPrefetchAsync_v2", _ODD, 16, 1, 0, 0),
    "granularity_null": ("cuMemGetAllocationGranularity", None, None, 0),
    "release_null": ("cuMemRelease", 0),
    "reserve_null": ("cuMemAddressReserve", None, 1 << 21, 0, 0, 0),
    "ipc_null": ("cuIpcGetMemHandle", None, 0),
})  # fmt: skip


@case
def double_free(cuda: Driver) -> None:
    address = cuda.allocate(1024)
    cuda("cuMemFree_v2", address)
    cuda("cuMemFree_v2", address)


@case
def free_interior(cuda: Driver) -> None:
    address = cuda.allocate()
    cuda("cuMemFree_v2", address + 1)
    cuda("cuMemFree_v2", address + 256)
    cuda("cuMemFree_v2", address + _PAGE)
    cuda("cuMemFree_v2", address)


@case
def free_host_as_device(cuda: Driver) -> None:
    host = cuda.new("cuMemAllocHost_v2", _PAGE)
    cuda("cuMemFree_v2", host)
    cuda("cuMemFreeHost", host + 16)
    cuda("cuMemFreeHost", host)


@case(alone=True)
def double_free_of_host(cuda: Driver) -> None:
    host = cuda.new("cuMemAllocHost_v2", _PAGE)
    cuda("cuMemFreeHost", host)
    cuda("cuMemFreeHost", host)


@case
def free_device_as_host(cuda: Driver) -> None:
    address = cuda.allocate()
    cuda("cuMemFreeHost", address)
    cuda("cuMemHostUnregister", address)
    cuda("cuMemFree_v2", address)


@case
def free_pageable_as_host(cuda: Driver) -> None:
    data = ctypes.create_string_buffer(_PAGE)
    cuda("cuMemFreeHost", data)
    cuda("cuMemFree_v2", ctypes.addressof(data))


@case
def free_managed(cuda: Driver) -> None:
    address = cuda.new("cuMemAllocManaged", _PAGE, 1)
    cuda("cuMemFreeHost", address)
    cuda("cuMemFree_v2", address + 8)
    cuda("cuMemFree_v2", address)
    cuda("cuMemFree_v2", address)


@case
def free_async_of_plain_memory(cuda: Driver) -> None:
    address = cuda.allocate()
    cuda("cuMemFreeAsync", address, 0)
    cuda("cuMemFree_v2", address)


@case
def free_of_async_memory(cuda: Driver) -> None:
    address = cuda.new("cuMemAllocAsync", _PAGE, 0)
    cuda("cuMemFree_v2", address)
    cuda("cuMemFreeAsync", address, 0)


@case
def double_free_async(cuda: Driver) -> None:
    address = cuda.new("cuMemAllocAsync", _PAGE, 0)
    cuda("cuMemFreeAsync", address + 8, 0)
    cuda("cuMemFreeAsync", address, 0)
    cuda("cuMemFreeAsync", address, 0)


@case
def free_async_of_host_memory(cuda: Driver) -> None:
    host = cuda.new("cuMemAllocHost_v2", _PAGE)
    managed = cuda.new("cuMemAllocManaged", _PAGE, 1)
    cuda("cuMemFreeAsync", host, 0)
    cuda("cuMemFreeAsync", managed, 0)


@case
def free_of_a_variable(cuda: Driver) -> None:
    address = Word()
    cuda("cuModuleGetGlobal_v2", address, _WORD, cuda.module(), b"counter")
    cuda("cuMemFree_v2", address.value)
    cuda("cuMemsetD32_v2", address.value, 3, 1)


@case
def alignment(cuda: Driver) -> None:
    for size in (1, 3, 511, 513):
        address = Word()
        cuda("cuMemAlloc_v2", address, size)
        cuda.note("aligned", address.value % 256)


@case
def pitches(cuda: Driver) -> None:
    for width, height, element in ((1, 1, 4), (100, 3, 4), (512, 2, 8), (513, 2, 16), (1000, 5, 16), (2049, 1, 4)):
        address, pitch = Word(), Word()
        cuda("cuMemAllocPitch_v2", address, pitch, width, height, element)
        cuda.note("pitch", pitch.value, address.value % 512)


@case
def address_ranges(cuda: Driver) -> None:
    address, start, size = cuda.allocate(1000), Word(), Word()
    for offset in (0, 1, 999, 1000, 1 << 30):
        start.value = size.value = 77
        if cuda("cuMemGetAddressRange_v2", start, size, address + offset) == 0:
            cuda.note(f"range of {offset}", start.value - address, size.value)
    cuda("cuMemGetAddressRange_v2", None, size, address)
    cuda("cuMemGetAddressRange_v2", start, None, address)
    cuda("cuMemGetAddressRange_v2", None, None, address)
    cuda("cuMemFree_v2", address)
    cuda("cuMemGetAddressRange_v2", start, size, address)


@case
def address_ranges_of_host_memory(cuda: Driver) -> None:
    start, size = Word(), Word()
    for address in (cuda.new("cuMemAllocHost_v2", 1000), cuda.new("cuMemAllocManaged", 1000, 1)):
        if cuda("cuMemGetAddressRange_v2", start, size, address + 10) == 0:
            cuda.note("range", start.value - address, size.value)
    data = ctypes.create_string_buffer(16)
    cuda("cuMemGetAddressRange_v2", start, size, ctypes.addressof(data))


@case
def host_memory(cuda: Driver) -> None:
    for flags in range(8):
        host, pointer, value = Word(), Word(), ctypes.c_uint(99)
        cuda("cuMemHostAlloc", host, _PAGE, flags)
        cuda("cuMemHostGetDevicePointer_v2", pointer, host.value, 0)
        cuda.note("same", pointer.value == host.value)
        cuda("cuMemHostGetFlags", value, host.value)
        cuda.note(f"flags {flags}", value.value)
        cuda("cuMemHostGetFlags", value, host.value + 100)
        cuda("cuMemFreeHost", host.value)


@case
def device_pointers(cuda: Driver) -> None:
    host = cuda.new("cuMemAllocHost_v2", _PAGE)
    pointer = Word()
    cuda("cuMemHostGetDevicePointer_v2", pointer, host + 100, 0)
    cuda.note("offset", pointer.value - host)
    cuda("cuMemHostGetDevicePointer_v2", pointer, host, 1)
    cuda("cuMemHostGetDevicePointer_v2", None, host, 0)
    cuda("cuMemHostGetDevicePointer_v2", pointer, cuda.allocate(), 0)
    cuda("cuMemHostGetDevicePointer_v2", pointer, cuda.new("cuMemAllocManaged", _PAGE, 1), 0)
    data = ctypes.create_string_buffer(16)
    cuda("cuMemHostGetFlags", pointer, cuda.allocate())
    cuda("cuMemHostGetFlags", pointer, cuda.new("cuMemAllocManaged", _PAGE, 1))
    cuda("cuMemHostGetFlags", pointer, data)


@case
def registration(cuda: Driver) -> None:
    data = ctypes.create_string_buffer(4 * _PAGE)
    start = -(-ctypes.addressof(data) // _PAGE) * _PAGE
    cuda("cuMemHostRegister_v2", start, 0, 0)
    cuda("cuMemHostRegister_v2", start, _PAGE, 0x100)
    cuda("cuMemHostRegister_v2", start, _PAGE, 0)
    cuda("cuMemHostRegister_v2", start, _PAGE, 0)
    cuda("cuMemHostRegister_v2", start + 100, 100, 0)
    cuda("cuMemHostUnregister", start + 100)
    cuda("cuMemFreeHost", start)
    value = ctypes.c_uint(99)
    cuda("cuMemHostGetFlags", value, start)
    cuda.note("flags", value.value)
    cuda("cuMemHostUnregister", start)
    cuda("cuMemHostUnregister", start)


@case
def registration_of_other_memory(cuda: Driver) -> None:
    cuda("cuMemHostRegister_v2", cuda.new("cuMemAllocHost_v2", _PAGE), _PAGE, 0)
    cuda("cuMemHostRegister_v2", cuda.allocate(), _PAGE, 0)
    cuda("cuMemHostRegister_v2", cuda.new("cuMemAllocManaged", _PAGE, 1), _PAGE, 0)
    cuda("cuMemHostUnregister", cuda.new("cuMemAllocHost_v2", _PAGE))


@case
def fill_alignment(cuda: Driver) -> None:
    address = cuda.allocate()
    cuda("cuMemsetD8_v2", address + 1, 1, 5)
    cuda("cuMemsetD16_v2", address + 1, 1, 5)
    cuda("cuMemsetD16_v2", address + 2, 1, 5)
    cuda("cuMemsetD32_v2", address + 2, 1, 5)
    cuda("cuMemsetD32_v2", address + 4, 1, 5)
    cuda("cuMemsetD32Async", address + 1, 1, 5, 0)
    cuda("cuMemsetD16Async", address + 3, 1, 5, 0)
    cuda("cuMemsetD32_v2", address + 1, 1, 0)


@case
def fill_beyond_the_end(cuda: Driver) -> None:
    address = cuda.allocate(1 << 21)
    cuda("cuMemsetD8_v2", address, 1, 1 << 21)
    cuda("cuMemsetD8_v2", address, 1, 1 << 40)
    cuda("cuMemsetD32_v2", address, 1, 1 << 40)
    cuda("cuMemsetD8_v2", address + (1 << 40), 1, 16)
    cuda("cuMemsetD8_v2", address, 1, (1 << 64) - 1)


@case
def fill_after_free(cuda: Driver) -> None:
    address = cuda.allocate(64 << 20)
    cuda("cuMemFree_v2", address)
    cuda("cuMemsetD8_v2", address, 1, 16)


@case
def fill_rows(cuda: Driver) -> None:
    address = cuda.allocate(1 << 16)
    cuda("cuMemsetD2D8_v2", address, 256, 1, 100, 10)
    cuda("cuMemsetD2D8_v2", address, 99, 1, 100, 10)
    cuda("cuMemsetD2D8_v2", address, 99, 1, 100, 1)
    cuda("cuMemsetD2D8_v2", address, 0, 1, 100, 1)
    cuda("cuMemsetD2D8_v2", address, 0, 1, 100, 2)
    cuda("cuMemsetD2D8_v2", address, 256, 1, 0, 10)
    cuda("cuMemsetD2D8_v2", address, 256, 1, 100, 0)
    cuda("cuMemsetD2D16_v2", address, 255, 1, 100, 10)
    cuda("cuMemsetD2D16_v2", address, 201, 1, 100, 2)
    cuda("cuMemsetD2D32_v2", address, 402, 1, 100, 2)
    cuda("cuMemsetD2D32_v2", address, 400, 1, 100, 2)
    cuda("cuMemsetD2D32_v2", address + 2, 512, 1, 100, 2)
    cuda("cuMemsetD2D32_v2", address, 1 << 40, 1, 100, 2)
    cuda("cuMemsetD2D8_v2", address, 4096, 1, 100, 1 << 30)


@case
def fill_host_memory(cuda: Driver) -> None:
    host = cuda.new("cuMemAllocHost_v2", _PAGE)
    cuda("cuMemsetD8_v2", host, 1, _PAGE)
    cuda("cuMemsetD32_v2", cuda.new("cuMemAllocManaged", _PAGE, 1), 1, 16)
    data = ctypes.create_string_buffer(16)
    cuda("cuMemsetD8_v2", ctypes.addressof(data), 1, 16)
    cuda("cuStreamSynchronize", 0)


@case
def fill_bytes_take_the_low_bits(cuda: Driver) -> None:
    address, data = cuda.allocate(), ctypes.create_string_buffer(8)
    cuda("cuMemsetD8_v2", address, 0x1FF, 4)
    cuda("cuMemsetD16_v2", address + 4, 0x12345, 2)
    cuda("cuMemcpyDtoH_v2", data, address, 8)
    cuda.note("bytes", data.raw.hex())


@case
def advice(cuda: Driver) -> None:
    managed, device = cuda.new("cuMemAllocManaged", 1 << 16, 1), cuda.allocate()
    for number in (1, 2, 3, 4, 5, 6, 0, 7):
        cuda("cuMemAdvise", managed, 1 << 16, number, 0)
    cuda("cuMemAdvise", managed, 1 << 16, 3, 99)
    cuda("cuMemAdvise", managed, 0, 1, 0)
    cuda("cuMemAdvise", managed, 1 << 20, 1, 0)
    cuda("cuMemAdvise", device, 4096, 1, 0)


@case
def prefetch(cuda: Driver) -> None:
    managed, device = cuda.new("cuMemAllocManaged", 1 << 16, 1), cuda.allocate()
    cuda("cuMemPrefetchAsync", managed, 1 << 16, 0, 0)
    cuda("cuMemPrefetchAsync", managed, 1 << 16, -1, 0)
    cuda("cuMemPrefetchAsync", managed, 1 << 16, 99, 0)
    cuda("cuMemPrefetchAsync", managed, 0, 0, 0)
    cuda("cuMemPrefetchAsync", managed, 1 << 20, 0, 0)
    cuda("cuMemPrefetchAsync", device, 4096, 0, 0)
    cuda("cuStreamSynchronize", 0)


@case
def attach(cuda: Driver) -> None:
    managed, stream = cuda.new("cuMemAllocManaged", 1 << 16, 1), cuda.stream()
    cuda("cuStreamAttachMemAsync", stream, managed, 0, 1)
    cuda("cuStreamAttachMemAsync", stream, managed, 0, 4)
    cuda("cuStreamAttachMemAsync", 0, managed, 0, 4)
    cuda("cuStreamAttachMemAsync", stream, managed, 0, 3)
    cuda("cuStreamAttachMemAsync", stream, managed, 16, 1)
    cuda("cuStreamAttachMemAsync", stream, managed + 8, 0, 1)
    cuda("cuStreamAttachMemAsync", stream, cuda.allocate(), 0, 1)
    cuda("cuStreamSynchronize", stream)
