"""What notebooks show of each sort of thing: HTML, SVG or Markdown.

Colours are between light and dark, and grounds are see-through, so that both themes of a notebook do. Whatever comes
from a text is escaped.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from html import escape
from typing import TYPE_CHECKING, Any

from warploom.diagnostics import Diagnostic, Severity, render
from warploom.display import Kind

if TYPE_CHECKING:
    from warploom.check import Report
    from warploom.isa.model.form import Form
    from warploom.layout import (
        Descriptor,
        FragmentMap,
        InstructionDescriptor,
        SharedMap,
        TensorMap,
        TensorMemoryMap,
    )
    from warploom.observe.trace import Trace
    from warploom.ptx import Node
    from warploom.runtime.api import Run
    from warploom.runtime.explore import Exploration

_COLOURS = {Severity.ERROR: "#d1383d", Severity.WARNING: "#b07800", Severity.NOTE: "#3a7fd5"}
_GREEN = "#2f9e44"
_TOKENS = {
    "comment": "color:#8a8f98;font-style:italic",
    "opcode": "color:#3a7fd5",
    "register": "color:#b3632d",
    "word": "color:#9a5fd0",
    "integer": "color:#2f9e44",
    "float": "color:#2f9e44",
    "string": "color:#2f9e44",
    "label": "color:#b07800",
}
_LEFT = "text-align:left;padding:2px 16px 2px 0;border:0"
_RIGHT = "text-align:right;padding:2px 16px 2px 0;border:0;font-variant-numeric:tabular-nums"
_SCROLLS = (
    "max-height:28em;overflow:auto;margin:4px 0;line-height:1.35;background:rgba(128,128,128,.08);padding:6px"
)

LONGEST = 400
"""Lines of a listing that are shown."""

MOST_CHARACTERS = 60_000
"""Characters of a listing that are shown."""

MOST = 64
"""Rows and columns of a layout that are shown."""


def drawn(sort: str, kind: Kind, thing: object) -> str | None:
    """A thing of a sort, drawn as a kind of text; None where it is not drawn so."""
    draw = _DRAWN[sort].get(kind)
    return None if draw is None else draw(thing)


# Listings ---------------------------------------------------------------------------------------------------------


def listing(node: Node) -> str:
    """PTX with its tokens coloured; of a long one the first lines."""
    from warploom.ptx import Module

    text = str(node).rstrip("\n")
    shown = "\n".join(text.split("\n")[:LONGEST])[:MOST_CHARACTERS]
    left = text.count("\n") - shown.count("\n")
    said = _module(node) if isinstance(node, Module) else ""
    more = (
        f"<div>… and {_counted(left, 'more line') if left else 'more'}</div>"
        if len(shown) < len(text)
        else ""
    )
    return f'<div>{said}<pre style="{_SCROLLS}"><code>{"".join(_coloured(shown))}</code></pre>{more}</div>'


def _module(module: Any) -> str:
    major, minor = module.version
    entries = [function.name for function in module.functions.values() if function.kind == "entry"]
    kernels = ", ".join(f"<code>{escape(name)}</code>" for name in entries[:8]) or "none"
    more = f" and {len(entries) - 8} more" if len(entries) > 8 else ""
    target = escape(", ".join(module.target))
    return f"<div>PTX {major}.{minor} for <b>{target}</b>; kernels: {kernels}{more}</div>"


def _coloured(text: str) -> Iterator[str]:
    """Pieces of HTML that are the text, whatever is in it."""
    from warploom.ptx.lexer import TOKEN

    at, before, begins = 0, "", True
    while (found := TOKEN.match(text, at)) is not None and found.lastgroup not in (None, "end"):
        kind = str(found.lastgroup)
        start, word = found.start(kind), found[kind]
        yield _span("comment" if text[at:start].strip() else "", text[at:start])
        at, guards = found.end(), begins and before in ("@", "!")
        if kind == "name":
            follows = text[at : at + 1] == ":" and text[at + 1 : at + 2] != ":"
            is_register = word.startswith("%") or guards
            kind = "register" if is_register else "label" if follows else "opcode" if begins else ""
        yield _span(kind, word)
        before = word
        begins = word in (";", "{", "}", ":", "@") or (begins and (word == "!" or guards))
    yield _span("comment" if text[at:].strip() else "", text[at:])


def _span(kind: str, text: str) -> str:
    style = _TOKENS.get(kind)
    return f'<span style="{style}">{escape(text)}</span>' if style else escape(text)


# Tables -----------------------------------------------------------------------------------------------------------


def _table(rows: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> str:
    """A table; its cells are HTML, the first of each row a head of the row."""
    top = "".join(
        f'<th scope="col" style="{_LEFT if k == 0 else _RIGHT}">{head}</th>' for k, head in enumerate(heads)
    )
    lines = [f"<tr>{top}</tr>"] if heads else []
    for first, *rest in rows:
        cells = "".join(f'<td style="{_RIGHT}">{cell}</td>' for cell in rest)
        lines.append(f'<tr><th scope="row" style="{_LEFT};font-weight:normal">{first}</th>{cells}</tr>')
    return f'<table style="border-collapse:collapse;margin:4px 0">{"".join(lines)}</table>'


def _titled(title: str, body: str) -> str:
    return f"<div><div><b>{title}</b></div>{body}</div>"


def _picture(svg: str, said: str) -> str:
    """An SVG picture that keeps its style and its names to itself."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{escape(said)}" src="data:image/svg+xml;base64,{data}" style="max-width:100%"/>'


# Findings ---------------------------------------------------------------------------------------------------------


def finding(found: Diagnostic) -> str:
    """One finding with its source line."""
    colour = _COLOURS[found.severity]
    _, *rest = render((found,)).rstrip("\n").split("\n")
    excerpt = escape("\n".join(rest))
    body = f'<pre style="margin:2px 0;background:none">{excerpt}</pre>' if rest else ""
    head = f'<b style="color:{colour}">{found.severity.value}</b> <code>{escape(found.code)}</code>'
    place = f"<div><small>{escape(found.place)}</small></div>" if found.place else ""
    style = f"border-left:3px solid {colour};padding:2px 0 2px 10px;margin:6px 0"
    return f'<div style="{style}"><div>{head}: {escape(found.message)}</div>{place}{body}</div>'


def _findings(found: Sequence[Diagnostic], of: str) -> str:
    if not found:
        return f'<div style="color:{_GREEN}">{of}</div>'
    return "".join(map(finding, found))


def report(found: Report) -> str:
    """Every diagnostic of a check."""
    counts = f"{_counted(len(found.errors), 'error')}, {_counted(len(found.warnings), 'warning')}"
    return (
        _titled(counts, _findings(found.diagnostics, "nothing found"))
        if len(found)
        else _findings((), counts)
    )


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


# Runs -------------------------------------------------------------------------------------------------------------


def run(done: Run) -> str:
    """What a run did, what was found, and where the warps of its first CTA spent their time."""
    stats = done.stats
    counts = sorted(stats.instructions.items(), key=lambda item: (-item[1], item[0]))
    most = max((count for _, count in counts), default=1)
    bars = [
        (escape(family), f"{count:,}", _bar(count / most)) for family, count in counts
    ]  # of warp instructions
    totals = [("CTAs", f"{stats.ctas:,}"), ("multiply-adds", f"{stats.macs:,}")]
    parts = [_table(totals)]
    if bars:
        parts.append(_table(bars, ("family", "warp instructions", "")))
    if done.findings:
        parts.append(_findings(done.findings, ""))
    if done.trace is not None:
        parts.append(_picture(timeline(done.trace), f"steps that warps ran and waited: {done.trace}"))
    return _titled("Run", "".join(parts))


def _bar(share: float) -> str:
    width = round(120 * share, 1)
    return (
        f'<span style="display:inline-block;height:.7em;width:{width}px;background:#3a7fd5;opacity:.6"></span>'
        f'<span style="display:inline-block;width:{120 - width:.1f}px"></span>'
    )


def timeline(trace: Trace) -> str:
    """How long the warps of the first CTA of a trace ran and waited, as an SVG picture.

    Units: steps of the machine.
    """
    import numpy as np

    from warploom.observe.trace import data
    from warploom.view.bars import Group, Panel, bars

    events = trace.events[trace.events["cta"] == 0]
    lasted = (events["end"] - events["begin"]).astype(np.float64)

    def steps(warp: int, kinds: Iterable[int]) -> float:
        return float(lasted[(events["warp"] == warp) & np.isin(events["kind"], list(kinds))].sum())

    groups: list[Group] = []
    for warp in range(trace.warps):
        ran, waited = steps(warp, [data.Kind.RUN]), steps(warp, data.WAITS)
        word = f"{waited / (ran + waited):.0%} waits" if ran + waited else ""
        groups.append(Group((f"warp {warp}",), (ran, waited), word))
    name = f"{trace.kernel}, CTA {trace.ctas[0].number}" if trace.ctas else trace.kernel
    return bars(
        [Panel(name, tuple(groups))],
        title="Warps at work and waiting",
        description=f"For each warp of a CTA of {trace.kernel}, the steps that it ran and that it waited.",
        series=("runs", "waits"),
        unit="steps",
    )


def exploration(found: Exploration) -> str:
    """Whether schedules agree; where they do not, the first byte, and what the sanitizer says of it."""
    count = len(found.schedules)
    said = [f"the same bytes under all {count} schedules"] if found.same else []
    if found.difference:
        said.append(f"the results depend on the schedule: {found.difference}")
    if found.failures:
        name, words = found.failures[0]
        said.append(f"{len(found.failures)} of {count} schedules failed; under {name}: {words}")
    colour = _GREEN if found.same else _COLOURS[Severity.ERROR]
    lines = "".join(f'<div style="color:{colour}">{escape(line)}</div>' for line in said)
    return f"<div>{lines}{_findings(found.findings, '') if found.findings else ''}</div>"


# Layouts and words --------------------------------------------------------------------------------------------------


def layout(found: FragmentMap | SharedMap | TensorMemoryMap) -> str:
    """Where elements lie, as an SVG picture; of a large matrix the first rows and columns."""
    from warploom.view.grid import grid_of
    from warploom.view.matrix import matrix

    grid = grid_of("layout", found)
    rows, cols = min(grid.rows, MOST), min(grid.cols, MOST)
    if (rows, cols) != (grid.rows, grid.cols):
        kept = grid.entries[(grid.column("row") < rows) & (grid.column("col") < cols)]
        legend = f"{grid.legend}; the first {rows} rows and {cols} columns of {grid.rows} by {grid.cols}"
        grid = replace(grid, rows=rows, cols=cols, entries=kept, legend=legend)
    return matrix(grid)


def descriptor(found: Descriptor | InstructionDescriptor) -> str:
    """The fields of a descriptor, and its 64 bits, or 32 of an instruction."""
    from warploom.layout import Descriptor

    rows = [(field.name.replace("_", " "), str(getattr(found, field.name))) for field in fields(found)]
    digits = 16 if isinstance(found, Descriptor) else 8
    return _titled(f"Descriptor <code>0x{found.encode():0{digits}x}</code>", _table(rows))


def tensor_map(found: TensorMap) -> str:
    """The dimensions of a tensor map, innermost first, and how it lies in shared memory."""
    told = found.unplaced
    axes = range(told.rank)
    width = max(told.element_bits // 8, 1)
    strides = (width, *told.global_stride)
    heads = ("dimension", "size", "stride in bytes", "box", "step")
    rows = [
        tuple(str(n) for n in (k, told.global_dim[k], strides[k], told.box[k], told.element_stride[k]))
        for k in axes
    ]
    said = (
        f"{told.element_type}, swizzle of {told.swizzle_span} bytes"
        if told.swizzle_span
        else told.element_type
    )
    return _titled(f"Tensor map of {told.rank} dimensions of {escape(said)}", _table(rows, heads))


def form(found: Form) -> str:
    """The page of a form."""
    from warploom.check.pages import form_section

    return form_section(found)


_DRAWN: Mapping[str, Mapping[Kind, Callable[[Any], str]]] = {
    "ptx": {"html": listing},
    "form": {"markdown": form},
    "layout": {"svg": layout},
    "descriptor": {"html": descriptor},
    "tensor map": {"html": tensor_map},
    "finding": {"html": finding},
    "report": {"html": report},
    "run": {"html": run},
    "exploration": {"html": exploration},
}
