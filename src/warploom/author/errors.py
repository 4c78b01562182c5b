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


def caller_line() -> SourceLine | None:
    """Return the innermost calling line outside this package, or None if there is none."""
    frame = _caller()
    return None if frame is None else SourceLine(frame.f_code.co_filename, frame.f_lineno)


class CallerLines:
    """Reader of the calling lines in one kernel. It returns the same object for the same line.

    `kernel` is the code of the function that builds the kernel.
    """

    def __init__(self, kernel: CodeType) -> None:
        self._kernel = kernel
        self._lines: dict[tuple[str, str, int, int], SourceLine] = {}
        # Python computes line numbers slowly, so the position in the code identifies a known line.
        self._known: dict[tuple[int, int, int], SourceLine] = {}
        self._codes: list[CodeType] = []  # keep the code objects alive, because Python may reuse an id()

    def innermost(self) -> SourceLine | None:
        """Return the innermost calling line outside this package, or None if there is none.

        `inlined_at` of the result has the chain of calls that lead from the function of the kernel to the line.
        """
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] -- the only fast access to the call stack
        frames: list[FrameType] = []
        while frame is not None:
            if not _is_skipped(frame.f_code.co_filename):
                frames.append(frame)
                if frame.f_code is self._kernel:
                    break
            frame = frame.f_back
        else:
            frames = frames[:1]
        line: SourceLine | None = None
        for each in reversed(frames):
            line = self._known.get((id(each.f_code), each.f_lasti, id(line))) or self._add(each, line)
        return line

    def _add(self, frame: FrameType, call: SourceLine | None) -> SourceLine:
        """Return the line that a frame executes.

        `call` is the line that called the function of the frame, or None for the function of the kernel.
        """
        code = frame.f_code
        key = code.co_filename, code.co_qualname, frame.f_lineno, id(call)
        line = self._lines.get(key)
        if line is None:
            function = "" if call is None else code.co_qualname.rpartition(".<locals>.")[2]
            line = self._lines[key] = SourceLine(code.co_filename, frame.f_lineno, function=function, inlined_at=call)
        self._known[id(code), frame.f_lasti, id(call)] = line
        self._codes.append(code)
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
    """Return the innermost frame outside this package."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and _is_skipped(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


@functools.cache
def _is_skipped(file: str) -> bool:
    return file in _SKIPPED or file.startswith(_AUTHOR)


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
