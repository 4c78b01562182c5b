"""`warploom init`: write a launch file for a kernel, from its PTX."""

import argparse
import os
from pathlib import Path

from warploom.cli._options import OK, STANDARD, Add, add_kernel, add_output, read_text, write_text

_EPILOG = """\
A value that the PTX does not state is either a guess, which a comment marks, or the text "fill in: ...". `warploom run`
refuses the file while it contains such a text. docs/launch-files.md describes every key.
"""


def declare(add: Add) -> None:
    """Add the command `init` to the command line."""
    parser = add(
        "init",
        help="write a launch file for a kernel, from its PTX",
        description="Write a launch file for PTX from a compiler: the parameters that are buffers, tensor maps and"
        " numbers, and the geometry that the kernel requires.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE.ptx", help="the PTX file; - for standard input")
    add_kernel(parser)
    add_output(parser, "the launch file (FILE.toml beside the PTX)")
    parser.add_argument("--force", action="store_true", help="replace an existing file")


def run(options: argparse.Namespace) -> int:
    """Run the command `init` and return its exit status."""
    from warploom.ptx import parse, text_of
    from warploom.runtime.init import write

    is_stream = options.file == STANDARD
    module = parse(*(read_text(STANDARD) if is_stream else text_of(Path(options.file))))
    target = options.output or (STANDARD if is_stream else str(Path(options.file).with_suffix(".toml")))
    folder = Path() if target == STANDARD else Path(target).parent
    path = "fill in: the path of the PTX file" if is_stream else Path(os.path.relpath(options.file, folder)).as_posix()
    text = write(module, options.kernel, path)
    write_text(target, text, "w" if options.force else "x")
    if target != STANDARD:
        count = text.count('"fill in: ')
        left = f"{count} values must be filled in" if count != 1 else "1 value must be filled in"
        print(f"{target}: {left}" if count else f"{target}: complete; run it with: warploom run {target}")
    return OK
