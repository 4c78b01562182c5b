"""Generation of the reference pages in `docs`."""

from __future__ import annotations
