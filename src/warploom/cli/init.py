"""`warploom init`: a launch file for a kernel, from what its PTX says."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from warploom.diagnostics import UsageError

OK = 0
_EPILOG = """\
What the text cannot say is a guess, and says so in a comment, or stands as "fill in: ..."; `warploom run` refuses
the file until nothing of that is left. `docs/launch-files.md` has every key.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add(
        "init",
        help="write a launch file for a kernel, from what its PTX says",
        description="Write a launch file for PTX that a compiler made: which parameters are buffers, tensor maps"
        " and numbers, and which geometry the kernel asks for.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(verb=run)
    parser.add_argument("file", type=Path, metavar="FILE.ptx", help="the PTX")
    parser.add_argument("--kernel", metavar="NAME", help="the entry; needed when the file has several")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="where to write it (FILE.toml beside the PTX); - for standard output",
    )
    parser.add_argument("--force", action="store_true", help="write over a file that is there")


def run(options: argparse.Namespace) -> int:
    """Run the verb."""
    from warploom.ptx import read
    from warploom.runtime.init import write

    ptx: Path = options.file
    module = read(ptx)
    if options.output == "-":
        print(write(module, options.kernel, _from(Path(), ptx)), end="")
        return OK
    target = Path(options.output) if options.output else ptx.with_suffix(".toml")
    text = write(module, options.kernel, _from(target.parent, ptx))
    try:
        with target.open("w" if options.force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{target} is there already", hint="--force writes over it") from None
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {(error.strerror or str(error)).lower()}") from None
    count = text.count('"fill in: ')
    left = f"{count} values are to be filled in" if count != 1 else "1 value is to be filled in"
    print(f"{target}: {left}" if count else f"{target}: nothing is to be filled in; warploom run {target}")
    return OK


def _from(folder: Path, path: Path) -> str:
    """The path as it is written in a file of a folder."""
    return Path(os.path.relpath(path, folder)).as_posix()
