"""SVG bar chart that compares two series of values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

from warploom.view.svg import svg_document, svg_text

_LEFT, _RIGHT, _HEAD, _FOOT = 52, 12, 64, 8
_MIN_WIDTH, _GROUP_WIDTH, _BAR_WIDTH = 620, 96, 32
_PANEL_HEIGHT, _TITLE_HEIGHT, _LABEL_HEIGHT = 236, 48, 36  # the labels are below the bars
_TICKS = 4

# Both colours contrast with the light and the dark ground, and differ in lightness.
_STYLE = "  .line { stroke: #d1d9e0; } .series0 { fill: #1f6feb; } .series1 { fill: #8c959f; }"
_DARK_STYLE = "  .line { stroke: #3d444d; } .series0 { fill: #58a6ff; } .series1 { fill: #7d8590; }"


@dataclass(frozen=True, slots=True)
class Group:
    """Two bars, one of each series. `lines` is the text below the bars, and `heading` the text above."""

    lines: tuple[str, ...]
    values: tuple[float, float]
    heading: str


@dataclass(frozen=True, slots=True)
class Panel:
    """Groups of bars that share a vertical axis."""

    title: str
    groups: tuple[Group, ...]


def bar_chart(panels: Sequence[Panel], *, title: str, description: str, series: tuple[str, str], unit: str) -> str:
    """Return a bar chart as an SVG document.

    `description` is the text for screen readers. `series` names the two bars of each group. `unit` is the unit of all
    values. Negative values are not allowed.
    """
    most = max((len(panel.groups) for panel in panels), default=0)
    width = max(_MIN_WIDTH, _LEFT + _RIGHT + _GROUP_WIDTH * most)
    height = _HEAD + _PANEL_HEIGHT * len(panels) + _FOOT
    parts = [svg_text(_LEFT, 24, title, "strong"), *_legend(series, unit, width)]
    for number, panel in enumerate(panels):
        parts += _panel(panel, _HEAD + number * _PANEL_HEIGHT, width, series, unit)
    return svg_document((width, height), title, description, _STYLE, _DARK_STYLE, parts)


def _legend(series: tuple[str, str], unit: str, width: int) -> Iterator[str]:
    x = _LEFT
    for number, name in enumerate(series):
        yield f'<rect class="series{number}" x="{x}" y="38" width="12" height="12" rx="2"/>'
        yield svg_text(x + 18, 48, name)
        x += 40 + 7 * len(name)
    yield svg_text(width - _RIGHT, 48, unit, "small", "end")


def _panel(panel: Panel, top: int, width: int, series: tuple[str, str], unit: str) -> Iterator[str]:
    base, ceiling = top + _PANEL_HEIGHT - _LABEL_HEIGHT, top + _TITLE_HEIGHT
    step = _tick_step(max((value for group in panel.groups for value in group.values), default=0.0))
    scale = (base - ceiling) / (step * _TICKS)
    yield "<g>"
    yield svg_text(_LEFT, top + 16, panel.title, "strong")
    for tick in range(_TICKS + 1):
        y = base - tick * step * scale
        yield f'<line class="line" x1="{_LEFT}" x2="{width - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield svg_text(_LEFT - 6, round(y + 3, 1), f"{tick * step:g}", "small", "end")
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
        yield svg_text(middle, round(base - max(group.values) * scale - 5, 1), group.heading, "strong", "middle")
        for row, line in enumerate(group.lines):
            yield svg_text(middle, base + 14 + 12 * row, line, "small", "middle")
    yield "</g>"


def _tick_step(largest: float) -> float:
    """Return the smallest round distance for which _TICKS steps reach `largest`."""
    needed = largest / _TICKS
    if needed <= 0:
        return 1.0
    power = 10.0 ** floor(log10(needed))
    return next(factor * power for factor in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if factor * power >= needed)
