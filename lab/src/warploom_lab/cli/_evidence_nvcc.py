"""`warploom evidence nvcc`: ask NVIDIA's compiler again what it makes of builtins, and write the record."""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.cli import _workers
from warploom.diagnostics import UsageError
from warploom_lab.cli import _campaign

if TYPE_CHECKING:
    from warploom_lab.nvcc.compiler import Answer, Nvcc
    from warploom_lab.nvcc.record import Case

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
    _workers.declare(parser, "compilers at a time (1)", 1)
    _campaign.declare(parser)
    parser.add_argument("--nvcc", default="nvcc", metavar="PATH", help="another nvcc than that on the path")
    parser.add_argument(
        "--judge", action="store_true", help="ask nothing: compare lower with every recorded answer"
    )


def run(options: argparse.Namespace) -> int:
    """Ask and write, then compare. Errors: UsageError where it cannot be asked."""
    from warploom_lab.nvcc.compiler import Nvcc
    from warploom_lab.nvcc.record import PROBES, cases, disagreements, read, write

    _campaign.at_least_one(options)
    if options.judge:
        answers = read(options.record)
    else:
        probes: Path = options.record / PROBES
        if not probes.is_file():
            raise UsageError(f"{options.record} is not a folder of recorded answers: it has no {PROBES}")
        nvcc = Nvcc.found(options.nvcc)
        answers = _ask(options, nvcc, cases(probes.read_text()))
        today = dt.datetime.now(dt.UTC).date().isoformat()
        write(options.record, answers, nvcc, "warploom evidence nvcc", today)
    different = list(disagreements(answers))
    for case, recorded, made in different[:_SHOWN]:
        print(f"{case.target}: {case.call}")
        print(f"  nvcc: {recorded.instruction or ' / '.join(recorded.messages) or 'nothing'}")
        print(f"  lower: {made.instruction or ' / '.join(made.messages)}")
    print(f"{len(different)} of {len(answers)} recorded answers are otherwise than what lower makes")
    return DIFFERENT if different else OK


def _ask(options: argparse.Namespace, nvcc: Nvcc, asked: list[Case]) -> list[tuple[Case, Answer]]:
    """The calls, with what the compiler says of each."""
    from warploom.integrations.dask.compatibility import Requirements, file_digests
    from warploom_lab.nvcc.compiler import Answer
    from warploom_lab.nvcc.record import PROBES, ask, in_order, together
    from warploom_lab.plain import of_plain, plain
    from warploom_lab.work.campaign import Campaign

    compilers = file_digests([nvcc.path])
    texts = together(asked)
    campaign = Campaign(
        {
            "campaign": "evidence nvcc",
            "nvcc": list(compilers.values()),
            **_campaign.file(options.record / PROBES),
        },
        ask,
        nvcc,
        texts,
        plain,
        partial(of_plain, list[Answer]),
        group=4,
    )
    said = _campaign.carry_out(
        "asking", campaign, options, partial(_campaign.threads, campaign), needs=Requirements(files=compilers)
    )
    return in_order(asked, texts, said)
