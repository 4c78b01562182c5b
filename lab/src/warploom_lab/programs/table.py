"""Table of public programs in the documentation, written from a record of results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from warploom_lab.json_data import decode, encode
from warploom_lab.programs.catalog import PROGRAMS, REPOSITORIES, Program
from warploom_lab.programs.run import SUCCESS, Record, Run

BEGIN, END = "<!-- table of programs: begin -->", "<!-- table of programs: end -->"


def load(path: Path) -> list[Record]:
    """Return the records in a file."""
    return [decode(Record, each) for each in json.loads(path.read_text())]


def save(path: Path, records: Sequence[Record]) -> None:
    """Write records to a file. A record replaces the record of the same program; the order is that of the catalog."""
    kept = {each.name: each for each in load(path)} if path.exists() else {}
    kept.update((each.name, each) for each in records)
    order = [each.name for each in PROGRAMS if each.name in kept]
    path.write_text(json.dumps([encode(kept[name]) for name in order], indent=1) + "\n")


def write(page: Path, records: Sequence[Record]) -> None:
    """Replace the table in a page."""
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text("".join((before, BEGIN, "\n\n", "\n".join(lines(records)), "\n\n", END, after)))


def lines(records: Sequence[Record]) -> Iterator[str]:
    """Yield the lines of the tables of repositories and programs."""
    known = {each.name: each for each in PROGRAMS}
    counts = Counter(known[each.name].repository for each in records)
    yield "| repository | commit | programs |"
    yield "|---|---|--:|"
    for each in REPOSITORIES:
        yield f"| [{each.owner}/{each.name}]({each.url}) | {each.commit[:8]} | {counts[each.name]} |"
    yield ""
    yield "| program | launches | instructions | seconds | verdict | with `--sanitize` | findings |"
    yield "|---|--:|--:|--:|---|---|---|"
    for record in records:
        program, plain, sanitized = known[record.name], record.plain, record.sanitized
        launches, instructions, seconds = _numbers(plain)
        yield (
            f"| {_title(program)} | {launches} | {instructions} | {seconds} | {_verdict(plain)} | "
            f"{_verdict(sanitized, timed=True)} | {_findings(program, sanitized)} |"
        )


def _title(program: Program) -> str:
    arguments = " ".join(program.arguments)
    return f"`{program.name}`" + (f" `{arguments}`" if arguments else "")


def _numbers(run: Run | None) -> tuple[str, str, str]:
    return ("", "", "") if run is None else (f"{run.launches:,}", f"{run.instructions:,}", f"{run.seconds:.0f}")


def _verdict(run: Run | None, timed: bool = False) -> str:
    if run is None:
        return "not run"
    words = run.verdict.split(":")[0]
    return f"{words}, {run.seconds:.0f} s" if timed and run.verdict == SUCCESS else words


def _findings(program: Program, run: Run | None) -> str:
    codes = Counter(each.code for each in run.findings) if run else Counter[str]()
    parts = [f"{program.assessments.get(code, '?')} (`{code}`, {count})" for code, count in sorted(codes.items())]
    return ", ".join(parts) or ("none" if run else "")
