"""`warploom-lab evidence nvcc`: instructions and messages of NVIDIA's compiler for calls of builtins."""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.cli import _workers
from warploom.diagnostics import UsageError
from warploom_lab.cli import campaign_options
from warploom_lab.cli.status import DIFFERENT, OK, SHOWN, add_verb

if TYPE_CHECKING:
    from warploom_lab.nvcc.compiler import Answer, Nvcc
    from warploom_lab.nvcc.record import Case

_RECORD = Path("tests/evidence/nvcc")

_DESCRIPTION = """\
Compile calls of builtins with the nvcc on the path: every builtin with its layouts, saturations, pointers, shapes and
booleans, and the hand-written calls of calls.txt. Most refused calls end the compilation at the first error, so they
are compiled one by one. The query takes some minutes.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add `nvcc` to the kinds of evidence."""
    parser = add_verb(
        add,
        "nvcc",
        run,
        summary="results of nvcc for calls of builtins",
        description=_DESCRIPTION,
        exit_status="0 success; 1 `lower` gives another result; 2 the query could not run",
    )
    campaign_options.declare_record_folder(parser, _RECORD)
    _workers.declare(parser, "compilers at a time (1)", 1)
    campaign_options.declare_checkpoint(parser)
    parser.add_argument("--nvcc", default="nvcc", metavar="PATH", help="another nvcc than the one on the path")
    parser.add_argument(
        "--judge", action="store_true", help="compare `lower` with every recorded answer, without a query"
    )


def run(options: argparse.Namespace) -> int:
    """Query nvcc, write the record, print differences from `lower`, and return the exit status.

    Errors: UsageError if the query cannot run.
    """
    from warploom_lab.nvcc.compiler import Nvcc
    from warploom_lab.nvcc.record import PROBES, cases, disagreements, read, write

    campaign_options.require_positive_workers(options)
    if options.judge:
        answers = read(options.record)
    else:
        probes: Path = options.record / PROBES
        if not probes.is_file():
            raise UsageError(f"{options.record} is not a folder of recorded answers: it has no {PROBES}")
        nvcc = Nvcc.at(options.nvcc)
        answers = _query(options, nvcc, cases(probes.read_text()))
        today = dt.datetime.now(dt.UTC).date().isoformat()
        write(options.record, answers, nvcc, "warploom-lab evidence nvcc", today)
    different = list(disagreements(answers))
    for case, recorded, lowered in different[:SHOWN]:
        print(f"{case.target}: {case.call}")
        print(f"  nvcc: {recorded.instruction or ' / '.join(recorded.messages) or 'nothing'}")
        print(f"  lower: {lowered.instruction or ' / '.join(lowered.messages)}")
    print(f"lower disagrees with {len(different)} of {len(answers)} recorded answers")
    return DIFFERENT if different else OK


def _query(options: argparse.Namespace, nvcc: Nvcc, calls: list[Case]) -> list[tuple[Case, Answer]]:
    from warploom.integrations.dask.compatibility import Requirements, file_digests
    from warploom_lab.json_data import decode, encode
    from warploom_lab.nvcc.compiler import Answer
    from warploom_lab.nvcc.record import PROBES, batches, in_order, query
    from warploom_lab.work.campaign import Campaign
    from warploom_lab.work.executors import threads

    compilers = file_digests([nvcc.path])
    sources = batches(calls)
    campaign = Campaign(
        {
            "campaign": "evidence nvcc",
            "nvcc": list(compilers.values()),
            **campaign_options.file_digest(options.record / PROBES),
        },
        query,
        nvcc,
        sources,
        encode,
        partial(decode, list[Answer]),
        group=4,
    )
    answers = campaign_options.run_campaign(
        "querying", campaign, options, partial(threads, campaign), needs=Requirements(files=compilers)
    )
    return in_order(calls, sources, answers)
