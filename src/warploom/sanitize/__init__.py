"""The sanitizer: who is ordered before whom, for every byte and register a kernel touches."""

from __future__ import annotations

from warploom.sanitize.rules import Rule, rules
from warploom.sanitize.watcher import Sanitizer

__all__ = ["Rule", "Sanitizer", "rules"]
