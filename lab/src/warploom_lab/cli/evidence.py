"""`warploom-lab evidence`: query external tools, and record their answers."""

import argparse
from collections.abc import Callable

from warploom_lab.cli import (
    evidence_arithmetic,
    evidence_configurations,
    evidence_functions,
    evidence_legality,
    evidence_lifting,
    evidence_mlir,
    evidence_nvcc,
)

_KINDS = (
    evidence_legality,
    evidence_nvcc,
    evidence_mlir,
    evidence_lifting,
    evidence_functions,
    evidence_configurations,
    evidence_arithmetic,
)


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is the method `add_parser` of the subparsers."""
    parser = add("evidence", help="query ptxas, nvcc, MLIR or MMA-Sim again and record their answers")
    kinds = parser.add_subparsers(title="evidence", metavar="KIND", required=True)
    for kind in _KINDS:
        kind.declare(kinds.add_parser)
