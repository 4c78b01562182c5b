"""Base class of objects that notebooks display as a table, a picture or formatted text.

`view` draws the pictures. It is above every package that has something to display, so this module asks for it through
`providers` (`docs/why/0010`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

from warploom.providers import provider

Kind = Literal["html", "svg", "markdown"]
Draw = Callable[[str, Kind, object], str | None]
"""Draw an object of a `display_kind` in a text format, or return None if it is not supported."""


class Displayed:
    """Base class of objects with a notebook representation, which `display_kind` selects."""

    __slots__ = ()
    display_kind: ClassVar[str]

    def _repr_html_(self) -> str | None:
        return _drawn("html", self)

    def _repr_svg_(self) -> str | None:
        return _drawn("svg", self)

    def _repr_markdown_(self) -> str | None:
        return _drawn("markdown", self)


def _drawn(kind: Kind, thing: Displayed) -> str | None:
    draw: Draw | None = provider("notebook")
    return None if draw is None else draw(thing.display_kind, kind, thing)
