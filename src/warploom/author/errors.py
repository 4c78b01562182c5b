"""Errors in kernels written in Python, and the Python expressions to which they point."""

import contextlib
import functools
import linecache
import sys
from collections.abc import Generator, Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType

from warploom.diagnostics import Diagnostic, Severity, Source, SourceLine, Span, UsageError, WarploomError, render

_AUTHOR = str(Path(__file__).parent)
_WARPLOOM = str(Path(__file__).parents[1])
_SKIPPED = frozenset(
    (functools.__file__, contextlib.__file__, "<string>")
)  # dataclasses generate code in the file "<string>"
Place = tuple[Source | None, Span | None]


class AuthorError(UsageError):
    """Mistake in the Python code of a kernel. The diagnostics point to Python expressions."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        WarploomError.__init__(self, diagnostics)
        self.add_note(render(self.diagnostics).rstrip())  # Python prints notes below the traceback


def author_error(message: str, code: str, hint: str = "", line: SourceLine | None = None) -> AuthorError:
    """Return an AuthorError at `line`, by default at the calling expression of the user."""
    source, span = caller_place() if line is None else line_place(line)
    return AuthorError([Diagnostic(code, Severity.ERROR, message, source, span, hint)])


@contextlib.contextmanager
def errors_at_caller() -> Generator[None]:
    """Turn a UsageError in the `with` block into an AuthorError at the calling expression of the user."""
    try:
        yield
    except AuthorError:
        raise
    except UsageError as error:
        source, span = caller_place()
        trace = error.__traceback__
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename
            if not file.startswith(_WARPLOOM) and file not in _SKIPPED:
                source, span = _expression_place(trace.tb_frame, trace.tb_lasti)
            trace = trace.tb_next
        moved = [replace(each, source=source, span=span) for each in error.diagnostics]
        raise AuthorError(moved) from None


def caller_line(kernel: CodeType | None = None) -> SourceLine | None:
    """Return the innermost calling line outside this package, or None if there is none.

    `kernel` is the code of the function that builds a kernel. If it is given, `inlined_at` of the result has the chain
    of calls that lead from this function to the line.
    """
    frame = _caller()
    frames: list[FrameType] = []
    while frame is not None:
        frames.append(frame)
        if frame.f_code is kernel:
            break
        frame = _outside(frame.f_back)
    else:
        frames = frames[:1]
    line: SourceLine | None = None
    for each in reversed(frames):
        function = "" if line is None else each.f_code.co_qualname.rpartition(".<locals>.")[2]
        line = SourceLine(each.f_code.co_filename, each.f_lineno, function=function, inlined_at=line)
    return line


def caller_place() -> Place:
    """Return the source and span of the innermost calling expression outside this package."""
    frame = _caller()
    return (None, None) if frame is None else _expression_place(frame, frame.f_lasti)


def line_place(line: SourceLine | None) -> Place:
    """Return the source and span of a Python line without its indentation."""
    source = None if line is None else _source(line.file)
    if line is None or source is None or line.line > source.line_count:
        return None, None
    text = source.line_text(line.line).rstrip()
    start = source.line_start(line.line)
    return source, Span(start + len(text) - len(text.lstrip()), start + len(text))


def _caller() -> FrameType | None:
    return _outside(sys._getframe(1))  # pyright: ignore[reportPrivateUsage] -- the only fast access to the call stack


def _outside(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame outside this package, from `frame` on."""
    while frame is not None and (frame.f_code.co_filename in _SKIPPED or frame.f_code.co_filename.startswith(_AUTHOR)):
        frame = frame.f_back
    return frame


def _expression_place(frame: FrameType, bytecode_offset: int) -> Place:
    """Return the source and span of the expression that a bytecode instruction of a frame computes."""
    code = frame.f_code
    line, end, first, last = next(islice(code.co_positions(), bytecode_offset // 2, None))
    source = _source(code.co_filename)
    if source is None or line is None or end is None or first is None or last is None:
        return line_place(SourceLine(code.co_filename, line or code.co_firstlineno))
    return source, Span(_offset(source, line, first), _offset(source, end, last))


def _offset(source: Source, line: int, column: int) -> int:
    """Return the character offset of `column`, which counts UTF-8 bytes."""
    return source.line_start(line) + len(source.line_text(line).encode()[:column].decode())


def _source(file: str) -> Source | None:
    text = "".join(linecache.getlines(file))
    return Source(file, text) if text else None
