"""`launch` and `sanitize`: run a kernel on the emulator or on a GPU."""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from warploom.diagnostics import Diagnostic, UsageError
from warploom.emulator.stats import Progress, Stats
from warploom.gpu.geometry import Extent
from warploom.runtime.arguments import Arguments
from warploom.runtime.kernel import LoadedKernel, load_kernel
from warploom.runtime.limits import read_geometry
from warploom.runtime.run import Run

if TYPE_CHECKING:
    from warploom.gpu.geometry import Geometry
    from warploom.runtime.cuda import AssemblerName
    from warploom.runtime.distribution import Announce
    from warploom.runtime.kernel import KernelSource

__all__ = ["SCHEDULES", "Progress", "Run", "Stats", "launch", "sanitize"]

SCHEDULES = ("eager", "lazy", "random:0")
"""Schedules under which `sanitize` runs a kernel by default."""


def launch(
    kernel: KernelSource,
    name: str | None = None,
    *,
    grid: Extent,
    block: Extent | None = None,
    args: Sequence[object],
    cluster: Extent = (1, 1, 1),
    shared: int | None = None,
    device: Literal["cpu", "cuda"] = "cpu",
    arch: str | None = None,
    schedule: str = "eager",
    sanitize: bool = False,
    trace: bool | Sequence[int] = False,
    trace_events: int | None = None,
    profile: bool = False,
    workers: int | str = 1,
    step_budget: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    announce: Announce | None = None,
    stream: object = None,
    wait: bool = True,
    cooperative: bool = False,
    programmatic: bool = False,
    assembler: AssemblerName = "driver",
) -> Run:
    """Run a kernel on the emulator or on a GPU.

    `kernel` is a PTX text, the path of a file, a Module, or a kernel written in Python. `name` selects the entry, and
    may be None if the module has only one. `shared` and `block` may be None for a kernel written in Python, which
    states them. `block` may also be None if the entry has .reqntid. `device` is "cpu" for the emulator or "cuda" for a
    GPU (extra `gpu`).

    `args` are in parameter order:

    - An array is a device buffer. The kernel gets its address, and the array holds the results afterwards. It may be
      an array of NumPy, PyTorch, CuPy or JAX. An array in the memory of a GPU is used in place.
    - A number has the width of its parameter. None is a null pointer.
    - A TensorMap fills a 128-byte parameter.
    - Bytes or a Struct fill a parameter by value. A Struct may contain pointers.
    - A list of arrays is passed as the address of a table of their addresses.

    Options of the emulator:

    - `arch` is the architecture whose arithmetic and limits apply; the default is the module's target.
    - `schedule` decides when asynchronous operations take effect: "eager", "lazy" or "random:SEED".
    - `sanitize` reports accesses that no synchronization orders. A trap or a deadlock becomes a finding.
    - `trace` lists the numbers of the CTAs whose events are recorded; x varies fastest in these numbers. True selects
      the first cluster. `trace_events` limits the number of events. The error of a trap or a deadlock has the trace.
    - `profile` counts the executions of each instruction and the cost of its accesses.
    - `workers` is a number of threads, or a Dask cluster that shares the grid (extra `farm`): "dask" for one local
      worker per core, "dask:N" for N local workers, or a scheduler's address. Results and findings do not depend on it.
    - `step_budget` limits the warp instructions of the run, where a batch of fewer than 32 warps counts as 32; the
      default is the environment variable WARPLOOM_STEP_BUDGET, or 1,000,000,000.
    - `progress` is called repeatedly with the progress of the run. `announce` is called with sentences about a
      distributed run, such as its estimated time.

    Options of a GPU:

    - `stream` is a stream of PyTorch, CuPy or cuda-core, or its handle. The default is the stream that the library of
      the arrays uses at the time of the call.
    - `wait=False` returns before the kernel ends. All arrays must be on the GPU.
    - `cooperative` makes all CTAs resident together.
    - `programmatic` lets the launch start before the previous launch on the stream has ended.
    - `assembler` is "driver" for the assembler of the CUDA driver, or "ptxas" for an installed ptxas.

    Units: `shared` bytes of dynamic shared memory.
    Errors: PtxSyntaxError; UsageError launch.*; Unsupported before the run; Trap and Deadlock during the run. A launch
        on a GPU also raises UsageError gpu.* and DeviceFault, and a launch on a Dask cluster UsageError dask.*.
    """
    if device not in ("cpu", "cuda"):
        raise UsageError(f"device is {device!r}; expected 'cpu' or 'cuda'", code="launch.device")
    observers = {"sanitize": sanitize, "trace": trace is not False, "profile": profile}
    gpu_options = {"stream": stream is not None, "cooperative": cooperative}
    options = {**observers, "workers": isinstance(workers, str)} if device == "cuda" else gpu_options
    for option in [each for each, is_set in options.items() if is_set]:
        expected = "cpu" if device == "cuda" else "cuda"
        raise UsageError(
            f"device='{device}' does not support {option}; expected device='{expected}'", code="launch.device"
        )
    loaded, geometry = load_launch(kernel, name, grid, block, cluster, shared)
    geometry = replace(geometry, cooperative=cooperative, programmatic=programmatic)
    arguments = Arguments(loaded.signature, args, on_gpu=device == "cuda")
    if device == "cuda":
        from warploom.runtime import cuda

        return cuda.run(loaded.signature, geometry, arguments, stream, wait, assembler)
    from warploom.runtime import cpu

    prepared = cpu.prepare(loaded, geometry, arguments, arch, schedule, step_budget)
    done = cpu.run(
        prepared, sanitize=sanitize, trace=trace, trace_events=trace_events, profile=profile, workers=workers,
        progress=progress, announce=announce,
    )  # fmt: skip
    arguments.buffers.read_from(prepared.arena)
    return done


def sanitize(
    kernel: KernelSource,
    name: str | None = None,
    *,
    grid: Extent,
    block: Extent | None = None,
    args: Sequence[object],
    cluster: Extent = (1, 1, 1),
    shared: int | None = None,
    arch: str | None = None,
    schedules: Sequence[str] = SCHEDULES,
    workers: int | str = 1,
    step_budget: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    announce: Announce | None = None,
) -> Run:
    """Run a kernel on the emulator under several schedules, and return the findings of all runs.

    Each entry of `schedules` is a value that `launch` accepts as `schedule`. `launch` describes all other parameters.
    Each run starts from its own copy of the arguments. Afterwards the arrays hold the results of the first schedule. A
    finding that several runs have is listed once.

    Errors: as `launch`; UsageError launch.schedule if `schedules` is empty.
    """
    if isinstance(schedules, str) or not schedules:
        raise UsageError(
            f"schedules is {schedules!r}; expected a sequence of schedules, such as ('eager', 'lazy')",
            code="launch.schedule",
        )
    loaded, geometry = load_launch(kernel, name, grid, block, cluster, shared)
    arguments = Arguments(loaded.signature, args, on_gpu=False)
    from warploom.runtime import cpu

    prepared = cpu.prepare(loaded, geometry, arguments, arch, step_budget=step_budget)
    findings: dict[object, Diagnostic] = {}
    first: tuple[Run, cpu.EmulatorLaunch] | None = None
    for each in [prepared.under(schedule) for schedule in schedules]:
        fork = each.fork()
        done = cpu.run(fork, sanitize=True, workers=workers, progress=progress, announce=announce)
        first = first or (done, fork)
        for found in done.findings:
            other = (found.data or {}).get("other line")
            cause = found.code, found.span, other, found.message if found.span is None else ""
            findings.setdefault(cause, found)
    assert first is not None
    arguments.buffers.read_from(first[1].arena)
    return replace(first[0], findings=tuple(findings.values()))


def load_launch(
    kernel: KernelSource, name: str | None, grid: Extent, block: Extent | None, cluster: Extent, shared: int | None
) -> tuple[LoadedKernel, Geometry]:
    """Return the kernel of a launch and the geometry of the launch.

    If `block` or `shared` is None, the kernel's own default applies. `shared` is in bytes of dynamic shared memory.

    Errors: UsageError launch.*, ptx.*, emulator.kernel.
    """
    loaded = load_kernel(kernel, name)
    block, shared = loaded.block if block is None else block, loaded.shared if shared is None else shared
    return loaded, read_geometry(loaded.signature, grid, block, cluster, shared)
