"""`warploom lower`: translate between CUDA C with builtins, MLIR, LLVM IR and PTX."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.cli._options import FINDINGS, OK, Add, add_arch, read_text

if TYPE_CHECKING:
    from warploom.nvvm import Lowered

_SOURCES = {".cu": "builtin", ".mlir": "nvvm", ".ll": "llvm", ".ptx": "ptx"}

_BEGINNINGS = {
    "ptx": r"\.version\b",
    "llvm": r"; ModuleID|target (?:triple|datalayout)|source_filename|define |declare |@\S+ =",
    "builtin": r"__global__|__device__|#include|extern \"C\"",
}
"""Beginnings of texts that are no MLIR, by their level."""


def declare(add: Add) -> None:
    """Add the command `lower` to the command line."""
    parser = add(
        "lower",
        help="translate CUDA C with builtins, MLIR and LLVM IR to PTX, and PTX to MLIR",
        description="Translate a text between levels of the compiler: builtin to nvvm, llvm or ptx; nvvm to llvm or"
        " ptx; llvm to ptx; and ptx to nvvm. The levels are CUDA C with builtins, MLIR with the nvvm and llvm dialects,"
        " LLVM IR, and PTX.",
        epilog="Exit status: 0 success; 1 the text is illegal or cannot be translated; 2 wrong use.",
    )
    parser.add_argument(
        "file", metavar="FILE", help="CUDA C (.cu), MLIR (.mlir), LLVM IR (.ll) or PTX (.ptx); - for standard input"
    )
    parser.add_argument("--to", choices=("nvvm", "llvm", "ptx"), default="ptx", help="the result's level (ptx)")
    parser.add_argument(
        "--source",
        choices=("builtin", "nvvm", "llvm", "ptx"),
        help="the text's level (default: from the name of the file, otherwise nvvm)",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="print the PTX instructions of each call in the LLVM IR, with their availability, instead of the result",
    )
    add_arch(parser, "the target of the PTX (default: that of the module, otherwise sm_90a)")
    parser.add_argument(
        "--ptx-version",
        metavar="8.7",
        help="the PTX version (default: the first that has all instructions, and at least that of the module)",
    )


def run(options: argparse.Namespace) -> int:
    """Run the command `lower` and return its exit status."""
    from warploom.diagnostics import UsageError, render
    from warploom.nvvm import LowerError, lower, notes, protocol_warnings
    from warploom.ptx import PtxSyntaxError

    text, name = read_text(options.file)
    source = options.source or _SOURCES.get(Path(options.file).suffix.lower()) or _default_source(text, name)
    if options.explain and options.to != "ptx":
        raise UsageError("--explain needs --to ptx, because it shows PTX instructions")
    color = sys.stderr.isatty()
    try:
        lowered = lower(text, source, options.to, options.arch, options.ptx_version, name)
        print(_explanation(lowered) if options.explain else lowered, end="")
    except (LowerError, PtxSyntaxError) as error:
        print(render(error.diagnostics, color=color), end="", file=sys.stderr)
        return FINDINGS
    found = protocol_warnings(text, name) if source == "nvvm" else []
    if source == "builtin":
        found = notes(text, options.arch, name)
    if found:
        print(render(found, color=color), end="", file=sys.stderr)
    return OK


def _default_source(text: str, name: str) -> str:
    """Return the level of MLIR. Errors: UsageError for a text that begins like another level."""
    from warploom.diagnostics import UsageError

    for level, beginning in _BEGINNINGS.items():
        if re.match(rf"(?:\s|//[^\n]*\n)*(?:{beginning})", text):
            raise UsageError(f"{name} seems to be no MLIR", hint=f"--source {level} states what it is")
    return "nvvm"


def _explanation(lowered: Lowered) -> str:
    """Return a text with one paragraph for each call in the LLVM IR. A Form is described once."""
    lines: list[str] = []
    described: set[str] = set()
    for call in lowered.calls():
        lines.append(f"{call.callee}({call.arguments})")
        for step in call.steps:
            form = "" if step.form is None else f"{step.form.name}, {step.form.source}; "
            lines += [f"    {step.instruction}", f"        {form}{step.availability}"]
            if step.form is not None and step.form.about and step.form.name not in described:
                described.add(step.form.name)
                lines.append(f"        {step.form.about}")
        lines += [] if call.steps else ["    no PTX instruction"]
        lines.append("")
    return "\n".join(lines) if lines else "The LLVM IR has no calls of intrinsics.\n"
