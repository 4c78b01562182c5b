"""Driver functions across resets of the device, in callbacks, and with a faulty peer."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from integrations.cuda_driver.driver import SCALE, Driver

from warploom.integrations.cuda_driver.statuses import Status

U64, SIZE, POINTER = ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p
RELAXED = 2  # mode of a capture that allows all calls
HOST_FUNCTION = ctypes.CFUNCTYPE(None, POINTER)
KERNELS = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry stop() { trap; }
.visible .entry pair() .explicitcluster .reqnctapercluster 2 { ret; }
.visible .entry cluster() { ret; }
"""


def library(driver: Driver, text: str) -> ctypes.c_void_p:
    none = [None, None, 0, None, None, 0]
    return POINTER(driver.value("cuLibraryLoadData", POINTER, text.encode(), *none))


def variable(driver: Driver, handle: ctypes.c_void_p, name: bytes) -> int:
    return driver.value("cuLibraryGetGlobal", U64, None, handle, name)


def test_a_library_needs_no_context(driver: Driver) -> None:
    context = POINTER(driver.value("cuCtxGetCurrent", POINTER))
    driver.expect("cuCtxSetCurrent", None)
    try:
        handle = library(driver, SCALE)
        assert driver.cuModuleLoadData(ctypes.byref(POINTER()), SCALE.encode()) is Status.INVALID_CONTEXT
    finally:
        driver.expect("cuCtxSetCurrent", context)
    kernel = POINTER(driver.value("cuLibraryGetKernel", POINTER, handle, b"scale"))
    assert driver.launch(kernel, [U64(driver.allocate(128)), ctypes.c_uint32(0)]) is Status.SUCCESS


def test_a_library_survives_a_reset_with_new_variables(driver: Driver) -> None:
    handle = library(driver, SCALE)
    kernel = POINTER(driver.value("cuLibraryGetKernel", POINTER, handle, b"scale"))
    module = driver.module(SCALE)
    for _ in range(2):
        assert driver.launch(kernel, [U64(driver.allocate(128)), ctypes.c_uint32(0)]) is Status.SUCCESS
        assert driver.download(variable(driver, handle, b"counter"), 4) == struct.pack("=I", 5 + 32)
        driver.expect("cuDevicePrimaryCtxReset_v2", 0)
        driver.expect("cuCtxSetCurrent", POINTER(driver.value("cuDevicePrimaryCtxRetain", POINTER, 0)))
    assert driver.cuModuleUnload(module) is Status.INVALID_HANDLE
    driver.expect("cuLibraryUnload", handle)


def test_a_reset_removes_host_memory_from_the_program(driver: Driver) -> None:
    address = driver.value("cuMemHostAlloc", POINTER, SIZE(4096), 0)
    line = f"{address:x}-"
    assert line in Path("/proc/self/maps").read_text(encoding="utf-8")
    driver.expect("cuDevicePrimaryCtxReset_v2", 0)
    assert line not in Path("/proc/self/maps").read_text(encoding="utf-8")


def test_clusters_of_a_kernel(driver: Driver) -> None:
    module = driver.module(KERNELS)
    pair = driver.function(module, "pair")
    assert driver.value("cuFuncGetAttribute", ctypes.c_int32, 10, pair) == 1
    assert driver.value("cuFuncGetAttribute", ctypes.c_int32, 11, pair) == 2
    assert driver.cuFuncSetAttribute(pair, 9, 101) is Status.INVALID_VALUE
    driver.expect("cuFuncSetAttribute", pair, 9, 100)
    assert driver.launch(pair, [], grid=3) is Status.INVALID_CLUSTER_SIZE
    assert driver.launch(driver.function(module, "cluster"), [], block=2000) is Status.INVALID_VALUE


def test_freed_memory_is_returned_to_the_system(driver: Driver) -> None:
    (program,) = driver.server._programs.values()
    before = os.fstat(program.file).st_blocks
    address = driver.allocate((256 << 20) + 100)
    driver.expect("cuMemsetD8_v2", U64(address), 7, SIZE((64 << 20) + 100))
    assert os.fstat(program.file).st_blocks - before >= (64 << 20) // 512
    driver.expect("cuMemFree_v2", U64(address))
    assert os.fstat(program.file).st_blocks - before < (1 << 20) // 512
    view = program.memory.view(address, (64 << 20) + 100)
    assert not view.any()


def test_null_host_memory_can_be_freed(driver: Driver) -> None:
    driver.expect("cuMemFreeHost", None)
    assert driver.cuMemFreeHost(POINTER(0x1000)) is Status.INVALID_VALUE


def test_a_callback_cannot_call_the_driver(driver: Driver) -> None:
    seen: list[Any] = []
    function = HOST_FUNCTION(lambda data: seen.append((data, driver.cuCtxSynchronize())))
    driver.expect("cuLaunchHostFunc", None, function, POINTER(5))
    assert seen == [(5, Status.NOT_PERMITTED)]
    driver.expect("cuCtxSynchronize")


def test_a_callback_can_wait_for_a_thread_that_calls_the_driver(driver: Driver) -> None:
    statuses: list[Status] = []

    def wait(_: object) -> None:
        thread = Thread(target=lambda: statuses.append(driver.cuDeviceGetCount(ctypes.byref(ctypes.c_int()))))
        thread.start()
        thread.join(timeout=30)

    driver.expect("cuLaunchHostFunc", None, HOST_FUNCTION(wait), None)
    assert statuses == [Status.SUCCESS]


def test_a_captured_event_cannot_be_awaited(driver: Driver) -> None:
    stream = POINTER(driver.value("cuStreamCreate", POINTER, 0))
    other = POINTER(driver.value("cuStreamCreate", POINTER, 0))
    event = POINTER(driver.value("cuEventCreate", POINTER, 0))
    graph = POINTER()
    driver.expect("cuStreamBeginCapture_v2", stream, RELAXED)
    driver.expect("cuEventRecord", event, stream)
    assert driver.cuEventQuery(event) is Status.CAPTURED_EVENT
    assert driver.cuStreamEndCapture(stream, ctypes.byref(graph)) is Status.STREAM_CAPTURE_INVALIDATED
    driver.expect("cuStreamBeginCapture_v2", stream, RELAXED)
    driver.expect("cuEventRecord", event, stream)
    driver.expect("cuStreamEndCapture", stream, ctypes.byref(graph))
    assert driver.cuEventSynchronize(event) is Status.INVALID_VALUE
    assert driver.cuStreamWaitEvent(other, event, 0) is Status.INVALID_VALUE
    assert driver.value("cuDriverGetVersion", ctypes.c_int) > 0
    state = ctypes.c_int32(-1)
    driver.expect("cuStreamIsCapturing", other, ctypes.byref(state))
    assert state.value == 0
    driver.expect("cuEventRecord", event, stream)
    driver.expect("cuEventSynchronize", event)


@pytest.mark.parametrize(
    "message",
    [
        struct.pack("=IIQQQ", 1, 0xFFFF_FFFF, 0, 0, 0),
        struct.pack("=IIQQQ", 1, 0, 1 << 40, 0, 0),
        struct.pack("=IIQQQ", 2, 0, 0, 0, 0),
        b"short",
        b"",
    ],
)
def test_malformed_messages_end_only_their_connection(driver: Driver, message: bytes) -> None:
    (program,) = driver.server._programs
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(30)
        peer.connect(b"\0" + driver.server.name.encode())
        peer.sendall(struct.pack("=Q", program[1]))
        assert len(peer.recv(32)) == 32
        peer.sendall(message)
        peer.shutdown(socket.SHUT_WR)
        assert peer.recv(1) == b""
    driver.expect("cuCtxSynchronize")


@pytest.mark.parametrize(
    "image",
    [
        b"garbage",
        struct.pack("<IIQQ", 0x466243B1, 1, 0, 0),
        struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 64) + bytes(64),
        struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 1 << 40) + bytes(64),
        struct.pack(
            "<IHHQHHIIIIIIIIIQQQ", 0xBA55ED50, 1, 16, 64, 1, 0, 64, 0, 0, 0, 0, 0, 90, 0, 0, 0x8000, 0, 1 << 20
        ),
    ],
)
def test_damaged_device_code_is_refused(driver: Driver, image: bytes) -> None:
    data = ctypes.create_string_buffer(image + bytes(64))
    if image.startswith(struct.pack("<I", 0x466243B1)):  # a wrapper that contains itself
        struct.pack_into("<Q", data, 8, ctypes.addressof(data))
    status = driver.cuModuleLoadData(ctypes.byref(POINTER()), data)
    assert status in (Status.INVALID_IMAGE, Status.NO_BINARY_FOR_GPU)
    assert [each.code for each in driver.seen.diagnostics] == ["exec.image"]
    assert driver.seen.sentences == []


MANAGED = """
.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 plain = 1;
.global .attribute(.managed) .align 4 .u32 shared_value = 7;
.visible .entry add()
{
    .reg .b32 %old;
    atom.global.add.u32 %old, [shared_value], 5;
    ret;
}
"""


def test_a_managed_variable_is_accessible_to_the_program(driver: Driver) -> None:
    handle = library(driver, MANAGED)
    kernel = POINTER(driver.value("cuLibraryGetKernel", POINTER, handle, b"add"))
    size = SIZE()
    address = driver.value("cuLibraryGetManaged", U64, ctypes.byref(size), handle, b"shared_value")
    value = ctypes.c_uint32.from_address(address)
    assert (value.value, size.value) == (7, 4)
    value.value = 30
    assert driver.launch(kernel, []) is Status.SUCCESS
    assert value.value == 30 + 32 * 5
    assert driver.value("cuLibraryGetManaged", U64, None, handle, b"shared_value") == address
    assert driver.cuLibraryGetManaged(None, None, handle, b"plain") is Status.NOT_FOUND
    driver.expect("cuLibraryUnload", handle)
    assert f"{address:x}-" not in Path("/proc/self/maps").read_text(encoding="utf-8")


VIRTUAL = """
.version 8.0
.target sm_90
.address_size 64
.func (.param .b32 result) first(.param .b64 self);
.func (.param .b32 result) second(.param .b64 self);
.global .align 8 .u64 table[2] = {first, second};
.global .align 8 .u64 instance;

.func (.param .b32 result) unused(.param .b64 self)
{
    st.param.b32 [result], 1;
    ret;
}
.visible .entry create()
{
    .reg .b64 %table;
    .reg .b32 %r;
    { .param .b64 self; .param .b32 value; st.param.b64 [self], 0; call (value), unused, (self);
      ld.param.b32 %r, [value]; }
    mov.u64 %table, table;
    st.global.u64 [instance], %table;
    ret;
}
.func (.param .b32 result) first(.param .b64 self)
{
    st.param.b32 [result], 11;
    ret;
}
.func (.param .b32 result) second(.param .b64 self)
{
    .reg .b64 %table;
    mov.u64 %table, table;
    st.param.b32 [result], 22;
    ret;
}
.visible .entry use(.param .u64 results)
{
    .reg .b64 %results, %table, %function;
    .reg .b32 %value;
    ld.param.u64 %results, [results];
    ld.global.u64 %table, [instance];
    ld.u64 %function, [%table+8];
    {
        .param .b64 self;
        .param .b32 value;
        st.param.b64 [self], %table;
        prototype: .callprototype (.param .b32 _) _ (.param .b64 _);
        call (value), %function, (self), prototype;
        ld.param.b32 %value, [value];
    }
    st.global.u32 [%results], %value;
    ret;
}
"""


def test_a_kernel_calls_virtual_functions_of_an_instance_from_another_kernel(driver: Driver) -> None:
    module, results = driver.module(VIRTUAL), driver.allocate(4)
    assert driver.launch(driver.function(module, "create"), [], block=1) is Status.SUCCESS
    assert driver.launch(driver.function(module, "use"), [U64(results)], block=1) is Status.SUCCESS
    assert driver.download(results, 4) == struct.pack("=I", 22)


def test_an_unknown_function_has_no_address(driver: Driver) -> None:
    found, status = POINTER(1), ctypes.c_int(-1)
    driver.expect("cuGetProcAddress_v2", b"cuNoSuch", ctypes.byref(found), 12000, U64(0), ctypes.byref(status))
    assert (found.value, status.value) == (None, 1)
    assert driver.cuGetProcAddress(b"cuNoSuch", ctypes.byref(found), 12000, U64(0)) is Status.NOT_FOUND
