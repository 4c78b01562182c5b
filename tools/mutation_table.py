"""Run both mutation programmes with the sanitizer and write the tables of docs/sanitizer.md.

    python tools/mutation_table.py [--programme first|second|hints]... [--write] [--kernel WORD]... [--kind WORD]...
                                   [--list] [--workers N] [--share F]

A mutant is a kernel with one inserted error. It counts as "one finding" or "more findings" if one of the rules that it
breaks is reported, as "misnamed" if only other rules are reported, and as "missed" if nothing is reported. Some mutants
are still correct by the PTX manual ("allowed"). Such a mutant counts as "silent" if nothing is reported, otherwise as
"wrongly reported". The expected rules are in tests/observe/sanitize/verdicts.py for the first programme, and in
tests/observe/sanitize/protocol for the second programme. --list prints every mutant that is neither silent nor has one
finding. The exit status is 1 if a mutant is misnamed, missed or wrongly reported.

The third table is about the hints. For each faulty mutant of both programmes, the fixes of the first finding are
applied as tests/observe/sanitize/applying.py describes, and the results are sanitized. --list prints the hints that do
not help. They do not change the exit status.

--workers runs the mutants in N processes. The tables do not depend on N. --share runs only a share F of the mutants,
from 0 to 1, which a hash of their names selects.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "sanitizer.md"
FOUND = ("one finding", "more findings")
COLUMNS = ("mutants", *FOUND, "misnamed", "missed", "allowed", "silent", "wrongly reported")
HARMLESS = ("silent", "wrongly reported")
RIGHT = (*FOUND, "silent")
HINT_COLUMNS = ("hints", "removed", "alternative", "kept", "new finding", "illegal", "no edit")
TABLES = {"first": "mutations", "second": "protocol", "hints": "hints"}

Counts: TypeAlias = dict[str, Counter[str]]


@dataclass(frozen=True, slots=True)
class Job:
    """Mutants that one process runs: those of one kind, made from one kernel."""

    programme: str
    kernel: str
    kind: str
    share: float

    def includes(self, place: str) -> bool:
        """Return True if the mutant with the name `place` belongs to the share that runs."""
        return zlib.crc32(place.encode()) < self.share * 2**32


@dataclass(frozen=True, slots=True)
class Result:
    """Result of one mutant: its row in the table, its name, its outcome, and the rules of its findings."""

    row: str
    place: str
    outcome: str
    codes: tuple[str, ...]


def main() -> int:
    """Run the mutants, write or print the tables, and return the exit status."""
    parser = argparse.ArgumentParser(description="Run the mutation programmes with the sanitizer.")
    parser.add_argument("--programme", action="append", choices=TABLES, help="only this programme")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/sanitizer.md")
    parser.add_argument("--kernel", action="append", default=[], help="kernels whose names contain WORD")
    parser.add_argument("--kind", action="append", default=[], help="mutations whose names contain WORD")
    parser.add_argument("--list", action="store_true", help="print every mutant with a wrong result")
    parser.add_argument("--workers", type=int, default=1, help="number of processes")
    parser.add_argument("--share", type=float, default=1.0, help="share of the mutants to run, from 0 to 1")
    options = parser.parse_args()
    _prepare()
    start, wrong = time.perf_counter(), 0
    makers = {"first": _first, "second": _second, "hints": _hints}
    for programme in options.programme or TABLES:
        table, failures = makers[programme](options)
        wrong += failures
        if options.write:
            _write(TABLES[programme], table)
        else:
            print(table, end="")
    print(f"{wrong} mutants have a wrong result; {time.perf_counter() - start:.0f} s")
    return bool(wrong)


def _prepare() -> None:
    """Prepare a process for the import of the tests and for kernels that do not end."""
    os.environ.setdefault("WARPLOOM_STEP_BUDGET", "2000000")
    sys.path.insert(0, str(ROOT / "tests"))


def _first(options: argparse.Namespace) -> tuple[str, int]:
    """Return the table of the first programme and the number of wrong results."""
    from observe.sanitize.mutations import KINDS
    from observe.sanitize.subjects import SUBJECTS

    return _programme("first", "kind", SUBJECTS, KINDS, options)


def _run_first(job: Job) -> Iterator[Result]:
    from observe.sanitize.judging import outcome
    from observe.sanitize.mutations import mutants
    from observe.sanitize.subjects import SUBJECTS

    subject = SUBJECTS[job.kernel]
    for mutant in mutants(subject.module(), subject.entry, [job.kind]):
        place = f"{job.kernel}:{mutant.kind}:{mutant.place}"
        if job.includes(place):
            result, codes = outcome(subject, mutant)
            yield Result(mutant.kind, f"{place} line {mutant.line}", result, tuple(codes))


def _second(options: argparse.Namespace) -> tuple[str, int]:
    """Return the table of the second programme and the number of wrong results."""
    from observe.sanitize.protocol.subjects import SUBJECTS
    from observe.sanitize.protocol.verdicts import OPERATORS

    return _programme("second", "operator", SUBJECTS, OPERATORS, options)


def _programme(
    name: str, row: str, kernels: Collection[str], kinds: Iterable[str], options: argparse.Namespace
) -> tuple[str, int]:
    """Return the table of a programme, whose rows are the kinds of mutants, and the number of wrong results."""
    counts: Counts = {kind: Counter() for kind in _chosen(kinds, options.kind)}
    findings: Counter[int] = Counter()
    wrong = 0
    for each in _results(name, kernels, kinds, options):
        if each.outcome not in HARMLESS:
            findings[len(each.codes)] += 1
        wrong += _counted(counts, each, options)
    faulty, exact = findings.total(), _total(counts)["one finding"]
    shares = ", ".join(f"{number}: {findings[number]}" for number in sorted(findings))
    head = (
        f"{_total(counts)['mutants']} mutants of {len(counts)} {row}s, made from {len(kernels)} kernels. "
        f"{exact} of {faulty} faulty mutants ({exact / max(faulty, 1):.0%}) have exactly one finding.\n\n"
        f"Faulty mutants by number of findings, misnamed mutants included: {shares}."
    )
    return _table(head, row, COLUMNS, counts), wrong


def _run_second(job: Job) -> Iterator[Result]:
    from observe.sanitize.protocol.subjects import SUBJECTS
    from observe.sanitize.protocol.verdicts import UNDECIDED, judged, key, mutants

    subject = SUBJECTS[job.kernel]
    for mutant in mutants(subject.module, [job.kind]):
        place = key(job.kernel, mutant)
        if place not in UNDECIDED and job.includes(place):
            result, codes = judged(subject, mutant)
            yield Result(mutant.operator, f"{place} line {mutant.line}", result, tuple(codes))


def _hints(options: argparse.Namespace) -> tuple[str, int]:
    """Return the table of the hints of both programmes by rule, and 0."""
    from observe.sanitize import mutations, subjects
    from observe.sanitize.applying import RIGHT as HELPS
    from observe.sanitize.protocol import subjects as protocol
    from observe.sanitize.protocol import verdicts

    counts: Counts = {}
    kernels: set[str] = set()
    names, kinds = (
        dict.fromkeys((*first, *second))
        for first, second in ((subjects.SUBJECTS, protocol.SUBJECTS), (mutations.KINDS, verdicts.OPERATORS))
    )
    for each in _results("hints", names, kinds, options):
        kernels.add(each.place.split(":")[0])
        counts.setdefault(each.row, Counter()).update(("hints", each.outcome))
        if each.outcome not in HELPS and options.list:
            print(f"{each.place}: {each.row} {each.outcome}", flush=True)
    total = _total(counts)
    helpful = sum(total[outcome] for outcome in HELPS)
    removed, hints = helpful + total["new finding"], total["hints"]
    head = (
        f"The hint removes the finding in {removed} of {hints} faulty mutants with a finding "
        f"({removed / max(hints, 1):.0%}), made from {len(kernels)} kernels{_sample(options)}. In {helpful} of them "
        f"({helpful / max(hints, 1):.0%}), the mutant then has no finding that it did not have before."
    )
    return _table(head, "rule", HINT_COLUMNS, counts), 0


def _sample(options: argparse.Namespace) -> str:
    return f", in a sample of {options.share:.0%} of the mutants" if options.share < 1 else ""


def _run_hints(job: Job) -> Iterator[Result]:
    from observe.sanitize.applying import faulty_mutants, hint_of

    for mutant in faulty_mutants(job.kernel, job.kind):
        if job.includes(mutant.name) and (hint := hint_of(mutant)) is not None:
            code, outcome = hint
            yield Result(code, mutant.name, outcome, (code,))


_RUNNERS = {"first": _run_first, "second": _run_second, "hints": _run_hints}


def _run(job: Job) -> list[Result]:
    return list(_RUNNERS[job.programme](job))


def _results(
    programme: str, kernels: Iterable[str], kinds: Iterable[str], options: argparse.Namespace
) -> Iterator[Result]:
    """Yield the results of the chosen mutants in the order of kernels and kinds."""
    chosen = _chosen(kinds, options.kind)
    jobs = [Job(programme, name, kind, options.share) for name in _chosen(kernels, options.kernel) for kind in chosen]
    if options.workers == 1:
        for job in jobs:
            yield from _run(job)
        return
    with ProcessPoolExecutor(options.workers, initializer=_prepare) as processes:
        for results in processes.map(_run, jobs):
            yield from results


def _chosen(names: Iterable[str], words: list[str]) -> list[str]:
    """Return the names that contain one of the words, or all names without words."""
    return [name for name in names if not words or any(word in name for word in words)]


def _counted(counts: Counts, each: Result, options: argparse.Namespace) -> bool:
    """Count one result, print a wrong result on request, and return True if the result is wrong."""
    counts[each.row].update(("mutants", each.outcome))
    if each.outcome in HARMLESS:
        counts[each.row]["allowed"] += 1
    if each.outcome not in ("one finding", "silent") and options.list:
        print(f"{each.place}: {each.outcome} {' '.join(each.codes)}", flush=True)
    return each.outcome not in RIGHT


def _total(counts: Counts) -> Counter[str]:
    return sum(counts.values(), Counter[str]())


def _table(head: str, kind: str, columns: tuple[str, ...], counts: Counts) -> str:
    """Return the Markdown table of the counts by kind of mutation."""
    lines = [head, "", f"| {kind} | {' | '.join(columns)} |", "|---|" + "--:|" * len(columns)]
    for name, row in [*sorted(counts.items()), ("**all**", _total(counts))]:
        lines.append(f"| {name} | {' | '.join(str(row[column]) for column in columns)} |")
    return "\n".join(lines) + "\n"


def _write(marker: str, table: str) -> None:
    """Write a table between its markers in docs/sanitizer.md."""
    begin, end = f"<!-- {marker}: begin -->\n", f"<!-- {marker}: end -->\n"
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(begin)
    PAGE.write_text(before + begin + table + end + rest.split(end)[1], encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
