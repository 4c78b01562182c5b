"""`launch` and `sanitize`: run a kernel on the emulator or on a GPU."""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from warploom.diagnostics import UsageError
from warploom.emulator.stats import Progress, Stats
from warploom.garbage import paused_collection
from warploom.gpu.geometry import Extent
from warploom.runtime.arguments import Arguments
from warploom.runtime.elements import check_elements
from warploom.runtime.kernel import LoadedKernel, load_kernel
from warploom.runtime.limits import read_geometry
from warploom.runtime.options import check_device, check_switches
from warploom.runtime.program import observed_program
from warploom.runtime.run import Run

if TYPE_CHECKING:
    from warploom.gpu.geometry import Geometry
    from warploom.runtime import cpu
    from warploom.runtime.cuda import AssemblerName
    from warploom.runtime.distribution import Announce
    from warploom.runtime.kernel import KernelSource

MOST_KEPT = 32 << 20
"""Largest memory of a launch whose inputs are kept for `Run.why` by default. Units: bytes."""

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
    raises: bool = True,
    trace: bool | Sequence[int] = False,
    trace_events: int | None = None,
    profile: bool = False,
    keep: bool = False,
    workers: int | str = 1,
    step_budget: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    announce: Announce | None = None,
    output: Callable[[str], object] | None = None,
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
      an array of NumPy, PyTorch, CuPy or JAX. An array in the memory of a GPU is used in place. Numbers that are wider
      than every access of the kernel are refused, except unsigned integers, which may contain values of any type.
    - A number has the width of its parameter. None is a null pointer.
    - A TensorMap fills a 128-byte parameter.
    - Bytes or a Struct fill a parameter by value. A Struct may contain pointers.
    - A list of arrays is passed as the address of a table of their addresses. None in the list is a null pointer.
      Views of arrays share the memory of these arrays.
    - For a pointer, a TensorMap or a Struct, or a list of them, is passed as the address of a buffer with their bytes.
      The launch does not copy this buffer back.

    Options of both:

    - `cooperative` makes all CTAs resident together, and lets them synchronize with each other (grid groups of CUDA).

    Options of the emulator:

    - `arch` is the architecture whose arithmetic and limits apply; the default is the module's target. It must be able
      to run code for this target: for example, code for sm_80 runs on sm_90, and code for sm_90a on sm_90a only.
    - `schedule` decides when asynchronous operations take effect: "eager", "lazy" or "random:SEED".
    - `sanitize` reports accesses that no synchronization orders.
    - With `raises=False`, a trap or a deadlock does not raise an exception: `launch` returns the part of the run before
      the error. `Run.error` is then this error, which is one of the findings.
    - `trace` lists the numbers of the CTAs whose events are recorded; x varies fastest in these numbers. True selects
      the first cluster. `trace_events` limits the number of events.
    - `profile` counts the executions of each instruction and the cost of its accesses.
    - `keep` keeps the inputs, so that `Run.why` can explain elements of the result at any time. By default, this holds
      for the latest launch if its memory has at most 32 MiB.
    - `workers` is a number of threads, or a Dask cluster that shares the grid (extra `farm`): "dask" for one local
      worker per core, "dask:N" for N local workers, or a scheduler's address. Results and findings do not depend on it.
    - `step_budget` limits the warp instructions of the run, where a batch of fewer than 32 warps counts as 32; the
      default is the environment variable WARPLOOM_STEP_BUDGET, or 1,000,000,000.
    - `progress` is called repeatedly with the progress of the run. `announce` is called with sentences about a
      distributed run, such as its estimated time.
    - `output` is called at the end of the run with the text that the kernel printed, if any. The default writes the
      text to standard output. `Run.output` has the same text. The text is ordered by CTA, and within a CTA by the time
      of the call, so it does not depend on `workers`. It is cut at 1 MiB, which a warning states.

    On a GPU, the driver writes the text that the kernel prints to the standard output of the process when the launch
    has ended, and `Run.output` is empty.

    Options of a GPU:

    - `stream` is a stream of PyTorch, CuPy or cuda-core, or its handle. The default is the stream that the library of
      the arrays uses at the time of the call.
    - `wait=False` returns before the kernel ends. All arrays must be on the GPU.
    - `programmatic` lets the launch start before the previous launch on the stream has ended.
    - `assembler` is "driver" for the assembler of the CUDA driver, or "ptxas" for an installed ptxas.

    If a run on the emulator ends with an error, all arrays keep the contents from before the launch. The attributes of
    Trap and Deadlock have the partial contents, the findings, the statistics, the trace and the profile up to this
    point. A KeyboardInterrupt has the partial contents in its attribute `arrays`. After a DeviceFault, the contents of
    arrays in the memory of a GPU are undefined, and all other arrays keep the contents from before the launch.

    Units: `shared` bytes of dynamic shared memory.
    Errors: PtxSyntaxError; UsageError launch.*; Unsupported before the run; Trap and Deadlock during the run. A launch
        on a GPU also raises UsageError gpu.* and DeviceFault, and a launch on a Dask cluster UsageError dask.*.
    """
    check_device(device)
    check_switches({
        "sanitize": sanitize, "raises": raises, "profile": profile, "keep": keep, "wait": wait,
        "cooperative": cooperative,
        "programmatic": programmatic,
    })  # fmt: skip
    gpu_options = {
        "stream": stream is not None, "wait=False": not wait,
        "programmatic": programmatic, "assembler": assembler != "driver",
    }  # fmt: skip
    emulator_options = {
        "sanitize": sanitize, "raises=False": not raises, "trace": trace is not False,
        "trace_events": trace_events is not None, "profile": profile, "keep": keep, "arch": arch is not None,
        "schedule": schedule != "eager", "workers": workers != 1, "step_budget": step_budget is not None,
        "progress": progress is not None, "announce": announce is not None, "output": output is not None,
    }  # fmt: skip
    options = emulator_options if device == "cuda" else gpu_options
    for option in [each for each, is_set in options.items() if is_set]:
        expected = "cpu" if device == "cuda" else "cuda"
        raise UsageError(
            f"device='{device}' does not support {option}; expected device='{expected}'", code="launch.device"
        )
    on_gpu, began = device == "cuda", perf_counter()
    loaded, geometry, arguments = load_launch(kernel, name, grid, block, cluster, shared, args, on_gpu=on_gpu)
    geometry = replace(geometry, cooperative=cooperative, programmatic=programmatic)
    if on_gpu:
        from warploom.runtime import cuda

        return cuda.run(loaded.signature, geometry, arguments, stream, wait, assembler)
    read = perf_counter() - began
    with paused_collection():
        from warploom.runtime import cpu

    program = observed_program()
    if program is not None:
        sanitize, schedule = sanitize or program.sanitize, program.schedule or schedule
    prepared = cpu.prepare(loaded, geometry, arguments, arch, schedule, step_budget)
    prepared.times.read += read
    done = cpu.run_on(
        prepared, arguments, raises, sanitize=sanitize, trace=trace, trace_events=trace_events, profile=profile,
        workers=workers, progress=progress, announce=announce, output=output or write_output,
    )  # fmt: skip
    if done.error is None:
        began = perf_counter()
        if keep or prepared.arena.bytes.nbytes <= MOST_KEPT:
            from warploom.runtime.replay import keep_replay

            replay = keep_replay(loaded, geometry, arguments, prepared, arch, schedule, step_budget, always=keep)
            done = replace(done, replay=replay)
        arguments.buffers.read_from(prepared.arena)
        done.stats.times.copies += perf_counter() - began
    if program is not None:
        program.runs.append(done)
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
    enable: Sequence[str] = (),
    disable: Sequence[str] = (),
    workers: int | str = 1,
    step_budget: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    announce: Announce | None = None,
    output: Callable[[str], object] | None = None,
) -> Run:
    """Run a kernel on the emulator under several schedules, and return the findings of all runs.

    Each entry of `schedules` is a value that `launch` accepts as `schedule`. `launch` describes all other parameters.
    Each run starts from its own copy of the arguments. A finding that several runs have is listed once. A trap or a
    deadlock is a finding, and the next run follows. Afterwards the arrays hold the results of the first run. If the
    first run ends with a trap or a deadlock, `Run.error` is this error, and the arrays keep the contents from before
    the call. `Run.output` and `output` get the text that the kernel printed in the first run.

    `enable` lists the codes of rules that are off by default, to switch them on. `disable` lists the codes of rules to
    switch off.

    Errors: as `launch`, except Trap and Deadlock; UsageError launch.schedule if `schedules` is empty; UsageError
        launch.rule for an unknown rule.
    """
    if not isinstance(schedules, Sequence) or isinstance(schedules, str) or not schedules:
        raise UsageError(
            f"schedules is {schedules!r}; expected a sequence of schedules, such as ('eager', 'lazy')",
            code="launch.schedule",
        )
    from warploom.observe.sanitize.rules import active_rules
    from warploom.runtime import cpu

    active = active_rules(enable, disable)
    loaded, geometry, arguments = load_launch(kernel, name, grid, block, cluster, shared, args)
    prepared = cpu.prepare(loaded, geometry, arguments, arch, step_budget=step_budget)
    runs: list[Run] = []
    first: cpu.EmulatorLaunch | None = None
    for each in [prepared.under(schedule) for schedule in schedules]:
        fork = each.fork()
        first = first or fork
        observed = {"sanitize": active, "workers": workers, "progress": progress, "announce": announce}
        write = None if runs else output or write_output
        runs.append(cpu.run_on(fork, arguments, raises=False, output=write, **observed))
    assert first is not None
    if runs[0].error is None:
        arguments.buffers.read_from(first.arena)
    return cpu.merge(runs)


def write_output(text: str) -> None:
    """Write the text of a kernel's `printf` calls to standard output."""
    sys.stdout.write(text)
    sys.stdout.flush()


def load_launch(
    kernel: KernelSource, name: str | None, grid: Extent, block: Extent | None, cluster: Extent, shared: int | None,
    args: Sequence[object], *, on_gpu: bool = False,
) -> tuple[LoadedKernel, Geometry, Arguments]:  # fmt: skip
    """Return the kernel of a launch, the geometry of the launch, and its arguments.

    If `block` or `shared` is None, the kernel's own default applies. `shared` is in bytes of dynamic shared memory.

    Errors: UsageError launch.*, ptx.*, emulator.kernel.
    """
    loaded = load_kernel(kernel, name)
    block, shared = loaded.block if block is None else block, loaded.shared if shared is None else shared
    geometry = read_geometry(loaded.signature, grid, block, cluster, shared)
    arguments = Arguments(loaded.signature, args, on_gpu=on_gpu)
    check_elements(loaded, arguments)
    return loaded, geometry, arguments
