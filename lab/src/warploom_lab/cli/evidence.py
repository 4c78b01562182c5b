"""`warploom evidence`: ask the outsiders again, and write the record of what they say."""

from __future__ import annotations

import argparse
import datetime as dt
import shutil
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.cli import _workers
from warploom.cli._progress import counting
from warploom.diagnostics import UsageError
from warploom_lab.cli import _campaign, _evidence_nvcc

if TYPE_CHECKING:
    from warploom_lab.mlir.record import Answer
    from warploom_lab.mlir.tools import Tools
    from warploom_lab.ptxas import Oracle

OK = 0
DIFFERENT = 1
_RECORD = Path("tests/evidence/ptxas")
_MLIR = Path("tests/evidence/mlir")
_PROBES = "off-table.txt"
_SHOWN = 20

_DESCRIPTION = """\
Ask NVIDIA's assemblers what they take: every legal row of every form, its near-misses, and hand-written
probes, over targets and PTX versions. Verdicts are kept in the user's cache as they come: asking again costs
little, and what is interrupted goes on where it was when it is started again.
The assemblers are wheels (12.9, 13.1 and the newest), installed into that cache when first needed.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add("evidence", help="ask NVIDIA's tools, or MLIR's, again, and record what they say")
    kinds = parser.add_subparsers(title="evidence", metavar="KIND", required=True)
    _evidence_nvcc.declare(kinds.add_parser)
    legality = kinds.add_parser(
        "legality",
        help="verdicts of ptxas on instruction forms",
        description=_DESCRIPTION,
        epilog="exit status: 0 well; 1 with --compare, --fresh or --judge, verdicts differ; 2 it could not be asked.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    legality.set_defaults(verb=run)
    legality.add_argument(
        "--record", type=Path, default=_RECORD, metavar="FOLDER", help=f"where the record is ({_RECORD})"
    )
    legality.add_argument("--family", action="append", default=[], metavar="NAME", help="only this family")
    kind = legality.add_mutually_exclusive_group()
    kind.add_argument("--compare", action="store_true", help="ask what is recorded, and write nothing")
    kind.add_argument(
        "--fresh", type=int, metavar="N", help="ask N probes that are not recorded, and compare with `check`"
    )
    kind.add_argument(
        "--judge", action="store_true", help="ask nothing: compare `check` with every recorded verdict"
    )
    legality.add_argument("--seed", type=int, default=1, help="other fresh probes (1)")
    _workers.declare(legality, "assemblers at a time (2)", 2)
    mlir = kinds.add_parser(
        "mlir",
        help="what MLIR's tools make of NVVM operations",
        description="Ask mlir-opt, mlir-translate and llc about operations of every family, and ptxas about their PTX.",
        epilog="exit status: 0 well; 1 something differs; 2 it could not be asked.",
    )
    mlir.set_defaults(verb=run_mlir)
    mlir.add_argument(
        "--record", type=Path, default=_MLIR, metavar="FOLDER", help=f"where the record is ({_MLIR})"
    )
    _workers.declare(mlir, "processes asked at a time (1)", 1)
    _campaign.declare(mlir)
    mlir.add_argument("--seed", type=int, default=0, help="other operations (0)")
    mlir.add_argument(
        "--fresh", action="store_true", help="ask operations of the seed, compare, and write nothing"
    )


def run_mlir(options: argparse.Namespace) -> int:
    """Ask MLIR, then write and compare. Errors: UsageError where it cannot be asked."""
    from warploom.nvvm.errors import require_xdsl

    require_xdsl()  # what follows imports it
    from warploom_lab.mlir.record import differences, write
    from warploom_lab.mlir.tools import provide
    from warploom_lab.ptxas.assembler import provide as assembler

    _campaign.at_least_one(options)
    tools = provide()
    names = ["13.1", *(path for path in [shutil.which("ptxas")] if path)]
    assemblers = [assembler(name) for name in names]
    answers = _ask_mlir(options, tools, names)
    if not options.fresh:
        today = dt.datetime.now(dt.UTC).date().isoformat()
        header = {
            "command": "warploom evidence mlir",
            "asked": today,
            "mlir": tools.release,
            "pipeline": "mlir-opt -convert-nvvm-to-llvm | mlir-translate -mlir-to-llvmir | llc -march=nvptx64",
            "ptxas": [each.release for each in assemblers],
        }
        write(options.record, answers, header)
    different = 0
    for answer in answers:
        found = list(differences(answer))
        if len(answer.assembled) < len(assemblers):
            found.append(f"of {len(assemblers)} assemblers took it {', '.join(answer.assembled) or 'none'}")
        different += bool(found)
        for each in found:
            print(f"{answer.operation} ({answer.target}): {each}")
    refused = sum(bool(answer.refused) for answer in answers)
    print(
        f"{different} of {len(answers)} operations are otherwise here; {refused} of them MLIR does not take"
    )
    return DIFFERENT if different else OK


def _ask_mlir(options: argparse.Namespace, tools: Tools, assemblers: list[str]) -> list[Answer]:
    """What the tools and the assemblers say of every operation."""
    from warploom.integrations.dask.compatibility import Requirements, file_digests
    from warploom_lab.mlir.cases import cases
    from warploom_lab.mlir.record import Answer, ask, together
    from warploom_lab.plain import of_plain, plain
    from warploom_lab.work.campaign import Campaign

    used = file_digests([tools.opt, tools.translate, tools.llc, *(Path(name) for name in assemblers[1:])])
    campaign = Campaign(
        {
            "campaign": "evidence mlir",
            "seed": options.seed,
            "tools": list(used.values()),
            "asked": assemblers[0],
        },
        ask,
        (tools, assemblers),
        together(list(cases(options.seed))),
        plain,
        partial(of_plain, list[Answer]),
    )
    needs = Requirements(extras={"xdsl": "mlir"}, files=used)
    here = partial(_campaign.threads, campaign)
    found = _campaign.carry_out("asking", campaign, options, here, needs=needs)
    return [answer for some in found for answer in some]


def run(options: argparse.Namespace) -> int:
    """Ask, then write or compare. Errors: UsageError where it cannot be asked."""
    _campaign.at_least_one(options)
    if options.fresh is not None:
        if options.fresh < 1:
            raise UsageError(f"--fresh is {options.fresh}; expected 1 or more")
        return _fresh(options)
    if options.judge:
        return _judge(options)
    return _compare(options) if options.compare else _write(options)


def _write(options: argparse.Namespace) -> int:
    from warploom import isa  # declares every form
    from warploom_lab.ptxas.cases import OFF_TABLE, all_cases, off_table
    from warploom_lab.ptxas.record import counted, record, write_header

    families: list[str] = options.family
    probes: Path = options.record / _PROBES
    if not probes.is_file():
        raise UsageError(f"{options.record} is not a folder of recorded verdicts: it has no {_PROBES}")
    cases = [] if families == [OFF_TABLE] else list(all_cases(families))
    if not families or OFF_TABLE in families:
        cases += off_table(probes.read_text())
    if not cases:
        raise UsageError(f"no family of {isa.__name__} is named {', '.join(families)}")
    with _oracle(options) as oracle, counting("asking") as progress:
        counts = record(oracle, cases, options.record, progress=progress)
    today = dt.datetime.now(dt.UTC).date().isoformat()
    write_header(options.record, counted(options.record), "warploom evidence legality", today)
    targets, versions = len({at.target for at in counts}), len({at.version for at in counts})
    print(f"{counts.total()} verdicts on {len(cases)} probes, {targets} targets, {versions} PTX versions")
    return OK


def _compare(options: argparse.Namespace) -> int:
    from warploom_lab.ptxas import Question
    from warploom_lab.ptxas.record import read

    questions: list[Question] = []
    recorded: list[bool] = []
    for case, verdicts in read(options.record, options.family):
        questions += [(case.probe, at) for at in verdicts]
        recorded += verdicts.values()
    with _oracle(options) as oracle, counting("asking") as progress:
        asked = oracle.ask(questions, progress)
    different = [
        (probe, at, verdict)
        for (probe, at), verdict, accepted in zip(questions, asked, recorded, strict=True)
        if verdict.ok != accepted
    ]
    for probe, at, verdict in different[:_SHOWN]:
        print(f"{at}: now {'accepted' if verdict.ok else 'refused, ' + verdict.message}: {probe.key}")
    by_point = Counter(at for _, at, _ in different)
    if len(different) > _SHOWN:
        print(f"… and {len(different) - _SHOWN} more, at {len(by_point)} points")
    print(f"{len(different)} of {len(questions)} recorded verdicts differ")
    return DIFFERENT if different else OK


def _judge(options: argparse.Namespace) -> int:
    from warploom_lab.ptxas.judging import Checker
    from warploom_lab.ptxas.points import NEWEST
    from warploom_lab.ptxas.record import counted, disagreements, families

    wanted = [family for family in families(options.record) if family in options.family or not options.family]
    different = 0
    with counting("judging") as progress:
        for done, family in enumerate(wanted, 1):
            for each in disagreements(options.record, Checker(), [family]):
                different += 1
                print(each)
            progress(done, len(wanted))
    counts = counted(options.record, wanted)
    judged = sum(count for at, count in counts.items() if at.release != NEWEST)
    print(f"{different} of {judged} recorded verdicts are judged otherwise by check")
    return DIFFERENT if different else OK


def _fresh(options: argparse.Namespace) -> int:
    from warploom.check import check
    from warploom_lab.ptxas.assembler import NO_ANSWER
    from warploom_lab.ptxas.fresh import fresh_cases
    from warploom_lab.ptxas.record import Disagreement, families, read

    wanted = [family for family in families(options.record) if family in options.family or not options.family]
    known = {(case.probe.key, at) for case, verdicts in read(options.record, wanted) for at in verdicts}
    cases = fresh_cases(options.fresh, options.seed, options.family, known)
    with _oracle(options) as oracle, counting("asking") as progress:
        asked = oracle.ask([(case.probe, case.points[0]) for case in cases], progress)
    different = 0
    for case, verdict in zip(cases, asked, strict=True):
        at = case.points[0]
        report = check(case.probe.module(at.target, at.version))
        if report.ok == verdict.ok or verdict.message == NO_ANSWER:
            continue
        different += 1
        said = f"{report.errors[0].code}: {report.errors[0].message}" if verdict.ok else verdict.message
        print(f"{Disagreement(case, at, verdict.ok)}  <- {said}")
    print(f"{different} of {len(cases)} fresh probes of seed {options.seed} are judged otherwise by check")
    return DIFFERENT if different else OK


def _oracle(options: argparse.Namespace) -> Oracle:
    """Those who are asked: assemblers here, or those of a crew's machines."""
    from warploom_lab.ptxas import Oracle
    from warploom_lab.ptxas.ask import judge_chunk

    if isinstance(options.workers, int):
        return Oracle(workers=options.workers)
    return Oracle(spread=partial(_campaign.spread, judge_chunk, options.workers))
