"""`warploom lower`: translate between compiler builtins, NVVM operations, LLVM calls and PTX."""

import argparse
import sys
from pathlib import Path

from warploom.cli._options import FINDINGS, OK, Add, add_arch, read_text

_SOURCES = {".cu": "builtin", ".mlir": "nvvm", ".ptx": "ptx"}


def declare(add: Add) -> None:
    """Add the command `lower` to the command line."""
    parser = add(
        "lower",
        help="translate builtins, NVVM operations and LLVM calls to PTX, and PTX to NVVM operations",
        description="Translate a text between levels of the compiler: builtin to nvvm, llvm or ptx; nvvm to llvm or"
        " ptx; llvm to ptx; and ptx to nvvm.",
        epilog="Exit status: 0 success; 1 the text is illegal or cannot be translated; 2 wrong use.",
    )
    parser.add_argument(
        "file", metavar="FILE", help="a call of a builtin (.cu), MLIR text (.mlir) or PTX (.ptx); - for standard input"
    )
    parser.add_argument("--to", choices=("nvvm", "llvm", "ptx"), default="ptx", help="the result's level (ptx)")
    parser.add_argument(
        "--source",
        choices=("builtin", "nvvm", "llvm", "ptx"),
        help="the text's level (default: from the name of the file, otherwise nvvm)",
    )
    add_arch(parser, "the target of the PTX", "sm_90a")


def run(options: argparse.Namespace) -> int:
    """Run the command `lower` and return its exit status."""
    from warploom.diagnostics import render
    from warploom.nvvm import LowerError, lower, notes, protocol_warnings

    text, name = read_text(options.file)
    source = options.source or _SOURCES.get(Path(options.file).suffix, "nvvm")
    color = sys.stderr.isatty()
    try:
        print(lower(text, source, options.to, options.arch, name=name), end="")
    except LowerError as error:
        print(render(error.diagnostics, color=color), end="", file=sys.stderr)
        return FINDINGS
    found = protocol_warnings(text, name) if source == "nvvm" else []
    if source == "builtin":
        found = notes(text, options.arch, name)
    if found:
        print(render(found, color=color), end="", file=sys.stderr)
    return OK
