"""What shows itself in a notebook, and who draws it.

Pictures are drawn by `view`, which stands above everything that has one. So what is shown asks a drawer, and the
root of the package, which alone knows all floors, names it (`docs/why/0010`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

Kind = Literal["html", "svg", "markdown"]
Drawer = Callable[[str, Kind, object], str | None]
"""Draws a thing of a sort as a kind of text; None where the sort is not drawn so."""

_named: list[Callable[[], Drawer]] = []


def draw_with(load: Callable[[], Drawer]) -> None:
    """Name the drawer; `load` is called when first something is shown."""
    _named[:] = [load]


class Shown:
    """Base of what a notebook shows as more than a line of text; `shown_as` says what sort of thing it is."""

    __slots__ = ()
    shown_as: ClassVar[str]

    def _repr_html_(self) -> str | None:
        return _drawn("html", self)

    def _repr_svg_(self) -> str | None:
        return _drawn("svg", self)

    def _repr_markdown_(self) -> str | None:
        return _drawn("markdown", self)


def _drawn(kind: Kind, thing: Shown) -> str | None:
    return _named[0]()(thing.shown_as, kind, thing) if _named else None
