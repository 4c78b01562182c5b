"""Legality: what is illegal in a text, where, why, and what would be legal, before any assembler runs."""

from __future__ import annotations

from pathlib import Path

import warploom.isa  # noqa: F401  # pyright: ignore[reportUnusedImport] -- declares every form
from warploom.check.functions import Walk
from warploom.check.module import asked_target, asked_version
from warploom.check.report import Report
from warploom.check.texts import judged
from warploom.diagnostics import Diagnostic, Severity
from warploom.ptx import Module, parse_readable, text_of

__all__ = ["Report", "check", "verdicts"]


def check(
    ptx: str | Path | Module, target: str | None = None, ptx_version: str | tuple[int, int] | None = None
) -> Report:
    """Check a PTX text, file or module; what it finds is in the report, in the order of the text.

    `target` and `ptx_version` judge the text as if it named them.

    Errors: UsageError for a file, target or version that is not there; every rule code for the rest
    """
    chosen_target = None if target is None else asked_target(target)
    chosen_version = None if ptx_version is None else asked_version(ptx_version)
    module, unreadable = (ptx, []) if isinstance(ptx, Module) else parse_readable(*text_of(ptx))
    return Report(judged(module, unreadable, chosen_target, chosen_version, Walk))


def verdicts(module: Module, target: str, ptx_version: tuple[int, int]) -> list[Diagnostic]:
    """The errors of a readable module, as `check` finds them and with little of an explanation: for who judges
    many instructions and only counts.

    Errors: UsageError for a target or version that is not there; every rule code for the rest
    """
    walk = Walk(module, asked_target(target), asked_version(ptx_version), explains=False)
    return [found for found in walk.all() if found.severity is Severity.ERROR]
