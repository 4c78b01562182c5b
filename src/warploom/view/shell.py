"""What every page is in: one file that opens without a network, with its data, its style and its scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""What the page may load: nothing but what is in it."""


def document(title: str, body: str, data: object, styles: Sequence[str], scripts: Sequence[str]) -> str:
    """A page. `body` is HTML, `title` text; `data` is in the page as JSON, in the element `data`; `styles` are
    style rules, after those of every page, and `scripts` names of files beside this one.
    """
    held = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    style = "".join((part("page.css"), *styles))
    script = "".join(part(name) for name in ("page.js", *scripts))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
{body}
<script id="data" type="application/json">{held}</script>
<script>
{script}</script>
</body>
</html>
"""


def part(name: str) -> str:
    """The text of a file beside this one."""
    return files("warploom.view").joinpath(name).read_text("utf-8")
