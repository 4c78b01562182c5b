"""The command line: one file per command, with arguments and printing only."""

from __future__ import annotations

from warploom.cli._main import execute, main

__all__ = ["execute", "main"]
