"""Run both mutation programmes with the sanitizer and write the tables of docs/sanitizer.md.

    python tools/mutation_table.py [--programme first|second|hints]... [--write] [--kernel WORD]... [--kind WORD]...
                                   [--list]

A mutant is a kernel with one inserted error. It counts as "found" if one of the rules that it breaks is reported, as
"misnamed" if only other rules are reported, and as "missed" if nothing is reported. Some mutants are still correct by
the PTX manual ("allowed"). Such a mutant counts as "silent" if nothing is reported, otherwise as "wrongly reported".
The expected rules are in tests/observe/sanitize/verdicts.py for the first programme, and in
tests/observe/sanitize/protocol for the second programme. The table of the second programme separates mutants with one
finding from mutants with more findings. --list prints every mutant that is misnamed, missed or wrongly reported. The
exit status is 1 if there is one.

The third table is about the hints. For each faulty mutant of both programmes, the hint of the first finding is applied
as tests/observe/sanitize/applying.py describes, and the mutant is sanitized again. --list prints the hints that do not
help. They do not change the exit status.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "sanitizer.md"
COLUMNS = ("mutants", "found", "misnamed", "missed", "allowed", "silent", "wrongly reported")
FOUND = ("one finding", "more findings")
SECOND_COLUMNS = ("mutants", *FOUND, "misnamed", "missed", "allowed", "silent", "wrongly reported")
HARMLESS = ("silent", "wrongly reported")
RIGHT = ("found", *FOUND, "silent")
HINT_COLUMNS = ("hints", "removed", "restored", "kept", "new finding", "other kind", "other place")
TABLES = {"first": "mutations", "second": "protocol", "hints": "hints"}

Counts: TypeAlias = dict[str, Counter[str]]


def main() -> int:
    """Run the mutants, write or print the tables, and return the exit status."""
    parser = argparse.ArgumentParser(description="Run the mutation programmes with the sanitizer.")
    parser.add_argument("--programme", action="append", choices=TABLES, help="only this programme")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/sanitizer.md")
    parser.add_argument("--kernel", action="append", default=[], help="kernels whose names contain WORD")
    parser.add_argument("--kind", action="append", default=[], help="mutations whose names contain WORD")
    parser.add_argument("--list", action="store_true", help="print every mutant with a wrong result")
    options = parser.parse_args()
    os.environ.setdefault("WARPLOOM_STEP_BUDGET", "2000000")
    sys.path.insert(0, str(ROOT / "tests"))
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


def _first(options: argparse.Namespace) -> tuple[str, int]:
    """Return the table of the first programme and the number of wrong results."""
    from observe.sanitize.judging import outcome
    from observe.sanitize.mutations import KINDS, mutants
    from observe.sanitize.subjects import SUBJECTS

    kinds = _chosen(KINDS, options.kind)
    counts: Counts = {kind: Counter() for kind in kinds}
    wrong = 0
    for name in _chosen(SUBJECTS, options.kernel):
        subject = SUBJECTS[name]
        for mutant in mutants(subject.module(), subject.entry, kinds):
            result, codes = outcome(subject, mutant)
            place = f"{name}:{mutant.kind}:{mutant.place} line {mutant.line}"
            wrong += _counted(counts[mutant.kind], place, result, codes, options)
    head = f"{_total(counts)['mutants']} mutants of {len(counts)} kinds, made from {len(SUBJECTS)} kernels."
    return _table(head, "kind", COLUMNS, counts), wrong


def _second(options: argparse.Namespace) -> tuple[str, int]:
    """Return the table of the second programme and the number of wrong results."""
    from observe.sanitize.protocol.subjects import SUBJECTS
    from observe.sanitize.protocol.verdicts import OPERATORS, UNDECIDED, judged, key, mutants

    kinds = _chosen(OPERATORS, options.kind)
    counts: Counts = {kind: Counter() for kind in kinds}
    findings: Counter[int] = Counter()
    wrong = 0
    for name in _chosen(SUBJECTS, options.kernel):
        for mutant in mutants(SUBJECTS[name].module, kinds):
            if key(name, mutant) in UNDECIDED:
                continue
            result, codes = judged(SUBJECTS[name], mutant)
            if result not in HARMLESS:
                findings[len(codes)] += 1
            place = f"{key(name, mutant)} line {mutant.line}"
            wrong += _counted(counts[mutant.operator], place, result, codes, options)
    faulty, exact = findings.total(), _total(counts)["one finding"]
    shares = ", ".join(f"{number}: {findings[number]}" for number in sorted(findings))
    head = (
        f"{_total(counts)['mutants']} mutants of {len(counts)} operators, made from {len(SUBJECTS)} kernels. "
        f"{exact} of {faulty} faulty mutants ({exact / max(faulty, 1):.0%}) have exactly one finding.\n\n"
        f"Faulty mutants by number of findings, misnamed mutants included: {shares}."
    )
    return _table(head, "operator", SECOND_COLUMNS, counts), wrong


def _hints(options: argparse.Namespace) -> tuple[str, int]:
    """Return the table of the hints of both programmes by rule, and 0."""
    from observe.sanitize.applying import RIGHT as HELPS
    from observe.sanitize.applying import faulty_mutants, hint_of

    counts: Counts = {}
    kernels: set[str] = set()
    for mutant in faulty_mutants(
        lambda names: _chosen(names, options.kernel), lambda names: _chosen(names, options.kind)
    ):
        if (hint := hint_of(mutant)) is None:
            continue
        code, outcome = hint
        kernels.add(mutant.name.split(":")[0])
        counts.setdefault(code, Counter()).update(("hints", outcome))
        if outcome not in HELPS and options.list:
            print(f"{mutant.name}: {code} {outcome}", flush=True)
    total = _total(counts)
    helpful = sum(total[outcome] for outcome in HELPS)
    head = (
        f"The hint removes the finding in {helpful} of {total['hints']} faulty mutants with a finding "
        f"({helpful / max(total['hints'], 1):.0%}), made from {len(kernels)} kernels."
    )
    return _table(head, "rule", HINT_COLUMNS, counts), 0


def _chosen(names: Iterable[str], words: list[str]) -> list[str]:
    """Return the names that contain one of the words, or all names without words."""
    return [name for name in names if not words or any(word in name for word in words)]


def _counted(row: Counter[str], place: str, result: str, codes: list[str], options: argparse.Namespace) -> bool:
    """Count one result, print a wrong result on request, and return True if the result is wrong."""
    row[result] += 1
    row["mutants"] += 1
    row["allowed"] += result in HARMLESS
    if result not in RIGHT and options.list:
        print(f"{place}: {result} {' '.join(codes)}", flush=True)
    return result not in RIGHT


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
