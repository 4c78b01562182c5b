"""`warploom evidence nvcc`: ask NVIDIA's compiler again what it makes of builtins, and write the record."""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Callable
from pathlib import Path

from warploom.diag import UsageError

OK = 0
DIFFERENT = 1
_RECORD = Path("tests/evidence/nvcc")
_SHOWN = 20

_DESCRIPTION = """\
Ask the nvcc on the path what it makes of calls of builtins: every builtin with its layouts, saturations, pointers,
shapes and booleans, and the calls written by hand in calls.txt. Most calls that it refuses end it at the first, so
they are asked one by one: this takes some minutes.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the kind to `evidence`."""
    parser = add(
        "nvcc",
        help="what nvcc makes of calls of builtins",
        description=_DESCRIPTION,
        epilog="exit status: 0 well; 1 lower makes something else; 2 it could not be asked.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(verb=run)
    parser.add_argument(
        "--record", type=Path, default=_RECORD, metavar="FOLDER", help=f"where the record is ({_RECORD})"
    )
    parser.add_argument("--nvcc", default="nvcc", metavar="PATH", help="another nvcc than that on the path")
    parser.add_argument(
        "--judge", action="store_true", help="ask nothing: compare lower with every recorded answer"
    )


def run(options: argparse.Namespace) -> int:
    """Ask and write, then compare. Errors: UsageError where it cannot be asked."""
    from warploom.oracle.nvcc import Nvcc
    from warploom.oracle.nvcc_record import PROBES, ask, cases, disagreements, read, write

    if options.judge:
        answers = read(options.record)
    else:
        probes: Path = options.record / PROBES
        if not probes.is_file():
            raise UsageError(f"{options.record} is not a folder of recorded answers: it has no {PROBES}")
        nvcc = Nvcc.found(options.nvcc)
        asked = cases(probes.read_text())
        answers = list(zip(asked, ask(nvcc, asked), strict=True))
        today = dt.datetime.now(dt.UTC).date().isoformat()
        write(options.record, answers, nvcc, "warploom evidence nvcc", today)
    different = list(disagreements(answers))
    for case, recorded, made in different[:_SHOWN]:
        print(f"{case.target}: {case.call}")
        print(f"  nvcc: {recorded.instruction or ' / '.join(recorded.messages) or 'nothing'}")
        print(f"  lower: {made.instruction or ' / '.join(made.messages)}")
    print(f"{len(different)} of {len(answers)} recorded answers are otherwise than what lower makes")
    return DIFFERENT if different else OK
