"""`warploom-lab evidence configurations`: findings of checker, sanitizer and ptxas in GEMM kernels."""

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path

from warploom_lab.cli.status import DIFFERENT, OK, add_verb

_RECORD = Path("tests/evidence/configurations/record.json")
_TRIALS = ("check", "lazy", "random:5", "ptxas")

_DESCRIPTION = """\
Try the GEMM kernels of the library: check their text, run a small instance under two schedules with the sanitizer, and
assemble them with the ptxas on the path. The kernels are the covering arrays of `warploom_lab/configurations/space.py`
and all tiles that the cost model considers. Trials in the record are not repeated, so that an interrupted command
continues when it is started again.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add `configurations` to the kinds of evidence."""
    parser = add_verb(
        add,
        "configurations",
        run,
        summary="findings for every kind of GEMM kernel",
        description=_DESCRIPTION,
        exit_status="0 no findings; 1 findings",
    )
    parser.add_argument("--record", type=Path, default=_RECORD, metavar="FILE", help=f"file of the record ({_RECORD})")
    parser.add_argument(
        "--only", nargs="+", choices=_TRIALS, default=_TRIALS, metavar="TRIAL", help="trials to run (all)"
    )


def run(options: argparse.Namespace) -> int:
    """Examine configurations that are not in the record, write the record, and return the exit status."""
    from warploom_lab.configurations.record import update
    from warploom_lab.ptxas.assembler import Assembler

    found = shutil.which("ptxas")
    ptxas = None if found is None else Assembler.at(Path(found))
    command = "warploom-lab evidence configurations"
    return DIFFERENT if update(options.record, set(options.only), ptxas, command) else OK
