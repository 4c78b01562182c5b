"""How a text that cannot be lowered is refused."""

from __future__ import annotations

from warploom.diagnostics import WarploomError


class LowerError(WarploomError):
    """A text that cannot be lowered: what is wrong in it, and where."""
