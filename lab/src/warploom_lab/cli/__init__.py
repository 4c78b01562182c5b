"""The `warploom-lab` command, with one module for each verb."""

import argparse
import sys
from collections.abc import Sequence

from warploom.cli import execute
from warploom_lab.cli import captures, compare, driver, evidence, fuzz, kernels, mutants, pages, programs, ptxas

_VERBS = (compare, evidence, ptxas, kernels, mutants, programs, driver, captures, fuzz, pages)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="warploom-lab",
        description="Compare Warploom with GPUs, assemblers and compilers, record their answers, and generate pages.",
        epilog="`warploom-lab VERB --help` describes each verb.",
    )
    verbs = top.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb in _VERBS:
        verb.declare(verbs.add_parser)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status. Without arguments print the help."""
    arguments = sys.argv[1:] if argv is None else argv
    return execute(parser(), arguments or ["--help"])
