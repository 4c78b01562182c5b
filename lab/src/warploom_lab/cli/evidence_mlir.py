"""`warploom-lab evidence mlir`: PTX and messages of MLIR's tools for the nvvm dialect."""

from __future__ import annotations

import argparse
import datetime as dt
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.cli import _workers
from warploom_lab.cli import campaign_options
from warploom_lab.cli.status import DIFFERENT, OK, add_verb

if TYPE_CHECKING:
    from warploom_lab.mlir.record import Answer
    from warploom_lab.mlir.tools import Tools

_RECORD = Path("tests/evidence/mlir")
_PIPELINE = "mlir-opt -convert-nvvm-to-llvm | mlir-translate -mlir-to-llvmir | llc -march=nvptx64"


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add `mlir` to the kinds of evidence."""
    parser = add_verb(
        add,
        "mlir",
        run,
        summary="results of MLIR's tools for NVVM operations",
        description="Run mlir-opt, mlir-translate and llc on operations of every family, and ptxas on their PTX.",
        exit_status="0 success; 1 differences; 2 the query could not run",
    )
    campaign_options.declare_record_folder(parser, _RECORD)
    _workers.declare(parser, "processes at a time (1)", 1)
    campaign_options.declare_checkpoint(parser)
    parser.add_argument("--seed", type=int, default=0, help="seed of the operations (0)")
    parser.add_argument(
        "--fresh", action="store_true", help="query the operations of the seed, compare, and write nothing"
    )


def run(options: argparse.Namespace) -> int:
    """Query MLIR's tools, write the record, print differences from Warploom, and return the exit status.

    Errors: UsageError if the query cannot run.
    """
    from warploom.nvvm.errors import require_xdsl

    require_xdsl()  # the modules below import it
    from warploom_lab.mlir.record import differences, write
    from warploom_lab.mlir.tools import provide
    from warploom_lab.ptxas.assembler import provide as assembler

    campaign_options.require_positive_workers(options)
    tools = provide()
    names = ["13.1", *(path for path in [shutil.which("ptxas")] if path)]
    assemblers = [assembler(name) for name in names]
    answers = _query(options, tools, names)
    if not options.fresh:
        header = {
            "command": "warploom-lab evidence mlir",
            "asked": dt.datetime.now(dt.UTC).date().isoformat(),
            "mlir": tools.release,
            "pipeline": _PIPELINE,
            "ptxas": [each.release for each in assemblers],
        }
        write(options.record, answers, header)
    different = 0
    for answer in answers:
        found = list(differences(answer))
        if len(answer.assembled) < len(assemblers):
            accepted = ", ".join(answer.assembled) or "none"
            found.append(f"of {len(assemblers)} assemblers these accepted the PTX: {accepted}")
        different += bool(found)
        for difference in found:
            print(f"{answer.operation} ({answer.target}): {difference}")
    refused = sum(bool(answer.refused) for answer in answers)
    print(f"{different} of {len(answers)} operations differ from MLIR; MLIR refuses {refused} of them")
    return DIFFERENT if different else OK


def _query(options: argparse.Namespace, tools: Tools, assemblers: list[str]) -> list[Answer]:
    """Return the answers of MLIR's tools and of ptxas for every operation."""
    from warploom.integrations.dask.compatibility import Requirements, file_digests
    from warploom_lab.json_data import decode, encode
    from warploom_lab.mlir.cases import cases
    from warploom_lab.mlir.record import Answer, batches, query
    from warploom_lab.work.campaign import Campaign
    from warploom_lab.work.executors import threads

    # The first assembler is a release, the others are paths.
    used = file_digests([tools.opt, tools.translate, tools.llc, *(Path(name) for name in assemblers[1:])])
    campaign = Campaign(
        {"campaign": "evidence mlir", "seed": options.seed, "tools": list(used.values()), "asked": assemblers[0]},
        query,
        (tools, assemblers),
        batches(list(cases(options.seed))),
        encode,
        partial(decode, list[Answer]),
    )
    needs = Requirements(extras={"xdsl": "mlir"}, files=used)
    results = campaign_options.run_campaign("querying", campaign, options, partial(threads, campaign), needs=needs)
    return [answer for batch in results for answer in batch]
