"""The `warploom-lab` command: comparisons with GPUs and recorded answers of external tools."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from warploom.cli import execute
from warploom_lab.cli import compare, evidence


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="warploom-lab",
        description="Compare Warploom with GPUs, assemblers and compilers, and record their answers.",
    )
    verbs = top.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb in (compare, evidence):
        verb.declare(verbs.add_parser)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return execute(parser(), argv)


if __name__ == "__main__":
    sys.exit(main())
