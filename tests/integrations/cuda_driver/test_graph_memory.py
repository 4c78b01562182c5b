"""Memory that graphs allocate: its contents, its addresses, and its end."""

from __future__ import annotations

import ctypes

from integrations.cuda_driver.driver import SCALE, Driver

from warploom.integrations.cuda_driver.statuses import Status

U64, SIZE, POINTER = ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p
BYTES = 128
FREE_ON_LAUNCH = 1


def captured(driver: Driver, stream: ctypes.c_void_p, flags: int = 0) -> ctypes.c_void_p:
    """End the capture of a stream, and return the executable graph."""
    graph = POINTER()
    driver.expect("cuStreamEndCapture", stream, ctypes.byref(graph))
    return POINTER(driver.value("cuGraphInstantiateWithFlags", POINTER, graph, U64(flags)))


def begin(driver: Driver) -> tuple[ctypes.c_void_p, int]:
    """Begin to capture a stream with an allocation. Return the stream and the address."""
    stream = POINTER(driver.value("cuStreamCreate", POINTER, 1))
    driver.expect("cuStreamBeginCapture_v2", stream, 2)
    return stream, driver.value("cuMemAllocAsync", U64, SIZE(BYTES), stream)


def test_a_graph_uses_and_frees_its_memory_in_each_run(driver: Driver) -> None:
    function = driver.function(driver.module(SCALE), "scale")
    source, result = (ctypes.c_uint32 * 32)(*range(32)), (ctypes.c_uint32 * 32)()
    stream, address = begin(driver)
    driver.expect("cuMemcpyHtoDAsync_v2", U64(address), source, SIZE(BYTES), stream)
    assert driver.launch(function, [U64(address), ctypes.c_uint32(3)], stream=stream) is Status.SUCCESS
    driver.expect("cuMemcpyDtoHAsync_v2", result, U64(address), SIZE(BYTES), stream)
    driver.expect("cuMemFreeAsync", U64(address), stream)
    executable = captured(driver, stream)
    for _ in range(2):
        ctypes.memset(result, 0, BYTES)
        driver.expect("cuGraphLaunch", executable, None)
        assert list(result) == [2 * i + 3 for i in range(32)]


def test_memory_lives_from_a_run_to_the_free(driver: Driver) -> None:
    stream, address = begin(driver)
    executable = captured(driver, stream)
    assert driver.cuMemsetD8_v2(U64(address), 1, SIZE(BYTES)) is Status.INVALID_VALUE
    driver.expect("cuGraphLaunch", executable, None)
    driver.expect("cuMemsetD8_v2", U64(address), 1, SIZE(BYTES))
    driver.expect("cuMemFree_v2", U64(address))
    assert driver.cuMemsetD8_v2(U64(address), 1, SIZE(BYTES)) is Status.INVALID_VALUE
    driver.expect("cuGraphLaunch", executable, None)
    assert driver.download(address, BYTES) == bytes(BYTES)


def test_freed_memory_of_a_graph_is_out_of_bounds_for_kernels(driver: Driver) -> None:
    function = driver.function(driver.module(SCALE), "scale")
    stream, address = begin(driver)
    captured(driver, stream)
    driver.launch(function, [U64(address), ctypes.c_uint32(3)])
    assert [each.code for each in driver.seen.diagnostics] == ["emulator.out-of-bounds"]
    driver.forget_failure()


def test_no_other_allocation_gets_the_addresses_of_a_graph(driver: Driver) -> None:
    stream, address = begin(driver)
    executable = captured(driver, stream, FREE_ON_LAUNCH)
    others = {driver.allocate(BYTES) for _ in range(100)}
    driver.expect("cuGraphLaunch", executable, None)
    assert address not in others


def test_memory_ends_with_the_last_graph_that_allocates_it(driver: Driver) -> None:
    stream, address = begin(driver)
    graph, free, total = POINTER(), SIZE(), SIZE()
    driver.expect("cuStreamEndCapture", stream, ctypes.byref(graph))
    executable = POINTER(driver.value("cuGraphInstantiateWithFlags", POINTER, graph, U64(0)))
    driver.expect("cuGraphLaunch", executable, None)
    driver.expect("cuGraphDestroy", graph)
    driver.expect("cuGraphExecDestroy", executable)
    driver.expect("cuMemsetD8_v2", U64(address), 1, SIZE(BYTES))
    driver.expect("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    before = free.value
    driver.expect("cuMemFree_v2", U64(address))
    driver.expect("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    assert free.value - before == BYTES


def test_a_disabled_node_does_nothing(driver: Driver) -> None:
    function, address = driver.function(driver.module(SCALE), "scale"), driver.allocate(BYTES)
    stream = POINTER(driver.value("cuStreamCreate", POINTER, 1))
    driver.expect("cuStreamBeginCapture_v2", stream, 2)
    driver.launch(function, [U64(address), ctypes.c_uint32(3)], stream=stream)
    graph, node, count = POINTER(), POINTER(), SIZE(1)
    driver.expect("cuStreamEndCapture", stream, ctypes.byref(graph))
    driver.expect("cuGraphGetNodes", graph, ctypes.byref(node), ctypes.byref(count))
    executable = POINTER(driver.value("cuGraphInstantiateWithFlags", POINTER, graph, U64(0)))
    for is_enabled, expected in ((0, 0), (1, 3)):
        driver.expect("cuGraphNodeSetEnabled", executable, node, is_enabled)
        driver.expect("cuGraphLaunch", executable, None)
        assert driver.download(address, 4) == expected.to_bytes(4, "little")
