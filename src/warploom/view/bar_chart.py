"""SVG bar chart: panels of groups, each with one bar of two series."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

_LEFT, _RIGHT, _HEAD, _FOOT = 52, 12, 64, 8
_MIN_WIDTH, _GROUP_WIDTH, _BAR_WIDTH = 620, 96, 32
_PANEL_HEIGHT, _TITLE_HEIGHT, _LABEL_HEIGHT = 236, 48, 36  # the labels are below the bars
_TICKS = 4

# Both colours contrast with the light and the dark ground, and differ in lightness.
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
    """One value of each series, with lines of text below the bars and a heading above them."""

    lines: tuple[str, ...]
    values: tuple[float, float]
    heading: str


@dataclass(frozen=True, slots=True)
class Panel:
    """Groups with a common scale."""

    title: str
    groups: tuple[Group, ...]


def bar_chart(
    panels: Sequence[Panel], *, title: str, description: str, series: tuple[str, str], unit: str
) -> str:
    """Return the picture. `series` names the first and the second bar of each group; values are not negative."""
    most = max((len(panel.groups) for panel in panels), default=0)
    width = max(_MIN_WIDTH, _LEFT + _RIGHT + _GROUP_WIDTH * most)
    height = _HEAD + _PANEL_HEIGHT * len(panels) + _FOOT
    parts = [_text(_LEFT, 24, title, "strong"), *_legend(series, unit, width)]
    for number, panel in enumerate(panels):
        parts += _panel(panel, _HEAD + number * _PANEL_HEIGHT, width, series, unit)
    contents = "\n".join(parts)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" \
aria-labelledby="title description">
<title id="title">{escape(title)}</title>
<desc id="description">{escape(description)}</desc>
<style>
{_STYLE}</style>
<rect class="ground" width="{width}" height="{height}"/>
{contents}
</svg>
"""


def _legend(series: tuple[str, str], unit: str, width: int) -> Iterator[str]:
    x = _LEFT
    for number, name in enumerate(series):
        yield f'<rect class="series{number}" x="{x}" y="38" width="12" height="12" rx="2"/>'
        yield _text(x + 18, 48, name)
        x += 40 + 7 * len(name)
    yield _text(width - _RIGHT, 48, unit, "small", "end")


def _panel(panel: Panel, top: int, width: int, series: tuple[str, str], unit: str) -> Iterator[str]:
    base, ceiling = top + _PANEL_HEIGHT - _LABEL_HEIGHT, top + _TITLE_HEIGHT
    step = _tick_step(max((value for group in panel.groups for value in group.values), default=0.0))
    scale = (base - ceiling) / (step * _TICKS)
    yield "<g>"
    yield _text(_LEFT, top + 16, panel.title, "strong")
    for tick in range(_TICKS + 1):
        y = base - tick * step * scale
        yield f'<line class="line" x1="{_LEFT}" x2="{width - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield _text(_LEFT - 6, y + 3, f"{tick * step:g}", "small", "end")
    for place, group in enumerate(panel.groups):
        middle = _LEFT + (place + 0.5) * _GROUP_WIDTH
        for number, value in enumerate(group.values):
            tall = value * scale
            x = middle + (number - 1) * _BAR_WIDTH + (0.5 if number else -0.5)
            label = f"{series[number]}, {panel.title}, {' '.join(group.lines)}: {value:.4g} {unit}"
            yield (
                f'<rect class="series{number}" x="{x:.1f}" y="{base - tall:.1f}" width="{_BAR_WIDTH}"'
                f' height="{tall:.1f}"><title>{escape(label)}</title></rect>'
            )
        yield _text(middle, base - max(group.values) * scale - 5, group.heading, "strong", "middle")
        for row, line in enumerate(group.lines):
            yield _text(middle, base + 14 + 12 * row, line, "small", "middle")
    yield "</g>"


def _tick_step(largest: float) -> float:
    """Return the smallest round step with which the ticks reach the largest value."""
    needed = largest / _TICKS
    if needed <= 0:
        return 1.0
    power = 10.0 ** floor(log10(needed))
    return next(factor * power for factor in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if factor * power >= needed)


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    css_class = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:.1f}"{css_class} text-anchor="{anchor}">{escape(text)}</text>'
