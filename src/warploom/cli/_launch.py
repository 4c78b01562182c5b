"""Options that describe a launch."""

from __future__ import annotations

import argparse
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.cli import _workers
from warploom.cli._options import STANDARD, add_arch, add_kernel, at_least, dimensions, read_text
from warploom.cli._progress import launch_progress
from warploom.diagnostics import UsageError

if TYPE_CHECKING:
    from warploom.ptx import Module
    from warploom.runtime.comparison import Comparison
    from warploom.runtime.launchfile import Geometry, LaunchPlan, PreparedLaunch

GIB = 1 << 30
_PTX = re.compile(r"^\s*\.version\s", re.MULTILINE)
_FOR_PTX = ("kernel", "grid", "block", "cluster", "shared", "arg")

ARGUMENTS = """\
Arguments on the command line, in parameter order, one --arg each:
  512   -3   0.125         a scalar of the parameter's type
  u64:512   f32:0.125      a scalar of the given type
  normal:float16:512x512   a buffer: distribution (normal, uniform, integers, zeros, ones, arange, bits),
  normal:float16:512x512:7 element type, shape, and optionally the seed
  data.npy                 a buffer that is read from a file
  scratch:384              a zeroed buffer of this many bytes
  null                     a null pointer
Tensor maps, references and comparisons need a launch file.
"""


def declare_launch(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe a launch to a command."""
    parser.add_argument(
        "file", metavar="LAUNCH.toml | FILE.ptx", help="a launch file or a PTX file; - for standard input"
    )
    ptx = parser.add_argument_group("for a PTX file")
    add_kernel(ptx)
    ptx.add_argument("--grid", metavar="X,Y,Z", type=dimensions, help="CTAs along each axis")
    ptx.add_argument("--block", metavar="X,Y,Z", type=dimensions, help="threads of a CTA along each axis")
    ptx.add_argument("--cluster", metavar="X,Y,Z", type=dimensions, help="CTAs of a cluster along each axis")
    ptx.add_argument("--shared", metavar="BYTES", type=at_least(0), help="bytes of dynamic shared memory")
    ptx.add_argument("--arg", metavar="ARG", action="append", default=[], help="one argument; see below")
    both = parser.add_argument_group("for both kinds of file; these options override the launch file")
    add_arch(both, "architecture whose numerics and limits apply")
    what = "when asynchronous operations take effect: eager, lazy or random:SEED"
    both.add_argument("--schedule", metavar="WHEN", help=what)
    _workers.declare(both, "threads that share the arithmetic", None)
    both.add_argument("--memory", type=gib, metavar="GIB", default=4 * GIB, help="limit for all buffers together (4)")


def compare(plan: LaunchPlan, launched: PreparedLaunch, schedule: str, memory: int) -> Comparison | None:
    """Compare the result of a launch with its expected result. Find the writers of wrong elements.

    Return None if nothing is expected. Units: `memory` is the limit for all buffers in bytes.
    """
    comparison = launched.compare()
    if comparison is None or comparison.ok:
        return comparison
    from warploom.runtime.wrong_elements import find_writers

    with launch_progress(f"{plan.file_name}, writers of wrong elements") as advance:
        return find_writers(comparison, plan, schedule, memory, advance)


def read_plan(options: argparse.Namespace) -> LaunchPlan:
    """Return the launch that the command line describes. Errors: UsageError, LaunchFileError."""
    from warploom.runtime.launchfile import parse_launch_file, read_launch_file

    if isinstance(options.workers, int) and options.workers < 1:
        raise UsageError(f"--workers: found {options.workers}; expected at least 1")
    path = Path(options.file)
    if options.file == STANDARD:
        text, name = read_text(STANDARD)
        if _PTX.search(text):
            from warploom.ptx import parse

            return _of_ptx(parse(text, name), options)
        plan = parse_launch_file(text, name, Path())
    elif path.suffix == ".toml":
        plan = read_launch_file(path)
    else:
        if not path.is_file():
            raise UsageError(f"there is no file {path}")
        return _of_ptx(path, options)
    for name in _FOR_PTX:
        if getattr(options, name) not in (None, []):
            raise UsageError(f"--{name} is for a PTX file; {options.file} has its own value")
    return replace(plan, geometry=_override(plan.geometry, options))


def _of_ptx(ptx: Path | Module, options: argparse.Namespace) -> LaunchPlan:
    from warploom.cli._arguments import read_arguments
    from warploom.runtime.launchfile import ONE, Geometry, LaunchPlan

    for option in ("grid", "block"):
        if getattr(options, option) is None:
            raise UsageError(f"--{option} is missing", hint="a PTX file needs --grid and --block")
    geometry = Geometry(options.grid, options.block, options.cluster or ONE, options.shared or 0)
    arguments, buffers = read_arguments(options.arg)
    return LaunchPlan(ptx, options.kernel, _override(geometry, options), buffers, arguments)


def _override(geometry: Geometry, options: argparse.Namespace) -> Geometry:
    from warploom.emulator.schedule import Schedule

    if options.schedule is not None:
        Schedule.parse(options.schedule)
    given = {name: getattr(options, name) for name in ("arch", "schedule", "workers")}
    return replace(geometry, **{name: value for name, value in given.items() if value is not None})


def gib(text: str) -> int:
    """Parse a number of GiB, and return it in bytes."""
    with suppress(ValueError):
        if 0 < (value := float(text)) < 1 << 20:
            return int(value * GIB)
    raise argparse.ArgumentTypeError(f"found {text!r}; expected a number of GiB above 0")
