"""Notebook output of the classes with a `display_kind`, as HTML, SVG or Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from html import escape
from typing import TYPE_CHECKING, Any

from warploom.diagnostics import Diagnostic, Severity, render
from warploom.display import Kind

if TYPE_CHECKING:
    from warploom.check import Report
    from warploom.isa.model.form import Form
    from warploom.layout import Descriptor, FragmentMap, InstructionDescriptor, SharedMap, TensorMap, TensorMemoryMap
    from warploom.observe.trace import Trace
    from warploom.ptx import Module, Node
    from warploom.runtime.api import Run
    from warploom.runtime.explore import Exploration
    from warploom.runtime.why import Why

_COLOURS = {Severity.ERROR: "#d1383d", Severity.WARNING: "#b07800", Severity.NOTE: "#3a7fd5"}
_GREEN = "#2f9e44"
_TOKEN_STYLES = {
    "comment": "color:#8a8f98;font-style:italic",
    "opcode": "color:#3a7fd5",
    "register": "color:#b3632d",
    "word": "color:#9a5fd0",
    "integer": "color:#2f9e44",
    "float": "color:#2f9e44",
    "string": "color:#2f9e44",
    "label": "color:#b07800",
}
_CELL = "padding:2px 16px 2px 0;border:0"
_LEFT = f"text-align:left;{_CELL}"
_RIGHT = f"text-align:right;{_CELL};font-variant-numeric:tabular-nums"
_SCROLL = "max-height:28em;overflow:auto;margin:4px 0;line-height:1.35;background:rgba(128,128,128,.08);padding:6px"

MAX_LINES = 400
"""Maximum number of lines of a listing."""

MAX_CHARACTERS = 60_000
"""Maximum number of characters of a listing."""

MAX_SIDE = 64
"""Maximum number of rows, and of columns, of a layout."""


def draw(display_kind: str, kind: Kind, thing: object) -> str | None:
    """Return `thing` in the format `kind`. Return None if objects of `display_kind` lack this format."""
    function = _REPRESENTATIONS[display_kind].get(kind)
    return None if function is None else function(thing)


# Listings ---------------------------------------------------------------------------------------------------------


def listing(node: Node) -> str:
    """Return PTX as coloured HTML, cut after MAX_LINES lines or MAX_CHARACTERS characters."""
    from warploom.ptx import Module

    text = str(node).rstrip("\n")
    shown = "\n".join(text.split("\n")[:MAX_LINES])[:MAX_CHARACTERS]
    left = text.count("\n") - shown.count("\n")
    head = _module_summary(node) if isinstance(node, Module) else ""
    more = f"<div>… and {_counted(left, 'more line') if left else 'more'}</div>"
    code = f'<pre style="{_SCROLL}"><code>{"".join(_coloured(shown))}</code></pre>'
    return f"<div>{head}{code}{more if len(shown) < len(text) else ''}</div>"


def _module_summary(module: Module) -> str:
    major, minor = module.version
    entries = [function.readable_name for function in module.functions.values() if function.kind == "entry"]
    kernels = ", ".join(f"<code>{escape(name)}</code>" for name in entries[:8]) or "none"
    more = f" and {len(entries) - 8} more" if len(entries) > 8 else ""
    target = escape(", ".join(module.target))
    return f"<div>PTX {major}.{minor} for <b>{target}</b>; kernels: {kernels}{more}</div>"


def _coloured(text: str) -> Iterator[str]:
    from warploom.ptx.lexer import TOKEN

    at, before, begins = 0, "", True
    while (found := TOKEN.match(text, at)) is not None and found.lastgroup not in (None, "end"):
        kind = str(found.lastgroup)
        start, word = found.start(kind), found[kind]
        yield _span("comment" if text[at:start].strip() else "", text[at:start])
        at, is_guard = found.end(), begins and before in ("@", "!")
        if kind == "name":
            is_label = text[at : at + 1] == ":" and text[at + 1 : at + 2] != ":"
            is_register = word.startswith("%") or is_guard
            kind = "register" if is_register else "label" if is_label else "opcode" if begins else ""
        yield _span(kind, word)
        before = word
        begins = word in (";", "{", "}", ":", "@") or (begins and (word == "!" or is_guard))
    yield _span("comment" if text[at:].strip() else "", text[at:])


def _span(kind: str, text: str) -> str:
    style = _TOKEN_STYLES.get(kind)
    return f'<span style="{style}">{escape(text)}</span>' if style else escape(text)


# Tables -----------------------------------------------------------------------------------------------------------


def html_table(rows: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> str:
    """Return an HTML table with the column headings `heads`. The first cell of a row is its heading."""
    top = "".join(f'<th scope="col" style="{_LEFT if k == 0 else _RIGHT}">{head}</th>' for k, head in enumerate(heads))
    lines = [f"<tr>{top}</tr>"] if heads else []
    for first, *rest in rows:
        cells = "".join(f'<td style="{_RIGHT}">{cell}</td>' for cell in rest)
        lines.append(f'<tr><th scope="row" style="{_LEFT};font-weight:normal">{first}</th>{cells}</tr>')
    return f'<table style="border-collapse:collapse;margin:4px 0">{"".join(lines)}</table>'


def _bar(share: float) -> str:
    width = round(120 * share, 1)
    return (
        f'<span style="display:inline-block;height:.7em;width:{width}px;background:#3a7fd5;opacity:.6"></span>'
        f'<span style="display:inline-block;width:{120 - width:.1f}px"></span>'
    )


def _titled(title: str, body: str) -> str:
    return f"<div><div><b>{title}</b></div>{body}</div>"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# Findings ---------------------------------------------------------------------------------------------------------


def finding(found: Diagnostic) -> str:
    """Return a diagnostic with its source line as HTML."""
    colour = _COLOURS[found.severity]
    _, *rest = render((found,)).rstrip("\n").split("\n")
    excerpt = escape("\n".join(rest))
    body = f'<pre style="margin:2px 0;background:none">{excerpt}</pre>' if rest else ""
    head = f'<b style="color:{colour}">{found.severity.value}</b> <code>{escape(found.code)}</code>'
    place = f"<div><small>{escape(found.place)}</small></div>" if found.place else ""
    style = f"border-left:3px solid {colour};padding:2px 0 2px 10px;margin:6px 0"
    return f'<div style="{style}"><div>{head}: {escape(found.message)}</div>{place}{body}</div>'


def report(found: Report) -> str:
    """Return the diagnostics of a check as HTML."""
    counts = f"{_counted(len(found.errors), 'error')}, {_counted(len(found.warnings), 'warning')}"
    if not len(found):
        return f'<div style="color:{_GREEN}">{counts}</div>'
    return _titled(counts, "".join(map(finding, found.diagnostics)))


# Runs -------------------------------------------------------------------------------------------------------------


def run(done: Run) -> str:
    """Return the statistics and findings of a run as HTML, with a table of its trace."""
    stats = done.stats
    counts = sorted(stats.instructions.items(), key=lambda item: (-item[1], item[0]))
    parts = [html_table([("CTAs", f"{stats.ctas:,}"), ("multiply-adds", f"{stats.macs:,}")])]
    if counts:
        rows = [(escape(family), f"{count:,}", _bar(count / counts[0][1])) for family, count in counts]
        parts.append(html_table(rows, ("family", "warp instructions", "")))
    parts += map(finding, done.findings)
    if done.trace is not None:
        parts.append(waits(done.trace))
    return _titled("Run", "".join(parts))


def waits(trace: Trace) -> str:
    """Return a table of the running and waiting steps of each warp in a trace's first CTA."""
    import numpy as np

    from warploom.observe.trace import data

    events = trace.events[trace.events["cta"] == 0]
    steps = events["end"] - events["begin"]
    rows: list[tuple[str, ...]] = []
    for warp in range(trace.warps):
        of_warp = events["warp"] == warp
        ran = int(steps[of_warp & (events["kind"] == data.Kind.RUN)].sum())
        waited = int(steps[of_warp & np.isin(events["kind"], list(data.WAITS))].sum())
        share = waited / max(ran + waited, 1)
        rows.append((f"warp {warp}", f"{ran:,}", f"{waited:,}", f"{share:.0%}", _bar(share)))
    cta = f", CTA {trace.ctas[0].number}" if trace.ctas else ""
    table = html_table(rows, ("warp", "steps running", "steps waiting", "waits", ""))
    return _titled(f"Trace of {escape(trace.kernel)}{cta}", table)


def exploration(found: Exploration) -> str:
    """Return an exploration as HTML: the sanitizer's findings and a comparison of all schedules."""
    count = len(found.schedules)
    sentences = [f"the same bytes under all {count} schedules"] if found.same else []
    if found.difference:
        sentences.append(f"the results depend on the schedule: {found.difference}")
    if found.failures:
        name, message = found.failures[0]
        sentences.append(f"{len(found.failures)} of {count} schedules failed; under {name}: {message}")
    colour = _GREEN if found.same else _COLOURS[Severity.ERROR]
    lines = "".join(f'<div style="color:{colour}">{escape(sentence)}</div>' for sentence in sentences)
    return f"<div>{lines}{''.join(map(finding, found.findings))}</div>"


# Layouts and descriptors --------------------------------------------------------------------------------------------


def why(found: Why) -> str:
    """Return an explanation of an element as text, with a picture of the operands."""
    from warploom.view.why import why_html

    return why_html(found)


def layout(found: FragmentMap | SharedMap | TensorMemoryMap) -> str:
    """Return an SVG picture of a layout, cut after MAX_SIDE rows and MAX_SIDE columns."""
    from warploom.view.layout_grid import grid_of
    from warploom.view.layout_pictures import layout_svg

    grid = grid_of("layout", found)
    rows, cols = min(grid.rows, MAX_SIDE), min(grid.cols, MAX_SIDE)
    if (rows, cols) != (grid.rows, grid.cols):
        kept = grid.entries[(grid.column("row") < rows) & (grid.column("col") < cols)]
        legend = f"{grid.legend}; the first {rows} rows and {cols} columns of {grid.rows} by {grid.cols}"
        grid = replace(grid, rows=rows, cols=cols, entries=kept, legend=legend)
    return layout_svg(grid)


def descriptor(found: Descriptor | InstructionDescriptor) -> str:
    """Return a table of a descriptor's fields."""
    from warploom.layout import Descriptor

    rows = [(field.name.replace("_", " "), str(getattr(found, field.name))) for field in fields(found)]
    digits = 16 if isinstance(found, Descriptor) else 8
    return _titled(f"Descriptor <code>0x{found.encode():0{digits}x}</code>", html_table(rows))


def tensor_map(found: TensorMap) -> str:
    """Return a table of a tensor map's dimensions, innermost first."""
    template = found.template
    strides = (max(template.element_bits // 8, 1), *template.global_stride)
    columns = (template.global_dim, strides, template.box, template.element_stride)
    rows = [tuple(str(n) for n in (k, *(column[k] for column in columns))) for k in range(template.rank)]
    swizzle = f", swizzle of {template.swizzle_span} bytes" if template.swizzle_span else ""
    title = f"Tensor map of {template.rank} dimensions of {escape(template.element_type)}{swizzle}"
    return _titled(title, html_table(rows, ("dimension", "size", "stride in bytes", "box", "step")))


def form(found: Form) -> str:
    """Return the Markdown page of a form."""
    from warploom.check.pages import form_section

    return form_section(found)


_REPRESENTATIONS: Mapping[str, Mapping[Kind, Callable[[Any], str]]] = {
    "ptx": {"html": listing},
    "form": {"markdown": form},
    "layout": {"svg": layout},
    "descriptor": {"html": descriptor},
    "tensor map": {"html": tensor_map},
    "finding": {"html": finding},
    "report": {"html": report},
    "run": {"html": run},
    "exploration": {"html": exploration},
    "why": {"html": why},
}
