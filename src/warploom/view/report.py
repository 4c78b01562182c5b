"""A run as one page that opens without a network: what it was, what it cost, what was found, and when what happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from warploom.diagnostics import Diagnostic, Span, UsageError
from warploom.isa.model.capacity import SHARED_KIB, shared_bytes
from warploom.observe.profile import Profile
from warploom.observe.trace import Trace
from warploom.runtime.api import Run
from warploom.runtime.compare import Comparison
from warploom.view.listing import Line, global_words, heat, lines_of, shared_words
from warploom.view.shell import document, part
from warploom.view.timeline import timeline_of

WORST = 20
"""Rows of a table of costs."""

Row = tuple[str, str, str]  # what, how much, and a remark


@dataclass(frozen=True, slots=True)
class Report:
    """A page, as text and as a notebook shows it."""

    html: str

    def __str__(self) -> str:
        return self.html

    def save(self, path: str | Path) -> None:
        """Write the page. Errors: UsageError report.file."""
        try:
            Path(path).write_text(self.html, "utf-8")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(f"report: {path} cannot be written: {reason}", code="report.file") from None

    def _repr_html_(self) -> str:
        return (
            '<iframe title="report" style="width: 100%; height: 50rem; border: 0" sandbox="allow-scripts" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


def report(run: Run, comparison: Comparison | None = None) -> Report:
    """The page of a launch with `profile=True`; a trace, findings and a comparison are in it where there are some.

    Errors: UsageError report.profile for a run without a profile, report.text for a kernel that has no text.
    """
    profile = run.profile
    if profile is None:
        raise UsageError(
            "a report needs a profile, and this run has none",
            code="report.profile",
            hint="launch with profile=True; trace=True and sanitize=True add to it",
        )
    lines = lines_of(profile)
    found = [_Finding(number, each) for number, each in enumerate(run.findings, 1)]
    name = profile.program.kernel.name
    sections = [
        ("summary", "Summary", _summary(run, profile, comparison)),
        ("findings", "Findings", _findings(found)),
        ("timeline", "Timeline", _timeline(run.trace)),
        ("costs", "Costs of accesses", _costs(lines)),
        ("listing", "Listing", _listing(lines, found, heat(profile.rows))),
    ]
    links = " ".join(f'<a href="#{key}">{title}</a>' for key, title, _ in sections)
    body = "\n".join(
        (
            f"<header><h1><code>{escape(name)}</code></h1>",
            f'<nav aria-label="Sections">{links}</nav></header>',
            "<main>",
            *(_section(*section) for section in sections),
            "</main>",
        )
    )
    data = {"timeline": None if run.trace is None else timeline_of(run.trace)}
    return Report(document(f"{name}: report", body, data, [part("report.css")], ["report.js", "timeline.js"]))


def _section(key: str, title: str, held: str) -> str:
    heading = f'<h2 id="{key}-title">{title}</h2>'
    return f'<section id="{key}" aria-labelledby="{key}-title">\n{heading}\n{held}\n</section>'


# Summary ------------------------------------------------------------------------------------------------------


def _summary(run: Run, profile: Profile, comparison: Comparison | None) -> str:
    stats = run.stats
    rows: list[Row] = [
        ("Architecture", profile.arch, f"PTX {'.'.join(map(str, profile.program.module.version))}"),
        ("Grid", _extents(profile.grid), f"{stats.ctas:,} CTA{'' if stats.ctas == 1 else 's'}"),
        ("Cluster", _extents(profile.cluster), "CTAs"),
        ("Schedule", profile.schedule, "when asynchronous work takes effect"),
        ("Warp instructions", f"{sum(stats.instructions.values()):,}", _most_frequent(stats.instructions)),
        ("Multiply-accumulates", f"{stats.macs:,}", ""),
    ]
    if comparison is not None:
        error = f"largest error {comparison.largest_error:.3g}, allowed there {comparison.bound_there:.3g}"
        rows.append(("Result", comparison.sentence, error))
    ended = "as the sanitizer says" if run.findings else "nothing to report"
    rows.append(("Findings", str(len(run.findings)), ended))
    return (
        _table("What ran", ("", "Value", "Remark"), rows)
        + _table("What occupancy follows from", ("", "Value", "Remark"), _occupancy(profile))
        + '<p class="faint">ptxas decides how many registers a thread has; what stands here is what the PTX says.</p>'
    )


def _occupancy(profile: Profile) -> list[Row]:
    program = profile.program
    declared = [
        f"{count:,} {'predicates' if width == 1 else f'of {width} bits'}"
        for width, count in program.registers.counts.items()
        if count
    ]
    rows: list[Row] = [
        ("Threads of a CTA", f"{profile.threads:,}", f"{-(-profile.threads // 32)} warps"),
        ("Registers declared", ", ".join(declared), "virtual ones, by name; not those of a thread"),
    ]
    rows += [
        (directive.name, ", ".join(map(str, directive.ints)), "as the kernel declares")
        for directive in program.kernel.directives
        if directive.ints
    ]
    changes: dict[str, list[str]] = {}
    for pc, step in enumerate(program.steps):
        if step.binding.form.name == "control.setmaxnreg":
            changes.setdefault(str(step.instruction).strip(), []).append(str(program.line_of(pc)))
    for text, places in changes.items():
        where = f"line{'s' if len(places) > 1 else ''} {', '.join(places)}"
        rows.append(("Registers of a thread", text, f"of warpgroups, in {where}"))
    static, dynamic = program.static_shared, profile.dynamic_shared
    number = int("".join(filter(str.isdigit, profile.arch)) or 0)
    limit = f"of {shared_bytes(number):,} that a CTA may have" if number in SHARED_KIB else ""
    rows += [
        ("Shared memory, static", f"{static:,} bytes", ""),
        ("Shared memory, dynamic", f"{dynamic:,} bytes", ""),
        ("Shared memory of a CTA", f"{profile.total_shared:,} bytes", limit),
        ("Local memory of a thread", f"{program.local_bytes:,} bytes", "declared; ptxas may add spills"),
    ]
    return rows


def _most_frequent(instructions: dict[str, int]) -> str:
    first = sorted(instructions.items(), key=lambda item: (-item[1], item[0]))[:4]
    return ", ".join(f"{family} {count:,}" for family, count in first)


def _extents(extents: Iterable[int]) -> str:
    return " × ".join(map(str, extents))


# Findings -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Finding:
    """A finding and its number."""

    number: int
    found: Diagnostic

    @property
    def line(self) -> int:
        """Where it is; 0 where that is nowhere."""
        return self.line_of(self.found.span)

    @property
    def other(self) -> int:
        """The line of its other side; 0 where there is none."""
        return (self.found.data or {}).get("other line", 0)

    def line_of(self, span: Span | None) -> int:
        """The line of a place in the text."""
        source = self.found.source
        return 0 if span is None or source is None else source.position(span.start)[0]

    @property
    def html(self) -> str:
        """The sentence, what helps, and where the other side and the places of its notes are."""
        found = self.found
        said = [
            f"<strong>{found.severity.value}</strong> <code>{escape(found.code)}</code>: {escape(found.message)}"
        ]
        if self.other:
            said.append(f"the other side: {_to(self.other)}")
        for note in found.notes:
            line = self.line_of(note.span)
            said.append(escape(note.message) + (f" ({_to(line)})" if line else ""))
        said += [
            f"{word}: {escape(text)}" for word, text in (("hint", found.hint), ("see", found.section)) if text
        ]
        return "<br>".join(said)


def _findings(found: Sequence[_Finding]) -> str:
    if not found:
        return "<p>There are none. The sanitizer looks for them where a launch asks for it.</p>"
    items = "\n".join(f"<li>{f'{_to(each.line)}: ' if each.line else ''}{each.html}</li>" for each in found)
    return f'<ol class="findings">\n{items}\n</ol>'


def _to(line: int) -> str:
    return f'<a href="#L{line}">line {line}</a>'


# Timeline -----------------------------------------------------------------------------------------------------

_LEGEND = (
    ("run", "runs"),
    ("wait", "waits (hatched)"),
    ("issue", "issues (a bar below)"),
    ("arrival", "arrives (a point below)"),
    ("copy", "copy in flight"),
    ("product", "multiplication in flight"),
    ("phase", "phase of an mbarrier"),
)


def _timeline(trace: Trace | None) -> str:
    if trace is None:
        return "<p>No trace was recorded.</p>"
    legend = "".join(f'<li><span class="swatch {key}"></span>{words}</li>' for key, words in _LEGEND)
    return f"""<p class="faint" id="timeline-help">{escape(str(trace))}, by steps of the machine: the order is what
counts, not their length. Point at an event, or move between events with the arrow keys; a click or
<kbd>Enter</kbd> goes to its line. <kbd>+</kbd> and <kbd>-</kbd>, or <kbd>Ctrl</kbd> and the wheel, zoom; dragging, or
<kbd>Shift</kbd> and an arrow key, pans; <kbd>0</kbd> shows everything.</p>
<ul class="legend">{legend}</ul>
<div class="bar">
<button type="button" id="nearer">Zoom in</button>
<button type="button" id="farther">Zoom out</button>
<button type="button" id="whole">Show everything</button>
<p id="said" role="status" aria-live="polite"></p>
</div>
<div class="tracks"><div><canvas id="tracks" tabindex="0" role="application" aria-label="Timeline of warps, copies,
multiplications and mbarriers" aria-describedby="timeline-help"></canvas></div></div>"""


# Costs --------------------------------------------------------------------------------------------------------


def _costs(lines: Sequence[Line]) -> str:
    held = [(line, line.row) for line in lines if line.row is not None]
    shared = [(row["wavefronts"] - row["ideal_wavefronts"], line, row) for line, row in held if row["shared"]]
    beyond = [(row["sectors"] - row["ideal_sectors"], line, row) for line, row in held if row["global"]]
    tiles = [line for line, _ in held if line.tiles]
    found = [
        _worst(
            "Bank conflicts of shared memory, by wavefronts lost",
            "wavefronts",
            [
                (lost, line, row["ideal_wavefronts"], row["wavefronts"], shared_words(row))
                for lost, line, row in shared
            ],
        ),
        _worst(
            "Coalescing of global memory, by sectors lost",
            "sectors",
            [
                (lost, line, row["ideal_sectors"], row["sectors"], global_words(row))
                for lost, line, row in beyond
            ],
        ),
    ]
    if tiles:
        caption = "Tiles of shared memory that the tensor core and TMA use"
        rows = [(_to(line.number), escape(line.opcode), escape(line.tile_words)) for line in tiles]
        found.append(_html_table(caption, ("Line", "Instruction", "Tiles"), rows))
    return "\n".join(found)


def _worst(caption: str, unit: str, costs: list[tuple[int, Line, int, int, str]]) -> str:
    """The lines that lose most; what loses nothing is counted."""
    costs = sorted(costs, key=lambda cost: (-cost[0], cost[1].number))
    lossy = [cost for cost in costs if cost[0] > 0]
    if not costs:
        return f"<h3>{caption}</h3>\n<p>There is no such access.</p>"
    clean = len(costs) - len(lossy)
    said = f"<p>Lines that lose nothing: {clean} of {len(costs)}.</p>"
    if not lossy:
        return f"<h3>{caption}</h3>\n{said}"
    rows = [
        (_to(line.number), escape(line.opcode), f"{lost:,}", f"{taken:,}", f"{least:,}", escape(words))
        for lost, line, least, taken, words in lossy[:WORST]
    ]
    heads = ("Line", "Instruction", "Lost", f"Its {unit}", "Would do", "Remark")
    return _html_table(caption, heads, rows) + said


def _table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of plain texts."""
    return _html_table(caption, heads, [tuple(map(escape, row)) for row in rows])


def _html_table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of HTML, whose first column heads its rows."""
    head = "".join(f'<th scope="col">{name}</th>' if name else "<td></td>" for name in heads)
    body = "\n".join(
        f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>'
        for row in rows
    )
    return (
        f'<div class="scroll"><table><caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n'
        f"{body}\n</tbody></table></div>\n"
    )


# Listing ------------------------------------------------------------------------------------------------------


def _listing(lines: Sequence[Line], found: Sequence[_Finding], most: int) -> str:
    has_origins = any(line.origin for line in lines)
    heads = ["Line", "Executions", "Lanes", "Accesses", *(["Source"] if has_origins else []), "PTX"]
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    beside: dict[int, list[str]] = {}
    for each in found:
        number = f"finding {each.number}"
        beside.setdefault(each.line, []).append(f'<span id="F{each.number}">{number}</span>: {each.html}')
        if each.other and each.other != each.line:
            words = f"the other side of {number} ({_to(each.line)}), <code>{escape(each.found.code)}</code>"
            beside.setdefault(each.other, []).append(words)
    body: list[str] = []
    for line in lines:
        body.append(_line(line, most, has_origins))
        body += [
            f'<tr class="finding"><td colspan="{len(heads)}">{html}</td></tr>'
            for html in beside.get(line.number, ())
        ]
    rows = "\n".join(body)
    return f"""<p class="faint">Executions are warps that executed an instruction with at least one lane, and the bar is
their share of the most; lanes are how many took part on average.</p>
<label class="option"><input type="checkbox" id="plain"> Show blank lines and <code>.loc</code></label>
<div class="scroll"><table class="listing" id="lines"><caption>The kernel, line by line</caption>
<thead><tr>{head}</tr></thead>
<tbody>
{rows}
</tbody></table></div>"""


def _line(line: Line, most: int, has_origin: bool) -> str:
    number = f'<th scope="row"><a href="#L{line.number}" tabindex="-1">{line.number}</a></th>'
    counted = "<td></td><td></td><td></td>"
    if (row := line.row) is not None:
        share = 100 * row["executions"] / most
        lanes = f"{row['lanes'] / row['executions']:.4g}" if row["executions"] else ""
        words = escape(line.words)
        heat_style = f' class="heat" style="--share:{share:.3g}%"' if row["executions"] else ""
        counted = f"<td{heat_style}>{row['executions']:,}</td><td>{lanes}</td><td{_loss(row)}>{words}</td>"
    origin = f"<td>{escape(line.origin)}</td>" if has_origin else ""
    plain = ' class="plain"' if line.plain else ""
    return (
        f'<tr id="L{line.number}" tabindex="-1"{plain}>{number}{counted}{origin}'
        f"<td><code>{escape(line.text.expandtabs(4))}</code></td></tr>"
    )


def _loss(row: dict[str, int]) -> str:
    lost = row["wavefronts"] > row["ideal_wavefronts"] or row["sectors"] > row["ideal_sectors"]
    return ' class="lossy"' if lost else ""
