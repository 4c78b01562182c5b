"""Report of a run as one HTML page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from warploom.diagnostics import Diagnostic, Span, UsageError
from warploom.diagnostics.wording import os_reason
from warploom.isa.model.capacity import SHARED_KIB, shared_bytes
from warploom.isa.model.effects import Allocate
from warploom.observe.profile import Profile
from warploom.observe.trace import Trace
from warploom.observe.trace.tracks import FINEST, Tracks
from warploom.runtime.api import Run
from warploom.runtime.comparison import Comparison
from warploom.view.error_map import LEVELS, cell_extents, error_map
from warploom.view.html_page import asset, html_page
from warploom.view.listing import Line, global_cost, lines_of, shared_cost
from warploom.view.tensor_picture import STYLE, tensor_figure, uses_tensor_memory

MAX_COSTS = 20
"""Maximum number of rows in a table of costs."""

Row = tuple[str, str, str]
"""Row of the summary: name, value and remark."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """HTML page about a run."""

    html: str

    def __str__(self) -> str:
        return self.html

    def save(self, path: str | Path) -> None:
        """Write the page to a file. Errors: UsageError report.file."""
        try:
            Path(path).write_text(self.html, "utf-8")
        except OSError as error:
            raise UsageError(f"report: {path} cannot be written: {os_reason(error)}", code="report.file") from None

    def _repr_html_(self) -> str:
        return (
            '<iframe title="report" style="width: 100%; height: 50rem; border: 0" sandbox="allow-scripts" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


def report(run: Run, comparison: Comparison | None = None) -> RunReport:
    """Return the report of a run as an HTML page.

    The run needs a profile. The page shows the trace, the findings and the comparison if they exist.

    Errors: UsageError report.profile for a run without a profile, report.text for a kernel without text.
    """
    profile = run.profile
    if profile is None:
        raise UsageError(
            "a report needs a profile, and this run has none",
            code="report.profile",
            hint="launch with profile=True; trace=True and sanitize=True add to the report",
        )
    lines = lines_of(profile)
    findings = [_Finding(number, found) for number, found in enumerate(run.findings, 1)]
    sections = {
        "Summary": _summary(run, profile, comparison),
        **({} if comparison is None or comparison.ok else {"Errors": _errors(comparison)}),
        "Findings": _findings(findings),
        "Timeline": _timeline(run.trace),
        **({"Tensor memory": _tensor_memory(run.trace)} if run.trace and uses_tensor_memory(run.trace) else {}),
        "Costs": _costs(lines),
        "Listing": _listing(lines, findings),
    }
    ids = {title: title.lower().replace(" ", "-") for title in sections}
    links = " ".join(f'<a href="#{ids[title]}">{title}</a>' for title in sections)
    contents = "\n".join(
        f'<section id="{ids[title]}" aria-labelledby="{ids[title]}-title">\n'
        f'<h2 id="{ids[title]}-title">{title}</h2>\n{html}\n</section>'
        for title, html in sections.items()
    )
    name = profile.program.kernel.readable_name
    body = f"""<header><h1><code>{escape(name)}</code></h1>
<nav aria-label="Sections">{links}</nav></header>
<main>
{contents}
</main>"""
    data = {"timeline": None if run.trace is None else _timeline_data(run.trace)}
    scripts = ["report.js", "timeline.js"]
    return RunReport(html_page(f"{name}: report", body, data, [asset("report.css"), STYLE], scripts))


def _table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table with the column headings `heads`. The first cell of a row is its heading."""
    head = "".join(f'<th scope="col">{name}</th>' if name else "<td></td>" for name in heads)
    body = "\n".join(
        f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>' for row in rows
    )
    return (
        f'<div class="scroll"><table><caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n'
        f"{body}\n</tbody></table></div>\n"
    )


def _link(line: int) -> str:
    return f'<a href="#L{line}">line {line}</a>'


# Summary ------------------------------------------------------------------------------------------------------


def _summary(run: Run, profile: Profile, comparison: Comparison | None) -> str:
    stats = run.stats
    frequent = sorted(stats.instructions.items(), key=lambda item: (-item[1], item[0]))[:4]
    rows: list[Row] = [
        ("Architecture", profile.arch, f"PTX {'.'.join(map(str, profile.program.module.version))}"),
        ("Grid", _extents(profile.grid), f"{stats.ctas:,} CTA{'' if stats.ctas == 1 else 's'}"),
        ("Cluster", _extents(profile.cluster), "CTAs"),
        ("Schedule", profile.schedule, "time at which asynchronous operations take effect"),
        (
            "Warp instructions",
            f"{sum(stats.instructions.values()):,}",
            ", ".join(f"{family} {count:,}" for family, count in frequent),
        ),
        ("Multiply-accumulates", f"{stats.macs:,}", ""),
    ]
    if comparison is not None:
        error = f"largest error {comparison.largest_error:.3g}, allowed error {comparison.bound_there:.3g}"
        rows.append(("Result", comparison.sentence, error))
    rows.append(("Findings", str(len(run.findings)), "of the sanitizer"))
    tables = {"Launch": rows, "Factors of occupancy": _occupancy(profile)}
    return (
        "".join(
            _table(caption, ("", "Value", "Remark"), [tuple(map(escape, row)) for row in rows])
            for caption, rows in tables.items()
        )
        + '<p class="faint">ptxas decides the number of registers per thread. These figures come from the PTX.</p>'
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
        ("Registers declared", ", ".join(declared), "virtual registers, by name"),
    ]
    rows += [
        (directive.name, ", ".join(map(str, directive.ints)), "declared by the kernel")
        for directive in program.kernel.directives
        if directive.ints
    ]
    changes: dict[str, list[str]] = {}
    for pc, step in enumerate(program.steps):
        allocation = step.binding.form.effect(Allocate)
        if allocation is not None and allocation.resource == "registers":
            changes.setdefault(str(step.instruction).strip(), []).append(str(program.line_of(pc)))
    for text, numbers in changes.items():
        where = f"line{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"
        rows.append(("Registers of a thread", text, f"change for a warpgroup, in {where}"))
    arch = int("".join(filter(str.isdigit, profile.arch)) or 0)
    limit = f"of {shared_bytes(arch):,} available to a CTA" if arch in SHARED_KIB else ""
    return [
        *rows,
        ("Shared memory, static", f"{program.static_shared:,} bytes", ""),
        ("Shared memory, dynamic", f"{profile.dynamic_shared:,} bytes", ""),
        ("Shared memory of a CTA", f"{profile.total_shared:,} bytes", limit),
        ("Local memory of a thread", f"{program.local_bytes:,} bytes", "declared; ptxas may add spills"),
    ]


def _errors(comparison: Comparison) -> str:
    """Return the wrong elements of a result as a table and a picture."""
    facts = [(escape(name), escape(text)) for name, text in comparison.facts()]
    rows, columns = cell_extents(comparison)
    legend = "".join(
        f'<li><span class="swatch error{level}"></span>{words}</li>' for level, words in enumerate(LEVELS, 1)
    )
    borders = " Lines separate the elements of different CTAs." if comparison.writers is not None else ""
    return f"""{_table(f"Wrong elements of {escape(comparison.name)}", ("", "Value"), facts)}
<p class="faint">A cell has {_extents((rows, columns))} elements. Its colour shows the largest error of its wrong
elements, relative to the largest finite error.{borders}</p>
<ul class="legend">{legend}</ul>
<div class="scroll">{error_map(comparison)}</div>"""


def _extents(extents: Iterable[int]) -> str:
    return " × ".join(map(str, extents))


# Findings -----------------------------------------------------------------------------------------------------


class _Finding:
    """Finding of the sanitizer with its number and its text as HTML.

    `line` is the line of the finding. `other` is the line of the conflicting access, 0 for none.
    """

    def __init__(self, number: int, found: Diagnostic) -> None:
        self.number, self.code = number, f"<code>{escape(found.code)}</code>"
        self.line = _line_of(found, found.span)
        self.other: int = (found.data or {}).get("other line", 0)
        parts = [f"<strong>{found.severity.value}</strong> {self.code}: {escape(found.message)}"]
        if (compiled_from := found.compiled_from) is not None:
            parts += map(escape, compiled_from.describe())
        if self.other:
            source = (found.data or {}).get("other source", "")
            parts.append(f"the other side: {_link(self.other)}" + (f" ({escape(source)})" if source else ""))
        for note in found.notes:
            line = _line_of(found, note.span)
            parts.append(escape(note.message) + (f" ({_link(line)})" if line else ""))
        further = {"hint": found.hint, "see": found.section}
        parts += [f"{name}: {escape(text)}" for name, text in further.items() if text]
        self.html = "<br>".join(parts)


def _line_of(found: Diagnostic, span: Span | None) -> int:
    return 0 if span is None or found.source is None else found.source.position(span.start)[0]


def _findings(findings: Sequence[_Finding]) -> str:
    if not findings:
        return "<p>None. Only launches with <code>sanitize=True</code> are sanitized.</p>"
    items = "\n".join(f"<li>{f'{_link(found.line)}: ' if found.line else ''}{found.html}</li>" for found in findings)
    return f'<ol class="findings">\n{items}\n</ol>'


# Timeline -----------------------------------------------------------------------------------------------------

_LEGEND = {
    "run": "runs",
    "wait": "waits (hatched)",
    "issue": "issues (a bar below)",
    "arrival": "arrives (a triangle below)",
    "copy": "copy in flight",
    "multiplication": "multiplication in flight",
    "commit": "commit in flight",
    "columns": "columns of tensor memory",
    "phase": "phase of an mbarrier",
}


def _timeline(trace: Trace | None) -> str:
    if trace is None:
        return "<p>The launch recorded no trace.</p>"
    legend = "".join(f'<li><span class="swatch {key}"></span>{words}</li>' for key, words in _LEGEND.items())
    return f"""<p class="faint" id="timeline-help">{escape(str(trace))}. The unit is a step of the emulator. The
order of events is exact, but lengths are not times. Point at an event for details, or move between events with the
arrow keys. A click or <kbd>Enter</kbd> shows its line. <kbd>+</kbd> and <kbd>-</kbd>, or <kbd>Ctrl</kbd> and the wheel,
zoom. Dragging, or <kbd>Shift</kbd> and an arrow key, pans. <kbd>0</kbd> shows everything.</p>
<ul class="legend">{legend}</ul>
<div class="bar">
<button type="button" id="zoom-in">Zoom in</button>
<button type="button" id="zoom-out">Zoom out</button>
<button type="button" id="show-all">Show everything</button>
<p id="status" role="status" aria-live="polite"></p>
</div>
<div class="tracks"><div><canvas id="tracks" tabindex="0" role="application" aria-label="Timeline of warps, copies,
multiplications and mbarriers" aria-describedby="timeline-help"></canvas></div></div>"""


def _tensor_memory(trace: Trace) -> str:
    return f"""<p class="faint">The columns of tensor memory run down, and the steps of the emulator to the right. Grey
columns are allocated. The names at the left state the contents, the warps that write them and, after the arrow, the
warps that read them. Point at a rectangle for its instruction and line.</p>
<div class="scroll">{tensor_figure(trace)}</div>"""


def _timeline_data(trace: Trace) -> dict[str, Any]:
    """Return the events of a trace as a dictionary for `timeline.js`.

    The lists `track`, `begin`, `end`, `category`, `name`, `details` and `line` have one element for each event. The
    elements of `track` and `category` are indices in `tracks` and `categories`. `name` and `details` contain indices in
    `strings`. `arrows` are pairs of event indices.

    Units: `begin` and `end` in sixteenths of a step of the emulator.
    """
    tracks = Tracks(trace)
    categories = list(_LEGEND)
    ordered = tracks.ordered()
    positions = {number: at for at, (number, _) in enumerate(ordered)}
    strings: dict[str, int] = {}

    def index_of(text: str) -> int:
        return strings.setdefault(text, len(strings))

    events = range(len(trace))
    extents = [tracks.extent(k) for k in events]
    return {
        "unit": round(1 / FINEST),
        "categories": categories,
        "ctas": [tracks.cta_name(cta) for cta in trace.ctas],
        "tracks": [[track.cta, track.sort, track.name] for _, track in ordered],
        "track": [positions[tracks.of[k]] for k in events],
        "begin": [round(begin / FINEST) for begin, _ in extents],
        "end": [round(end / FINEST) for _, end in extents],
        "category": [categories.index(tracks.category(k)) for k in events],
        "name": [index_of(tracks.name(k)) for k in events],
        "details": [
            index_of(", ".join(f"{name} {value}" for name, value in tracks.details(k).items())) for k in events
        ],
        "line": [trace.lines[step] for step in tracks.columns["step"]],
        "arrows": trace.arrows.tolist(),
        "strings": list(strings),
    }


# Costs --------------------------------------------------------------------------------------------------------

_Cost = tuple[int, int, Line, str]
"""Actual number of wavefronts or sectors, ideal number, line, and remark."""


def _costs(lines: Sequence[Line]) -> str:
    rows = [(line, line.row) for line in lines if line.row is not None]
    shared: list[_Cost] = [
        (row["wavefronts"], row["ideal_wavefronts"], line, shared_cost(row)) for line, row in rows if row["shared"]
    ]
    beyond: list[_Cost] = [
        (row["sectors"], row["ideal_sectors"], line, global_cost(row)) for line, row in rows if row["global"]
    ]
    tiles = [(_link(line.number), escape(line.opcode), escape(line.tile_remark)) for line in lines if line.tiles]
    return "\n".join(
        (
            _cost_table("Bank conflicts of shared memory, by wavefronts lost", "wavefronts", shared),
            _cost_table("Coalescing of global memory, by sectors lost", "sectors", beyond),
            _table("Tiles of asynchronous operations in shared memory", ("Line", "Instruction", "Tiles"), tiles)
            if tiles
            else "",
        )
    )


def _cost_table(caption: str, unit: str, costs: list[_Cost]) -> str:
    """Return a table of the lines that lose the most wavefronts or sectors (`unit`).

    A line loses the actual number minus the ideal number.
    """
    if not costs:
        return f"<h3>{caption}</h3>\n<p>There are no such accesses.</p>"
    lossy = sorted((cost for cost in costs if cost[0] > cost[1]), key=lambda cost: (cost[1] - cost[0], cost[2].number))
    summary = f"<p>Lines without loss: {len(costs) - len(lossy)} of {len(costs)}.</p>"
    if not lossy:
        return f"<h3>{caption}</h3>\n{summary}"
    rows = [
        (_link(line.number), escape(line.opcode), f"{actual - ideal:,}", f"{actual:,}", f"{ideal:,}", escape(remark))
        for actual, ideal, line, remark in lossy[:MAX_COSTS]
    ]
    heads = ("Line", "Instruction", "Lost", unit.capitalize(), "Ideal", "Remark")
    return _table(caption, heads, rows) + summary


# Listing ------------------------------------------------------------------------------------------------------


def _listing(lines: Sequence[Line], findings: Sequence[_Finding]) -> str:
    has_origins = any(line.origin for line in lines)
    heads = ["Line", "Executions", "Lanes", "Accesses", *(["Source"] if has_origins else []), "PTX"]
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    notes: dict[int, list[str]] = {}
    for found in findings:
        number = f"finding {found.number}"
        notes.setdefault(found.line, []).append(f'<span id="F{found.number}">{number}</span>: {found.html}')
        if found.other and found.other != found.line:
            other = f"the other side of {number} ({_link(found.line)}), {found.code}"
            notes.setdefault(found.other, []).append(other)
    most = max(1, *(line.row["executions"] for line in lines if line.row is not None), 1)
    body: list[str] = []
    for line in lines:
        body.append(_listing_row(line, most, has_origins))
        body += [
            f'<tr class="finding"><td colspan="{len(heads)}">{html}</td></tr>' for html in notes.get(line.number, ())
        ]
    rows = "\n".join(body)
    return f"""<p class="faint">Executions count the warps that execute an instruction with at least one lane; the
bar is relative to the maximum. Lanes are the active lanes on average.</p>
<label class="option"><input type="checkbox" id="filler"> Show blank lines and <code>.loc</code></label>
<div class="scroll"><table class="listing" id="lines"><caption>The kernel, line by line</caption>
<thead><tr>{head}</tr></thead>
<tbody>
{rows}
</tbody></table></div>"""


def _listing_row(line: Line, most: int, has_origin: bool) -> str:
    number = f'<th scope="row"><a href="#L{line.number}" tabindex="-1">{line.number}</a></th>'
    figures = "<td></td><td></td><td></td>"
    if (row := line.row) is not None:
        executions, lanes, heat = row["executions"], "", ""
        if executions:
            lanes = f"{row['lanes'] / executions:.4g}"
            heat = f' class="heat" style="--share:{100 * executions / most:.3g}%"'
        is_lossy = row["wavefronts"] > row["ideal_wavefronts"] or row["sectors"] > row["ideal_sectors"]
        loss = ' class="lossy"' if is_lossy else ""
        figures = f"<td{heat}>{executions:,}</td><td>{lanes}</td><td{loss}>{escape(line.remark)}</td>"
    origin = f"<td>{escape(line.origin)}</td>" if has_origin else ""
    filler = ' class="filler"' if line.is_filler else ""
    return (
        f'<tr id="L{line.number}" tabindex="-1"{filler}>{number}{figures}{origin}'
        f"<td><code>{escape(line.text.expandtabs(4))}</code></td></tr>"
    )
