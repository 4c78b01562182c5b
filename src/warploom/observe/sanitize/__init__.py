"""The sanitizer: who is ordered before whom, for every byte and register a kernel touches."""

from __future__ import annotations
