"""Long series of tasks that survive interruption."""

from __future__ import annotations
