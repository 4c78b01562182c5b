"""Compare a launch under `warploom exec` with `wl.launch`.

    python bench/exec_cost.py [--rounds N]

A CUDA program launches a small kernel many times under `warploom exec`. The same kernel runs by `wl.launch` with a
buffer of the same size. The processes take turns. The exit status is 1 if a launch takes over 5 ms longer under `exec`.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter

LAUNCHES = 200
MOST = 5.0  # milliseconds
PTX = """
.version 8.0
.target sm_90
.address_size 64

.visible .entry twice(.param .u64 values)
{
    .reg .b64 %address;
    .reg .b32 %index, %value;
    ld.param.u64 %address, [values];
    mov.u32 %index, %tid.x;
    mad.wide.u32 %address, %index, 4, %address;
    ld.global.u32 %value, [%address];
    add.u32 %value, %value, %value;
    st.global.u32 [%address], %value;
    ret;
}
"""


def launched_by_program() -> tuple[float, float]:
    """Return the milliseconds of a launch and of a call without a result, through the driver library."""
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    address = ctypes.c_uint64()
    statuses = [
        cuda.cuInit(0),
        cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
        cuda.cuCtxSetCurrent(context),
        cuda.cuModuleLoadData(ctypes.byref(module), PTX.encode()),
        cuda.cuModuleGetFunction(ctypes.byref(function), module, b"twice"),
        cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(128)),
    ]
    table = (ctypes.c_void_p * 1)(ctypes.addressof(address))

    def launch() -> None:
        statuses.append(cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, table, None))

    launch()
    found = milliseconds(launch), milliseconds(lambda: statuses.append(cuda.cuCtxSynchronize()))
    assert not any(statuses), statuses
    return found


def launched_by_python() -> float:
    """Return the milliseconds of a launch by `wl.launch`."""
    import numpy as np

    import warploom as wl

    values = np.zeros(32, np.uint32)

    def launch() -> None:
        wl.launch(PTX, grid=1, block=32, args=[values])

    launch()
    return milliseconds(launch)


def milliseconds(run: Callable[[], None]) -> float:
    """Return the time of a call in the fastest of ten series of calls."""
    best = float("inf")
    for _ in range(10):
        began = perf_counter()
        for _ in range(LAUNCHES // 10):
            run()
        best = min(best, (perf_counter() - began) / (LAUNCHES // 10))
    return 1e3 * best


def main() -> int:
    """Print the times of a launch and of a call, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="number of processes of each kind (3)")
    parser.add_argument("--as", dest="side", choices=("program", "python"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side == "program":
        print(*launched_by_program())
        return 0
    if options.side == "python":
        print(launched_by_python())
        return 0
    this = [sys.executable, __file__, "--as"]
    programs: list[tuple[float, float]] = []
    launches: list[float] = []
    for _ in range(options.rounds):
        launch, call = output([sys.executable, "-m", "warploom", "exec", "--", *this, "program"])
        programs.append((launch, call))
        launches += output([*this, "python"])
    launch, call = (min(column) for column in zip(*programs, strict=True))
    added = launch - min(launches)
    print(f"launch under exec {launch:.2f} ms, by wl.launch {min(launches):.2f} ms: {added:+.2f} ms; goal {MOST:g} ms")
    print(f"call without a result {1e3 * call:.0f} µs")
    return int(added > MOST)


def output(command: list[str]) -> list[float]:
    """Run a command, and return the numbers that it prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


if __name__ == "__main__":
    sys.exit(main())
