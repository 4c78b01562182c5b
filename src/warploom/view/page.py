"""Layouts as one page that opens without a network: hover a lane or an element, move by keys, search."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from warploom.view.grid import Grid, data_of
from warploom.view.matrix import colour_rules, refuse_the_largest

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""What the page may load: nothing but what is in it."""


def page(instruction: str, grids: Sequence[Grid]) -> str:
    """The page of an instruction. The grids are in it as JSON, in the element `data`.

    Errors: UsageError for a grid of more than 65,536 elements.
    """
    for grid in grids:
        refuse_the_largest(grid)
    data = json.dumps([data_of(grid) for grid in grids], separators=(",", ":")).replace("<", "\\u003c")
    light, dark = colour_rules("background")
    style = f"{_part('layouts.css')}{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
    title = escape(instruction)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width">
<title>{title}: layouts</title>
<style>
{style}</style>
</head>
<body>
<h1><code>{title}</code></h1>
<p class="faint">Point at an element for its place, and at a lane or a bank for its elements; a click keeps them.
Arrow keys move between elements, <kbd>/</kbd> searches, <kbd>Esc</kbd> lets go.</p>
<div class="bar">
<label>Search
<input id="search" type="search" placeholder="T5, lane 5 r1, row 3, 3,4, bank 7, tlane 9" autocomplete="off"></label>
<p id="said" role="status" aria-live="polite"></p>
</div>
<main id="grids"></main>
<script id="data" type="application/json">{data}</script>
<script>
{_part("layouts.js")}</script>
</body>
</html>
"""


def _part(name: str) -> str:
    return files("warploom.view").joinpath(name).read_text("utf-8")
