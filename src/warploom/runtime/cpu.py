"""Launches on the emulator."""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from warploom.diagnostics import UsageError
from warploom.emulator.arena import Arena
from warploom.emulator.execute import initialise, reserve, reserve_workspace
from warploom.emulator.execute import start as start_grid
from warploom.emulator.faults import Deadlock, RunError, Trap
from warploom.emulator.grid_dependencies import Steps, finish
from warploom.emulator.observers import Observer
from warploom.emulator.output import Output
from warploom.emulator.request import STEP_BUDGET, Request
from warploom.emulator.schedule import Schedule
from warploom.emulator.stats import Progress
from warploom.emulator.times import Times
from warploom.emulator.wave_run import WaveRun
from warploom.gpu.geometry import Geometry
from warploom.layout import TensorMapFields
from warploom.lazy_dataclass import dataclass
from warploom.numerics.fused import Workers
from warploom.runtime.arguments import Arguments
from warploom.runtime.distribution import Announce, check_workers, distributor
from warploom.runtime.kernel import LoadedKernel
from warploom.runtime.limits import architecture, check_limits
from warploom.runtime.run import Run

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from warploom.observe.profile import Profiler
    from warploom.observe.sanitize.launch_accesses import LaunchAccesses
    from warploom.observe.trace import Recorder


@dataclass(frozen=True, slots=True)
class EmulatorLaunch:
    """Launch that is ready to run, with its arguments in the emulator's memory `arena`.

    The first `outputs` segments of `arena` are the buffers of the arguments. `segments` has the address of each
    variable by name, and the address of the kernel parameters by "". `times` has the times up to this point.
    """

    request: Request
    arena: Arena
    segments: dict[str, int]
    outputs: int
    times: Times = field(default_factory=Times)

    def under(self, schedule: str) -> EmulatorLaunch:
        """Return this launch with another schedule and the same memory. Errors: UsageError launch.schedule."""
        return replace(self, request=replace(self.request, schedule=Schedule.parse(schedule)))

    def fork(self) -> EmulatorLaunch:
        """Return this launch with a copy of its memory."""
        return replace(self, arena=self.arena.fork())


def prepare(
    kernel: LoadedKernel,
    geometry: Geometry,
    arguments: Arguments,
    arch: str | None,
    schedule: str = "eager",
    step_budget: int | None = None,
) -> EmulatorLaunch:
    """Load a kernel and its arguments into new emulator memory.

    `runtime.api.launch` describes `arch`, `schedule` and `step_budget`.

    Errors: Unsupported; UsageError launch.*.
    """
    began = perf_counter()
    name = architecture(arch, kernel.signature)
    program = kernel.program
    bound = perf_counter()
    when = Schedule.parse(schedule)
    budget = check_step_budget(step_budget)
    check_limits(program, geometry, name, budget)
    arena, buffers = Arena(), arguments.buffers
    buffers.reserve(arena)
    outputs = len(arena.segments)
    segments = reserve(program, arena)
    workspace = reserve_workspace(arena, geometry.cooperative)
    arguments.fill_tables(buffers.address, TensorMapFields.pack)
    parameters = arguments.block(buffers.address, TensorMapFields.pack)
    arena.seal()
    buffers.write_to(arena)
    initialise(program, arena, segments, parameters)
    cluster, is_explicit = geometry.cluster or (1, 1, 1), geometry.cluster is not None
    request = Request(
        program, geometry.grid, geometry.block, cluster, geometry.shared, parameters, name, when, is_explicit, budget,
        workspace=workspace,
    )  # fmt: skip
    times = Times(read=bound - began, copies=perf_counter() - bound)
    return EmulatorLaunch(request, arena, segments, outputs, times)


def run(launch: EmulatorLaunch, **options: Any) -> Run:
    """Run a prepared launch, and leave the results in `launch.arena`.

    `options` are keyword arguments of `start`.

    Errors: as `start`.
    """
    return finish(start(launch, **options))


def start(
    launch: EmulatorLaunch,
    *,
    sanitize: bool | frozenset[str] = False,
    trace: bool | Sequence[int] = False,
    trace_events: int | None = None,
    profile: bool = False,
    workers: int | str = 1,
    progress: Callable[[Progress], None] | None = None,
    announce: Announce | None = None,
    observer: Observer | None = None,
    output: Callable[[str], object] | None = None,
    accesses: LaunchAccesses | None = None,
    publish: Callable[[WaveRun], None] | None = None,
) -> Steps[Run]:
    """Run a prepared launch, and leave the results in `launch.arena`.

    The run pauses if the request overlaps with others, and at stops of the emulator. `publish` is called before the
    first wave if the launch has one worker. `sanitize` is True for the default rules, or has the codes of
    the rules that are on. `observer` is an additional observer, which gets no events if `workers` is a Dask cluster.
    `output` is called after the run with the text that the kernel printed, if any; None prints nothing. With
    `sanitize`, `accesses` records the accesses to global memory, for a comparison with other launches.
    `runtime.api.launch` describes the other options.

    Errors: Trap and Deadlock, with the findings and records of the run up to this point; UsageError launch.*.
    """
    check_workers(workers)
    for option, callback in (("progress", progress), ("announce", announce), ("output", output)):
        if callback is not None and not callable(callback):
            raise UsageError(f"{option} is {callback!r}; expected a function", code="launch.option")
    printed = Output()
    launch = replace(launch, request=replace(launch.request, output=printed))
    try:
        done = yield from _start(
            launch, sanitize, trace, trace_events, profile, workers, progress, announce, observer, accesses, publish
        )
    except RunError as end:
        end.output, end.findings = printed.text(), (*end.findings, *printed.warnings())
        raise
    finally:
        text = printed.text()
        if output is not None and text:
            output(text)
    return replace(done, findings=(*done.findings, *printed.warnings()), output=text)


def _start(
    launch: EmulatorLaunch, sanitize: bool | frozenset[str], trace: bool | Sequence[int], trace_events: int | None,
    profile: bool, workers: int | str, progress: Callable[[Progress], None] | None, announce: Announce | None,
    observer: Observer | None, accesses: LaunchAccesses | None, publish: Callable[[WaveRun], None] | None,
) -> Steps[Run]:  # fmt: skip
    request, arena, segments = launch.request, launch.arena, launch.segments
    if isinstance(workers, str):
        for option, is_set in (("trace", trace is not False), ("profile", profile)):
            if is_set:
                raise UsageError(
                    f"a {option} cannot be recorded on a cluster of workers; expected a number of workers",
                    code="launch.workers",
                )
        stats, findings, distribution = distributor().run_grid(
            request, arena, segments, sanitize, workers, progress, announce
        )
        stats.times.add(launch.times)
        return Run(findings, stats, distribution=distribution)
    # Observers are imported on use, which shortens the start of a plain run.
    recorder = _recorder(trace, trace_events)
    observers: list[Observer] = [] if observer is None else [observer]
    if sanitize:
        from warploom.observe.sanitize.sanitizer import Sanitizer

        observers.append(Sanitizer(None if sanitize is True else sanitize, accesses))
    if recorder is not None:
        observers.append(recorder)
    profiler: Profiler | None = None
    if profile:
        from warploom.observe.profile import Profiler

        observers.append(profiler := Profiler())
    with _threads(workers) if workers > 1 else nullcontext() as threads:
        if observers or threads is not None:
            pool = None if threads is None else Workers(threads, workers)
            request = replace(request, observers=tuple(observers), pool=pool)
        try:
            stats, findings = yield from start_grid(request, arena, segments, progress, publish)
        except MemoryError:
            program = request.program
            raise UsageError(
                f"the host has too little memory for the resident CTAs: {program.local_bytes} bytes of local "
                f"memory for each thread, {program.registers.bytes_per_warp()} bytes of registers for each warp",
                code="launch.memory",
            ) from None
        except RunError as end:
            end.trace, end.profile = recorder and recorder.trace(), profiler and profiler.profile()
            end.stats.times.add(launch.times)
            raise
    stats.times.add(launch.times)
    return Run(findings, stats, recorder and recorder.trace(), profiler and profiler.profile())


def run_on(launch: EmulatorLaunch, arguments: Arguments, raises: bool, **options: Any) -> Run:
    """Run a prepared launch as `run` does, and attach partial results to an error.

    An error or an interrupt that ends the run gets the attribute `arrays`.

    If `raises` is false, return the part of the run before a trap or a deadlock.
    """
    return finish_on(start(launch, **options), launch, arguments, raises)


def finish_on(steps: Steps[Run], launch: EmulatorLaunch, arguments: Arguments, raises: bool) -> Run:
    """Run the execution `steps` of a prepared launch to its end, as `run_on` does."""
    try:
        return finish(steps)
    except (RunError, KeyboardInterrupt) as error:
        vars(error)["arrays"] = arguments.contents(launch.arena)
        if raises or not isinstance(error, Trap | Deadlock):
            raise
        return Run.before(error)


def merge(runs: Sequence[Run]) -> Run:
    """Return the first run with the findings of all runs. A finding that several runs have is listed once."""
    from warploom.observe.sanitize.findings import merge_findings

    return replace(runs[0], findings=merge_findings(found for run in runs for found in run.findings))


def _threads(count: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(count)


def _recorder(trace: bool | Sequence[int], events: int | None) -> Recorder | None:
    if trace is False:
        if events is not None:
            raise UsageError("trace_events is for a launch with a trace; expected trace=True", code="launch.trace")
        return None
    if trace is not True and not (isinstance(trace, Sequence) and trace and all(type(cta) is int for cta in trace)):
        raise UsageError(f"trace is {trace!r}; expected a bool or numbers of CTAs", code="launch.trace")
    if events is not None:
        _check_positive("trace_events", events, "launch.trace")
    from warploom.observe.trace import EVENTS, Recorder

    return Recorder(None if trace is True else trace, EVENTS if events is None else events)


_MOST = 1 << 62  # counters of native code are 64-bit integers


def _check_positive(name: str, value: object, code: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < _MOST:
        raise UsageError(f"{name} is {value!r}; expected an integer above 0 and below 2**62", code=code)


def check_step_budget(given: int | None) -> int:
    """Return the step budget of a launch, by default that of the environment.

    Errors: UsageError launch.budget.
    """
    budget = _step_budget() if given is None else given
    _check_positive("step_budget", budget, "launch.budget")
    return budget


def _step_budget() -> int:
    text = os.environ.get("WARPLOOM_STEP_BUDGET")
    if text is None:
        return STEP_BUDGET
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"WARPLOOM_STEP_BUDGET is {text!r}; expected an integer above 0", code="launch.budget")
    return int(text)
