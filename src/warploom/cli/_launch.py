"""Options that describe a launch, for the commands that run a kernel."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warploom.cli import _workers
from warploom.cli._options import STANDARD, add_arch, add_kernel, dimensions, read_text
from warploom.diagnostics import UsageError

if TYPE_CHECKING:
    from warploom.ptx import Module
    from warploom.runtime.buffers import Array, Buffer
    from warploom.runtime.compare import Comparison
    from warploom.runtime.launchfile import Argument, Expectation, Geometry, LaunchFile
    from warploom.runtime.references import Expected

_GIB = 1 << 30
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


@dataclass(frozen=True, slots=True)
class Plan:
    """Launch that the command line describes. `name` is the name of the PTX file."""

    ptx: Path | Module
    name: str
    kernel: str | None
    geometry: Geometry
    buffers: Mapping[str, Buffer]
    arguments: tuple[Argument, ...]
    expect: Expectation | None
    memory: int

    @property
    def keywords(self) -> dict[str, Any]:
        """Keyword arguments that describe the geometry, for every function that launches a kernel."""
        names = ("grid", "block", "cluster", "shared", "arch", "workers")
        return {name: getattr(self.geometry, name) for name in names}

    def prepare(self) -> Prepared:
        """Return the arguments and the buffers, with the expected result. Errors: LaunchFileError."""
        from warploom.runtime.launchfile import prepare

        args, arrays = prepare(self.arguments, self.buffers, self.memory)
        # The reference is computed first, because a launch updates its buffers in place.
        return Prepared(args, arrays, self.expect, self.expect.expected(arrays) if self.expect else None)


@dataclass(frozen=True, slots=True)
class Prepared:
    """Arguments of a launch, its named buffers, and the result that is expected of it."""

    args: list[object]
    arrays: dict[str, Array]
    expect: Expectation | None
    expected: Expected | None

    def compare(self) -> Comparison | None:
        """Return the comparison of the result with the expected one, or None without an expectation."""
        if self.expect is None or self.expected is None:
            return None
        return self.expect.compare(self.arrays, self.expected)


def declare_launch(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe a launch."""
    parser.add_argument(
        "file", metavar="LAUNCH.toml | FILE.ptx", help="a launch file or a PTX file; - for standard input"
    )
    ptx = parser.add_argument_group("for a PTX file")
    add_kernel(ptx)
    ptx.add_argument("--grid", metavar="X,Y,Z", type=dimensions, help="CTAs along each axis")
    ptx.add_argument("--block", metavar="X,Y,Z", type=dimensions, help="threads of a CTA along each axis")
    ptx.add_argument("--cluster", metavar="X,Y,Z", type=dimensions, help="CTAs of a cluster along each axis")
    ptx.add_argument("--shared", metavar="BYTES", type=_bytes, help="dynamic shared memory")
    ptx.add_argument("--arg", metavar="ARG", action="append", default=[], help="one argument; see below")
    both = parser.add_argument_group("for both; these override the launch file")
    add_arch(both, "architecture whose numerics and limits apply")
    both.add_argument(
        "--schedule", metavar="WHEN", type=_schedule,
        help="when asynchronous operations take effect: eager, lazy or random:SEED",
    )  # fmt: skip
    _workers.declare(both, "threads that share the arithmetic", None)
    both.add_argument(
        "--memory", type=_gib, metavar="GIB", default=4 * _GIB, help="limit for all buffers (4)"
    )


def read_plan(options: argparse.Namespace) -> Plan:
    """Return the launch that the options describe. Errors: UsageError, LaunchFileError."""
    from warploom.runtime.launchfile import parse_launch_file, read_launch_file

    if isinstance(options.workers, int) and options.workers < 1:
        raise UsageError(f"--workers: found {options.workers}; expected at least 1")
    if options.file == STANDARD:
        text, name = read_text(STANDARD)
        if not _PTX.search(text):
            return _of_launch_file(parse_launch_file(text, Path(name), Path()), options)
        from warploom.ptx import parse

        return _of_ptx(parse(text, name), name, options)
    path = Path(options.file)
    if path.suffix == ".toml":
        return _of_launch_file(read_launch_file(path), options)
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    return _of_ptx(path, path.name, options)


def _of_launch_file(file: LaunchFile, options: argparse.Namespace) -> Plan:
    for name in _FOR_PTX:
        if getattr(options, name) not in (None, []):
            raise UsageError(f"--{name} is for a PTX file; {file.path} has its own value")
    return Plan(
        file.ptx, file.ptx.name, file.kernel, _override(file.geometry, options), file.buffers, file.arguments,
        file.expect, options.memory,
    )  # fmt: skip


def _of_ptx(ptx: Path | Module, name: str, options: argparse.Namespace) -> Plan:
    from warploom.cli._arguments import read_arguments
    from warploom.runtime.launchfile import ONE, Geometry

    for option in ("grid", "block"):
        if getattr(options, option) is None:
            raise UsageError(f"--{option} is missing", hint="a PTX file needs --grid and --block")
    geometry = Geometry(options.grid, options.block, options.cluster or ONE, options.shared or 0)
    arguments, buffers = read_arguments(options.arg)
    return Plan(
        ptx, name, options.kernel, _override(geometry, options), buffers, arguments, None, options.memory
    )


def _override(geometry: Geometry, options: argparse.Namespace) -> Geometry:
    given = {name: getattr(options, name) for name in ("arch", "schedule", "workers")}
    return replace(geometry, **{name: value for name, value in given.items() if value is not None})


def _schedule(text: str) -> str:
    if not re.fullmatch(r"eager|lazy|random:\d+", text):
        raise argparse.ArgumentTypeError(f"found {text!r}; expected eager, lazy or random:SEED")
    return text


def _bytes(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"found {text!r}; expected a number of bytes")
    return int(text)


def _gib(text: str) -> int:
    with suppress(ValueError):
        if 0 < (value := float(text)) < 1 << 20:
            return int(value * _GIB)
    raise argparse.ArgumentTypeError(f"found {text!r}; expected a number of GiB above 0")
