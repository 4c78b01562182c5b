"""Cases of streams, events and callbacks."""

from __future__ import annotations

import ctypes

from warploom_lab.driver.case import Driver, Word, calls, case
from warploom_lab.driver.structures import host_function

_WORD = Word()
_INT = ctypes.c_int()
_FLOAT = ctypes.c_float()
_Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)

calls("streams", {
    "create_null": ("cuStreamCreate", None, 0),
    "create_flags_2": ("cuStreamCreate", _WORD, 2),
    "create_flags_large": ("cuStreamCreate", _WORD, 0x1000),
    "create_priority_null": ("cuStreamCreateWithPriority", None, 0, 0),
    "create_priority_flags": ("cuStreamCreateWithPriority", _WORD, 2, 0),
    "destroy_null": ("cuStreamDestroy_v2", None),
    "flags_null": ("cuStreamGetFlags", 0, None),
    "priority_null": ("cuStreamGetPriority", 0, None),
    "number_null": ("cuStreamGetId", 0, None),
    "context_null": ("cuStreamGetCtx", 0, None),
    "wait_null_event": ("cuStreamWaitEvent", 0, None, 0),
    "state_null": ("cuStreamIsCapturing", 0, None),
    "callback_null": ("cuStreamAddCallback", 0, None, None, 0),
    "event_null": ("cuEventCreate", None, 0),
    "event_flags_8": ("cuEventCreate", _WORD, 8),
    "event_flags_interprocess": ("cuEventCreate", _WORD, 4),
    "event_flags_large": ("cuEventCreate", _WORD, 0x1000),
    "destroy_null_event": ("cuEventDestroy_v2", None),
    "record_null_event": ("cuEventRecord", None, 0),
    "query_null_event": ("cuEventQuery", None),
    "synchronize_null_event": ("cuEventSynchronize", None),
    "elapsed_null_events": ("cuEventElapsedTime", _FLOAT, None, None),
    "write_value_null": ("cuStreamWriteValue32_v2", 0, 0, 1, 0),
    "wait_value_null": ("cuStreamWaitValue32_v2", 0, 0, 1, 0),
    "batch_memory_null": ("cuStreamBatchMemOp_v2", 0, 0, None, 0),
    "copy_attributes_null": ("cuStreamCopyAttributes", None, None),
    "attribute_null": ("cuStreamGetAttribute", 0, 1, None),
})  # fmt: skip


@case
def flags(cuda: Driver) -> None:
    for flag in (0, 1):
        stream, value = cuda.stream(flag), ctypes.c_uint(99)
        cuda("cuStreamGetFlags", stream, value)
        cuda.note("flags", value.value)
        cuda("cuStreamDestroy_v2", stream)
    for handle in (0, 1, 2):
        value = ctypes.c_uint(99)
        cuda("cuStreamGetFlags", handle, value)
        cuda.note("flags", value.value)


@case
def priorities(cuda: Driver) -> None:
    for priority in (0, -1, -5, -6, -100, 1, 100):
        stream, value = Word(), ctypes.c_int(99)
        cuda("cuStreamCreateWithPriority", stream, 1, priority)
        cuda("cuStreamGetPriority", stream.value, value)
        cuda.note("priority", value.value)
    cuda("cuStreamGetPriority", 0, _INT)
    cuda.note("priority", _INT.value)


@case
def context_and_device(cuda: Driver) -> None:
    current, found = Word(), Word()
    cuda("cuCtxGetCurrent", current)
    for stream in (0, 1, 2, cuda.stream()):
        cuda("cuStreamGetCtx", stream, found)
        cuda.note("same", found.value == current.value)
        device = ctypes.c_int(-1)
        cuda("cuStreamGetDevice", stream, device)
        cuda.note("device", device.value)


@case
def numbers(cuda: Driver) -> None:
    found: list[int] = []
    for stream in (0, 1, 2, cuda.stream(), cuda.stream()):
        number = Word()
        cuda("cuStreamGetId", stream, number)
        found.append(number.value)
    cuda.note("distinct", len(set(found)), found[0] == found[1])


@case
def default_streams(cuda: Driver) -> None:
    for stream in (0, 1, 2):
        cuda("cuStreamQuery", stream)
        cuda("cuStreamSynchronize", stream)
        cuda("cuStreamDestroy_v2", stream)


@case(alone=True)
def destroy_twice(cuda: Driver) -> None:
    stream = cuda.stream()
    cuda("cuStreamDestroy_v2", stream)
    cuda("cuStreamDestroy_v2", stream)


@case(alone=True)
def destroyed_stream(cuda: Driver) -> None:
    stream = cuda.stream()
    cuda("cuStreamDestroy_v2", stream)
    cuda("cuStreamQuery", stream)
    cuda("cuStreamSynchronize", stream)


@case(alone=True)
def destroy_event_twice(cuda: Driver) -> None:
    event = cuda.event()
    cuda("cuEventDestroy_v2", event)
    cuda("cuEventDestroy_v2", event)


@case(alone=True)
def destroyed_event(cuda: Driver) -> None:
    event = cuda.event()
    cuda("cuEventDestroy_v2", event)
    cuda("cuEventQuery", event)
    cuda("cuEventRecord", event, 0)


@case
def new_events(cuda: Driver) -> None:
    event = cuda.event()
    cuda("cuEventQuery", event)
    cuda("cuEventSynchronize", event)
    cuda("cuStreamWaitEvent", 0, event, 0)
    cuda("cuEventElapsedTime", _FLOAT, event, event)


@case
def event_flags(cuda: Driver) -> None:
    for flag in range(8):
        event = Word()
        if cuda("cuEventCreate", event, flag) == 0:
            cuda("cuEventDestroy_v2", event.value)


@case
def elapsed(cuda: Driver) -> None:
    for function in ("cuEventElapsedTime", "cuEventElapsedTime_v2"):
        first, second, plain = cuda.event(), cuda.event(), cuda.event(2)
        cuda("cuEventRecord", first, 0)
        cuda("cuStreamSynchronize", 0)
        cuda(function, _FLOAT, first, second)
        cuda(function, _FLOAT, second, first)
        cuda("cuEventRecord", plain, 0)
        cuda("cuStreamSynchronize", 0)
        cuda(function, _FLOAT, first, plain)
        cuda(function, _FLOAT, plain, plain)
        cuda("cuEventRecord", second, 0)
        cuda("cuStreamSynchronize", 0)
        time = ctypes.c_float(-1)
        cuda(function, time, first, second)
        cuda.note("positive", time.value >= 0)
        cuda(function, time, second, first)
        cuda.note("negative", time.value <= 0)
        cuda(function, time, first, first)
        cuda.note("time", time.value)
        cuda(function, None, first, second)
        cuda(function, time, first, None)
        cuda(function, time, None, second)


@case
def records(cuda: Driver) -> None:
    event, stream = cuda.event(), cuda.stream()
    for each in (0, 1, 2, stream):
        cuda("cuEventRecord", event, each)
        cuda("cuEventSynchronize", event)
        cuda("cuEventQuery", event)
    for flag in (0, 1, 2, 100):
        cuda("cuEventRecordWithFlags", event, stream, flag)
    cuda("cuStreamSynchronize", stream)


@case
def waits(cuda: Driver) -> None:
    event, stream = cuda.event(), cuda.stream()
    cuda("cuEventRecord", event, stream)
    for flag in (0, 1, 2, 100):
        cuda("cuStreamWaitEvent", stream, event, flag)
    for each in (0, 1, 2):
        cuda("cuStreamWaitEvent", each, event, 0)
    cuda("cuStreamWaitEvent", stream, None, 0)
    cuda("cuStreamSynchronize", stream)


@case
def host_functions(cuda: Driver) -> None:
    seen: list[int] = []
    function = host_function(lambda data: seen.append(data or 0))
    stream = cuda.stream()
    cuda("cuLaunchHostFunc", stream, function, 5)
    cuda("cuLaunchHostFunc", 0, function, None)
    cuda("cuLaunchHostFunc", stream, None, None)
    cuda("cuStreamSynchronize", stream)
    cuda("cuStreamSynchronize", 0)
    cuda.note("called", *sorted(seen))


@case
def callbacks(cuda: Driver) -> None:
    seen: list[int] = []

    def note(stream: int | None, status: int, data: int | None) -> None:
        seen.append(status)

    function = _Callback(note)
    stream = cuda.stream()
    cuda("cuStreamAddCallback", stream, function, None, 0)
    cuda("cuStreamAddCallback", 0, function, None, 0)
    cuda("cuStreamAddCallback", stream, function, None, 1)
    cuda("cuStreamAddCallback", stream, None, None, 0)
    cuda("cuStreamSynchronize", stream)
    cuda("cuStreamSynchronize", 0)
    cuda.note("called", *seen)


@case(alone=True)
def calls_in_a_host_function(cuda: Driver) -> None:
    seen: list[int] = []

    def run(_: int | None) -> None:
        seen.append(cuda.call("cuMemAlloc_v2", Word(), 16))
        seen.append(cuda.call("cuStreamQuery", 0))

    function, stream = host_function(run), cuda.stream()
    cuda("cuLaunchHostFunc", stream, function, None)
    cuda("cuStreamSynchronize", stream)
    cuda.note("statuses", *seen)


@case
def values_in_memory(cuda: Driver) -> None:
    address, stream, data = cuda.allocate(), cuda.stream(), ctypes.create_string_buffer(8)
    cuda("cuStreamWriteValue32_v2", stream, address, 0x01020304, 0)
    cuda("cuStreamWriteValue32_v2", stream, address + 2, 1, 0)
    cuda("cuStreamWriteValue64_v2", stream, address + 4, 1, 0)
    cuda("cuStreamWaitValue32_v2", stream, address, 0x01020304, 1)
    cuda("cuStreamWaitValue32_v2", stream, address + 2, 1, 0)
    cuda("cuStreamWaitValue32_v2", stream, address, 0x01020304, 9)
    cuda("cuStreamSynchronize", stream)
    cuda("cuMemcpyDtoH_v2", data, address, 4)
    cuda.note("bytes", data.raw[:4].hex())


@case
def attributes(cuda: Driver) -> None:
    stream, value = cuda.stream(), (ctypes.c_uint64 * 8)()
    for number in (1, 3, 2, 8, 7, 99):
        cuda("cuStreamGetAttribute", stream, number, value)
        cuda("cuStreamSetAttribute", stream, number, value)
    cuda("cuStreamGetAttribute", 0, 1, value)
    cuda("cuStreamCopyAttributes", stream, cuda.stream())


@case
def stream_of_a_thread(cuda: Driver) -> None:
    address = cuda.allocate()
    cuda("cuMemsetD8Async", address, 1, 16, 2)
    cuda("cuStreamSynchronize", 2)
    cuda("cuMemsetD8Async", address, 1, 16, 1)
    cuda("cuStreamSynchronize", 1)
