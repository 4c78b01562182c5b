"""CUDA program that performs sequences of launches through ctypes, and prints their results.

Its argument is a JSON file with the PTX text `text`, the inputs `inputs` by name, and the steps of each sequence in
`sequences` by name: ["launch", kernel, is programmatic, stream, has a tensor map], ["wait", stream, other stream], or
["synchronize", stream]. If `leaves` is true, the program ends without waiting for the last launches.
"""

# ruff: noqa: T201

import ctypes
import json
import os
import struct
import sys
from pathlib import Path
from typing import Any

PROGRAMMATIC, NON_BLOCKING, UINT32 = 6, 1, 2
cuda = ctypes.CDLL("libcuda.so.1")


def check(status: int) -> None:
    if status:
        print("status", status, flush=True)
        sys.exit(3)


def upload(values: list[int]) -> int:
    address, size = ctypes.c_uint64(), ctypes.c_size_t(4 * len(values))
    check(cuda.cuMemAlloc_v2(ctypes.byref(address), size))
    check(cuda.cuMemcpyHtoD_v2(address, struct.pack(f"{len(values)}I", *values), size))
    return address.value


def download(address: int, count: int) -> list[int]:
    data = (ctypes.c_uint32 * count)()
    check(cuda.cuMemcpyDtoH_v2(data, ctypes.c_uint64(address), ctypes.c_size_t(4 * count)))
    return list(data)


def tensor_map(address: int) -> ctypes.Array[ctypes.c_uint64]:
    """Return a map of 4 rows with 64 numbers."""
    memory = (ctypes.c_char * 192)()
    found = (ctypes.c_uint64 * 16).from_buffer(memory, -ctypes.addressof(memory) % 64)
    sizes, strides = (ctypes.c_uint64 * 2)(64, 4), (ctypes.c_uint64 * 1)(256)
    box, steps = (ctypes.c_uint32 * 2)(64, 1), (ctypes.c_uint32 * 2)(1, 1)
    check(
        cuda.cuTensorMapEncodeTiled(found, UINT32, 2, ctypes.c_uint64(address), sizes, strides, box, steps, 0, 0, 0, 0)
    )
    return found


def launch(function: ctypes.c_void_p, args: list[Any], stream: ctypes.c_void_p, programmatic: bool) -> None:
    table = (ctypes.c_void_p * len(args))(*(ctypes.addressof(each) for each in args))
    attribute = ctypes.create_string_buffer(struct.pack("=I4xi60x", PROGRAMMATIC, int(programmatic)), 72)
    configuration = struct.pack("=7I4xQQI4x", 4, 1, 1, 64, 1, 1, 0, stream.value, ctypes.addressof(attribute), 1)
    check(cuda.cuLaunchKernelEx(configuration, function, table, None))


def perform(
    steps: list[list[Any]], inputs: dict[str, list[int]], module: ctypes.c_void_p, leaves: bool
) -> dict[str, list[int]]:
    streams = [ctypes.c_void_p() for _ in range(3)]
    for stream in streams:
        check(cuda.cuStreamCreate(ctypes.byref(stream), NON_BLOCKING))
    addresses = {name: upload(values) for name, values in inputs.items()}
    for what, *rest in steps:
        if what == "launch":
            kernel, programmatic, stream, has_map = rest
            function = ctypes.c_void_p()
            check(cuda.cuModuleGetFunction(ctypes.byref(function), module, kernel.encode()))
            args = [*map(ctypes.c_uint64, addresses.values()), *([tensor_map(addresses["b"])] if has_map else [])]
            launch(function, args, streams[stream], programmatic)
        elif what == "wait":
            event = ctypes.c_void_p()
            check(cuda.cuEventCreate(ctypes.byref(event), 0))
            check(cuda.cuEventRecord(event, streams[rest[1]]))
            check(cuda.cuStreamWaitEvent(streams[rest[0]], event, 0))
        else:
            check(cuda.cuStreamSynchronize(streams[rest[0]]))
    if leaves:
        os._exit(0)
    check(cuda.cuCtxSynchronize())
    return {name: download(addresses[name], 256) for name in addresses}


def main(path: str) -> None:
    given = json.loads(Path(path).read_text(encoding="utf-8"))
    check(cuda.cuInit(0))
    context, module = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuModuleLoadData(ctypes.byref(module), given["text"].encode()))
    inputs, leaves = given["inputs"], given["leaves"]
    print(json.dumps({name: perform(steps, inputs, module, leaves) for name, steps in given["sequences"].items()}))


if __name__ == "__main__":
    main(sys.argv[1])
