"""Base class of objects that notebooks display as a table, a picture or formatted text.

The drawing function comes from `warploom.view`, a higher layer, through `warploom.providers` (`docs/why/0010`).
"""

from collections.abc import Callable
from typing import ClassVar, Literal

from warploom.providers import provider

Kind = Literal["html", "svg", "markdown"]
Draw = Callable[[str, Kind, object], str | None]
"""Function that returns an object of a `display_kind` as text of a `Kind`, or None if it has none."""


class Displayed:
    """Base class of objects that notebooks display. `display_kind` selects the drawing function."""

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
