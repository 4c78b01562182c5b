"""`warploom-lab evidence legality`: verdicts of ptxas on legal and nearly legal instructions."""

from __future__ import annotations

import argparse
import datetime as dt
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.cli import _workers
from warploom.diagnostics import UsageError
from warploom_lab.cli import campaign_options
from warploom_lab.cli.status import DIFFERENT, OK, SHOWN, add_verb, counting

if TYPE_CHECKING:
    from warploom_lab.ptxas import CachedAssemblers

_RECORD = Path("tests/evidence/ptxas")
_PROBES = "off-table.txt"

_DESCRIPTION = """\
Query NVIDIA's assemblers about every legal row of every form, about nearly legal instructions, and about hand-written
probes, over targets and PTX versions. The user's cache keeps each verdict as it arrives, so that a repeated query is
fast and an interrupted command continues when it is started again.
The assemblers are wheels (12.9, 13.1 and the newest), which are installed into that cache when first needed.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add `legality` to the kinds of evidence."""
    parser = add_verb(
        add,
        "legality",
        run,
        summary="verdicts of ptxas on instruction forms",
        description=_DESCRIPTION,
        exit_status="0 success; 1 verdicts differ (--compare, --fresh, --judge); 2 the query could not run",
    )
    campaign_options.declare_record_folder(parser, _RECORD)
    parser.add_argument("--family", action="append", default=[], metavar="NAME", help="this family only")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--compare", action="store_true", help="query the recorded probes again and write nothing")
    mode.add_argument(
        "--fresh", type=int, metavar="N", help="query N random probes outside the record and compare `check`"
    )
    mode.add_argument(
        "--judge", action="store_true", help="compare `check` with every recorded verdict, without a query"
    )
    parser.add_argument("--recent", action="store_true", help="with --fresh: the newest assembler and PTX 9.2 to 9.5")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="with --fresh: record the verdicts in this folder")
    parser.add_argument("--seed", type=int, default=1, help="seed of --fresh (1)")
    _workers.declare(parser, "assemblers at a time (2)", 2)


def run(options: argparse.Namespace) -> int:
    """Write or compare ptxas verdicts, and return the exit status.

    Errors: UsageError if the query cannot run.
    """
    campaign_options.require_positive_workers(options)
    if options.fresh is None and (options.recent or options.keep):
        raise UsageError(f"{'--recent' if options.recent else '--keep'} is for random probes; expected --fresh N")
    if options.fresh is not None:
        if options.fresh < 1:
            raise UsageError(f"--fresh is {options.fresh}; expected 1 or more")
        return _compare_random_probes(options)
    if options.judge:
        return _compare_checker_with_record(options)
    return _compare_ptxas_with_record(options) if options.compare else _write(options)


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
        raise UsageError(f"unknown family '{', '.join(families)}' of {isa.__name__}")
    with _assemblers(options) as assemblers, counting("querying") as progress:
        counts = record(assemblers, cases, options.record, progress=progress)
    today = dt.datetime.now(dt.UTC).date().isoformat()
    write_header(options.record, counted(options.record), "warploom-lab evidence legality", today)
    targets, versions = len({at.target for at in counts}), len({at.version for at in counts})
    print(f"{counts.total()} verdicts on {len(cases)} probes, {targets} targets, {versions} PTX versions")
    return OK


def _compare_ptxas_with_record(options: argparse.Namespace) -> int:
    from warploom_lab.ptxas import Question
    from warploom_lab.ptxas.record import read

    questions: list[Question] = []
    recorded: list[bool] = []
    for case, verdicts in read(options.record, options.family):
        questions += [(case.probe, at) for at in verdicts]
        recorded += verdicts.values()
    with _assemblers(options) as assemblers, counting("querying") as progress:
        answers = assemblers.judge_all(questions, progress)
    different = [
        (probe, at, verdict)
        for (probe, at), verdict, accepted in zip(questions, answers, recorded, strict=True)
        if verdict.ok != accepted
    ]
    for probe, at, verdict in different[:SHOWN]:
        print(f"{at}: now {'accepted' if verdict.ok else 'refused, ' + verdict.message}: {probe.key}")
    if len(different) > SHOWN:
        points = Counter(at for _, at, _ in different)
        print(f"… and {len(different) - SHOWN} more, at {len(points)} points")
    print(f"{len(different)} of {len(questions)} recorded verdicts differ")
    return DIFFERENT if different else OK


def _compare_checker_with_record(options: argparse.Namespace) -> int:
    from warploom_lab.ptxas.checker import Checker
    from warploom_lab.ptxas.points import NEWEST
    from warploom_lab.ptxas.record import counted, disagreements

    wanted = _recorded_families(options)
    different = 0
    with counting("checking") as progress:
        for done, family in enumerate(wanted, 1):
            for disagreement in disagreements(options.record, Checker(), [family]):
                different += 1
                print(disagreement)
            progress(done, len(wanted))
    counts = counted(options.record, wanted)
    compared = sum(count for at, count in counts.items() if at.release != NEWEST)
    print(f"check disagrees with {different} of {compared} recorded verdicts")
    return DIFFERENT if different else OK


def _compare_random_probes(options: argparse.Namespace) -> int:
    from warploom.check import check
    from warploom_lab.ptxas.assembler import NO_ANSWER
    from warploom_lab.ptxas.random_cases import random_cases
    from warploom_lab.ptxas.record import Disagreement, read, record, write_header

    recorded = read(options.record, _recorded_families(options))
    known = {(case.probe.key, at) for case, verdicts in recorded for at in verdicts}
    cases = random_cases(options.fresh, options.seed, options.family, known, recent=options.recent)
    with _assemblers(options) as assemblers, counting("querying") as progress:
        verdicts = assemblers.judge_all([(case.probe, case.points[0]) for case in cases], progress)
    different = 0
    for case, verdict in zip(cases, verdicts, strict=True):
        at = case.points[0]
        report = check(case.probe.module(at.target, at.version))
        if report.ok == verdict.ok or verdict.message == NO_ANSWER:
            continue
        different += 1
        reason = f"{report.errors[0].code}: {report.errors[0].message}" if verdict.ok else verdict.message
        print(f"{Disagreement(case, at, verdict.ok)}  <- {reason}")
    if options.keep is not None:
        with _assemblers(options) as assemblers:
            counts = record(assemblers, cases, options.keep)
        recent = " --recent" if options.recent else ""
        command = f"warploom-lab evidence legality --fresh {options.fresh} --seed {options.seed}{recent}"
        write_header(options.keep, counts, command, dt.datetime.now(dt.UTC).date().isoformat())
    print(f"check disagrees with ptxas on {different} of {len(cases)} fresh probes of seed {options.seed}")
    return DIFFERENT if different else OK


def _recorded_families(options: argparse.Namespace) -> list[str]:
    from warploom_lab.ptxas.record import families

    return [family for family in families(options.record) if family in options.family or not options.family]


def _assemblers(options: argparse.Namespace) -> CachedAssemblers:
    """Return assemblers on this computer, or on the Dask workers of --workers."""
    from warploom_lab.ptxas import CachedAssemblers
    from warploom_lab.ptxas.cached import judge_chunk

    if isinstance(options.workers, int):
        return CachedAssemblers(workers=options.workers)
    return CachedAssemblers(executor=partial(campaign_options.map_on_dask, judge_chunk, options.workers))
