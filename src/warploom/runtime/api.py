"""`launch`: one call that runs a kernel."""

# A caller may hand over anything, whatever the annotation says.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from warploom.diagnostics import Diagnostic, UsageError
from warploom.display import Displayed
from warploom.emulator.engines import Schedule
from warploom.emulator.execute import STEP_BUDGET, Progress, Request, Stats, reserve
from warploom.emulator.execute import execute as run_grid
from warploom.emulator.faults import Deadlock, Trap
from warploom.emulator.memory import Arena
from warploom.emulator.program import Program, load
from warploom.emulator.watch import Several, Watcher
from warploom.gpu.geometry import Extent, triple
from warploom.numerics.fused import Workers
from warploom.ptx import Module, parse, text_of
from warploom.runtime import limits, real
from warploom.runtime.arguments import Buffers, adopt, collect, pack
from warploom.runtime.distribution import Announce, Distribution, check_workers, distributor

if TYPE_CHECKING:
    from warploom.observe.profile import Profile, Profiler
    from warploom.observe.trace import Recorder, Trace

__all__ = ["Progress", "Run", "Stats", "execute", "launch"]


@dataclass(frozen=True, slots=True)
class Run(Displayed):
    """What a launch did: `findings` of the sanitizer or, on a GPU, of its assembler; `stats`, and the `trace` and
    the `profile` when they were asked for; `distribution` says who did what of it, where it was spread over machines.
    """

    display_kind: ClassVar[str] = "run"

    findings: tuple[Diagnostic, ...] = ()
    stats: Stats = field(default_factory=Stats)
    trace: Trace | None = None
    profile: Profile | None = None
    distribution: Distribution | None = None


def launch(
    ptx: str | Path | Module,
    kernel: str | None = None,
    *,
    grid: Extent,
    block: Extent,
    args: Sequence[object],
    cluster: Extent = (1, 1, 1),
    shared: int = 0,
    device: Literal["cpu", "cuda"] = "cpu",
    arch: str | None = None,
    schedule: str = "eager",
    sanitize: bool = False,
    trace: bool | Sequence[int] = False,
    profile: bool = False,
    workers: int | str = 1,
    stream: object = None,
    wait: bool = True,
    cooperative: bool = False,
    programmatic: bool = False,
    assembler: Literal["driver", "ptxas"] = "driver",
) -> Run:
    """Run a kernel. Arrays among the arguments are device buffers and are updated in place.

    `ptx` is a text, a path or a module. `args` are in parameter order: an array is passed by address, a
    TensorMap fills a 128-byte parameter, scalars are ints, floats or NumPy scalars of the parameter's width,
    None is a null pointer. `device` is "cpu", the abstract machine, or "cuda", the GPU that is there (extra
    `gpu`). Arrays are NumPy's, or PyTorch's, CuPy's and JAX's; what is in the memory of a GPU is used there, in
    place, what is in the host's is copied to a GPU and back.

    The abstract machine alone heeds these. `arch` selects numerics and limits (default: the module's
    target), `schedule` when asynchronous operations take effect ("eager", "lazy", "random:SEED"). `sanitize`
    looks for what the order of accesses does not guarantee (sanitize.*); a trap or a deadlock is then a finding
    too. `trace` records what happens when, in the CTAs with these numbers (x running fastest) or, if True, in the
    first few; a trap or a deadlock then has what was recorded until it as its own `trace`. `profile` counts how
    often each instruction runs and what its accesses cost (`warploom.observe.profile`). `workers` threads share the
    arithmetic; or the workers of a Dask cluster share the grid (extra `farm`): "dask" starts one for each core,
    "dask:N" so many, "tcp://host:8786" finds a scheduler. Results and findings do not depend on them.

    A GPU alone heeds these. `stream` is a stream of PyTorch, CuPy or cuda-core, or its handle; without one it is
    the stream on which the library of the arrays works now. Without `wait` the call comes back at once, where all
    arrays are on the GPU. `cooperative` has all CTAs there at once, `programmatic` lets the launch begin before the
    one before it on the stream has ended, `assembler` says who assembles.

    Units: `shared` is dynamic shared memory in bytes.
    Errors: PtxSyntaxError; UsageError launch.*; machine.Unsupported before anything runs; machine.Trap and
        machine.Deadlock while it runs; on a GPU UsageError gpu.* and gpu.DeviceFault; with workers on other
        machines UsageError dask.*.
    """
    return execute(
        ptx,
        kernel,
        grid=grid,
        block=block,
        args=args,
        cluster=cluster,
        shared=shared,
        device=device,
        arch=arch,
        schedule=schedule,
        sanitize=sanitize,
        trace=trace,
        profile=profile,
        workers=workers,
        options=real.Options(stream, wait, cooperative, programmatic, assembler),
    )


def execute(
    ptx: str | Path | Module | Program,
    kernel: str | None = None,
    *,
    grid: Extent,
    block: Extent,
    args: Sequence[object],
    cluster: Extent = (1, 1, 1),
    shared: int = 0,
    device: str = "cpu",
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
    options: real.Options = real.PLAIN,
) -> Run:
    """`launch` with a progress callback, a step budget, and the most events that a trace keeps; `ptx` may be a
    kernel that was made ready already. `announce` is told what a launch on many workers is about to take.

    Units: `step_budget` in warp instructions, where one of fewer than 32 warps counts as 32; by default
        WARPLOOM_STEP_BUDGET, or 1,000,000,000.
    """
    if device not in ("cpu", "cuda"):
        raise UsageError(f"device is {device!r}; expected 'cpu' or 'cuda'", code="launch.device")
    check_workers(workers)
    _refuse(device, workers, {"sanitize": sanitize, "trace": trace is not False, "profile": profile})
    recorder = _recorder(trace, trace_events)
    profiler = _profiler() if profile else None
    asked = _asked(ptx, kernel, grid, block, cluster, shared, arch, args, on_gpu=device == "cuda")
    if device == "cuda":
        geometry = (asked.grid, asked.block, asked.cluster if asked.explicit_cluster else None)
        return Run(real.run(asked.program, asked.args, asked.buffers, geometry, shared, options))
    options.refuse()
    placed = _place(asked, shared, schedule, step_budget)
    if isinstance(workers, str):
        stats, findings, who = distributor().run_grid(
            placed.request, placed.arena, placed.segments, sanitize, workers, progress, announce
        )
        asked.buffers.download(placed.arena)
        return Run(findings, stats, distribution=who)
    with ExitStack() as stack:
        pool: Any = None
        if workers > 1:
            pool = Workers(stack.enter_context(ThreadPoolExecutor(workers)), workers)
        request = replace(placed.request, watch=_watcher(sanitize, recorder, profiler), pool=pool)
        try:
            stats, findings = run_grid(request, placed.arena, placed.segments, progress)
        except (Trap, Deadlock) as end:
            if recorder is not None:
                end.trace = recorder.trace()
            raise
    asked.buffers.download(placed.arena)
    return Run(
        findings,
        stats,
        None if recorder is None else recorder.trace(),
        None if profiler is None else profiler.profile(),
    )


def _refuse(device: str, workers: int | str, wanted: Mapping[str, bool]) -> None:
    """Refuse what a GPU, or workers on other machines, do not do. Errors: UsageError launch.device, launch.workers."""
    spread = isinstance(workers, str)
    for what in [word for word, is_wanted in {**wanted, "spread": spread}.items() if is_wanted]:
        if device == "cuda":
            raise UsageError(f"a GPU does not {what}; expected device='cpu'", code="launch.device")
        if spread and what in ("trace", "profile"):
            raise UsageError(
                f"a {what} is taken on one machine; expected a number of workers", code="launch.workers"
            )


# A launch made ready ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Asked:
    """A launch as it was asked for, once nothing is wrong with it."""

    program: Program
    arch: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    explicit_cluster: bool
    args: Sequence[object]
    buffers: Buffers


@dataclass(frozen=True, slots=True)
class Placed:
    """A launch on the abstract machine, its buffers in the arena. They are the first segments, `outputs` of them."""

    request: Request
    arena: Arena
    segments: dict[str, int]
    outputs: int


def _asked(
    ptx: str | Path | Module | Program, kernel: str | None, grid: Extent, block: Extent, cluster: Extent,
    shared: int, arch: str | None, args: Sequence[object], *, on_gpu: bool,
) -> _Asked:  # fmt: skip
    program = _program(ptx, kernel)
    architecture = limits.architecture(arch, program)
    extents = [triple(n, v) for n, v in (("grid", grid), ("block", block), ("cluster", cluster))]
    shape, explicit = limits.check(program, architecture, extents[0], extents[1], extents[2], shared)
    args = adopt(program, args, on_gpu=on_gpu)
    buffers = Buffers(collect(program, args))
    return _Asked(program, architecture, extents[0], extents[1], shape, explicit, args, buffers)


def _place(asked: _Asked, shared: int, schedule: str, step_budget: int | None) -> Placed:
    when = Schedule.parse(schedule)
    budget = _budget() if step_budget is None else step_budget
    arena = Arena()
    asked.buffers.reserve(arena)
    outputs = len(arena.segments)
    segments = reserve(asked.program, arena)
    parameters = pack(asked.program, asked.args, asked.buffers)
    arena.seal()
    asked.buffers.upload(arena)
    request = Request(
        asked.program, asked.grid, asked.block, asked.cluster, shared, parameters, asked.arch, when,
        asked.explicit_cluster, budget,
    )  # fmt: skip
    return Placed(request, arena, segments, outputs)


def place(
    ptx: str | Path | Module | Program,
    kernel: str | None = None,
    *,
    grid: Extent,
    block: Extent,
    args: Sequence[object],
    cluster: Extent = (1, 1, 1),
    shared: int = 0,
    arch: str | None = None,
) -> Placed:
    """A launch ready to run on the abstract machine, here or elsewhere, under any schedule. Errors: as `launch`."""
    asked = _asked(ptx, kernel, grid, block, cluster, shared, arch, args, on_gpu=False)
    return _place(asked, shared, "eager", None)


# Those who watch are imported where they are asked for: a plain run starts without them.


def _recorder(trace: bool | Sequence[int], events: int | None) -> Recorder | None:
    """The recorder of a trace that is asked for. Errors: UsageError launch.trace."""
    if trace is False:
        return None
    if trace is not True and not (
        isinstance(trace, Sequence) and trace and all(type(cta) is int for cta in trace)
    ):
        raise UsageError(f"trace is {trace!r}; expected a bool or numbers of CTAs", code="launch.trace")
    from warploom.observe.trace import EVENTS, Recorder

    return Recorder(None if trace is True else trace, EVENTS if events is None else events)


def _profiler() -> Profiler:
    from warploom.observe.profile import Profiler

    return Profiler()


def _watcher(sanitize: bool, *others: Watcher | None) -> Watcher | None:
    """Who watches a run; None where nobody does."""
    found = [each for each in others if each is not None]
    if sanitize:
        from warploom.observe.sanitize.watcher import Sanitizer

        found.insert(0, Sanitizer())
    return Several(found) if len(found) > 1 else next(iter(found), None)


def _program(ptx: str | Path | Module | Program, kernel: str | None) -> Program:
    """The kernel made ready; the last few texts are kept so, for a kernel is seldom launched once."""
    if isinstance(ptx, Program):
        return ptx
    if isinstance(ptx, Module):
        return load(ptx, kernel)
    return _loaded(*text_of(ptx), kernel)


@lru_cache(maxsize=16)
def _loaded(text: str, name: str, kernel: str | None) -> Program:
    return load(parse(text, name), kernel)


def _budget() -> int:
    text = os.environ.get("WARPLOOM_STEP_BUDGET")
    if text is None:
        return STEP_BUDGET
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(
            f"WARPLOOM_STEP_BUDGET is {text!r}; expected an integer above 0", code="launch.budget"
        )
    return int(text)
