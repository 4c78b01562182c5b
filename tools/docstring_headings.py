"""Griffe extension that prints the headings of docstring paragraphs (`Units:`, `Errors:` …) in bold."""

from __future__ import annotations

import re
from typing import Any

import griffe

HEADING = re.compile(r"^(Shapes|Units|Errors|Source): ", re.MULTILINE)


class DocstringHeadings(griffe.Extension):
    """Griffe extension for the documentation site."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Make the headings in the docstring of a function, class, module or attribute bold."""
        if obj.docstring:
            obj.docstring.value = HEADING.sub(r"\n**\1.** ", obj.docstring.value)
