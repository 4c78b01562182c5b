"""Statuses of wrong and unusual calls. `tests/evidence/test_driver_agrees.py` compares many more with a GPU."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest
from integrations.cuda_driver.driver import SCALE, Driver

from warploom.integrations.cuda_driver.statuses import Status

U64, SIZE, POINTER = ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p
GLOBAL, RELAXED = 0, 2
NON_BLOCKING = 1


def stream_of(driver: Driver, flags: int = NON_BLOCKING) -> ctypes.c_void_p:
    return POINTER(driver.value("cuStreamCreate", POINTER, flags))


def capturing(driver: Driver, mode: int = GLOBAL, flags: int = NON_BLOCKING) -> ctypes.c_void_p:
    stream = stream_of(driver, flags)
    driver.expect("cuStreamBeginCapture_v2", stream, mode)
    return stream


def end(driver: Driver, stream: ctypes.c_void_p) -> tuple[Status, int | None]:
    """End a capture, and return the status and the graph."""
    graph = POINTER(1)
    return driver.cuStreamEndCapture(stream, ctypes.byref(graph)), graph.value


@pytest.mark.parametrize(("mode", "status"), [(GLOBAL, Status.STREAM_CAPTURE_UNSUPPORTED), (RELAXED, Status.SUCCESS)])
def test_a_capture_forbids_unsafe_calls(driver: Driver, mode: int, status: Status) -> None:
    stream = capturing(driver, mode)
    assert driver.cuMemAlloc_v2(ctypes.byref(U64()), SIZE(16)) is status
    outcome, graph = end(driver, stream)
    assert outcome is (Status.SUCCESS if mode == RELAXED else Status.STREAM_CAPTURE_INVALIDATED)
    assert (graph is None) is (mode == GLOBAL)


def test_operations_of_an_invalid_capture_are_refused(driver: Driver) -> None:
    address, stream = driver.allocate(16), capturing(driver)
    assert driver.cuStreamSynchronize(stream) is Status.STREAM_CAPTURE_UNSUPPORTED
    fill = (U64(address), 1, SIZE(16), stream)
    assert driver.cuMemsetD8Async(*fill) is Status.STREAM_CAPTURE_INVALIDATED
    assert driver.value_after("cuStreamIsCapturing", stream) == 2
    assert end(driver, stream) == (Status.STREAM_CAPTURE_INVALIDATED, None)
    assert driver.cuMemsetD8Async(*fill) is Status.SUCCESS


@pytest.mark.parametrize("flags", [0, NON_BLOCKING])
def test_the_legacy_stream_may_not_wait_for_a_captured_stream(driver: Driver, flags: int) -> None:
    address, stream = driver.allocate(16), capturing(driver, RELAXED, flags)
    expected = Status.SUCCESS if flags else Status.STREAM_CAPTURE_IMPLICIT
    assert driver.cuMemsetD8Async(U64(address), 1, SIZE(16), None) is expected
    assert end(driver, stream)[0] is (Status.SUCCESS if flags else Status.STREAM_CAPTURE_INVALIDATED)


def test_waits_for_other_work_are_not_captured(driver: Driver) -> None:
    event = POINTER(driver.value("cuEventCreate", POINTER, 0))
    driver.expect("cuEventRecord", event, stream_of(driver))
    stream = capturing(driver)
    assert driver.cuStreamWaitEvent(stream, event, 0) is Status.STREAM_CAPTURE_ISOLATION
    end(driver, stream)
    first, second = capturing(driver), capturing(driver)
    driver.expect("cuEventRecord", event, first)
    assert driver.cuStreamWaitEvent(second, event, 0) is Status.STREAM_CAPTURE_MERGE
    assert {end(driver, each)[0] for each in (first, second)} == {Status.STREAM_CAPTURE_INVALIDATED}
    assert driver.cuEventSynchronize(event) is Status.INVALID_VALUE


def test_wrong_operations_are_refused_when_they_are_captured(driver: Driver) -> None:
    address, stream = driver.allocate(64), capturing(driver)
    assert driver.cuMemsetD32Async(U64(address + 1), 0, SIZE(4), stream) is Status.INVALID_VALUE
    copy = (U64(address), U64(address + 32), SIZE(64), stream)
    assert driver.cuMemcpyDtoDAsync_v2(*copy) is Status.STREAM_CAPTURE_INVALIDATED
    assert end(driver, stream)[0] is Status.STREAM_CAPTURE_INVALIDATED
    assert driver.cuMemcpyDtoDAsync_v2(*copy) is Status.INVALID_VALUE


def test_a_graph_with_a_cycle_cannot_run(driver: Driver) -> None:
    graph = POINTER(driver.value("cuGraphCreate", POINTER, 0))
    nodes = [driver.value("cuGraphAddEmptyNode", POINTER, graph, None, SIZE(0)) for _ in range(2)]
    first, second = ((U64 * 1)(each) for each in nodes)
    driver.expect("cuGraphAddDependencies", graph, first, second, SIZE(1))
    driver.expect("cuGraphAddDependencies", graph, second, first, SIZE(1))
    executable = ctypes.byref(POINTER())
    assert driver.cuGraphInstantiateWithFlags(executable, graph, U64(0)) is Status.INVALID_VALUE
    driver.expect("cuGraphRemoveDependencies", graph, second, first, SIZE(1))
    assert driver.cuGraphInstantiateWithFlags(executable, graph, U64(0)) is Status.SUCCESS


def test_a_library_outlives_a_reset(driver: Driver) -> None:
    library = POINTER(driver.value("cuLibraryLoadData", POINTER, SCALE.encode(), None, None, 0, None, None, 0))
    kernel = POINTER(driver.value("cuLibraryGetKernel", POINTER, library, b"scale"))
    driver.expect("cuDevicePrimaryCtxReset_v2", 0)
    driver.value("cuDevicePrimaryCtxRetain", POINTER, 0)
    address = driver.allocate(128)
    assert driver.launch(kernel, [U64(address), ctypes.c_uint32(3)]) is Status.SUCCESS
    assert driver.download(address, 128) == (3).to_bytes(4, "little") * 32
    driver.expect("cuLibraryUnload", library)


def test_a_module_is_loaded_from_a_file(driver: Driver, tmp_path: Path) -> None:
    path = tmp_path / "scale.ptx"
    path.write_text(SCALE)
    module = POINTER(driver.value("cuModuleLoad", POINTER, str(path).encode()))
    assert driver.function(module, "scale").value
    missing = str(tmp_path / "missing.ptx").encode()
    assert driver.cuModuleLoad(ctypes.byref(POINTER()), missing) is Status.FILE_NOT_FOUND


def test_registered_memory_does_not_overlap(driver: Driver) -> None:
    data = ctypes.create_string_buffer(4096)
    start = ctypes.addressof(data)
    driver.expect("cuMemHostRegister_v2", POINTER(start), SIZE(2048), 0)
    inside = POINTER(start + 100)
    assert driver.cuMemHostRegister_v2(inside, SIZE(8), 0) is Status.HOST_MEMORY_ALREADY_REGISTERED
    assert driver.cuMemHostUnregister(inside) is Status.INVALID_VALUE
    driver.expect("cuMemHostUnregister", POINTER(start))


def test_functions_of_the_host_may_not_call_the_driver(driver: Driver) -> None:
    seen: list[Any] = []
    run = ctypes.CFUNCTYPE(None, POINTER)(lambda data: seen.append(driver.cuMemFree_v2(U64(0))))
    driver.expect("cuLaunchHostFunc", None, run, None)
    assert seen == [Status.NOT_PERMITTED]
    driver.expect("cuMemFree_v2", U64(0))


def test_memory_ends_with_its_context(driver: Driver) -> None:
    context = POINTER(driver.value("cuCtxCreate_v4", POINTER, None, 0, 0))
    address = driver.allocate(64)
    driver.expect("cuCtxDestroy_v2", context)
    assert driver.cuMemFree_v2(U64(address)) is Status.INVALID_VALUE


def test_launches_of_wrong_shapes_have_their_own_statuses(driver: Driver) -> None:
    function, address = driver.function(driver.module(SCALE), "scale"), driver.allocate(128)
    values = [U64(address), ctypes.c_uint32(1)]
    table = (POINTER * 2)(*map(ctypes.addressof, values))
    cooperative = driver.cuLaunchCooperativeKernel(function, 100_000, 1, 1, 32, 1, 1, 0, None, table)
    assert cooperative is Status.COOPERATIVE_LAUNCH_TOO_LARGE
    driver.expect("cuFuncSetAttribute", function, 11, 2)
    driver.expect("cuFuncSetAttribute", function, 12, 1)
    assert driver.launch(function, values, grid=3) is Status.INVALID_CLUSTER_SIZE
    assert driver.launch(function, values, grid=2) is Status.SUCCESS
    assert driver.launch(function, values, block=2048) is Status.INVALID_VALUE


def test_texts_of_the_driver_end_with_its_context(driver: Driver) -> None:
    def name() -> bytes | None:
        function = driver.function(driver.module(SCALE), "scale")
        return ctypes.string_at(driver.value("cuFuncGetName", POINTER, function))

    assert name() == b"scale"
    driver.expect("cuDevicePrimaryCtxRelease_v2", 0)
    driver.value("cuDevicePrimaryCtxRetain", POINTER, 0)
    assert name() == b"scale"
