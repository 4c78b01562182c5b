"""Cases of launches."""

from __future__ import annotations

import ctypes
import struct

from warploom_lab.driver.case import Driver, Word, calls, case
from warploom_lab.driver.kernels import EMPTY
from warploom_lab.driver.structures import Configuration, Values, attribute, configuration

_CLUSTER, _COOPERATIVE, _POLICY, _SERIALIZATION, _PRIORITY = 4, 2, 5, 6, 8
_END, _BUFFER, _SIZE = 0, 1, 2

calls("launches", {
    "null_function": ("cuLaunchKernel", None, 1, 1, 1, 1, 1, 1, 0, 0, None, None),
    "null_function_no_block": ("cuLaunchKernel", None, 1, 1, 1, 0, 1, 1, 0, 0, None, None),
    "null_cooperative": ("cuLaunchCooperativeKernel", None, 1, 1, 1, 1, 1, 1, 0, 0, None),
    "null_configuration": ("cuLaunchKernelEx", None, None, None, None),
    "null_function_ex": ("cuLaunchKernelEx", configuration(), None, None, None),
    "host_null": ("cuLaunchHostFunc", 0, None, None),
    "multi_device_null": ("cuLaunchCooperativeKernelMultiDevice", None, 0, 0),
})  # fmt: skip


@case
def extents(cuda: Driver) -> None:
    function = cuda.function("nothing")
    for grid, block in (
        ((0, 1, 1), (1, 1, 1)), ((1, 0, 1), (1, 1, 1)), ((1, 1, 0), (1, 1, 1)), ((1, 1, 1), (0, 1, 1)),
        ((1, 1, 1), (1, 0, 1)), ((1, 1, 1), (1, 1, 0)), ((1, 1, 1), (1024, 1, 1)), ((1, 1, 1), (1025, 1, 1)),
        ((1, 1, 1), (32, 32, 1)), ((1, 1, 1), (32, 32, 2)), ((1, 1, 1), (1, 1, 64)), ((1, 1, 1), (1, 1, 65)),
        ((1, 1, 1), (1, 1024, 1)), ((1, 1, 1), (1, 1025, 1)), ((1, 65536, 1), (1, 1, 1)), ((1, 1, 65536), (1, 1, 1)),
        ((1 << 31, 1, 1), (1, 1, 1)), ((0xFFFFFFFF, 1, 1), (1, 1, 1)), ((1, 1, 1), (0xFFFFFFFF, 1, 1)),
        ((0, 0, 0), (0, 0, 0)), ((0, 1, 1), (2048, 1, 1)), ((1, 1, 1), (1 << 16, 1 << 16, 1)),
    ):  # fmt: skip
        cuda.launch(function, grid, block)
    cuda("cuCtxSynchronize")


@case
def bounds_of_the_kernel(cuda: Driver) -> None:
    module = cuda.module()
    for name in ("bounded", "required"):
        function = cuda.function(name, module)
        for block in ((64, 1, 1), (65, 1, 1), (1, 64, 1), (32, 2, 1), (64, 2, 1), (1, 1, 1), (2, 32, 1), (8, 8, 1)):
            cuda.launch(function, block=block)
    cuda("cuCtxSynchronize")


@case
def dynamic_shared(cuda: Driver) -> None:
    module, address = cuda.module(), cuda.allocate()
    for name, values in (("nothing", None), ("kept", Values(address))):
        function = cuda.function(name, module)
        table = None if values is None else values.table
        for size in (0, 1, 48128, 48129, 49152, 49153, 232448, 1 << 20, 0xFFFFFFFF):
            cuda.launch(function, shared=size, values=table)
        cuda("cuFuncSetAttribute", function, 8, 100_000)
        for size in (49153, 100_000, 100_001, 232448):
            cuda.launch(function, shared=size, values=table)
        cuda("cuFuncSetAttribute", function, 8, 1000)
        for size in (1000, 1001, 49152):
            cuda.launch(function, shared=size, values=table)
    cuda("cuCtxSynchronize")


@case
def parameters(cuda: Driver) -> None:
    module, address = cuda.module(), cuda.allocate()
    store, nothing = cuda.function("store", module), cuda.function("nothing", module)
    cuda.launch(store)
    cuda.launch(nothing)
    cuda.launch(nothing, values=Values(1).table)
    cuda.launch(store, values=Values(address, 5).table)
    data = ctypes.create_string_buffer(4)
    cuda("cuMemcpyDtoH_v2", data, address, 4)
    cuda.note("stored", data.raw.hex())
    cuda("cuCtxSynchronize")


def _extra(*words: int) -> ctypes.Array[ctypes.c_uint64]:
    return (ctypes.c_uint64 * len(words))(*words)


@case
def buffers(cuda: Driver) -> None:
    module, address = cuda.module(), cuda.allocate()
    store, nothing = cuda.function("store", module), cuda.function("nothing", module)
    data = ctypes.create_string_buffer(struct.pack("=QI", address, 7), 64)
    start = ctypes.addressof(data)
    sizes = [ctypes.c_uint64(size) for size in (12, 16, 8, 0, 11, 64)]
    for size in sizes:
        cuda.launch(store, extra=_extra(_BUFFER, start, _SIZE, ctypes.addressof(size), _END))
        cuda.note("size", size.value)
    size = ctypes.addressof(sizes[0])
    cuda.launch(store, extra=_extra(_SIZE, size, _BUFFER, start, _END))
    cuda.launch(store, extra=_extra(_END))
    cuda.launch(store, extra=_extra(_BUFFER, start, _END))
    cuda.launch(store, extra=_extra(_SIZE, size, _END))
    cuda.launch(store, extra=_extra(_BUFFER, 0, _SIZE, size, _END))
    cuda.launch(store, extra=_extra(9, start, _END))
    cuda.launch(store, values=Values(address, 5).table, extra=_extra(_BUFFER, start, _SIZE, size, _END))
    cuda.launch(nothing, extra=_extra(_BUFFER, start, _SIZE, size, _END))
    cuda.launch(nothing, values=Values(address, 5).table, extra=_extra(_BUFFER, start, _SIZE, size, _END))
    cuda.launch(nothing, extra=_extra(_END))
    cuda("cuCtxSynchronize")


def _cluster(cuda: Driver, function: int, grid: tuple[int, int, int], *sizes: int) -> None:
    cuda("cuLaunchKernelEx", configuration(grid, (1, 1, 1), attribute(_CLUSTER, *sizes)), function, None, None)


@case
def clusters(cuda: Driver) -> None:
    function = cuda.function("nothing")
    for grid, sizes in (
        ((2, 1, 1), (2, 1, 1)), ((3, 1, 1), (2, 1, 1)), ((8, 1, 1), (8, 1, 1)), ((16, 1, 1), (16, 1, 1)),
        ((32, 1, 1), (32, 1, 1)), ((1, 1, 1), (0, 0, 0)), ((1, 1, 1), (0, 1, 1)), ((2, 2, 2), (2, 2, 2)),
        ((4, 4, 1), (4, 4, 1)), ((1, 1, 1), (1, 1, 1)), ((2, 1, 1), (1, 2, 1)), ((1, 1, 1), (2, 1, 1)),
        ((7, 1, 1), (7, 1, 1)), ((9, 1, 1), (9, 1, 1)), ((1, 1, 1), (-1, 1, 1)), ((0, 1, 1), (2, 1, 1)),
    ):  # fmt: skip
        _cluster(cuda, function, grid, *sizes)
    cuda("cuFuncSetAttribute", function, 14, 1)
    for grid, sizes in (((16, 1, 1), (16, 1, 1)), ((17, 1, 1), (17, 1, 1)), ((32, 1, 1), (32, 1, 1))):
        _cluster(cuda, function, grid, *sizes)
    cuda("cuCtxSynchronize")


@case
def clusters_of_the_kernel(cuda: Driver) -> None:
    function = cuda.function("clustered")
    cuda.launch(function)
    cuda.launch(function, (2, 1, 1))
    cuda.launch(function, (3, 1, 1))
    cuda.launch(function, (4, 2, 1))
    for grid, sizes in (((2, 1, 1), (2, 1, 1)), ((4, 1, 1), (4, 1, 1)), ((2, 1, 1), (1, 1, 1)), ((2, 1, 1), (0, 0, 0))):
        _cluster(cuda, function, grid, *sizes)
    cuda("cuLaunchKernelEx", configuration((2, 1, 1)), function, None, None)
    cuda("cuFuncSetAttribute", function, 11, 4)
    cuda("cuCtxSynchronize")


@case
def clusters_of_an_attribute(cuda: Driver) -> None:
    function, value = cuda.function("nothing"), ctypes.c_int()
    for number in (11, 12, 13):
        cuda("cuFuncSetAttribute", function, number, 2 if number == 11 else 1)
        cuda("cuFuncGetAttribute", value, number, function)
        cuda.note("value", value.value)
    cuda.launch(function, (3, 1, 1))
    cuda.launch(function, (4, 1, 1))
    cuda("cuCtxSynchronize")


@case
def cooperative(cuda: Driver) -> None:
    function = cuda.function("nothing")
    cuda("cuLaunchCooperativeKernel", function, 1, 1, 1, 32, 1, 1, 0, 0, None)
    cuda("cuLaunchCooperativeKernel", function, 132, 1, 1, 1024, 1, 1, 0, 0, None)
    cuda("cuLaunchCooperativeKernel", function, 264, 1, 1, 1024, 1, 1, 0, 0, None)
    cuda("cuLaunchCooperativeKernel", function, 265, 1, 1, 1024, 1, 1, 0, 0, None)
    cuda("cuLaunchCooperativeKernel", function, 4224, 1, 1, 32, 1, 1, 0, 0, None)
    cuda("cuLaunchCooperativeKernel", function, 4225, 1, 1, 32, 1, 1, 0, 0, None)
    cuda("cuLaunchCooperativeKernel", function, 100_000, 1, 1, 32, 1, 1, 0, 0, None)
    cuda("cuLaunchCooperativeKernel", function, 0, 1, 1, 32, 1, 1, 0, 0, None)
    cuda("cuLaunchCooperativeKernel", function, 1, 1, 1, 32, 1, 1, 1 << 20, 0, None)
    for count, value in ((1, 1), (100_000, 1), (100_000, 0)):
        setting = attribute(_COOPERATIVE, value)
        cuda("cuLaunchKernelEx", configuration((count, 1, 1), (32, 1, 1), setting), function, None, None)
    both = (attribute(_COOPERATIVE, 1), attribute(_CLUSTER, 2, 1, 1))
    cuda("cuLaunchKernelEx", configuration((2, 1, 1), (32, 1, 1), *both), function, None, None)
    cuda("cuCtxSynchronize")


@case
def attributes(cuda: Driver) -> None:
    function = cuda.function("nothing")
    for number, values in (
        (0, (0,)), (1, (0, 0, 0, 0)), (3, (1,)), (3, (2,)), (3, (9,)), (5, (0,)), (5, (1,)), (5, (2,)), (5, (3,)),
        (6, (0,)), (6, (1,)), (8, (0,)), (8, (-5,)), (8, (-6,)), (8, (9,)), (9, (0,)), (9, (1,)), (9, (9,)), (10, (0,)),
        (14, (50,)), (14, (101,)), (14, (-1,)), (16, (0,)), (18, (0,)), (30, (0,)), (1000, (0,)), (-1, (0,)),
    ):  # fmt: skip
        cuda("cuLaunchKernelEx", configuration((1, 1, 1), (1, 1, 1), attribute(number, *values)), function, None, None)
        cuda.note("attribute", number, *values)
    cuda("cuCtxSynchronize")


@case
def same_attribute_twice(cuda: Driver) -> None:
    function = cuda.function("nothing")
    twice = (attribute(_CLUSTER, 2, 1, 1), attribute(_CLUSTER, 4, 1, 1))
    cuda("cuLaunchKernelEx", configuration((2, 1, 1), (1, 1, 1), *twice), function, None, None)
    cuda("cuLaunchKernelEx", configuration((4, 1, 1), (1, 1, 1), *twice), function, None, None)


@case
def attributes_are_missing(cuda: Driver) -> None:
    function = cuda.function("nothing")
    one = (ctypes.c_uint * 3)(1, 1, 1)
    cuda("cuLaunchKernelEx", Configuration(one, one, 0, 0, 0, 1), function, None, None)
    cuda("cuLaunchKernelEx", Configuration(one, one, 0, 0, 0, 0), function, None, None)


@case
def configured_extents(cuda: Driver) -> None:
    function, store = cuda.function("nothing"), cuda.function("store")
    for grid, block, shared in (
        ((0, 1, 1), (1, 1, 1), 0), ((1, 1, 1), (0, 1, 1), 0), ((1, 1, 1), (1025, 1, 1), 0), ((1, 1, 1), (1, 1, 65), 0),
        ((1, 65536, 1), (1, 1, 1), 0), ((1, 1, 1), (1, 1, 1), 49153), ((1, 1, 1), (1, 1, 1), 1 << 30),
    ):  # fmt: skip
        cuda("cuLaunchKernelEx", configuration(grid, block, shared=shared), function, None, None)
    cuda("cuLaunchKernelEx", configuration(), store, None, None)
    cuda("cuLaunchKernelEx", configuration(), store, Values(cuda.allocate(), 1).table, _extra(_END))
    cuda("cuCtxSynchronize")


@case
def special_streams(cuda: Driver) -> None:
    function, stream = cuda.function("nothing"), cuda.stream()
    for handle in (0, 1, 2, stream):
        cuda.launch(function, stream=handle)
        cuda("cuStreamSynchronize", handle)


@case(alone=True)
def destroyed_stream(cuda: Driver) -> None:
    function, stream = cuda.function("nothing"), cuda.stream()
    cuda("cuStreamDestroy_v2", stream)
    cuda.launch(function, stream=stream)


@case
def large_parameters(cuda: Driver) -> None:
    text = EMPTY + b".visible .entry big(.param .align 4 .b8 a[4096]) { ret; }\n"
    function = cuda.function("big", cuda.module(text))
    data = ctypes.create_string_buffer(8192)
    table = (ctypes.c_uint64 * 1)(ctypes.addressof(data))
    cuda.launch(function, values=table)
    cuda("cuModuleLoadData", Word(), text.replace(b"4096", b"40000"))
    cuda("cuCtxSynchronize")
