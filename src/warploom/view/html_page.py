"""HTML pages that consist of one file."""

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""Content security policy: the page may load nothing."""


def html_page(title: str, body: str, data: object, styles: Sequence[str], scripts: Sequence[str]) -> str:
    """Return an HTML page with `body`, and with `data` as JSON in the element with the id `data`.

    `styles` are CSS texts. `scripts` are names of script files in this package.
    """
    json_text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    # The common rules and the common script come first.
    style = "".join((asset("page.css"), *styles))
    script = "".join(asset(name) for name in ("page.js", *scripts))
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
<script id="data" type="application/json">{json_text}</script>
<script>
{script}</script>
</body>
</html>
"""


def asset(name: str) -> str:
    """Return the text of a CSS or script file in this package."""
    return files("warploom.view").joinpath(name).read_text("utf-8")
