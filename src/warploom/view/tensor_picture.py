"""Picture of the use of tensor memory in a trace, as SVG.

Columns run down, and steps of the emulator to the right.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from warploom.observe.trace import Trace
from warploom.observe.trace.data import Kind
from warploom.observe.trace.tracks import Tracks
from warploom.view.svg import svg_document, svg_text

_WIDTH, _LEFT, _RIGHT, _TOP = 960, 210, 12, 90
_LEAST, _MOST, _FREE = 28, 52, 14  # heights of columns in use, and height of columns that nothing uses
_GAP, _FOOT = 46, 26
_MAX_CTAS = 2
_CLEAR = 11  # distance of texts
_CHARACTER = 6.2  # average width of a small character

LEGEND = {
    "write": "multiplication writes D",
    "update": "multiplication adds to D",
    "store": "threads or a copy write",
    "read": "multiplication reads",
    "load": "threads load",
    "commit": "arrival of a commit",
}
"""Kinds of rectangles and their captions."""

_COLOURS = {
    "write": ("#9a4a0c", "#f0883e"), "update": ("#e8a06a", "#9a5a24"), "store": ("#2f6fbf", "#58a6ff"),
    "read": ("#a9cdf5", "#1f4a80"), "load": ("#3f9a5a", "#3fb950"), "commit": ("#1f2328", "#f0f6fc"),
}  # fmt: skip


def _rules(theme: int) -> str:
    return "".join(f".tensor-memory .{kind} {{ fill: {pair[theme]}; }} " for kind, pair in _COLOURS.items())


_SHARED_RULES = """\
  .tensor-memory text { font: 12px system-ui, sans-serif; } .tensor-memory .small { font-size: 10px; }
  .tensor-memory .strong { font-weight: 600; } .tensor-memory .update { fill-opacity: 0.75; }
"""
LIGHT = (
    f"{_SHARED_RULES}  {_rules(0)}\n"
    "  .tensor-memory text { fill: #1f2328; } .tensor-memory .small { fill: #59636e; }\n"
    "  .tensor-memory .taken { fill: #eaeef2; } .tensor-memory .line { stroke: #c8d1da; }\n"
)
DARK = (
    f"  {_rules(1)}\n"
    "  .tensor-memory text { fill: #f0f6fc; } .tensor-memory .small { fill: #9198a1; }\n"
    "  .tensor-memory .taken { fill: #21262d; } .tensor-memory .line { stroke: #3d444d; }\n"
)
STYLE = f"{LIGHT}@media (prefers-color-scheme: dark) {{\n{DARK}}}\n"
"""CSS rules of `tensor_figure` for a page with a light and a dark theme."""


@dataclass(slots=True)
class _Box:
    """Rectangle of the picture: a use of columns for some steps.

    A box stands for `count` operations of one line.
    """

    kind: str
    what: str
    first: int
    end: int
    line: int
    opcode: str
    begin: float
    until: float
    warps: set[int] = field(default_factory=set[int])
    count: int = 1

    def describe(self) -> str:
        """Return a phrase for the box: columns, instruction, line and warps."""
        if self.kind == "taken":
            return f"columns {self.first} to {self.end - 1}, allocated in line {self.line} by {_warps(self.warps)}"
        many = f", {self.count} times" if self.count > 1 else ""
        what = f" ({self.what})" if self.what else ""
        return (
            f"{LEGEND[self.kind]}: columns {self.first} to {self.end - 1}{what}, {self.opcode} in line {self.line}, "
            f"{_warps(self.warps)}{many}"
        )


def _warps(warps: set[int]) -> str:
    """Return the names of warps, such as "warp 1" or "warps 0, 2 to 5"."""
    runs: list[list[int]] = []
    for warp in sorted(warps):
        if runs and warp == runs[-1][-1] + 1:
            runs[-1].append(warp)
        else:
            runs.append([warp])
    names = [f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    return f"warp{'s' if len(warps) > 1 else ''} {', '.join(names)}"


class _Panel:
    """Picture of the tensor memory of one CTA."""

    def __init__(self, tracks: Tracks, cta: int, scale: float, begin: float) -> None:
        self.scale, self.begin = scale, begin
        self.boxes = _boxes(tracks, cta, 1 / scale)
        self.contents = _contents(self.boxes)
        edges = sorted({edge for box in self.boxes for edge in (box.first, box.end)})
        used = [
            any(box.first <= low and high <= box.end for box in self.boxes if box.kind != "taken")
            for low, high in pairwise(edges)
        ]
        self.y: dict[int, int] = {}
        at = 0
        for (low, high), is_used in zip(pairwise(edges), used, strict=True):
            self.y[low] = at
            at += min(_MOST, max(_LEAST, (high - low) // 2)) if is_used else _FREE
        if edges:
            self.y[edges[-1]] = at
        self.height = at

    def draw(self, top: int) -> Iterator[str]:
        """Yield the SVG elements of the panel, from the pixel row `top` on."""
        boxes = sorted(self.boxes, key=lambda each: _LAYER[each.kind])
        taken = sum(box.kind == "taken" for box in boxes)
        yield from (self._rect(box, top) for box in boxes[:taken])
        last = -_CLEAR
        for edge, y in self.y.items():
            yield f'<path class="line" d="M{_LEFT - 4} {top + y}H{_WIDTH - _RIGHT}"/>'
            if y - last >= _CLEAR:
                yield svg_text(_LEFT - 8, top + y + 4, edge, "small", "end")
                last = y
        yield from (self._rect(box, top) for box in boxes[taken:])
        last = -2 * _CLEAR
        for (first, end), (what, warps) in self.contents.items():
            middle = (self.y[first] + self.y[end]) // 2
            if middle - last >= 2 * _CLEAR:
                yield svg_text(_LEFT - 34, top + middle - 1, what, "", "end")
                yield svg_text(_LEFT - 34, top + middle + 11, warps, "small", "end")
                last = middle

    def _rect(self, box: _Box, top: int) -> str:
        x = _LEFT + (box.begin - self.begin) * self.scale
        width = max((box.until - box.begin) * self.scale, 3.0)
        y, height = top + self.y[box.first], self.y[box.end] - self.y[box.first]
        if box.kind == "commit":
            x, width = x + width - 2, 2.0
        elif box.kind in ("read", "load"):  # reads leave the writes of the same columns visible
            y, height = y + height * 0.35, height * 0.65
        return (
            f'<rect class="{box.kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}">'
            f"<title>{escape(box.describe())}</title></rect>"
        )


_OF_MULTIPLICATIONS = ("write", "update", "read")
_LAYER = {"taken": 0, "update": 1, "write": 2, "store": 3, "read": 4, "load": 5, "commit": 6}


def _boxes(tracks: Tracks, cta: int, near: float) -> list[_Box]:
    """Return the allocations and the uses of a CTA.

    Uses of one line that are closer than `near` steps are merged.
    """
    trace, found = tracks.trace, list[_Box]()
    columns = tracks.columns

    def add(event: int, kind: str, what: str, first: int, end: int, extent: tuple[float, float]) -> None:
        step = columns["step"][event]
        warps = {columns["warp"][event]}
        found.append(_Box(kind, what, first, end, trace.lines[step], trace.opcodes[step], *extent, warps))

    for k, kind in enumerate(tracks.kinds):
        if kind == Kind.COLUMNS and columns["cta"][k] == cta:
            first = columns["number"][k]
            add(k, "taken", "", first, first + columns["count"][k], tracks.extent(k))
    for event, uses in tracks.uses.items():
        for _, of, use, what, first, end in uses:
            if of == cta:
                add(event, _kind(tracks.kinds[event], use), what, first, end, tracks.extent(event))
    return _merged(found, near)


def _kind(event: Kind, use: str) -> str:
    if event == Kind.MULTIPLICATION or use == "commit":
        return use
    return "load" if use == "read" else "store"


def _merged(boxes: list[_Box], near: float) -> list[_Box]:
    """Return the boxes in order of time, and merge those of one line that touch and use the same columns."""
    found: list[_Box] = []
    last: dict[tuple[str, str, int, int, int], _Box] = {}
    for box in sorted(boxes, key=lambda each: each.begin):
        key = (box.kind, box.what, box.first, box.end, box.line)
        old = last.get(key)
        at = box.until if box.kind == "commit" else box.begin  # a commit is drawn at its end
        if old is not None and at - old.until <= near:
            old.until = max(old.until, box.until)
            old.warps |= box.warps
            old.count += 1
        else:
            last[key] = box
            found.append(box)
    return found


def _contents(boxes: list[_Box]) -> dict[tuple[int, int], tuple[str, str]]:
    """Return the contents of the ranges of columns that multiplications use, from the top.

    The contents are the operands, and the warps that write and read the columns, such as "warp 1 → warps 2 to 5".
    """
    found: dict[tuple[int, int], tuple[str, str]] = {}
    for first, end in sorted({(box.first, box.end) for box in boxes if box.kind in _OF_MULTIPLICATIONS}):
        whats = {
            box.what.removeprefix("the "): None
            for box in boxes if box.kind in _OF_MULTIPLICATIONS and (box.first, box.end) == (first, end)
        }  # fmt: skip
        sides: list[set[int]] = []
        for kinds in (("write", "update", "store"), ("read", "load")):
            near = (box for box in boxes if box.kind in kinds and box.first < end and first < box.end)
            sides.append({warp for box in near for warp in box.warps})
        found[first, end] = ", ".join(whats), " → ".join(_warps(side) for side in sides if side)
    return found


def uses_tensor_memory(trace: Trace) -> bool:
    """Return True if a trace has allocations or uses of tensor memory."""
    return len(trace.uses) > 0 or len(trace.of(Kind.COLUMNS)) > 0


def tensor_figure(trace: Trace) -> str:
    """Return an SVG element for a page with the rules `STYLE`. The trace must use tensor memory."""
    (width, height), _, description, body = _picture(trace)
    contents = "\n".join(body)
    return (
        f'<svg class="tensor-memory" role="img" aria-label="{escape(description)}" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">\n{contents}\n</svg>'
    )


def tensor_svg(trace: Trace) -> str:
    """Return an SVG document with the same picture. The trace must use tensor memory."""
    size, title, description, body = _picture(trace)
    return svg_document(
        size, title, description, LIGHT, DARK, ['<g class="tensor-memory">', *body, "</g>"]
    )  # fmt: skip


def _picture(trace: Trace) -> tuple[tuple[int, int], str, str, list[str]]:
    """Return size, title, description and elements of the picture."""
    tracks = Tracks(trace)
    ctas: list[int] = sorted({*trace.uses["cta"].tolist(), *trace.of(Kind.COLUMNS)["cta"].tolist()})[:_MAX_CTAS]
    events = [
        k for k, kind in enumerate(tracks.kinds) if k in tracks.uses or kind == Kind.COLUMNS
    ]  # fmt: skip
    extents = [tracks.extent(k) for k in events]
    begin, end = min(low for low, _ in extents), max(high for _, high in extents)
    scale = (_WIDTH - _LEFT - _RIGHT) / max(end - begin, 1)
    title = f"Tensor memory of {trace.kernel}, schedule {trace.schedule}"
    parts, top, described = [svg_text(12, 22, title, "strong"), *_legend()], _TOP, list[str]()
    for cta in ctas:
        panel, name = _Panel(tracks, cta, scale, begin), tracks.cta_name(trace.ctas[cta])
        blocks = [box.describe() for box in panel.boxes if box.kind == "taken"]
        parts += [svg_text(12, top - 14, f"{name}: {'; '.join(blocks)}"), *panel.draw(top)]
        described.append(f"{name}: {'; '.join(blocks)}")
        for (first, last), (what, warps) in panel.contents.items():
            described.append(f"columns {first} to {last - 1}: {what}, {warps}")
        top += panel.height + _GAP
    axis = top - _GAP + 18
    parts += [
        svg_text(_LEFT, axis, f"step {begin:g}", "small"),
        svg_text(_WIDTH - _RIGHT, axis, f"step {end:g}", "small", "end"),
        svg_text(_LEFT - 8, axis, "column", "small", "end"),
    ]
    return (_WIDTH, top - _GAP + _FOOT), title, "; ".join([title, *described]), parts


def _legend() -> Iterator[str]:
    x = 12.0
    for kind, caption in LEGEND.items():
        yield f'<rect class="{kind}" x="{x:g}" y="36" width="12" height="12"/>'
        yield svg_text(x + 17, 46, caption, "small")
        x += 34 + _CHARACTER * len(caption)
