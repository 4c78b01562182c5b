"""The kernel under construction: its statements, registers, shared memory, and where each was written."""

from __future__ import annotations

import contextlib
import functools
import linecache
import sys
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import FrameType, TracebackType

from warploom.check.functions import Walk
from warploom.check.names import Names
from warploom.diagnostics import Diagnostic, Severity, Source, Span, UsageError, WarploomError, render
from warploom.isa.model.availability import Target, Version
from warploom.isa.model.form import match_opcode
from warploom.isa.model.types import TYPES
from warploom.ptx import (
    Block,
    Directive,
    Guard,
    Instruction,
    Integer,
    Label,
    Name,
    Operand,
    Statement,
    TopLevel,
    Variable,
)

_HOME = str(Path(__file__).parent)
_LIBRARY = str(Path(__file__).parents[1])
_PASSED = frozenset((functools.__file__, contextlib.__file__, "<string>"))  # the last: what dataclasses make
_PREFIXES = {"f32": "f", "f64": "d", "pred": "p"}
_BY_BITS = {16: "h", 32: "r", 64: "rd", 128: "rq"}
_ENOUGH = 1 << 24
_SHARED = (Name, Integer)  # operands that are made once for each name and number
Line = tuple[str, int]


class AuthorError(UsageError):
    """A kernel's Python line asks for what the language does not have. Its diagnostics are on that line."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        WarploomError.__init__(self, diagnostics)
        self.add_note(render(self.diagnostics).rstrip())  # Python shows it below the traceback


@dataclass(slots=True)
class Building:
    """One kernel while its function runs."""

    target: Target
    version: Version
    walk: Walk  # the checker, and what it knows of the module
    names: Names  # what the body knows
    statements: list[tuple[Statement, Line | None]] = field(
        default_factory=list[tuple[Statement, "Line | None"]]
    )
    registers: Counter[str] = field(default_factory=Counter[str])
    variables: list[Variable] = field(default_factory=list[Variable])
    directives: list[Directive] = field(default_factory=list[Directive])
    items: list[TopLevel] = field(default_factory=list[TopLevel])  # what stands before it in the module
    labels: Counter[str] = field(default_factory=Counter[str])
    guard: Guard | None = None
    line: Line | None = None  # whose line it is in any case
    open_end: str = ""  # where the last `when` ended
    shared_bytes: int = 0
    shared_align: int = 16
    shapes: dict[int, int] = field(default_factory=dict[int, int])
    marks: dict[str, Line | None] = field(default_factory=dict[str, "Line | None"])  # labels people named
    operands: dict[Operand, Operand] = field(default_factory=dict[Operand, Operand])
    refused: list[Statement] = field(default_factory=list[Statement])

    def register(self, type_word: str) -> str:
        """The name of a new register for a type."""
        prefix = prefix_of(type_word)
        if prefix not in self.registers:
            self.names.declare(Variable("reg", declared_of(prefix), f"%{prefix}", count=_ENOUGH))
        number = self.registers[prefix]
        self.registers[prefix] += 1
        return f"%{prefix}{number}"

    def label(self, stem: str) -> str:
        """A new label."""
        while True:
            self.labels[stem] += 1
            name = f"{stem}_{self.labels[stem]}"
            if name not in self.names.labels:
                self.names.labels[name] = Label(name)
                return name

    def place(self, label: str) -> None:
        """Put a label here."""
        self.statements.append((Label(label), None))

    def put(self, statements: Iterable[Statement]) -> None:
        """Add statements that were judged."""
        line = self.line or here()
        self.statements += [(statement, line) for statement in statements]

    def emit(self, opcode: str, operands: tuple[Operand, ...]) -> None:
        """Add an instruction; it is judged at once. Errors: AuthorError with the checker's diagnostics."""
        # What shapes are known of stays there, so that nothing else gets its identity.
        kept = tuple(o if type(o) in _SHARED else self.operands.setdefault(o, o) for o in operands)
        statement = Instruction(self.guard, opcode, kept)
        line = self.line or here()
        problems = self.walk.statements.check(statement, self.names, self.shapes)
        if any(each.severity is Severity.ERROR for each in problems):
            self.refused.append(statement)
            source, span = place_of(line) if self.line else caller()
            raise AuthorError(
                Diagnostic(each.code, each.severity, each.message, source, span, each.hint, each.section)
                for each in problems
            )
        self.statements.append((statement, line))


def reaches_end(statements: Sequence[tuple[Statement, Line | None]]) -> bool:
    """Whether a kernel may run past its last statement: nothing unguarded leaves there, or a label behind is
    gone to.
    """
    trailing: set[str] = set()
    last: Statement | None = None
    for statement, _ in reversed(statements):
        if isinstance(statement, Label):
            trailing.add(statement.name)
        elif isinstance(statement, Instruction):
            last = statement
            break
        elif isinstance(statement, Block):
            return True
    if not isinstance(last, Instruction) or last.guard is not None:
        return True
    forms = [match.form for match in match_opcode(last.opcode)]
    if not any(form.ends_thread or form.control == "jump" for form in forms):
        return True
    if not trailing:
        return False
    named = {
        operand.text
        for statement, _ in statements
        for operand in (statement.operands if isinstance(statement, Instruction) else ())
        if isinstance(operand, Name)
    }
    return not named.isdisjoint(trailing)


def prefix_of(type_word: str) -> str:
    """The prefix of the registers that hold a type."""
    return _PREFIXES.get(type_word) or _BY_BITS[max(TYPES[type_word].bits, 16)]


def declared_of(prefix: str) -> str:
    """What the registers of a prefix are declared as."""
    return {"f": "f32", "d": "f64", "p": "pred", "h": "b16", "r": "b32", "rd": "b64", "rq": "b128"}[prefix]


_CURRENT: ContextVar[Building | None] = ContextVar("building", default=None)


def current() -> Building:
    """The kernel that is being built. Errors: AuthorError author.outside where there is none."""
    building = _CURRENT.get()
    if building is None:
        raise misuse("instructions belong into a function under @kernel", "author.outside")
    return building


@contextlib.contextmanager
def entered(building: Building) -> Generator[None]:
    """Let what is called in this block build the kernel."""
    token = _CURRENT.set(building)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def _outside() -> FrameType | None:
    """The nearest frame outside this package."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] -- the one way to know who called
    while frame is not None and (
        frame.f_code.co_filename in _PASSED or frame.f_code.co_filename.startswith(_HOME)
    ):
        frame = frame.f_back
    return frame


def here() -> Line | None:
    """The nearest line outside this package."""
    frame = _outside()
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def misuse(message: str, code: str, hint: str = "", at: Line | None = None) -> AuthorError:
    """What is wrong with the expression outside this package that is being computed, or with a line."""
    source, span = caller() if at is None else place_of(at)
    return AuthorError([Diagnostic(code, Severity.ERROR, message, source, span, hint)])


@contextlib.contextmanager
def on_its_line() -> Generator[None]:
    """Let what lower floors refuse be refused where it was asked for, outside this package."""
    try:
        yield
    except AuthorError:
        raise
    except UsageError as error:
        asked = [
            (frame, traceback.tb_lasti)
            for traceback in _tracebacks(error.__traceback__)
            if not (frame := traceback.tb_frame).f_code.co_filename.startswith(_LIBRARY)
            and frame.f_code.co_filename not in _PASSED
        ]
        source, span = _expression(*asked[-1]) if asked else caller()
        placed = [replace(each, source=source, span=span) for each in error.diagnostics]
        raise AuthorError(placed) from None


def _tracebacks(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def caller() -> tuple[Source | None, Span | None]:
    """The expression outside this package that is being computed."""
    frame = _outside()
    return (None, None) if frame is None else _expression(frame, frame.f_lasti)


def _expression(frame: FrameType, instruction: int) -> tuple[Source | None, Span | None]:
    """The expression that an instruction of Python's computes."""
    code = frame.f_code
    line, end, first, last = next(islice(code.co_positions(), instruction // 2, None))
    source = _source(code.co_filename)
    if source is None or line is None or end is None or first is None or last is None:
        return place_of((code.co_filename, line or code.co_firstlineno))
    return source, Span(_offset(source, line, first), _offset(source, end, last))


def place_of(line: Line | None) -> tuple[Source | None, Span | None]:
    """A line of a file, without its indentation."""
    source = None if line is None else _source(line[0])
    if line is None or source is None or line[1] > source.line_count:
        return None, None
    text = source.line_text(line[1]).rstrip()
    start = source.line_start(line[1])
    return source, Span(start + len(text) - len(text.lstrip()), start + len(text))


def _offset(source: Source, line: int, column: int) -> int:
    """The place of a column, which Python counts in bytes."""
    text = source.line_text(line).encode()[:column].decode()
    return source.line_start(line) + len(text)


def _source(file: str) -> Source | None:
    text = "".join(linecache.getlines(file))
    return Source(file, text) if text else None
