"""Cases of failed kernels: the status, its permanence, and the functions that still work."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from warploom_lab.driver.case import Driver, Isolation, Word, add, case
from warploom_lab.driver.structures import Values, host_function

_WORD = Word()
_INT = ctypes.c_int()


def _illegal(cuda: Driver) -> None:
    cuda.launch(cuda.function("store"), values=Values(0, 1).table)


def _unmapped(cuda: Driver) -> None:
    cuda.launch(cuda.function("store"), values=Values(0x7000_0000_0000, 1).table)


def _beyond(cuda: Driver) -> None:
    cuda.launch(cuda.function("store"), values=Values(cuda.allocate(1 << 21) + (1 << 41), 1).table)


def _misaligned(cuda: Driver) -> None:
    cuda.launch(cuda.function("store"), values=Values(cuda.allocate() + 2, 1).table)


def _trap(cuda: Driver) -> None:
    cuda.launch(cuda.function("trapped"))


_FAILURES: dict[str, Callable[[Driver], None]] = {
    "illegal": _illegal, "unmapped": _unmapped, "beyond": _beyond, "misaligned": _misaligned, "trap": _trap,
}  # fmt: skip


def _status(cuda: Driver, fail: Callable[[Driver], None]) -> None:
    fail(cuda)
    cuda("cuCtxSynchronize")
    cuda("cuCtxSynchronize")


def _what_still_works(cuda: Driver, fail: Callable[[Driver], None]) -> None:
    """Call functions of each area after a failure."""
    address, host = cuda.allocate(), cuda.new("cuMemAllocHost_v2", 4096)
    module = cuda.module()
    function, stream, event = cuda.function("nothing", module), cuda.stream(), cuda.event()
    current, graph, node, executable = Word(), Word(), Word(), Word()
    cuda.require("cuCtxGetCurrent", current)
    cuda.require("cuGraphCreate", graph, 0)
    cuda.require("cuGraphAddEmptyNode", node, graph.value, None, 0)
    cuda.require("cuGraphInstantiateWithFlags", executable, graph.value, 0)
    fail(cuda)
    cuda("cuStreamSynchronize", 0)
    cuda("cuInit", 0)
    cuda("cuDriverGetVersion", _INT)
    cuda("cuDeviceGet", _INT, 0)
    cuda("cuDeviceGetCount", _INT)
    cuda("cuDeviceGetName", ctypes.create_string_buffer(64), 64, 0)
    cuda("cuDeviceGetAttribute", _INT, 1, 0)
    cuda("cuDeviceTotalMem_v2", _WORD, 0)
    cuda("cuDevicePrimaryCtxGetState", 0, _INT, _INT)
    cuda("cuCtxGetCurrent", _WORD)
    cuda("cuCtxGetDevice", _INT)
    cuda("cuCtxGetFlags", _INT)
    cuda("cuCtxGetLimit", _WORD, 0)
    cuda("cuCtxSetLimit", 0, 2048)
    cuda("cuCtxGetApiVersion", None, _INT)
    cuda("cuCtxGetId", None, _WORD)
    cuda("cuCtxGetStreamPriorityRange", _INT, _INT)
    cuda("cuCtxGetCacheConfig", _INT)
    cuda("cuCtxPushCurrent_v2", current.value)
    cuda("cuCtxPopCurrent_v2", _WORD)
    cuda("cuCtxSetCurrent", current.value)
    cuda("cuMemAlloc_v2", _WORD, 4096)
    cuda("cuMemAllocHost_v2", _WORD, 4096)
    cuda("cuMemAllocManaged", _WORD, 4096, 1)
    cuda("cuMemAllocAsync", _WORD, 4096, 0)
    cuda("cuMemGetInfo_v2", _WORD, Word())
    cuda("cuMemGetAddressRange_v2", _WORD, Word(), address)
    cuda("cuMemsetD8_v2", address, 0, 16)
    cuda("cuMemsetD8Async", address, 0, 16, stream)
    cuda("cuMemcpyHtoD_v2", address, ctypes.create_string_buffer(16), 16)
    cuda("cuMemcpyDtoH_v2", ctypes.create_string_buffer(16), address, 16)
    cuda("cuMemcpyDtoD_v2", address, address + 64, 16)
    cuda("cuMemcpyHtoDAsync_v2", address, host, 16, stream)
    cuda("cuMemcpy", address, host, 16)
    cuda("cuPointerGetAttribute", _WORD, 2, address)
    cuda("cuMemHostGetDevicePointer_v2", _WORD, host, 0)
    cuda("cuMemHostGetFlags", _INT, host)
    cuda("cuModuleLoadData", _WORD, b"nonsense")
    cuda("cuModuleGetFunction", _WORD, module, b"store")
    cuda("cuModuleGetGlobal_v2", _WORD, None, module, b"counter")
    cuda("cuFuncGetAttribute", _INT, 0, function)
    cuda("cuFuncSetAttribute", function, 8, 1024)
    cuda("cuFuncGetParamInfo", function, 0, _WORD, _WORD)
    cuda("cuOccupancyMaxActiveBlocksPerMultiprocessor", _INT, function, 32, 0)
    cuda.launch(function)
    cuda.launch(None)
    cuda.launch(function, block=(0, 1, 1))
    cuda("cuStreamCreate", _WORD, 0)
    cuda("cuStreamQuery", stream)
    cuda("cuStreamSynchronize", stream)
    cuda("cuStreamGetFlags", stream, _INT)
    cuda("cuStreamGetPriority", stream, _INT)
    cuda("cuStreamWaitEvent", stream, event, 0)
    cuda("cuStreamIsCapturing", stream, _INT)
    cuda("cuStreamBeginCapture_v2", stream, 0)
    cuda("cuEventCreate", _WORD, 0)
    cuda("cuEventRecord", event, stream)
    cuda("cuEventQuery", event)
    cuda("cuEventSynchronize", event)
    cuda("cuEventElapsedTime", ctypes.c_float(), event, event)
    cuda("cuGraphCreate", _WORD, 0)
    cuda("cuGraphLaunch", executable.value, stream)
    cuda("cuGraphInstantiateWithFlags", _WORD, graph.value, 0)
    cuda("cuGraphExecDestroy", executable.value)
    cuda("cuGraphDestroy", graph.value)
    cuda("cuEventDestroy_v2", event)
    cuda("cuStreamDestroy_v2", stream)
    cuda("cuModuleUnload", module)
    cuda("cuMemFree_v2", address)
    cuda("cuMemFreeHost", host)
    cuda("cuCtxSynchronize")


def _recovery(cuda: Driver, fail: Callable[[Driver], None]) -> None:
    """Reset the primary context after a failure, and use a new one."""
    fail(cuda)
    cuda("cuCtxSynchronize")
    context = Word()
    cuda("cuDevicePrimaryCtxRetain", context, 0)
    cuda("cuMemAlloc_v2", _WORD, 16)
    cuda("cuDevicePrimaryCtxRelease_v2", 0)
    cuda("cuDevicePrimaryCtxReset_v2", 0)
    cuda("cuDevicePrimaryCtxRetain", context, 0)
    cuda("cuCtxSetCurrent", context.value)
    cuda("cuCtxSynchronize")
    cuda("cuMemAlloc_v2", _WORD, 16)
    cuda("cuModuleLoadData", _WORD, b".version 8.0\n.target sm_90\n.address_size 64\n")


for _name, _fail in _FAILURES.items():
    for _part in (_status, _what_still_works, _recovery):
        add(f"failures.{_name}{_part.__name__}", lambda cuda, p=_part, f=_fail: p(cuda, f), Isolation.ALONE)


@case(alone=True)
def other_context(cuda: Driver) -> None:
    first, second = Word(), Word()
    cuda.require("cuCtxGetCurrent", first)
    cuda("cuCtxCreate_v4", second, None, 0, 0)
    _trap(cuda)
    cuda("cuCtxSynchronize")
    cuda("cuCtxSetCurrent", first.value)
    cuda("cuCtxSynchronize")
    cuda("cuMemAlloc_v2", _WORD, 16)
    cuda("cuCtxDestroy_v2", second.value)
    cuda("cuMemAlloc_v2", _WORD, 16)
    cuda("cuModuleLoadData", _WORD, b".version 8.0\n.target sm_90\n.address_size 64\n")


@case
def refused_launches_are_not_sticky(cuda: Driver) -> None:
    function = cuda.function("nothing")
    cuda.launch(function, block=(2048, 1, 1))
    cuda.launch(function, shared=1 << 20)
    cuda("cuMemsetD32_v2", 1, 1, 1)
    cuda("cuCtxSynchronize")
    cuda.launch(function)
    cuda("cuCtxSynchronize")


@case(alone=True)
def failure_in_a_graph(cuda: Driver) -> None:
    stream, graph, executable = cuda.stream(), Word(), Word()
    function = cuda.function("trapped")
    cuda("cuStreamBeginCapture_v2", stream, 0)
    cuda.launch(function, stream=stream)
    cuda("cuStreamEndCapture", stream, graph)
    cuda("cuGraphInstantiateWithFlags", executable, graph.value, 0)
    cuda("cuCtxSynchronize")
    cuda("cuGraphLaunch", executable.value, stream)
    cuda("cuStreamSynchronize", stream)
    cuda("cuGraphLaunch", executable.value, stream)


@case(alone=True)
def callback_after_a_failure(cuda: Driver) -> None:
    seen: list[int] = []
    host = host_function(lambda data: seen.append(1))
    stream, function = cuda.stream(), cuda.function("trapped")
    cuda.launch(function, stream=stream)
    cuda("cuStreamSynchronize", stream)
    cuda("cuLaunchHostFunc", stream, host, None)
    cuda("cuStreamSynchronize", stream)
    cuda.note("called", len(seen))
