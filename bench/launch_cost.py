"""Compare the host time of a prepared launch from PyTorch tensors with the driver's launch call.

This benchmark needs a GPU. The kernel returns at once, so that the queue of launches stays short. Both kinds of launch
alternate.
"""

from __future__ import annotations

import ctypes
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from cuda.bindings import driver

import warploom as wl
from warploom.gpu import Gpu, Kernel

LIMIT_US = 15.0
ROUNDS = 41
CALLS = 500
KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry plain(.param .u64 a, .param .u64 b, .param .u64 d, .param .u32 m, .param .u32 n, .param .u32 k,
                      .param .f32 alpha, .param .f32 beta)
{
    ret;
}
.visible .entry mapped(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128], .param .align 64 .b8 d[128],
                       .param .u32 m, .param .u32 n, .param .u32 k, .param .f32 alpha, .param .f32 beta)
{
    ret;
}
"""
GEOMETRY: dict[str, Any] = {"grid": (1, 1, 1), "block": (32, 1, 1)}


def per_call(call: Callable[[], object]) -> float:
    """Return the microseconds of host time that a call takes, starting with an empty queue."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - start) / CALLS * 1e6


def bare(kernel: Kernel, sizes: list[int]) -> Callable[[], object]:
    """Return a function that calls only the driver's launch, with prepared parameters of the given sizes."""
    config = driver.CUlaunchConfig()
    config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1
    config.blockDimX = 32
    config.hStream = driver.CUstream(1)
    function = driver.CUfunction(int(kernel.loaded.handle))
    held = [ctypes.create_string_buffer(size) for size in sizes]
    places = (ctypes.c_void_p * len(held))(*map(ctypes.addressof, held))
    address = ctypes.addressof(places)

    def call() -> object:
        return driver.cuLaunchKernelEx(config, function, address, 0), held, places

    return call


def main() -> int:
    """Print the medians and the difference; return 1 if the difference exceeds the limit, otherwise 0."""
    tensors = [torch.zeros(256, 256, dtype=torch.bfloat16, device="cuda") for _ in range(6)]
    numbers = (256, 256, 256, 1.0, 0.0)
    worst = 0.0
    with Gpu() as gpu:
        print(f"{gpu.name}, CUDA {gpu.driver}, Python {sys.version.split()[0]}, PyTorch {torch.__version__}")
        maps = {name: wl.TensorMap.tiled(tensors[0], (64, 64), swizzle=128) for name in "abd"}
        plain, mapped = gpu.kernel(KERNEL, "plain"), gpu.kernel(KERNEL, "mapped")
        ours, with_maps = plain.prepare(**GEOMETRY), mapped.prepare(**GEOMETRY, tensors=maps)
        turn = iter(range(10**9))

        def moving() -> None:
            k = next(turn) % 2 * 3  # every map has another address than before
            with_maps(*tensors[k : k + 3], *numbers)

        sides: dict[str, Callable[[], object]] = {
            "the driver's call, pointers": bare(plain, [8, 8, 8, 4, 4, 4, 4, 4]),
            "prepared, three tensors by address": lambda: ours(*tensors[:3], *numbers),
            "the same on a stream that is given": lambda: ours(*tensors[:3], *numbers, stream=1),
            "the driver's call, tensor maps": bare(mapped, [128, 128, 128, 4, 4, 4, 4, 4]),
            "prepared, three tensor maps that move": moving,
        }
        times: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(ROUNDS):
            for name, call in sides.items():
                times[name].append(per_call(call))
        base = 0.0
        for name, found in times.items():
            middle = statistics.median(found)
            base = middle if name.startswith("the driver") else base
            worst = max(worst, middle - base)
            print(f"{name:38} {middle:6.2f} us, least {min(found):6.2f}, beyond the driver {middle - base:6.2f}")
    print(f"beyond the driver's own call: {worst:.2f} us at most, limit {LIMIT_US:.0f} us")
    return int(worst > LIMIT_US)


if __name__ == "__main__":
    sys.exit(main())
