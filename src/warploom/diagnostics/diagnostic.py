"""Diagnostics, and the exceptions that contain them."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import Enum
from typing import Any, ClassVar, TypeVar

from warploom.diagnostics.source import Source, SourceLine, Span
from warploom.display import Displayed
from warploom.lazy_dataclass import dataclass


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
    """Message about a text, with a stable rule code, a severity, and an optional position.

    `hint` proposes a remedy. `section` names the section of the manual. `notes` are further sentences. `data` holds
    details as names and numbers, for programs that read diagnostics as JSON. `conflicts` identifies the cause of a
    finding of the sanitizer: findings with a common conflict have the same cause. The first conflict is the main one.
    `moment` has the wave, the batch and the program counter at which a finding was made, if they were recorded.
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
    conflicts: tuple[tuple[str, int, int], ...] = field(default=(), compare=False)
    moment: tuple[int, int, int] | None = field(default=None, compare=False)

    @property
    def place(self) -> str:
        """Position of the span as `file:line:column`.

        A diagnostic without a span has the name of the file as its position. A diagnostic without a source has "".
        """
        if self.source is None:
            return ""
        if self.span is None:
            return self.source.name
        line, column = self.source.position(self.span.start)
        return f"{self.source.name}:{line}:{column}"

    @property
    def compiled_from(self) -> SourceLine | None:
        """Line of Python or CUDA C++ from which the text at the span was compiled, or None if it is unknown."""
        return self.source_line(self.span)

    def source_line(self, span: Span | None) -> SourceLine | None:
        """Return the line of Python or CUDA C++ for a span of the source, such as that of a note, or None."""
        return None if self.source is None or span is None else self.source.compiled_from(span.start)

    def __str__(self) -> str:
        if self.source is None:
            return self.message
        line = self.compiled_from
        return f"{self.place}: {self.message}" if line is None else f"{self.place} ({line}): {self.message}"


class WarploomError(Exception):
    """Error that a user's mistake causes, with one or more diagnostics."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n".join(str(diagnostic) for diagnostic in self.diagnostics)

    def __reduce__(self) -> tuple[object, ...]:
        # Worker processes pickle errors. A subclass may have another `__init__`, so unpickling does not call it.
        return _restore, (type(self), self.diagnostics)


class UsageError(WarploomError):
    """Invalid use of the library or the command line."""

    def __init__(self, message: str, *, code: str = "usage", hint: str = "", section: str = "") -> None:
        super().__init__([Diagnostic(code, Severity.ERROR, message, hint=hint, section=section)])


_Error = TypeVar("_Error", bound=WarploomError)


def _restore(kind: type[_Error], diagnostics: tuple[Diagnostic, ...]) -> _Error:
    error = kind.__new__(kind, diagnostics)
    WarploomError.__init__(error, diagnostics)
    return error
