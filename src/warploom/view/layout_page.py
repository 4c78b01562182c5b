"""Interactive HTML page of the layouts of an instruction."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from warploom.view.html_page import asset, html_page
from warploom.view.layout_grid import LayoutGrid, json_data
from warploom.view.layout_svg import colour_rules, require_drawable


def layout_page(instruction: str, grids: Sequence[LayoutGrid]) -> str:
    """Return the HTML page that shows the layouts of an instruction's operands.

    The script of the page reads the grids as JSON from the element `data`.

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
