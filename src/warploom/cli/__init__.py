"""The command line: one file per command, with arguments and printing only."""

from warploom.cli._main import execute, main

__all__ = ["execute", "main"]
