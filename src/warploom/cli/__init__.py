"""The command line: one file per verb, nothing but arguments and printing."""

from __future__ import annotations

from warploom.cli._main import execute as execute
from warploom.cli._main import main as main

__all__ = ["execute", "main"]
