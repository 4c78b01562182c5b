"""Diagnostics as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from warploom.diagnostics.diagnostic import Diagnostic, Severity
from warploom.diagnostics.source import Source, Span

_TAB = 4
_WIDEST = 160
_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}


def render(diagnostics: Iterable[Diagnostic], color: bool = False) -> str:
    """Return the diagnostics as text for a terminal, with ANSI colours if `color` is True.

    A diagnostic starts with its position, severity, code and sentence. The source line with a caret, the notes, the
    hint and the section follow if the diagnostic has them.
    """
    return "".join(_render_one(diagnostic, color) for diagnostic in diagnostics)


def _render_one(diagnostic: Diagnostic, color: bool) -> str:
    tint = _COLORS[diagnostic.severity]
    label = _paint(f"{diagnostic.severity.value}[{diagnostic.code}]", f"1;{tint}", color)
    place = f"{_paint(diagnostic.place, '1', color)}: " if diagnostic.source is not None else ""
    lines = [f"{place}{label}: {diagnostic.message}"]
    if diagnostic.source is not None and diagnostic.span is not None:
        lines += _excerpt(diagnostic.source, diagnostic.span, tint, color)
    lines += [f"  note: {note.message}" for note in diagnostic.notes]
    if diagnostic.hint:
        lines.append(f"  hint: {diagnostic.hint}")
    if diagnostic.section:
        lines.append(f"  see: {diagnostic.section}")
    return "\n".join(lines) + "\n"


def _excerpt(source: Source, span: Span, tint: str, color: bool) -> list[str]:
    line, column = source.position(span.start)
    text = source.line_text(line)
    first = min(column - 1, len(text))
    last = max(first + 1, min(first + span.end - span.start, len(text)))
    before, marked = text[:first].expandtabs(_TAB), text[:last].expandtabs(_TAB)
    left, width = len(before), max(1, len(marked) - len(before))
    shown = text.expandtabs(_TAB)
    if left > _WIDEST // 2:
        # Only the part of a long line around the caret is shown.
        cut = left - _WIDEST // 2
        shown, left = f"…{shown[cut + 1 :]}", left - cut
    if len(shown) > _WIDEST:
        shown = f"{shown[: _WIDEST - 1]}…"
    caret = "^" * max(1, min(width, _WIDEST - left))
    gutter = f"{line:>5} | "
    return [f"{gutter}{shown}", f"{'|':>7} {' ' * left}{_paint(caret, f'1;{tint}', color)}"]


def _paint(text: str, style: str, color: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if color and text else text
