"""A matrix as a picture: cells coloured by the lane or the bank in which elements lie, with their places there."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from warploom.diagnostics import UsageError
from warploom.view.grid import COLOURS, Grid

_WIDE, _HIGH = 46, 30  # a cell
_LEFT, _TOP = 40, 62
_RIGHT = 12
_LARGEST = 1 << 16
_SAID = {
    "registers": "lane and register",
    "shared memory": "byte and bank of shared memory",
    "tensor memory": "lane and column of tensor memory",
}

_STYLE = """\
  svg { color-scheme: light dark; }
  .ground { fill: #ffffff; }
  .cell { stroke: #ffffff; }
  text { font: 11px system-ui, sans-serif; fill: #1f2328; text-anchor: middle; }
  .held { font-size: 9px; }
  .small { font-size: 9px; fill: #59636e; }
  .strong { font-weight: 600; font-size: 13px; text-anchor: start; }
  .said { text-anchor: start; }
"""
_DARK_STYLE = """\
    .ground { fill: #0d1117; }
    .cell { stroke: #0d1117; }
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
"""


def colour_rules(what: str) -> tuple[str, str]:
    """Style rules that give `what`, a property, the colours of cells: on light ground, and on dark.

    A group of four lanes, or of four banks, has a hue; those in it differ in lightness.
    """

    def rules(saturation: int, lightest: int, step: int) -> str:
        return "\n".join(
            f"  .l{k} {{ {what}: hsl({45 * (k // 4)} {saturation}% {lightest + step * (k % 4)}%); }}"
            for k in range(COLOURS)
        )

    return rules(70, 91, -5), rules(45, 15, 5)


def matrix(grid: Grid) -> str:
    """The picture.

    Every cell is a group with `data-row` and `data-col`, and `data-held`: the places of its element, one after
    another, `T3:1` for item 1 of lane 3, in shared memory the byte, in tensor memory `L3.5`.

    Errors: UsageError for more than 65,536 elements.
    """
    refuse_the_largest(grid)
    width = max(_LEFT + _WIDE * grid.cols + _RIGHT, _LEFT + 8 * len(grid.name) + _RIGHT)
    height = _TOP + _HIGH * grid.rows + 10
    title = f"{grid.operand}: {grid.name}"
    where = _SAID[grid.memory]
    told = f"{grid.rows} rows by {grid.cols} columns, in each cell the {where} of the element. {grid.legend}"
    light, dark = colour_rules("fill")
    extent = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {extent} role="img" aria-labelledby="title description">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="description">{escape(told)}</desc>',
            f"<style>\n{_STYLE}{light}\n  @media (prefers-color-scheme: dark) {{\n{_DARK_STYLE}{dark}\n  }}\n</style>",
            f'<rect class="ground" width="{width}" height="{height}"/>',
            f'<text class="strong" x="{_LEFT}" y="20">{escape(title)}</text>',
            f'<text class="said small" x="{_LEFT}" y="36">{escape(grid.legend)}</text>',
            *_heads(grid),
            *_cells(grid),
            "</svg>\n",
        ]
    )


def refuse_the_largest(grid: Grid) -> None:
    """Errors: UsageError for a grid with more elements than a picture shows."""
    if grid.rows * grid.cols > _LARGEST:
        raise UsageError(
            f"{grid.name} has {grid.rows * grid.cols:,} elements; a picture shows at most {_LARGEST:,}",
            hint="--csv and --json have them all",
        )


def _heads(grid: Grid) -> Iterator[str]:
    for col in range(grid.cols):
        yield f'<text class="small" x="{_LEFT + _WIDE * col + _WIDE // 2}" y="{_TOP - 6}">{col}</text>'
    for row in range(grid.rows):
        yield f'<text class="small" x="{_LEFT // 2}" y="{_TOP + _HIGH * row + _HIGH // 2 + 3}">{row}</text>'


def _cells(grid: Grid) -> Iterator[str]:
    for row, col, numbers in grid.cells():
        x, y = _LEFT + _WIDE * col, _TOP + _HIGH * row
        first, second = grid.short(numbers[0])
        if len(numbers) > 1:
            second += f" +{len(numbers) - 1}"
        words = " ".join(map(grid.place, numbers))
        said = "\n".join(grid.said(number) for number in numbers)
        middle = x + _WIDE // 2
        yield (
            f'<g data-row="{row}" data-col="{col}" data-held="{words}"><title>{said}</title>'
            f'<rect class="cell l{grid.colours[numbers[0]]}" x="{x}" y="{y}" width="{_WIDE}" height="{_HIGH}"/>'
            f'<text x="{middle}" y="{y + 13}">{first}</text>'
            f'<text class="held" x="{middle}" y="{y + 25}">{second}</text></g>'
        )
