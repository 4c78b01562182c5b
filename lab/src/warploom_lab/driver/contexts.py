"""Cases of contexts."""

from __future__ import annotations

import ctypes

from warploom_lab.driver.case import Driver, Word, calls, case

_INT = ctypes.c_int()
_SIZE = Word()


def _create(cuda: Driver, flags: int = 0) -> int:
    """Create a context, which becomes current, and record the status."""
    found = Word()
    cuda("cuCtxCreate_v4", found, None, flags, 0)
    return found.value


def _current(cuda: Driver) -> int:
    found = Word()
    cuda("cuCtxGetCurrent", found)
    return found.value


calls("contexts", {
    "create_null": ("cuCtxCreate_v4", None, None, 0, 0),
    "create_bad_device": ("cuCtxCreate_v4", _SIZE, None, 0, 99),
    "create_bad_flags": ("cuCtxCreate_v4", _SIZE, None, 0x1000, 0),
    "create_bad_schedule": ("cuCtxCreate_v4", _SIZE, None, 7, 0),
    "create_2_bad_flags": ("cuCtxCreate_v2", _SIZE, 0x1000, 0),
    "create_3_negative_count": ("cuCtxCreate_v3", _SIZE, None, -1, 0, 0),
    "destroy_null": ("cuCtxDestroy_v2", None),
    "push_null": ("cuCtxPushCurrent_v2", None),
    "current_null": ("cuCtxGetCurrent", None),
    "device_null": ("cuCtxGetDevice", None),
    "flags_null": ("cuCtxGetFlags", None),
    "set_flags_bad": ("cuCtxSetFlags", 0x1000),
    "set_flags_bad_schedule": ("cuCtxSetFlags", 3),
    "limit_null": ("cuCtxGetLimit", None, 0),
    "limit_negative": ("cuCtxGetLimit", _SIZE, -1),
    "limit_unknown": ("cuCtxGetLimit", _SIZE, 99),
    "set_limit_unknown": ("cuCtxSetLimit", 99, 0),
    "set_limit_synchronization_depth": ("cuCtxSetLimit", 3, 2),
    "cache_null": ("cuCtxGetCacheConfig", None),
    "set_cache_bad": ("cuCtxSetCacheConfig", 9),
    "shared_null": ("cuCtxGetSharedMemConfig", None),
    "set_shared_bad": ("cuCtxSetSharedMemConfig", 9),
    "version_null": ("cuCtxGetApiVersion", None, None),
    "number_null": ("cuCtxGetId", None, None),
    "priorities_null": ("cuCtxGetStreamPriorityRange", None, None),
    "affinity_null": ("cuCtxGetExecAffinity", None, 0),
    "attach_flags": ("cuCtxAttach", _SIZE, 1),
    "detach_null": ("cuCtxDetach", None),
    "enable_peer_null": ("cuCtxEnablePeerAccess", None, 0),
    "disable_peer_null": ("cuCtxDisablePeerAccess", None),
    "record_event_null": ("cuCtxRecordEvent", None, None),
    "reset_cache": ("cuCtxResetPersistingL2Cache",),
    "profiler_start": ("cuProfilerStart",),
    "profiler_stop": ("cuProfilerStop",),
})  # fmt: skip


@case
def limits(cuda: Driver) -> None:
    for limit in range(10):
        cuda("cuCtxGetLimit", _SIZE, limit)
    for limit in (0, 1, 2, 4, 5, 6):
        cuda("cuCtxGetLimit", _SIZE, limit)
        cuda.note(f"limit {limit}", _SIZE.value)


@case(alone=True)
def set_limits(cuda: Driver) -> None:
    for limit, value in ((0, 4096), (0, 100), (1, 1 << 20), (1, 1000), (2, 8 << 20), (2, 1), (4, 128), (5, 64), (5, 3),
                         (5, 1000), (6, 0), (0, 1 << 40), (0, 0)):  # fmt: skip
        cuda("cuCtxSetLimit", limit, value)
        cuda("cuCtxGetLimit", _SIZE, limit)
        cuda.note(f"limit {limit} after {value}", _SIZE.value)


@case
def pop_all(cuda: Driver) -> None:
    first = _current(cuda)
    found = Word()
    cuda("cuCtxPopCurrent_v2", found)
    cuda.note("is_first", found.value == first)
    cuda("cuCtxPopCurrent_v2", found)
    cuda("cuCtxPopCurrent_v2", None)
    cuda.note("current", _current(cuda))
    cuda("cuCtxSynchronize")
    cuda("cuCtxPushCurrent_v2", first)
    cuda("cuCtxPopCurrent_v2", None)
    cuda("cuMemAlloc_v2", found, 16)


@case
def push_twice(cuda: Driver) -> None:
    first = _current(cuda)
    cuda("cuCtxPushCurrent_v2", first)
    cuda("cuCtxPopCurrent_v2", _SIZE)
    cuda.note("current", _current(cuda) == first)
    cuda("cuCtxPopCurrent_v2", _SIZE)
    cuda.note("current", _current(cuda))


@case
def set_current_to_null(cuda: Driver) -> None:
    first = _current(cuda)
    cuda("cuCtxSetCurrent", None)
    cuda.note("current", _current(cuda))
    cuda("cuCtxSynchronize")
    cuda("cuCtxSetCurrent", None)
    cuda("cuCtxSetCurrent", first)
    cuda("cuCtxSynchronize")


@case
def set_current_replaces_the_top(cuda: Driver) -> None:
    first = _current(cuda)
    second = _create(cuda)
    cuda.note("different", first != second)
    cuda("cuCtxSetCurrent", first)
    cuda("cuCtxPopCurrent_v2", _SIZE)
    cuda.note("popped first", _SIZE.value == first)
    cuda("cuCtxPopCurrent_v2", _SIZE)
    cuda.note("popped first", _SIZE.value == first)
    cuda("cuCtxPopCurrent_v2", _SIZE)
    cuda("cuCtxDestroy_v2", second)


@case
def set_current_null_keeps_the_stack(cuda: Driver) -> None:
    first = _current(cuda)
    second = _create(cuda)
    cuda("cuCtxSetCurrent", None)
    cuda.note("current is first", _current(cuda) == first)
    cuda("cuCtxDestroy_v2", second)


@case
def destroy_current(cuda: Driver) -> None:
    first = _current(cuda)
    second = _create(cuda)
    cuda("cuCtxDestroy_v2", second)
    cuda.note("current is first", _current(cuda) == first)
    cuda("cuCtxSynchronize")


@case(alone=True)
def destroy_twice(cuda: Driver) -> None:
    second = _create(cuda)
    cuda("cuCtxDestroy_v2", second)
    cuda("cuCtxDestroy_v2", second)


@case(alone=True)
def destroyed_context_is_pushed(cuda: Driver) -> None:
    second = _create(cuda)
    cuda("cuCtxDestroy_v2", second)
    cuda("cuCtxPushCurrent_v2", second)
    cuda("cuCtxSetCurrent", second)


@case(alone=True)
def destroy_other(cuda: Driver) -> None:
    first = _current(cuda)
    second = _create(cuda)
    cuda("cuCtxPushCurrent_v2", first)
    cuda("cuCtxDestroy_v2", second)
    cuda("cuCtxSynchronize")
    cuda("cuCtxPopCurrent_v2", _SIZE)
    cuda.note("current is second", _current(cuda) == second)
    cuda("cuCtxSynchronize")
    cuda("cuMemAlloc_v2", _SIZE, 16)
    cuda("cuCtxPopCurrent_v2", _SIZE)


@case
def destroy_primary(cuda: Driver) -> None:
    cuda("cuCtxDestroy_v2", _current(cuda))
    cuda("cuCtxSynchronize")


@case
def flags(cuda: Driver) -> None:
    for flag in (0, 1, 2, 4, 8, 16, 0x1C):
        second = _create(cuda, flag)
        value = ctypes.c_uint()
        cuda("cuCtxGetFlags", value)
        cuda.note(f"flags {flag}", value.value)
        cuda("cuCtxDestroy_v2", second)


@case(alone=True)
def set_flags(cuda: Driver) -> None:
    value = ctypes.c_uint()
    cuda("cuCtxGetFlags", value)
    cuda.note("flags", value.value)
    for flag in (1, 4, 16, 0):
        cuda("cuCtxSetFlags", flag)
        cuda("cuCtxGetFlags", value)
        cuda.note(f"flags {flag}", value.value)


@case(alone=True)
def primary_flags(cuda: Driver) -> None:
    value, active = ctypes.c_uint(), ctypes.c_int()
    cuda("cuDevicePrimaryCtxGetState", 0, value, active)
    cuda.note("state", value.value, active.value)
    for flag in (4, 3, 0x1000, 0x10, 8, 0):
        cuda("cuDevicePrimaryCtxSetFlags_v2", 0, flag)
        cuda("cuDevicePrimaryCtxGetState", 0, value, active)
        cuda.note(f"state {flag}", value.value, active.value)


@case(alone=True)
def primary_is_released(cuda: Driver) -> None:
    value, active = ctypes.c_uint(), ctypes.c_int()
    cuda("cuDevicePrimaryCtxRetain", _SIZE, 0)
    cuda("cuDevicePrimaryCtxRelease_v2", 0)
    cuda("cuDevicePrimaryCtxGetState", 0, value, active)
    cuda.note("active", active.value)
    cuda("cuDevicePrimaryCtxRelease_v2", 0)
    cuda("cuDevicePrimaryCtxGetState", 0, value, active)
    cuda.note("active", active.value)
    cuda("cuDevicePrimaryCtxRelease_v2", 0)
    cuda("cuCtxSynchronize")
    cuda("cuMemAlloc_v2", _SIZE, 16)
    cuda("cuCtxGetDevice", _INT)


@case(alone=True)
def primary_is_reset(cuda: Driver) -> None:
    active = ctypes.c_int()
    first = _current(cuda)
    address = cuda.allocate()
    cuda("cuDevicePrimaryCtxReset_v2", 0)
    cuda("cuDevicePrimaryCtxGetState", 0, _INT, active)
    cuda.note("active", active.value)
    cuda.note("current", _current(cuda) == first)
    cuda("cuMemFree_v2", address)
    cuda("cuCtxSynchronize")
    cuda("cuDevicePrimaryCtxRetain", _SIZE, 0)
    cuda.note("same", _SIZE.value == first)
    cuda("cuCtxSetCurrent", _SIZE.value)
    cuda("cuCtxSynchronize")
    cuda("cuMemFree_v2", address)


@case
def primary_is_retained_twice(cuda: Driver) -> None:
    first, second = Word(), Word()
    cuda("cuDevicePrimaryCtxRetain", first, 0)
    cuda("cuDevicePrimaryCtxRetain", second, 0)
    cuda.note("same", first.value == second.value)
    cuda("cuDevicePrimaryCtxRelease_v2", 0)
    cuda("cuDevicePrimaryCtxRelease_v2", 0)


@case
def values(cuda: Driver) -> None:
    version, device, low, high = (ctypes.c_int(-9) for _ in range(4))
    cuda("cuCtxGetApiVersion", None, version)
    cuda.note("version", version.value)
    cuda("cuCtxGetApiVersion", _current(cuda), version)
    cuda.note("version", version.value)
    cuda("cuCtxGetDevice", device)
    cuda.note("device", device.value)
    cuda("cuCtxGetDevice_v2", device, None)
    cuda("cuCtxGetStreamPriorityRange", low, high)
    cuda.note("priorities", low.value, high.value)
    cuda("cuCtxGetCacheConfig", low)
    cuda.note("cache", low.value)
    for each in (0, 1, 2, 3):
        cuda("cuCtxSetCacheConfig", each)
        cuda("cuCtxGetCacheConfig", low)
        cuda.note("cache", low.value)
    cuda("cuCtxGetSharedMemConfig", low)
    cuda.note("shared", low.value)
    for each in (0, 1, 2):
        cuda("cuCtxSetSharedMemConfig", each)
        cuda("cuCtxGetSharedMemConfig", low)
        cuda.note("shared", low.value)


@case
def peer_of_itself(cuda: Driver) -> None:
    first = _current(cuda)
    cuda("cuCtxEnablePeerAccess", first, 0)
    cuda("cuCtxEnablePeerAccess", first, 1)
    cuda("cuCtxDisablePeerAccess", first)


@case
def numbers_of_contexts_differ(cuda: Driver) -> None:
    first, again, other = Word(), Word(), Word()
    cuda("cuCtxGetId", _current(cuda), first)
    cuda("cuCtxGetId", None, again)
    second = _create(cuda)
    cuda("cuCtxGetId", second, other)
    cuda.note("same", first.value == again.value, first.value == other.value)
    cuda("cuCtxDestroy_v2", second)


@case
def memory_of_another_context(cuda: Driver) -> None:
    address = cuda.allocate()
    second = _create(cuda)
    cuda("cuMemsetD8_v2", address, 0, 16)
    cuda("cuMemFree_v2", address)
    cuda("cuCtxDestroy_v2", second)


@case
def memory_ends_with_its_context(cuda: Driver) -> None:
    second = _create(cuda)
    address = cuda.allocate()
    cuda("cuCtxDestroy_v2", second)
    cuda("cuMemFree_v2", address)
    cuda("cuMemsetD8_v2", address, 0, 16)


@case
def stream_of_another_context(cuda: Driver) -> None:
    stream, event, address = cuda.stream(), cuda.event(), cuda.allocate()
    second = _create(cuda)
    cuda("cuStreamSynchronize", stream)
    cuda("cuMemsetD8Async", address, 0, 16, stream)
    cuda("cuEventRecord", event, 0)
    cuda("cuEventRecord", event, stream)
    cuda("cuCtxDestroy_v2", second)


@case
def function_of_another_context(cuda: Driver) -> None:
    function = cuda.function("nothing")
    second = _create(cuda)
    cuda.launch(function)
    cuda("cuCtxDestroy_v2", second)
