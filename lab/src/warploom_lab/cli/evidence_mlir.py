"""`warploom-lab evidence mlir` and `evidence acceptance`: results of MLIR's tools for the nvvm dialect."""

from __future__ import annotations

import argparse
import datetime as dt
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from warploom.cli import _workers
from warploom_lab.cli import campaign_options
from warploom_lab.cli.status import DIFFERENT, OK, add_verb

if TYPE_CHECKING:
    from warploom.integrations.dask.tasks import TaskFunction

_Result = TypeVar("_Result")
_RECORD = Path("tests/evidence/mlir")
_PIPELINE = "mlir-opt -convert-nvvm-to-llvm | mlir-translate -mlir-to-llvmir | llc -march=nvptx64"


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add `mlir` and `acceptance` to the kinds of evidence."""
    _declare(
        add,
        "mlir",
        run,
        "results of MLIR's tools for NVVM operations",
        "Run mlir-opt, mlir-translate and llc on operations of every family, and ptxas on their PTX.",
    )
    parser = _declare(
        add,
        "acceptance",
        run_acceptance,
        "acceptance of illegal NVVM operations by MLIR's tools",
        "Run MLIR's tools, llc and ptxas on illegal and nearly legal operations: changed ones of the record of `mlir`.",
    )
    parser.add_argument(
        "--definitions",
        type=Path,
        required=True,
        metavar="FILE",
        help="output of llvm-tblgen --dump-json for mlir/Dialect/LLVMIR/NVVMOps.td",
    )


def _declare(
    add: Callable[..., argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], int],
    summary: str,
    description: str,
) -> argparse.ArgumentParser:
    status = "0 success; 1 differences; 2 the query could not run"
    parser = add_verb(add, name, run, summary=summary, description=description, exit_status=status)
    campaign_options.declare_record_folder(parser, _RECORD)
    _workers.declare(parser, "processes at a time (1)", 1)
    campaign_options.declare_checkpoint(parser)
    parser.add_argument("--seed", type=int, default=0, help="seed of the operations (0)")
    parser.add_argument(
        "--fresh", action="store_true", help="query the operations of the seed, compare, and write nothing"
    )
    return parser


def run(options: argparse.Namespace) -> int:
    """Query MLIR's tools, write the record, print differences from Warploom, and return the exit status.

    Errors: UsageError if the query cannot run.
    """
    from warploom.nvvm.errors import require_xdsl

    require_xdsl()  # the modules below import it
    from warploom_lab.mlir.cases import cases
    from warploom_lab.mlir.record import Answer, batches, differences, query, write
    from warploom_lab.mlir.tools import provide
    from warploom_lab.ptxas.assembler import provide as assembler

    campaign_options.require_positive_workers(options)
    tools = provide()
    names = ["13.1", *(path for path in [shutil.which("ptxas")] if path)]
    assemblers = [assembler(name) for name in names]
    # The first assembler is a release, the others are paths.
    files = [tools.opt, tools.translate, tools.llc, *(Path(name) for name in names[1:])]
    about = {"campaign": "evidence mlir", "asked": names[0]}
    tasks = batches(list(cases(options.seed)))
    answers = _run_campaign(options, about, query, (tools, names), tasks, Answer, files)
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


def run_acceptance(options: argparse.Namespace) -> int:
    """Query MLIR's tools for illegal operations, write the record, print differences, and return the exit status.

    Errors: UsageError if the query cannot run.
    """
    from warploom.nvvm.errors import require_xdsl

    require_xdsl()  # the modules below import it
    from warploom_lab.mlir.acceptance import Judgement, batches, differences, query, write
    from warploom_lab.mlir.definitions import read
    from warploom_lab.mlir.mutants import mutants
    from warploom_lab.mlir.record import read as read_legal
    from warploom_lab.mlir.tools import provide

    campaign_options.require_positive_workers(options)
    tools = provide()
    tasks = batches(list(mutants(read(options.definitions), list(read_legal(options.record)), options.seed)))
    about = {"campaign": "evidence acceptance", "definitions": campaign_options.file_digest(options.definitions)}
    files = [tools.opt, tools.translate, tools.llc]
    judgements = _run_campaign(options, about, query, tools, tasks, Judgement, files)
    if not options.fresh:
        header = {
            "command": "warploom-lab evidence acceptance",
            "asked": dt.datetime.now(dt.UTC).date().isoformat(),
            "mlir": tools.release,
            "pipeline": f"{_PIPELINE} | ptxas",
        }
        write(options.record, judgements, header)
    different = 0
    for judgement in judgements:
        found = list(differences(judgement))
        different += bool(found)
        for difference in found:
            print(f"{judgement.text}{difference}\n")
    print(f"{different} of {len(judgements)} operations differ from MLIR")
    return DIFFERENT if different else OK


def _run_campaign(
    options: argparse.Namespace,
    about: Mapping[str, object],
    job: TaskFunction,
    shared: object,
    tasks: Sequence[object],
    kind: type[_Result],
    files: Sequence[Path],
) -> list[_Result]:
    """Return the results of all batches. `job` runs one batch with the tools in `shared`, which are in `files`."""
    from warploom.integrations.dask.compatibility import Requirements, file_digests
    from warploom_lab.json_data import decode, encode
    from warploom_lab.work.campaign import Campaign
    from warploom_lab.work.executors import threads

    used = file_digests(files)
    about = {**about, "seed": options.seed, "tools": list(used.values())}
    decoded = partial(decode, list[kind])
    campaign = Campaign[object, list[_Result]](about, job, shared, tasks, encode, decoded)
    needs = Requirements(extras={"xdsl": "mlir"}, files=used)
    results = campaign_options.run_campaign("querying", campaign, options, partial(threads, campaign), needs=needs)
    return [result for batch in results for result in batch]
