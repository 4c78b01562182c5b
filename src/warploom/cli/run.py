"""`warploom run`: execute a kernel with no GPU, from a launch file or from a PTX file and its arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warploom.cli import _workers
from warploom.diagnostics import UsageError

if TYPE_CHECKING:
    from warploom.observe.trace import Trace
    from warploom.runtime.buffers import Array, Buffer
    from warploom.runtime.launchfile import Argument, Expectation, Geometry

OK = 0
FAILED = 1
_GIB = 1 << 30

ARGUMENTS = """\
arguments on the command line, in parameter order, one --arg each:
  512   -3   0.125         a scalar of the parameter's type
  u64:512   f32:0.125      a scalar of a type that is said
  normal:float16:512x512   a buffer: distribution (normal, uniform, integers, zeros, ones, arange, bits),
  normal:float16:512x512:7 element type, shape, and the seed when it matters
  data.npy                 a buffer read from a file
  scratch:384              a zeroed buffer of so many bytes
  null                     a null pointer
Tensor maps, references and comparisons need a launch file.
"""
_EPILOG = f"""{ARGUMENTS}
exit status: 0 well; 1 the kernel failed or its result is wrong; 2 it could not be run as asked.
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """A launch as it was asked for."""

    ptx: Path
    kernel: str | None
    geometry: Geometry
    buffers: Mapping[str, Buffer]
    arguments: tuple[Argument, ...]
    expect: Expectation | None


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add(
        "run",
        help="execute a kernel with no GPU, bit for bit",
        description="Execute a kernel with no GPU, bit for bit what the chip would return.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(verb=run)
    declare_launch(parser)
    parser.add_argument(
        "--save",
        metavar="BUFFER=FILE.npy",
        action="append",
        default=[],
        help="write a buffer after the run; on the command line buffers are called arg0, arg1, …",
    )
    parser.add_argument(
        "--explore",
        metavar="N",
        type=int,
        help="run under N schedules instead of one and say whether the results differ",
    )
    traces = parser.add_argument_group("traces")
    traces.add_argument(
        "--trace", metavar="FILE.json", type=Path, help="write what happened when, for Perfetto to show"
    )
    traces.add_argument(
        "--trace-ctas", metavar="N,N,…", help="of which CTAs, x running fastest (those of the first cluster)"
    )
    traces.add_argument("--trace-events", metavar="N", type=int, help="at most so many events (200000)")


def declare_launch(parser: argparse.ArgumentParser) -> None:
    """Add what describes a launch."""
    parser.add_argument("file", type=Path, metavar="LAUNCH.toml | FILE.ptx", help="what to run")
    ptx = parser.add_argument_group("for a PTX file")
    ptx.add_argument("--kernel", metavar="NAME", help="the entry; needed when the file has several")
    ptx.add_argument("--grid", metavar="X,Y,Z", help="CTAs along each axis")
    ptx.add_argument("--block", metavar="X,Y,Z", help="threads of a CTA along each axis")
    ptx.add_argument("--cluster", metavar="X,Y,Z", help="CTAs of a cluster along each axis")
    ptx.add_argument("--shared", metavar="BYTES", type=int, help="dynamic shared memory")
    ptx.add_argument("--arg", metavar="ARG", action="append", default=[], help="one argument; see below")
    both = parser.add_argument_group("for both; these win over the launch file")
    both.add_argument("--arch", help="sm_90a and the like: whose arithmetic and limits")
    both.add_argument("--schedule", help="when asynchronous work lands: eager, lazy or random:SEED")
    _workers.declare(both, "threads that share the arithmetic", None)
    both.add_argument(
        "--memory", type=_gib, metavar="GIB", default=4 * _GIB, help="limit for all buffers (4)"
    )


def plan_of(options: argparse.Namespace) -> Plan:
    """The launch that the options describe. Errors: UsageError."""
    return _from_launch_file(options) if options.file.suffix == ".toml" else _from_command_line(options)


def keywords(plan: Plan) -> dict[str, Any]:
    """The geometry of a plan as every way of launching it takes it."""
    names = ("grid", "block", "cluster", "shared", "arch", "workers")
    return {name: getattr(plan.geometry, name) for name in names}


def _gib(text: str) -> int:
    value = float(text)
    if not 0 < value < 1 << 20:
        raise argparse.ArgumentTypeError(f"found {text}; expected a number of GiB above 0")
    return int(value * _GIB)


def run(options: argparse.Namespace) -> int:
    """Run the verb."""
    from warploom.cli import _show
    from warploom.emulator.faults import Deadlock, Trap
    from warploom.runtime.api import execute
    from warploom.runtime.prepare import prepare

    plan = plan_of(options)
    saves = _saves(options.save, plan.buffers)
    tracing = _tracing(options)
    args, arrays = prepare(plan.arguments, plan.buffers, options.memory)
    # The reference is computed first: a launch updates its buffers in place.
    expected = plan.expect.expected(arrays) if plan.expect else None
    if options.explore is not None:
        return _explore(options, plan, args)
    try:
        with _show.progress(plan.ptx.name) as advance:
            result = execute(
                plan.ptx,
                plan.kernel,
                **keywords(plan),
                **tracing,
                args=args,
                schedule=plan.geometry.schedule,
                progress=advance,
                announce=_workers.say,
            )
    except (Trap, Deadlock) as end:
        _keep(end.trace, options.trace)
        raise
    _save(saves, arrays)
    _keep(result.trace, options.trace)
    comparison = plan.expect.compare(arrays, expected) if plan.expect and expected else None
    _show.outcome(result, comparison)
    _workers.spread(result.distribution)
    return FAILED if result.findings or (comparison and not comparison.ok) else OK


def _explore(options: argparse.Namespace, plan: Plan, args: Sequence[object]) -> int:
    from warploom.cli import _show
    from warploom.runtime.explore import explore

    for name in ("schedule", "save", "trace"):
        if getattr(options, name):
            raise UsageError(f"--{name} does not go with --explore, which runs the kernel many times")
    with _show.progress(plan.ptx.name) as advance:
        found = explore(
            plan.ptx, plan.kernel, **keywords(plan), args=args, schedules=options.explore, progress=advance,
            announce=_workers.say,
        )  # fmt: skip
    _show.exploration(found)
    if found.work_report is not None:
        _workers.table(found.work_report)
    return OK if found.same else FAILED


def _override(geometry: Geometry, options: argparse.Namespace) -> Geometry:
    from warploom.runtime.launchfile import SCHEDULE

    if options.schedule is not None and not SCHEDULE.fullmatch(options.schedule):
        raise UsageError(f"--schedule: found {options.schedule!r}; expected eager, lazy or random:SEED")
    if isinstance(options.workers, int) and options.workers < 1:
        raise UsageError(f"--workers: found {options.workers}; expected at least 1")
    given = {name: getattr(options, name) for name in ("arch", "schedule", "workers")}
    return replace(geometry, **{name: value for name, value in given.items() if value is not None})


def _from_launch_file(options: argparse.Namespace) -> Plan:
    from warploom.runtime.launchfile import read_launch_file

    for name in ("kernel", "grid", "block", "cluster", "shared", "arg"):
        if getattr(options, name) not in (None, []):
            raise UsageError(f"--{name} is for a PTX file; {options.file} says it itself")
    file = read_launch_file(options.file)
    return Plan(
        file.ptx, file.kernel, _override(file.geometry, options), file.buffers, file.arguments, file.expect
    )


def _from_command_line(options: argparse.Namespace) -> Plan:
    from warploom.cli._arguments import dimensions, read_arguments
    from warploom.runtime.launchfile import ONE, Geometry

    if not options.file.is_file():
        raise UsageError(f"there is no file {options.file}")
    for name in ("grid", "block"):
        if getattr(options, name) is None:
            raise UsageError(f"--{name} is missing", hint="a PTX file needs --grid and --block")
    if options.shared is not None and options.shared < 0:
        raise UsageError(f"--shared: found {options.shared}; expected at least 0 bytes")
    geometry = Geometry(
        grid=dimensions("--grid", options.grid),
        block=dimensions("--block", options.block),
        cluster=dimensions("--cluster", options.cluster) if options.cluster else ONE,
        shared=options.shared or 0,
    )
    arguments, buffers = read_arguments(options.arg)
    return Plan(options.file, options.kernel, _override(geometry, options), buffers, arguments, None)


def _tracing(options: argparse.Namespace) -> dict[str, Any]:
    """The keywords of a launch that say what is traced."""
    from warploom.cli._arguments import numbers

    if options.trace is None:
        for name in ("trace_ctas", "trace_events"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} goes with --trace FILE.json")
        return {}
    folder: Path = options.trace.parent
    if options.trace.is_dir() or not folder.is_dir():
        reason = f"there is no folder {folder}" if not folder.is_dir() else "it is a folder"
        raise UsageError(f"--trace: {options.trace} cannot be written: {reason}")
    found: dict[str, Any] = {"trace": True}
    if options.trace_ctas is not None:
        found["trace"] = numbers("--trace-ctas", options.trace_ctas)
    if options.trace_events is not None:
        if options.trace_events < 1:
            raise UsageError(f"--trace-events: found {options.trace_events}; expected at least 1")
        found["trace_events"] = options.trace_events
    return found


def _keep(trace: Trace | None, path: Path | None) -> None:
    """Write a trace, and say what is in it."""
    if trace is None or path is None:
        return
    trace.save(path)
    more = "; --trace-events takes more" if trace.total > len(trace) else ""
    print(f"trace: {trace}, in {path}{more}")


def _saves(requests: list[str], buffers: Mapping[str, Buffer]) -> dict[Path, str]:
    from warploom.runtime.toml import suggestion

    saves: dict[Path, str] = {}
    for request in requests:
        name, equals, file = request.partition("=")
        if not equals or not file:
            raise UsageError(f"--save: found {request!r}; expected BUFFER=FILE.npy")
        if name not in buffers:
            hint = suggestion(name, buffers) if buffers else "this launch has no buffers"
            raise UsageError(f'--save: there is no buffer "{name}"', hint=hint)
        saves[Path(file)] = name
    return saves


def _save(saves: Mapping[Path, str], arrays: Mapping[str, Array]) -> None:
    import numpy as np

    for path, name in saves.items():
        try:
            with path.open("wb") as file:
                np.save(file, arrays[name], allow_pickle=False)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(f"--save: {path} cannot be written: {reason}") from None
