"""`warploom author`: translate a PTX file to Python code that builds the same PTX."""

import argparse

from warploom.cli._options import OK, Add, read_text


def declare(add: Add) -> None:
    """Add the command `author` to the command line."""
    parser = add(
        "author",
        help="translate PTX to Python code of the authoring language",
        description="Print Python code that builds the module of a PTX file again, with the same instructions in the"
        " same order. Parts that the authoring language does not express are inline PTX.",
        epilog="Exit status: 0 success; 2 wrong use.",
    )
    parser.add_argument("file", metavar="FILE", help="a PTX file; - for standard input")
    parser.add_argument(
        "--kernel", metavar="NAME", help="translate only this kernel and the declarations that kernels share"
    )


def run(options: argparse.Namespace) -> int:
    """Run the command `author` and return its exit status."""
    from warploom.author import from_ptx
    from warploom.ptx import parse

    print(from_ptx(parse(*read_text(options.file)), options.kernel), end="")
    return OK
