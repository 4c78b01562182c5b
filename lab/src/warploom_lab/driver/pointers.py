"""Cases of the attributes of addresses."""

from __future__ import annotations

import ctypes

from warploom_lab.driver.case import Driver, Word, calls, case

_PAGE = 4096
_KIND, _DEVICE_POINTER, _HOST_POINTER, _TOKENS, _SYNC = 2, 3, 4, 5, 6
_MANAGED, _ORDINAL, _IPC, _START, _SIZE, _MAPPED = 8, 9, 10, 11, 12, 13
_KNOWN = (_KIND, _SYNC, _MANAGED, _ORDINAL, _IPC, _SIZE, _MAPPED)
_WORD = Word()

calls("pointers", {
    "null_data": ("cuPointerGetAttribute", None, _KIND, 0x1000),
    "null_address": ("cuPointerGetAttribute", _WORD, _KIND, 0),
    "unknown_address": ("cuPointerGetAttribute", _WORD, _KIND, 0x1000),
    "unknown_attribute_of_unknown_address": ("cuPointerGetAttribute", _WORD, 99, 0x1000),
    "attributes_null": ("cuPointerGetAttributes", 1, None, None, 0x1000),
    "no_attributes": ("cuPointerGetAttributes", 0, None, None, 0x1000),
    "set_null": ("cuPointerSetAttribute", None, _SYNC, 0x1000),
    "set_unknown_address": ("cuPointerSetAttribute", ctypes.c_int(1), _SYNC, 0x1000),
})  # fmt: skip


def _all(cuda: Driver, address: int) -> None:
    """Query every attribute of an address, one after the other."""
    for attribute in (*range(16), 17, 18, 20, 21, 30, -1):
        if attribute == _TOKENS:
            continue
        data = (ctypes.c_uint64 * 4)()
        status = cuda("cuPointerGetAttribute", data, attribute, address)
        if status == 0 and attribute in _KNOWN:
            cuda.note(f"attribute {attribute}", data[0] & 0xFFFFFFFF)
        elif status == 0 and attribute in (_DEVICE_POINTER, _HOST_POINTER, _START):
            cuda.note(f"attribute {attribute}", data[0] - address)


def _together(cuda: Driver, address: int) -> None:
    """Query several attributes of an address in one call."""
    numbers = (_KIND, _DEVICE_POINTER, _HOST_POINTER, _MANAGED, _ORDINAL, _START, _SIZE, _MAPPED)
    data = (ctypes.c_uint64 * len(numbers))(*[0xAAAAAAAA] * len(numbers))
    pointers = (ctypes.c_uint64 * len(numbers))(*[ctypes.addressof(data) + 8 * i for i in range(len(numbers))])
    attributes = (ctypes.c_int * len(numbers))(*numbers)
    cuda("cuPointerGetAttributes", len(numbers), attributes, pointers, address)
    for number, word in zip(numbers, data):
        is_pointer = number in (_DEVICE_POINTER, _HOST_POINTER, _START)
        cuda.note(f"attribute {number}", (word and word - address) if is_pointer else word & 0xFFFFFFFF)


@case
def of_device_memory(cuda: Driver) -> None:
    address = cuda.allocate(1000)
    _all(cuda, address)
    _together(cuda, address)


@case
def inside_device_memory(cuda: Driver) -> None:
    address = cuda.allocate(1000) + 100
    _all(cuda, address)
    _together(cuda, address)


@case
def of_host_memory(cuda: Driver) -> None:
    address = cuda.new("cuMemAllocHost_v2", 1000)
    _all(cuda, address)
    _together(cuda, address)


@case
def inside_mapped_host_memory(cuda: Driver) -> None:
    address = cuda.new("cuMemHostAlloc", 1000, 2) + 100
    _all(cuda, address)
    _together(cuda, address)


@case
def of_managed_memory(cuda: Driver) -> None:
    address = cuda.new("cuMemAllocManaged", 1000, 1)
    _all(cuda, address)
    _together(cuda, address)


@case
def of_async_memory(cuda: Driver) -> None:
    address = cuda.new("cuMemAllocAsync", 1024, 0)
    for attribute in (_KIND, _DEVICE_POINTER, _HOST_POINTER, _MANAGED, _ORDINAL, _MAPPED):
        data = (ctypes.c_uint64 * 4)()
        cuda("cuPointerGetAttribute", data, attribute, address)
    _together(cuda, address)


@case
def of_a_variable(cuda: Driver) -> None:
    address = Word()
    cuda.require("cuModuleGetGlobal_v2", address, Word(), cuda.module(), b"area")
    for attribute in (_KIND, _DEVICE_POINTER, _HOST_POINTER, _MANAGED, _ORDINAL, _MAPPED):
        data = (ctypes.c_uint64 * 4)()
        cuda("cuPointerGetAttribute", data, attribute, address.value)


@case
def of_pageable_memory(cuda: Driver) -> None:
    data = ctypes.create_string_buffer(16)
    _all(cuda, ctypes.addressof(data))
    _together(cuda, ctypes.addressof(data))


@case
def of_null(cuda: Driver) -> None:
    _all(cuda, 0)
    _together(cuda, 0)


@case
def of_registered_memory(cuda: Driver) -> None:
    data = ctypes.create_string_buffer(4 * _PAGE)
    start = -(-ctypes.addressof(data) // _PAGE) * _PAGE
    cuda("cuMemHostRegister_v2", start, _PAGE, 0)
    _all(cuda, start)
    _together(cuda, start)
    cuda("cuMemHostUnregister", start)
    _together(cuda, start)


@case
def of_freed_memory(cuda: Driver) -> None:
    address = cuda.allocate(64 << 20)
    cuda("cuMemFree_v2", address)
    cuda("cuPointerGetAttribute", _WORD, _KIND, address)
    _together(cuda, address)


@case
def together_with_an_unknown_attribute(cuda: Driver) -> None:
    data = (ctypes.c_uint64 * 2)()
    pointers = (ctypes.c_uint64 * 2)(ctypes.addressof(data), ctypes.addressof(data) + 8)
    address = cuda.allocate()
    cuda("cuPointerGetAttributes", 2, (ctypes.c_int * 2)(_KIND, 99), pointers, address)
    cuda("cuPointerGetAttributes", 2, (ctypes.c_int * 2)(_KIND, 0), pointers, address)
    cuda("cuPointerGetAttributes", 0, (ctypes.c_int * 2)(_KIND, 0), pointers, address)
    cuda("cuPointerGetAttributes", 2, None, pointers, address)
    cuda("cuPointerGetAttributes", 2, (ctypes.c_int * 2)(_KIND, _MAPPED), None, address)


@case
def set_attributes(cuda: Driver) -> None:
    address, value = cuda.allocate(), ctypes.c_uint(1)
    cuda("cuPointerSetAttribute", value, _SYNC, address)
    cuda("cuPointerGetAttribute", _WORD, _SYNC, address)
    cuda.note("synchronous", _WORD.value & 0xFFFFFFFF)
    value.value = 7
    cuda("cuPointerSetAttribute", value, _SYNC, address)
    cuda("cuPointerSetAttribute", value, _KIND, address)
    cuda("cuPointerSetAttribute", None, _SYNC, address)
    cuda("cuPointerSetAttribute", value, _SYNC, cuda.new("cuMemAllocHost_v2", _PAGE))
