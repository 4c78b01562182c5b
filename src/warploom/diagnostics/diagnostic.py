"""Diagnostics, and the exceptions that carry them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar, TypeVar

from warploom.diagnostics.source import Source, Span
from warploom.display import Displayed


class Severity(Enum):
    """Severity of a diagnostic. Only errors make a text illegal."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Note:
    """Additional sentence of a diagnostic, with an optional span in the same source."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic(Displayed):
    """Finding with a stable rule code, one sentence, and an optional source and span.

    `hint` proposes a remedy. `section` names the section of the manual. `notes` add details. `data` holds the details
    as names and numbers for programs.
    """

    display_kind: ClassVar[str] = "finding"

    code: str
    severity: Severity
    message: str
    source: Source | None = None
    span: Span | None = None
    hint: str = ""
    section: str = ""
    notes: tuple[Note, ...] = ()
    data: Mapping[str, Any] | None = field(default=None, compare=False)

    def with_notes(self, notes: Iterable[Note], data: Mapping[str, Any] | None = None) -> Diagnostic:
        """Return a copy with notes and data."""
        return replace(self, notes=tuple(notes), data=data)

    @property
    def place(self) -> str:
        """Position as `file:line:column`; the file without a span; "" without a source."""
        if self.source is None:
            return ""
        if self.span is None:
            return self.source.name
        line, column = self.source.position(self.span.start)
        return f"{self.source.name}:{line}:{column}"

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.source is not None else self.message


class WarploomError(Exception):
    """Mistake of a user, with one sentence for each diagnostic."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(str(diagnostic) for diagnostic in self.diagnostics)

    def __reduce__(self) -> tuple[object, ...]:
        # A worker process sends its errors home pickled; subclasses may take other arguments.
        return _restore, (type(self), self.diagnostics)


class UsageError(WarploomError):
    """Invalid use of the library or the command line."""

    def __init__(self, message: str, *, code: str = "usage", hint: str = "", section: str = "") -> None:
        super().__init__([Diagnostic(code, Severity.ERROR, message, hint=hint, section=section)])


_Error = TypeVar("_Error", bound=WarploomError)


def _restore(kind: type[_Error], diagnostics: tuple[Diagnostic, ...]) -> _Error:
    error = kind.__new__(kind)
    WarploomError.__init__(error, diagnostics)
    return error
