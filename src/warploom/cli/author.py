"""`warploom author`: a PTX file as the Python that builds it again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

OK = 0


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add(
        "author",
        help="show a PTX file as author code, the Python that builds it again",
        description="Print author code that builds the module of a PTX file again: the same instructions in the same"
        " order. What author has no word for is inline PTX in the code.",
        epilog="exit status: 0 well; 2 misuse.",
    )
    parser.set_defaults(verb=run)
    parser.add_argument("file", metavar="FILE", help="a PTX text; - is standard input")
    parser.add_argument(
        "--kernel", metavar="NAME", help="only this kernel, and what the module's kernels share"
    )


def run(options: argparse.Namespace) -> int:
    """Run the verb."""
    from warploom.author import from_ptx
    from warploom.ptx import parse, text_of

    text, name = (sys.stdin.read(), "<stdin>") if options.file == "-" else text_of(options.file)
    print(from_ptx(parse(text, name), options.kernel), end="")
    return OK
