"""Layouts as one page that opens without a network: hover a lane or an element, move by keys, search."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from warploom.view.grid import Grid, data_of
from warploom.view.matrix import colour_rules, refuse_the_largest
from warploom.view.shell import document, part


def page(instruction: str, grids: Sequence[Grid]) -> str:
    """The page of an instruction. The grids are in it as JSON, in the element `data`.

    Errors: UsageError for a grid of more than 65,536 elements.
    """
    for grid in grids:
        refuse_the_largest(grid)
    light, dark = colour_rules("background")
    style = f"{part('layouts.css')}{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
    body = f"""<h1><code>{escape(instruction)}</code></h1>
<p class="faint">Point at an element for its place, and at a lane or a bank for its elements; a click keeps them.
Arrow keys move between elements, <kbd>/</kbd> searches, <kbd>Esc</kbd> lets go.</p>
<div class="bar">
<label>Search
<input id="search" type="search" placeholder="T5, lane 5 r1, row 3, 3,4, bank 7, tlane 9" autocomplete="off"></label>
<p id="said" role="status" aria-live="polite"></p>
</div>
<main id="grids"></main>"""
    data = [data_of(grid) for grid in grids]
    return document(f"{instruction}: layouts", body, data, [style], ["layouts.js"])
