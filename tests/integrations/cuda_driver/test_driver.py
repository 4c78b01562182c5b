"""Driver functions in one process: memory, modules, launches, streams, graphs and failures."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from integrations.cuda_driver.driver import SCALE, Driver

from warploom.integrations.cuda_driver.functions import (
    IN_LIBRARY,
    RUNTIME_FUNCTIONS,
    implementation_of,
    numbered_functions,
    read_functions,
)
from warploom.integrations.cuda_driver.runtime_library import _md2
from warploom.integrations.cuda_driver.statuses import Status

U64, SIZE, POINTER = ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p


def words(*values: int) -> bytes:
    return np.array(values, np.uint32).tobytes()


def scaled(driver: Driver, address: int, addend: int, stream: Any = None) -> Status:
    function = driver.function(driver.module(SCALE), "scale")
    return driver.launch(function, [U64(address), ctypes.c_uint32(addend)], stream=stream)


def test_a_kernel_runs_on_device_memory(driver: Driver) -> None:
    address = driver.allocate(128)
    driver.upload(address, words(*range(32)))
    assert scaled(driver, address, 7) is Status.SUCCESS
    assert driver.download(address, 128) == words(*(2 * i + 7 for i in range(32)))


def test_a_variable_keeps_its_value_between_launches(driver: Driver) -> None:
    module = driver.module(SCALE)
    address, size = U64(), SIZE()
    driver.expect("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), module, b"counter")
    assert size.value == 4
    assert driver.download(address.value, 4) == words(5)
    function, data = driver.function(module, "scale"), driver.allocate(128)
    for _ in range(3):
        assert driver.launch(function, [U64(data), ctypes.c_uint32(0)]) is Status.SUCCESS
    assert driver.download(address.value, 4) == words(5 + 3 * 32)


def test_constant_memory_can_be_set(driver: Driver) -> None:
    module = driver.module(SCALE)
    factor = U64()
    driver.expect("cuModuleGetGlobal_v2", ctypes.byref(factor), None, module, b"factor")
    driver.upload(factor.value, words(10))
    data = driver.allocate(128)
    driver.upload(data, words(*range(32)))
    function = driver.function(module, "scale")
    assert driver.launch(function, [U64(data), ctypes.c_uint32(1)]) is Status.SUCCESS
    assert driver.download(data, 8) == words(1, 11)


def test_host_memory_has_the_same_address_in_a_kernel(driver: Driver) -> None:
    address = driver.value("cuMemHostAlloc", POINTER, SIZE(128), 0)
    array = np.ctypeslib.as_array((ctypes.c_uint32 * 32).from_address(address))
    array[:] = range(32)
    assert scaled(driver, address, 1) is Status.SUCCESS
    assert array.tolist() == [2 * i + 1 for i in range(32)]
    driver.expect("cuMemFreeHost", POINTER(address))


def test_managed_memory_is_shared(driver: Driver) -> None:
    address = driver.value("cuMemAllocManaged", U64, SIZE(128), 1)
    array = np.ctypeslib.as_array((ctypes.c_uint32 * 32).from_address(address))
    array[:] = 3
    assert scaled(driver, address, 0) is Status.SUCCESS
    assert array.tolist() == [6] * 32
    kind = ctypes.c_uint32()
    driver.expect("cuPointerGetAttribute", ctypes.byref(kind), 8, U64(address))
    assert kind.value == 1
    driver.expect("cuMemFree_v2", U64(address))


@given(size=st.integers(1, 5000), element=st.sampled_from([1, 2, 4]), value=st.integers(0, 2**32 - 1), data=st.data())
def test_a_fill_writes_only_its_range(
    loaded_driver: Driver, size: int, element: int, value: int, data: st.DataObject
) -> None:
    driver = loaded_driver
    driver.expect("cuInit", 0)
    driver.expect("cuCtxSetCurrent", POINTER(driver.value("cuDevicePrimaryCtxRetain", POINTER, 0)))
    address = driver.allocate(size)
    first = data.draw(st.integers(0, (size - 1) // element))
    count = data.draw(st.integers(0, size // element - first))
    driver.expect(f"cuMemsetD{8 * element}_v2", U64(address + first * element), ctypes.c_uint32(value), SIZE(count))
    expected = np.zeros(size // element, f"u{element}")
    expected[first : first + count] = value & ((1 << 8 * element) - 1)
    assert driver.download(address, size // element * element) == expected.tobytes()
    driver.expect("cuMemFree_v2", U64(address))


def test_a_copy_outside_of_an_allocation_is_refused(driver: Driver) -> None:
    address = driver.allocate(64)
    status = driver.cuMemcpyHtoD_v2(U64(address + 32), bytes(64), SIZE(64))
    assert status is Status.INVALID_VALUE


def test_an_access_outside_of_all_allocations_remains_an_error(driver: Driver) -> None:
    address = driver.allocate(64)
    assert scaled(driver, address, 0) is Status.SUCCESS
    (found,) = driver.seen.diagnostics
    assert found.code == "emulator.out-of-bounds"
    assert "allocation" in found.message
    assert driver.cuCtxSynchronize() is Status.ILLEGAL_ADDRESS
    assert driver.cuMemFree_v2(U64(address)) is Status.ILLEGAL_ADDRESS


def test_a_freed_allocation_is_out_of_reach(driver: Driver) -> None:
    address = driver.allocate(128)
    driver.expect("cuMemFree_v2", U64(address))
    assert scaled(driver, address, 0) is Status.SUCCESS
    assert driver.cuCtxSynchronize() is Status.ILLEGAL_ADDRESS


def test_events_measure_time_in_order(driver: Driver) -> None:
    first, second = (POINTER(driver.value("cuEventCreate", POINTER, 0)) for _ in range(2))
    elapsed = ctypes.c_float()
    assert driver.cuEventElapsedTime(ctypes.byref(elapsed), first, second) is Status.INVALID_HANDLE
    driver.expect("cuEventRecord", first, None)
    driver.expect("cuEventRecord", second, None)
    driver.expect("cuEventElapsedTime", ctypes.byref(elapsed), first, second)
    assert elapsed.value > 0


def test_a_captured_stream_runs_only_when_its_graph_is_launched(driver: Driver) -> None:
    stream = POINTER(driver.value("cuStreamCreate", POINTER, 1))
    address = driver.allocate(128)
    driver.upload(address, words(*range(32)))
    driver.expect("cuStreamBeginCapture_v2", stream, 0)
    assert scaled(driver, address, 1, stream) is Status.SUCCESS
    assert scaled(driver, address, 1, stream) is Status.SUCCESS
    graph = POINTER(driver_result(driver, "cuStreamEndCapture", stream))
    assert driver.download(address, 8) == words(0, 1)
    executable = POINTER(driver.value("cuGraphInstantiateWithFlags", POINTER, graph, U64(0)))
    driver.expect("cuGraphLaunch", executable, stream)
    assert driver.download(address, 8) == words(3, 7)


def driver_result(driver: Driver, name: str, *arguments: object) -> Any:
    """Return the result of a function that writes it to its last argument."""
    result = POINTER()
    driver.expect(name, *arguments, ctypes.byref(result))
    return result.value


def test_a_capture_follows_events_to_other_streams(driver: Driver) -> None:
    first, second = (POINTER(driver.value("cuStreamCreate", POINTER, 1)) for _ in range(2))
    fork, join = (POINTER(driver.value("cuEventCreate", POINTER, 2)) for _ in range(2))
    address = driver.allocate(128)
    driver.expect("cuStreamBeginCapture_v2", first, 0)
    driver.expect("cuEventRecord", fork, first)
    driver.expect("cuStreamWaitEvent", second, fork, 0)
    assert scaled(driver, address, 1, second) is Status.SUCCESS
    result = POINTER()
    assert driver.cuStreamEndCapture(first, ctypes.byref(result)) is Status.STREAM_CAPTURE_UNJOINED
    driver.expect("cuStreamBeginCapture_v2", first, 0)
    driver.expect("cuEventRecord", fork, first)
    driver.expect("cuStreamWaitEvent", second, fork, 0)
    assert scaled(driver, address, 1, second) is Status.SUCCESS
    driver.expect("cuEventRecord", join, second)
    driver.expect("cuStreamWaitEvent", first, join, 0)
    driver.expect("cuStreamEndCapture", first, ctypes.byref(result))
    assert driver.download(address, 4) == words(0)


def test_a_host_function_runs_in_the_program(driver: Driver) -> None:
    called: list[int] = []
    function = ctypes.CFUNCTYPE(None, POINTER)(lambda data: called.append(data or 0))
    driver.expect("cuLaunchHostFunc", None, function, POINTER(41))
    assert called == [41]


def test_two_threads_share_the_device(driver: Driver) -> None:
    context = POINTER(driver.value("cuCtxGetCurrent", POINTER))
    addresses = [driver.allocate(128) for _ in range(2)]
    statuses: list[Status] = []

    def work(address: int) -> None:
        statuses.append(driver.cuCtxSynchronize())  # a new thread has no current context
        driver.expect("cuCtxSetCurrent", context)
        statuses.extend(scaled(driver, address, 3) for _ in range(4))

    threads = [Thread(target=work, args=(address,)) for address in addresses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [Status.SUCCESS] * 8 + [Status.INVALID_CONTEXT] * 2
    assert [driver.download(address, 4) for address in addresses] == [words(45)] * 2


def test_a_missing_function_is_refused_by_name(driver: Driver) -> None:
    assert driver.cuGreenCtxCreate(None, None, 0, 0) is Status.NOT_SUPPORTED
    assert any("cuGreenCtxCreate" in sentence for sentence in driver.seen.sentences)


@pytest.mark.parametrize(
    ("name", "version", "flags", "symbol"),
    [
        (b"cuMemAlloc", 3020, 0, "cuMemAlloc_v2"),
        (b"cuMemAlloc", 2000, 0, "cuMemAlloc"),
        (b"cuMemcpyHtoDAsync", 12000, 2, "cuMemcpyHtoDAsync_v2_ptsz"),
        (b"cuMemcpyHtoDAsync", 12000, 0, "cuMemcpyHtoDAsync_v2"),
        (b"cuStreamBeginCapture", 12000, 0, "cuStreamBeginCapture_v2"),
    ],
)
def test_an_address_belongs_to_the_newest_form(
    driver: Driver, name: bytes, version: int, flags: int, symbol: str
) -> None:
    found = POINTER()
    driver.expect("cuGetProcAddress_v2", name, ctypes.byref(found), version, U64(flags), None)
    assert found.value == ctypes.cast(getattr(driver, symbol), POINTER).value


def test_every_declared_function_has_the_arguments_of_its_implementation() -> None:
    words = {each.symbol: each.words for each in read_functions()} | RUNTIME_FUNCTIONS
    found = {symbol: implementation_of(symbol) for symbol in numbered_functions()}
    wrong = [name for name, each in found.items() if each is not None and len(each.parameters) != words[name]]
    assert wrong == []
    assert len([each for each in found.values() if each is not None]) > 200
    assert {each.symbol for each in read_functions()} >= IN_LIBRARY


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        (b"", "8350e5a3e24c153df2275c9f80692773"),
        (b"abc", "da853b0d3f88d99b30283a69e6ded6bb"),
        (b"abcdefghijklmnopqrstuvwxyz", "4e8ddff3650292ab5a4108c3aa47940b"),
    ],
)
def test_md2_digests(text: bytes, digest: str) -> None:
    """Source: RFC 1319, A.5."""
    assert _md2(text).hex() == digest


def test_files_of_the_package_exist() -> None:
    from warploom.integrations.cuda_driver import devices

    for name in devices.DEVICES:
        model = devices.read_device(name)
        assert model.capability[0] >= 8, name
        assert (Path(devices.__file__).parent / "devices" / f"{name}.toml").exists()


def test_operations_of_a_graph_run_in_order(driver: Driver) -> None:
    stream = POINTER(driver.value("cuStreamCreate", POINTER, 1))
    first, second = driver.allocate(128), driver.allocate(128)
    source, result = ctypes.create_string_buffer(words(*range(32)), 128), ctypes.create_string_buffer(128)
    driver.expect("cuStreamBeginCapture_v2", stream, 0)
    driver.expect("cuMemcpyHtoDAsync_v2", U64(first), source, SIZE(128), stream)
    assert scaled(driver, first, 1, stream) is Status.SUCCESS
    driver.expect("cuMemcpyHtoDAsync_v2", U64(second), source, SIZE(64), stream)
    driver.expect("cuMemcpyDtoDAsync_v2", U64(first), U64(second), SIZE(8), stream)
    driver.expect("cuMemsetD32Async", U64(first + 4), ctypes.c_uint32(9), SIZE(1), stream)
    driver.expect("cuMemcpyDtoHAsync_v2", result, U64(first), SIZE(128), stream)
    executable = POINTER(
        driver.value(
            "cuGraphInstantiateWithFlags", POINTER, POINTER(driver_result(driver, "cuStreamEndCapture", stream)), U64(0)
        )
    )
    driver.expect("cuGraphLaunch", executable, None)
    assert result.raw == words(0, 9, *(2 * i + 1 for i in range(2, 32)))


HEAP = """
.version 8.0
.target sm_90
.address_size 64

.extern .func (.param .b64 result) malloc(.param .b64 size);
.extern .func free(.param .b64 address);

.visible .entry fill(.param .u64 pointer)
{
    .reg .b64 %pointer, %address, %size;
    .param .b64 result, size;
    mov.u64 %size, 64;
    st.param.b64 [size], %size;
    call.uni (result), malloc, (size);
    ld.param.b64 %address, [result];
    st.u32 [%address+60], 77;
    ld.param.u64 %pointer, [pointer];
    st.global.u64 [%pointer], %address;
    ret;
}

.visible .entry read(.param .u64 pointer)
{
    .reg .b64 %pointer, %address;
    .reg .b32 %value;
    ld.param.u64 %pointer, [pointer];
    ld.global.u64 %address, [%pointer];
    ld.u32 %value, [%address+60];
    st.global.u32 [%pointer+8], %value;
    ret;
}

.visible .entry release(.param .u64 pointer)
{
    .reg .b64 %pointer, %address;
    .param .b64 address;
    ld.param.u64 %pointer, [pointer];
    ld.global.u64 %address, [%pointer];
    st.param.b64 [address], %address;
    call.uni free, (address);
    ret;
}
"""


def test_the_heap_keeps_its_contents_between_launches(driver: Driver) -> None:
    module, data = driver.module(HEAP), driver.allocate(16)
    for name in ("fill", "read"):
        assert driver.launch(driver.function(module, name), [U64(data)], block=1) is Status.SUCCESS
    assert driver.download(data + 8, 4) == words(77)
    for name, status in (("release", Status.SUCCESS), ("read", Status.ILLEGAL_ADDRESS)):
        assert driver.launch(driver.function(module, name), [U64(data)], block=1) is Status.SUCCESS
        assert driver.cuCtxSynchronize() is status
    assert [each.code for each in driver.seen.diagnostics] == ["emulator.use-after-free"]


def test_the_size_of_the_heap_can_be_set_before_its_first_use(driver: Driver) -> None:
    limit, size = 2, 64 << 20
    module, data = driver.module(HEAP.replace("%size, 64", f"%size, {size // 2}")), driver.allocate(16)
    driver.expect("cuCtxSetLimit", limit, SIZE(size))
    assert driver.launch(driver.function(module, "fill"), [U64(data)], block=1) is Status.SUCCESS
    driver.expect("cuCtxSynchronize")
    assert driver.cuCtxSetLimit(limit, SIZE(2 * size)) is Status.INVALID_VALUE
    driver.expect("cuCtxSetLimit", limit, SIZE(size))


def test_kernels_with_a_heap_can_be_sanitized(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The heap lies at the end of the device memory, which is larger than the memory of the host."""
    log = driver.server._log  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(log, "options", replace(log.options, sanitize=True))
    module, data = driver.module(HEAP), driver.allocate(16)
    for name in ("fill", "read"):
        assert driver.launch(driver.function(module, name), [U64(data)], block=1) is Status.SUCCESS
    assert driver.download(data + 8, 4) == words(77)
    assert driver.seen.diagnostics == []


def test_a_small_heap_is_exhausted(driver: Driver) -> None:
    module, data = driver.module(HEAP.replace("%size, 64", f"%size, {9 << 20}")), driver.allocate(16)
    driver.launch(driver.function(module, "fill"), [U64(data)], block=1)
    assert driver.cuCtxSynchronize() is Status.ILLEGAL_ADDRESS


def test_a_failure_outlives_a_reset(driver: Driver) -> None:
    assert scaled(driver, driver.allocate(64), 0) is Status.SUCCESS
    assert driver.cuCtxSynchronize() is Status.ILLEGAL_ADDRESS
    driver.expect("cuDevicePrimaryCtxReset_v2", 0)
    assert driver.cuCtxSynchronize() is Status.CONTEXT_IS_DESTROYED
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(POINTER()), 0) is Status.ILLEGAL_ADDRESS
