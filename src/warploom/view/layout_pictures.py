"""Pictures of layouts, as SVG documents and HTML pages."""

from collections.abc import Iterator, Sequence
from html import escape

from warploom.diagnostics import UsageError
from warploom.view.html_page import asset, html_page
from warploom.view.layout_grid import COLOURS, LayoutGrid, json_data
from warploom.view.svg import svg_document, svg_text

_WIDE, _HIGH = 46, 30  # a cell, in pixels
_LEFT, _TOP, _RIGHT, _BOTTOM = 40, 62, 12, 10
_MAX_ELEMENTS = 1 << 16

_STYLE = """\
  text { font-size: 11px; } .strong { font-size: 13px; } .small, .location { font-size: 9px; }
  .cell { stroke: #ffffff; }
"""
_DARK_STYLE = "  .cell { stroke: #0d1117; }\n"


def colour_rules(attribute: str) -> tuple[str, str]:
    """Return the style rules of the cell colours, for a light and for a dark theme.

    `attribute` is the SVG or CSS attribute that gets the colour.
    """

    def rules(saturation: int, lightest: int, step: int) -> str:
        return "\n".join(
            f"  .l{k} {{ {attribute}: hsl({45 * (k // 4)} {saturation}% {lightest + step * (k % 4)}%); }}"
            for k in range(COLOURS)
        )

    return rules(70, 91, -5), rules(45, 15, 5)


def layout_svg(grid: LayoutGrid) -> str:
    """Return the picture of a layout as an SVG document.

    Each cell is a group element with the attributes `data-row`, `data-col` and `data-locations`.

    Errors: UsageError for more than 65,536 elements.
    """
    require_drawable(grid)
    width = max(_LEFT + _WIDE * grid.cols, _LEFT + 8 * len(grid.name)) + _RIGHT
    height = _TOP + _HIGH * grid.rows + _BOTTOM
    title = f"{grid.operand}: {grid.name}"
    description = f"{grid.rows} rows by {grid.cols} columns, each cell with the {grid.memory.caption} of the element."
    light, dark = colour_rules("fill")
    body = [
        svg_text(_LEFT, 20, title, "strong"),
        svg_text(_LEFT, 36, grid.legend, "small"),
        *(svg_text(_LEFT + _WIDE * col + _WIDE // 2, _TOP - 6, col, "small", "middle") for col in range(grid.cols)),
        *(
            svg_text(_LEFT // 2, _TOP + _HIGH * row + _HIGH // 2 + 3, row, "small", "middle")
            for row in range(grid.rows)
        ),
        *_cells(grid),
    ]
    description = f"{description} {grid.legend}"
    return svg_document((width, height), title, description, _STYLE + light, _DARK_STYLE + dark, body)


def require_drawable(grid: LayoutGrid) -> None:
    """Refuse a grid with too many elements for a picture. Errors: UsageError."""
    if grid.rows * grid.cols > _MAX_ELEMENTS:
        raise UsageError(
            f"{grid.name} has {grid.rows * grid.cols:,} elements; a picture shows at most {_MAX_ELEMENTS:,}",
            hint="use --csv or --json for all elements",
        )


def _cells(grid: LayoutGrid) -> Iterator[str]:
    for row, col, numbers in grid.cells():
        x, y = _LEFT + _WIDE * col, _TOP + _HIGH * row
        first, second = grid.label(numbers[0])
        more = f" +{len(numbers) - 1}" if len(numbers) > 1 else ""
        locations = " ".join(map(grid.location, numbers))
        title = "\n".join(map(grid.describe, numbers))
        middle = x + _WIDE // 2
        yield (
            f'<g data-row="{row}" data-col="{col}" data-locations="{locations}" text-anchor="middle">'
            f"<title>{title}</title>"
            f'<rect class="cell l{grid.colours[numbers[0]]}" x="{x}" y="{y}" width="{_WIDE}" height="{_HIGH}"/>'
            f"{svg_text(middle, y + 13, first)}"
            f"{svg_text(middle, y + 25, second + more, 'location')}</g>"
        )


def layout_page(instruction: str, grids: Sequence[LayoutGrid]) -> str:
    """Return an HTML page with the layouts of an instruction's operands.

    Errors: UsageError for a grid of more than 65,536 elements.
    """
    for grid in grids:
        require_drawable(grid)
    light, dark = colour_rules("background")
    style = f"{asset('layout_page.css')}{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
    body = f"""<h1><code>{escape(instruction)}</code></h1>
<p class="faint">Point at an element to see its location, or at a lane or a bank to see its elements. A click keeps the
selection. Arrow keys move between elements, <kbd>/</kbd> starts a search, <kbd>Esc</kbd> clears the selection.</p>
<div class="bar">
<label>Search
<input id="search" type="search" placeholder="T5, lane 5 r1, row 3, 3,4, bank 7, tlane 9" autocomplete="off"></label>
<p id="status" role="status" aria-live="polite"></p>
</div>
<main id="grids"></main>"""
    data = [json_data(grid) for grid in grids]
    return html_page(f"{instruction}: layouts", body, data, [style], ["layout_page.js"])
