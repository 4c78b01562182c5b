"""Questions to nvcc and its recorded answers."""

from __future__ import annotations
