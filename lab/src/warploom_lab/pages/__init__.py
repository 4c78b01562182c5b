"""Generation of the reference pages in `docs`."""

from __future__ import annotations

from warploom_lab.pages.reference import reference_pages

__all__ = ["reference_pages"]
