"""Bars beside each other: panels of groups, in each group a bar of every series, and a word above it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

_LEFT, _RIGHT = 52, 12
_NARROWEST, _PITCH = 620, 96  # a picture, and from one group to the next
_HEAD = 64
_PANEL, _TITLE, _LABELS = (
    236,
    30,
    36,
)  # a panel's height; of it the room for its title and for its groups' labels
_TICKS = 4
_BAR = 32

# Two colours for two series; both keep their distance from either ground, and differ in lightness too.
_STYLE = """\
  svg { color-scheme: light dark; }
  .ground { fill: #ffffff; }
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .small { font-size: 10px; fill: #59636e; }
  .strong { font-weight: 600; }
  .line { stroke: #d1d9e0; }
  .series0 { fill: #1f6feb; }
  .series1 { fill: #8c959f; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; }
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
    .line { stroke: #3d444d; }
    .series0 { fill: #58a6ff; }
    .series1 { fill: #7d8590; }
  }
"""


@dataclass(frozen=True, slots=True)
class Group:
    """Bars that belong together: one value of every series, `lines` below them and a `word` above."""

    lines: tuple[str, ...]
    values: tuple[float, float]
    word: str


@dataclass(frozen=True, slots=True)
class Panel:
    """Groups on one scale."""

    title: str
    groups: tuple[Group, ...]


def bars(panels: Sequence[Panel], *, title: str, description: str, series: tuple[str, str], unit: str) -> str:
    """The picture. `series` names the first and the second bar of each group; values are 0 or more.

    Units: `unit` is what the values are in, for the eye.
    """
    height = _HEAD + _PANEL * len(panels) + 8
    most = max((len(panel.groups) for panel in panels), default=0)
    width = max(_NARROWEST, _LEFT + _RIGHT + _PITCH * most)
    panels_at = ((panel, _HEAD + place * _PANEL) for place, panel in enumerate(panels))
    extent = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {extent} role="img" aria-labelledby="title description">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="description">{escape(description)}</desc>',
            f"<style>\n{_STYLE}</style>",
            f'<rect class="ground" width="{width}" height="{height}"/>',
            _text(_LEFT, 24, title, "strong"),
            *_legend(series, unit, width),
            *(line for panel, top in panels_at for line in _panel(panel, top, width, series, unit)),
            "</svg>\n",
        ]
    )


def _legend(series: tuple[str, str], unit: str, width: int) -> Iterator[str]:
    x = _LEFT
    for number, name in enumerate(series):
        yield f'<rect class="series{number}" x="{x}" y="38" width="12" height="12" rx="2"/>'
        yield _text(x + 18, 48, name)
        x += 40 + 7 * len(name)
    yield _text(width - _RIGHT, 48, unit, "small", "end")


def _panel(panel: Panel, top: int, width: int, series: tuple[str, str], unit: str) -> Iterator[str]:
    floor_line, ceiling = top + _PANEL - _LABELS, top + _TITLE + 18
    step = _step(max((value for group in panel.groups for value in group.values), default=0.0))
    scale = (floor_line - ceiling) / (step * _TICKS)
    yield "<g>"
    yield _text(_LEFT, top + 16, panel.title, "strong")
    for tick in range(_TICKS + 1):
        y = floor_line - tick * step * scale
        yield f'<line class="line" x1="{_LEFT}" x2="{width - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield _text(_LEFT - 6, y + 3, f"{tick * step:g}", "small", "end")
    for place, group in enumerate(panel.groups):
        middle = _LEFT + (place + 0.5) * _PITCH
        for number, value in enumerate(group.values):
            tall = value * scale
            x = middle + (number - 1) * _BAR + (0.5 if number else -0.5)
            said = f"{series[number]}, {panel.title}, {' '.join(group.lines)}: {value:.4g} {unit}"
            yield (
                f'<rect class="series{number}" x="{x:.1f}" y="{floor_line - tall:.1f}" width="{_BAR}"'
                f' height="{tall:.1f}"><title>{escape(said)}</title></rect>'
            )
        yield _text(middle, floor_line - max(group.values) * scale - 5, group.word, "strong", "middle")
        for row, line in enumerate(group.lines):
            yield _text(middle, floor_line + 14 + 12 * row, line, "small", "middle")
    yield "</g>"


def _step(largest: float) -> float:
    """Between two ticks: the least round number with which they hold the largest value."""
    needed = largest / _TICKS
    if needed <= 0:
        return 1.0
    power = 10.0 ** floor(log10(needed))
    return next(factor * power for factor in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if factor * power >= needed)


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:.1f}"{named} text-anchor="{anchor}">{escape(text)}</text>'
