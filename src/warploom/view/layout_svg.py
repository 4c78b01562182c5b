"""SVG picture of a layout: cells coloured by lane or bank, with the locations of their elements."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from warploom.diagnostics import UsageError
from warploom.view.layout_grid import COLOURS, LayoutGrid

_WIDE, _HIGH = 46, 30  # a cell, in pixels
_LEFT, _TOP, _RIGHT, _BOTTOM = 40, 62, 12, 10
_MAX_ELEMENTS = 1 << 16

_STYLE = """\
  svg { color-scheme: light dark; }
  .ground { fill: #ffffff; }
  .cell { stroke: #ffffff; }
  text { font: 11px system-ui, sans-serif; fill: #1f2328; text-anchor: middle; }
  .location { font-size: 9px; }
  .small { font-size: 9px; fill: #59636e; }
  .strong { font-weight: 600; font-size: 13px; text-anchor: start; }
  .legend { text-anchor: start; }
"""
_DARK_STYLE = """\
    .ground { fill: #0d1117; }
    .cell { stroke: #0d1117; }
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
"""


def colour_rules(attribute: str) -> tuple[str, str]:
    """Return style rules that set an attribute to the colours of cells, for a light and for a dark theme.

    Each group of four lanes or banks has one hue in four lightnesses.
    """

    def rules(saturation: int, lightest: int, step: int) -> str:
        return "\n".join(
            f"  .l{k} {{ {attribute}: hsl({45 * (k // 4)} {saturation}% {lightest + step * (k % 4)}%); }}"
            for k in range(COLOURS)
        )

    return rules(70, 91, -5), rules(45, 15, 5)


def layout_svg(grid: LayoutGrid) -> str:
    """Return the picture. Each cell is a group with `data-row`, `data-col` and `data-locations`.

    Errors: UsageError for more than 65,536 elements.
    """
    require_drawable(grid)
    width = max(_LEFT + _WIDE * grid.cols, _LEFT + 8 * len(grid.name)) + _RIGHT
    height = _TOP + _HIGH * grid.rows + _BOTTOM
    title = escape(f"{grid.operand}: {grid.name}")
    description = (
        f"{grid.rows} rows by {grid.cols} columns, each cell with the {grid.memory.caption} of the element."
    )
    light, dark = colour_rules("fill")
    heads = "\n".join(_heads(grid))
    cells = "\n".join(_cells(grid))
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" \
aria-labelledby="title description">
<title id="title">{title}</title>
<desc id="description">{escape(f"{description} {grid.legend}")}</desc>
<style>
{_STYLE}{light}
  @media (prefers-color-scheme: dark) {{
{_DARK_STYLE}{dark}
  }}
</style>
<rect class="ground" width="{width}" height="{height}"/>
<text class="strong" x="{_LEFT}" y="20">{title}</text>
<text class="legend small" x="{_LEFT}" y="36">{escape(grid.legend)}</text>
{heads}
{cells}
</svg>
"""


def require_drawable(grid: LayoutGrid) -> None:
    """Refuse a grid with too many elements for a picture. Errors: UsageError."""
    if grid.rows * grid.cols > _MAX_ELEMENTS:
        raise UsageError(
            f"{grid.name} has {grid.rows * grid.cols:,} elements; a picture shows at most {_MAX_ELEMENTS:,}",
            hint="--csv and --json have them all",
        )


def _heads(grid: LayoutGrid) -> Iterator[str]:
    for col in range(grid.cols):
        yield f'<text class="small" x="{_LEFT + _WIDE * col + _WIDE // 2}" y="{_TOP - 6}">{col}</text>'
    for row in range(grid.rows):
        yield f'<text class="small" x="{_LEFT // 2}" y="{_TOP + _HIGH * row + _HIGH // 2 + 3}">{row}</text>'


def _cells(grid: LayoutGrid) -> Iterator[str]:
    for row, col, numbers in grid.cells():
        x, y = _LEFT + _WIDE * col, _TOP + _HIGH * row
        first, second = grid.label(numbers[0])
        more = f" +{len(numbers) - 1}" if len(numbers) > 1 else ""
        locations = " ".join(map(grid.location, numbers))
        title = "\n".join(map(grid.describe, numbers))
        middle = x + _WIDE // 2
        yield (
            f'<g data-row="{row}" data-col="{col}" data-locations="{locations}"><title>{title}</title>'
            f'<rect class="cell l{grid.colours[numbers[0]]}" x="{x}" y="{y}" width="{_WIDE}" height="{_HIGH}"/>'
            f'<text x="{middle}" y="{y + 13}">{first}</text>'
            f'<text class="location" x="{middle}" y="{y + 25}">{second}{more}</text></g>'
        )
