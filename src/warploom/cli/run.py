"""`warploom run`: execute a kernel without a GPU.

The input is a launch file, or a PTX file and options that describe the launch.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from warploom.cli import _python, _show, _times, _workers
from warploom.cli._launch import ARGUMENTS, compare, declare_launch, read_plan
from warploom.cli._options import (
    FINDINGS,
    OK,
    Add,
    add_strict,
    add_trace,
    at_least,
    check_writable,
    status_of,
    trace_options,
    write_trace,
)
from warploom.cli._progress import launch_progress
from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import os_reason

if TYPE_CHECKING:
    from warploom.runtime.buffers import Array, Buffer
    from warploom.runtime.launchfile import LaunchPlan, PreparedLaunch

_EPILOG = f"""{ARGUMENTS}
{_python.ABOUT}

Exit status: 0 success; 1 the kernel failed or its result is wrong; 2 wrong use.
"""


def declare(add: Add) -> None:
    """Add the command `run` to the command line."""
    parser = add(
        "run",
        help="execute a kernel without a GPU, bit for bit",
        description="Execute a kernel without a GPU. Results have the bits that the hardware returns.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    declare_launch(parser)
    parser.add_argument(
        "--save",
        metavar="BUFFER=FILE.npy",
        action="append",
        default=[],
        help="write a buffer after the run; buffers of the command line are called arg0, arg1, …",
    )
    parser.add_argument("--explore", metavar="N", type=at_least(1), help="run N schedules and compare their results")
    parser.add_argument("--time", action="store_true", help="print where the time of the run goes")
    parser.add_argument(
        "--why",
        metavar="ARRAY[INDEX]",
        action="append",
        default=[],
        help="explain an element of the result, such as 'c[5, 7]': its sources, the first wrong step and the cause",
    )
    parser.add_argument("--expect", action="store_true", help="with --why: require [expect] in the launch file")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="with --why: draw the products of the last element")
    add_strict(parser)
    add_trace(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command `run` and return its exit status."""
    if options.file.endswith(_python.SUFFIX):
        return _python.run_program(options, sanitize=False)
    from warploom.emulator.faults import Deadlock, Trap
    from warploom.runtime.api import launch

    plan = read_plan(options)
    schedule = plan.geometry.schedule or "eager"
    saves = _saves(options.save, plan.buffers)
    tracing = trace_options(options)
    questions = _questions(options, plan)
    prepared = plan.prepare(options.memory)
    if options.explore is not None:
        return _explore(options, plan, prepared)
    began = perf_counter()
    printed: list[str] = []
    try:
        with launch_progress(plan.file_name) as advance:
            result = launch(
                plan.ptx, plan.kernel, **plan.keywords, **tracing, args=prepared.args,
                schedule=schedule, progress=advance, announce=_workers.say, output=printed.append,
            )  # fmt: skip
    except (Trap, Deadlock) as end:
        seconds = perf_counter() - began
        _show.output(printed)
        write_trace(end.trace, options.trace)
        if options.time:
            _times.show(end.stats.times, seconds)
        raise
    seconds = perf_counter() - began
    _show.output(printed)
    _save(saves, prepared.arrays)
    write_trace(result.trace, options.trace)
    comparison = compare(plan, prepared, schedule, options.memory)
    _show.outcome(result, comparison)
    if options.time:
        _times.show(result.stats.times, seconds)
    _workers.spread(result.distribution)
    _explain(options, plan, schedule, questions)
    if comparison and not comparison.ok:
        return FINDINGS
    return status_of(result.findings, options.strict)


def _explore(options: argparse.Namespace, plan: LaunchPlan, prepared: PreparedLaunch) -> int:
    from warploom.runtime.explore import explore

    for name in ("schedule", "save", "trace", "time", "why"):
        if getattr(options, name):
            raise UsageError(f"--{name} cannot be combined with --explore, which runs the kernel many times")
    with launch_progress(plan.file_name) as advance:
        found = explore(
            plan.ptx, plan.kernel, **plan.keywords, args=prepared.args, schedules=options.explore, progress=advance,
            announce=_workers.say,
        )  # fmt: skip
    _show.exploration(found)
    if found.work_report is not None:
        _workers.table(found.work_report)
    return OK if found.same else FINDINGS


def _questions(options: argparse.Namespace, plan: LaunchPlan) -> list[tuple[str, tuple[int, ...]]]:
    """Return the arrays and indices of --why. Errors: UsageError."""
    if not options.why and (options.expect or options.svg):
        raise UsageError(f"--{'expect' if options.expect else 'svg'} needs --why ARRAY[INDEX]")
    if options.expect and plan.expect is None:
        raise UsageError("--expect needs a launch file with [expect]")
    if options.why and isinstance(plan.geometry.workers, str):
        raise UsageError("--why cannot be combined with a Dask cluster; expected a number of workers")
    if options.svg is not None:
        check_writable(options.svg, "--svg")
    from warploom.runtime.replay import read_element

    found: list[tuple[str, tuple[int, ...]]] = []
    for text in options.why:
        try:
            found.append(read_element(text))
        except ValueError as error:
            raise UsageError(f"--why: found {text!r}; {error}") from None
    return found


def _explain(
    options: argparse.Namespace, plan: LaunchPlan, schedule: str, questions: list[tuple[str, tuple[int, ...]]]
) -> None:
    """Print the explanations of elements, and draw the last one for --svg."""
    if not questions:
        return
    from warploom.runtime.wrong_elements import replay

    again = replay(plan, schedule, options.memory)
    for array, index in questions:
        with launch_progress(f"{plan.file_name}, executions") as advance:
            found = again.why(array, index, progress=advance)
        print(found.text())
        if options.svg is not None:
            from warploom.view.why import why_svg

            options.svg.write_text(why_svg(found), encoding="utf-8")


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
        check_writable(file, "--save")
        saves[Path(file)] = name
    return saves


def _save(saves: Mapping[Path, str], arrays: Mapping[str, Array]) -> None:
    import numpy as np

    for path, name in saves.items():
        try:
            with path.open("wb") as file:
                np.save(file, arrays[name], allow_pickle=False)
        except OSError as error:
            raise UsageError(f"--save: {path} cannot be written: {os_reason(error)}") from None
