"""Exit statuses, options and file access that several commands share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from warploom.diagnostics import Severity, UsageError
from warploom.diagnostics.wording import os_reason

if TYPE_CHECKING:
    from warploom.diagnostics import Diagnostic
    from warploom.observe.trace import Trace

OK = 0
FINDINGS = 1
"""Exit status for findings and wrong results."""
MISUSE = 2
INTERRUPTED = 130
TERMINATED = 143

STANDARD = "-"
"""File name that stands for standard input, or for standard output where a command writes."""

Add = Callable[..., argparse.ArgumentParser]
"""Function that adds a command to the command line: `add_parser` of argparse's subparsers."""

_Group = Any  # argparse has no public name for the groups of a parser


class Parser(argparse.ArgumentParser):
    """Argument parser of `warploom` and of each command. Wrong arguments raise UsageError."""

    needs_arguments = False

    def error(self, message: str) -> NoReturn:
        """Refuse the command line with a message from argparse. Errors: UsageError."""
        raise UsageError(message.removeprefix("argument "), hint=f"`{self.prog} --help` lists the arguments")

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride] -- the overloads of argparse
        self, args: Iterable[str] | None = None, namespace: Any = None
    ) -> Any:
        """Parse arguments. If there are none and some are required, print the help and exit with 2."""
        given = list(sys.argv[1:] if args is None else args)
        if not given and (self.needs_arguments or any(action.required for action in self._actions)):
            self.print_help(sys.stderr)
            self.exit(MISUSE)
        return super().parse_known_args(given, namespace)


# Options ----------------------------------------------------------------------------------------------------------


def add_arch(parser: _Group, what: str, default: str | None = None) -> None:
    """Add the option --arch to a parser. `what` states the effect of the option."""
    shown = f" ({default})" if default else ""
    parser.add_argument("--arch", metavar="ARCH", default=default, help=f"{what}, such as sm_90a{shown}")


def add_kernel(parser: _Group) -> None:
    """Add the option --kernel to a parser."""
    parser.add_argument("--kernel", metavar="NAME", help="name of the kernel; required if the file has several")


def add_format(parser: _Group) -> None:
    """Add the option --format to a parser."""
    parser.add_argument(
        "--format", choices=("text", "json", "sarif"), default="text", help="format of the findings (text)"
    )


def add_strict(parser: _Group) -> None:
    """Add the option --strict to a parser."""
    parser.add_argument("--strict", action="store_true", help="exit with status 1 for warnings too")


def add_output(parser: _Group, what: str, metavar: str = "FILE") -> None:
    """Add the option -o to a parser. `what` is help text: the content of the file and its default name."""
    parser.add_argument("-o", "--output", metavar=metavar, help=f"{what}; - for standard output")


def add_trace_limits(parser: _Group) -> None:
    """Add the options that limit a trace to a parser."""
    parser.add_argument(
        "--trace-ctas",
        metavar="N,N,…",
        type=_integers,
        help="numbers of the CTAs to trace; x varies fastest (default: the first cluster)",
    )
    parser.add_argument("--trace-events", metavar="N", type=at_least(1), help="maximum number of events in the trace")


def add_trace(parser: argparse.ArgumentParser) -> None:
    """Add the options for a trace to a parser."""
    traces = parser.add_argument_group("traces")
    traces.add_argument("--trace", metavar="FILE.json", type=Path, help="write a trace for Perfetto")
    add_trace_limits(traces)


def trace_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of a launch that the options of `add_trace` describe. Errors: UsageError."""
    if options.trace is None:
        for name in ("trace_ctas", "trace_events"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} needs --trace FILE.json")
        return {}
    check_writable(options.trace, "--trace")
    return {"trace": options.trace_ctas or True, "trace_events": options.trace_events}


def write_trace(trace: Trace | None, path: Path | None) -> None:
    """Write a trace to the file of the option --trace, if both exist."""
    if trace is None or path is None:
        return
    trace.save(path)
    more = "; --trace-events raises the limit" if trace.total > len(trace) else ""
    print(f"trace: {trace}, in {path}{more}")


def _integers(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(is_integer(part) and int(part) >= 0 for part in parts):
        raise argparse.ArgumentTypeError(f"found {text!r}; expected integers such as 0,1")
    return tuple(map(int, parts))


def dimensions(text: str) -> tuple[int, ...]:
    """Parse one to three positive integers with commas between them."""
    parts = text.split(",")
    if len(parts) > 3 or not all(is_integer(part) and int(part) > 0 for part in parts):
        raise argparse.ArgumentTypeError(f"found {text!r}; expected one to three positive integers, such as 4,4")
    return tuple(map(int, parts))


def at_least(least: int) -> Callable[[str], int]:
    """Return a function that parses an integer and refuses integers below `least`."""

    def parse(text: str) -> int:
        if not is_integer(text) or int(text) < least:
            raise argparse.ArgumentTypeError(f"found {text!r}; expected an integer of at least {least}")
        return int(text)

    return parse


def is_integer(text: str) -> bool:
    """Return True if a text is a decimal integer of at most 20 characters."""
    return text.removeprefix("-").isdecimal() and text.isascii() and len(text) <= 20


def status_of(findings: Iterable[Diagnostic], strict: bool = False) -> int:
    """Return exit status 1 for errors (with `strict`, also for warnings), otherwise 0."""
    counted = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    return FINDINGS if any(found.severity in counted for found in findings) else OK


# Files ------------------------------------------------------------------------------------------------------------


def read_text(file: str | Path) -> tuple[str, str]:
    """Return the text and the name of a file, or of standard input for "-". Errors: UsageError."""
    try:
        if str(file) == STANDARD:
            return _read_standard_input(), "<stdin>"
        return Path(file).read_text(encoding="utf-8"), str(file)
    except FileNotFoundError:
        raise UsageError(f"there is no file {file}") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {os_reason(error)}") from None
    except UnicodeError:
        raise UsageError(f"{'<stdin>' if str(file) == STANDARD else file} is not UTF-8 text") from None


def _read_standard_input() -> str:
    if sys.stdin is None:  # the caller has closed it
        raise UsageError("standard input is closed; expected a file or a pipe")
    text = sys.stdin.read()
    text.encode()  # in some locales, Python reads bytes that are not UTF-8 as lone surrogates
    return text


def check_writable(file: str | Path | None, option: str) -> None:
    """Refuse the file of `option` if it cannot be written. Errors: UsageError."""
    if file is None or str(file) == STANDARD:
        return
    path = Path(file)
    if path.is_dir() or not path.parent.is_dir():
        reason = "it is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise UsageError(f"{option}: {path} cannot be written: {reason}")


def write_text(file: str | Path | None, text: str, mode: str = "w") -> None:
    """Write a text to a file, or to standard output for None and "-". Errors: UsageError.

    `mode` is the mode of `open`.
    """
    if file is None or str(file) == STANDARD:
        sys.stdout.write(text)
        return
    try:
        with Path(file).open(mode, encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        raise UsageError(f"{file} exists", hint="--force replaces it") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {os_reason(error)}") from None
