"""Printed output about runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from warploom.cli._progress import mac_rate
from warploom.diagnostics import Diagnostic, render

if TYPE_CHECKING:
    from warploom.runtime.api import Run
    from warploom.runtime.comparison import Comparison
    from warploom.runtime.explore import Exploration

Rows = list[tuple[str, str]]


def counted(findings: int) -> str:
    """Return a number of findings as text: `no findings`, `1 finding` or `2 findings`."""
    return f"{findings} finding{'' if findings == 1 else 's'}" if findings else "no findings"


def number_of(count: int, one: str, several: str) -> str:
    """Return a number with its noun, such as `1 launch` or `2,000 launches`."""
    return f"{count:,} {one if count == 1 else several}"


def outcome(result: Run, comparison: Comparison | None) -> None:
    """Print the statistics of a run, the comparison with its expected result, and its findings."""
    stats = result.stats
    counts = sorted(stats.instructions.items(), key=lambda item: (-item[1], item[0]))
    counts.append(("all", sum(stats.instructions.values())))
    _table("instructions", "warp level", [(family, f"{count:,}") for family, count in counts])
    totals = {"CTAs": f"{stats.ctas:,}", "batches": f"{stats.batches:,}", "MACs": f"{stats.macs:,}"}
    rate = mac_rate(stats.macs, stats.seconds).removesuffix(" MAC/s")
    _table("run", "", [*totals.items(), ("seconds", f"{stats.seconds:.2f}"), ("MAC/s", rate)])
    if comparison:
        _table(f"comparison of {comparison.name}", "", _comparison_rows(comparison))
        verdict(comparison.ok, comparison.sentence)
    _findings(result.findings)


def output(printed: Sequence[str]) -> None:
    """Print the output of a kernel. Add a line break if the output does not end with one."""
    text = "".join(printed)
    print(text, end="" if text.endswith("\n") or not text else "\n")


def exploration(found: Exploration) -> None:
    """Print the result of `run --explore`."""
    count = len(found.schedules)
    if found.same:
        print(f"the same bytes under all {count} schedules")
        return
    if found.difference:
        print(f"the results depend on the schedule: {found.difference}")
    if found.failures:
        name, message = found.failures[0]
        print(f"{len(found.failures)} of {count} schedules failed; under {name}: {message}")
    _findings(found.findings)


def _findings(findings: Sequence[Diagnostic]) -> None:
    if findings:
        print(render(findings, color=sys.stdout.isatty()), end="")


def _comparison_rows(comparison: Comparison) -> Rows:
    rows = [("largest error", f"{comparison.largest_error:.3g}"), ("allowed there", f"{comparison.bound_there:.3g}")]
    if comparison.largest_share is not None:
        rows.append(("largest share of its bound", f"{comparison.largest_share:.3g}"))
    rows.append(("outside the bound", f"{comparison.mismatches:,} of {comparison.elements:,}"))
    return rows + comparison.facts()


def _table(title: str, heading: str, rows: Rows) -> None:
    if not sys.stdout.isatty():
        width = max(len(label) for label, _ in rows)
        print(f"{title}{f' ({heading})' if heading else ''}")
        print("".join(f"  {label:<{width}}  {value}\n" for label, value in rows), end="")
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_header=bool(heading), pad_edge=False)
    table.add_column("family" if heading else "")
    table.add_column(heading, justify="right")
    for label, value in rows:
        table.add_row(Text(label), Text(value))
    Console().print(table)


def verdict(ok: bool, sentence: str) -> None:
    """Print the result of a comparison."""
    if not sys.stdout.isatty():
        print(sentence)
        return
    from rich.console import Console
    from rich.text import Text

    Console().print(Text(sentence, style="bold green" if ok else "bold red"))
