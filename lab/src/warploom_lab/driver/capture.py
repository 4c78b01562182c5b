"""Cases of captures of streams."""

from __future__ import annotations

import ctypes

from warploom_lab.driver.case import Driver, Word, calls, case
from warploom_lab.driver.kernels import EMPTY
from warploom_lab.driver.structures import host_function

_WORD = Word()
_INT = ctypes.c_int()
_GLOBAL, _THREAD, _RELAXED = 0, 1, 2

calls("capture", {
    "begin_default": ("cuStreamBeginCapture_v2", 0, _RELAXED),
    "begin_legacy": ("cuStreamBeginCapture_v2", 1, _RELAXED),
    "end_default": ("cuStreamEndCapture", 0, _WORD),
    "mode_null": ("cuThreadExchangeStreamCaptureMode", None),
    "mode_bad": ("cuThreadExchangeStreamCaptureMode", ctypes.c_int(9)),
    "info_null": ("cuStreamGetCaptureInfo_v2", 0, None, None, None, None, None),
})  # fmt: skip


def _state(cuda: Driver, stream: int) -> None:
    """Record the state of a stream."""
    state = ctypes.c_int(9)
    cuda("cuStreamIsCapturing", stream, state)
    cuda.note("state", state.value)


def _end(cuda: Driver, stream: int) -> int:
    """End a capture, record the status, and return the graph."""
    graph = Word(1)
    cuda("cuStreamEndCapture", stream, graph)
    cuda.note("graph", graph.value > 1, graph.value == 1)
    return graph.value


def _count(cuda: Driver, graph: int) -> None:
    """Record the number of nodes of a graph."""
    count = Word(99)
    cuda("cuGraphGetNodes", graph, None, count)
    cuda.note("nodes", count.value)


@case
def nothing(cuda: Driver) -> None:
    stream = cuda.stream()
    _state(cuda, stream)
    cuda("cuStreamEndCapture", stream, _WORD)
    cuda("cuStreamBeginCapture_v2", stream, _GLOBAL)
    _state(cuda, stream)
    _count(cuda, _end(cuda, stream))
    _state(cuda, stream)
    cuda("cuStreamEndCapture", stream, _WORD)


@case
def bad_modes(cuda: Driver) -> None:
    stream = cuda.stream()
    for mode in (3, -1):
        cuda("cuStreamBeginCapture_v2", stream, mode)
        _state(cuda, stream)


@case
def begin_twice(cuda: Driver) -> None:
    stream = cuda.stream()
    cuda("cuStreamBeginCapture_v2", stream, _GLOBAL)
    cuda("cuStreamBeginCapture_v2", stream, _GLOBAL)
    _state(cuda, stream)
    _end(cuda, stream)


@case
def end_with_null(cuda: Driver) -> None:
    stream = cuda.stream()
    cuda("cuStreamBeginCapture_v2", stream, _GLOBAL)
    cuda("cuStreamEndCapture", stream, None)
    _state(cuda, stream)
    cuda("cuStreamEndCapture", stream, _WORD)


def _in_capture(cuda: Driver, mode: int, name: str, *arguments: object) -> None:
    """Call a function while another stream is captured."""
    stream = cuda.stream()
    cuda("cuStreamBeginCapture_v2", stream, mode)
    cuda(name, *arguments)
    _state(cuda, stream)
    _end(cuda, stream)


@case
def unsafe_calls(cuda: Driver) -> None:
    for mode in (_GLOBAL, _THREAD, _RELAXED):
        address, other, event = cuda.allocate(), cuda.stream(), cuda.event()
        host = ctypes.create_string_buffer(16)
        for name, *arguments in (
            ("cuMemAlloc_v2", _WORD, 16), ("cuMemFree_v2", address), ("cuMemAllocHost_v2", _WORD, 16),
            ("cuMemAllocManaged", _WORD, 16, 1), ("cuCtxSynchronize",), ("cuStreamSynchronize", other),
            ("cuStreamSynchronize", 0), ("cuStreamQuery", other), ("cuStreamQuery", 0), ("cuEventQuery", event),
            ("cuEventSynchronize", event), ("cuStreamCreate", _WORD, 1), ("cuEventCreate", _WORD, 0),
            ("cuModuleLoadData", _WORD, EMPTY), ("cuMemGetInfo_v2", _WORD, Word()), ("cuCtxGetLimit", _WORD, 0),
            ("cuPointerGetAttribute", _WORD, 2, other), ("cuGraphCreate", _WORD, 0), ("cuEventRecord", event, other),
            ("cuEventRecord", event, 0), ("cuLaunchHostFunc", 0, None, None), ("cuCtxSetLimit", 0, 2048),
            ("cuCtxGetCurrent", _WORD), ("cuDeviceGetAttribute", _INT, 1, 0),
        ):  # fmt: skip
            _in_capture(cuda, mode, name, *arguments)
        fresh = cuda.allocate()
        for name, *arguments in (
            ("cuMemcpyHtoD_v2", fresh, host, 16), ("cuMemcpyDtoH_v2", host, fresh, 16), ("cuMemcpy", fresh, fresh, 8),
            ("cuMemcpyDtoD_v2", fresh, fresh + 64, 16), ("cuMemsetD8_v2", fresh, 0, 16),
            ("cuMemsetD8Async", fresh, 0, 16, 0), ("cuMemsetD8Async", fresh, 0, 16, other),
            ("cuMemcpyDtoDAsync_v2", fresh, fresh + 64, 16, 0),
        ):  # fmt: skip
            _in_capture(cuda, mode, name, *arguments)


@case
def calls_of_the_captured_stream(cuda: Driver) -> None:
    function, event, address = cuda.function("nothing"), cuda.event(), cuda.allocate()
    callback = host_function(lambda data: None)
    for name, *arguments in (
        ("cuStreamSynchronize",), ("cuStreamQuery",), ("cuStreamGetFlags", _INT), ("cuStreamGetPriority", _INT),
        ("cuStreamGetId", _WORD), ("cuStreamGetCtx", _WORD), ("cuStreamWaitEvent", event, 0),
        ("cuStreamAddCallback", callback, None, 0), ("cuLaunchHostFunc", callback, None),
        ("cuStreamAttachMemAsync", address, 0, 4), ("cuStreamDestroy_v2",),
    ):  # fmt: skip
        stream = cuda.stream()
        cuda("cuStreamBeginCapture_v2", stream, _RELAXED)
        cuda.launch(function, stream=stream)
        status = cuda(name, stream, *arguments)
        if name != "cuStreamDestroy_v2" or status != 0:
            _state(cuda, stream)
            _end(cuda, stream)


@case
def blocking_stream_and_the_legacy_stream(cuda: Driver) -> None:
    address = cuda.allocate()
    for flags in (0, 1):
        stream = cuda.stream(flags)
        cuda("cuStreamBeginCapture_v2", stream, _RELAXED)
        cuda("cuMemsetD8Async", address, 0, 16, 0)
        _state(cuda, stream)
        cuda("cuMemsetD8_v2", address, 0, 16)
        cuda("cuStreamSynchronize", 0)
        _state(cuda, stream)
        _end(cuda, stream)


@case
def captured_work_does_not_run(cuda: Driver) -> None:
    address, stream, data = cuda.allocate(), cuda.stream(), ctypes.create_string_buffer(4)
    cuda("cuMemsetD8_v2", address, 1, 4)
    cuda("cuStreamBeginCapture_v2", stream, _RELAXED)
    cuda("cuMemsetD8Async", address, 2, 4, stream)
    graph, executable = _end(cuda, stream), Word()
    cuda("cuMemcpyDtoH_v2", data, address, 4)
    cuda.note("before", data.raw.hex())
    cuda("cuGraphInstantiateWithFlags", executable, graph, 0)
    cuda("cuGraphLaunch", executable.value, stream)
    cuda("cuStreamSynchronize", stream)
    cuda("cuMemcpyDtoH_v2", data, address, 4)
    cuda.note("after", data.raw.hex())
    _count(cuda, graph)


@case
def fork_and_join(cuda: Driver) -> None:
    first, second, one, two = cuda.stream(), cuda.stream(), cuda.event(2), cuda.event(2)
    address = cuda.allocate()
    cuda("cuStreamBeginCapture_v2", first, _GLOBAL)
    cuda("cuEventRecord", one, first)
    cuda("cuStreamWaitEvent", second, one, 0)
    _state(cuda, second)
    cuda("cuMemsetD8Async", address, 2, 4, second)
    cuda("cuEventRecord", two, second)
    cuda("cuStreamWaitEvent", first, two, 0)
    _count(cuda, _end(cuda, first))
    _state(cuda, second)


@case
def fork_without_join(cuda: Driver) -> None:
    first, second, event = cuda.stream(), cuda.stream(), cuda.event(2)
    address = cuda.allocate()
    cuda("cuStreamBeginCapture_v2", first, _GLOBAL)
    cuda("cuEventRecord", event, first)
    cuda("cuStreamWaitEvent", second, event, 0)
    cuda("cuMemsetD8Async", address, 2, 4, second)
    _end(cuda, first)
    _state(cuda, first)
    _state(cuda, second)


@case
def fork_without_work(cuda: Driver) -> None:
    first, second, event = cuda.stream(), cuda.stream(), cuda.event(2)
    cuda("cuStreamBeginCapture_v2", first, _GLOBAL)
    cuda("cuEventRecord", event, first)
    cuda("cuStreamWaitEvent", second, event, 0)
    _end(cuda, first)


@case
def end_in_another_stream(cuda: Driver) -> None:
    first, second, event = cuda.stream(), cuda.stream(), cuda.event(2)
    cuda("cuStreamBeginCapture_v2", first, _GLOBAL)
    cuda("cuEventRecord", event, first)
    cuda("cuStreamWaitEvent", second, event, 0)
    _end(cuda, second)
    _state(cuda, first)
    _state(cuda, second)
    _end(cuda, first)


@case
def captured_events(cuda: Driver) -> None:
    stream, other, event, earlier = cuda.stream(), cuda.stream(), cuda.event(), cuda.event()
    cuda("cuEventRecord", earlier, other)
    cuda("cuStreamBeginCapture_v2", stream, _RELAXED)
    cuda("cuEventRecord", event, stream)
    cuda("cuEventQuery", event)
    _state(cuda, stream)
    cuda("cuEventSynchronize", event)
    cuda("cuEventElapsedTime", ctypes.c_float(), event, earlier)
    _state(cuda, stream)
    _end(cuda, stream)
    cuda("cuEventQuery", event)
    cuda("cuEventSynchronize", event)
    cuda("cuStreamWaitEvent", other, event, 0)
    cuda("cuEventRecord", event, other)
    cuda("cuEventSynchronize", event)


@case
def uncaptured_event(cuda: Driver) -> None:
    stream, other, event = cuda.stream(), cuda.stream(), cuda.event()
    cuda("cuEventRecord", event, other)
    cuda("cuStreamBeginCapture_v2", stream, _RELAXED)
    cuda("cuStreamWaitEvent", stream, event, 0)
    _state(cuda, stream)
    _end(cuda, stream)


@case
def merge_of_two_captures(cuda: Driver) -> None:
    first, second, event = cuda.stream(), cuda.stream(), cuda.event()
    cuda("cuStreamBeginCapture_v2", first, _RELAXED)
    cuda("cuStreamBeginCapture_v2", second, _RELAXED)
    cuda("cuEventRecord", event, first)
    cuda("cuStreamWaitEvent", second, event, 0)
    _state(cuda, first)
    _state(cuda, second)
    _end(cuda, first)
    _end(cuda, second)


@case
def error_in_capture(cuda: Driver) -> None:
    function, store = cuda.function("nothing"), cuda.function("store")
    stream, address = cuda.stream(), cuda.allocate()
    cuda("cuStreamBeginCapture_v2", stream, _RELAXED)
    cuda.launch(function, block=(2048, 1, 1), stream=stream)
    _state(cuda, stream)
    cuda.launch(store, stream=stream)
    _state(cuda, stream)
    cuda("cuMemsetD32Async", address + 1, 0, 4, stream)
    _state(cuda, stream)
    cuda("cuMemcpyDtoDAsync_v2", 0, address, 4, stream)
    _state(cuda, stream)
    cuda("cuMemcpyDtoDAsync_v2", address, address + (1 << 40), 4, stream)
    _state(cuda, stream)
    _count(cuda, _end(cuda, stream))


@case
def work_after_invalidation(cuda: Driver) -> None:
    function, stream = cuda.function("nothing"), cuda.stream()
    cuda("cuStreamBeginCapture_v2", stream, _RELAXED)
    cuda("cuStreamSynchronize", stream)
    _state(cuda, stream)
    cuda.launch(function, stream=stream)
    cuda("cuStreamSynchronize", stream)
    cuda("cuStreamQuery", stream)
    cuda("cuEventRecord", cuda.event(), stream)
    _state(cuda, stream)
    _end(cuda, stream)
    cuda.launch(function, stream=stream)


@case
def information(cuda: Driver) -> None:
    stream, state, number, graph, nodes, count = cuda.stream(), ctypes.c_int(), Word(), Word(), Word(), Word()
    cuda("cuStreamGetCaptureInfo_v2", stream, state, number, graph, nodes, count)
    cuda.note("state", state.value)
    cuda("cuStreamGetCaptureInfo_v2", 0, state, None, None, None, None)
    cuda("cuStreamBeginCapture_v2", stream, _RELAXED)
    cuda("cuStreamGetCaptureInfo_v2", stream, state, number, graph, nodes, count)
    cuda.note("state", state.value, number.value != 0, graph.value != 0, count.value)
    cuda("cuMemsetD8Async", cuda.allocate(), 2, 4, stream)
    cuda("cuStreamGetCaptureInfo_v2", stream, state, None, None, nodes, count)
    cuda.note("state", state.value, count.value)
    cuda("cuStreamGetCaptureInfo_v2", stream, state, number, None, None, None)
    cuda("cuStreamGetCaptureInfo_v3", stream, state, number, graph, None, None, None)
    cuda.note("same graph", _end(cuda, stream) == graph.value)


@case
def exchanged_modes(cuda: Driver) -> None:
    mode = ctypes.c_int(_RELAXED)
    cuda("cuThreadExchangeStreamCaptureMode", mode)
    cuda.note("mode", mode.value)
    stream = cuda.stream()
    cuda("cuStreamBeginCapture_v2", stream, _GLOBAL)
    cuda("cuMemAlloc_v2", _WORD, 16)
    _state(cuda, stream)
    cuda("cuThreadExchangeStreamCaptureMode", mode)
    cuda.note("mode", mode.value)
    cuda("cuMemAlloc_v2", _WORD, 16)
    _state(cuda, stream)
    _end(cuda, stream)


@case
def allocation_in_capture(cuda: Driver) -> None:
    stream, address = cuda.stream(), Word()
    cuda("cuStreamBeginCapture_v2", stream, _RELAXED)
    cuda("cuMemAllocAsync", address, 4096, stream)
    cuda("cuMemsetD8Async", address.value, 1, 16, stream)
    cuda("cuMemFreeAsync", address.value, stream)
    _state(cuda, stream)
    _count(cuda, _end(cuda, stream))
