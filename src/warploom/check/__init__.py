"""Legality of PTX: diagnostics for illegal instructions, with the reason and the legal alternatives."""

from pathlib import Path

import warploom.isa  # noqa: F401  # pyright: ignore[reportUnusedImport] -- declares every form
from warploom.check.header import find_target, find_version
from warploom.check.module_checker import ModuleChecker, check_parsed
from warploom.check.report import Report
from warploom.ptx import Module, parse_readable, text_of

__all__ = ["Report", "check"]


def check(
    ptx: str | Path | Module, target: str | None = None, ptx_version: str | tuple[int, int] | None = None
) -> Report:
    """Check a PTX text, file or module. Return a report with the diagnostics in the order of the text.

    `target` and `ptx_version` replace those that the text states.

    Errors: UsageError for an unknown file, target or version.
    """
    chosen_target = None if target is None else find_target(target)
    chosen_version = None if ptx_version is None else find_version(ptx_version)
    module, syntax_errors = (ptx, []) if isinstance(ptx, Module) else parse_readable(*text_of(ptx))
    return Report(check_parsed(module, syntax_errors, chosen_target, chosen_version, ModuleChecker))
