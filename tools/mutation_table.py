"""Run the mutation suite with the sanitizer and write the table of docs/sanitizer.md.

    python tools/mutation_table.py [--write] [--kernel WORD]... [--kind WORD]... [--list]

A mutant is a kernel with one inserted error. It counts as "found" if one of the rules that it breaks is reported, as
"misnamed" if only other rules are reported, and as "missed" if nothing is reported. A mutant that the manual allows
counts as "silent" or "wrongly reported". The expected rules are in tests/observe/sanitize/verdicts.py. --list prints
every mutant that is misnamed, missed or wrongly reported. The exit status is 1 if there is one.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "sanitizer.md"
BEGIN, END = "<!-- mutations: begin -->\n", "<!-- mutations: end -->\n"
COLUMNS = ("mutants", "found", "misnamed", "missed", "allowed", "silent", "wrongly reported")


def main() -> int:
    """Run the mutants, write or print the table, and return the exit status."""
    parser = argparse.ArgumentParser(description="Run the mutation suite with the sanitizer.")
    parser.add_argument("--write", action="store_true", help="write the table into docs/sanitizer.md")
    parser.add_argument("--kernel", action="append", default=[], help="kernels whose names contain WORD")
    parser.add_argument("--kind", action="append", default=[], help="mutations whose names contain WORD")
    parser.add_argument("--list", action="store_true", help="print every mutant with a wrong result")
    options = parser.parse_args()
    os.environ.setdefault("WARPLOOM_STEP_BUDGET", "2000000")
    sys.path.insert(0, str(ROOT / "tests"))
    from observe.sanitize.judging import outcome
    from observe.sanitize.mutations import KINDS, mutants
    from observe.sanitize.subjects import SUBJECTS

    kinds = [kind for kind in KINDS if not options.kind or any(word in kind for word in options.kind)]
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    start, wrong = time.perf_counter(), 0
    for name, subject in SUBJECTS.items():
        if options.kernel and not any(word in name for word in options.kernel):
            continue
        for mutant in mutants(subject.module(), subject.entry, kinds):
            result, codes = outcome(subject, mutant)
            row = counts[mutant.kind]
            row[result] += 1
            row["mutants"] += 1
            row["allowed"] += result in ("silent", "wrongly reported")
            if result not in ("found", "silent"):
                wrong += 1
                if options.list:
                    place = f"{name}:{mutant.kind}:{mutant.place}"
                    print(f"{place} line {mutant.line}: {result} {' '.join(codes)}", flush=True)
    table = _table(counts, len(SUBJECTS))
    if options.write:
        text = PAGE.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        PAGE.write_text(before + BEGIN + table + END + rest.split(END)[1], encoding="utf-8")
    else:
        print(table, end="")
    print(f"{wrong} mutants have a wrong result; {time.perf_counter() - start:.0f} s")
    return bool(wrong)


def _table(counts: dict[str, Counter[str]], kernels: int) -> str:
    """Return the Markdown table of the counts by kind of mutation."""
    total = sum(counts.values(), Counter[str]())
    lines = [
        f"{total['mutants']} mutants of {len(counts)} kinds, made from {kernels} kernels.",
        "",
        f"| kind | {' | '.join(COLUMNS)} |",
        "|---|" + "--:|" * len(COLUMNS),
    ]
    for kind, row in [*sorted(counts.items()), ("**all**", total)]:
        lines.append(f"| {kind} | {' | '.join(str(row[column]) for column in COLUMNS)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
