"""The judgement of a text: its module as far as it can be read, and what could not be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from warploom.check.functions import Walk
from warploom.check.module import HEAD, head
from warploom.diagnostics import Diagnostic
from warploom.isa.model.availability import Target, Version
from warploom.ptx import Module


def judged(
    module: Module | None,
    unreadable: Sequence[Diagnostic],
    target: Target | None,
    ptx: Version | None,
    walk: Callable[[Module, Target, Version], Walk],
) -> list[Diagnostic]:
    """Everything that is wrong with a text, where `walk` goes through its items. What an unreadable
    declaration may have declared is not said to be undeclared.
    """
    if module is None or len(module.items) < HEAD:
        return list(unreadable)
    judged_target, judged_version, found = head(module, target, ptx)
    if unreadable:
        found = [each for each in found if each.span is not None]  # what is missing could not be read
    found += walk(module, judged_target, judged_version).all()
    if any(_in_declaration(error) for error in unreadable):
        found = [each for each in found if each.code != "name/undeclared"]
    return [*unreadable, *found]


def _in_declaration(error: Diagnostic) -> bool:
    """Whether what could not be read may have declared names: its line begins as a declaration does."""
    if error.source is None or error.span is None:
        return True
    line, _ = error.source.position(error.span.start)
    return error.source.line_text(line).lstrip().startswith((".", "{"))
