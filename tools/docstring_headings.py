"""Griffe extension that turns docstring headings (`Units:`, `Errors:` …) into bold paragraphs."""

from __future__ import annotations

import re
from typing import Any

import griffe

HEADING = re.compile(r"^(Shapes|Units|Errors|Source): ", re.MULTILINE)


class DocstringHeadings(griffe.Extension):
    """Extension that makes the headings bold."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of one function, class, module or attribute."""
        if obj.docstring:
            obj.docstring.value = HEADING.sub(r"\n**\1.** ", obj.docstring.value)
