"""Python programs as input of `run` and `sanitize`."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from warploom.cli import _show
from warploom.cli._launch import GIB
from warploom.cli._options import status_of
from warploom.diagnostics import UsageError, render

SUFFIX = ".py"
ABOUT = """\
FILE.py is a Python program. Its Triton kernels and its launches on the CPU run on the emulator. Of the options, only
--schedule and --strict apply to it."""
_OPTIONS = frozenset(("verb", "file", "schedule", "strict"))
_DEFAULTS: tuple[object, ...] = (None, [], False, "text", 4 * GIB)


def run_program(options: argparse.Namespace, *, sanitize: bool) -> int:
    """Run a Python program with its kernels on the emulator, and return the exit status of the command.

    Launches of Triton kernels and of `warploom.launch` on the CPU run on the emulator.

    Errors: UsageError for options that describe one launch; exceptions of the program.
    """
    import runpy

    from warploom.emulator.schedule import Schedule
    from warploom.runtime.program import observe_program

    path = Path(options.file)
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    for name, value in vars(options).items():
        if name not in _OPTIONS and not callable(value) and value not in _DEFAULTS:
            raise UsageError(f"--{name} does not apply to a Python program, which describes its own launches")
    if options.schedule is not None:
        Schedule.parse(options.schedule)
    with _as_main(path), observe_program(sanitize=sanitize, schedule=options.schedule) as launches, _triton():
        try:
            runpy.run_path(str(path), run_name="__main__")
        except SystemExit as end:
            if end.code:
                raise
    findings = [found for run in launches.runs for found in run.findings]
    print(render(findings, color=sys.stdout.isatty()), end="")
    count = _show.number_of(len(launches.runs), "launch", "launches")
    print(f"{count} on the emulator; {_show.counted(len(findings))}")
    return status_of(findings, options.strict)


@contextmanager
def _as_main(path: Path) -> Generator[None]:
    """Give a program the arguments and the module path that Python gives it."""
    arguments, folders = sys.argv, list(sys.path)
    sys.argv = [str(path)]
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = arguments, folders


@contextmanager
def _triton() -> Generator[None]:
    """Run Triton kernels on the emulator if Triton is installed."""
    if find_spec("triton") is None:
        yield
        return
    from warploom.integrations.triton import FindingsWarning, emulate

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FindingsWarning)  # the findings are printed
        with emulate():
            yield
