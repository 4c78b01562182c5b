"""`warploom lower`: a text of one level of the compiler's path as one of another."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

OK = 0
FINDINGS = 1

_EPILOG = "exit status: 0 well; 1 something in the text is not legal, or has no way there; 2 misuse."
_SOURCES = {".cu": "builtin", ".mlir": "nvvm", ".ptx": "ptx"}


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add(
        "lower",
        help="carry builtins, NVVM operations and LLVM's calls down to PTX, and PTX up to NVVM operations",
        description="Carry a text down the compiler's path: builtin to nvvm, llvm or ptx, nvvm to llvm or ptx, llvm"
        " to ptx; or up: ptx to nvvm.",
        epilog=_EPILOG,
    )
    parser.set_defaults(verb=run)
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="a call of a builtin (.cu), MLIR text (.mlir) or PTX (.ptx); - is standard input",
    )
    parser.add_argument("--to", choices=("nvvm", "llvm", "ptx"), default="ptx", help="what it becomes (ptx)")
    parser.add_argument(
        "--source",
        choices=("builtin", "nvvm", "llvm", "ptx"),
        help="what it is (by the name of the file, else nvvm)",
    )
    parser.add_argument("--target", default="sm_90a", help="the target of the PTX (sm_90a)")


def run(options: argparse.Namespace) -> int:
    """Run the verb."""
    from warploom.diagnostics import UsageError, render
    from warploom.nvvm import LowerError, lower, protocol_warnings

    path: Path = options.file
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is no text") from None
    source = options.source or _SOURCES.get(path.suffix, "nvvm")
    color = sys.stderr.isatty()
    try:
        print(lower(text, source, options.to, options.target, name=str(path)), end="")
    except LowerError as error:
        print(render(error.diagnostics, color=color), end="", file=sys.stderr)
        return FINDINGS
    if source == "nvvm" and (found := protocol_warnings(text, str(path))):
        print(render(found, color=color), end="", file=sys.stderr)
    return OK
