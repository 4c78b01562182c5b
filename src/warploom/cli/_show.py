"""What `warploom run` prints: progress while it runs, then tables; plain text where there is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from warploom.diagnostics import render

if TYPE_CHECKING:
    from warploom.runtime.api import Progress, Run, Stats
    from warploom.runtime.compare import Comparison
    from warploom.runtime.explore import Exploration

Rows = list[tuple[str, str]]


@contextmanager
def progress(name: str) -> Generator[Callable[[Progress], None] | None]:
    """A bar with CTAs done and MAC/s; None, so that nothing is reported, where there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[done]}"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None, done="", rate="")

        def advance(at: Progress) -> None:
            done = f"{at.ctas_done}/{at.ctas_total} CTAs"
            rate = per_second(at.macs, at.seconds)
            bar.update(task, total=at.ctas_total, completed=at.ctas_done, done=done, rate=rate)

        yield advance


def outcome(result: Run, comparison: Comparison | None) -> None:
    """The closing tables: instructions by family, totals, and the comparison; then what was found wrong."""
    _table("instructions", "warp level", instruction_rows(result.stats))
    _table("run", "", total_rows(result.stats))
    if comparison:
        _table(f"comparison of {comparison.name}, in float64", "", comparison_rows(comparison))
        _verdict(comparison.ok, comparison.sentence)
    if result.findings:
        print(render(result.findings, color=sys.stdout.isatty()), end="")


def exploration(found: Exploration) -> None:
    """Whether schedules agree; where they do not, the first byte, and what the sanitizer says of it."""
    count = len(found.schedules)
    if found.same:
        print(f"the same bytes under all {count} schedules")
        return
    if found.difference:
        print(f"the results depend on the schedule: {found.difference}")
    if found.failures:
        name, words = found.failures[0]
        print(f"{len(found.failures)} of {count} schedules failed; under {name}: {words}")
    if found.findings:
        print(render(found.findings, color=sys.stdout.isatty()), end="")


def instruction_rows(stats: Stats) -> Rows:
    """Families by count, the most frequent first, and their sum."""
    counts = sorted(stats.instructions.items(), key=lambda item: (-item[1], item[0]))
    return [(family, f"{count:,}") for family, count in [*counts, ("all", sum(stats.instructions.values()))]]


def total_rows(stats: Stats) -> Rows:
    """CTAs, batches, MACs, seconds and MAC/s."""
    return [
        ("CTAs", f"{stats.ctas:,}"),
        ("batches", f"{stats.batches:,}"),
        ("MACs", f"{stats.macs:,}"),
        ("seconds", f"{stats.seconds:.2f}"),
        ("MAC/s", per_second(stats.macs, stats.seconds).removesuffix(" MAC/s")),
    ]


def comparison_rows(comparison: Comparison) -> Rows:
    """The largest error beside its bound, and the first elements outside theirs."""
    rows = [
        ("largest error", f"{comparison.largest_error:.3g}"),
        ("allowed there", f"{comparison.bound_there:.3g}"),
    ]
    if comparison.largest_share is not None:
        rows.append(("largest share of its bound", f"{comparison.largest_share:.3g}"))
    rows.append(("outside the bound", f"{comparison.mismatches:,} of {comparison.elements:,}"))
    for wrong in comparison.first:
        place = f"{comparison.name}[{', '.join(map(str, wrong.index))}]"
        rows.append((place, f"{wrong.found:.9g}, expected {wrong.expected:.9g} ± {wrong.bound:.3g}"))
    return rows


def per_second(macs: int, seconds: float) -> str:
    """MAC/s with a prefix of three digits."""
    rate = macs / seconds if seconds > 0 else 0.0
    for prefix, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= prefix:
            return f"{rate / prefix:.3g} {unit} MAC/s"
    return f"{rate:.3g} MAC/s"


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

    table = Table(
        title=title, title_justify="left", box=box.SIMPLE_HEAD, show_header=bool(heading), pad_edge=False
    )
    table.add_column("family" if heading else "")
    table.add_column(heading, justify="right")
    for label, value in rows:
        table.add_row(Text(label), Text(value))
    Console().print(table)


def _verdict(ok: bool, sentence: str) -> None:
    if not sys.stdout.isatty():
        print(sentence)
        return
    from rich.console import Console
    from rich.text import Text

    Console().print(Text(sentence, style="bold green" if ok else "bold red"))
